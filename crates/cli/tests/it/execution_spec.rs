//! Every scenario of the execution specification, and of its change for `cwd`, over the real program.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use runward_testkit::mcp::{Client, Era, StdioClient};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::Program;
use crate::reply::Reply;

/// A server and the directory that it runs in: `monorepo/frontend` and `elsewhere` are there, and an `npm` that leaves
/// a trace, shows its directory on standard error and its version on standard output.
struct Given {
    directory: TempDir,
    variables: Vec<(&'static str, String)>,
}

const NPM: &str = "#!/bin/sh\ntouch \"${0%/*}/../ran\"\npwd -P >&2\necho \"10.9.2 $*\"\n";

impl Given {
    fn allowed_commands(allowed: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        for name in ["bin", "monorepo/frontend", "elsewhere"] {
            fs::create_dir_all(directory.path().join(name)).unwrap();
        }
        let npm = directory.path().join("bin/npm");
        fs::write(&npm, NPM).unwrap();
        fs::set_permissions(&npm, fs::Permissions::from_mode(0o755)).unwrap();
        Given { directory, variables: vec![("ALLOWED_COMMANDS", allowed.to_owned())] }
    }

    fn npm() -> Self {
        Given::allowed_commands("npm")
    }

    fn and(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.variables.push((name, value.into()));
        self
    }

    fn and_root(self, root: &str) -> Self {
        let root = self.path(root);
        self.and("ALLOWED_CWD_ROOTS", root)
    }

    fn path(&self, name: &str) -> String {
        self.directory.path().join(name).to_str().unwrap().to_owned()
    }

    fn canonical(&self, name: &str) -> PathBuf {
        self.directory.path().join(name).canonicalize().unwrap()
    }

    fn when(&self, tool: &str, arguments: Value) -> Reply {
        let path = format!("{}:/usr/bin:/bin", self.path("bin"));
        let mut program = Program::new(&["stdio"]).current_dir(self.directory.path()).env("PATH", path);
        for (name, value) in &self.variables {
            program = program.env(name, value);
        }
        let answer = StdioClient::start(program.into_command(), Era::Legacy).call(tool, arguments);
        Reply::read(&answer)
    }

    fn command(&self, command: &str) -> Reply {
        self.when("execute_command", json!({ "command": command }))
    }

    fn npm_in(&self, cwd: &str) -> Reply {
        self.when("execute_command", json!({ "command": "npm -v", "cwd": cwd }))
    }

    #[track_caller]
    fn ran_in(&self, reply: &Reply, directory: &Path) {
        assert_eq!((reply.is_error, reply.exit_code), (false, Some(0)), "{reply:?}");
        assert_eq!(reply.stdout, "10.9.2 -v\n");
        assert_eq!(Path::new(reply.stderr.trim_end()), directory);
        assert!(fs::exists(self.path("ran")).unwrap());
    }

