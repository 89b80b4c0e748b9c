//! The real program, started with exactly the environment that a test gives.

use std::io::Write;
use std::process::{Child, Command, ExitStatus, Output, Stdio};

use runward_testkit::eventually;
use rustix::process::{Pid, Signal, kill_process};

use crate::raw::server::Raw;

/// A call of `run-remote`: no variables but those of the test.
pub(crate) struct RunRemote(Command);

impl RunRemote {
    pub(crate) fn bare(args: &[&str]) -> Self {
        #[expect(clippy::disallowed_methods, reason = "a test starts the program under test")]
        let mut command = Command::new(env!("CARGO_BIN_EXE_run-remote"));
        command.args(args).env_clear().stdin(Stdio::null());
        RunRemote(command)
    }

    /// For this server.
    pub(crate) fn on(raw: &Raw, args: &[&str]) -> Self {
        RunRemote::bare(args).env("RUN_REMOTE_SERVER", &raw.url())
    }

    /// The puppet with these verbs.
    pub(crate) fn puppet(raw: &Raw, verbs: &[&str]) -> Self {
        let puppet = runward_testkit::puppet();
        RunRemote::on(raw, &[&["--", puppet.to_str().unwrap()], verbs].concat())
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.0.env(name, value);
        self
    }

    pub(crate) fn stdin(mut self, stdin: impl Into<Stdio>) -> Self {
        self.0.stdin(stdin);
        self
    }

    pub(crate) fn into_command(self) -> Command {
        self.0
    }

    pub(crate) fn run(mut self) -> Ended {
        self.0.output().unwrap().into()
    }

    /// The same with this on its standard input.
    pub(crate) fn reading(self, input: &[u8]) -> Ended {
        let mut child = self.stdin(Stdio::piped()).start();
        let mut stdin = child.0.stdin.take().unwrap();
        let input = input.to_vec();
        let writer = std::thread::spawn(move || stdin.write_all(&input));
        let ended = child.ended();
        // A command that does not read is no failure of whoever writes.
        let _ = writer.join().unwrap();
        ended
    }

    pub(crate) fn start(mut self) -> Started {
        Started(self.0.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
    }
}

/// A call that goes on.
pub(crate) struct Started(pub(crate) Child);

impl Started {
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).unwrap();
    }

    pub(crate) fn ended(self) -> Ended {
        self.0.wait_with_output().unwrap().into()
    }

    /// Waits for its end, and leaves its output alone.
    pub(crate) fn status(&mut self) -> ExitStatus {
        let mut status = None;
        eventually("run-remote ends", || {
            status = self.0.try_wait().unwrap();
            status.is_some()
        });
        status.unwrap()
    }
}

/// How a call ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl From<Output> for Ended {
    fn from(Output { status, stdout, stderr }: Output) -> Self {
        Ended { code: status.code(), stdout, stderr: String::from_utf8_lossy(&stderr).into_owned() }
    }
}

impl Ended {
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.stdout).unwrap()
    }

    /// Asserts that it ended by itself, with this code and a message that holds these words.
    #[track_caller]
    pub(crate) fn failed(&self, code: i32, words: &str) {
        assert_eq!((self.code, self.text()), (Some(code), ""), "{self:?}");
        assert!(self.stderr.starts_with("run-remote: ") && self.stderr.contains(words), "{self:?}");
    }
}
