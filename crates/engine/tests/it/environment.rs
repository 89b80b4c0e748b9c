//! What a command can see of the server.

use runward_engine::Settings;
use runward_model::{Refusal, Request};

use crate::setup::*;

#[test]
fn no_descriptor_beyond_the_first_three_is_inherited() {
    under_each_containment(async |engine| {
        assert_eq!(text(&run(engine, ask(&["fds"])).await.stdout.head), "[0, 1, 2]");
    });
}

#[test]
fn a_command_leads_a_session_and_group_of_its_own_without_a_terminal() {
    under_each_containment(async |engine| {
        let view = run(engine, script("ps -o sid=,pgid=,pid= -p $$ || true; cat /dev/tty")).await;
        assert_ne!(view.outcome.exit_code(), 0);
        let ids: Vec<i32> =
            text(&view.stdout.head).split_whitespace().map(|id| id.parse().unwrap()).collect();
        assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    });
}

#[test]
fn signals_are_at_their_defaults_and_none_is_blocked() {
    under_each_containment(async |engine| {
        let view = run(engine, line("grep -E '^Sig(Blk|Ign)' /proc/self/status")).await;
        assert_eq!(text(&view.stdout.head).lines().count(), 2);
        for line in text(&view.stdout.head).lines() {
            assert!(line.ends_with("0000000000000000"), "{line}");
        }
    });
}

#[test]
fn a_command_gets_the_configured_variables_and_its_own_directory() {
    let told = Settings { environment: vec![variable("GREETING", "hello")], ..settings() };
    under_each_containment_with(&told, async |engine| {
        let here = std::env::current_dir().unwrap();
        let view = run(engine, ask(&["env", "GREETING", "print", " ", "env", "PWD", "env", "HOME"])).await;
        assert_eq!(text(&view.stdout.head), format!("hello {}", canonical(&here).display()));
    });
}

#[test]
fn the_runner_has_nothing_of_the_servers_environment() {
    under_each_containment(async |engine| {
        let mut session = start(engine, ask(&["wait"])).await.unwrap();
        let environ = std::fs::read(format!("/proc/{}/environ", runner_of(&session))).unwrap();
        assert_eq!(text(&environ), "");
        session.stop(runward_model::StopReason::Cancelled);
        session.ended().await;
    });
}

#[test]
fn what_a_caller_gives_takes_the_place_of_what_is_configured() {
    let told = Settings { environment: vec![variable("GREETING", "hello")], ..settings() };
    under_each_containment_with(&told, async |engine| {
        let env = vec![("GREETING".to_owned(), "a b".to_owned()), ("EXTRA".to_owned(), "1".to_owned())];
        let view = run(engine, Request { env, ..line("/usr/bin/env") }).await;
        let printed = text(&view.stdout.head);
        // Editors and pagers end at once where there is no terminal.
        let is_set = |line: &&str| {
            !line.starts_with("PWD=") && !line.ends_with("PAGER=cat") && !line.ends_with("=true")
        };
        let mut lines: Vec<&str> = printed.lines().filter(is_set).collect();
        lines.sort_unstable();
        assert_eq!(lines, ["EXTRA=1", "GREETING=a b"]);
    });
}

#[test]
fn a_variable_that_decides_what_runs_is_refused_and_nothing_runs() {
    under_each_containment(async |engine| {
        let env = vec![("LD_PRELOAD".to_owned(), "/x.so".to_owned())];
        let refusal = start(engine, Request { env, ..line("echo") }).await.unwrap_err();
        assert!(matches!(refusal, Refusal::Environment(_)) && refusal.to_string().contains("LD_PRELOAD"));
    });
}
