//! Where settings come from, and what is said of bad ones.

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use crate::program::{Ended, Program};

/// A directory with a configuration file in it.
struct File {
    _directory: TempDir,
    path: PathBuf,
}

impl File {
    fn new(text: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("runward.toml");
        fs::write(&path, text).unwrap();
        File { _directory: directory, path }
    }

    fn name(&self) -> &str {
        self.path.to_str().unwrap()
    }

    fn check(&self) -> Ended {
        self.check_line("ls")
    }

    fn check_line(&self, line: &str) -> Ended {
        Program::new(&["check", "--config", self.name(), "--", line]).run()
    }

    #[track_caller]
    fn refused(&self, line: usize, message: &str) {
        self.check().refused(78, &format!("{}:{line}: {message}", self.name()));
    }
}

const ALLOWS_LS: &str = "[policy]\nallowed_commands = [\"ls\"]\n";

#[test]
fn the_file_wins_over_the_defaults() {
    assert_eq!(Program::new(&["check", "--", "ls"]).run().code, 1);
    assert_eq!(File::new(ALLOWS_LS).check().code, 0);
}

#[test]
fn the_environment_wins_over_the_file() {
    let file = File::new(ALLOWS_LS);
    let args = ["check", "--config", file.name(), "--", "ls"];
    assert_eq!(Program::new(&args).env("ALLOWED_COMMANDS", "cat").run().code, 1);
    assert_eq!(Program::new(&args).env("ALLOWED_COMMANDS", "").run().code, 1);
    assert_eq!(Program::new(&args).env("ALLOWED_CWD_ROOTS", "").run().code, 0);
}

#[test]
fn flags_win_over_the_environment() {
    let flag = ["check", "--log-format", "json", "--", "ls"];
    let bad = |args: &[&str]| Program::new(args).env("RUNWARD_LOG_FORMAT", "xml").run();
    bad(&["check", "--", "ls"]).refused(78, "RUNWARD_LOG_FORMAT: \"xml\" is not one of text, json");
    assert_eq!(bad(&flag).code, 1);
}

#[test]
fn a_file_is_found_by_flag_then_by_variable_then_in_the_usual_place() {
    let home = tempfile::tempdir().unwrap();
    let place = home.path().join(".config/runward");
    fs::create_dir_all(&place).unwrap();
    fs::write(place.join("config.toml"), ALLOWS_LS).unwrap();
    let (strict, open) = (File::new(""), File::new(ALLOWS_LS));
    let code = |variable: &str, flag: &[&str]| {
        let args = [&["check"], flag, &["--", "ls"]].concat();
        Program::new(&args).env("HOME", home.path()).env("RUNWARD_CONFIG", variable).run().code
    };
    assert_eq!(code("", &[]), 0);
    assert_eq!(code(strict.name(), &[]), 1);
    assert_eq!(code(strict.name(), &["--config", open.name()]), 0);
}

#[test]
fn the_usual_place_may_be_empty_but_a_named_file_must_be_there() {
    let home = tempfile::tempdir().unwrap();
    let ended = Program::new(&["check", "--", "ls"]).env("HOME", home.path()).run();
    assert_eq!((ended.code, ended.stderr.as_str()), (1, ""));
    let missing = "cannot read this configuration file";
    let why = "No such file or directory (os error 2)";
    Program::new(&["check", "--config", "/no/such.toml", "--", "ls"])
        .run()
        .refused(78, &format!("/no/such.toml: {missing} (named by --config): {why}"));
    Program::new(&["check", "--", "ls"])
        .env("RUNWARD_CONFIG", "/no/such.toml")
        .run()
        .refused(78, &format!("/no/such.toml: {missing} (named by RUNWARD_CONFIG): {why}"));
}

#[test]
fn an_unknown_key_is_named_with_file_and_line_and_what_was_meant() {
    File::new("# mine\n\n[limits]\noutptu = \"1MiB\"\n")
        .refused(4, "limits.outptu: there is no such setting; did you mean limits.output?");
    File::new("[http]\ntls = true\n").refused(
        2,
        "http.tls: there is no such setting; there are http.allowed_hosts, http.allowed_origins, http.bind, http.body_timeout, http.head_timeout, http.idle_timeout, http.max_body, http.max_connections",
    );
    let ended = File::new("[nonsense]\n").check();
    let (message, names) = ended.stderr.trim_end().split_once("; there are ").unwrap();
    assert!(ended.code == 78 && message.ends_with(":1: nonsense: there is no such setting"), "{ended:?}");
    let names: Vec<&str> = names.split(", ").collect();
    assert!(
        ["http", "policy", "rule", "shell_tool", "tools"].iter().all(|name| names.contains(name)),
        "{names:?}"
    );
}

#[test]
fn a_wrong_type_is_named_with_file_line_and_key() {
    let timeout = "limits.default_timeout: expected text in quotes, found a number";
    File::new("[limits]\ndefault_timeout = 30\n").refused(2, timeout);
    let sessions = "limits.sessions: expected a whole number, found text";
    File::new("[limits]\nsessions = \"64\"\n").refused(2, sessions);
    let list = "policy.allowed_commands: expected a list of texts, such as [\"a\", \"b\"], found text";
    File::new("tools = []\npolicy.allowed_commands = \"ls\"\n").refused(2, list);
    let section = "limits: this is a section; write [limits] on a line of its own and its settings below";
    File::new("limits = 3\n").refused(1, section);
}

