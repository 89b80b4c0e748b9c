use std::path::PathBuf;
use std::sync::Arc;

use rmcp::model::CallToolResult;
use runward_model::{
    Argv, Caller, Captured, Door, Ending, Outcome, Principal, Signal, Stdio, StopReason, Verdict, Work,
};
use serde_json::{Value, json};

use super::*;

const LIMITS: Limits = USUAL_LIMITS;

fn decode(name: &'static str, arguments: Value) -> Result<Request, String> {
    let tool = TOOLS.iter().find(|tool| tool.name == name).expect("is in the table");
    let caller = Caller::new(Door::named(name), Principal::local());
    tool.run().decoder.read(&LIMITS, &caller, arguments).map_err(|wrong| wrong.to_string())
}

fn ended(ending: Ending, stopped: Option<StopReason>) -> View {
    let outcome = Outcome { stopped, ..Outcome::of(ending) };
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
    let schema = Value::Object(TOOLS[0].act.shape().within(&limits).input_schema());
    assert_eq!(schema["properties"]["timeout_ms"]["default"], json!(5000));
    assert_eq!(schema["properties"]["timeout_ms"]["maximum"], json!(5000));
}

/// A value that a schema takes, the least that it takes.
fn least(schema: &Value) -> Value {
    match schema["type"].as_str().expect("has a type") {
        "string" if schema["enum"].is_array() => schema["enum"][0].clone(),
        "string" => json!("x"),
        "integer" => schema.get("minimum").cloned().unwrap_or(json!(0)),
        "boolean" => json!(true),
        "array" => json!(["x"]),
        _ => match &schema["properties"] {
            Value::Object(fields) => {
                fields.iter().map(|(name, field)| (name.clone(), least(field))).collect()
            }
            _ => json!({ "x": "y" }),
        },
    }
}

#[test]
fn what_fits_the_schema_of_a_tool_can_be_read() {
    let caller = Caller::new(Door::named("test"), Principal::local());
    for tool in TOOLS {
        let shape = tool.act.shape().within(&LIMITS);
        let properties = shape.input_schema().remove("properties").expect("has properties");
        for (name, property) in properties.as_object().expect("are an object") {
            let required = shape.input_schema()["required"].clone();
            let mut arguments: JsonObject = required
                .as_array()
                .expect("a list")
                .iter()
                .map(|name| name.as_str().expect("a name"))
                .map(|name| (name.to_owned(), least(&properties[name])))
                .collect();
            let value = match name.as_str() {
                "only_if" => json!({ "output_id": "a", "exit_code": -1 }),
                "ready" => json!({ "port": 1 }),
                "publish" => json!([8080]),
                "resize" => json!({ "rows": 1, "cols": 65535 }),
                _ => least(property),
            };
            arguments.insert(name.clone(), value);
            let checked = shape.check(arguments).unwrap_or_else(|wrong| panic!("{}: {wrong}", tool.name));
            let read = tool.act.read(checked, &caller, &LIMITS);
            let text = read.err().map(|wrong| wrong.to_string()).unwrap_or_default();
            assert!(!text.contains("do not fit"), "{} {name}: {text}", tool.name);
        }
    }
}

/// Every file of the sources below a directory, with what is in it.
fn sources(directory: &std::path::Path) -> Vec<(PathBuf, String)> {
    let entries = std::fs::read_dir(directory).expect("can be listed").flatten().map(|entry| entry.path());
    entries
        .flat_map(|path| {
            if path.is_dir() {
                return sources(&path);
            }
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            vec![(path, text)]
        })
        .collect()
}

#[test]
fn a_tool_is_its_file_and_a_line_in_the_table() {
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files = sources(&source);
    assert!(files.len() > 60, "{} files", files.len());
    for tool in TOOLS {
        let defines = format!("name: {:?},", tool.name);
        let own: Vec<_> =
            files.iter().filter(|(_, text)| text.contains(&defines)).map(|(path, _)| path).collect();
        assert_eq!(own.len(), 1, "{} is defined in {own:?}", tool.name);
        // Another tool may speak of it; nothing else may know it by name or by its module.
        let quoted = format!("{:?}", tool.name);
        let module = format!("{}::", own[0].file_stem().expect("a name").to_string_lossy());
        let knows: Vec<_> = files
            .iter()
            .filter(|(path, _)| path.extension().is_some_and(|end| end == "rs"))
            .filter(|(path, text)| {
                let code = text.split("#[cfg(test)]").next().unwrap_or_default();
                !path.ends_with("tests.rs")
                    && (code.contains(&quoted) || code.contains(&format!(" {module}TOOL")))
            })
            .map(|(path, _)| path)
            .filter(|path| !path.starts_with(source.join("tools")))
            .collect();
        assert!(knows.is_empty(), "{} is known in {knows:?}", tool.name);
    }
}
