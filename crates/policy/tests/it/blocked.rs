//! Commands that are blocked, in every form and place.

use std::path::Path;

use runward_model::{Argv, Decision, Verdict, Work};
use runward_policy::{Blocked, Policy, Rules, read};

use crate::policy;

fn blocking(list: &str, blocked: &[&str]) -> Policy {
    let blocked = blocked.iter().map(|entry| Blocked::parse(entry, "rules.toml:3").unwrap()).collect();
    policy(list).with_rules(Rules { blocked, ..Rules::default() })
}

fn judge(policy: &Policy, line: &str) -> Verdict {
    policy.judge(&read(&Work::Line(line.into())).unwrap(), Path::new("/"))
}

fn wrongly_judged<'a>(policy: &Policy, lines: &[&'a str], wanted: Decision) -> Vec<&'a str> {
    lines.iter().copied().filter(|line| judge(policy, line).decision != wanted).collect()
}

#[test]
fn options_are_found_in_any_order_and_form() {
    let policy = blocking("*", &["rm -rf", "chmod -R", "git push --force", "find -delete", "dd"]);
    let blocked = [
        "rm -rf /",
        "rm -fr /",
        "rm -r -f /",
        "rm -f x -r",
        "rm -rvf x",
        "rm x -rf",
        "rm -R -f x",
        "rm --recursive --force x",
        "rm --force x --recursive",
        "rm --rec --fo x",
        "rm -r --force x",
        "/bin/rm -rf x",
        "/usr/bin/../bin/rm -rf x",
        "chmod --recursive 777 /",
        "chmod -vR 777 /",
        "git push --force",
        "git push origin main --force",
        "git push -f origin",
        "git push --forc origin",
        "git -C /x push --force",
        "git --no-pager push -f",
        "git -c user.name=x push -f",
        "find . -name x -delete",
        "dd",
        "dd if=/dev/zero of=x",
        "'d'd if=x",
        "d\\d if=x",
        "$'\\x64d' if=x",
    ];
    assert_eq!(wrongly_judged(&policy, &blocked, Decision::Deny), Vec::<&str>::new());
    let fine = [
        "rm x",
        "rm -r x",
        "rm -f x",
        "rm -- -rf",
        "rm -r -- -f",
        "chmod 777 x",
        "git push",
        "git push --force-with-lease",
        "git push --follow-tags",
        "git stash push --force",
        "git fetch --force",
        "find . -name delete -type d -empty",
        "echo \"rm -rf /\"",
        "printf dd",
        "echo dd rm -rf",
        "grep -rf patterns .",
        "ls -rf",
        "git commit -m 'push --force'",
        "A=dd; echo \"$A\"",
    ];
    assert_eq!(wrongly_judged(&policy, &fine, Decision::Allow), Vec::<&str>::new());
}

#[test]
fn an_option_of_env_is_no_variable_though_it_holds_one() {
    let policy = blocking("*", &["rm"]);
    let blocked = [
        "env -Srm\\ x=~/y",
        "env -iSrm\\ x=~",
        "env -S'rm 'x=~",
        "env -i --split-string=rm\\ x=~",
        "env -u=~ rm x",
    ];
    assert_eq!(wrongly_judged(&policy, &blocked, Decision::Deny), Vec::<&str>::new());
    assert_eq!(
        wrongly_judged(&policy, &["env x=~/y ls", "env -i x=~ ls"], Decision::Allow),
        Vec::<&str>::new()
    );
}

