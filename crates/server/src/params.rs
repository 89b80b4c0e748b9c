//! One description of a tool's parameters, from which come both what is advertised and what is checked.

mod given;
mod schema;

pub(crate) use given::Given;
pub(crate) use schema::input_schema;

use rmcp::model::JsonObject;
use serde_json::Value;

/// One parameter of a tool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Param {
    /// What the caller calls it.
    pub(crate) name: &'static str,
    /// What it takes.
    pub(crate) kind: Kind,
    /// Whether a call without it is refused.
    pub(crate) need: Need,
    /// For a model: what it is for and what it does when left out.
    pub(crate) description: &'static str,
}

/// Whether a call must carry a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// It must.
    Required,
    /// It may.
    Optional,
}

/// What a parameter takes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// A string.
    Text,
    /// A string of at least one character.
    Word,
    /// A list of strings; empty when left out.
    TextList,
    /// Strings by name; empty when left out.
    TextMap,
    /// One of a few words, the first of which stands in for an absent one.
    Choice(&'static [&'static str]),
    /// One of a few words, or none of them.
    OneOf(&'static [&'static str]),
    /// Yes or no; no when left out.
    Switch,
    /// Yes or no; yes when left out.
    SwitchOn,
    /// How large a terminal is.
    Size,
    /// A whole number of which the tool makes the best, with a value for when it is left out.
    Whole {
        /// What stands in for an absent one.
        default: u64,
    },
    /// A run by its output, and an exit code.
    ExitOf,
    /// A whole number in a range, with a value for when it is left out.
    Integer {
        /// The smallest that is taken.
        min: u64,
        /// The largest that is taken.
        max: u64,
        /// What stands in for an absent one.
        default: u64,
    },
}

/// Checks a call's arguments. The error is one sentence that says which argument and what it takes.
pub(crate) fn check(params: &[Param], mut arguments: JsonObject) -> Result<Given, String> {
    if let Some(unknown) = arguments.keys().find(|key| params.iter().all(|param| param.name != *key)) {
        let names = params.iter().map(|param| param.name).collect::<Vec<_>>().join(", ");
        let names = if names.is_empty() { "no arguments" } else { &names };
        return Err(format!("unknown argument {unknown:?}; this tool takes {names}"));
    }
    let mut given = Given::default();
    for param in params {
        given.take(param, arguments.remove(param.name))?;
    }
    Ok(given)
}

impl Param {
    fn missing(&self) -> String {
        format!("{} is required: {}", self.name, self.description)
    }

    fn wrong(&self, got: &Value) -> String {
        format!("{} must be {}, got {}", self.name, self.kind.wanted(), shown(got))
    }
}

impl Kind {
    fn wanted(self) -> String {
        match self {
            Kind::Text => "a string".into(),
            Kind::Word => "a string that is not empty".into(),
            Kind::TextList => "an array of strings".into(),
            Kind::TextMap => "an object whose values are strings".into(),
            Kind::Choice(words) | Kind::OneOf(words) => format!("one of {}", words.join(", ")),
            Kind::Switch | Kind::SwitchOn => "true or false".into(),
            Kind::Size => "an object with rows and cols (integers from 1 to 65535)".into(),
            Kind::Whole { .. } => "an integer of at least 0".into(),
            Kind::ExitOf => "an object with output_id (a string) and exit_code (an integer)".into(),
            Kind::Integer { min, max, .. } => format!("an integer from {min} to {max}"),
        }
    }
}

