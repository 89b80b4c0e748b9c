//! Bash itself as the judge of the judge: whatever the policy allows is run, and may never start the canary.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use runward_model::{Decision, Work};
use runward_policy::{Allowlist, Policy, SearchPath, read};
use tempfile::TempDir;

const LIST: &str = "ls,cat,echo,env,find,xargs,true,test,[,printf,read,export,set,cd,time,timeout,nice,command,declare,:,unset,exec,shopt,nohup,head,wc,sort,grep";

/// How many allowed scripts are run in each test; each takes a few milliseconds. `ORACLE_RUNS` asks for more.
fn wanted_runs() -> usize {
    std::env::var("ORACLE_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(150)
}

/// A `PATH` of harmless programs and one canary that leaves a mark.
struct Cage {
    root: TempDir,
    policy: Policy,
}

impl Cage {
    fn new() -> Self {
        let root = TempDir::new().unwrap();
        let bin = root.path().join("bin");
        fs::create_dir(&bin).unwrap();
        fs::create_dir(root.path().join("work")).unwrap();
        for name in
            ["ls", "cat", "env", "find", "xargs", "timeout", "nice", "nohup", "head", "wc", "sort", "grep"]
        {
            symlink(format!("/usr/bin/{name}"), bin.join(name)).unwrap();
        }
        let canary = bin.join("canary");
        fs::write(&canary, format!("#!/bin/sh\n: > {}\n", root.path().join("mark").display())).unwrap();
        fs::set_permissions(&canary, fs::Permissions::from_mode(0o755)).unwrap();
        let policy = Policy::new(Allowlist::parse(LIST), SearchPath::new(bin.as_os_str()));
        Cage { root, policy }
    }

    fn work(&self) -> &Path {
        self.root.path()
    }

    fn allows(&self, script: &str) -> bool {
        let Ok(reading) = read(&Work::Line(script.to_owned())) else { return false };
        self.policy.judge(&reading, &self.work().join("work")).decision == Decision::Allow
    }

    /// Runs a script and says whether the canary was started.
    #[expect(clippy::disallowed_methods, reason = "the real bash is what the judge is held against")]
    fn canary_runs(&self, script: &str) -> bool {
        let mark = self.work().join("mark");
        Command::new("/usr/bin/timeout")
            .args(["-s", "KILL", "5", "/bin/bash", "--norc", "--noprofile", "-c", script])
            .env_clear()
            .env("PATH", self.work().join("bin"))
            .current_dir(self.work().join("work"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        let ran = mark.exists();
        let _ = fs::remove_file(&mark);
        ran
    }

    /// Runs allowed scripts of a kind until enough were run or no more are found.
    fn hold_against_bash(&self, scripts: &impl Strategy<Value = String>) -> usize {
        let mut runner = TestRunner::new(ProptestConfig::default());
        let mut runs = 0;
        for _ in 0..wanted_runs() * 200 {
            let script = scripts.new_tree(&mut runner).unwrap().current();
            if !script.contains("canary") || !self.allows(&script) {
                continue;
            }
            assert!(!self.canary_runs(&script), "allowed, and it started the canary:\n{script}");
            runs += 1;
            if runs == wanted_runs() {
                break;
            }
        }
        runs
    }
}

const TOKENS: &[&str] = &[
    "canary",
    "canary",
    "ls",
    "echo",
    "cat",
    "x",
    "a",
    "b",
    " ",
    " ",
    " ",
    ";",
    "\n",
    "|",
    "&&",
    "||",
    "(",
    ")",
    "{ ",
    "; }",
    "$(",
    ")",
    "`",
    "\"",
    "'",
    "\\",
    "$",
    "$x",
    "${",
    "}",
    "${x:-",
    "${x#",
    "<",
    ">",
    "<<EOF\n",
    "\nEOF\n",
    "<<'EOF'\n",
    "<<<",
    "<(",
    ">(",
    "$((",
    "))",
    "((",
    "[[ ",
    " ]]",
    "x=",
    "x=(",
    "a[",
    "]",
    "=",
    "1",
    "#",
    " #",
    "$'",
    "$\"",
    "\\\n",
    "*",
    "?",
    "~",
    "{",
    ",",
    "if ",
    "; then ",
    "; fi",
    "for x in ",
    "; do ",
    "; done",
    "case x in x) ",
    ";; esac",
    "! ",
    "time ",
    "env ",
    "xargs ",
    "find . -exec ",
    " \\;",
    "f() ",
    "function f ",
    "eval ",
    "-eq",
    "==",
    "=~",
    "&",
    "2>&1",
    "\t",
    "\\'",
    "\\\"",
    "'\\''",
    "$@",
    "$1",
    "!",
    "-v ",
    "@P}",
];

fn soup() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(TOKENS), 1..14).prop_map(|tokens| tokens.concat())
}

/// Scripts that are well formed more often than not, with the canary where text may stand.
fn well_formed() -> impl Strategy<Value = String> {
    let text = prop::sample::select(vec![
        "canary",
        "'canary'",
        "\"; canary\"",
        "'$(canary)'",
        "\"\\$(canary)\"",
        "\\`canary\\`",
        "'`canary`'",
        "$'\\'canary'",
        "\"'canary'\"",
        "x",
        "$x",
        "\"$x\"",
        "a\\;canary",
        "'a[$(canary)]'",
        "\"a[\\$(canary)]\"",
        "{a,canary}",
        "*",
        "${x:-canary}",
        "\"${x:-canary}\"",
        "$(echo canary)",
        "`echo canary`",
        "<(echo canary)",
        "$((1+1))",
        "\\$'\\'",
        "'\\'",
        "\"\\\\\"",
        "${x:='canary'}",
        "${#x}",
        "${x@Q}",
        "\"${y[@]}\"",
        "${y[0]}",
        "$'\\x63anary'",
    ]);
    let words = prop::collection::vec(text, 1..4).prop_map(|words| words.join(" "));
    let command = (
        prop::sample::select(vec![
            "echo",
            "ls",
            "cat",
            "x=",
            "y=(1) ; echo",
            "env A=",
            "printf '%s\\n'",
            "[ x =",
            "test a =",
            "read x <<<",
            "export x=",
            "xargs echo",
            "xargs -I{} echo {}",
            "find . -name",
            "timeout 5 echo",
            "set --",
            "cat <<<",
            "echo >",
            "true;",
            ": ${x:=1};",
            "command echo",
            "unset",
            "declare x=",
            "i=0; echo $((i+1))",
        ]),
        words,
    )
        .prop_map(|(name, words)| {
            if name.starts_with('[') {
                format!("{name} {words} ]")
            } else if name.ends_with('=') {
                format!("{name}{words}")
            } else {
                format!("{name} {words}")
            }
        });
    command.prop_recursive(4, 24, 3, |inner| {
        prop_oneof![
            (inner.clone(), prop::sample::select(vec![";", "&&", "||", "|", "\n", "&"]), inner.clone())
                .prop_map(|(a, op, b)| format!("{a} {op} {b}")),
            inner.clone().prop_map(|a| format!("({a})")),
            inner.clone().prop_map(|a| format!("{{ {a}; }}")),
            inner.clone().prop_map(|a| format!("echo $({a})")),
            inner.clone().prop_map(|a| format!("echo \"$({a})\" canary")),
            inner.clone().prop_map(|a| format!("x=$({a}); echo \"$x\"")),
            inner.clone().prop_map(|a| format!("echo `{a}`")),
            inner.clone().prop_map(|a| format!("if {a}; then {a}; fi")),
            inner.clone().prop_map(|a| format!("for x in 1 canary; do {a}; done")),
            inner.clone().prop_map(|a| format!("case x in canary) ls;; *) {a};; esac")),
            inner.clone().prop_map(|a| format!("f() {{ {a}; }}; f canary")),
            inner.clone().prop_map(|a| format!("cat <<EOF\ncanary $({a})\nEOF\n")),
            inner.clone().prop_map(|a| format!("cat <<'EOF'\ncanary {a}\nEOF\n")),
            inner.clone().prop_map(|a| format!("{a} > >(cat)")),
            inner.prop_map(|a| format!("cat < <({a})")),
        ]
    })
}

/// Lines of the corpora with small damage.
fn damaged() -> impl Strategy<Value = String> {
    let lines: Vec<String> = [
        include_str!("corpus/refused.txt"),
        include_str!("corpus/refused_builtins.txt"),
        include_str!("corpus/allowed.txt"),
    ]
    .iter()
    .flat_map(|text| text.lines())
    .filter(|line| !line.is_empty() && !line.starts_with("## "))
    .map(|line| line.replace('␤', "\n"))
    .collect();
    let line = prop::sample::select(lines);
    let token = prop::sample::select(TOKENS);
    let edits = prop::collection::vec((any::<prop::sample::Index>(), 0u8..3, token), 0..4);
    let joined = (line.clone(), prop::sample::select(vec![" ", ";", "\n", "", " \"", " '", "$("]), line);
    (joined, any::<bool>(), edits).prop_map(|((first, between, second), both, edits)| {
        let mut chars: Vec<char> =
            if both { format!("{first}{between}{second}") } else { first }.chars().collect();
        for (at, kind, token) in edits {
            let at = at.index(chars.len() + 1);
            match kind {
                0 if at < chars.len() => {
                    chars.remove(at);
                }
                1 => drop(chars.splice(at..at, token.chars())),
                _ if at < chars.len() => drop(chars.splice(at..=at, token.chars())),
                _ => {}
            }
        }
        chars.into_iter().collect()
    })
}

#[test]
fn the_cage_notices_a_canary() {
    let cage = Cage::new();
    assert!(cage.canary_runs("ls | canary"));
    assert!(!cage.canary_runs("ls | cat"));
}

#[test]
fn allowed_soups_of_tokens_never_start_the_canary() {
    assert!(Cage::new().hold_against_bash(&soup()) > 0);
}

#[test]
fn allowed_scripts_never_start_the_canary() {
    assert!(Cage::new().hold_against_bash(&well_formed()) > 0);
}

#[test]
fn allowed_lines_of_a_damaged_corpus_never_start_the_canary() {
    assert!(Cage::new().hold_against_bash(&damaged()) > 0);
}
