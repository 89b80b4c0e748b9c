//! What sessions cost, against a bare terminal in the same run.
//!
//! Prints ratios, since absolute figures are this machine's mood. Run it with `cargo bench --bench sessions`.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a program that measures, and stops when it cannot"
)]

use std::os::fd::OwnedFd;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};

mod common;

use common::{Server, median, millis, timed};

/// What is printed to measure throughput.
const FLOOD: &str = "head -c 20000000 /dev/zero | tr '\\0' 'x' | fold -w 79";

fn main() {
    if std::env::args().any(|arg| arg == "--list") {
        return;
    }
    let mut server = Server::start_with(&[("RUNWARD_LIMITS_KEPT_SESSIONS", "600")]);
    echo(&mut server);
    throughput(&mut server);
    login(&mut server);
    idle(&mut server);
}

/// From a line that is written to its echo, on a terminal whose program is `cat`.
fn echo(server: &mut Server) {
    let (mut bare_times, mut times) = (Vec::new(), Vec::new());
    let (near, mut cat) = bare("cat");
    let started =
        server.call("exec_command", r#"{"cmd":"exec cat","login":false,"tty":true,"yield_time_ms":250}"#);
    let id = session(&started);
    for turn in 0..300 {
        let line = format!("line-{turn:06}");
        bare_times.push(timed(|| {
            rustix::io::write(&near, format!("{line}\n").as_bytes()).unwrap();
            read_until(&near, &format!("{line}\r\n{line}\r\n"));
        }));
        times.push(timed(|| {
            let arguments =
                format!(r#"{{"session_id":{id},"chars":"{line}\n","yield_until":"/{line}\\s+{line}/"}}"#);
            let reply = server.call("write_stdin", &arguments);
            assert!(reply.contains(&line), "{reply}");
        }));
    }
    cat.kill().unwrap();
    cat.wait().unwrap();
    let (bare, through) = (millis(median(&mut bare_times)), millis(median(&mut times)));
    println!("bare terminal, line to echo  {bare:>8.3} ms");
    println!("write_stdin, line to echo    {through:>8.3} ms");
    println!("  ÷ bare                     {:>8.2} ×    (aim ≤ 1.5)", through / bare);
}

/// 20 MB through a terminal, against a loop that only reads.
fn throughput(server: &mut Server) {
    let (mut bare_times, mut times) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        bare_times.push(timed(|| {
            let (near, mut child) = bare(FLOOD);
            let mut buffer = vec![0; 65536];
            while let Ok(1..) = rustix::io::read(&near, &mut buffer) {}
            child.wait().unwrap();
        }));
        times.push(timed(|| {
            let cmd = FLOOD.replace('\\', "\\\\");
            let arguments = format!(r#"{{"cmd":"{cmd}","login":false,"tty":true,"yield_time_ms":30000}}"#);
            assert!(server.call("exec_command", &arguments).contains("exited with code 0"));
        }));
    }
    let (bare, through) = (millis(median(&mut bare_times)), millis(median(&mut times)));
    println!("20 MB on a bare terminal     {bare:>8.0} ms");
    println!("20 MB through exec_command   {through:>8.0} ms");
    println!("  of bare throughput         {:>8.2} ×    (aim ≥ 0.8)", bare / through);
}

/// `exec_command` with a login shell against `bash -lc`.
fn login(server: &mut Server) {
    let (mut bare_times, mut times) = (Vec::new(), Vec::new());
    for _ in 0..15 {
        bare_times.push(timed(|| {
            assert!(Command::new("bash").args(["-lc", "true"]).status().unwrap().success());
        }));
        times.push(timed(|| {
            let reply = server.call("exec_command", r#"{"cmd":"true"}"#);
            assert!(reply.contains("exited with code 0"), "{reply}");
        }));
    }
    let (bare, through) = (millis(median(&mut bare_times)), millis(median(&mut times)));
    println!("bash -lc true                {bare:>8.2} ms");
    println!("exec_command true, login     {through:>8.2} ms   ({:.2} × bash -lc)", through / bare);
}

/// What 500 sessions that do nothing take.
fn idle(server: &mut Server) {
    let before = server.memory("VmRSS:");
    let start = Instant::now();
    for _ in 0..500 {
        let arguments =
            r#"{"cmd":"exec sleep 1000","login":false,"tty":true,"yield_time_ms":250,"yield_idle_ms":1}"#;
        session(&server.call("exec_command", arguments));
    }
    let each: Duration = start.elapsed() / 500;
    let after = server.memory("VmRSS:");
    println!(
        "500 idle sessions            {:>8.1} MB   (from {before:.1}; {:.1} KB and {:.2} ms each)",
        after,
        (after - before) * 1024.0 / 500.0,
        millis(each)
    );
}

fn session(reply: &str) -> String {
    let rest = reply.split("\"session_id\":").nth(1).unwrap_or_else(|| panic!("{reply}"));
    rest.chars().take_while(char::is_ascii_digit).collect()
}

/// A script on a terminal of its own, without a server.
fn bare(script: &str) -> (OwnedFd, Child) {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let near = openpt(flags).unwrap();
    grantpt(&near).unwrap();
    unlockpt(&near).unwrap();
    let far = ioctl_tiocgptpeer(&near, flags).unwrap();
    let clone = || far.try_clone().unwrap();
    let child =
        Command::new("bash").args(["-c", script]).stdin(clone()).stdout(clone()).stderr(clone()).spawn();
    drop(far);
    (near, child.unwrap())
}

fn read_until(near: &OwnedFd, text: &str) {
    let (mut seen, mut buffer) = (Vec::new(), [0; 4096]);
    while !seen.ends_with(text.as_bytes()) {
        let read = rustix::io::read(near, &mut buffer).unwrap();
        seen.extend_from_slice(&buffer[..read]);
    }
}