/// A wrong value as an error shows it: whole when it is short, else what kind of thing it is.
fn shown(value: &Value) -> String {
    const LONGEST: usize = 40;
    let text = value.to_string();
    match value {
        _ if text.len() <= LONGEST => text,
        Value::String(_) => "a longer string".into(),
        Value::Array(items) => {
            items.iter().find(|item| !item.is_string()).map_or("a longer array".into(), |odd| match odd {
                Value::Array(_) | Value::Object(_) => "an array that holds something else".into(),
                odd => format!("an array that holds {odd}"),
            })
        }
        Value::Object(fields) => fields
            .iter()
            .find(|(_, field)| !field.is_string())
            .map_or("an object".into(), |(name, _)| format!("an object whose {name:?} is no string")),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const PARAMS: [Param; 5] = [
        Param { name: "command", kind: Kind::Word, need: Need::Required, description: "What to run." },
        Param { name: "args", kind: Kind::TextList, need: Need::Optional, description: "Arguments." },
        Param { name: "input", kind: Kind::Text, need: Need::Optional, description: "Input." },
        Param { name: "env", kind: Kind::TextMap, need: Need::Optional, description: "Variables." },
        Param {
            name: "timeout_ms",
            kind: Kind::Integer { min: 1, max: 600_000, default: 30_000 },
            need: Need::Optional,
            description: "When to stop.",
        },
    ];

    fn refusal(arguments: Value) -> String {
        let Value::Object(arguments) = arguments else { panic!("not an object") };
        check(&PARAMS, arguments).expect_err("should be refused")
    }

    #[test]
    fn a_tool_without_parameters_says_so() {
        let arguments = rmcp::object!({ "x": 1 });
        assert_eq!(
            check(&[], arguments).unwrap_err(),
            "unknown argument \"x\"; this tool takes no arguments"
        );
    }

    #[test]
    fn a_wrong_argument_is_refused_by_name_with_what_it_takes() {
        let integer = "timeout_ms must be an integer from 1 to 600000, got ";
        for (wrong, got) in [
            (json!(0), "0"),
            (json!(-1), "-1"),
            (json!(600_001), "600001"),
            (json!(1.5), "1.5"),
            (json!(1e300), "1e+300"),
            (json!("1000"), "\"1000\""),
            (json!(null), "null"),
            (json!(true), "true"),
            (json!([1]), "[1]"),
        ] {
            assert_eq!(refusal(json!({"command": "ls", "timeout_ms": wrong})), format!("{integer}{got}"));
        }
        let cases = [
            (json!({"command": 7}), "command must be a string that is not empty, got 7"),
            (json!({"command": ""}), "command must be a string that is not empty, got \"\""),
            (json!({"command": "ls", "input": null}), "input must be a string, got null"),
            (json!({"command": "ls", "args": "a b"}), "args must be an array of strings, got \"a b\""),
            (json!({"command": "ls", "args": ["a", 1]}), "args must be an array of strings, got [\"a\",1]"),
            (json!({"command": "ls", "env": []}), "env must be an object whose values are strings, got []"),
            (
                json!({"command": "ls", "env": {"A": "1", "B": 2}}),
                "env must be an object whose values are strings, got {\"A\":\"1\",\"B\":2}",
            ),
        ];
        for (arguments, text) in cases {
            assert_eq!(refusal(arguments), text);
        }
    }

    #[test]
    fn a_missing_argument_says_what_it_is_for() {
        assert_eq!(refusal(json!({})), "command is required: What to run.");
    }

    #[test]
    fn an_unknown_argument_is_refused_with_the_names_that_are_known() {
        assert_eq!(
            refusal(json!({"cmd": "ls"})),
            "unknown argument \"cmd\"; this tool takes command, args, input, env, timeout_ms"
        );
    }

    #[test]
    fn a_long_wrong_value_is_not_repeated() {
        let long = "x".repeat(1000);
        let cases = [
            (json!(long), "a longer string"),
            (json!([long, long, 5]), "an array that holds 5"),
            (json!([[long]]), "an array that holds something else"),
            (json!({"a": long}), "an object"),
            (json!({"a": long, "b": null}), "an object whose \"b\" is no string"),
        ];
        for (value, words) in cases {
            assert_eq!(shown(&value), words);
        }
    }

    #[test]
    fn defaults_are_filled_in_and_whole_floats_are_whole_numbers() {
        let Value::Object(arguments) = json!({"command": "ls"}) else { panic!("not an object") };
        let mut given = check(&PARAMS, arguments).expect("is right");
        assert_eq!((given.word("command").as_str(), given.integer("timeout_ms")), ("ls", 30_000));
        assert_eq!((given.text("input"), given.texts("args")), (None, vec![]));
        assert_eq!(given.map("env"), vec![]);

        let Value::Object(arguments) = json!({"command": "ls", "timeout_ms": 1000.0}) else { panic!() };
        assert_eq!(check(&PARAMS, arguments).expect("is right").integer("timeout_ms"), 1000);
    }
}
