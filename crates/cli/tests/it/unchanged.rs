//! What a person was asked about, or what was judged, is what runs.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use runward_testkit::mcp::{Client, Era, Person, StdioClient};
use serde_json::{Value, json};

use crate::approvals::{Home, ran, refused, text};

const SETTINGS: &str = "policy.allowed_commands = [\"*\"]\n[approvals]\nlocal = false\nrequest_rule = true\n";

/// A workspace with a few scripts that all print `good`.
struct Workspace(tempfile::TempDir);

impl Workspace {
    fn new() -> Self {
        let workspace = Workspace(tempfile::tempdir().unwrap());
        fs::create_dir(workspace.at("sub")).unwrap();
        for (name, text) in [
            ("deploy.sh", "#!/bin/sh\necho good\n"),
            ("plain.sh", "echo good\n"),
            ("deploy.pl", "print \"good\\n\";\n"),
            ("sub/deploy.sh", "#!/bin/sh\necho good\n"),
            ("own", "#!/bin/sh\necho good\n"),
            ("two words.sh", "echo good\n"),
        ] {
            workspace.write(name, text);
        }
        workspace.write("by-own", &format!("#!{}\n", workspace.at("own").display()));
        symlink("plain.sh", workspace.at("link")).unwrap();
        workspace
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.at(name), text).unwrap();
        fs::set_permissions(self.at(name), Permissions::from_mode(0o755)).unwrap();
    }

    /// A command that asks to leave the sandbox, so that a person is asked.
    fn wish(&self, line: &str) -> Value {
        json!({ "cmd": line, "workdir": self.0.path(), "sandbox_permissions": "require_escalated", "yield_time_ms": 20000 })
    }
}

fn person(home: &Home) -> Person {
    Person::stdio(home.program(&["stdio"]).into_command(), Era::Legacy)
}

/// Lines, and the file that each of them runs in one way or another.
const LINES: [(&str, &str); 13] = [
    ("./deploy.sh", "deploy.sh"),
    ("bash plain.sh", "plain.sh"),
    ("sh ./plain.sh", "plain.sh"),
    ("env bash plain.sh", "plain.sh"),
    ("perl deploy.pl", "deploy.pl"),
    ("bash < plain.sh", "plain.sh"),
    ("cd sub && ./deploy.sh | cat", "sub/deploy.sh"),
    ("x=./deploy.sh; $x", "deploy.sh"),
    ("\"$PWD\"/deploy.sh", "deploy.sh"),
    ("bash -c '. ./plain.sh'", "plain.sh"),
    ("bash 'two words.sh'", "two words.sh"),
    ("./by-own", "own"),
    ("for f in ./dep*.sh; do $f; done", "deploy.sh"),
];

#[test]
fn what_is_rewritten_while_a_person_thinks_does_not_run() {
    let home = Home::new(SETTINGS);
    let mut person = person(&home);
    for (line, file) in LINES {
        let workspace = Workspace::new();
        let call = person.begin("exec_command", &workspace.wish(line));
        let message = person.form(call)["message"].as_str().unwrap().to_owned();
        assert!(message.contains("this answer holds for"), "{line}: {message}");
        workspace.write(file, "#!/bin/sh\necho EVIL; touch evil\n");
        let result = person.decide(call, "approve once");
        refused(&result, &format!("{} has changed since it was judged", workspace.at(file).display()));
        assert!(!workspace.at("evil").exists(), "{line}");
    }
}

#[test]
fn what_is_not_changed_runs_as_it_always_did() {
    let home = Home::new(SETTINGS);
    let mut person = person(&home);
    for (line, _) in LINES {
        let workspace = Workspace::new();
        let call = person.begin("exec_command", &workspace.wish(line));
        person.form(call);
        ran(&person.decide(call, "approve once"), "good");
    }
    let workspace = Workspace::new();
    workspace.write("beside.sh", "#!/bin/bash\ncd \"$(dirname \"$0\")\" && ls deploy.pl; echo $0\n");
    let call = person.begin("exec_command", &workspace.wish("./beside.sh"));
    person.form(call);
    let result = person.decide(call, "approve once");
    ran(&result, "deploy.pl");
    ran(&result, &workspace.at("./beside.sh").display().to_string());
}

/// What somebody does while a person thinks.
type Swap = fn(&Workspace);

#[test]
fn another_file_at_the_same_path_is_a_change_and_so_is_one_that_was_not_there() {
    let home = Home::new(SETTINGS);
    let mut person = person(&home);
    let swaps: [(&str, &str, Swap); 4] = [
        ("bash plain.sh", "plain.sh", |workspace| {
            fs::copy(workspace.at("plain.sh"), workspace.at("copy")).unwrap();
            fs::rename(workspace.at("copy"), workspace.at("plain.sh")).unwrap();
        }),
        ("bash link", "link", |workspace| {
            fs::remove_file(workspace.at("link")).unwrap();
            symlink("two words.sh", workspace.at("link")).unwrap();
        }),
        ("bash later.sh", "later.sh", |workspace| workspace.write("later.sh", "touch evil")),
        ("bash sub/deploy.sh", "sub/deploy.sh", |workspace| {
            fs::rename(workspace.at("sub"), workspace.at("gone")).unwrap();
            fs::create_dir(workspace.at("sub")).unwrap();
            workspace.write("sub/deploy.sh", "touch evil");
        }),
    ];
    for (line, file, swap) in swaps {
        let workspace = Workspace::new();
        let call = person.begin("exec_command", &workspace.wish(line));
        person.form(call);
        swap(&workspace);
        let result = person.decide(call, "approve once");
        refused(&result, &format!("{} has changed since", workspace.at(file).display()));
        assert!(!workspace.at("evil").exists(), "{line}");
    }
}

