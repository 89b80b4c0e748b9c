//! Services: a command is answered for once what it serves is ready.

use runward_testkit::mcp::{Client, StdioClient};
use serde_json::{Value, json};

use super::{Reply, client, client_with, exec};

/// Serves its directory over HTTP on a port of the loopback, after a while in which it does not listen.
fn serve(port: u16) -> String {
    format!("sleep 0.2; exec python3 -u -m http.server {port} --bind 127.0.0.1")
}

fn notes(reply: &Reply) -> &str {
    reply.note().strip_prefix("note: ").unwrap_or_default()
}

/// A directory that the confined may write.
fn directory() -> tempfile::TempDir {
    tempfile::tempdir_in(runward_testkit::seen_by_the_confined(env!("CARGO_TARGET_TMPDIR"))).unwrap()
}

fn ready(client: &mut dyn Client, cmd: &str, ready: &Value) -> Reply {
    exec(client, json!({ "cmd": cmd, "ready": ready, "yield_time_ms": 20_000 }))
}

#[test]
fn a_command_is_answered_for_once_it_listens_answers_prints_or_has_made_a_file() {
    for (profile, first) in [("workspace-write", 8200), ("full-access", 18_200)] {
        let mut client = client_with(&[("RUNWARD_SANDBOX_PROFILE", profile)]);
        let directory = directory();
        for (port, wanted, said) in [
            (first, json!({ "port": first }), format!("ready: it listens on port {first}")),
            (
                first + 1,
                json!({ "port": first + 1, "path": "/" }),
                format!("ready: / on port {} answers with 200", first + 1),
            ),
            (
                first + 2,
                json!({ "port": first + 2, "path": "/none", "status": 404 }),
                format!("ready: /none on port {} answers with 404", first + 2),
            ),
            (
                first + 3,
                json!({ "text": "/Serving HTTP on .* port/" }),
                "ready: the text was printed".to_owned(),
            ),
        ] {
            let reply = ready(&mut client, &serve(port), &wanted);
            assert_eq!(notes(&reply), said, "{profile}: {reply:?}");
            reply.session();
        }
        let cmd = "sleep 0.2; touch made; sleep 600";
        let arguments = json!({ "cmd": cmd, "workdir": directory.path(), "ready": { "file": "made" }, "yield_time_ms": 20_000 });
        let reply = exec(&mut client, arguments);
        assert_eq!(notes(&reply), "ready: made is there", "{profile}: {reply:?}");
        reply.session();
    }
}

#[test]
fn a_service_in_the_background_gets_ready_after_its_command_has_ended() {
    let mut client = client();
    let reply = ready(
        &mut client,
        &format!("({}) >/dev/null 2>&1 & echo started", serve(8210)),
        &json!({ "port": 8210 }),
    );
    assert!(
        notes(&reply).starts_with("ready: it listens on port 8210\nnote: 1 process goes on"),
        "{reply:?}"
    );
    assert_eq!((reply.exit_code(), reply.output()), (0, "started\n"));
    let session = reply.session();
    let listed = Reply::of(&client.call("list_sessions", json!({})));
    assert!(
        listed
            .text()
            .starts_with(&format!("{session}: exited with code 0, and what it left behind goes on, ")),
        "{listed:?}"
    );
    assert!(listed.text().contains(", listens on 8210, "), "{listed:?}");
}

#[test]
fn the_answer_says_that_it_has_ended_or_that_the_time_is_up() {
    let mut client = client();
    let ended = ready(&mut client, "echo gone; exit 3", &json!({ "port": 8220 }));
    assert_eq!(ended.exit_code(), 3);
    assert!(notes(&ended).starts_with("not ready: all of it has ended"), "{ended:?}");
    let arguments =
        json!({ "cmd": "sleep 600", "ready": { "port": 8221, "text": "up" }, "yield_time_ms": 300 });
    let slow = exec(&mut client, arguments);
    assert!(notes(&slow).starts_with("not ready after "), "{slow:?}");
    slow.session();
}

#[test]
fn what_another_session_or_the_host_serves_makes_nothing_ready() {
    let host = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = host.local_addr().unwrap().port();
    let mut client = client();
    ready(&mut client, &serve(8230), &json!({ "port": 8230 })).session();
    for port in [8230, taken] {
        let arguments =
            json!({ "cmd": "sleep 600", "ready": { "port": port, "path": "/" }, "yield_time_ms": 400 });
        assert!(notes(&exec(&mut client, arguments)).starts_with("not ready after "), "{port}");
    }
    let mut open = client_with(&[("RUNWARD_SANDBOX_PROFILE", "full-access")]);
    let arguments =
        json!({ "cmd": "sleep 600", "ready": { "port": taken, "path": "/" }, "yield_time_ms": 400 });
    assert!(notes(&exec(&mut open, arguments)).starts_with("not ready after "));
    host.set_nonblocking(true).unwrap();
    assert!(host.accept().is_err(), "nobody asked what is not the session's");
}

