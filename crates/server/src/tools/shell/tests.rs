use std::sync::Arc;

use rmcp::model::CallToolResult;
use runward_model::{
    Captured, Decision, Door, Ending, Judged, LimitHit, Outcome, OutputId, Principal, Receipt, Refusal,
    Signal, Stdio, StopReason, Usage, Verdict, View,
};
use serde_json::{Value, json};

use super::*;
use crate::tools::{Refused, Reply, Seen, USUAL_LIMITS};

fn decode_arguments(arguments: Value) -> Result<Request, String> {
    let caller = Caller::new(Door::named("shell"), Principal::local());
    TOOL.run().decoder.read(&USUAL_LIMITS, &caller, arguments).map_err(|wrong| wrong.to_string())
}

fn view(ending: Ending, stopped: Option<StopReason>, stdout: &str, stderr: &str) -> View {
    let captured = |text: &str| Captured { head: text.into(), missing: 0, tail: Vec::new() };
    let judged = Judged {
        words: vec!["make".into(), "all".into()],
        program: Some("/usr/bin/make".into()),
        decision: Decision::Allow,
        reason: "allowed by \"make\"".into(),
        rule: None,
        profile: None,
    };
    let verdict = Verdict {
        decision: Decision::Allow,
        reason: "every command is allowed".into(),
        rule: None,
        suggest: None,
        commands: vec![judged],
    };
    let receipt = Receipt { command: "make all".into(), cwd: "/src".into(), verdict, ..Receipt::default() };
    let usage =
        Usage { user: Duration::from_millis(30), system: Duration::from_millis(12), max_rss_kib: 2048 };
    let outcome = Outcome { stopped, wall: Duration::from_millis(45), usage, ..Outcome::of(ending) };
    View {
        receipt: Arc::new(receipt),
        outcome,
        stdout: captured(stdout),
        stderr: captured(stderr),
        output_note: None,
    }
}

fn reply(view: &View) -> Value {
    let near = |_: &str| vec!["make".to_owned()];
    result((TOOL.run().encode)(&Seen {
        view,
        limits: &USUAL_LIMITS,
        near: &near,
        beginning: &|_, _| Vec::new(),
    }))
}

fn result(reply: Reply) -> Value {
    serde_json::to_value(CallToolResult::from(reply)).expect("JSON")
}

const TIMED_OUT: Option<StopReason> = Some(StopReason::TimedOut(Duration::from_secs(1)));

#[test]
fn arguments_become_a_request() {
    let environment = json!({"RUST_LOG": "debug", "EMPTY": ""});
    let arguments = json!({"command": "ls | wc", "working_directory": "/src", "timeout": 900, "environment": environment});
    let request = decode_arguments(arguments).expect("is right");
    assert_eq!(request.work, Work::Line("ls | wc".into()));
    assert_eq!((request.cwd, request.stdio), (Some(PathBuf::from("/src")), Stdio::Pipes));
    assert_eq!(request.timeout, Some(Duration::from_mins(15)));
    assert_eq!(
        request.env,
        [("EMPTY", ""), ("RUST_LOG", "debug")].map(|(n, v)| (n.to_owned(), v.to_owned()))
    );
}

#[test]
fn what_is_left_out_has_its_default() {
    let request = decode_arguments(json!({"command": "ls", "working_directory": ""})).expect("is right");
    assert_eq!((request.cwd, request.env, request.timeout), (None, vec![], Some(Duration::from_mins(5))));
}

#[test]
fn wrong_arguments_are_named() {
    let timeout = decode_arguments(json!({"command": "ls", "timeout": 1801})).expect_err("too long");
    assert_eq!(timeout, "timeout must be an integer from 1 to 1800, got 1801");
    let empty = decode_arguments(json!({"command": ""})).expect_err("empty");
    assert_eq!(empty, "command must be a string that is not empty, got \"\"");
    let number = decode_arguments(json!({"command": "ls", "environment": {"A": 1}})).expect_err("a number");
    assert_eq!(number, "environment must be an object whose values are strings, got {\"A\":1}");
}

