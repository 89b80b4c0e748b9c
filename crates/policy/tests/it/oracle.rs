//! Bash itself as the judge of the judge: whatever the policy allows is run, and may never start the canary.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use runward_model::{Decision, Work};
use runward_policy::{Allowlist, Policy, SearchPath, read};
use tempfile::TempDir;

use crate::scripts::{damaged, soup, well_formed};

const LIST: &str = "ls,cat,echo,env,find,xargs,true,test,[,printf,read,export,set,cd,time,timeout,nice,command,declare,:,unset,exec,shopt,nohup,head,wc,sort,grep";

/// How many allowed scripts are run in each test; each takes a few milliseconds. `ORACLE_RUNS` asks for more.
fn wanted_runs() -> usize {
    std::env::var("ORACLE_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(150)
}

/// The user who owns nothing, on every Linux.
const NOBODY: u32 = 65534;

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
        // Whoever the scripts run as, see `canary_runs`, can work here.
        for open in [root.path().to_owned(), root.path().join("work")] {
            fs::set_permissions(open, fs::Permissions::from_mode(0o777)).unwrap();
        }
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
        let mut bash = Command::new("/usr/bin/timeout");
        // A script may write wherever its redirections say. Root's would, anywhere; so root's run as nobody.
        if fs::metadata(self.work()).unwrap().uid() == 0 {
            bash.uid(NOBODY).gid(NOBODY);
        }
        bash.args(["-s", "KILL", "5", "/bin/bash", "--norc", "--noprofile", "-c", script])
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