#[test]
fn a_link_does_not_make_a_file_of_the_host_one_that_the_session_sees() {
    let outside = tempfile::NamedTempFile::new_in("/tmp").unwrap();
    let mut client = client_with(&[("RUNWARD_SANDBOX_WRITABLE_ROOTS", "/nowhere/at/all")]);
    let cmd = format!("ln -sf {} /tmp/link; sleep 600", outside.path().display());
    for file in ["/tmp/link", outside.path().to_str().unwrap()] {
        let arguments = json!({ "cmd": cmd, "ready": { "file": file }, "yield_time_ms": 500 });
        let reply = exec(&mut client, arguments);
        assert!(notes(&reply).starts_with("not ready after "), "{file}: {reply:?}");
    }
}

/// A port of this host's loopback that nobody listens on.
fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// What a server at this host's loopback answers first, if anybody does.
fn first_line(port: u16) -> Option<String> {
    use std::io::{BufRead as _, BufReader, Write as _};
    let mut stream = std::net::TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.write_all(b"GET / HTTP/1.0\r\n\r\n").ok()?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).ok()?;
    Some(line).filter(|line| !line.is_empty())
}

fn publish(client: &mut dyn Client, port: u16) -> Reply {
    let arguments =
        json!({ "cmd": serve(port), "ready": { "port": port }, "publish": [port], "yield_time_ms": 20_000 });
    exec(client, arguments)
}

#[test]
fn a_published_port_is_reached_from_the_host_for_as_long_as_its_session_lives() {
    let (mut client, port) = (client(), free_port());
    let reply = publish(&mut client, port);
    let session = reply.session();
    assert_eq!(reply.field("policy")["sandbox"]["published"], json!([port]), "{reply:?}");
    assert!(first_line(port).unwrap().contains("200 OK"));
    let listed = Reply::of(&client.call("list_sessions", json!({})));
    assert!(
        listed.text().contains(&format!(", listens on {port}, published at 127.0.0.1:{port}, ")),
        "{listed:?}"
    );
    let mut other = super::client();
    let reaches = format!("(exec 3<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null && echo reached || echo kept");
    let tried = Reply::of(&other.call("shell", json!({ "command": reaches })));
    assert_eq!(tried.field("stdout"), "kept\n", "a command of another client has no way there");
    client.call("kill_session", json!({ "session_id": session }));
    runward_testkit::eventually("it is closed", || {
        std::net::TcpStream::connect(("127.0.0.1", port)).is_err()
    });
}

#[test]
fn a_port_is_published_at_no_other_address() {
    let (mut client, port) = (client(), free_port());
    publish(&mut client, port).session();
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap()
        + &std::fs::read_to_string("/proc/net/tcp6").unwrap();
    let ending = format!(":{port:04X}");
    let listens = |line: &str| {
        let mut words = line.split_whitespace().skip(1);
        let address = words.next().filter(|address| address.ends_with(&ending))?;
        (words.nth(1) == Some("0A")).then(|| address.to_owned())
    };
    let all: Vec<String> = table.lines().filter_map(listens).collect();
    assert_eq!(all, [format!("0100007F{ending}")]);
}

#[test]
fn a_port_that_is_taken_not_allowed_or_already_the_hosts_is_refused_and_nothing_runs() {
    let host = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = host.local_addr().unwrap().port();
    let directory = directory();
    let (mut usual, mut closed) = (client(), client_with(&[("RUNWARD_SANDBOX_PUBLISH", "3000-3999")]));
    let mut open = client_with(&[("RUNWARD_SANDBOX_PROFILE", "full-access")]);
    let cases: [(&mut StdioClient, Vec<(u16, &str)>); 3] = [
        (&mut usual, vec![(taken, "cannot be opened"), (80, "sandbox.publish does not have it")]),
        (&mut closed, vec![(4000, "sandbox.publish does not have it")]),
        (&mut open, vec![(free_port(), "no loopback of its own")]),
    ];
    for (client, refused) in cases {
        for (port, why) in refused {
            let arguments = json!({ "cmd": "touch ran", "workdir": directory.path(), "publish": [port] });
            let reply = exec(client, arguments);
            assert!(reply.is_error() && reply.text().contains(why), "{port}: {reply:?}");
            assert!(!directory.path().join("ran").exists(), "{port}");
        }
    }
    let wrong = exec(&mut usual, json!({ "cmd": "true", "publish": ["x"] }));
    assert!(wrong.text().contains("publish must be an array of ports"), "{wrong:?}");
}

#[test]
fn what_a_command_leaves_in_the_background_stays_published() {
    let (mut client, port) = (client(), free_port());
    let cmd = format!("({}) >/dev/null 2>&1 &", serve(port));
    let arguments =
        json!({ "cmd": cmd, "ready": { "port": port }, "publish": [port], "yield_time_ms": 20_000 });
    assert_eq!(exec(&mut client, arguments).exit_code(), 0);
    assert!(first_line(port).unwrap().contains("200 OK"));
}
