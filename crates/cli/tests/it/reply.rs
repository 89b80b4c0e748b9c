//! What came of a call, however it came.

use serde_json::Value;

/// What came of a call.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) is_error: bool,
    /// Absent when nothing ran.
    pub(crate) exit_code: Option<i64>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) signal: Option<String>,
    /// Why it was refused or stopped.
    pub(crate) error: Option<String>,
    /// How much of standard output is missing.
    pub(crate) missing: u64,
    /// The outputs that were not UTF-8.
    pub(crate) invalid_utf8: Vec<String>,
    /// What became of the processes that it left behind.
    pub(crate) background: Option<String>,
}

impl Reply {
    /// Reads the answer to a call of a tool.
    #[track_caller]
    pub(crate) fn read(answer: &Value) -> Self {
        let result = answer.get("result").unwrap_or_else(|| panic!("not a result: {answer}"));
        let contents = result["content"].as_array().unwrap();
        assert_eq!((contents.len(), &contents[0]["type"]), (1, &"text".into()), "{answer}");
        let text = contents[0]["text"].as_str().unwrap();
        let is_error = result["isError"] == true;
        if is_error && !text.starts_with("exit_code: ") {
            return Reply { is_error, error: Some(text.to_owned()), ..Reply::default() };
        }
        let reply = Reply { is_error, ..Reply::from_yaml(text) };
        let gap = format!("... {} bytes missing ...\n", reply.missing);
        assert_eq!(reply.missing > 0, reply.stdout.contains(&gap), "the middle says how much is missing");
        reply
    }

    fn from_yaml(text: &str) -> Self {
        let mapping: Value = serde_saphyr::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}"));
        let text_of = |key: &str| mapping.get(key).map(|value| value.as_str().unwrap().to_owned());
        let streams = mapping.get("invalid_utf8").and_then(Value::as_array);
        let names = streams.into_iter().flatten().map(|name| name.as_str().unwrap().to_owned());
        Reply {
            is_error: false,
            exit_code: Some(mapping["exit_code"].as_i64().unwrap()),
            stdout: text_of("stdout").unwrap(),
            stderr: text_of("stderr").unwrap(),
            signal: text_of("signal"),
            error: text_of("error"),
            missing: mapping.get("stdout_missing_bytes").map_or(0, |bytes| bytes.as_u64().unwrap()),
            invalid_utf8: names.collect(),
            background: text_of("background"),
        }
    }

    /// Asserts that nothing ran, and gives the reason.
    #[track_caller]
    pub(crate) fn refusal(&self) -> &str {
        assert!(self.is_error && self.exit_code.is_none(), "{self:?}");
        self.error.as_deref().unwrap()
    }
}
