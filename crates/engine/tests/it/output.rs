//! What sessions print and are given.

use runward_engine::Settings;
use runward_model::Request;

use crate::setup::*;

#[test]
fn both_outputs_are_kept_apart() {
    under_each_containment(async |engine| {
        let view = run(engine, ask(&["print", "to out", "eprint", "to err"])).await;
        assert_eq!(text(&view.stdout.head), "to out");
        assert_eq!(text(&view.stderr.head), "to err");
    });
}

#[test]
fn input_arrives_whole_and_ends() {
    under_each_containment(async |engine| {
        for size in [0, 1, 70_000, 3_000_000] {
            let input: Vec<u8> = (0..size).map(|index: u32| index.to_le_bytes()[0]).collect();
            let settings = Request { input: Some(input.clone()), ..ask(&["echo"]) };
            let view = run(engine, settings).await;
            assert_eq!(
                view.stdout.head.len() as u64 + view.stdout.missing + view.stdout.tail.len() as u64,
                u64::from(size)
            );
            assert!(input.starts_with(&view.stdout.head) && input.ends_with(&view.stdout.tail));
        }
    });
}

#[test]
fn without_input_a_reader_sees_the_end_at_once() {
    under_each_containment(async |engine| {
        assert_eq!(run(engine, line("cat")).await.outcome.exit_code(), 0);
    });
}

#[test]
fn a_child_that_does_not_read_its_input_hurts_nobody() {
    under_each_containment(async |engine| {
        let request = Request { input: Some(vec![b'x'; 5_000_000]), ..ask(&["print", "no thanks"]) };
        assert_eq!(text(&run(engine, request).await.stdout.head), "no thanks");
    });
}

#[test]
fn a_flood_is_kept_to_its_limit_and_counted() {
    let small = Settings { output_limit: 100_000, ..settings() };
    under_each_containment_with(&small, async |engine| {
        let view = run(engine, ask(&["flood", "30000000"])).await;
        assert_eq!(view.outcome.exit_code(), 0);
        assert_eq!((view.stdout.head.len(), view.stdout.tail.len()), (50_000, 50_000));
        assert_eq!(view.stdout.missing, 30_000_000 - 100_000);
    });
}

#[test]
fn output_of_a_substituted_process_that_ends_a_little_later_is_not_lost() {
    under_each_containment(async |engine| {
        let view = run(engine, line("echo early > >(sleep 0.05; cat)")).await;
        assert_eq!(text(&view.stdout.head), "early\n");
        assert!(!view.outcome.output_cut);
    });
}

#[test]
fn many_run_side_by_side() {
    under_each_containment(async |engine| {
        let mut sessions = Vec::new();
        for index in 0..32 {
            sessions.push((index, engine.start(ask(&["print", &index.to_string()])).await.unwrap()));
        }
        for (index, mut session) in sessions {
            assert_eq!(text(&session.ended().await.stdout.head), index.to_string());
        }
    });
}
