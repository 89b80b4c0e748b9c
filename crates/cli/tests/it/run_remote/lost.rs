//! Connections that are cut, broken and lost.

use rustix::process::Signal;

use super::program::RunRemote;
use super::proxy::{Doing, proxy};
use crate::raw::server::Raw;

fn through(raw: &Raw, doing: Doing, verbs: &[&str]) -> RunRemote {
    let url = format!("http://{}/raw", proxy(&raw.address, doing));
    RunRemote::puppet(raw, verbs).env("RUN_REMOTE_SERVER", &url)
}

#[test]
fn chunks_may_be_cut_anywhere() {
    let ended =
        through(&Raw::puppet(), Doing::Rechunking, &["flood", "1000000", "eprint", "end", "exit", "3"]).run();
    assert_eq!((ended.code, ended.stdout.len(), ended.stderr.as_str()), (Some(3), 1_000_000, "end"));
}

#[test]
fn a_connection_that_breaks_is_resumed_without_loss() {
    const BYTES: usize = 8_000_000;
    let doing = Doing::Breaking { after: 700_000, times: 5 };
    let ended = through(&Raw::puppet(), doing, &["flood", &BYTES.to_string(), "exit", "3"]).run();
    let line = [b"0123456789abcdef".repeat(4096), b"\n".to_vec()].concat();
    assert!(ended.stdout.chunks(line.len()).all(|chunk| chunk == &line[..chunk.len()]));
    assert_eq!((ended.code, ended.stdout.len()), (Some(3), BYTES), "{}", ended.stderr);
    assert_eq!(ended.stderr.matches("resuming").count(), 5, "{}", ended.stderr);
}

#[test]
fn input_survives_connections_that_break() {
    let raw = Raw::allowing("cat");
    let url = format!("http://{}/raw", proxy(&raw.address, Doing::Breaking { after: 900_000, times: 3 }));
    let input: Vec<u8> = (0..=250).cycle().take(5_000_000).collect();
    let ended = RunRemote::bare(&["--", "cat"]).env("RUN_REMOTE_SERVER", &url).reading(&input);
    assert!(ended.stdout == input, "{} bytes came back", ended.stdout.len());
}

#[test]
fn a_server_that_is_killed_is_told_with_a_code_of_its_own() {
    let mut raw = Raw::puppet();
    let mut started = RunRemote::puppet(&raw, &["print", "before", "wait"]).start();
    let mut before = [0; 6];
    std::io::Read::read_exact(started.0.stdout.as_mut().unwrap(), &mut before).unwrap();
    raw.server.signal(Signal::KILL);
    raw.server.ended();
    let ended = started.ended();
    assert_eq!(ended.code, Some(248), "{ended:?}");
    assert!(ended.stderr.contains("the server is gone, and the command with it"), "{ended:?}");
}

#[test]
fn a_server_that_was_started_again_does_not_know_the_command() {
    let mut raw = Raw::puppet();
    let mut started = RunRemote::puppet(&raw, &["print", "before", "wait"]).start();
    let mut before = [0; 6];
    std::io::Read::read_exact(started.0.stdout.as_mut().unwrap(), &mut before).unwrap();
    raw.server.signal(Signal::KILL);
    raw.server.ended();
    let bind = raw.address.clone();
    let allowed = runward_testkit::puppet();
    let again = Raw::with(&[("ALLOWED_COMMANDS", allowed.to_str().unwrap()), ("MCP_BIND_ADDR", &bind)]);
    drop(again);
    let ended = started.ended();
    assert_eq!(ended.code, Some(248), "{ended:?}");
}

#[test]
fn whoever_answers_something_else_is_no_server() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/raw", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for socket in listener.incoming().map_while(Result::ok) {
            let _ = std::io::Write::write_all(&mut &socket, b"220 mail.example ESMTP\r\n");
        }
    });
    let ended = RunRemote::bare(&["--", "ls"]).env("RUN_REMOTE_SERVER", &url).run();
    ended.failed(249, "is RUN_REMOTE_SERVER the address of a Runward server?");
}
