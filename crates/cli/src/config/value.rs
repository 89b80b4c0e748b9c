//! What a setting can hold.

use toml::de::DeValue;

/// What a setting can hold, before its meaning is checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// Text; durations and sizes too.
    Text(String),
    /// A whole number.
    Number(i64),
    /// True or false.
    Switch(bool),
    /// A list of texts.
    List(Vec<String>),
}

impl Value {
    /// Reads a value from a file, which must be of the same kind as the default.
    pub(crate) fn from_toml(value: &DeValue<'_>, default: Option<&Value>) -> Result<Self, String> {
        let read = Self::of_any_kind(value);
        match (read, default) {
            (Some(value), None) => Ok(value),
            (Some(value), Some(default)) if value.kind() == default.kind() => Ok(value),
            (_, default) => {
                let wanted =
                    default.map_or("text, a whole number, true or false, or a list of texts", Value::kind);
                Err(format!("expected {wanted}, found {}", found(value)))
            }
        }
    }

    /// The same for a duration that may be written as a number of seconds.
    pub(crate) fn from_toml_seconds(value: &DeValue<'_>, default: &Value) -> Result<Self, String> {
        match Self::of_any_kind(value) {
            Some(Value::Number(number)) => Ok(Value::Text(number.to_string())),
            _ => Self::from_toml(value, Some(default)),
        }
    }

    /// The same for a network, which may be written as lists of hosts: one text that holds all of them.
    pub(crate) fn from_toml_network(value: &DeValue<'_>, default: &Value) -> Result<Self, String> {
        let lists = match value {
            DeValue::Table(lists) => lists,
            DeValue::String(_) => return Self::from_toml(value, Some(default)),
            other => {
                return Err(format!(
                    "expected \"off\", \"on\" or {{ allow = [\"example.com\"] }}, found {}",
                    found(other)
                ));
            }
        };
        let mut text = String::new();
        for (name, hosts) in lists {
            let mark = match name.get_ref().as_ref() {
                "allow" => "",
                "ask" => "?",
                "deny" => "!",
                other => {
                    return Err(format!("there is no list {other:?} of hosts; there are allow, ask, deny"));
                }
            };
            let Some(Value::List(hosts)) = Self::of_any_kind(hosts.get_ref()) else {
                return Err(format!("expected a list of hosts, found {}", found(hosts.get_ref())));
            };
            text.extend(hosts.iter().map(|host| format!("{mark}{host},")));
        }
        // Even where it holds nothing, it is a list: nothing is allowed.
        Ok(Value::Text(if text.is_empty() { ",".to_owned() } else { text }))
    }

    /// Reads a value from a variable or a flag, as the same kind as the default.
    pub(crate) fn from_text(text: &str, default: &Value) -> Result<Self, String> {
        match default {
            Value::Text(_) => Ok(Value::Text(text.to_owned())),
            Value::List(_) => Ok(Value::List(split(text))),
            Value::Switch(_) => {
                let switch =
                    text.trim().parse().map_err(|_| format!("{text:?} is neither true nor false"))?;
                Ok(Value::Switch(switch))
            }
            Value::Number(_) => {
                let number = text.trim().parse().map_err(|_| format!("{text:?} is not a whole number"))?;
                Ok(Value::Number(number))
            }
        }
    }

    fn of_any_kind(value: &DeValue<'_>) -> Option<Self> {
        match value {
            DeValue::String(text) => Some(Value::Text(text.to_string())),
            DeValue::Integer(number) => {
                i64::from_str_radix(number.as_str(), number.radix()).ok().map(Value::Number)
            }
            DeValue::Boolean(switch) => Some(Value::Switch(*switch)),
            DeValue::Array(items) => {
                let texts = items.iter().map(|item| item.get_ref().as_str().map(str::to_owned));
                texts.collect::<Option<_>>().map(Value::List)
            }
            _ => None,
        }
    }

    const fn kind(&self) -> &'static str {
        match self {
            Value::Text(_) => "text in quotes",
            Value::Number(_) => "a whole number",
            Value::Switch(_) => "true or false",
            Value::List(_) => "a list of texts, such as [\"a\", \"b\"]",
        }
    }
}

fn split(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|entry| !entry.is_empty()).map(str::to_owned).collect()
}

fn found(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "text",
        DeValue::Integer(_) => "a number",
        DeValue::Float(_) => "a number with a fraction",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list of something else",
        DeValue::Table(_) => "a table",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_in_a_variable_is_split_at_commas_and_trimmed() {
        let list = Value::from_text(" ls, cat ,,/opt/a b ", &Value::List(vec![])).unwrap();
        assert_eq!(list, Value::List(vec!["ls".into(), "cat".into(), "/opt/a b".into()]));
    }

    #[test]
    fn a_number_in_a_variable_must_be_one() {
        assert_eq!(Value::from_text(" 7 ", &Value::Number(0)), Ok(Value::Number(7)));
        assert_eq!(Value::from_text("many", &Value::Number(0)), Err("\"many\" is not a whole number".into()));
    }

    #[test]
    fn a_switch_is_true_or_false() {
        assert_eq!(Value::from_text(" false ", &Value::Switch(true)), Ok(Value::Switch(false)));
        assert_eq!(
            Value::from_text("no", &Value::Switch(true)),
            Err("\"no\" is neither true nor false".into())
        );
    }

    #[test]
    fn a_list_in_a_file_holds_texts_only() {
        let mixed = DeValue::parse("[\"a\", 1]").unwrap();
        let message = Value::from_toml(mixed.get_ref(), Some(&Value::List(vec![]))).unwrap_err();
        assert_eq!(
            message,
            "expected a list of texts, such as [\"a\", \"b\"], found a list of something else"
        );
    }
}
