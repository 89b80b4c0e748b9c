//! The JSON Schema of arguments, from their type.

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::tools::Limits;

/// The key that marks an argument which a setting bounds, while a schema is made.
const SETTING: &str = "setting";

/// Arguments as their type describes them.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    /// Who takes them, as errors say it.
    pub(super) taker: &'static str,
    /// Their names as they are declared.
    pub(super) names: Vec<String>,
    /// What each takes, by its name.
    pub(super) properties: JsonObject,
    /// Which have to be there.
    pub(super) required: Vec<String>,
    /// What stands in for those that a setting bounds.
    pub(super) defaults: JsonObject,
}

/// A setting of the operator's that bounds an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Setting {
    /// How long a command may run, in milliseconds.
    Timeout,
    /// How long a command of `shell` may run, in seconds.
    ShellTimeout,
    /// How much of an output a reply shows.
    ReplyTokens,
}

impl Shape {
    /// What a type describes.
    pub(crate) fn of<A: JsonSchema>(taker: &'static str) -> Self {
        let settings = SchemaSettings::draft2020_12().with(|settings| {
            settings.inline_subschemas = true;
            settings.meta_schema = None;
        });
        // Written out, nothing is optional: this has all names, and has them in their order.
        let mut written = settings.clone().for_serialize().into_generator().into_root_schema_for::<A>();
        let mut read = settings.into_generator().into_root_schema_for::<A>();
        let Some(Value::Object(mut properties)) = read.remove("properties") else {
            return Shape {
                taker,
                names: vec![],
                properties: JsonObject::new(),
                required: vec![],
                defaults: JsonObject::new(),
            };
        };
        properties.values_mut().for_each(tidy);
        let [names, required] = [&mut written, &mut read].map(|schema| strings(schema.remove("required")));
        Shape { taker, names, properties, required, defaults: JsonObject::new() }
    }

    /// With the bounds that the settings give.
    pub(crate) fn within(mut self, limits: &Limits) -> Self {
        for (name, property) in &mut self.properties {
            let Value::Object(property) = property else { continue };
            let Some(setting) = property.remove(SETTING) else { continue };
            let bounds =
                serde_json::from_value(setting).map(|setting| bounds(setting, limits)).unwrap_or_default();
            self.defaults.extend(bounds.get("default").map(|default| (name.clone(), default.clone())));
            self.required.retain(|required| required != name);
            property.extend(bounds);
        }
        self
    }

    /// As clients see it: without what only the check needs, since every conversation pays for its length.
    pub(crate) fn input_schema(&self) -> JsonObject {
        let mut properties = self.properties.clone();
        for property in properties.values_mut().filter_map(Value::as_object_mut) {
            property.retain(|key, bound| key != "title" && !is_no_bound(key, bound));
            if let Some(items) = property.get_mut("items").and_then(Value::as_object_mut) {
                items.retain(|key, _| key == "type");
            }
            if property.contains_key("properties") {
                property.retain(|key, _| ["type", "properties", "description"].contains(&key.as_str()));
            }
            let inner = property.get_mut("properties").and_then(Value::as_object_mut);
            for field in inner.into_iter().flat_map(JsonObject::values_mut).filter_map(Value::as_object_mut) {
                field.retain(|key, _| key == "type");
            }
        }
        rmcp::object!({
            "type": "object",
            "properties": properties,
            "required": self.required,
            "additionalProperties": false,
        })
    }
}

fn bounds(setting: Setting, limits: &Limits) -> JsonObject {
    /// The default that the argument's usual description speaks of.
    const FIVE_MINUTES: u64 = 300;
    let milliseconds = |time: std::time::Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX).max(1);
    match setting {
        Setting::Timeout => rmcp::object!({
            "maximum": milliseconds(limits.max_timeout),
            "default": milliseconds(limits.default_timeout.min(limits.max_timeout)),
        }),
        Setting::ShellTimeout => {
            let (max, usual) = (limits.shell_max_timeout, limits.shell_default_timeout);
            let default = usual.min(max).as_secs().max(1);
            let which = if default == FIVE_MINUTES { ", defaults to 300 seconds / 5 minutes" } else { "" };
            rmcp::object!({
                "maximum": max.as_secs().max(1),
                "default": default,
                "description": format!("Command timeout in seconds (optional{which})"),
            })
        }
        Setting::ReplyTokens => rmcp::object!({ "default": limits.reply_tokens }),
    }
}

/// Leaves out what goes without saying: null (an argument is there or it is not), number formats, defaults that say
/// nothing, and what single words mean.
fn tidy(schema: &mut Value) {
    if let Some(Value::Array(either)) = schema.get_mut("anyOf").map(Value::take) {
        let own = schema.as_object().cloned().unwrap_or_default();
        *schema = either.into_iter().find(|one| one["type"] != "null").unwrap_or_default();
        if let Value::Object(schema) = schema {
            schema.extend(own.into_iter().filter(|(key, _)| key != "anyOf"));
        }
    }
    let Value::Object(fields) = schema else { return };
    if let Some(Value::Array(words)) = fields.remove("oneOf") {
        let words: Vec<_> = words.iter().filter_map(|word| word.get("const")).collect();
        let words = json!(words);
        fields.extend([("type".to_owned(), json!("string")), ("enum".to_owned(), words)]);
    }
    fields.remove("format");
    fields.retain(|key, value| key != "default" || !says_nothing(value));
    if let Some(Value::Array(types)) = fields.get("type") {
        let own = types.iter().find(|one| *one != "null").cloned().unwrap_or_default();
        fields.insert("type".to_owned(), own);
    }
    if let Some(Value::Array(words)) = fields.get_mut("enum") {
        words.retain(|word| !word.is_null());
    }
    if let Some(Value::String(text)) = fields.get_mut("description") {
        *text = text.replace('\n', " ");
    }
    let inner = fields.get_mut("properties").and_then(Value::as_object_mut);
    inner.into_iter().flat_map(JsonObject::values_mut).for_each(tidy);
}

/// Whether a bound is one that nobody comes near: the check holds to it all the same.
fn is_no_bound(key: &str, bound: &Value) -> bool {
    /// Beyond this no argument means anything.
    const FAR: u64 = 1 << 48;
    match key {
        "minimum" => *bound == json!(0),
        "minLength" => *bound == json!(1),
        "maximum" => bound.as_u64().is_some_and(|most| most >= FAR),
        _ => false,
    }
}

fn says_nothing(default: &Value) -> bool {
    default.is_null() || [json!(false), json!({}), json!([])].contains(default)
}

fn strings(list: Option<Value>) -> Vec<String> {
    list.and_then(|list| serde_json::from_value(list).ok()).unwrap_or_default()
}
