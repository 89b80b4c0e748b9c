//! The shape of the house: which crate may know which, and who may do what.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Which of our crates each may use. Whatever is missing here uses none.
const EDGES: &[(&str, &[&str])] = &[
    (
        "runward",
        &[
            "server", "client", "engine", "policy", "process", "proxy", "runner", "sandbox", "audit",
            "files", "model",
        ],
    ),
    ("server", &["engine", "files", "model"]),
    (
        "engine",
        &[
            "approval", "login", "policy", "patch", "process", "proxy", "sandbox", "audit", "spool", "files",
            "model",
        ],
    ),
    ("approval", &["policy", "proxy", "audit", "files", "model"]),
    ("login", &["policy", "files"]),
    ("client", &["files", "model"]),
    ("policy", &["script", "files", "model"]),
    ("patch", &["files", "model"]),
    ("audit", &["files", "model"]),
    ("spool", &["files", "model"]),
    ("process", &["model"]),
    ("proxy", &["model"]),
    ("runner", &["sandbox", "files", "model"]),
    ("sandbox", &["files", "model"]),
    ("testkit", &["engine", "policy", "process", "runner", "model"]),
];

/// The crates that may do what the compiler cannot check.
const UNSAFE: [&str; 3] = ["process", "runner", "sandbox"];

fn crates_directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Every edge between our crates, those of tests left out.
fn edges() -> BTreeSet<(String, String)> {
    #[expect(clippy::disallowed_methods, reason = "asks cargo for the workspace")]
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let arguments = ["metadata", "--no-deps", "--offline", "--format-version", "1"];
    let output = cargo.args(arguments).current_dir(crates_directory()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    packages.iter().flat_map(edges_from).collect()
}

fn edges_from(package: &Value) -> Vec<(String, String)> {
    let name = |value: &Value| value["name"].as_str().unwrap().replace("runward-", "");
    let dependencies = package["dependencies"].as_array().unwrap().iter();
    let used =
        dependencies.filter(|dependency| dependency["kind"] != "dev" && dependency["path"].is_string());
    used.map(|dependency| (name(package), name(dependency))).collect()
}

/// Every source file of every crate, as crate and path inside it.
fn sources() -> Vec<(String, String, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(crates_directory()).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        for file in rust_files(&entry.path()) {
            let inside = file.strip_prefix(entry.path()).unwrap().to_str().unwrap().to_owned();
            found.push((name.clone(), inside, fs::read_to_string(&file).unwrap()));
        }
    }
    assert!(found.len() > 100, "only {} source files", found.len());
    found
}

fn rust_files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap().flatten().map(|entry| entry.path());
    let below = entries.map(|path| if path.is_dir() { rust_files(&path) } else { vec![path] });
    below.flatten().filter(|path| path.extension().is_some_and(|end| end == "rs")).collect()
}

/// A line without what follows `//`.
fn code(line: &str) -> &str {
    line.split("//").next().unwrap_or_default()
}

#[test]
fn arrows_only_go_down() {
    let allowed = |from: &str, to: &str| {
        EDGES.iter().any(|(crate_name, uses)| *crate_name == from && uses.contains(&to))
    };
    let found = edges();
    assert!(found.contains(&("server".into(), "engine".into())), "{found:?}");
    let wrong: Vec<_> = found.iter().filter(|(from, to)| !allowed(from, to)).collect();
    assert!(wrong.is_empty(), "edges that go up or sideways: {wrong:?}");
}

#[test]
fn unsafe_code_lives_where_processes_are_made() {
    let is_unsafe = |text: &str| {
        let words = |line| code(line).split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        text.lines().flat_map(words).any(|word| word == "unsafe")
    };
    let sources = sources();
    assert!(sources.iter().any(|(name, _, text)| name == "runner" && is_unsafe(text)));
    let wrong: Vec<_> = sources
        .iter()
        .filter(|(name, path, text)| {
            !UNSAFE.contains(&name.as_str()) && path != "tests/it/invariants.rs" && is_unsafe(text)
        })
        .map(|(name, path, _)| format!("{name}/{path}"))
        .collect();
    assert!(wrong.is_empty(), "unsafe code in {wrong:?}");
}

/// Where something stands in the code that is shipped.
fn places_of(what: &str) -> BTreeSet<String> {
    let is_a_test = |name: &str, path: &str| {
        name == "testkit"
            || path.ends_with("/tests.rs")
            || ["tests/", "benches/", "examples/"].iter().any(|folder| path.starts_with(folder))
    };
    // Unit tests stand at the end of their file.
    let shipped = |text: &str| -> Vec<String> {
        let lines = text.lines().take_while(|line| !line.ends_with("mod tests {"));
        lines.map(|line| code(line).to_owned()).collect()
    };
    let stands_in = |text: &str| shipped(text).iter().any(|line| line.contains(what));
    let found = sources();
    let found = found.iter().filter(|(name, path, text)| !is_a_test(name, path) && stands_in(text));
    found.map(|(name, path, _)| format!("{name}/{path}")).collect()
}

#[test]
fn no_plan_no_process() {
    let only = |what: &str, allowed: &[&str]| {
        let expected: BTreeSet<String> = allowed.iter().map(|&place| place.to_owned()).collect();
        assert_eq!(places_of(what), expected, "{what}");
    };
    // The runner alone is started as a process; everything else is a launch, which it is sent.
    only("Command::new", &["process/src/start.rs"]);
    // A launch is made of what is planned, and there is one plan. What `process` plans is named by its two purposes.
    only("Planned for", &["engine/src/plan.rs", "process/src/own.rs"]);
    only("Launch::new", &["engine/src/plan.rs", "process/src/own.rs"]);
    only("for_login_capture()", &["engine/src/login.rs"]);
    only("for_doctor()", &["cli/src/subcommand/doctor.rs"]);
}