#[test]
fn a_bad_value_is_named_with_file_line_and_key() {
    let bad = [
        (
            "limits.max_timeout = '10 parsecs'",
            "limits.max_timeout: \"10 parsecs\" is not a duration; write a whole number and a unit (ms, s, m, h), such as \"30s\"",
        ),
        (
            "limits.output = '1TB'",
            "limits.output: \"1TB\" is not a size; write a whole number and a unit (B, KiB, MiB, GiB, KB, MB, GB), such as \"1MiB\"",
        ),
        ("limits.sessions = 0", "limits.sessions: 0 is out of bounds; it takes 1 to 4096"),
        (
            "http.bind = 'localhost'",
            "http.bind: \"localhost\" is not an address; write IP:PORT, such as 127.0.0.1:8000 or [::1]:8000",
        ),
        (
            "process.containment = 'jail'",
            "process.containment: \"jail\" is not one of auto, cgroup, namespace, keeper",
        ),
        (
            "policy.allowed_commands = ['ls,cat']",
            "policy.allowed_commands: \"ls,cat\" holds a comma; write one command an entry",
        ),
    ];
    for (line, message) in bad {
        File::new(&format!("\n\n{line}\n")).refused(3, message);
    }
}

#[test]
fn what_is_no_toml_is_named_with_file_and_line() {
    let file = File::new("[limits]\noutput = \n");
    let ended = file.check();
    let place = format!("runward: {}:2: not valid TOML: ", file.name());
    assert!(ended.code == 78 && ended.stderr.starts_with(&place), "{ended:?}");
}

#[test]
fn a_bad_variable_is_named() {
    let ended = Program::new(&["check", "--", "ls"]).env("RUNWARD_LIMITS_SESSIONS", "many").run();
    ended.refused(78, "RUNWARD_LIMITS_SESSIONS: \"many\" is not a whole number");
    let ended = Program::new(&["serve"]).env("MCP_BIND_ADDR", "8000").run();
    let what = "\"8000\" is not an address; write IP:PORT, such as 127.0.0.1:8000 or [::1]:8000";
    ended.refused(78, &format!("MCP_BIND_ADDR: {what}"));
    let ended = Program::new(&["check", "--", "ls"]).env("RUNWARD_LOG", "a=b=c").run();
    assert!(
        ended.code == 78 && ended.stderr.starts_with("runward: RUNWARD_LOG: \"a=b=c\" is not a log filter; "),
        "{ended:?}"
    );
}

#[test]
fn a_bad_flag_is_a_usage_error() {
    let ended = Program::new(&["stdio", "--tools", "execute_command,excute"]).run();
    assert_eq!(ended.code, 2, "{ended:?}");
    let message = "runward: --tools: there is no tool \"excute\"; the tools are execute_command, ";
    assert!(ended.stderr.starts_with(message), "{ended:?}");
}

#[test]
fn an_empty_token_is_not_quietly_no_token() {
    let ended = Program::new(&["serve", "--bind", "127.0.0.1:0"]).env("RUNWARD_TOKEN", "").run();
    ended.refused(78, "RUNWARD_TOKEN: the token is empty; set a long random one, or unset the variable");
}

#[test]
fn starting_makes_no_files() {
    let home = tempfile::tempdir().unwrap();
    for (args, code) in [(&["check", "--", "ls"][..], 1), (&["stdio"], 0)] {
        let program = Program::new(args).env("HOME", home.path()).env("TMPDIR", home.path());
        let ended = program.env("XDG_STATE_HOME", home.path()).current_dir(home.path()).run();
        assert_eq!(ended.code, code, "{ended:?}");
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
    }
}

#[test]
fn a_wrong_rule_stops_the_start_and_names_file_line_and_example() {
    File::new("[shell_tool]\nblocked_patterns = [\"ok\", \"(\"]\n")
        .refused(2, "shell_tool.blocked_patterns: \"(\" is no regular expression: unclosed group");
    let rule = "[[rule]]\npattern = [\"git\", [\"push\", \"fetch\"]]\ndecision = \"deny\"\n";
    File::new(&format!("{rule}match = [\"git status\"]\n")).refused(
        4,
        "rule.match: the example \"git status\" should match this rule and does not; change the rule or the example",
    );
    File::new(&format!("{rule}not_match = [\"git push\"]\n")).refused(
        4,
        "rule.not_match: the example \"git push\" should not match this rule and does; change the rule or the example",
    );
}

#[test]
fn blocked_commands_hold_for_every_line_that_the_program_is_asked_about() {
    let file = File::new("[shell_tool]\nallowed_commands = [\"*\"]\nblocked_commands = [\"rm -rf\"]\n");
    assert_eq!(file.check().code, 0);
    let ended = file.check_line("ls; sh -c 'env rm -fr x'");
    assert_eq!(ended.code, 1);
    assert!(ended.stdout.contains("\"rm -rf\" is blocked by blocked_commands"), "{}", ended.stdout);
}
