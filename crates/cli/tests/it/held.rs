//! What a confined command makes that would run code for others: it works inside, and nobody outside sees it until a
//! person takes it over.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use runward_testkit::mcp::{Client, Era, StdioClient};
use runward_testkit::{eventually, skipped};
use serde_json::json;
use tempfile::TempDir;

use crate::program::{Ended, Program};

/// A repository, and state of its own.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let directory = runward_testkit::seen_by_the_confined(env!("CARGO_TARGET_TMPDIR"));
        let place = Place(tempfile::tempdir_in(directory).unwrap());
        for name in ["work", "home"] {
            fs::create_dir(place.path(name)).unwrap();
        }
        place
    }

    /// The same with a repository that has a commit.
    fn with_repository() -> Self {
        let place = Place::new();
        place.git("work", &["init", "-q", "-b", "main"]);
        place.git("work", &["commit", "-q", "--allow-empty", "-m", "first"]);
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(name)
    }

    fn program(&self, args: &[&str]) -> Program {
        Program::new(args)
            .env("ALLOWED_COMMANDS", "*")
            .env("RUNWARD_SANDBOX_WRITABLE_ROOTS", "/nowhere/at/all")
            .env("XDG_STATE_HOME", self.path("state"))
            .env("HOME", self.path("home"))
            .current_dir(&self.path("work"))
    }

    fn client(&self) -> Option<StdioClient> {
        let mut client = StdioClient::start(self.program(&["stdio"]).into_command(), Era::Modern);
        let tried = client.call("shell", json!({ "command": "true" }))["result"].clone();
        let text = tried["content"][0]["text"].as_str().unwrap_or_default();
        if text.contains("cannot be kept here") {
            skipped("this host cannot keep what the sandbox promises");
            return None;
        }
        Some(client)
    }

    fn runward(&self, args: &[&str]) -> Ended {
        self.program(args).run()
    }

    /// Git as a person runs it: not confined. What it printed, on both outputs.
    fn git(&self, directory: &str, words: &[&str]) -> String {
        #[expect(clippy::disallowed_methods, reason = "a person runs git, not Runward")]
        let mut git = Command::new("git");
        git.args(["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always"]);
        git.env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .env("HOME", self.path("home"));
        // A person's git here never means the repository that these tests lie in.
        git.env("GIT_CEILING_DIRECTORIES", self.path(""));
        let done = git.args(words).current_dir(self.path(directory)).output().unwrap();
        [done.stdout, done.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat()
    }

    fn names(&self, directory: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(directory)).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// What a line printed on standard output, and all that the reply says.
fn shell(client: &mut StdioClient, line: &str) -> (String, String) {
    let line = format!(
        "git() {{ command git -c user.name=t -c user.email=t@example.org -c protocol.file.allow=always \"$@\"; }}\n{line}"
    );
    let result = client.call("shell", json!({ "command": line }))["result"].clone();
    let parts = result["content"].as_array().cloned().unwrap_or_default();
    let told: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
    (result["structuredContent"]["stdout"].as_str().unwrap_or_default().to_owned(), told.join("\n"))
}

/// Asserts that a line ends well.
fn fine(client: &mut StdioClient, line: &str) -> String {
    let (stdout, told) = shell(client, &format!("{{ {line}\n}} && echo went-well"));
    assert!(told.contains("went-well"), "{line}: {told}");
    stdout.replace("went-well\n", "")
}

#[test]
fn an_ordinary_day_with_git_holds_nothing_back() {
    let place = Place::new();
    fs::create_dir(place.path("other")).unwrap();
    place.git("other", &["init", "-q"]);
    place.git("other", &["commit", "-q", "--allow-empty", "-m", "x"]);
    let Some(mut client) = place.client() else { return };
    let other = place.path("other");
    for line in [
        "git init -q -b main . && git config user.name ada && git config user.email a@example.org",
        "echo x > file && mkdir -p deep/er && git add -A && git commit -qm first && git status",
        "cd deep/er && echo y > below && git add . && git commit -qm second && git log --oneline",
        "git remote add origin https://example.org/x.git && git remote -v && git branch feature && git checkout -q feature",
        "git worktree add -q tree -b tree && cd tree && echo z > z && git add z && git commit -qm third && git stash list",
        "git tag v1 && git merge -q main && git rebase -q main && git gc -q && git fsck",
        "git config alias.st 'status -sb' && git st",
        "git init -q nested && cd nested && git commit -q --allow-empty -m x",
        "git init -q --bare bare.git && git clone -q bare.git cloned && cd cloned && git commit -q --allow-empty -m x && git push -q origin HEAD",
        "rm -rf nested bare.git cloned && git worktree remove --force tree",
    ] {
        fine(&mut client, line);
    }
    fine(
        &mut client,
        &format!(
            "git submodule add -q {} part && git commit -qm part && git submodule status",
            other.display()
        ),
    );
    fine(&mut client, "mkdir fresh && cd fresh && git clone -q ../ . 2>/dev/null && git log --oneline");
    let (_, told) = shell(&mut client, "git status");
    assert!(!told.contains("held back"), "{told}");
    assert!(
        place.git("work", &["log", "--oneline", "feature"]).contains("third")
            || place.git("work", &["branch"]).contains("feature")
    );
    assert!(place.git("work", &["remote", "-v"]).contains("https://example.org/x.git"), "it is seen outside");
    assert!(place.git("work", &["status", "--short"]).is_empty() || place.path("work/fresh").exists());
    let listed = place.runward(&["held"]);
    assert_eq!(listed.stdout, "nothing is held back\n", "{}", listed.stderr);
}

#[test]
fn a_hook_runs_inside_and_not_outside_until_a_person_takes_it_over() {
    let place = Place::with_repository();
    let Some(mut client) = place.client() else { return };
    let make =
        "printf '#!/bin/sh\\ntouch RAN\\n' > .git/hooks/post-commit && chmod +x .git/hooks/post-commit";
    let (_, told) = shell(&mut client, make);
    assert!(
        told.contains("held back") && told.contains(".git/hooks") && told.contains("runward held"),
        "{told}"
    );
    fine(&mut client, "git commit -q --allow-empty -m inside && test -e RAN && rm RAN");
    place.git("work", &["commit", "-q", "--allow-empty", "-m", "outside"]);
    assert!(!place.path("work/RAN").exists(), "nobody outside runs it");
    assert!(!place.path("work/.git/hooks/post-commit").exists());

    let listed = place.runward(&["held"]);
    assert!(listed.stdout.contains("work/.git/hooks\n"), "{}", listed.stdout);
    let shown = place.runward(&["held", "show", ".git/hooks"]);
    assert!(shown.stdout.contains("touch RAN"), "{}", shown.stdout);
    let accepted = place.runward(&["held", "accept", ".git/hooks"]);
    assert!(accepted.stdout.contains("is in its place now"), "{} {}", accepted.stdout, accepted.stderr);
    place.git("work", &["commit", "-q", "--allow-empty", "-m", "outside"]);
    assert!(place.path("work/RAN").exists(), "a person took it over");
    assert_eq!(place.runward(&["held"]).stdout, "nothing is held back\n");
}

#[test]
fn what_is_harmless_in_a_configuration_is_published_and_the_rest_is_held_back() {
    let place = Place::with_repository();
    let Some(mut client) = place.client() else { return };
    let (_, told) =
        shell(&mut client, "git config core.hooksPath .husky && git remote add origin https://example.org/x");
    assert!(told.contains("held back") && told.contains(".git/config"), "{told}");
    assert_eq!(fine(&mut client, "git config core.hooksPath"), ".husky\n", "it is there inside");
    assert!(place.git("work", &["remote"]).contains("origin"), "and what is harmless is there outside");
    assert_eq!(place.git("work", &["config", "core.hooksPath"]), "");
    // A person changes the same file meanwhile: nothing of either side is lost.
    place.git("work", &["config", "user.name", "Ada"]);
    assert_eq!(fine(&mut client, "git config --local user.name; git config core.hooksPath"), "Ada\n.husky\n");
    fine(&mut client, "git config core.fsmonitor 'touch RAN' && git config branch.main.remote origin");
    assert_eq!(place.git("work", &["config", "branch.main.remote"]), "origin\n");
    assert_eq!(place.git("work", &["config", "--local", "user.name"]), "Ada\n");
    place.git("work", &["status"]);
    assert!(!place.path("work/RAN").exists());
    // Without what was harmful there is nothing to hold back.
    fine(&mut client, "git config --unset core.hooksPath && git config --unset core.fsmonitor");
    assert_eq!(place.runward(&["held"]).stdout, "nothing is held back\n");
}

#[test]
fn settings_of_other_programs_are_there_inside_and_leave_no_trace_outside() {
    let place = Place::with_repository();
    let Some(mut client) = place.client() else { return };
    let line = "mkdir .vscode && echo '{}' > .vscode/tasks.json && echo '{}' > .mcp.json.new && mv .mcp.json.new .mcp.json \
        && mkdir -p a/b && echo x > a/b/.envrc && cat .mcp.json .vscode/tasks.json a/b/.envrc && ls -A";
    let told = fine(&mut client, line);
    assert_eq!(told, "{}\n{}\nx\n.git\n.mcp.json\n.vscode\na\n");
    assert_eq!(place.names("work"), [".git", "a"]);
    assert_eq!(place.names("work/a/b"), Vec::<String>::new());
    assert_eq!(
        fine(&mut client, "cat .mcp.json a/b/.envrc; ls -A"),
        "{}\nx\n.git\n.mcp.json\n.vscode\na\n",
        "the next call sees it"
    );
    assert_eq!(fine(&mut client, "rm -r .vscode .mcp.json && ls -A"), ".git\na\n");
    let discarded = place.runward(&["held", "discard", "--all"]);
    assert!(discarded.stdout.contains(".envrc is discarded"), "{}", discarded.stdout);
    assert_eq!(fine(&mut client, "ls -A a/b"), "");
}

#[test]
fn a_tree_is_made_beside_the_repository_where_the_server_was_started_around_it() {
    let place = Place::with_repository();
    // A directory around homes is nobody's project, so this one's is elsewhere.
    let home = tempfile::tempdir().unwrap();
    let program = place.program(&["stdio"]).env("HOME", home.path()).current_dir(&place.path(""));
    let mut client = StdioClient::start(program.into_command(), Era::Modern);
    let mut call = |line: &str, cwd: &str| {
        let line =
            format!("git() {{ command git -c user.name=t -c user.email=t@example.org \"$@\"; }}; {line}");
        let result =
            client.call("shell", json!({ "command": line, "working_directory": place.path(cwd) }))["result"]
                .clone();
        result["structuredContent"].clone()
    };
    let made = call(
        "git worktree add -q ../tree -b tree && cd ../tree && echo x > new && git add -A && git commit -qm tree",
        "work",
    );
    if made["stderr"].as_str().unwrap_or_default().contains("cannot be kept here") {
        return;
    }
    assert_eq!(made["exit_code"], 0, "{made}");
    let again = call("echo y > more && git add -A && git commit -qm more && git log --oneline", "tree");
    assert_eq!(again["exit_code"], 0, "{again}");
    assert!(place.git("tree", &["log", "--oneline"]).contains("more"), "and it is a person's as well");
    assert!(place.git("tree", &["status", "--short"]).is_empty());
    let elsewhere = call("mkdir ../other; echo x > ../file", "work");
    assert!(!place.path("other").exists() && !place.path("file").exists(), "{elsewhere}");
    // Noting a tree down is no way into a neighbour, or to a name that runs code.
    fs::create_dir_all(place.path("neighbour/.git/hooks")).unwrap();
    let begin = "mkdir -p .git/worktrees/hooks .git/worktrees/.vscode .git/worktrees/sub";
    let reach = format!(
        "{begin}; cd ..; mkdir neighbour/.git/hooks neighbour/.vscode .vscode neighbour/sub; echo x > neighbour/.git/hooks/pre-commit; ls -A . neighbour"
    );
    let reached = call(&reach, "work");
    assert!(!place.path("neighbour/.git/hooks/pre-commit").exists(), "{reached}");
    for name in ["neighbour/.vscode", ".vscode", "neighbour/sub"] {
        assert!(!place.path(name).exists(), "{name}: {reached}");
    }
}

#[test]
fn a_tree_that_a_session_makes_is_seen_outside_while_the_session_goes_on() {
    let place = Place::with_repository();
    let Some(mut client) = place.client() else { return };
    let line =
        "git -c user.name=t -c user.email=t@example.org worktree add -q tree -b tree; touch ready; cat";
    let begun = client
        .call("exec_command", json!({ "cmd": line, "stdin": "pipe", "yield_time_ms": 500, "login": false }));
    eventually("the tree is made", || place.path("work/ready").exists());
    assert!(place.path("work/tree").exists(), "{begun}");
    assert!(place.git("work/tree", &["status"]).contains("On branch tree"), "{begun}");
}

#[test]
fn nothing_stands_in_the_way_of_other_programs() {
    let place = Place::with_repository();
    let Some(mut client) = place.client() else { return };
    assert_eq!(fine(&mut client, "ls -A"), ".git\n");
    assert_eq!(
        fine(&mut client, "git status --short --ignored; git clean -ndx; find . -name '.mcp.json'"),
        ""
    );
}

/// Ways to have a person's git run something. Each line is tried by itself; then git looks around everywhere.
const WAYS: [&str; 31] = [
    "cp -r .git evil && printf '[core]\\n fsmonitor = touch MARK\\n' >> evil/config; echo ../evil > .git/commondir",
    "printf '[core]\\n fsmonitor = touch MARK\\n' > .git/config.worktree; git config extensions.worktreeConfig true",
    "git worktree add -q wt; echo ../../../evil > .git/worktrees/wt/commondir; cp -r .git evil; printf '[core]\\n fsmonitor = touch MARK\\n' >> evil/config",
    "mkdir -p .git/modules/a/b/hooks && printf '#!/bin/sh\\ntouch MARK' > .git/modules/a/b/hooks/post-checkout && chmod +x .git/modules/a/b/hooks/*",
    "printf '[core]\\n fsmonitor = touch MARK\\n' >> .git/config",
    "cp .git/config c && printf '[core]\\n fsmonitor = touch MARK\\n' >> c && mv c .git/config",
    "printf '[include]\\n path = ../evil\\n' >> .git/config; printf '[core]\\n fsmonitor = touch MARK\\n' > evil",
    "mv .git/hooks h; printf '#!/bin/sh\\ntouch MARK' > h/post-checkout; chmod +x h/post-checkout; mv h .git/hooks",
    "rm -rf .git/hooks; mkdir h; printf '#!/bin/sh\\ntouch MARK' > h/post-checkout; chmod +x h/post-checkout; ln -s ../h .git/hooks",
    "mv .git g; printf '[core]\\n fsmonitor = touch MARK\\n' >> g/config; mv g .git",
    "cp -r .git g; printf '[core]\\n fsmonitor = touch MARK\\n' >> g/config; rm -rf .git; echo 'gitdir: g' > .git",
    "cp -r .git g; printf '[core]\\n fsmonitor = touch MARK\\n' >> g/config; rm -rf .git; ln -s g .git",
    "mkdir sub; cp -r .git sub/.git; printf '[core]\\n fsmonitor = touch MARK\\n' >> sub/.git/config",
    "mkdir sub; cp -r .git sub/g; printf '[core]\\n fsmonitor = touch MARK\\n' >> sub/g/config; mv sub/g sub/.git",
    "mkdir sub evil; cp -r .git/* evil/; printf '[core]\\n bare=false\\n worktree=..\\n fsmonitor = touch MARK\\n' > evil/config; echo 'gitdir: ../evil' > sub/.git",
    "mkdir sub; cd sub; echo 'ref: refs/heads/main' > HEAD; printf '[core]\\n bare=false\\n worktree=.\\n fsmonitor = touch MARK\\n' > config; mkdir objects refs",
    "mkdir sub; cd sub; mkdir objects refs; printf '[core]\\n bare=false\\n worktree=.\\n fsmonitor = touch MARK\\n' > config; echo 'ref: refs/heads/main' > HEAD",
    "mkdir sub; cd sub; mkdir objects refs x; printf '[core]\\n bare=false\\n worktree=.\\n fsmonitor = touch MARK\\n' > config; echo 'ref: refs/heads/main' > x/H; mv x/H HEAD",
    "git init -q sub; cd sub; exec 9>>.git/config; printf '[core]\\n fsmonitor = touch MARK\\n' >&9",
    "exec 9> c; cp .git/config c; mv c .git/config; printf '[core]\\n fsmonitor = touch MARK\\n' >&9",
    "ln .git/config c; printf '[core]\\n fsmonitor = touch MARK\\n' >> c",
    "cd .git && printf '[core]\\n fsmonitor = touch MARK\\n' >> ../.git/./config; cd hooks; printf '#!/bin/sh\\ntouch MARK' > post-checkout; chmod +x post-checkout",
    // Repositories inside a repository's own directory, and what leads to them.
    "mkdir -p sub .git/worktrees/x/objects .git/worktrees/x/refs; echo 'ref: refs/heads/main' > .git/worktrees/x/HEAD; printf '[core]\\n repositoryformatversion=0\\n bare=false\\n worktree=%s\\n fsmonitor = touch MARK\\n' \"$PWD/sub\" > .git/worktrees/x/config; echo 'gitdir: ../.git/worktrees/x' > sub/.git",
    "mkdir -p sub q/.git/worktrees/x/objects q/.git/worktrees/x/refs; echo 'ref: refs/heads/main' > q/.git/worktrees/x/HEAD; printf '[core]\\n repositoryformatversion=0\\n bare=false\\n worktree=%s\\n fsmonitor = touch MARK\\n' \"$PWD/sub\" > q/.git/worktrees/x/config; mv .git old-git; echo 'gitdir: q/.git/worktrees/x' > .git",
    "mkdir -p sub .git/modules/a/objects/e/objects .git/modules/a/objects/e/refs .git/modules/a/refs; echo 'ref: refs/heads/main' | tee .git/modules/a/HEAD > .git/modules/a/objects/e/HEAD; printf '[core]\\n repositoryformatversion=0\\n bare=false\\n worktree=%s\\n fsmonitor = touch MARK\\n' \"$PWD/sub\" > .git/modules/a/objects/e/config; echo 'gitdir: ../.git/modules/a/objects/e' > sub/.git",
    "mkdir -p sub .git/foo/objects .git/foo/refs; echo 'ref: refs/heads/main' > .git/foo/HEAD; printf '[core]\\n repositoryformatversion=0\\n bare=false\\n worktree=%s\\n fsmonitor = touch MARK\\n' \"$PWD/sub\" > .git/foo/config; ln -s .git/foo g",
    "mkdir -p sub .git/foo/objects .git/foo/refs; printf '[core]\\n repositoryformatversion=0\\n bare=false\\n worktree=%s\\n fsmonitor = touch MARK\\n' \"$PWD/sub\" > .git/foo/config; echo 'ref: refs/heads/main' > .git/foo/HEAD; ln -s .git/foo g",
    "mkdir -p sub/objects sub/refs; ln -s refs/heads/main sub/HEAD; printf '[core]\\n repositoryformatversion=0\\n bare=false\\n worktree=%s\\n fsmonitor = touch MARK\\n' \"$PWD/sub\" > sub/config",
    "mkdir -p sub/refs other; ln -s ../later sub/objects; echo 'ref: refs/heads/main' > sub/HEAD; printf '[core]\\n repositoryformatversion=0\\n bare=false\\n worktree=%s\\n fsmonitor = touch MARK\\n' \"$PWD/sub\" > sub/config; mkdir later",
    "mkdir -p sub/objects sub/refs; exec 9> sub/config; echo 'ref: refs/heads/main' > sub/HEAD; printf '[core]\\n repositoryformatversion=0\\n bare=false\\n worktree=%s\\n fsmonitor = touch MARK\\n' \"$PWD/sub\" >&9",
    "mkdir -p sub/objects sub/refs; : > c; ln c sub/config; echo 'ref: refs/heads/main' > sub/HEAD; printf '[core]\\n repositoryformatversion=0\\n bare=false\\n worktree=%s\\n fsmonitor = touch MARK\\n' \"$PWD/sub\" > c",
];

#[test]
fn nothing_that_a_command_makes_runs_for_a_person() {
    for way in WAYS {
        let place = Place::with_repository();
        let Some(mut client) = place.client() else { return };
        let way = way.replace("MARK", place.path("work/MARK").to_str().unwrap());
        shell(&mut client, &way);
        look_around(&place, &way);
        drop(client);
        look_around(&place, &way);
    }
}

fn look_around(place: &Place, way: &str) {
    for directory in ["work", "work/sub", "work/wt", "work/evil", "work/g", "work/.git/foo"] {
        if place.path(directory).is_dir() {
            for words in [
                &["status"][..],
                &["checkout", "-f"],
                &["commit", "--allow-empty", "-m", "x"],
                &["worktree", "list"],
            ] {
                place.git(directory, words);
            }
        }
    }
    assert!(!place.path("work/MARK").exists(), "{way}");
}

#[test]
fn a_person_who_looks_all_the_time_never_runs_what_a_command_writes() {
    let place = Place::with_repository();
    let Some(mut client) = place.client() else { return };
    let mark = place.path("work/MARK");
    let line = "for i in $(seq 60); do git config core.fsmonitor 'touch MARK'; git config --unset core.fsmonitor; \
        cp .git/config c; printf '[core]\\n\\tfsmonitor = touch MARK\\n' >> c; mv c .git/config; git config --unset core.fsmonitor; \
        git init -q n$i; printf '[core]\\n\\tfsmonitor = touch MARK\\n' >> n$i/.git/config; done; echo over";
    let line = line.replace("MARK", mark.to_str().unwrap());
    std::thread::scope(|scope| {
        let writer = scope.spawn(move || fine(&mut client, &line));
        while !writer.is_finished() {
            place.git("work", &["status"]);
            for entry in place.names("work") {
                if Path::new(&place.path("work")).join(&entry).join(".git").exists() {
                    place.git(&format!("work/{entry}"), &["status"]);
                }
            }
        }
        assert_eq!(writer.join().unwrap(), "over\n");
    });
    assert!(!mark.exists());
}

#[test]
fn a_server_that_is_killed_leaves_nothing_in_the_workspace_for_long() {
    let place = Place::with_repository();
    let Some(mut client) = place.client() else { return };
    fine(&mut client, "echo x > .mcp.json && mkdir .vscode && echo y > .vscode/y");
    drop(client);
    let Some(mut client) = place.client() else { return };
    assert_eq!(fine(&mut client, "cat .mcp.json .vscode/y"), "x\ny\n", "it is kept between servers");
    drop(client);
    assert_eq!(place.names("work"), [".git"]);
}
