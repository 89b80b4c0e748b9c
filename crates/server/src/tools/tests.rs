use std::path::PathBuf;
use std::sync::Arc;

use rmcp::model::CallToolResult;
use runward_model::{
    Argv, Captured, Door, Ending, Outcome, Principal, Signal, Stdio, StopReason, Tree, Usage, Verdict, Work,
};
use serde_json::{Value, json};

use super::*;
use crate::params;

const LIMITS: Limits = USUAL_LIMITS;

fn decode(name: &'static str, arguments: Value) -> Result<Request, String> {
    let tool = TOOLS.iter().find(|tool| tool.name == name).expect("is in the table");
    let Value::Object(arguments) = arguments else { panic!("not an object") };
    let caller = Caller { door: Door(name), principal: Principal::local(), client: None };
    params::check(&(tool.params)(&LIMITS), arguments).map(|given| (tool.run().decode)(given, caller))
}

fn ended(ending: Ending, stopped: Option<StopReason>) -> View {
    let outcome = Outcome {
        ending,
        stopped,
        wall: Duration::ZERO,
        usage: Usage::default(),
        tree: Tree::default(),
        limit_hit: None,
        waiting_for_input: false,
        output_cut: false,
        denied: None,
    };
    View {
        receipt: Arc::default(),
        outcome,
        stdout: Captured::default(),
        stderr: Captured::default(),
        output_note: None,
    }
}

fn encode(tool: &Tool, view: &View) -> Reply {
    (tool.run().encode)(&Seen { view, limits: &LIMITS, near: &|_| Vec::new(), beginning: &|_, _| Vec::new() })
}

#[test]
fn a_command_line_goes_on_as_it_is() {
    let request = decode("execute_command", json!({"command": " ls  | wc "})).expect("is right");
    assert_eq!(request.work, Work::Line(" ls  | wc ".into()));
    assert_eq!(
        (request.cwd, request.stdio, request.timeout),
        (None, Stdio::Pipes, Some(LIMITS.default_timeout))
    );
}

#[test]
fn a_program_keeps_its_arguments_apart() {
    let arguments = json!({"file": "printf", "args": ["%s", "a b", ""], "cwd": "/tmp", "input": "x\n", "timeout_ms": 700});
    let request = decode("execute_process", arguments).expect("is right");
    let argv = Argv { file: "printf".into(), args: vec!["%s".into(), "a b".into(), String::new()] };
    assert_eq!(request.work, Work::Argv(argv));
    assert_eq!(request.cwd, Some(PathBuf::from("/tmp")));
    assert_eq!(request.stdio, Stdio::Given(b"x\n".to_vec()));
    assert_eq!(request.timeout, Some(Duration::from_millis(700)));
}

#[test]
fn an_empty_directory_is_an_absent_one_and_an_empty_input_is_an_input() {
    let request =
        decode("execute_command", json!({"command": "ls", "cwd": "", "input": ""})).expect("is right");
    assert_eq!((request.cwd, request.stdio), (None, Stdio::Given(Vec::new())));
}

#[test]
fn each_tool_refuses_what_it_does_not_take() {
    let command = decode("execute_command", json!({"command": "ls", "args": []})).expect_err("takes none");
    assert_eq!(
        command,
        "unknown argument \"args\"; this tool takes command, cwd, input, timeout_ms, input_from, only_if, request_key, abort_on_failure"
    );
    let process = decode("execute_process", json!({})).expect_err("needs a file");
    assert!(process.starts_with("file is required: The program"), "{process}");
}

#[test]
fn only_a_command_that_was_stopped_or_lost_has_failed() {
    let failed = |ending, stopped| encode(&TOOLS[0], &ended(ending, stopped)).is_error();
    for ending in [Ending::Exited(0), Ending::Exited(7), Ending::Signaled(Signal::KILL)] {
        assert!(!failed(ending, None), "{ending:?}");
    }
    for reason in
        [StopReason::TimedOut(Duration::from_secs(1)), StopReason::Cancelled, StopReason::ShuttingDown]
    {
        assert!(failed(Ending::Signaled(Signal::TERM), Some(reason)), "{reason:?}");
    }
    assert!(failed(Ending::Lost, None));
}

#[test]
fn results_and_refusals_carry_a_receipt_beside_their_one_text() {
    let refusal = Refusal::Denied(Verdict { reason: "no".into(), ..Verdict::default() });
    let refused = (TOOLS[0].run().refuse)(&Refused { command: "rm", refusal: &refusal });
    for reply in [encode(&TOOLS[0], &ended(Ending::Exited(0), None)), refused] {
        let result = serde_json::to_value(CallToolResult::from(reply)).expect("JSON");
        assert_eq!(result["content"].as_array().map(Vec::len), Some(1), "{result}");
        assert_eq!(result["_meta"]["runward/policy"]["decision"], "deny", "{result}");
        assert!(result.get("structuredContent").is_none(), "{result}");
    }
}

#[test]
fn a_default_above_the_longest_time_is_cut_to_it() {
    let limits =
        Limits { default_timeout: Duration::from_mins(1), max_timeout: Duration::from_secs(5), ..LIMITS };
    let params = (TOOLS[0].params)(&limits);
    let schema = Value::Object(params::input_schema(&params));
    assert_eq!(schema["properties"]["timeout_ms"]["default"], json!(5000));
    assert_eq!(schema["properties"]["timeout_ms"]["maximum"], json!(5000));
}