#[test]
fn a_blocked_command_is_found_in_every_place_and_through_wrappers_and_shells() {
    let policy = blocking("*", &["rm -rf"]);
    let lines = [
        "ls; rm -rf x",
        "ls && rm -rf x",
        "ls | rm -rf x",
        "echo $(rm -rf x)",
        "echo \"`rm -rf x`\"",
        "(rm -rf x)",
        "{ rm -rf x; }",
        "f() { rm -rf x; }; f",
        "for i in 1; do rm -rf x; done",
        "if rm -rf x; then ls; fi",
        "cat <(rm -rf x)",
        "cat <<E\n$(rm -rf x)\nE",
        "A=1 rm -rf x",
        "env rm -rf x",
        "env A=1 rm -rf x",
        "sudo rm -rf x",
        "sudo -u me rm -rf x",
        "nohup rm -rf x",
        "time rm -rf x",
        "timeout 5 rm -rf x",
        "nice -n 5 rm -rf x",
        "command rm -rf x",
        "exec rm -rf x",
        "setsid rm -rf x",
        "stdbuf -o0 rm -rf x",
        "busybox rm -rf x",
        "ls | xargs rm -rf",
        "ls | xargs -n1 rm -r -f",
        "find . -exec rm -rf {} \\;",
        "find . -exec rm -rf {} +",
        "sh -c 'rm -rf x'",
        "bash -c 'rm -rf x'",
        "bash -ec 'ls; rm -rf x'",
        "bash -e -o pipefail -c 'rm -rf x'",
        "bash --norc -c -- 'rm -rf x'",
        "/bin/sh -c 'ls && rm -rf x'",
        "sh -c \"sh -c 'rm -rf x'\"",
        "env sh -c 'nohup bash -c \"rm -rf x\"'",
        "find . -exec sh -c 'rm -rf x' \\;",
        "busybox sh -c 'rm -rf x'",
        "sudo env A=1 bash -c 'timeout 1 rm -rf x'",
        "fakeroot rm -rf x",
        "prlimit --nofile=5 rm -rf x",
        "poetry run -- rm -rf x",
        "docker exec box rm -rf /x",
        "ssh host rm -rf x",
        "uv run bash -c 'rm -rf x'",
        "fakeroot env rm -rf x",
    ];
    assert_eq!(wrongly_judged(&policy, &lines, Decision::Deny), Vec::<&str>::new());
    for line in lines {
        let reason = judge(&policy, line).reason;
        assert!(reason.contains("blocked_commands"), "{line}: {reason}");
    }
}

#[test]
fn what_cannot_be_read_is_refused_even_where_everything_else_is_allowed() {
    let policy = blocking("*", &["rm -rf"]);
    let lines = [
        "$x",
        "\"$x\" -rf /",
        "rm $x",
        "rm -r $x",
        "rm \"$x\" /",
        "rm *",
        "ls | xargs rm",
        "f() { rm \"$@\"; }; f -rf /",
        "x=-rf; rm $x /",
        "eval 'rm -rf x'",
        ". ./script",
        "source x",
        "trap 'rm -rf x' EXIT",
        "alias ls='rm -rf x'",
        "ls \"",
        "echo 'rm -rf x' | bash",
        "bash <<< 'rm -rf x'",
        "bash -s < x",
        "sh",
        "bash <(echo rm -rf x)",
        "bash /dev/stdin",
        "bash -c \"$x\"",
        "bash -c 'rm -r \"$1\" x' _ -f",
        "sh -c '[[ a || rm -rf x ]]'",
        "sh -c '((rm -rf x))'",
        "zsh -c 'ls'",
        "PATH=/tmp ls",
        "GIT_PAGER='rm -rf x' git log",
        "git -c alias.x='!rm -rf y' x",
        "git -c core.pager='rm -rf y' log",
        "xargs --odd ls",
        "rm() { ls; }; ls",
        "find . -exec sh -c 'rm -r {}' \\;",
        "watch 'rm -rf x; ls'",
        "flock /tmp/x -c 'rm -rf x'",
        "rm -{r,f} x",
        "rm -r{f,} x",
        "{rm,-rf,x}",
        "bash -ic ls",
        "su root -c 'rm -rf x'",
        "env -S 'rm -rf x'",
        "sudo -s rm -rf x",
        "at now <<< 'rm -rf x'",
    ];
    assert_eq!(wrongly_judged(&policy, &lines, Decision::Deny), Vec::<&str>::new());
    for line in lines {
        let verdict = judge(&policy, line);
        assert!(!verdict.reason.contains("ALLOWED_COMMANDS=*"), "{line}: {}", verdict.reason);
        assert_eq!(judge(&crate::policy("*"), line).decision, Decision::Allow, "{line}");
    }
}

#[test]
fn words_that_are_only_known_when_it_runs_are_no_matter_where_they_cannot_be_what_is_blocked() {
    let policy = blocking("*", &["rm -rf", "git push"]);
    let lines = [
        "rm -- \"$x\"",
        "rm ./\"$x\"",
        "rm /tmp/*.txt",
        "rm -r -- $x",
        "echo $x",
        "ls *",
        "git log \"$x\"",
        "for f in *; do cat \"$f\"; done",
        "bash script.sh \"$x\"",
        "bash -c 'echo $1' _ x",
        "python3 -c 'print(1)'",
        "docker run -it debian ls",
        "npm run build",
        "cd x && npm run test \"$x\"",
        "ls; npm run eval",
        "ssh host ls \"$x\"",
    ];
    assert_eq!(wrongly_judged(&policy, &lines, Decision::Allow), Vec::<&str>::new());
    for line in ["git $x", "git \"$x\" push", "git p$x", "git -C \"$x\" push"] {
        assert_eq!(judge(&policy, line).decision, Decision::Deny, "{line}");
    }
}

