//! Rules in Rego, without a server around them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use runward_model::{Argv, Decision, Verdict, Work};
use runward_policy::{Allowlist, Asker, Blocked, Outcome, Policy, Rego, Rules, SearchPath, read};
use tempfile::TempDir;

fn set(files: &[(&str, &str)]) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    directory
}

fn policy(directory: &Path, list: &str) -> Policy {
    Policy::new(Allowlist::parse(list), SearchPath::new("/usr/bin:/bin".as_ref()))
        .with_rego(Rego::load(directory))
}

fn judged(policy: &Policy, line: &str) -> Verdict {
    policy.judge(&read(&Work::Line(line.into())).unwrap(), Path::new("/"))
}

/// What a set of one file says.
fn says(rules: &str, line: &str) -> Verdict {
    let directory = set(&[("main.rego", &format!("package sandbox.main\n{rules}\n"))]);
    judged(&policy(directory.path(), "*"), line)
}

const LS: &str = "allow if input.command == \"ls\"";

#[test]
fn only_the_boolean_true_allows() {
    assert_eq!(says(LS, "ls -l").decision, Decision::Allow);
    for (rules, why) in [
        ("allow := \"true\"", "is \"true\", which is not the boolean true"),
        ("allow := 1", "is 1, which is not"),
        ("allow contains true", "which is not the boolean true"),
        ("allow := {\"x\": true}", "which is not the boolean true"),
        ("allow if input.command == \"cat\"", "allow is undefined"),
        ("default allow := false", "allow is false"),
        ("allow := null", "is null"),
    ] {
        let verdict = says(rules, "ls");
        assert_eq!(verdict.decision, Decision::Deny, "{rules}");
        assert!(verdict.reason.contains(why), "{rules}: {}", verdict.reason);
    }
}

#[test]
fn the_reason_of_the_rules_is_quoted() {
    let one = format!("{LS}\nreason := sprintf(\"%s is not for you\", [input.command])");
    let verdict = says(&one, "cat x");
    assert_eq!(verdict.reason, "command \"cat\" is denied by the policy: cat is not for you");
    let many = format!("{LS}\nreason contains \"b\"\nreason contains \"a\"");
    assert!(says(&many, "cat x").reason.ends_with(": a; b"));
}

#[test]
fn a_person_is_asked_where_the_rules_say_so() {
    let ask = |value: &str| says(&format!("{LS}\nask := {value} if \"-l\" in input.args"), "ls -l");
    assert_eq!(ask("true").decision, Decision::Ask);
    assert_eq!(ask("\"it is long\"").reason, "it is long");
    assert_eq!(ask("false").decision, Decision::Allow);
    assert_eq!(ask("3").decision, Decision::Deny);
    let unallowed = says("default allow := false\nask := true", "ls");
    assert_eq!(unallowed.decision, Decision::Deny);
}

#[test]
fn every_command_of_a_script_is_judged_on_its_own() {
    let rules = "allow if input.command in {\"ls\", \"cat\", \"env\", \"sh\", \"xargs\", \"echo\", \"cd\"}";
    for line in ["ls | cat", "ls; cat x", "env ls", "sh -c 'ls; cat'", "ls \"$(cat x)x\" | cat"] {
        let allowed = judged_by(rules, line);
        let known = !line.contains('$');
        assert_eq!(allowed.decision == Decision::Allow, known, "{line}: {}", allowed.reason);
    }
    for line in [
        "ls | wc",
        "ls; whoami",
        "env whoami",
        "sh -c 'ls; whoami'",
        "sh -c 'sh -c whoami'",
        "ls | xargs whoami",
        "f() { whoami; }; f",
        "if ls; then whoami; fi",
        "ls $x",
        "ls *.txt",
        "$x",
        "> /tmp/x",
        "x=1",
        "ls '",
    ] {
        assert_eq!(judged_by(rules, line).decision, Decision::Deny, "{line}");
    }
}

fn judged_by(rules: &str, line: &str) -> Verdict {
    says(rules, line)
}

#[test]
fn the_other_layers_can_only_allow_less() {
    let directory =
        set(&[("main.rego", "package sandbox.main\nallow if input.command in {\"ls\", \"cat\"}")]);
    let listed = policy(directory.path(), "ls,whoami");
    assert_eq!(judged(&listed, "ls").decision, Decision::Allow);
    assert_eq!(judged(&listed, "cat x").decision, Decision::Deny);
    assert_eq!(judged(&listed, "whoami").decision, Decision::Deny);
    let rules = Rules { blocked: vec![Blocked::parse("ls -a", "x").unwrap()], ..Rules::default() };
    let blocked = policy(directory.path(), "*").with_rules(rules);
    assert_eq!(judged(&blocked, "ls").decision, Decision::Allow);
    assert_eq!(judged(&blocked, "ls -a").decision, Decision::Deny);
}

