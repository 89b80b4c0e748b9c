//! A child that does as it is told: each argument is a verb, with its operands after it.
//!
//! `print TEXT`, `eprint TEXT`, `bytes HEX`, `flood BYTES`, `echo` (input to output), `env NAME`, `environment`, `pwd`,
//! `fds`, `ignore-term`, `touch FILE`, `await FILE` (until somebody makes it),
//! `family MARKER` (seven kinds of grandchildren that linger), `orphan MARKER` (one that holds the outputs),
//! `bomb MARKER GENERATIONS` (children that make children), `touch-memory MIB`, `die SIGNAL`, `wait`, `exit N`.
#![expect(
    clippy::expect_used,
    clippy::disallowed_methods,
    clippy::zombie_processes,
    reason = "a child for tests, made of processes that it leaves behind"
)]

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

/// Longer than any test.
const LINGER: Duration = Duration::from_mins(5);

fn main() -> ExitCode {
    if let Some(code) = runward_runner::run_if_called() {
        return code;
    }
    let mut words = std::env::args().skip(1);
    while let Some(verb) = words.next() {
        let mut operand = || words.next().expect("a verb lacks its operand");
        match verb.as_str() {
            "print" => say(&mut std::io::stdout(), operand().as_bytes()),
            "eprint" => say(&mut std::io::stderr(), operand().as_bytes()),
            "bytes" => say(&mut std::io::stdout(), &unhex(&operand())),
            "environment" => environment(),
            "touch" => drop(std::fs::File::create(operand()).expect("a new file")),
            "await" => wait_for(&operand()),
            "flood" => flood(operand().parse().expect("a number of bytes")),
            "echo" => echo(),
            "env" => say(&mut std::io::stdout(), std::env::var(operand()).unwrap_or_default().as_bytes()),
            "pwd" => say(
                &mut std::io::stdout(),
                std::env::current_dir().expect("a directory").as_os_str().as_encoded_bytes(),
            ),
            "fds" => fds(),
            "ignore-term" => ignore_term(),
            "family" => family(&operand()),
            "orphan" => orphan(&operand()),
            "linger" => linger(&operand(), &operand()),
            "bomb" => bomb(&operand(), operand().parse().expect("a number of generations")),
            "touch-memory" => touch_memory(operand().parse().expect("a number of MiB")),
            "die" => die(operand().parse().expect("a signal number")),
            "wait" => std::thread::sleep(LINGER),
            "exit" => return ExitCode::from(operand().parse::<u8>().expect("an exit code")),
            other => panic!("unknown verb {other}"),
        }
    }
    ExitCode::SUCCESS
}

/// Writing to a closed output is the end, as for any filter.
fn say(output: &mut impl Write, bytes: &[u8]) {
    if output.write_all(bytes).and_then(|()| output.flush()).is_err() {
        std::process::exit(1);
    }
}

fn unhex(digits: &str) -> Vec<u8> {
    let pairs = digits.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).expect("digits"));
    pairs.map(|pair| u8::from_str_radix(pair, 16).expect("two hexadecimal digits")).collect()
}

fn environment() {
    for (name, value) in std::env::vars_os() {
        let line = [name.as_encoded_bytes(), b"=", value.as_encoded_bytes(), b"\n"].concat();
        say(&mut std::io::stdout(), &line);
    }
}

fn wait_for(file: &str) {
    while !std::path::Path::new(file).exists() {
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn flood(bytes: usize) {
    let line = [b"0123456789abcdef".repeat(4096), b"\n".to_vec()].concat();
    let mut left = bytes;
    while left > 0 {
        let part = &line[..left.min(line.len())];
        say(&mut std::io::stdout(), part);
        left -= part.len();
    }
}

fn echo() {
    let mut input = Vec::new();
    std::io::stdin().read_to_end(&mut input).expect("a readable input");
    say(&mut std::io::stdout(), &input);
}

fn fds() {
    let entries = std::fs::read_dir("/proc/self/fd").expect("a list of descriptors");
    let mut open: Vec<u32> =
        entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    open.sort_unstable();
    // The last one is the listing itself.
    open.pop();
    say(&mut std::io::stdout(), format!("{open:?}").as_bytes());
}

/// Blocks the signal, which for a signal that is never unblocked is the same as ignoring it.
fn ignore_term() {
    let shell = ["sh", "-c", "trap '' TERM; exec \"$0\" \"$@\""];
    if std::env::var_os("PUPPET_IGNORES_TERM").is_none() {
        let own = std::env::current_exe().expect("an executable");
        let rest = std::env::args().skip(1).skip_while(|word| word != "ignore-term");
        let error = Command::new(shell[0])
            .args(&shell[1..])
            .arg(own)
            .args(rest)
            .env("PUPPET_IGNORES_TERM", "1")
            .exec();
        panic!("cannot execute sh: {error}");
    }
}

fn own(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("an executable"));
    command.args(arguments);
    command
}

/// Plain, quiet, own group, own session, daemon, daemon with a cleared environment, deaf to TERM.
fn family(marker: &str) {
    own(&["linger", marker, "plain"]).spawn().expect("a child");
    own(&["linger", marker, "quiet"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("a child");
    own(&["linger", marker, "group"]).process_group(0).spawn().expect("a child");
    own(&["linger", marker, "session"]).spawn().expect("a child");
    own(&["linger", marker, "daemon"]).spawn().expect("a child").wait().expect("an exit");
    own(&["linger", marker, "daemon"]).env_clear().spawn().expect("a child").wait().expect("an exit");
    own(&["ignore-term", "linger", marker, "deaf"]).spawn().expect("a child");
}

fn orphan(marker: &str) {
    own(&["linger", marker, "plain"]).stdin(Stdio::null()).spawn().expect("a child");
}

fn linger(marker: &str, kind: &str) {
    match kind {
        "session" => drop(rustix::process::setsid()),
        "daemon" => {
            own(&["linger", marker, "session"]).spawn().expect("a child");
            return;
        }
        _ => {}
    }
    std::thread::sleep(LINGER);
}

/// Each generation makes ten that linger and the next generation, and goes: faster than anybody can list them.
fn bomb(marker: &str, generations: u32) {
    let _ = rustix::process::setsid();
    for _ in 0..10 {
        let _ = own(&["linger", marker, "session"]).spawn();
    }
    if let Some(left) = generations.checked_sub(1) {
        let _ = own(&["bomb", marker, &left.to_string()]).spawn();
    }
}

fn touch_memory(mib: usize) {
    let memory = vec![1u8; mib << 20];
    say(
        &mut std::io::stdout(),
        format!("{}", memory.iter().map(|byte| usize::from(*byte)).sum::<usize>()).as_bytes(),
    );
}

fn die(signal: i32) {
    let signal = rustix::process::Signal::from_named_raw(signal).expect("a signal");
    rustix::process::kill_process(rustix::process::getpid(), signal).expect("a signal is sent");
    std::thread::sleep(LINGER);
}
