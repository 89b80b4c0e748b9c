//! From the body of a request to what the engine is asked.

use std::path::PathBuf;
use std::time::Duration;

use runward_model::{Argv, Caller, Request, Size, Stdio, Wish, Work, Workflow};
use serde_json::{Map, Value};

use super::RawSettings;
use crate::params::{self, Given, Kind, Need, Param};

/// The longest time that a caller may ask for: a day.
const LONGEST_MS: u64 = 86_400_000;

/// The longest time that a command waits for a client that was lost: an hour.
const LONGEST_RESUME_MS: u64 = 3_600_000;

/// What is asked, and what becomes of it without its client.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) request: Request,
    pub(super) leash: Leash,
}

/// What becomes of a command whose client goes away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leash {
    /// It is ended.
    Held,
    /// It is ended, unless the client comes back in time.
    Resumable(Duration),
    /// It goes on.
    Detached,
}

const PARAMS: [Param; 8] = [
    param("executable", Kind::Word, Need::Required, "a program, by its name on PATH or by its path"),
    param("args", Kind::TextList, Need::Optional, "its arguments"),
    param("cwd", Kind::Text, Need::Optional, "the directory to run in"),
    param("env", Kind::TextMap, Need::Optional, "variables"),
    param("stdin", Kind::Choice(&["none", "stream"]), Need::Optional, "its input"),
    param(
        "timeout_ms",
        Kind::Integer { min: 0, max: LONGEST_MS, default: 0 },
        Need::Optional,
        "when to stop it; 0 is when the settings say",
    ),
    param("detach", Kind::Switch, Need::Optional, "whether it goes on without its client"),
    param(
        "resume_ms",
        Kind::Integer { min: 0, max: LONGEST_RESUME_MS, default: 0 },
        Need::Optional,
        "for how long it waits for a client whose connection was lost",
    ),
];

const fn param(name: &'static str, kind: Kind, need: Need, description: &'static str) -> Param {
    Param { name, kind, need, description }
}

/// Reads a body. The error is one sentence that says what is wrong with it.
pub(super) fn decode(body: &[u8], caller: Caller, settings: &RawSettings) -> Result<Asked, String> {
    let mut fields: Map<String, Value> = match serde_json::from_slice(body) {
        Ok(Value::Object(fields)) => fields,
        Ok(_) => return Err("the body must be a JSON object, such as {\"executable\":\"ls\"}".into()),
        Err(error) => return Err(format!("the body is not JSON: {error}")),
    };
    let tty = fields.remove("tty").map(|tty| size(&tty)).transpose()?;
    let given =
        params::check(&PARAMS, fields).map_err(|sentence| sentence.replace("this tool", "a request"))?;
    let leash = leash(&given)?;
    Ok(Asked { request: request(given, tty, caller, settings), leash })
}

fn request(mut given: Given, tty: Option<Size>, caller: Caller, settings: &RawSettings) -> Request {
    let is_streamed = given.text("stdin").is_some_and(|stdin| stdin == "stream");
    let stdio = match tty {
        Some(size) => Stdio::Terminal(size),
        None if is_streamed => Stdio::Open,
        None => Stdio::Pipes,
    };
    let timeout = match given.integer("timeout_ms") {
        0 => settings.timeout,
        milliseconds => Some(Duration::from_millis(milliseconds)),
    };
    Request {
        caller,
        work: Work::Argv(Argv { file: given.word("executable"), args: given.texts("args") }),
        cwd: given.text("cwd").filter(|cwd| !cwd.is_empty()).map(PathBuf::from),
        env: given.map("env"),
        presets: &[],
        stdio,
        timeout,
        workflow: Workflow::default(),
        wish: Wish::default(),
    }
}

fn leash(given: &Given) -> Result<Leash, String> {
    match (given.switch("detach"), given.integer("resume_ms")) {
        (false, 0) => Ok(Leash::Held),
        (false, milliseconds) => Ok(Leash::Resumable(Duration::from_millis(milliseconds))),
        (true, 0) => Ok(Leash::Detached),
        (true, _) => {
            Err("detach and resume_ms exclude each other; a detached command is never ended for it".into())
        }
    }
}

/// The size of a terminal: exactly two numbers.
pub(super) fn size(value: &Value) -> Result<Size, String> {
    let number = |fields: &Map<String, Value>, name: &str| {
        let number = fields.get(name)?.as_u64().filter(|number| *number > 0)?;
        u16::try_from(number).ok()
    };
    let size = value
        .as_object()
        .filter(|fields| fields.len() == 2)
        .and_then(|fields| Some(Size { rows: number(fields, "rows")?, cols: number(fields, "cols")? }));
    size.ok_or_else(|| "tty must be an object with rows and cols, integers from 1 to 65535".into())
}

#[cfg(test)]
mod tests {
    use runward_model::Principal;
    use serde_json::json;

    use super::*;

    fn decoded(body: &Value) -> Result<Asked, String> {
        let caller = Caller { door: super::super::DOOR, principal: Principal::local(), client: None };
        decode(body.to_string().as_bytes(), caller, &RawSettings { timeout: None })
    }

    #[test]
    fn a_program_alone_is_enough() {
        let asked = decoded(&json!({"executable": "ls"})).unwrap();
        assert_eq!(asked.leash, Leash::Held);
        let Request { work, cwd, env, stdio, timeout, .. } = asked.request;
        assert_eq!(work, Work::Argv(Argv { file: "ls".into(), args: Vec::new() }));
        assert_eq!((cwd, env, stdio, timeout), (None, Vec::new(), Stdio::Pipes, None));
    }

    #[test]
    fn everything_that_can_be_asked_for_is_understood() {
        let body = json!({"executable": "ls", "args": ["-l", ""], "cwd": "/tmp", "env": {"A": "b"},
            "stdin": "stream", "timeout_ms": 700, "resume_ms": 9000});
        let Asked { request, leash } = decoded(&body).unwrap();
        assert_eq!(leash, Leash::Resumable(Duration::from_secs(9)));
        assert_eq!(request.work.to_string(), "ls -l ''");
        assert_eq!((request.cwd, request.stdio), (Some("/tmp".into()), Stdio::Open));
        assert_eq!(request.env, [("A".to_owned(), "b".to_owned())]);
        assert_eq!(request.timeout, Some(Duration::from_millis(700)));
        let on_terminal =
            decoded(&json!({"executable": "vi", "tty": {"rows": 3, "cols": 4}, "detach": true}));
        let Asked { request, leash } = on_terminal.unwrap();
        assert_eq!((request.stdio, leash), (Stdio::Terminal(Size { rows: 3, cols: 4 }), Leash::Detached));
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