#[test]
fn the_advertised_times_follow_the_settings() {
    let limits = Limits {
        shell_default_timeout: Duration::from_mins(5),
        shell_max_timeout: Duration::from_mins(1),
        ..USUAL_LIMITS
    };
    let schema = Value::Object(TOOL.act.shape().within(&limits).input_schema());
    let timeout = &schema["properties"]["timeout"];
    assert_eq!(
        (&timeout["default"], &timeout["maximum"], &timeout["minimum"]),
        (&json!(60), &json!(60), &json!(1))
    );
}

#[test]
fn success_failure_timeout_and_refusal_have_their_shapes() {
    insta::assert_json_snapshot!("success", reply(&view(Ending::Exited(0), None, "built\n", "")));
    insta::assert_json_snapshot!(
        "failure",
        reply(&view(Ending::Exited(2), None, "\u{1b}[1mout", "1%\r2%\nerr\n"))
    );
    insta::assert_json_snapshot!(
        "timeout",
        reply(&view(Ending::Signaled(Signal::TERM), TIMED_OUT, "so far", ""))
    );
    let refusal = Refusal::Denied(Verdict {
        reason: "command \"rm\" is not allowed".into(),
        suggest: Some("rm".into()),
        ..Verdict::default()
    });
    let refused = (TOOL.run().refuse)(&Refused { command: "rm x", refusal: &refusal });
    insta::assert_json_snapshot!("refusal", result(refused));
}

#[test]
fn the_first_text_and_the_error_flag_say_how_it_ended() {
    let cancelled = Some(StopReason::Cancelled);
    let long = Some(StopReason::TimedOut(Duration::from_mins(5)));
    for (ending, stopped, is_error, text) in [
        (Ending::Exited(0), None, false, "Command executed successfully"),
        (Ending::Exited(1), None, true, "Command failed with exit code 1"),
        (Ending::Signaled(Signal::KILL), None, true, "Command failed with exit code 137"),
        (Ending::Lost, None, true, "Command failed with exit code 255"),
        (Ending::Exited(0), TIMED_OUT, true, "Command timed out after 1 second"),
        (Ending::Signaled(Signal::KILL), long, true, "Command timed out after 300 seconds"),
        (Ending::Exited(0), cancelled, true, "Command stopped before its end"),
    ] {
        let reply = reply(&view(ending, stopped, "", ""));
        assert_eq!((&reply["isError"], &reply["content"][0]["text"]), (&json!(is_error), &json!(text)));
        assert_eq!(reply["content"][1]["text"], "(no output)");
    }
}

#[test]
fn the_second_text_is_the_output() {
    for (stdout, stderr, text) in [
        ("out\n", "", "out\n"),
        ("", "err\n", "stderr:\nerr\n"),
        ("out", "err", "stdout:\nout\nstderr:\nerr"),
    ] {
        assert_eq!(reply(&view(Ending::Exited(0), None, stdout, stderr))["content"][1]["text"], text);
    }
}

#[test]
fn what_cannot_be_started_has_failed_as_in_a_shell_and_other_refusals_have_not() {
    let missing = Refusal::NotFound { program: "gti".into(), near: vec!["git".into()] };
    let directory = Refusal::CwdMissing("/nowhere".into());
    for (refusal, code, texts) in [
        (
            missing,
            json!(127),
            ["Command failed with exit code 127", "command not found: gti (close matches on PATH: git)"]
                .as_slice(),
        ),
        (directory, Value::Null, &["working_directory does not exist: /nowhere"]),
    ] {
        let reply = result((TOOL.run().refuse)(&Refused { command: "gti", refusal: &refusal }));
        let said: Vec<_> = reply["content"].as_array().unwrap().iter().map(|it| it["text"].clone()).collect();
        assert_eq!(
            (said.as_slice(), &reply["isError"]),
            (json!(texts).as_array().unwrap().as_slice(), &json!(true))
        );
        let fields = &reply["structuredContent"];
        assert_eq!((&fields["exit_code"], &fields["reason"]), (&code, said.last().unwrap()));
    }
}

