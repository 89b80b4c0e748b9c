//! What commands see of each other, and what is left of them.

use runward_model::{Limits, Profile, StopReason};
use runward_testkit::{Marker, eventually};

use super::{Place, confined, inside, names, sh, with};
use crate::setup::{ask, run, script, start};

const NAMESPACE: &str = "readlink /proc/self/ns/mnt";

#[test]
fn one_after_the_other_use_the_same_sandbox_and_two_at_once_do_not() {
    let place = Place::new();
    with(confined(Profile::WorkspaceWrite), async |engine| {
        let (_, first, _) = sh(engine, &place.work(), NAMESPACE).await;
        let text = format!("{NAMESPACE}; touch one; until test -e two; do sleep 0.01; done");
        let mut waiting = start(engine, inside(&place.work(), script(&text))).await.unwrap();
        eventually("the first runs", || place.work().join("one").exists());
        let (_, beside, _) = sh(engine, &place.work(), &format!("{NAMESPACE}; touch two")).await;
        let (_, again, _) = super::told(&waiting.ended().await);
        assert_eq!(first, again, "a sandbox is kept for the next command");
        assert_ne!(first, beside, "two at the same time do not share one");
    });
}

#[test]
fn a_sandbox_that_is_not_kept_is_not_used_again() {
    let (place, mut settings) = (Place::new(), confined(Profile::WorkspaceWrite));
    settings.sandboxing.usual.keep = std::time::Duration::ZERO;
    with(settings, async |engine| {
        let seen: std::collections::BTreeSet<String> = [
            sh(engine, &place.work(), "readlink /proc/self/ns/mnt; touch /tmp/x").await.1,
            sh(engine, &place.work(), "readlink /proc/self/ns/mnt; touch /tmp/y").await.1,
        ]
        .into();
        assert!(!seen.is_empty());
        let (_, stdout, _) = sh(engine, &place.work(), "ls -A /tmp").await;
        assert_eq!(stdout, "");
    });
}

#[test]
fn nothing_of_a_command_is_left_for_the_next() {
    let place = Place::new();
    with(confined(Profile::WorkspaceWrite), async |engine| {
        let leave = "mkdir -p /tmp/a/b && echo x > /tmp/a/b/c && echo y > /dev/shm/y && echo z > /var/tmp/z && chmod 700 /tmp \
            && ipcmk -M 64 >/dev/null; (setsid sleep 1000 >/dev/null 2>&1 </dev/null &) ; echo left";
        let (code, stdout, stderr) = sh(engine, &place.work(), leave).await;
        assert_eq!((code, stdout.as_str()), (0, "left\n"), "{stderr}");
        let look = "ls -A /tmp /dev/shm /var/tmp | grep -v : | tr -d '\\n'; ls /proc | grep -c '^[0-9]'; tail -n +2 /proc/sysvipc/shm; stat -c %a /tmp";
        let (_, stdout, _) = sh(engine, &place.work(), look).await;
        let lines: Vec<&str> = stdout.lines().collect();
        let [processes, mode] = lines.as_slice() else { panic!("{stdout}") };
        assert!(processes.parse::<u32>().unwrap() <= 4, "only the warden and the command itself: {stdout}");
        assert_eq!(*mode, "1777");
    });
}

#[test]
fn what_keeps_missing_files_missing_is_removed() {
    let place = Place::new();
    with(confined(Profile::WorkspaceWrite), async |engine| {
        let (code, _, _) = sh(engine, &place.work(), "mkdir .vscode").await;
        assert_eq!(code, 1);
        let (code, _, _) = sh(engine, &place.work(), "echo x > .mcp.json").await;
        assert_eq!(code, 1);
        eventually("nothing is left", || names(&place.work()).is_empty());
        let (code, _, _) = sh(engine, &place.work(), "mkdir .vscode").await;
        assert_eq!(code, 1, "and made again for the next command");
    });
    assert_eq!(names(&place.work()), Vec::<String>::new());
}