#[test]
fn a_program_with_arguments_is_judged_in_the_same_way() {
    let policy = blocking("*", &["rm -rf"]);
    for args in [&["rm", "-r", "-f"][..], &["env", "rm", "-rf"], &["sh", "-c", "ls; rm -rf x"]] {
        let (file, args) = args.split_first().unwrap();
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        let work = Work::Argv(Argv { file: (*file).to_owned(), args });
        assert_eq!(policy.judge(&read(&work).unwrap(), Path::new("/")).decision, Decision::Deny, "{work}");
    }
}

#[test]
fn another_name_for_the_same_file_is_blocked_too() {
    let directory = tempfile::tempdir().unwrap();
    let link = directory.path().join("innocent");
    std::os::unix::fs::symlink("/usr/bin/env", &link).unwrap();
    let verdict = judge(&blocking("*", &["env"]), &format!("{} ls", link.display()));
    assert_eq!(verdict.decision, Decision::Deny, "{}", verdict.reason);
}

#[test]
fn the_verdict_names_the_rule_and_where_it_stands() {
    let verdict = judge(&blocking("ls,rm", &["dd", "rm -rf"]), "ls; rm -fr x");
    assert_eq!(verdict.reason, "\"rm -rf\" is blocked by blocked_commands; use another command");
    assert_eq!(verdict.rule.as_deref(), Some("blocked_commands \"rm -rf\" (rules.toml:3)"));
    assert_eq!(verdict.suggest, None);
    assert_eq!(verdict.commands[0].decision, Decision::Allow);
}

#[test]
fn options_without_a_dash_count_where_a_program_takes_them() {
    let policy = blocking("*", &["tar -x"]);
    assert_eq!(judge(&policy, "tar xzf a.tar").decision, Decision::Deny);
    assert_eq!(judge(&policy, "tar --extract -f a.tar").decision, Decision::Deny);
    assert_eq!(judge(&policy, "tar tf a.tar").decision, Decision::Allow);
}

#[test]
fn an_entry_that_is_no_plain_command_is_refused() {
    for entry in ["", "  ", "rm $x", "rm | ls", "rm *"] {
        assert!(Blocked::parse(entry, "x").unwrap_err().contains("no plain command"), "{entry}");
    }
}

#[test]
fn a_blocked_command_is_seen_behind_programs_that_nobody_knows() {
    let policy = blocking("*", &["touch"]);
    let blocked = [
        "logsave f touch M",
        "logsave -a - touch M",
        "nobody-knows-this --with options touch M",
        "nobody-knows-this -c 'touch M'",
        "nobody-knows-this --run='touch M'",
        "nobody-knows-this --run=\"'touch M'\"",
        "nobody-knows-this 'exec(touch M)'",
        "nobody-knows-this 'system \"touch M\"'",
        "nobody-knows-this 'a=b:c,d!touch M'",
        "nobody-knows-this env nice touch M",
        "pipesz -n touch M",
        "coresched exec -- touch M",
        "systemd-notify --exec READY=1 ';' touch M",
        "fzf --bind 'start:become(touch M)'",
        "rustc -Clinker=touch x.rs",
        "cargo --config \"target.x.runner='touch M'\" run",
        "git clone 'ext::touch M' b",
        "git clone --config core.sshCommand='touch M' ssh://a/b",
        "gpg --agent-program /usr/bin/touch -k",
        "perl -e 'system(\"touch M\")'",
    ];
    assert_eq!(wrongly_judged(&policy, &blocked, Decision::Deny), Vec::<&str>::new());
    let many = format!("nobody-knows-this {}touch M", "x ".repeat(400));
    assert_eq!(judge(&policy, &many).decision, Decision::Deny);
    let places = format!("nobody-knows-this '{}touch M'", "a=".repeat(40));
    assert_eq!(judge(&policy, &places).decision, Decision::Deny);
    let fine = [
        "echo touch M",
        "grep -r touch src",
        "ls touch",
        "nobody-knows-this build --release -- --keep",
        "./configure --prefix=/usr CC=gcc",
        "cargo build --release",
        "git commit -m 'touch the docs'",
        "git clone https://example.com/a.git b",
        "git clone -c user.name=x https://example.com/a.git",
        "rsync -a a/ b/",
        "pytest tests/test_a.py -k 'not slow'",
        "nobody-knows-this 'it is (not) a script'",
    ];
    let wrong = fine
        .iter()
        .filter(|line| !line.starts_with("./") && judge(&policy, line).decision != Decision::Allow);
    assert_eq!(wrong.map(|line| (line, judge(&policy, line).reason)).collect::<Vec<_>>(), Vec::new());
}

