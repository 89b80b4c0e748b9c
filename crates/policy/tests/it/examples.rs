//! The examples in `policies/` do what they say, and the page about them shows them as they are.

use std::fs;
use std::path::{Path, PathBuf};

use runward_model::{Decision, Work};
use runward_policy::{Allowlist, Asker, Held, Policy, Reading, Rego, SearchPath, read};

fn examples() -> Vec<PathBuf> {
    let policies = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../policies");
    let entries = fs::read_dir(policies).unwrap().map(|entry| entry.unwrap().path());
    let mut examples: Vec<_> = entries.filter(|path| path.is_dir()).collect();
    examples.sort();
    examples
}

fn policy(directory: &Path) -> Policy {
    Policy::new(Allowlist::parse("*"), SearchPath::new("/usr/bin:/bin".as_ref()))
        .with_rego(Rego::load(directory))
}

/// `[NAME=value …] command line`: what the caller gives, and what it asks for.
fn decided(policy: &Policy, case: &str) -> (Decision, String) {
    let (given, line) = match case.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
        Some((given, line)) => (given, line),
        None => ("", case),
    };
    let env: Vec<_> = given
        .split_whitespace()
        .map(|pair| pair.split_once('=').unwrap())
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let reading = read(&Work::Line(line.into())).unwrap();
    let held = match &reading {
        Reading::Plain(argv) => {
            let file = policy.path().find(&argv.file).unwrap_or_default();
            Held::open(&file).and_then(Held::hashed).ok()
        }
        Reading::Script(_) => None,
    };
    let asker = Asker { env: &env, held: held.as_ref(), ..Asker::default() };
    let verdict = policy.judge_for(&reading, Path::new("/"), asker);
    (verdict.decision, verdict.reason)
}

#[test]
fn every_example_decides_its_cases_as_it_says() {
    for example in examples() {
        let policy = policy(&example);
        assert_eq!(policy.rego().unwrap().fault(), None);
        let cases = fs::read_to_string(example.join("cases.txt")).unwrap();
        for case in cases.lines() {
            let (wanted, asked) = case.split_once(' ').unwrap();
            let (decision, reason) = decided(&policy, asked);
            let found = format!("{decision:?}").to_lowercase();
            assert_eq!(found, wanted, "{}: {asked}: {reason}", example.display());
        }
    }
    assert!(examples().len() >= 5);
}

#[test]
fn a_pinned_program_runs_only_as_it_was_reviewed_and_only_by_itself() {
    let example = examples().into_iter().find(|path| path.ends_with("pinned-hash")).unwrap();
    let text = fs::read_to_string(example.join("main.rego")).unwrap();
    let held = Held::open(Path::new("/usr/bin/true")).and_then(Held::hashed).unwrap();
    let place = fs::canonicalize("/usr/bin").unwrap().join("true");
    let text = text.replace("/usr/local/bin/deploy\":", &format!("{}\":", place.display()));
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("main.rego"), text.replace(&"0".repeat(64), held.hash().unwrap()))
        .unwrap();
    let pinned = policy(directory.path());
    assert_eq!(decided(&pinned, "true").0, Decision::Allow);
    for (line, why) in
        [("false", "was not reviewed"), ("true; true", "by itself"), ("env true", "was not reviewed")]
    {
        let (decision, reason) = decided(&pinned, line);
        assert_eq!(decision, Decision::Deny, "{line}");
        assert!(reason.contains(why), "{line}: {reason}");
    }
    fs::write(directory.path().join("main.rego"), text).unwrap();
    assert_eq!(decided(&policy(directory.path()), "true").0, Decision::Deny);
}

#[test]
fn the_page_shows_the_examples_as_they_are() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../policies/README.md");
    let page = fs::read_to_string(page).unwrap();
    for example in examples() {
        let text = fs::read_to_string(example.join("main.rego")).unwrap();
        let name = example.file_name().unwrap().to_str().unwrap();
        assert!(
            page.contains(&format!("```rego\n{text}```\n")),
            "policies/README.md should show {name} as it is"
        );
        assert!(page.contains(&format!("({name}/main.rego)")), "and link to {name}");
    }
}
