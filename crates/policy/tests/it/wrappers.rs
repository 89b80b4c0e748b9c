//! Programs that start another one, held against the real ones: whatever the policy allows may never start the canary.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use runward_model::{Argv, Decision, Work};
use runward_policy::{Allowlist, Policy, SearchPath, read};
use tempfile::TempDir;

use crate::judge;

/// Wrappers that exist nearly everywhere, and words that mean something to each.
const WRAPPERS: &[(&str, &[&str])] = &[
    (
        "env",
        &["-i", "-u", "-uA", "A=1", "-C", ".", "--unset", "--unset=A", "-S", "--chdir=.", "-", "-v", "--deb"],
    ),
    ("nice", &["-n", "5", "-5", "-n5", "--adjustment=3", "--adj", "-n-1", "--5"]),
    ("timeout", &["-s", "KILL", "5", "-k", "1", "-k1", "--signal=KILL", "--sig", "-v", "--foreground", "1s"]),
    (
        "xargs",
        &[
            "-I",
            "{}",
            "-i",
            "-n",
            "1",
            "-n1",
            "-0",
            "-r",
            "-t",
            "--replace",
            "--replace={}",
            "-d",
            ",",
            "-a",
            "in",
        ],
    ),
    (
        "script",
        &[
            "-q",
            "-c",
            "ls",
            "-qc",
            "-cls",
            "-ccanary",
            "--command",
            "--command=canary",
            "--com=canary",
            "out",
            "-e",
            "-a",
        ],
    ),
    ("flock", &["lock", "-n", "-w", "1", "-c", "-w1", "-x", "--timeout", "-o", "-E", "3"]),
    ("setsid", &["-w", "-c", "-f", "--wait", "--wai"]),
    ("stdbuf", &["-o", "L", "-o0", "--output=L", "--output", "-i0", "-e"]),
    ("taskset", &["1", "-c", "0", "0-1", "-a", "0x1", "--cpu-list"]),
    ("ionice", &["-c", "3", "-c3", "-n", "7", "-t", "--class", "--class=3"]),
    ("chrt", &["-o", "0", "-b", "-i", "--other", "-v"]),
    ("nohup", &["--help"]),
    (
        "find",
        &[
            ".",
            "-exec",
            "-ok",
            "-execdir",
            "{}",
            ";",
            "+",
            "-name",
            "-fprintf",
            "!",
            "-newermt",
            "(",
            ")",
            "-maxdepth",
            "0",
            "-D",
            "tree",
            "-fls",
            "-print",
            "-o",
            "-files0-from",
            "-unknown",
            "-quit",
            "-printf",
        ],
    ),
];

/// The user who owns nothing, on every Linux.
const NOBODY: u32 = 65534;

struct Cage {
    root: TempDir,
    policy: Policy,
}