#[test]
fn the_input_tells_everything_that_is_known() {
    let directory = set(&[("main.rego", "package sandbox.main\nallow if true")]);
    let policy = policy(directory.path(), "*");
    let env = [("A".to_owned(), "b".to_owned())];
    let asker = Asker { door: "shell", client: Some("tester"), env: &env, tty: true, ..Asker::default() };
    let trace = |work: Work| policy.judge_traced(&read(&work).unwrap(), Path::new("/tmp"), asker).1;
    let direct = trace(Work::Argv(Argv { file: "ls".into(), args: vec!["-l".into(), "$x".into()] }));
    let input = &direct[0].input;
    assert_eq!((&input["command"], &input["args"][1]), (&"ls".into(), &"$x".into()));
    assert!(input["path"].as_str().unwrap().ends_with("bin/ls"), "{input}");
    assert_eq!(input["hash"].as_str().unwrap().len(), 64);
    assert_eq!(
        (&input["cwd"], &input["door"], &input["client"]),
        (&"/tmp".into(), &"shell".into(), &"tester".into())
    );
    assert_eq!((&input["env"]["A"], &input["tty"]), (&"b".into(), &true.into()));
    assert_eq!(input["shell"], serde_json::json!([]));
    let script = trace(Work::Line("FOO=1 ls | env BAR=2 cat; cd x".into()));
    let words = serde_json::json!([["ls"], ["env", "BAR=2", "cat"], ["cd", "x"]]);
    assert_eq!(script[0].input["shell"], words);
    let cat = script.iter().find(|trace| trace.input["command"] == "cat").unwrap();
    assert!(cat.input["env"].as_object().unwrap()["BAR"].is_null());
    assert!(cat.input["env"].as_object().unwrap()["FOO"].is_null());
    assert!(cat.input["cwd"].is_null(), "it moves");
    assert!(script.last().unwrap().input["path"].is_null(), "a builtin is no file");
}

#[test]
fn a_broken_set_denies_everything_and_says_where() {
    for (text, why) in [
        ("package sandbox.main\nallow if {", "main.rego:2:"),
        ("package sandbox.main\nallow if frobnicate(1)", "could not find function frobnicate"),
        ("package sandbox.main\nallow if x == 1", "main.rego:2:10: use of undefined variable `x` is "),
        ("package sandbox.main\nallow if b\nb if allow", "recursion detected"),
        ("package sandbox.main\nf(x) := g(x)\ng(x) := f(x)\nallow if f(1)", "calls itself"),
        (
            "package sandbox.main\nimport data.sandbox.main as m\nf(x) := m.f(x)\nallow if f(1)",
            "calls itself",
        ),
        ("package other\nallow := true", "there is no rule data.sandbox.main.allow"),
        (
            "package sandbox.main\nallow := [[[[[[[[[[[[1]]]]]]]]]]]]",
            "main.rego:2: brackets more than 10 deep",
        ),
        ("package sandbox.main\nallow if http.send({})", "could not find function http.send"),
        (
            "package sandbox.main\nallow := true if true\nallow := false if true",
            "main.rego:3:1: rule conflicts",
        ),
    ] {
        let directory = set(&[("main.rego", text)]);
        let policy = policy(directory.path(), "*");
        for line in ["ls", "ls | cat", "cat x"] {
            let verdict = judged(&policy, line);
            assert_eq!(verdict.decision, Decision::Deny, "{text}");
            assert!(
                verdict.reason.starts_with("nothing is allowed while the policy in "),
                "{}",
                verdict.reason
            );
            assert!(verdict.reason.contains(why), "{text}: {}", verdict.reason);
        }
        assert!(policy.rego().unwrap().fault().unwrap().contains(why));
    }
}

#[test]
fn a_directory_that_cannot_be_read_denies_everything() {
    let nothing = tempfile::tempdir().unwrap();
    assert!(Rego::load(nothing.path()).fault().unwrap().contains("there is no .rego file"));
    assert!(Rego::load(Path::new("/nowhere")).fault().unwrap().contains("/nowhere: No such file"));
    fs::write(nothing.path().join("latin.rego"), b"package sandbox.main\n# \xe4\n").unwrap();
    assert!(Rego::load(nothing.path()).fault().unwrap().ends_with("latin.rego: not UTF-8"));
    let dangling = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/nowhere", dangling.path().join("a.rego")).unwrap();
    assert!(Rego::load(dangling.path()).fault().unwrap().contains("a.rego: No such file"));
    let text = format!("package sandbox.main\n{}allow := true", "# more of the same\n".repeat(60_000));
    assert!(Rego::load(set(&[("long.rego", &text)]).path()).fault().is_some(), "a file of a megabyte");
    let huge = "# more\n".repeat(2 << 20);
    let fault = Rego::load(set(&[("huge.rego", &huge)]).path()).fault().unwrap().to_owned();
    assert!(fault.ends_with("the files are larger than 8388608 bytes together"), "{fault}");
    let circle = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("a.rego", circle.path().join("a.rego")).unwrap();
    assert!(Rego::load(circle.path()).fault().unwrap().contains("a.rego: Too many levels of symbolic links"));
    let closed =
        set(&[("open.rego", "package sandbox.main\nallow := true"), ("closed/more.rego", "package more")]);
    fs::set_permissions(closed.path().join("closed"), fs::Permissions::from_mode(0o0)).unwrap();
    if closed.path().join("closed").read_dir().is_ok() {
        eprintln!("skipped: nothing is closed to this user");
    } else {
        assert!(Rego::load(closed.path()).fault().unwrap().contains("closed: Permission denied"));
    }
    let pipe = tempfile::tempdir().unwrap();
    let _listener = std::os::unix::net::UnixListener::bind(pipe.path().join("a.rego")).unwrap();
    assert!(Rego::load(pipe.path()).fault().unwrap().ends_with("a.rego: not a regular file"));
}

