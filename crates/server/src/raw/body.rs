//! From the body of a request to what the engine is asked.

use std::sync::LazyLock;
use std::time::Duration;

use runward_engine::OnDisconnect;
use runward_model::stream::{Call, Stdin};
use runward_model::{Argv, Caller, Request, Size, Stdio, Work};
use serde_json::Value;

use super::RawSettings;
use crate::arguments::{BadArgument, CheckedArguments, Shape};
use crate::json;

/// What a terminal's size has to be.
const SIZE: &str = "tty must be an object with rows and cols, integers from 1 to 65535";

static CALL: LazyLock<Shape> = LazyLock::new(|| Shape::of::<Call>("a request"));

static TERMINAL: LazyLock<Shape> = LazyLock::new(|| Shape::of::<Size>("a terminal"));

/// What is asked, and what becomes of it without its client.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) request: Request,
    pub(super) on_disconnect: OnDisconnect,
}

/// Reads a body. The error is one sentence that says what is wrong with it.
pub(super) fn decode(body: &[u8], caller: Caller, settings: &RawSettings) -> Result<Asked, String> {
    if let Some(fault) = json::fault(body) {
        return Err(format!("in the body {fault}"));
    }
    let fields = match serde_json::from_slice(body) {
        Ok(Value::Object(fields)) => fields,
        Ok(_) => return Err("the body must be a JSON object, such as {\"executable\":\"ls\"}".into()),
        Err(error) => return Err(format!("the body is not JSON: {error}")),
    };
    let call: Call = CALL.check(fields).and_then(CheckedArguments::read).map_err(|wrong| match wrong {
        BadArgument::Value { name, .. } if name == "tty" => SIZE.to_owned(),
        wrong => wrong.to_string(),
    })?;
    let on_disconnect = on_disconnect(&call)?;
    Ok(Asked { request: request(call, caller, settings), on_disconnect })
}

fn request(call: Call, caller: Caller, settings: &RawSettings) -> Request {
    let stdio = match (call.tty, call.stdin) {
        (Some(size), _) => Stdio::Terminal(size),
        (None, Stdin::Stream) => Stdio::Open,
        (None, Stdin::None) => Stdio::Pipes,
    };
    let own = Some(call.timeout_ms).filter(|milliseconds| *milliseconds > 0).map(Duration::from_millis);
    let work = Work::Argv(Argv { file: call.executable, args: call.args });
    Request {
        env: call.env.into_iter().collect(),
        stdio,
        timeout: own.or(settings.timeout),
        workspace: call.workspace.filter(|name| !name.is_empty()),
        ..Request::new(caller, work).in_directory(call.cwd.map(Into::into))
    }
}

fn on_disconnect(call: &Call) -> Result<OnDisconnect, String> {
    match (call.detach, call.resume_ms) {
        (false, 0) => Ok(OnDisconnect::Stop),
        (false, milliseconds) => Ok(OnDisconnect::Resume(Duration::from_millis(milliseconds))),
        (true, 0) => Ok(OnDisconnect::Detach),
        (true, _) => {
            Err("detach and resume_ms exclude each other; a detached command is never ended for it".into())
        }
    }
}

/// The size of a terminal: exactly two numbers, neither of them zero.
pub(super) fn size(value: &Value) -> Result<Size, String> {
    let fields = value.as_object().cloned().unwrap_or_default();
    TERMINAL.check(fields).and_then(CheckedArguments::read).map_err(|_| SIZE.to_owned())
}

#[cfg(test)]
mod tests {
    use runward_model::Principal;
    use serde_json::json;

    use super::*;

    fn decoded(body: &Value) -> Result<Asked, String> {
        let caller = Caller::new(super::super::DOOR, Principal::local());
        decode(body.to_string().as_bytes(), caller, &RawSettings { timeout: None })
    }

    #[test]
    fn a_program_alone_is_enough() {
        let asked = decoded(&json!({"executable": "ls"})).unwrap();
        assert_eq!(asked.on_disconnect, OnDisconnect::Stop);
        let Request { work, cwd, env, stdio, timeout, .. } = asked.request;
        assert_eq!(work, Work::Argv(Argv { file: "ls".into(), args: Vec::new() }));
        assert_eq!((cwd, env, stdio, timeout), (None, Vec::new(), Stdio::Pipes, None));
    }

    #[test]
    fn everything_that_can_be_asked_for_is_understood() {
        let body = json!({"executable": "ls", "args": ["-l", ""], "cwd": "/tmp", "env": {"A": "b"},
            "stdin": "stream", "timeout_ms": 700, "resume_ms": 9000});
        let Asked { request, on_disconnect } = decoded(&body).unwrap();
        assert_eq!(on_disconnect, OnDisconnect::Resume(Duration::from_secs(9)));
        assert_eq!(request.work.to_string(), "ls -l ''");
        assert_eq!((request.cwd, request.stdio), (Some("/tmp".into()), Stdio::Open));
        assert_eq!(request.env, [("A".to_owned(), "b".to_owned())]);
        assert_eq!(request.timeout, Some(Duration::from_millis(700)));
        let on_terminal =
            decoded(&json!({"executable": "vi", "tty": {"rows": 3, "cols": 4}, "detach": true}));
        let Asked { request, on_disconnect } = on_terminal.unwrap();
        assert_eq!(
            (request.stdio, on_disconnect),
            (Stdio::Terminal(Size { rows: 3, cols: 4 }), OnDisconnect::Detach)
        );
    }

    #[test]
    fn what_is_wrong_is_said_by_name() {
        let tty = "tty must be an object with rows and cols, integers from 1 to 65535";
        let cases = [
            (json!([]), "the body must be a JSON object, such as {\"executable\":\"ls\"}"),
            (json!({}), "executable is required: a program, by its name on PATH or by its path"),
            (json!({"executable": 1}), "executable must be a string that is not empty, got 1"),
            (json!({"executable": "ls", "args": "-l"}), "args must be an array of strings, got \"-l\""),
            (json!({"executable": "ls", "tty": true}), tty),
            (json!({"executable": "ls", "tty": {"rows": 0, "cols": 1}}), tty),
            (
                json!({"executable": "ls", "detach": true, "resume_ms": 1}),
                "detach and resume_ms exclude each other; a detached command is never ended for it",
            ),
        ];
        for (body, sentence) in cases {
            assert_eq!(decoded(&body).unwrap_err(), sentence);
        }
        let unknown = decoded(&json!({"command": "ls"})).unwrap_err();
        assert!(
            unknown.starts_with("unknown argument \"command\"; a request takes executable, args"),
            "{unknown}"
        );
        assert!(
            decoded(&json!({"executable": "ls", "stdin": "x"}))
                .unwrap_err()
                .starts_with("stdin must be one of")
        );
    }
}
