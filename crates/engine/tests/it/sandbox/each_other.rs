//! What commands see of each other, and what is left of them.

use runward_model::{Limits, Profile, StopReason};
use runward_testkit::{Marker, eventually};

use super::{Place, confined, for_client, inside, names, sh, sh_for, with};
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
            sh(engine, &place.work(), "readlink /proc/self/ns/pid; touch /tmp/x").await.1,
            sh(engine, &place.work(), "readlink /proc/self/ns/pid; touch /tmp/y").await.1,
        ]
        .into();
        assert!(!seen.is_empty());
        let (_, stdout, _) = sh(engine, &place.work(), "ls -A /tmp").await;
        assert_eq!(stdout, "x\ny\n", "what a client shares does not hang on its sandboxes");
    });
}

#[test]
fn nothing_of_a_command_is_left_for_another_client() {
    let place = Place::new();
    with(confined(Profile::WorkspaceWrite), async |engine| {
        let leave = "mkdir -p /tmp/a/b && echo x > /tmp/a/b/c && echo y > /dev/shm/y && echo z > /var/tmp/z && chmod 700 /tmp \
            && ipcmk -M 64 >/dev/null; (setsid sleep 1000 >/dev/null 2>&1 </dev/null &) ; echo left";
        let (code, stdout, stderr) = sh(engine, &place.work(), leave).await;
        assert_eq!((code, stdout.as_str()), (0, "left\n"), "{stderr}");
        let look = "ls -A /tmp /dev/shm /var/tmp | grep -v : | tr -d '\\n'; ls /proc | grep -c '^[0-9]'; tail -n +2 /proc/sysvipc/shm; stat -c %a /tmp";
        let (_, stdout, _) = sh_for(engine, "other", &place.work(), look).await;
        let lines: Vec<&str> = stdout.lines().collect();
        let [processes, mode] = lines.as_slice() else { panic!("{stdout}") };
        assert!(processes.parse::<u32>().unwrap() <= 4, "only the warden and the command itself: {stdout}");
        assert_eq!(*mode, "1777");
    });
}

#[test]
fn what_runs_code_is_refused_where_nothing_can_be_held_back() {
    let place = Place::new();
    with(confined(Profile::WorkspaceWrite), async |engine| {
        for text in
            ["mkdir .vscode", "echo x > .mcp.json", "mkdir sub && echo x > sub/.mcp.json", "ln -s x .claude"]
        {
            let (code, _, stderr) = sh(engine, &place.work(), text).await;
            assert!(code != 0 && stderr.contains("Read-only file system"), "{text}: {stderr}");
        }
    });
    assert_eq!(names(&place.work()), ["sub"], "and nothing stands in for it");
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
        let (code, stdout, _) = sh_for(engine, "other", &place.work(), "ls /tmp; echo x > /tmp/fits").await;
        assert_eq!((code, stdout.as_str()), (0, ""));
        let (code, _, stderr) = sh(engine, &place.work(), "rm /tmp/full; echo x > /tmp/fits").await;
        assert_eq!(code, 0, "{stderr}");
    });
}

#[test]
fn a_mode_that_a_command_leaves_on_what_is_shared_is_given_back() {
    let place = Place::new();
    with(confined(Profile::WorkspaceWrite), async |engine| {
        let leave = "chmod 0 /tmp /dev/shm; chmod 0 /dev/pts 2>/dev/null; true";
        sh(engine, &place.work(), leave).await;
        let look = "python3 -c \"import os; os.openpty(); open('/tmp/x', 'w'); open('/dev/shm/x', 'w')\"";
        let (code, _, stderr) = sh(engine, &place.work(), look).await;
        assert_eq!(code, 0, "{stderr}");
    });
}

/// Prints the port that it listens at on the loopback, then answers whoever connects.
const SERVER: &str = "import socket, sys\ns = socket.create_server(('127.0.0.1', 0))\nopen('/tmp/port', 'w').write(str(s.getsockname()[1]))\nwhile True:\n    c, _ = s.accept(); c.sendall(b'hello'); c.close()\n";

const CALL: &str =
    "import socket; print(socket.create_connection(('127.0.0.1', int(open('/tmp/port').read()))).recv(9))";

#[test]
fn calls_of_one_client_share_temporary_files_and_a_loopback_and_others_see_neither() {
    let place = Place::new();
    with(confined(Profile::WorkspaceWrite), async |engine| {
        std::fs::create_dir(place.work().join("sub")).unwrap();
        let (code, _, stderr) = sh(engine, &place.work(), "printf 'echo ran' > /tmp/script.sh").await;
        assert_eq!(code, 0, "{stderr}");
        let (code, stdout, _) = sh(engine, &place.work(), "bash /tmp/script.sh").await;
        assert_eq!((code, stdout.as_str()), (0, "ran\n"));
        let server = format!("python3 -c \"{SERVER}\"");
        let mut session = start(engine, inside(&place.work(), script(&server))).await.unwrap();
        let call = format!("until test -s /tmp/port; do sleep 0.05; done; python3 -c \"{CALL}\"");
        let (code, stdout, stderr) = sh(engine, &place.work(), &call).await;
        assert_eq!((code, stdout.as_str()), (0, "b'hello'\n"), "{stderr}");
        let (_, port, _) = sh(engine, &place.work(), "cat /tmp/port").await;
        let elsewhere = format!(
            "ls -A /tmp; python3 -c \"import socket; print(socket.socket().connect_ex(('127.0.0.1', {port})))\""
        );
        let (_, stdout, _) = sh_for(engine, "other", &place.work(), &elsewhere).await;
        assert_eq!(stdout, "111\n", "another client finds no file, and nobody listens");
        let refused = std::net::TcpStream::connect(("127.0.0.1", port.parse().unwrap()));
        assert!(refused.is_err(), "nor does anybody on the host");
        session.stop(StopReason::Cancelled);
        session.ended().await;
    });
}

#[test]
fn what_a_client_shares_is_gone_when_it_leaves() {
    let place = Place::new();
    with(confined(Profile::WorkspaceWrite), async |engine| {
        let keep = for_client("one", script("echo x > /tmp/left"));
        assert_eq!(run(engine, inside(&place.work(), keep)).await.outcome.exit_code(), 0);
        let principal = for_client("one", script("")).caller.principal;
        engine.leave(&principal);
        let (_, stdout, _) = sh_for(engine, "one", &place.work(), "ls -A /tmp").await;
        assert_eq!(stdout, "");
    });
}

#[test]
fn what_nobody_knows_the_client_of_shares_nothing() {
    let place = Place::new();
    with(confined(Profile::WorkspaceWrite), async |engine| {
        let nobodys = |text| {
            let mut request = script(text);
            request.caller.principal = request.caller.principal.any_client();
            inside(&place.work(), request)
        };
        assert_eq!(run(engine, nobodys("echo x > /tmp/left")).await.outcome.exit_code(), 0);
        let (_, stdout, _) = super::told(&run(engine, nobodys("ls -A /tmp")).await);
        assert_eq!(stdout, "");
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
