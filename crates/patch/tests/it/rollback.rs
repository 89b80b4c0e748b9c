//! All or nothing.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use runward_patch::Patch;

use super::{Workspace, patch};

const EVERYTHING: &str = "*** Add File: new/deep/n.txt\n+n\n*** Update File: changed\n@@\n-x\n+y\n*** Delete File: gone\n\
    *** Update File: moved\n*** Move to: away/moved\n@@\n-x\n+y\n*** Add File: over\n+o\n*** Update File: last\n@@\n-x\n+y";

fn workspace() -> Workspace {
    let workspace = Workspace::new(&[
        ("changed", "x\n"),
        ("gone", "x\n"),
        ("moved", "x\n"),
        ("over", "x\n"),
        ("last", "x\n"),
    ]);
    for (path, mode) in [("changed", 0o755), ("gone", 0o600), ("moved", 0o711), ("over", 0o640)] {
        fs::set_permissions(workspace.path(path), fs::Permissions::from_mode(mode)).unwrap();
    }
    workspace
}

fn inodes(workspace: &Workspace) -> Vec<u64> {
    ["changed", "gone", "moved", "over"]
        .map(|path| fs::metadata(workspace.path(path)).unwrap().ino())
        .to_vec()
}

#[test]
fn a_failure_at_the_last_file_brings_back_the_very_same_files() {
    for spoil in ["changed", "removed", "replaced"] {
        let workspace = workspace();
        let verified = Patch::parse(&patch(EVERYTHING)).unwrap().verify(&workspace.ground()).unwrap();
        let last = workspace.path("last");
        match spoil {
            "changed" => fs::write(&last, "x\nmore\n").unwrap(),
            "removed" => fs::remove_file(&last).unwrap(),
            _ => {
                fs::remove_file(&last).unwrap();
                fs::create_dir(&last).unwrap();
            }
        }
        let (before, files) = (workspace.tree(), inodes(&workspace));
        let said = verified.apply().unwrap_err().to_string();
        assert!(said.contains("nothing was changed"), "{spoil}: {said}");
        assert!(said.starts_with("cannot write last: "), "{spoil}: {said}");
        assert_eq!((workspace.tree(), inodes(&workspace)), (before, files), "{spoil}");
    }
}

#[test]
fn a_file_that_appears_where_one_is_to_be_made_is_not_overwritten() {
    let workspace = workspace();
    let verified = Patch::parse(&patch(EVERYTHING)).unwrap().verify(&workspace.ground()).unwrap();
    fs::create_dir_all(workspace.path("new/deep")).unwrap();
    fs::write(workspace.path("new/deep/n.txt"), "theirs").unwrap();
    let before = workspace.tree();
    let said = verified.apply().unwrap_err().to_string();
    assert!(said.contains("changed while the patch was being applied"), "{said}");
    assert_eq!(workspace.tree(), before);
}

#[test]
fn a_directory_that_cannot_be_written_leaves_everything_as_it_was() {
    let workspace = Workspace::new(&[("a", "x\n"), ("sealed/b", "x\n")]);
    let sealed = workspace.path("sealed");
    fs::set_permissions(&sealed, fs::Permissions::from_mode(0o555)).unwrap();
    let may_write_anyway = fs::write(sealed.join("probe"), "").is_ok();
    if may_write_anyway {
        runward_testkit::skipped("this user may write everywhere");
        return;
    }
    let before = workspace.tree();
    let body = "*** Update File: a\n@@\n-x\n+y\n*** Add File: n/m\n+m\n*** Update File: sealed/b\n@@\n-x\n+y";
    let said = workspace.apply(&patch(body)).unwrap_err().to_string();
    assert!(said.starts_with("cannot write sealed/b: "), "{said}");
    assert_eq!(workspace.tree(), before);
}
