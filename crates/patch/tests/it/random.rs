//! Random patches against a small workspace: each is applied whole, or nothing changes.

use std::fs;
use std::os::unix::fs::symlink;

use proptest::prelude::*;

use super::{Entry, Workspace, patch};

fn hunks() -> impl Strategy<Value = Vec<String>> {
    let path = || {
        prop_oneof![
            4 => Just("a"), 4 => Just("b"), 3 => Just("d/c"), 2 => Just("n/m/o"), 1 => Just("d"), 1 => Just("link"),
            1 => Just("link/x"), 1 => Just("../x"), 1 => Just("a/x"), 1 => Just("n"), 1 => Just("./d/../b"),
        ]
    };
    let line = || prop_oneof![3 => Just("one"), 3 => Just("two"), 1 => Just("three"), 1 => Just("none")];
    let hunk = prop_oneof![
        path().prop_map(|path| format!("*** Add File: {path}\n+new")),
        path().prop_map(|path| format!("*** Delete File: {path}")),
        (path(), line()).prop_map(|(path, line)| format!("*** Update File: {path}\n@@\n-{line}\n+new")),
        (path(), path(), line())
            .prop_map(|(path, to, line)| format!("*** Update File: {path}\n*** Move to: {to}\n@@\n-{line}")),
    ];
    proptest::collection::vec(hunk, 1..4)
}

proptest! {
    #[test]
    fn a_patch_is_applied_whole_or_not_at_all(hunks in hunks()) {
        let outside = Workspace::new(&[("x", "x\n")]);
        let workspace = Workspace::new(&[("a", "one\ntwo\n"), ("b", "two\nthree\n"), ("d/c", "one\n")]);
        symlink(outside.path(""), workspace.path("link")).unwrap();
        let before = workspace.tree();
        match workspace.apply(&patch(&hunks.join("\n"))) {
            Err(_) => prop_assert_eq!(workspace.tree(), before),
            Ok(report) => {
                for path in report.added.iter().chain(&report.modified) {
                    let content = fs::read_to_string(workspace.path(path)).unwrap();
                    prop_assert!(content.is_empty() || content.ends_with('\n'));
                }
                prop_assert!(report.deleted.iter().all(|path| !workspace.path(path).exists()));
                let changed = report.added.len() + report.modified.len() + report.deleted.len();
                prop_assert_eq!(changed, hunks.len());
            }
        }
        let is_beside = |path: &std::path::Path| path.to_string_lossy().contains(".runward-patch");
        prop_assert!(!workspace.tree().keys().any(|path| is_beside(path)));
        prop_assert!(matches!(workspace.tree().get("link".as_ref() as &std::path::Path), Some(Entry::Link(_))));
        prop_assert_eq!(outside.tree().len(), 1);
    }
}