#[test]
fn an_answer_for_the_session_holds_for_the_content_that_it_was_given_for() {
    let home = Home::new(SETTINGS);
    let (mut person, workspace) = (person(&home), Workspace::new());
    for line in ["./deploy.sh", "bash deploy.sh"] {
        workspace.write("deploy.sh", "#!/bin/sh\necho good\n");
        let call = person.begin("exec_command", &workspace.wish(line));
        person.form(call);
        ran(&person.decide(call, "approve for this session"), "good");
        let call = person.begin("exec_command", &workspace.wish(line));
        ran(&person.reply(call), "good");
        workspace.write("deploy.sh", "#!/bin/sh\ntouch evil\n");
        let call = person.begin("exec_command", &workspace.wish(line));
        person.form(call);
        refused(&person.decide(call, "deny"), "denied by");
        assert!(!workspace.at("evil").exists());
    }
}

#[test]
fn an_answer_for_good_holds_for_the_content_that_it_was_given_for_also_in_the_next_server() {
    let home = Home::new(SETTINGS);
    let workspace = Workspace::new();
    let mut first = person(&home);
    let call = first.begin("exec_command", &workspace.wish("perl deploy.pl"));
    let form = first.form(call);
    let message = form["message"].as_str().unwrap();
    assert!(message.contains("always would be: everything that begins with: perl deploy.pl"), "{message}");
    ran(&first.decide(call, "always allow this prefix"), "good");
    let rules = fs::read_to_string(home.path("state/runward/approved.toml")).unwrap();
    let tie =
        format!("unchanged = {{ \"{}\" = \"", workspace.at("deploy.pl").canonicalize().unwrap().display());
    assert!(rules.contains(&tie), "{rules}");
    let mut second = person(&home);
    for person in [&mut first, &mut second] {
        let call = person.begin("exec_command", &workspace.wish("perl deploy.pl"));
        ran(&person.reply(call), "good");
        // Another file that commands may write is another question.
        let call = person.begin("exec_command", &workspace.wish("perl deploy.pl plain.sh"));
        person.form(call);
        refused(&person.decide(call, "deny"), "denied by");
    }
    workspace.write("deploy.pl", "system 'touch evil';");
    for person in [&mut first, &mut second] {
        let call = person.begin("exec_command", &workspace.wish("perl deploy.pl"));
        person.form(call);
        refused(&person.decide(call, "deny"), "denied by");
    }
    assert!(!workspace.at("evil").exists());
}

#[test]
fn a_person_at_the_same_machine_is_told_what_their_answer_is_tied_to() {
    let home = Home::new("policy.allowed_commands = [\"*\"]\n");
    let workspace = Workspace::new();
    let mut client = StdioClient::start(home.program(&["stdio"]).into_command(), Era::Modern);
    let call = client
        .begin("tools/call", json!({ "name": "exec_command", "arguments": workspace.wish("bash plain.sh") }));
    let open = home.open_questions(1);
    let file = workspace.at("plain.sh").canonicalize().unwrap();
    assert_eq!(open[0]["tied"], json!([file]), "{open:?}");
    let shown = home.runward(&["approvals", "list"]).stdout;
    let wanted = format!("tied to: {} (this answer holds for the file as it is now", file.display());
    assert!(shown.contains(&wanted), "{shown}");
    workspace.write("plain.sh", "touch evil");
    assert_eq!(home.runward(&["approvals", "allow", open[0]["id"].as_str().unwrap()]).code, 0);
    refused(&client.answer(call)["result"], "plain.sh has changed since it was judged");
}

/// Ends the swapping, also when the test fails.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// So many calls while what is named is swapped.
const ROUNDS: usize = 150;

/// Calls a program again and again while its path leads to an allowed and to a blocked one in turn.
fn race(settings: &str, path: &str, swap: impl Fn(&Path, bool) + Sync) {
    let home = Home::new(settings);
    let workspace = tempfile::tempdir().unwrap();
    swap(workspace.path(), true);
    let mut client = StdioClient::start(home.program(&["stdio"]).into_command(), Era::Modern);
    let call = json!({ "file": path, "args": ["marker"], "cwd": workspace.path() });
    let done = AtomicBool::new(false);
    let mut ran = 0;
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                swap(workspace.path(), false);
                swap(workspace.path(), true);
            }
        });
        let _over = Over(&done);
        for _ in 0..ROUNDS {
            let answer = client.call("execute_process", call.clone());
            let told = text(&answer["result"]);
            ran += usize::from(!told.contains("blocked by") && !told.contains("is not allowed"));
            assert!(!workspace.path().join("marker").exists(), "what is blocked ran");
        }
    });
    assert!(ran > 0, "something was judged as what may run");
}

#[test]
fn a_link_that_is_turned_over_and_over_never_runs_what_is_blocked() {
    let blocked = "shell_tool.blocked_commands = [\"touch\"]\npolicy.allowed_commands = [\"*\"]\n";
    race(blocked, "./lk", |directory, good| {
        let next = directory.join("next");
        symlink(if good { "/usr/bin/true" } else { "/usr/bin/touch" }, &next).unwrap();
        fs::rename(&next, directory.join("lk")).unwrap();
    });
    race("policy.allowed_commands = [\"/usr/bin/cat\"]\n", "./dir/cat", |directory, good| {
        let (next, other) = (directory.join("next"), directory.join("other"));
        let _ = fs::create_dir(&other);
        let _ = symlink("/usr/bin/touch", other.join("cat"));
        symlink(if good { Path::new("/usr/bin") } else { &other }, &next).unwrap();
        fs::rename(&next, directory.join("dir")).unwrap();
    });
}
