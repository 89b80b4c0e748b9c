//! What the benchmarks have in common.
#![expect(dead_code, reason = "each benchmark uses a part of it")]

use std::io::{BufRead, BufReader, Read, Write};
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

/// What a benchmark is called with to be the process that [`Bare`] measures in.
const BARE: &str = "--bare";

/// A process as small as can be that starts `/bin/true` on request: the fastest way that can be written, with two pipes that
/// are read to their ends. Nothing that does more can be faster, so a ratio under 1 is a mistake here.
pub(crate) struct Bare {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Bare {
    pub(crate) fn start() -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.arg(BARE).env_clear().stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let (input, output) = (process.stdin.take().unwrap(), BufReader::new(process.stdout.take().unwrap()));
        Bare { process, input, output }
    }

    /// How long each of so many starts took.
    pub(crate) fn measure(&mut self, count: usize) -> Vec<Duration> {
        self.input.write_all(format!("{count}\n").as_bytes()).unwrap();
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line.split_whitespace().map(|nanos| Duration::from_nanos(nanos.parse().unwrap())).collect()
    }

    /// Serves such requests where this process was started for that; returns whether it was.
    pub(crate) fn serve() -> bool {
        if std::env::args().nth(1).as_deref() != Some(BARE) {
            return false;
        }
        let nothing = std::fs::File::open("/dev/null").unwrap();
        for line in std::io::stdin().lines() {
            let count: usize = line.unwrap().parse().unwrap();
            let times: Vec<String> =
                (0..count).map(|_| timed(|| start_true(&nothing)).as_nanos().to_string()).collect();
            println!("{}", times.join(" "));
        }
        true
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn start_true(nothing: &std::fs::File) {
    let mut command = Command::new("/bin/true");
    command.env_clear().stdin(nothing.try_clone().unwrap()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut bytes = [0; 64];
    while child.stdout.as_mut().unwrap().read(&mut bytes).unwrap() > 0 {}
    while child.stderr.as_mut().unwrap().read(&mut bytes).unwrap() > 0 {}
    assert!(child.wait().unwrap().success());
}

/// Ends the run where something is faster than the least that it consists of.
pub(crate) fn plausible(ratio: f64) -> f64 {
    assert!(ratio >= 1.0, "{ratio:.2} × bare cannot be: mend the baseline");
    ratio
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