#[test]
fn awk_and_sed_start_nothing_where_something_is_blocked() {
    let policy = blocking("*", &["touch"]);
    let blocked = [
        "awk 'BEGIN{system(\"to\" \"uch M\")}'",
        "awk 'BEGIN{print \"x\" | \"sh\"}'",
        "gawk -v x=1 'BEGIN{\"id\"|getline}'",
        "awk \"$code\" f",
        "sed '1e id' f",
        "sed -e 's/x/id/e' f",
        "sed -n \"$code\" f",
        "env awk 'BEGIN{system(\"id\")}'",
    ];
    assert_eq!(wrongly_judged(&policy, &blocked, Decision::Deny), Vec::<&str>::new());
    let fine = [
        "awk '/a|b/{print $1}' f",
        "awk -F: '{print $1 \"|\" $2}' \"$file\"",
        "sed -n '1,5p' \"$file\"",
        "sed 's/touch/x/g' f",
    ];
    assert_eq!(wrongly_judged(&policy, &fine, Decision::Allow), Vec::<&str>::new());
    let free = crate::policy("*");
    assert_eq!(judge(&free, "awk 'BEGIN{system(\"id\")}'").decision, Decision::Allow);
}

#[test]
fn a_push_that_forces_by_its_refspec_is_forced() {
    let policy = blocking("*", &["git push --force"]);
    let blocked = ["git push origin +main", "git push origin '+main:main'", "git push origin \"+$branch\""];
    assert_eq!(wrongly_judged(&policy, &blocked, Decision::Deny), Vec::<&str>::new());
    assert_eq!(
        wrongly_judged(&policy, &["git push origin main", "git fetch origin +a:b"], Decision::Allow),
        Vec::<&str>::new()
    );
}

/// Lines that people write every day. None of them runs what is blocked.
const HONEST: &str = include_str!("honest.txt");

#[test]
fn ordinary_lines_are_none_of_those_that_are_blocked() {
    let policy = blocking("*", &["rm -rf", "format", "dd", "curl"]);
    let wrong: Vec<String> = HONEST
        .lines()
        .map(|line| (line, judge(&policy, line)))
        .filter(|(_, verdict)| verdict.decision != Decision::Allow)
        .map(|(line, verdict)| format!("{line}\n    {}", verdict.reason))
        .collect();
    assert!(HONEST.lines().count() >= 60);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn code_that_is_not_read_is_refused_where_something_is_blocked() {
    let policy = blocking("*", &["touch"]);
    let blocked = [
        "psql -c 'copy x to program $$touch$$'",
        "psql -c \"copy x from program 'to''uch M'\"",
        "ssh -o 'Match exec \"touch M\"' host",
        "awk -f code.awk f",
        "sed -nf code.sed f",
        "gdb -batch -x code",
        "git init --template=t x",
        "git clone --template t https://example.com/a.git",
        "tclsh <<< 'exec touch M'",
        "ed <<< '!touch M'",
        "jshell <<< 'Runtime.getRuntime().exec(\"touch M\")'",
        "python3 - <<E\nimport os; os.system('touch M')\nE",
        "env python3 <<E\nimport os; os.system('touch M')\nE",
        "ssh host <<E\ntouch M\nE",
    ];
    assert_eq!(wrongly_judged(&policy, &blocked, Decision::Deny), Vec::<&str>::new());
    let fine = [
        "python3 - <<E\nprint(1)\nE",
        "python3 x.py <<< 'touch M'",
        "cat <<< 'touch M'",
        "git commit -F - <<E\ntouch the docs\nE",
        "psql -c 'select 1'",
        "ssh -o User=me host ls",
        "git init x",
    ];
    assert_eq!(wrongly_judged(&policy, &fine, Decision::Allow), Vec::<&str>::new());
    for line in blocked {
        assert_eq!(judge(&crate::policy("*"), line).decision, Decision::Allow, "{line}");
    }
}
