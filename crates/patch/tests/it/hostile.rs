//! Patches and places that mean harm.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{CWD, Mode, RenameFlags, renameat_with};

use super::{Workspace, patch};

/// A workspace beside a file and a directory that nobody may touch.
fn beside_treasure() -> (Workspace, Workspace) {
    let treasure = Workspace::new(&[("gold", "gold\n"), ("vault/gem", "gem\n")]);
    let workspace = Workspace::new(&[("a", "gold\n")]);
    symlink(treasure.path("gold"), workspace.path("leaf")).unwrap();
    symlink(treasure.path("vault"), workspace.path("up")).unwrap();
    symlink("a", workspace.path("inside")).unwrap();
    symlink(treasure.path("nothing"), workspace.path("dangling")).unwrap();
    (workspace, treasure)
}

#[test]
fn nothing_is_read_or_written_through_a_link() {
    let (workspace, treasure) = beside_treasure();
    let (before, kept) = (workspace.tree(), treasure.tree());
    for body in [
        "*** Update File: leaf\n@@\n-gold\n+lead",
        "*** Add File: leaf\n+lead",
        "*** Delete File: leaf",
        "*** Add File: dangling\n+lead",
        "*** Update File: inside\n@@\n-gold\n+lead",
        "*** Update File: up/gem\n@@\n-gem\n+glass",
        "*** Add File: up/new\n+x",
        "*** Add File: up/new/deeper\n+x",
        "*** Delete File: up/gem",
        "*** Update File: a\n*** Move to: up/a\n@@\n-gold\n+x",
        "*** Update File: a\n*** Move to: leaf\n@@\n-gold\n+x",
    ] {
        let said = workspace.apply(&patch(body)).unwrap_err().to_string();
        assert!(said.contains("is a symbolic link"), "{body}: {said}");
        assert!(!said.contains("gem\n"), "{said}");
    }
    assert_eq!((workspace.tree(), treasure.tree()), (before, kept));
}

#[test]
fn a_link_that_appears_after_verification_is_not_followed() {
    let treasure = Workspace::new(&[("gold", "gold\n"), ("vault/a", "x\n")]);
    let workspace = Workspace::new(&[("d/a", "x\n"), ("e/b", "x\n")]);
    let changes =
        patch("*** Update File: e/b\n@@\n-x\n+y\n*** Update File: d/a\n@@\n-x\n+y\n*** Add File: new/n\n+n");
    let verify = || runward_patch::Patch::parse(&changes).unwrap().verify(&workspace.ground()).unwrap();

    let verified = verify();
    fs::rename(workspace.path("d"), workspace.path("real")).unwrap();
    symlink(treasure.path("vault"), workspace.path("d")).unwrap();
    let before = workspace.tree();
    let said = verified.apply().unwrap_err().to_string();
    assert!(said.contains("is a symbolic link") && said.contains("nothing was changed"), "{said}");
    assert_eq!(workspace.tree(), before);
    fs::remove_file(workspace.path("d")).unwrap();
    fs::rename(workspace.path("real"), workspace.path("d")).unwrap();

    let verified = verify();
    fs::remove_file(workspace.path("d/a")).unwrap();
    symlink(treasure.path("gold"), workspace.path("d/a")).unwrap();
    let before = workspace.tree();
    let said = verified.apply().unwrap_err().to_string();
    assert!(said.contains("changed while the patch was being applied"), "{said}");
    assert_eq!(workspace.tree(), before);
    fs::remove_file(workspace.path("d/a")).unwrap();
    fs::write(workspace.path("d/a"), "x\n").unwrap();

    let verified = verify();
    symlink(treasure.path("vault"), workspace.path("new")).unwrap();
    let before = workspace.tree();
    assert!(verified.apply().unwrap_err().to_string().contains("is a symbolic link"));
    assert_eq!(workspace.tree(), before);
    assert_eq!(fs::read_to_string(treasure.path("gold")).unwrap(), "gold\n");
    assert_eq!(fs::read_dir(treasure.path("vault")).unwrap().count(), 1);
}

#[test]
fn what_is_no_file_is_left_alone() {
    let workspace = Workspace::new(&[("d/a", "x\n")]);
    rustix::fs::mkfifoat(CWD, workspace.path("pipe"), Mode::RWXU).unwrap();
    for (body, said) in [
        ("*** Update File: pipe\n@@\n-x", "is a named pipe, not a file"),
        ("*** Add File: pipe\n+x", "is a named pipe, not a file"),
        ("*** Delete File: pipe", "is a named pipe, not a file"),
        ("*** Add File: d\n+x", "is a directory, not a file"),
        ("*** Add File: d/\n+x", "the path names no file"),
        ("*** Delete File: .", "the path names no file"),
    ] {
        let problem = workspace.apply(&patch(body)).unwrap_err().to_string();
        assert!(problem.contains(said), "{body}: {problem}");
    }
}

#[test]
fn sizes_are_bounded() {
    let workspace = Workspace::new(&[]);
    let large = fs::File::create(workspace.path("large")).unwrap();
    large.set_len(40 << 20).unwrap();
    let said = workspace.apply(&patch("*** Update File: large\n@@\n-x")).unwrap_err().to_string();
    assert!(said.contains("files of up to 16777216 can be patched"), "{said}");
    workspace.apply(&patch("*** Delete File: large")).unwrap();
}

#[test]
fn a_file_that_is_not_text_says_what_stands_there() {
    let workspace = Workspace::new(&[]);
    fs::write(workspace.path("binary"), [0, 159, 146, 150, 10, 1, 2, 3]).unwrap();
    let said = workspace.apply(&patch("*** Update File: binary\n@@\n-x\n+y")).unwrap_err().to_string();
    assert!(said.contains("nothing like it stands in the file"), "{said}");
}

#[test]
fn a_directory_that_is_swapped_for_a_link_all_the_time_never_leads_outside() {
    let treasure = Workspace::new(&[("a", "x\n")]);
    let workspace = Workspace::new(&[("d/a", "x\n")]);
    let (place, link) = (workspace.path("d"), workspace.path("link"));
    symlink(treasure.path(""), &link).unwrap();
    let (done, kept) = (AtomicBool::new(false), treasure.tree());
    std::thread::scope(|scope| {
        let swapping = scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                renameat_with(CWD, &place, CWD, &link, RenameFlags::EXCHANGE).unwrap();
                std::thread::yield_now();
            }
        });
        let (mut applied, mut refused) = (0, 0);
        while (applied < 50 || refused < 50) && treasure.tree() == kept && !swapping.is_finished() {
            let changes = "*** Update File: d/a\n@@\n-x\n+x\n*** Add File: d/new\n+n";
            match workspace.apply(&patch(changes)) {
                Ok(_) => applied += 1,
                Err(_) => refused += 1,
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(treasure.tree(), kept);
}
