//! Scenarios as directories: `input`, `patch.txt`, and `expected`, or `error.txt` with a part of what is said.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Entry, Workspace, tree};

fn scenarios() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut found: Vec<_> = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found
}

fn filled(input: &Path) -> Workspace {
    let workspace = Workspace::new(&[]);
    for (path, entry) in tree(input) {
        let path = workspace.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        if let Entry::File { content, .. } = entry {
            fs::write(path, content).unwrap();
        }
    }
    workspace
}

/// Files alone: which directories are left empty is for other tests.
fn files(root: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let content = |(path, entry)| match entry {
        Entry::File { content, .. } => Some((path, content)),
        Entry::Directory | Entry::Link(_) => None,
    };
    tree(root).into_iter().filter_map(content).collect()
}

#[test]
fn every_scenario_ends_as_expected() {
    let scenarios = scenarios();
    assert!(scenarios.len() >= 45, "{}", scenarios.len());
    for scenario in scenarios {
        let name = scenario.file_name().unwrap().display();
        let workspace = filled(&scenario.join("input"));
        let before = workspace.tree();
        let applied = workspace.apply(&fs::read_to_string(scenario.join("patch.txt")).unwrap());
        if let Ok(part) = fs::read_to_string(scenario.join("error.txt")) {
            let said = applied.unwrap_err().to_string();
            assert!(said.contains(&part), "{name} said: {said}");
            assert_eq!(workspace.tree(), before, "{name}");
        } else {
            let report = applied.unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(files(workspace.0.path()), files(&scenario.join("expected")), "{name}: {report}");
        }
    }
}
