//! Lists of hosts: what a command reaches through its proxy, and what it does not.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use runward_engine::{Engine, Settings};
use runward_model::{Profile, Tier};
use runward_proxy::Reach;

use super::{Place, confined, inside, sh, told, with, with_tier};
use crate::setup::{run, script, start};

/// A host on this machine's loopback that answers every request with `greeting`.
struct Host(u16);

impl Host {
    fn new(greeting: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                greet(stream.unwrap(), greeting);
            }
        });
        Host(port)
    }
}

fn greet(mut stream: TcpStream, greeting: &str) {
    // A head may come in pieces, as whoever sends it likes.
    let mut request = Vec::new();
    let mut bytes = std::io::BufReader::new(stream.try_clone().unwrap()).bytes();
    while !request.ends_with(b"\r\n\r\n")
        && let Some(Ok(byte)) = bytes.next()
    {
        request.push(byte);
    }
    let first = String::from_utf8_lossy(&request).lines().next().unwrap_or_default().to_owned();
    let _ = write!(stream, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{greeting} {first}\n");
}

fn listed(entries: &str) -> Settings {
    let mut settings = confined(Profile::WorkspaceWrite);
    settings.sandboxing.reach = Reach::parse("sandbox.network", entries).unwrap();
    settings
}

/// Says something to the proxy and prints what comes back. Bash opens connections by itself, so this needs no program.
fn say(what: &str) -> String {
    format!("exec 3<>/dev/tcp/127.0.0.1/${{http_proxy##*:}}; printf '{what}' >&3; timeout 5 cat <&3")
}

async fn answer(engine: &Engine, place: &Place, what: &str) -> String {
    let (_, stdout, stderr) = sh(engine, &place.work(), &say(what)).await;
    assert_eq!(stderr, "", "{what}");
    stdout
}

#[test]
fn what_is_listed_is_reached_and_nothing_else_is() {
    let (open, shut, place) = (Host::new("welcome"), Host::new("secret"), Place::new());
    with(listed(&format!("127.0.0.1:{}", open.0)), async |engine| {
        for how in [
            format!("GET http://127.0.0.1:{}/a HTTP/1.1\\r\\n\\r\\n", open.0),
            format!("CONNECT 127.0.0.1:{} HTTP/1.1\\r\\n\\r\\nGET /a HTTP/1.1\\r\\n\\r\\n", open.0),
        ] {
            let told = answer(engine, &place, &how).await;
            assert!(told.ends_with("welcome GET /a HTTP/1.1\n"), "{told}");
        }
        for target in
            [format!("127.0.0.1:{}", shut.0), format!("localhost:{}", open.0), "example.com:80".into()]
        {
            for how in [
                format!("GET http://{target}/ HTTP/1.1\\r\\n\\r\\n"),
                format!("CONNECT {target} HTTP/1.1\\r\\n\\r\\n"),
            ] {
                let told = answer(engine, &place, &how).await;
                assert!(told.starts_with("HTTP/1.1 403 Forbidden\r\n"), "{how} {told}");
                assert!(told.contains(&format!("runward: {target} may not be reached: ")), "{how} {told}");
            }
        }
        // The way past the proxy leads nowhere: this loopback is another one.
        let around = format!("exec 3<>/dev/tcp/127.0.0.1/{}", open.0);
        assert_ne!(sh(engine, &place.work(), &around).await.0, 0);
        let local = "python3 -c \"import socket; socket.socket(socket.AF_VSOCK)\"";
        assert_ne!(sh(engine, &place.work(), local).await.0, 0);
    });
}

#[test]
fn socks_is_spoken_too() {
    let (host, place) = (Host::new("welcome"), Place::new());
    let port = format!("\\\\x{:02x}\\\\x{:02x}", host.0 >> 8, host.0 & 0xff);
    let (hello, address) =
        ("\\\\x05\\\\x01\\\\x00", "\\\\x05\\\\x01\\\\x00\\\\x01\\\\x7f\\\\x00\\\\x00\\\\x01");
    let ask = |port: &str| {
        let request = "GET /b HTTP/1.0\\\\r\\\\n\\\\r\\\\n";
        format!(
            "exec 3<>/dev/tcp/127.0.0.1/${{http_proxy##*:}}; printf \"{hello}{address}{port}{request}\" >&3; timeout 5 cat <&3 | tr -d '\\000'"
        )
    };
    with(listed(&format!("127.0.0.1:{}", host.0)), async |engine| {
        let (_, stdout, stderr) = sh(engine, &place.work(), &ask(&port)).await;
        assert!(stdout.ends_with("welcome GET /b HTTP/1.0\n"), "{stdout:?} {stderr}");
        let (_, stdout, _) = sh(engine, &place.work(), &ask("\\\\x00\\\\x16")).await;
        // A greeting, then: not allowed by the rules.
        assert_eq!(stdout.as_bytes(), [5, 5, 2, 1], "{stdout:?}");
    });
}

#[test]
fn a_refused_host_is_named_with_what_would_allow_it() {
    let place = Place::new();
    with(listed("example.com,!bad.example.com"), async |engine| {
        for (target, why) in [
            ("other.org:443", "sandbox.network does not list it; to allow it, add \"other.org:443\" there"),
            ("bad.example.com:443", "sandbox.network denies bad.example.com"),
        ] {
            let text = say(&format!("CONNECT {target} HTTP/1.1\\r\\n\\r\\n"));
            let view = run(engine, inside(&place.work(), script(&text))).await;
            let denied = view.outcome.denied.unwrap();
            assert!(denied.contains(&format!("{target} may not be reached: {why}")), "{denied}");
        }
        let fine = run(engine, inside(&place.work(), script("true"))).await;
        assert_eq!(fine.outcome.denied, None, "what another command was kept from is not this one's");
    });
}

#[test]
fn names_that_lead_to_private_addresses_do_not_lead_there() {
    let (host, place) = (Host::new("secret"), Place::new());
    let ask = format!("GET http://localhost:{}/ HTTP/1.1\\r\\n\\r\\n", host.0);
    with(listed("*"), async |engine| {
        let told = answer(engine, &place, &ask).await;
        assert!(told.starts_with("HTTP/1.1 403") && told.contains("is no public address"), "{told}");
    });
    with(listed(&format!("localhost:{}", host.0)), async |engine| {
        assert!(answer(engine, &place, &ask).await.contains("secret"));
    });
}

#[test]
fn programs_are_told_where_the_proxy_is() {
    let place = Place::new();
    let look = "echo $http_proxy $HTTPS_PROXY $all_proxy; echo $no_proxy";
    with(listed("example.com"), async |engine| {
        let (_, stdout, _) = sh(engine, &place.work(), look).await;
        let proxy = "http://127.0.0.1:3128 http://127.0.0.1:3128 socks5h://127.0.0.1:3128";
        assert_eq!(stdout, format!("{proxy}\nlocalhost,127.0.0.1,::1\n"));
    });
    with(confined(Profile::WorkspaceWrite), async |engine| {
        assert_eq!(sh(engine, &place.work(), look).await.1, "\n\n");
    });
}

#[test]
fn each_command_has_a_proxy_of_its_own_for_as_long_as_it_runs() {
    let (host, place) = (Arc::new(Host::new("welcome")), Place::new());
    with(listed(&format!("127.0.0.1:{}", host.0)), async |engine| {
        let ask = say(&format!("GET http://127.0.0.1:{}/c HTTP/1.1\\r\\n\\r\\n", host.0));
        for _ in 0..20 {
            let view = run(engine, inside(&place.work(), script(&ask))).await;
            assert!(told(&view).1.contains("welcome"), "{view:?}");
        }
        let many = (0..6).map(|_| start(engine, inside(&place.work(), script(&ask))));
        let mut started = Vec::new();
        for one in many {
            started.push(one.await.unwrap());
        }
        for mut session in started {
            let view = session.ended().await;
            assert!(told(&view).1.contains("welcome"), "{view:?}");
        }
        // Nobody else can listen in its place, and a command that leaves a connection open does not keep it.
        let (code, _, _) = sh(
            engine,
            &place.work(),
            "python3 -c \"import socket; socket.create_server(('127.0.0.1', 3128))\"",
        )
        .await;
        assert_ne!(code, 0);
    });
}

#[test]
fn without_a_network_of_its_own_a_list_is_refused_whatever_else_is_let_pass() {
    let mut settings = listed("example.com");
    settings.sandboxing.usual.fallback = runward_sandbox::Fallback::Warn;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let program = runward_process::RunnerProgram {
            path: runward_testkit::puppet(),
            tier: Tier::Landlock,
            ..runward_process::RunnerProgram::default()
        };
        let engine = Engine::with_runner(settings, program);
        let refusal = start(&engine, script("true")).await.unwrap_err().to_string();
        assert!(refusal.contains("it takes a network namespace"), "{refusal}");
        engine.shutdown().await;
    });
    let mut settings = listed("example.com");
    settings.sandboxing.usual.fallback = runward_sandbox::Fallback::Warn;
    with_tier(settings, Tier::SharedProc, async |engine| {
        assert_eq!(sh(engine, std::path::Path::new("/"), "true").await.0, 0);
    });
}

#[test]
fn a_flood_of_connections_hurts_nobody() {
    let (host, place) = (Host::new("welcome"), Place::new());
    with(listed(&format!("127.0.0.1:{}", host.0)), async |engine| {
        let flood = "import socket\nall=[]\nfor i in range(600):\n    s=socket.socket(); s.settimeout(2)\n    try: s.connect(('127.0.0.1',3128)); s.sendall(b'\\x00garbage'*100)\n    except OSError: pass\n    all.append(s)\nprint(len(all))";
        std::fs::write(place.work().join("flood.py"), flood).unwrap();
        let (code, stdout, stderr) = sh(engine, &place.work(), "python3 flood.py").await;
        assert_eq!((code, stdout.as_str()), (0, "600\n"), "{stderr}");
        let ask = format!("GET http://127.0.0.1:{}/d HTTP/1.1\\r\\n\\r\\n", host.0);
        assert!(answer(engine, &place, &ask).await.contains("welcome"));
    });
}