#[test]
fn a_workspace_that_was_replaced_is_seen_as_it_is_now() {
    let place = Place::new();
    with(confined(Profile::WorkspaceWrite), async |engine| {
        let (code, _, _) = sh(engine, &place.work(), "echo old > file").await;
        assert_eq!(code, 0);
        let work = place.work();
        std::fs::rename(&work, work.with_file_name("before")).unwrap();
        std::fs::create_dir(&work).unwrap();
        let (code, stdout, stderr) = sh(engine, &work, "ls; echo new > file").await;
        assert_eq!((code, stdout.as_str()), (0, ""), "{stderr}");
        assert_eq!(std::fs::read_to_string(work.join("file")).unwrap(), "new\n");
    });
}

#[test]
fn a_stop_ends_everything_in_a_sandbox() {
    let (place, marker) = (Place::new(), Marker::new());
    with(confined(Profile::WorkspaceWrite), async |engine| {
        let mut session =
            start(engine, inside(&place.work(), ask(&["family", marker.as_str(), "wait"]))).await.unwrap();
        eventually("the family is there", || marker.carriers().len() >= 3);
        session.stop(StopReason::Cancelled);
        session.ended().await;
        assert_eq!(marker.carriers(), Vec::<i32>::new());
        let (code, stdout, _) = sh(engine, &place.work(), "echo next").await;
        assert_eq!((code, stdout.as_str()), (0, "next\n"));
    });
}

#[test]
fn limits_hold_in_a_sandbox() {
    let place = Place::new();
    let limits = Limits { processes: Some(20), file_size: Some(1 << 16), ..Limits::default() };
    let settings = runward_engine::Settings { limits, ..confined(Profile::WorkspaceWrite) };
    with(settings, async |engine| {
        let bomb = "for i in $(seq 40); do sleep 5 & done; wait";
        let view = run(engine, inside(&place.work(), script(bomb))).await;
        let told = String::from_utf8_lossy(&view.stderr.head).into_owned();
        assert!(view.outcome.limit_hit.is_some() || told.contains("fork"), "{told}");
        let (code, _, _) = sh(engine, &place.work(), "head -c 1000000 /dev/zero > large").await;
        assert_ne!(code, 0);
        let (code, stdout, stderr) = sh(engine, &place.work(), "echo fine").await;
        assert_eq!((code, stdout.as_str()), (0, "fine\n"), "{stderr}");
    });
}

#[test]
fn temporary_files_are_bounded_and_what_fills_them_hurts_nobody_else() {
    let place = Place::new();
    let mut settings = confined(Profile::WorkspaceWrite);
    settings.sandboxing.usual.temporary_size = 8 << 20;
    with(settings, async |engine| {
        let fill = "head -c 100000000 /dev/zero > /tmp/full";
        let (code, _, stderr) = sh(engine, &place.work(), fill).await;
        assert!(code != 0 && stderr.contains("No space left on device"), "{code} {stderr}");
        let (code, stdout, _) = sh(engine, &place.work(), "ls /tmp; echo x > /tmp/fits").await;
        assert_eq!((code, stdout.as_str()), (0, ""));
    });
}

#[test]
fn nothing_that_a_command_ties_to_what_stays_is_found_by_the_next() {
    let place = Place::new();
    with(confined(Profile::WorkspaceWrite), async |engine| {
        let note =
            "import os; os.setxattr('/tmp', 'user.note', b'x'); os.chmod('/tmp', 0); os.chmod('/dev/pts', 0)";
        let leave = format!("python3 -c \"{note}\" || true");
        sh(engine, &place.work(), &leave).await;
        let look = "python3 -c \"import os; print(os.listxattr('/tmp')); os.openpty(); open('/tmp/x', 'w')\"";
        let (code, stdout, stderr) = sh(engine, &place.work(), look).await;
        assert_eq!((code, stdout.as_str()), (0, "[]\n"), "{stderr}");
    });
}

#[test]
fn a_sandbox_that_a_command_has_spoilt_is_replaced() {
    let place = tempfile::tempdir_in("/tmp").unwrap();
    let work = place.path().join("deep/work");
    std::fs::create_dir_all(&work).unwrap();
    with(confined(Profile::WorkspaceWrite), async |engine| {
        let away = format!("mv {0}/deep {0}/other; true", place.path().display());
        sh(engine, &work, &away).await;
        for _ in 0..3 {
            let (code, stdout, stderr) = sh(engine, &work, "pwd").await;
            assert_eq!((code, stdout.trim_end()), (0, work.to_str().unwrap()), "{stderr}");
        }
    });
}