    #[track_caller]
    fn refused(&self, reply: &Reply, reason: &str) {
        assert_eq!(reply.refusal(), reason);
        assert!(!fs::exists(self.path("ran")).unwrap(), "it was executed");
    }
}

#[test]
fn default_timeout_prevents_hangs() {
    let given = Given::allowed_commands("bash").and("RUNWARD_LIMITS_DEFAULT_TIMEOUT", "700ms");
    let reply = given.command("bash -c 'echo early; echo late >&2; sleep 600'");
    assert_eq!((reply.is_error, reply.exit_code), (true, Some(124)), "{reply:?}");
    assert_eq!(reply.error.as_deref(), Some("Timed out after 700ms"));
    assert_eq!((reply.stdout.as_str(), reply.stderr.as_str()), ("early\n", "late\n"));
}

#[test]
fn caller_provided_timeout_overrides_default() {
    let given = Given::allowed_commands("bash").and("RUNWARD_LIMITS_DEFAULT_TIMEOUT", "50ms");
    let longer = json!({ "command": "bash -c 'sleep 0.3; echo done'", "timeout_ms": 60_000 });
    let reply = given.when("execute_command", longer);
    assert_eq!((reply.is_error, reply.stdout.as_str()), (false, "done\n"), "{reply:?}");
    let given = Given::allowed_commands("bash");
    for (tool, arguments) in [
        ("execute_command", json!({ "command": "bash -c 'sleep 600'", "timeout_ms": 300 })),
        ("execute_process", json!({ "file": "bash", "args": ["-c", "sleep 600"], "timeout_ms": 300 })),
    ] {
        assert_eq!(given.when(tool, arguments).error.as_deref(), Some("Timed out after 300ms"));
    }
}

#[test]
fn allowed_command() {
    let reply = Given::allowed_commands("ls,cat").command("ls");
    assert_eq!((reply.is_error, reply.exit_code), (false, Some(0)));
    assert_eq!(reply.stdout, "bin\nelsewhere\nmonorepo\n");
}

#[test]
fn disallowed_command() {
    let reply = Given::allowed_commands("ls").command("pwd");
    assert_eq!(
        reply.refusal(),
        "command \"pwd\" is not allowed; allowed commands: ls (set ALLOWED_COMMANDS to change this)"
    );
    let given = Given::allowed_commands("ls");
    let reason = "command \"npm\" is not allowed; allowed commands: ls (set ALLOWED_COMMANDS to change this)";
    given.refused(&given.command("npm -v"), reason);
}

#[test]
fn wildcard_allowlist() {
    let reply = Given::allowed_commands("*").command("whoami");
    assert_eq!((reply.is_error, reply.exit_code), (false, Some(0)), "{reply:?}");
    assert!(!reply.stdout.is_empty());
}

#[test]
fn yaml_output() {
    let reply = Given::allowed_commands("bash").command("bash -c 'echo \"a: [b\"; echo \"- c\" >&2; exit 3'");
    assert_eq!((reply.is_error, reply.exit_code), (false, Some(3)));
    assert_eq!((reply.stdout.as_str(), reply.stderr.as_str()), ("a: [b\n", "- c\n"));
}

#[test]
fn execute_with_relative_cwd() {
    let given = Given::npm();
    given.ran_in(&given.npm_in("monorepo/frontend"), &given.canonical("monorepo/frontend"));
}

#[test]
fn execute_with_absolute_cwd() {
    let given = Given::npm();
    given.ran_in(&given.npm_in(&given.path("monorepo/frontend")), &given.canonical("monorepo/frontend"));
}

#[test]
fn error_on_non_existent_cwd() {
    let given = Given::npm();
    let missing = given.canonical("").join("does-not-exist");
    let reply = given.npm_in("does-not-exist");
    assert!(reply.refusal().starts_with("cwd does not exist: "), "{reply:?}");
    given.refused(&reply, reply.refusal());
    let reason = format!("cwd does not exist: {}", missing.display());
    given.refused(&given.npm_in(missing.to_str().unwrap()), &reason);
    let file = given.path("bin/npm");
    given.refused(&given.npm_in(&file), &format!("cwd is not a directory: {file}"));
}

#[test]
fn allowed_when_within_allowed_cwd_roots() {
    let given = Given::npm().and_root("monorepo");
    given.ran_in(&given.npm_in(&given.path("monorepo/frontend")), &given.canonical("monorepo/frontend"));
    given.ran_in(&given.npm_in("monorepo"), &given.canonical("monorepo"));
}

#[test]
fn rejected_when_outside_allowed_cwd_roots() {
    let given = Given::npm().and_root("monorepo");
    symlink(given.path("elsewhere"), given.path("monorepo/link")).unwrap();
    fs::create_dir(given.path("monorepo-too")).unwrap();
    for outside in ["elsewhere", "monorepo/link", "monorepo/../elsewhere", "monorepo-too", ".", "/"] {
        let reply = given.npm_in(outside);
        let reason = reply.refusal();
        assert!(reason.starts_with("cwd is not allowed by ALLOWED_CWD_ROOTS: "), "{reason}");
        given.refused(&reply, reason);
    }
    let arguments = json!({ "file": "npm", "args": ["-v"], "cwd": given.path("elsewhere") });
    let reply = given.when("execute_process", arguments);
    assert!(reply.refusal().starts_with("cwd is not allowed by ALLOWED_CWD_ROOTS: "), "{reply:?}");
}

#[test]
fn no_restriction_when_allowed_cwd_roots_is_unset() {
    for given in [Given::npm(), Given::npm().and("ALLOWED_CWD_ROOTS", "")] {
        given.ran_in(&given.npm_in(&given.path("elsewhere")), &given.canonical("elsewhere"));
    }
}

#[test]
fn reject_when_allowed_cwd_roots_contains_an_invalid_root() {
    let given = Given::npm();
    let roots = format!("{},/path/that/does/not/exist", given.path("monorepo"));
    let given = given.and("ALLOWED_CWD_ROOTS", roots);
    let reason =
        "invalid configuration: ALLOWED_CWD_ROOTS contains an invalid root: /path/that/does/not/exist";
    given.refused(&given.npm_in(&given.path("monorepo/frontend")), reason);
    given.ran_in(&given.command("npm -v"), &given.canonical(""));
}

#[test]
fn execute_process_runs_argv_based_command() {
    let given = Given::allowed_commands("python3");
    let print = "import sys; print(sys.argv[1:], sys.stdin.read())";
    let arguments =
        json!({ "file": "python3", "args": ["-c", print, "$HOME", "a b", "*"], "input": "given" });
    let reply = given.when("execute_process", arguments);
    assert_eq!((reply.is_error, reply.exit_code), (false, Some(0)), "{reply:?}");
    assert_eq!(reply.stdout, "['$HOME', 'a b', '*'] given\n");
}

#[test]
fn execute_process_rejects_disallowed_file() {
    let reply = Given::allowed_commands("echo").when("execute_process", json!({ "file": "python3" }));
    assert_eq!(
        reply.refusal(),
        "command \"python3\" is not allowed; allowed commands: echo (set ALLOWED_COMMANDS to change this)"
    );
}

#[test]
fn backward_compatibility_no_cwd() {
    let reply = Given::allowed_commands("echo").command("echo hello");
    assert_eq!((reply.is_error, reply.exit_code, reply.stdout.as_str()), (false, Some(0), "hello\n"));
    let given = Given::npm();
    given.ran_in(&given.command("npm -v"), &given.canonical(""));
}
