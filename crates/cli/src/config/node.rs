//! A value as somebody wrote it, with the place of each of its parts.

use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::DeValue;

use super::origin::Origin;
use super::settings::Source;

/// A value as somebody wrote it. What is wrong with a part of it is said with the place of that part.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) data: Data,
    pub(crate) origin: Origin,
}

/// What it is, before anybody knows what it should be.
#[derive(Clone, Debug)]
pub(crate) enum Data {
    /// The text of a variable or a flag: whatever is read from it.
    Given(String),
    /// Text in quotes.
    Text(String),
    /// A whole number.
    Number(i64),
    /// True or false.
    Switch(bool),
    /// A list of anything.
    List(Vec<Node>),
    /// A table of anything.
    Table(BTreeMap<String, Node>),
    /// What no setting is, by its name.
    Odd(&'static str),
}

impl Data {
    /// What it is called where something else was expected.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Data::Given(_) | Data::Text(_) => "text",
            Data::Number(_) => "a number",
            Data::Switch(_) => "true or false",
            Data::List(_) => "a list of something else",
            Data::Table(_) => "a table",
            Data::Odd(name) => name,
        }
    }
}

/// Where the parts of a value are looked for.
#[derive(Clone, Copy)]
struct Reader<'a> {
    source: Option<&'a Source<'a>>,
    /// Whether the keys of tables are told apart: those of one setting are not.
    names_keys: bool,
}

impl Node {
    /// A value of the built-in defaults.
    pub(crate) fn of_default(value: &Spanned<DeValue<'_>>, key: &str) -> Self {
        let origin = Origin::Default { key: key.into() };
        Reader { source: None, names_keys: false }.read(value, origin, key)
    }

    /// The value of a setting in a file.
    pub(crate) fn of_setting(
        value: &Spanned<DeValue<'_>>,
        origin: Origin,
        key: &str,
        source: &Source<'_>,
    ) -> Self {
        Reader { source: Some(source), names_keys: false }.read(value, origin, key)
    }

    /// Tables of a file of which there may be several.
    pub(crate) fn of_tables(
        value: &Spanned<DeValue<'_>>,
        origin: Origin,
        key: &str,
        source: &Source<'_>,
    ) -> Self {
        Reader { source: Some(source), names_keys: true }.read(value, origin, key)
    }

    /// A text from outside of any file.
    pub(crate) fn given(text: &str, origin: Origin) -> Self {
        Node { data: Data::Given(text.to_owned()), origin }
    }
}

impl Reader<'_> {
    fn read(self, value: &Spanned<DeValue<'_>>, origin: Origin, key: &str) -> Node {
        let data = match value.get_ref() {
            DeValue::String(text) => Data::Text(text.to_string()),
            DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
                .map_or(Data::Odd("a number"), Data::Number),
            DeValue::Boolean(switch) => Data::Switch(*switch),
            DeValue::Float(_) => Data::Odd("a number with a fraction"),
            DeValue::Datetime(_) => Data::Odd("a date"),
            DeValue::Array(items) => {
                let item =
                    |item: &Spanned<_>| self.read(item, self.origin(&origin, item.span().start, key), key);
                Data::List(items.iter().map(item).collect())
            }
            DeValue::Table(table) => Data::Table(
                table
                    .iter()
                    .map(|(name, value)| {
                        let text = name.get_ref().to_string();
                        let key = if self.names_keys { format!("{key}.{text}") } else { key.to_owned() };
                        let origin = self.origin(&origin, name.span().start, &key);
                        (text, self.read(value, origin, &key))
                    })
                    .collect(),
            ),
        };
        Node { data, origin }
    }

    fn origin(self, whole: &Origin, offset: usize, key: &str) -> Origin {
        self.source.map_or_else(|| whole.clone(), |source| source.origin(offset, key))
    }
}
