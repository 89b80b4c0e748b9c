//! The real program, started with exactly the environment that a test gives.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// Where the calls of a test are recorded: in nobody's own trail, and not in that of a test that kills its server.
fn state() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let (process, number) = (std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    format!("{}/state/{process}-{number}", env!("CARGO_TARGET_TMPDIR"))
}

/// Commands in tests may also write where tests keep what they make.
fn writable_roots() -> String {
    format!("{},{}", std::env::temp_dir().display(), env!("CARGO_TARGET_TMPDIR"))
}

/// A call of the program: no variables but `PATH` and where it keeps its trail, no configuration file but those of the
/// test.
pub(crate) struct Program(Command);

impl Program {
    pub(crate) fn new(args: &[&str]) -> Self {
        #[expect(clippy::disallowed_methods, reason = "a test starts the program under test")]
        let mut command = Command::new(env!("CARGO_BIN_EXE_runward"));
        command
            .args(args)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("XDG_STATE_HOME", state())
            .env("RUNWARD_SANDBOX_WRITABLE_ROOTS", writable_roots())
            // What tests make lies in the repository of their own sources.
            .env("GIT_CEILING_DIRECTORIES", env!("CARGO_TARGET_TMPDIR"))
            .stdin(Stdio::null());
        // How commands are confined in all tests can be said from outside.
        let said = std::env::vars_os();
        command.envs(said.filter(|(name, _)| name.to_string_lossy().starts_with("RUNWARD_SANDBOX_")));
        Program(command)
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) -> Self {
        self.0.env(name, value);
        self
    }

    pub(crate) fn current_dir(mut self, directory: &Path) -> Self {
        self.0.current_dir(directory);
        self
    }

    /// The same started by a shell that does this first.
    pub(crate) fn after(self, first: &str) -> Self {
        #[expect(clippy::disallowed_methods, reason = "a test starts the program under test")]
        let mut command = Command::new("/bin/sh");
        command.args(["-c", &format!("{first} && exec \"$@\""), "sh"]).stdin(Stdio::null()).env_clear();
        command.arg(self.0.get_program()).args(self.0.get_args());
        command.envs(self.0.get_envs().filter_map(|(name, value)| Some((name, value?))));
        Program(command)
    }

    /// The same where this directory is a disk of so many KiB that only the program and its commands see; `None` where
    /// this host lets nobody mount one.
    pub(crate) fn on_small_disk(self, directory: &Path, kib: u32) -> Option<Self> {
        let mount = format!("mount -t tmpfs -o size={kib}k small-disk {}", directory.display());
        let inside = |then: &str| {
            #[expect(clippy::disallowed_methods, reason = "a test starts the program under test")]
            let mut command = Command::new("unshare");
            if !rustix::process::geteuid().is_root() {
                command.arg("--map-root-user");
            }
            command.args(["--mount", "sh", "-c", &format!("{mount} && {then}"), "sh"]).stdin(Stdio::null());
            command
        };
        let tried = inside("true").stderr(Stdio::null()).status();
        tried.is_ok_and(|status| status.success()).then(|| {
            let mut command = inside("exec \"$@\"");
            command.arg(self.0.get_program()).args(self.0.get_args()).env_clear();
            command.envs(self.0.get_envs().filter_map(|(name, value)| Some((name, value?))));
            Program(command)
        })
    }

    /// The call itself, for a client to start.
    pub(crate) fn into_command(mut self) -> Command {
        self.0.stderr(Stdio::null());
        self.0
    }

    pub(crate) fn start(mut self) -> Running {
        Running(self.0.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap())
    }

    pub(crate) fn run(mut self) -> Ended {
        let Output { status, stdout, stderr } = self.0.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Ended { code: status.code().unwrap(), stdout: text(stdout), stderr: text(stderr) }
    }

    /// The same with a standard output that nobody reads: its exit code and standard error.
    pub(crate) fn run_unread(mut self) -> (i32, String) {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let Output { status, stderr, .. } = self.0.stdout(writer).output().unwrap();
        (status.code().unwrap(), String::from_utf8(stderr).unwrap())
    }
}

/// A call that goes on until it is let go of.
pub(crate) struct Running(Child);

impl Running {
    /// The first line of its standard output.
    pub(crate) fn first_line(&mut self) -> String {
        let mut line = String::new();
        BufReader::new(self.0.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        line
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// How a call ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ended {
    /// Asserts that the program refused to start, with this one message.
    #[track_caller]
    pub(crate) fn refused(&self, code: i32, message: &str) {
        assert_eq!(self.stderr, format!("runward: {message}\n"));
        assert_eq!((self.code, self.stdout.as_str()), (code, ""));
    }
}
