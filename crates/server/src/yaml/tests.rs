use std::sync::Arc;

use std::time::Duration;

use proptest::prelude::*;
use runward_model::{Signal, Tree};

use super::*;

fn reply(view: &View) -> String {
    super::reply(view, Room { budget: 64 * 1024, reader: Some("read_output"), keeper: Some("exec_command") })
}

fn view(stdout: &[u8], stderr: &[u8]) -> View {
    let captured = |bytes: &[u8]| Captured { head: bytes.to_vec(), missing: 0, tail: Vec::new() };
    let outcome = Outcome::of(Ending::Exited(0));
    View {
        receipt: Arc::default(),
        outcome,
        stdout: captured(stdout),
        stderr: captured(stderr),
        output_note: None,
    }
}

#[test]
fn an_ordinary_output_is_a_literal_block() {
    insta::assert_snapshot!(reply(&view(b"one\n\n  two: \"2\"\n", b"")), @r#"
    exit_code: 0
    stdout: |
      one

        two: "2"
    stderr: ''
    "#);
}

#[test]
fn trailing_newlines_choose_the_chomping() {
    let stdout = |bytes| reply(&view(bytes, b"")).lines().nth(1).unwrap_or_default().to_owned();
    assert_eq!(stdout(b"a"), "stdout: |-");
    assert_eq!(stdout(b"a\n"), "stdout: |");
    assert_eq!(stdout(b"a\n\n"), "stdout: |+");
    assert_eq!(stdout(b"  a\n"), "stdout: |2");
    assert_eq!(stdout(b"\n"), "stdout: \"\\n\"");
    assert_eq!(stdout(b"a\n  "), "stdout: \"a\\n  \"", "a last line of blanks is read in different ways");
}

#[test]
fn what_a_block_cannot_hold_is_quoted() {
    let stdout = "a\r\nb\u{7}\u{1}\u{85}\u{2028}\u{FEFF}\u{FFFF}\"\\é\n";
    insta::assert_snapshot!(reply(&view(stdout.as_bytes(), b"x\xFF")), @r#"
    exit_code: 0
    stdout: "a\r\nb\a\x01\x85\u2028\uFEFF\uFFFF\"\\é\n"
    stderr: |-
      x�
    invalid_utf8: [stderr]
    "#);
}

#[test]
fn everything_that_applies_is_said() {
    let mut view = view(b"out", b"");
    view.stdout.missing = 1_234_567;
    view.stdout.tail = b"end\n".to_vec();
    view.outcome.ending = Ending::Signaled(Signal::KILL);
    view.outcome.stopped = Some(StopReason::TimedOut(Duration::from_millis(700)));
    view.outcome.tree = Tree { ended: 2, survivors: vec![12, 13], ..Tree::default() };
    view.outcome.limit_hit = Some(runward_model::LimitHit::Memory);
    view.outcome.output_cut = true;
    insta::assert_snapshot!(reply(&view), @r"
    exit_code: 124
    stdout: |
      out
      ... 1234567 bytes missing ...
      end
    stderr: ''
    signal: SIGKILL
    error: Timed out after 700ms
    limit: The limit on memory was hit and a process was killed for it, see limits.memory
    hint: It may have waited for input. Give it input, or a larger timeout_ms if it needs longer
    stdout_missing_bytes: 1234567
    rest: Call read_output with this output_id, it pages and searches the whole output
    background: 2 processes that were still running were ended
    containment: best effort, a process that forks fast enough may have escaped
    survivors: [12, 13]
    note: Something still held the output open after the end, so some of it may be missing
    ");
}

#[test]
fn what_does_not_fit_shows_both_ends_and_says_how_much_is_missing_and_where_it_is() {
    let lines = (0..50_000).map(|number| format!("line {number}\n")).collect::<Vec<_>>().concat();
    let reply = reply(&view(lines.as_bytes(), b"small\n"));
    assert!(reply.len() < 65 * 1024, "{}", reply.len());
    assert!(reply.starts_with("exit_code: 0\nstdout: |\n  line 0\n"), "{reply}");
    assert!(reply.contains("\n  line 49999\nstderr: |\n  small\n"), "{reply}");
    let missing = reply.split("\nstdout_missing_bytes: ").nth(1).and_then(|rest| rest.lines().next());
    assert!(reply.contains(&format!("\n  ... {} bytes missing ...\n", missing.unwrap())), "{reply}");
    assert!(
        reply.ends_with(
            "\nrest: Call read_output with this output_id, it pages and searches the whole output\n"
        )
    );
}

#[test]
fn what_has_to_be_escaped_counts_as_it_is_written() {
    let reply = reply(&view(&[1].repeat(1 << 20), &[0xFF].repeat(1 << 20)));
    assert!((40 * 1024..65 * 1024).contains(&reply.len()), "{}", reply.len());
}

#[test]
fn what_was_left_behind_and_ended_comes_with_the_way_to_have_it_go_on() {
    let mut view = view(b"", b"");
    view.outcome.tree = Tree { ended: 1, ..Tree::default() };
    let hint = "\nhint: Start it with exec_command, without an ampersand, to have it go on\n";
    assert!(reply(&view).contains(hint), "{}", reply(&view));
    view.outcome.stopped = Some(StopReason::Cancelled);
    assert!(!reply(&view).contains("\nhint: "), "what was stopped was stopped");
}

#[test]
fn a_lost_command_says_so() {
    let mut view = view(b"", b"");
    view.outcome.ending = Ending::Lost;
    assert!(reply(&view).contains("exit_code: 255\n"));
    assert!(reply(&view).contains("\nerror: Nobody saw"));
}

fn awkward() -> impl Strategy<Value = String> {
    let letters = prop_oneof![
        Just('\n'),
        Just(' '),
        Just('\t'),
        Just('a'),
        Just('-'),
        Just('#'),
        Just(':'),
        Just('"'),
        Just('\\'),
        Just('\r'),
        Just('\u{85}'),
        Just('\u{2028}'),
        Just('\u{FEFF}'),
        Just('€'),
        any::<char>(),
    ];
    proptest::collection::vec(letters, 0..24).prop_map(String::from_iter)
}

proptest! {
    #[test]
    fn the_room_is_measured_before_it_is_filled(stdout in awkward(), stderr in awkward()) {
        let view = view(stdout.as_bytes(), stderr.as_bytes());
        let text = Text::of(&view.stdout);
        let scalar = Scalar::of(&text);
        let mut out = String::new();
        scalar.write(&mut out);
        prop_assert!(out.len() <= scalar.size(), "{} > {}: {out:?}", out.len(), scalar.size());
    }

    #[test]
    fn every_line_of_a_reply_is_a_key_or_indented_or_empty(stdout in awkward(), stderr in awkward()) {
        let reply = reply(&view(stdout.as_bytes(), stderr.as_bytes()));
        let keys: Vec<_> = reply
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with("  "))
            .map(|line| line.split(':').next().unwrap_or_default())
            .collect();
        prop_assert_eq!(keys, ["exit_code", "stdout", "stderr"]);
    }
}
