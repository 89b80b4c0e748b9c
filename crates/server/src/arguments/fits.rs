//! Whether arguments are what their schema says, and what is said of them where they are not.

use rmcp::model::JsonObject;
use serde::de::DeserializeOwned;
use serde_json::{Number, Value};

use super::{BadArgument, Shape};

/// Arguments that fit their schema, defaults of settings filled in.
#[derive(Clone, Debug)]
pub(crate) struct CheckedArguments(JsonObject);

impl CheckedArguments {
    /// A value of the type that the schema is of.
    pub(crate) fn read<A: DeserializeOwned>(self) -> Result<A, BadArgument> {
        // What fits the schema can be read; that the two agree is for every tool a test.
        serde_json::from_value(Value::Object(self.0))
            .map_err(|error| BadArgument::Contradiction(format!("the arguments do not fit: {error}")))
    }
}

impl Shape {
    /// Checks arguments, in the order in which they are declared.
    pub(crate) fn check(&self, mut arguments: JsonObject) -> Result<CheckedArguments, BadArgument> {
        if let Some(unknown) = arguments.keys().find(|name| !self.properties.contains_key(*name)) {
            let (name, known) = (unknown.clone(), self.names.clone());
            return Err(BadArgument::Unknown { name, taker: self.taker, known });
        }
        for name in &self.names {
            let Some(schema) = self.properties.get(name) else { continue };
            match arguments.get_mut(name) {
                Some(value) => {
                    make_whole(value);
                    if !fits(schema, value) {
                        let (wanted, got) = (wanted(schema), shown(value));
                        return Err(BadArgument::Value { name: name.clone(), wanted, got });
                    }
                }
                None if self.required.contains(name) => {
                    let description = schema["description"].as_str().unwrap_or_default().to_owned();
                    return Err(BadArgument::Missing { name: name.clone(), description });
                }
                None => {
                    let default = self.defaults.get(name).cloned();
                    arguments.extend(default.map(|default| (name.clone(), default)));
                }
            }
        }
        Ok(CheckedArguments(arguments))
    }
}

/// Whether a value is what a schema of ours says.
fn fits(schema: &Value, value: &Value) -> bool {
    let bound = |key: &str| schema[key].as_number().and_then(Number::as_i128);
    match (schema["type"].as_str().unwrap_or_default(), value) {
        ("string", Value::String(text)) => {
            let is_long_enough = bound("minLength").is_none_or(|least| text.len() as i128 >= least);
            is_long_enough && schema["enum"].as_array().is_none_or(|words| words.contains(value))
        }
        ("integer", Value::Number(number)) => number.as_i128().is_some_and(|number| {
            bound("minimum").is_none_or(|least| number >= least)
                && bound("maximum").is_none_or(|most| number <= most)
        }),
        ("array", Value::Array(items)) => items.iter().all(|item| fits(&schema["items"], item)),
        ("object", Value::Object(fields)) => match &schema["properties"] {
            Value::Object(known) => {
                let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
                required.into_iter().all(|name| fields.contains_key(name))
                    && fields
                        .iter()
                        .all(|(name, field)| known.get(name).is_some_and(|known| fits(known, field)))
            }
            _ => fields.values().all(|field| fits(&schema["additionalProperties"], field)),
        },
        ("boolean", Value::Bool(_)) => true,
        _ => false,
    }
}

/// What an argument takes, in words; a type that takes an object has them as its title.
fn wanted(schema: &Value) -> String {
    if let Some(title) = schema["title"].as_str() {
        return title.to_owned();
    }
    if let Some(words) = schema["enum"].as_array() {
        let words: Vec<_> = words.iter().filter_map(Value::as_str).collect();
        return format!("one of {}", words.join(", "));
    }
    let (least, most) = (&schema["minimum"], &schema["maximum"]);
    match schema["type"].as_str().unwrap_or_default() {
        "string" if schema["minLength"].is_number() => "a string that is not empty".to_owned(),
        "string" => "a string".to_owned(),
        "array" => "an array of strings".to_owned(),
        "object" => "an object whose values are strings".to_owned(),
        "boolean" => "true or false".to_owned(),
        _ if most.is_number() => format!("an integer from {least} to {most}"),
        _ => format!("an integer of at least {least}"),
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

/// JSON Schema counts 1000.0 as an integer.
fn make_whole(value: &mut Value) {
    /// Above this, neighbouring doubles are further than 1 apart.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let Value::Number(number) = value else { return };
    let float = number
        .as_f64()
        .filter(|float| number.is_f64() && float.fract() == 0.0 && (0.0..=EXACT).contains(float));
    if let Some(float) = float {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and in range")]
        let whole = float as u64;
        *value = whole.into();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

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
}