impl Cage {
    fn new() -> Self {
        let root = TempDir::new().unwrap();
        let bin = root.path().join("bin");
        fs::create_dir(&bin).unwrap();
        for name in WRAPPERS.iter().map(|(name, _)| *name).chain(["true"]) {
            let file = ["/usr/bin", "/bin"].map(|place| format!("{place}/{name}"));
            if let Some(file) = file.iter().find(|file| Path::new(file).exists()) {
                symlink(file, bin.join(name)).unwrap();
            }
        }
        symlink("/usr/bin/true", bin.join("ls")).unwrap();
        fs::write(bin.join("canary"), format!("#!/bin/sh\n: > {}/mark\n", root.path().display())).unwrap();
        fs::set_permissions(bin.join("canary"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::set_permissions(root.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let list = WRAPPERS.iter().map(|(name, _)| *name).chain(["ls"]).collect::<Vec<_>>().join(",");
        let policy = Policy::new(Allowlist::parse(&list), SearchPath::new(bin.as_os_str()));
        Cage { root, policy }
    }

    fn allows(&self, words: &[&str]) -> bool {
        let (file, args) = words.split_first().unwrap();
        let args = args.iter().map(ToString::to_string).collect();
        let reading = read(&Work::Argv(Argv { file: (*file).to_owned(), args })).unwrap();
        self.policy.judge(&reading, self.root.path()).decision == Decision::Allow
    }

    #[expect(clippy::disallowed_methods, reason = "the real programs are what the judge is held against")]
    fn canary_runs(&self, words: &[&str]) -> bool {
        let (file, args) = words.split_first().unwrap();
        let mark = self.root.path().join("mark");
        let mut command = Command::new("/usr/bin/timeout");
        if fs::metadata(self.root.path()).unwrap().uid() == 0 {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
            .args(["-s", "KILL", "5"])
            .arg(self.root.path().join("bin").join(file))
            .args(args)
            .env_clear()
            .env("PATH", self.root.path().join("bin"))
            .env("SHELL", "/bin/sh")
            .current_dir(self.root.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        let ran = mark.exists();
        let _ = fs::remove_file(&mark);
        ran
    }
}

/// A wrapper with words of its own, of others, and with a command or two somewhere among them.
fn lines() -> impl Strategy<Value = Vec<&'static str>> {
    let wrapper = prop::sample::select(WRAPPERS.to_vec());
    wrapper.prop_flat_map(|(name, own)| {
        let common = ["--", "ls", "canary", "canary", "-c", "nice", "env"];
        let words: Vec<&'static str> = own.iter().chain(own).copied().chain(common).collect();
        prop::collection::vec(prop::sample::select(words), 1..8)
            .prop_map(move |rest| std::iter::once(name).chain(rest).collect())
    })
}

#[test]
fn what_is_allowed_of_a_wrapper_never_starts_the_canary() {
    let cage = Cage::new();
    assert!(cage.canary_runs(&["env", "canary"]) && !cage.canary_runs(&["env", "ls"]));
    let mut runner = TestRunner::new(ProptestConfig::default());
    let (strategy, mut runs) = (lines(), 0);
    let wanted = std::env::var("ORACLE_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(200);
    for _ in 0..wanted * 200 {
        let words = strategy.new_tree(&mut runner).unwrap().current();
        if !words.iter().any(|word| word.contains("canary")) || !cage.allows(&words) {
            continue;
        }
        assert!(!cage.canary_runs(&words), "allowed, and it started the canary: {words:?}");
        runs += 1;
        if runs == wanted {
            break;
        }
    }
    assert!(runs > 20, "{runs}");
}

#[test]
fn options_behind_an_operand_and_second_commands_are_refused() {
    let list = "ls,script,su,find,xargs,env,unshare,timeout,nice,flock,ld.so,ld-linux-x86-64.so.2,watch";
    for line in [
        "script -qc ls /dev/null -c 'touch M'",
        "script -qc ls /dev/null '-ctouch M'",
        "script -qc ls /dev/null --command='touch M'",
        "script -qc ls /dev/null --comm='touch M'",
        "script -qc ls -c 'touch M' /dev/null",
        "script -qc ls -- /dev/null",
        "script -q /dev/null -- touch M",
        "script /dev/null",
        "su -c ls root -c 'touch M'",
        "su -c ls root '-ctouch M'",
        "su -c ls root --command='touch M'",
        "su -c ls root --session-command='touch M'",
        "su -c ls -s /tmp/x root",
        "su -c ls root -s /tmp/x",
        "su -c ls - root -c 'touch M'",
        "su root -- -c 'touch M'",
        "su root x",
        "unshare",
        "unshare -r",
        "find . -fprintf -exec ! -exec touch M ';'",
        "find . -unknown -exec ! -exec touch M ';'",
        "find . -ok ls {} + touch",
        "ls | xargs -I '' ls",
        "ls | xargs --process-slot-var=PATH ls",
        "env -u \"$x\" ls",
        "env --unset=PATH ls",
        "env -uPATH ls",
        "env --uns=PATH ls",
        "flock x -c 'touch M'",
        "flock x --command 'touch M'",
        "ld.so ls",
        "/lib64/ld-linux-x86-64.so.2 --preload ./x.so /bin/ls",
        "timeout 5 -s KILL touch",
        "nice ls; nice -n 1 -- touch",
        "watch -x touch",
    ] {
        assert_eq!(judge(list, line).decision, Decision::Deny, "{line}");
    }
    for line in [
        "script -qc ls /dev/null",
        "script -qc 'ls -l' -a /dev/null",
        "script -q -c ls",
        "su -c ls",
        "su -c ls root",
        "su - -c 'ls -l'",
        "unshare -r ls",
        "find . -fprintf out '%p' -name x -newermt '2020-01-01' -exec ls {} +",
        "ls | xargs -n1 ls",
        "env -u A -- B=1 ls",
        "timeout -s KILL 5 ls -s",
        "nice -n 1 -- ls",
    ] {
        let verdict = judge(list, line);
        assert_eq!(verdict.decision, Decision::Allow, "{line}: {}", verdict.reason);
    }
}
