//! Where commands run.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use runward_engine::Settings;
use runward_model::{Refusal, Request};

use crate::setup::*;

fn pwd_in(cwd: &Path) -> Request {
    Request { cwd: Some(cwd.into()), ..ask(&["pwd"]) }
}

fn rooted(root: &Path) -> Settings {
    Settings { cwd_roots: vec![root.into()], ..settings() }
}

#[test]
fn a_directory_inside_a_root_is_entered() {
    let root = tempfile::tempdir().unwrap();
    let inside = root.path().join("..dots");
    std::fs::create_dir(&inside).unwrap();
    let view = block_on(rooted(root.path()), async |engine| run(engine, pwd_in(&inside)).await);
    assert_eq!(text(&view.stdout.head), canonical(&inside).to_str().unwrap());
}

#[test]
fn directories_that_cannot_be_used_are_refused_by_name() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("file");
    std::fs::write(&file, "").unwrap();
    let refuse = |cwd: &Path, roots: &Path| {
        block_on(rooted(roots), async |engine| start(engine, pwd_in(cwd)).await.unwrap_err())
    };
    let missing = root.path().join("missing");
    assert_eq!(
        refuse(&missing, root.path()).to_string(),
        format!("cwd does not exist: {}", missing.display())
    );
    assert_eq!(refuse(&file, root.path()).to_string(), format!("cwd is not a directory: {}", file.display()));
    let outside = refuse(Path::new("/"), root.path()).to_string();
    assert!(outside.starts_with("cwd is not allowed by ALLOWED_CWD_ROOTS: /"), "{outside}");
    assert_eq!(
        refuse(root.path(), &missing).to_string(),
        format!("invalid configuration: ALLOWED_CWD_ROOTS contains an invalid root: {}", missing.display())
    );
}

#[test]
fn ways_around_a_root_are_refused() {
    let root = tempfile::tempdir().unwrap();
    let allowed = root.path().join("allowed");
    let sibling = root.path().join("allowed-not");
    std::fs::create_dir(&allowed).unwrap();
    std::fs::create_dir(&sibling).unwrap();
    symlink("/", allowed.join("link")).unwrap();
    for way in [
        sibling.clone(),
        allowed.join(".."),
        allowed.join("link"),
        allowed.join("link/tmp"),
        allowed.join("../allowed-not"),
    ] {
        let refusal =
            block_on(rooted(&allowed), async |engine| start(engine, pwd_in(&way)).await.unwrap_err());
        assert!(matches!(refusal, Refusal::CwdOutsideRoots { .. }), "{way:?}: {refusal}");
    }
}

#[test]
fn the_directory_that_was_checked_is_the_directory_entered_even_when_it_is_swapped_meanwhile() {
    let root = tempfile::tempdir().unwrap();
    let allowed = canonical(root.path()).join("allowed");
    let outside = canonical(root.path()).join("outside");
    let contested = allowed.join("contested");
    for directory in [&allowed, &outside, &allowed.join("real")] {
        std::fs::create_dir(directory).unwrap();
    }
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                for target in [allowed.join("real"), outside.clone()] {
                    let next = allowed.join("next");
                    symlink(&target, &next).unwrap();
                    std::fs::rename(&next, &contested).unwrap();
                }
            }
        });
        let (mut entered, mut refused) = (0, 0);
        block_on(rooted(&allowed), async |engine| {
            for _ in 0..300 {
                match start(engine, pwd_in(&contested)).await {
                    Ok(mut session) => {
                        let place = text(&session.ended().await.stdout.head);
                        assert!(Path::new(&place).starts_with(&allowed), "escaped to {place}");
                        entered += 1;
                    }
                    Err(_) => refused += 1,
                }
            }
        });
        done.store(true, Ordering::Relaxed);
        eprintln!("entered {entered}, refused {refused}");
    });
}

#[test]
fn where_two_lists_of_roots_are_given_a_directory_lies_in_one_of_each() {
    let (both, first) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let inside = both.path().join("inside");
    std::fs::create_dir(&inside).unwrap();
    let told = Settings {
        cwd_roots: vec![both.path().into(), first.path().into()],
        allowed_directories: vec![inside.clone()],
        ..settings()
    };
    let engine = engine(told, None);
    let refused = |cwd: &Path| {
        check(&engine, &Request { cwd: Some(cwd.to_owned()), ..line("pwd") })
            .err()
            .map(|refusal| refusal.to_string())
    };
    assert_eq!(refused(&inside), None);
    for outside in [both.path(), first.path()] {
        assert!(refused(outside).unwrap().starts_with("cwd is not allowed by allowed_directories: "));
    }
    assert!(refused(Path::new("/")).unwrap().starts_with("cwd is not allowed by ALLOWED_CWD_ROOTS: "));
}