#[test]
fn files_below_are_found_once_whatever_links_lead_to_them() {
    let directory = set(&[
        ("..2026/main.rego", "package sandbox.main\ndefault allow := false\nallow if data.lib.ok"),
        ("deep/er/lib.rego", "package lib\nok if input.command == \"ls\""),
        (".hidden.rego", "not rego"),
        ("notes.txt", "not rego"),
    ]);
    let link = |target: &str, name: &str| {
        std::os::unix::fs::symlink(target, directory.path().join(name)).unwrap();
    };
    link("..2026", "..data");
    link("..data/main.rego", "main.rego");
    link("main.rego", "again.rego");
    link("..", "deep/loop");
    let policy = policy(directory.path(), "*");
    assert_eq!(policy.rego().unwrap().fault(), None);
    assert_eq!(judged(&policy, "ls").decision, Decision::Allow);
    assert_eq!(judged(&policy, "cat").decision, Decision::Deny);
}

#[test]
fn what_takes_too_long_is_denied_and_the_next_command_is_not() {
    let rules = "allow if input.command == \"ls\"\n\
                 allow if { input.command == \"cat\"; count([1 | some x in numbers.range(1, 9000); some y in numbers.range(1, 9000); x + y < 0]) == 0 }";
    let directory = set(&[("main.rego", &format!("package sandbox.main\n{rules}"))]);
    let policy = policy(directory.path(), "*");
    let verdict = judged(&policy, "cat x");
    assert_eq!(verdict.decision, Decision::Deny);
    assert!(verdict.reason.starts_with("the policy takes more than 1000000 steps"), "{}", verdict.reason);
    assert_eq!(judged(&policy, "ls").decision, Decision::Allow);
}

#[test]
fn words_that_a_function_cannot_take_deny_only_their_own_command() {
    let rules = "allow if to_number(input.args[0]) < 10";
    let directory = set(&[("main.rego", &format!("package sandbox.main\n{rules}"))]);
    let policy = policy(directory.path(), "*");
    assert!(judged(&policy, "ls x").reason.starts_with("the policy could not judge this command: "));
    assert_eq!(judged(&policy, "ls 3").decision, Decision::Allow);
    let negated = set(&[("main.rego", "package sandbox.main\nallow if not to_number(input.args[0]) > 3")]);
    assert_eq!(judged(&self::policy(negated.path(), "*"), "ls x").decision, Decision::Deny);
}

#[test]
fn a_trace_names_the_definition_that_held_and_where_the_others_ended() {
    let text = "package sandbox.main\ndefault allow := false\nallow if {\n  input.command == \"git\"\n  input.args[0] == \"status\"\n}\nallow if input.command == \"ls\"\n";
    let directory = set(&[("main.rego", text)]);
    let policy = policy(directory.path(), "*");
    let reading = read(&Work::Line("git push".into())).unwrap();
    let (verdict, traces) = policy.judge_traced(&reading, Path::new("/"), Asker::default());
    assert_eq!(verdict.decision, Decision::Deny);
    let found: Vec<_> = traces[0].definitions.iter().map(|one| (one.line, one.outcome.clone())).collect();
    let stopped = |at, condition: &str| Outcome::Stopped { at, condition: condition.into() };
    assert_eq!(
        found,
        [
            (2, Outcome::Default),
            (3, stopped(5, "input.args[0] == \"status\"")),
            (7, stopped(7, "allow if input.command == \"ls\"")),
        ]
    );
    let reading = read(&Work::Line("git status".into())).unwrap();
    let (_, traces) = policy.judge_traced(&reading, Path::new("/"), Asker::default());
    assert_eq!(traces[0].definitions[1].outcome, Outcome::Held);
}

#[test]
fn rules_that_lean_on_each_other_very_deeply_are_followed_or_refused() {
    let chain = |length: usize| {
        let links = (0..length).map(|at| format!("r{at} if r{}\n", at + 1));
        let text =
            format!("package sandbox.main\nallow if r0\n{}r{length} := true\n", links.collect::<String>());
        let directory = set(&[("main.rego", &text)]);
        judged(&policy(directory.path(), "*"), "ls")
    };
    let verdict = chain(3998);
    assert_eq!(verdict.decision, Decision::Allow, "{}", verdict.reason);
    assert!(chain(3999).reason.ends_with("more than 4000 rules"));
}
