//! This test binary again, as another process that writes to a trail until it is told or made to stop.
#![expect(clippy::disallowed_methods, reason = "a second server is a second process")]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use runward_audit::{CallId, Closed, Trail};

use crate::judged;

const PATH: &str = "SCRIBE_PATH";
const CALLS: &str = "SCRIBE_CALLS";

/// A process that opens and closes this many calls, opens one more, and closes it when its input ends. It says the
/// number of every record once it is acknowledged.
pub(crate) fn start(path: &Path, calls: usize) -> (Child, BufReader<ChildStdout>) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "scribe::write_as_told", "--nocapture"])
        .env(PATH, path)
        .env(CALLS, calls.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap());
    (child, lines)
}

/// The numbers that were acknowledged, as they come, each with its call.
pub(crate) fn acknowledged(lines: BufReader<ChildStdout>) -> impl Iterator<Item = (u64, String)> {
    lines.lines().map_while(Result::ok).filter_map(|line| {
        let (number, call) = line.strip_prefix("ack ")?.split_once(' ')?;
        // A line that was cut off by the end of its writer was not acknowledged.
        Some((number.parse().ok()?, call.strip_suffix('.')?.to_owned()))
    })
}

#[test]
#[ignore = "is the other process of other tests"]
fn write_as_told() {
    let trail = Trail::at(std::env::var(PATH).unwrap());
    let calls: usize = std::env::var(CALLS).unwrap().parse().unwrap();
    let mut out = std::io::stdout().lock();
    writeln!(out).unwrap();
    for number in 0..=calls {
        let call = CallId::fresh();
        let opened = trail.append(judged(&call, "echo hello")).unwrap();
        writeln!(out, "ack {opened} {call}.").unwrap();
        if number == calls {
            std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).unwrap();
        }
        let closed = trail.append(Closed::refused(call.clone(), "no")).unwrap();
        writeln!(out, "ack {closed} {call}.").unwrap();
    }
}
