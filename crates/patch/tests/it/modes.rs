//! What a changed file keeps of itself.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use super::{Workspace, patch};

fn mode(workspace: &Workspace, path: &str) -> u32 {
    fs::metadata(workspace.path(path)).unwrap().permissions().mode() & 0o7777
}

#[test]
fn a_file_keeps_its_mode_when_it_is_changed_written_anew_or_moved() {
    let workspace = Workspace::new(&[("a", "x\n"), ("b", "x\n"), ("c", "x\n"), ("d", "x\n")]);
    for (path, mode) in [("a", 0o755), ("b", 0o640), ("c", 0o700), ("d", 0o666)] {
        fs::set_permissions(workspace.path(path), fs::Permissions::from_mode(mode)).unwrap();
    }
    let body = "*** Update File: a\n@@\n-x\n+y\n*** Add File: b\n+new\n*** Update File: c\n*** Move to: d\n@@\n-x\n+y";
    let report = workspace.apply(&patch(body)).unwrap();
    assert_eq!(report.to_string(), "Success. Updated the following files:\nA b\nM a\nM d\n");
    assert_eq!(["a", "b", "d"].map(|path| mode(&workspace, path)), [0o755, 0o640, 0o700]);
    assert!(!workspace.path("c").exists());
}

#[test]
fn only_the_named_one_of_several_links_to_a_file_changes() {
    let workspace = Workspace::new(&[("a", "x\n")]);
    fs::hard_link(workspace.path("a"), workspace.path("b")).unwrap();
    workspace.apply(&patch("*** Update File: a\n@@\n-x\n+y")).unwrap();
    assert_eq!(fs::read_to_string(workspace.path("a")).unwrap(), "y\n");
    assert_eq!(fs::read_to_string(workspace.path("b")).unwrap(), "x\n");
    assert_eq!(fs::metadata(workspace.path("a")).unwrap().nlink(), 1);
}

#[test]
fn nothing_is_left_beside_a_file() {
    let workspace = Workspace::new(&[("a", "x\n"), ("b", "x\n")]);
    workspace.apply(&patch("*** Update File: a\n@@\n-x\n*** Delete File: b\n*** Add File: n/c\n+c")).unwrap();
    let names: Vec<_> = workspace.tree().into_keys().map(|path| path.display().to_string()).collect();
    assert_eq!(names, ["a", "n", "n/c"]);
}
