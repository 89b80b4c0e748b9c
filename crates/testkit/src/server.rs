//! A server under test, which ends with the test.

use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::eventually;

/// A server process: dropping it shuts it down and reaps it.
#[derive(Debug)]
pub struct TestServer(Child);

impl TestServer {
    /// Starts it with both standard streams for the test.
    pub fn start(mut command: Command) -> Self {
        TestServer(command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a server"))
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.0.id()
    }

    /// Asks it to end, or makes it.
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).expect("a signal reaches the server");
    }

    /// Waits for its end.
    pub fn ended(&mut self) -> ExitStatus {
        let mut status = None;
        eventually("the server ends", || {
            status = self.0.try_wait().expect("a status");
            status.is_some()
        });
        status.unwrap()
    }

    /// The most memory that it has had so far, without the pages of its own file, which a debug build has many of.
    pub fn peak_memory_kib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).expect("a status");
        let kib = |field: &str| -> u64 {
            let line = status.lines().find_map(|line| line.strip_prefix(field)).expect("a figure");
            line.trim().trim_end_matches("kB").trim().parse().expect("a number")
        };
        kib("VmHWM:").saturating_sub(kib("RssFile:"))
    }

    /// Its standard input, once.
    pub fn take_input(&mut self) -> ChildStdin {
        self.0.stdin.take().expect("an input")
    }

    /// Its standard output, once.
    pub fn take_output(&mut self) -> ChildStdout {
        self.0.stdout.take().expect("an output")
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        let is_over = matches!(self.0.try_wait(), Ok(Some(_)));
        if !is_over && !std::thread::panicking() {
            self.signal(Signal::TERM);
            self.ended();
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