#[test]
fn what_the_kernel_said_is_the_reason() {
    let mut waited = view(Ending::Signaled(Signal::TERM), TIMED_OUT, "", "");
    waited.outcome.waiting_for_input = true;
    let mut starved = view(Ending::Signaled(Signal::KILL), None, "", "");
    starved.outcome.limit_hit = Some(LimitHit::Memory);
    let killed = view(Ending::Signaled(Signal::KILL), None, "", "");
    let unknown = view(Ending::Exited(127), None, "", "bash: line 1: mke: command not found\n");
    for (view, words) in [
        (waited, "it was waiting for input"),
        (starved, "The limit on memory was hit"),
        (killed, "it was ended by SIGKILL, which Runward did not send"),
        (unknown, "command not found: mke (close matches on PATH: make)"),
    ] {
        let reply = reply(&view);
        let reason = reply["structuredContent"]["reason"].as_str().expect("a reason");
        assert!(reason.starts_with(words), "{reason}");
        assert_eq!(reply["content"][2]["text"], reason);
    }
}

#[test]
fn output_beyond_the_budget_is_cut_in_both_forms_and_counted() {
    let mut flood = view(Ending::Exited(0), None, &"0123456789abcde\n".repeat(1 << 16), "small\n");
    Arc::make_mut(&mut flood.receipt).output = Some(OutputId("o1".into()));
    let reply = reply(&flood);
    let structured = &reply["structuredContent"];
    let stdout = structured["stdout"].as_str().expect("text");
    assert!(stdout.len() <= USUAL_LIMITS.reply_size + 64, "{}", stdout.len());
    assert_eq!(structured["stderr"], "small\n");
    let truncated = structured["stdout_truncated_bytes"].as_u64().expect("a number");
    assert!(stdout.contains(&format!("\n... {truncated} bytes missing ...\n")));
    assert_eq!((&structured["stderr_truncated_bytes"], &structured["output_id"]), (&json!(0), &json!("o1")));
    let note = structured["note"].as_str().expect("a note");
    assert_eq!(note, "the whole output can be read with read_output and output_id o1");
}

#[test]
fn binary_output_is_named_and_counted() {
    let mut binary = view(Ending::Exited(0), None, "", "");
    binary.stdout.head = vec![0x7F, b'E', b'L', b'F', 0, 0xFF];
    let structured = &reply(&binary)["structuredContent"];
    assert_eq!(
        (&structured["stdout"], &structured["stdout_binary"]),
        (&json!("[binary output: 6 bytes]"), &json!(true))
    );
    assert_eq!((&structured["stdout_bytes"], &structured["stderr_binary"]), (&json!(6), &Value::Null));
}

#[test]
fn every_field_is_in_the_output_schema() {
    let Some(Value::Object(known)) = schema::output().remove("properties") else { panic!("no properties") };
    let refusal = Refusal::ShuttingDown;
    let refused = (TOOL.run().refuse)(&Refused { command: "ls", refusal: &refusal });
    let mut noisy = view(Ending::Signaled(Signal::KILL), None, "\0", "\0");
    noisy.stdout.missing = 5;
    noisy.outcome.output_cut = true;
    for reply in [reply(&noisy), reply(&view(Ending::Exited(0), TIMED_OUT, "", "")), result(refused)] {
        let Value::Object(fields) = &reply["structuredContent"] else { panic!("{reply}") };
        assert!(fields.contains_key("command") && fields.contains_key("policy"), "{reply}");
        for name in fields.keys() {
            assert!(known.contains_key(name), "{name}");
        }
    }
}
