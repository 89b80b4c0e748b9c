//! Commands that want more than they may have.

use std::time::Duration;

use runward_engine::Settings;
use runward_model::{Containment, LimitHit, Limits};

use crate::setup::*;

fn held_to(limits: Limits) -> Settings {
    Settings { limits, ..settings() }
}

#[test]
fn a_command_that_wants_too_much_memory_does_not_get_it() {
    let limits = Limits { memory: Some(96 << 20), ..Limits::default() };
    under_each_containment_with(&held_to(limits), async |engine| {
        assert_eq!(run(engine, ask(&["touch-memory", "8"])).await.outcome.exit_code(), 0);
        let outcome = run(engine, ask(&["touch-memory", "300"])).await.outcome;
        assert_ne!(outcome.exit_code(), 0);
        if outcome.tree.containment == Containment::Cgroup {
            assert_eq!(outcome.limit_hit, Some(LimitHit::Memory));
        }
    });
}

#[test]
fn a_command_that_makes_too_many_processes_is_refused_some() {
    let limits = Limits { processes: Some(20), ..Limits::default() };
    let many = "for i in {1..40}; do sleep 5 & done 2>/dev/null; jobs -p | wc -l";
    under_each_containment_with(&held_to(limits), async |engine| {
        let outcome = run(engine, script(many)).await.outcome;
        if outcome.tree.containment == Containment::Cgroup {
            assert_eq!(outcome.limit_hit, Some(LimitHit::Processes));
        } else if rustix::process::geteuid().is_root() {
            runward_testkit::skipped("without control groups a limit on processes does not bind root");
        } else {
            assert_ne!(outcome.exit_code(), 0);
        }
    });
}

#[test]
fn a_command_that_uses_up_its_processor_time_is_ended() {
    let limits = Limits { cpu_time: Some(Duration::from_secs(1)), ..Limits::default() };
    under_each_containment_with(&held_to(limits), async |engine| {
        let outcome = run(engine, script("while :; do :; done")).await.outcome;
        assert_eq!(outcome.limit_hit, Some(LimitHit::CpuTime));
    });
}

#[test]
fn a_file_does_not_grow_beyond_its_limit() {
    let limits = Limits { file_size: Some(10_000), ..Limits::default() };
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    under_each_containment_with(&held_to(limits), async |engine| {
        let write = format!("exec head -c 50000 /dev/zero > {}", file.display());
        let outcome = run(engine, script(&write)).await.outcome;
        assert_eq!(outcome.limit_hit, Some(LimitHit::FileSize));
        assert_eq!(std::fs::metadata(&file).unwrap().len(), 10_000);
    });
}

#[test]
fn a_command_has_no_more_descriptors_than_it_may() {
    let limits = Limits { open_files: Some(17), ..Limits::default() };
    under_each_containment_with(&held_to(limits), async |engine| {
        assert_eq!(text(&run(engine, script("ulimit -n")).await.stdout.head), "17\n");
    });
}
