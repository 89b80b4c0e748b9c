//! What sessions print and are given.

use runward_engine::{Engine, Gone, Output, OutputSettings, Page, Selection, Settings};
use runward_model::{Principal, Request, Stdio, Stream, View};

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
            let settings = Request { stdio: Stdio::Given(input.clone()), ..ask(&["echo"]) };
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
        let request = Request { stdio: Stdio::Given(vec![b'x'; 5_000_000]), ..ask(&["print", "no thanks"]) };
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
            sessions.push((index, start(engine, ask(&["print", &index.to_string()])).await.unwrap()));
        }
        for (index, mut session) in sessions {
            assert_eq!(text(&session.ended().await.stdout.head), index.to_string());
        }
    });
}

fn output_of(engine: &Engine, view: &View) -> Output {
    engine.output(&caller().principal, view.receipt.output.as_ref().unwrap()).unwrap()
}

async fn lines(output: &Output, selection: Selection) -> Page {
    output.page(Stream::Stdout, selection).await.unwrap()
}

fn kept_in(directory: &std::path::Path) -> Settings {
    let output = OutputSettings { directory: directory.join("output"), ..settings().output };
    Settings { output_limit: 100_000, output, ..settings() }
}

#[test]
fn what_fits_into_memory_makes_no_file_and_what_does_not_is_kept_whole() {
    let directory = tempfile::tempdir().unwrap();
    under_each_containment_with(&kept_in(directory.path()), async |engine| {
        let small = run(engine, line("echo hello")).await;
        let page = lines(&output_of(engine, &small), Selection::Last(5)).await;
        assert_eq!((page.total, page.lines[0].bytes.as_slice()), (1, b"hello".as_slice()));
        let folder = directory.path().join("output").join(&small.receipt.output.as_ref().unwrap().0);
        assert!(!folder.exists());
        let large = run(engine, line("seq 1000000")).await;
        let output = output_of(engine, &large);
        let page = lines(&output, Selection::From { first: 500_000, limit: 2 }).await;
        assert_eq!((page.total, page.lines[0].bytes.as_slice()), (1_000_000, b"500000".as_slice()));
        assert_eq!(output.outcome().unwrap().exit_code(), 0);
        assert!(directory.path().join("output").join(&output.id().0).join("stdout").exists());
    });
}

#[test]
fn an_output_belongs_to_its_principal() {
    under_each_containment(async |engine| {
        let view = run(engine, line("echo mine")).await;
        let id = view.receipt.output.as_ref().unwrap();
        assert_eq!(engine.output(&Principal::token_holder(), id).unwrap_err(), Gone::Unknown);
        assert!(engine.output(&caller().principal, id).is_ok());
    });
}

#[test]
fn a_disk_that_cannot_be_used_is_said_and_the_result_is_still_there() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("output"), "in the way").unwrap();
    under_each_containment_with(&kept_in(directory.path()), async |engine| {
        let view = run(engine, ask(&["flood", "3000000"])).await;
        assert_eq!(view.outcome.exit_code(), 0);
        assert!(view.output_note.as_ref().unwrap().contains("cannot be used"), "{:?}", view.output_note);
        assert_eq!(view.stdout.missing, 2_900_000);
    });
}

#[test]
fn what_is_beyond_the_quota_is_counted_and_said() {
    let directory = tempfile::tempdir().unwrap();
    let mut small = kept_in(directory.path());
    small.output.quota = 500_000;
    under_each_containment_with(&small, async |engine| {
        let view = run(engine, ask(&["flood", "3000000"])).await;
        assert!(
            view.output_note.as_ref().unwrap().contains("the quota of 500000 bytes"),
            "{:?}",
            view.output_note
        );
        let page = lines(&output_of(engine, &view), Selection::Last(1)).await;
        assert_eq!((page.bytes, page.missing), (500_000, 2_500_000));
    });
}

#[test]
fn outputs_that_leave_memory_go_to_disk_if_large_and_are_evicted_if_small() {
    let directory = tempfile::tempdir().unwrap();
    let large = Settings { output_limit: 4 << 20, ..kept_in(directory.path()) };
    under_each_containment_with(&large, async |engine| {
        let first = run(engine, ask(&["flood", "3000000"])).await;
        let small = run(engine, line("echo small")).await;
        for _ in 0..12 {
            run(engine, ask(&["flood", "3000000"])).await;
        }
        assert_eq!(output_of(engine, &first).record(Stream::Stdout).unwrap().length(), 3_000_000);
        let gone = engine.output(&caller().principal, small.receipt.output.as_ref().unwrap()).unwrap_err();
        assert_eq!(gone, Gone::Evicted);
    });
}
