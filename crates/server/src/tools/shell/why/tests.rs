use super::*;

fn near(name: &str) -> Vec<String> {
    if name == "gti" { vec!["git".into(), "gtk".into()] } else { Vec::new() }
}

#[track_caller]
fn check(cases: &[(i32, &str, &str)]) {
    for (code, stderr, reason) in cases {
        assert_eq!(exited(*code, stderr, &near).as_deref(), Some(*reason), "{code} {stderr}");
    }
}

#[test]
fn what_could_not_be_found_or_executed_is_named() {
    check(&[
        (
            127,
            "bash: line 1: gti: command not found\n",
            "command not found: gti (close matches on PATH: git, gtk)",
        ),
        (127, "sh: 1: xyzzy: not found\n", "command not found: xyzzy (no program of that name on PATH)"),
        (
            127,
            "env: ‘gti’: No such file or directory\n",
            "command not found: gti (close matches on PATH: git, gtk)",
        ),
        (
            127,
            "timeout: failed to run command ‘xyzzy’: No such file or directory\n",
            "command not found: xyzzy (no program of that name on PATH)",
        ),
        (
            127,
            "bash: line 1: ./run.sh: No such file or directory\n",
            "there is no ./run.sh, or the interpreter that its first line names is missing",
        ),
        (127, "", "a command in it was not found"),
        (
            126,
            "bash: line 1: ./run.sh: Permission denied\n",
            "\"./run.sh\" was found but cannot be executed; check its mode (chmod +x) or name its interpreter",
        ),
        (
            1,
            "bash: line 1: cd: /no where: No such file or directory\n",
            "directory does not exist: /no where",
        ),
        (2, "sh: 1: cd: can't cd to /nowhere\n", "directory does not exist: /nowhere"),
    ]);
}

#[test]
fn what_was_lacking_is_named() {
    let terminal = "it seems to want a terminal, which there is none of here; look for an option to run without one (exit code 1)";
    check(&[
        (1, "the input device is not a TTY\n", terminal),
        (1, "sudo: a terminal is required to read the password\n", terminal),
        (139, "", "a command in it was ended by SIGSEGV"),
        (
            1,
            "cat: /root/a b: Permission denied\n",
            "permission denied: /root/a b; check its owner and mode, or use a path that this server's user may use",
        ),
        (
            2,
            "ls: cannot open directory '/root/a b': Permission denied\n",
            "permission denied: /root/a b; check its owner and mode, or use a path that this server's user may use",
        ),
        (1, "dd: error writing 'x': No space left on device\n", "the disk is full"),
        (
            254,
            "bash: fork: retry: Resource temporarily unavailable\n",
            "the system had no room for another process",
        ),
        (
            137,
            "",
            "a command in it was ended by SIGKILL, which Runward did not send; most often the system ran out of memory",
        ),
    ]);
}

#[test]
fn what_cannot_be_told_is_not_guessed() {
    assert_eq!(exited(1, "error: tests failed\n", &near), None);
    assert_eq!(exited(128, "", &near), None);
    let ssh = "Pseudo-terminal will not be allocated because stdin is not a terminal.\nssh: no route\n";
    assert_eq!(exited(255, ssh, &near), None);
}
