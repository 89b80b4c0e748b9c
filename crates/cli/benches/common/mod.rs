//! What the benchmarks have in common.
#![expect(dead_code, reason = "each benchmark uses a part of it")]

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// How long some work takes.
pub(crate) fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// The middle one.
pub(crate) fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// In milliseconds.
pub(crate) fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// A server on its standard input and output, as a client starts it.
pub(crate) struct Server {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    next: u64,
}

impl Server {
    pub(crate) fn start() -> Self {
        Server::start_with(&[])
    }

    /// The same with further variables.
    pub(crate) fn start_with(variables: &[(&str, &str)]) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_runward"))
            .arg("stdio")
            .env("ALLOWED_COMMANDS", "*")
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (process.stdin.take(), BufReader::new(process.stdout.take().unwrap()));
        let mut server = Server { process, input, output, next: 1 };
        server.write(concat!(
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","#,
            r#""capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#
        ));
        assert!(server.receive().contains("serverInfo"));
        server.write(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        server
    }

    /// Asks for a tool with arguments in JSON.
    pub(crate) fn send_call(&mut self, tool: &str, arguments: &str) -> u64 {
        let id = self.next;
        self.next += 1;
        self.write(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
        ));
        id
    }

    /// Calls a tool with arguments in JSON.
    pub(crate) fn call(&mut self, tool: &str, arguments: &str) -> String {
        self.send_call(tool, arguments);
        self.receive()
    }

    pub(crate) fn send(&mut self, file: &str, args: &[&str]) -> u64 {
        let args: Vec<String> = args.iter().map(|arg| format!("{arg:?}")).collect();
        self.send_call("execute_process", &format!(r#"{{"file":"{file}","args":[{}]}}"#, args.join(",")))
    }

    pub(crate) fn send_true(&mut self) -> u64 {
        self.send("true", &[])
    }

    pub(crate) fn call_true(&mut self) {
        self.send_true();
        assert!(self.receive().contains("exit_code: 0"));
    }

    pub(crate) fn write(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    pub(crate) fn receive(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line
    }

    pub(crate) fn receive_all(&mut self, ids: &[u64]) {
        for _ in ids {
            assert!(self.receive().contains("exit_code: 0"));
        }
    }

    /// A figure of `/proc/PID/status`, in MB.
    pub(crate) fn memory(&self, field: &str) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with(field)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() / 1024.0
    }

    pub(crate) fn descriptors(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.process.id())).unwrap().count()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.process.wait();
    }
}
