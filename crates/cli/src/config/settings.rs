//! The layers, put on top of each other.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;

use toml::de::{DeTable, DeValue};

use super::environment::{Variables, empty_counts, refuse_misspelt, variable};
use super::error::Error;
use super::origin::Origin;
use super::rule::{self, Rule};
use super::token::{self, Token};
use super::value::Value;

/// The reference: every setting that exists, its kind and its default.
const DEFAULTS: &str = include_str!("../../../../config/default.toml");

/// Durations that may be written as a number of seconds.
const SECONDS: [&str; 2] = ["shell_tool.default_timeout", "shell_tool.max_timeout"];

/// Networks, which may be written as lists of hosts.
const NETWORKS: [&str; 3] = ["sandbox.network", "network_tool.network", "raw.network"];

/// Every setting by its key, such as `limits.output`, with the value that won so far.
#[derive(Debug)]
pub(crate) struct Settings {
    known: BTreeMap<String, Setting>,
    /// The rules of the file, which have no defaults.
    rules: Vec<Rule>,
    /// The tokens of the file, which have no defaults either.
    tokens: Vec<Token>,
}

/// A value and where it came from.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    pub(crate) value: Value,
    pub(crate) origin: Origin,
}

impl Settings {
    /// The first layer.
    pub(crate) fn defaults() -> Result<Self, Error> {
        let document = parse(DEFAULTS, Path::new("config/default.toml"))?;
        let mut settings = Settings { known: BTreeMap::new(), rules: Vec::new(), tokens: Vec::new() };
        settings.collect_defaults(document.get_ref(), "")?;
        Ok(settings)
    }

    fn collect_defaults(&mut self, table: &DeTable<'_>, section: &str) -> Result<(), Error> {
        for (name, value) in table {
            let key = key_in(section, name.get_ref());
            if let DeValue::Table(inside) = value.get_ref() {
                self.collect_defaults(inside, &key)?;
                continue;
            }
            let origin = Origin::Default { key: key.clone() };
            let value =
                Value::from_toml(value.get_ref(), None).map_err(|what| Error::setting(&origin, what))?;
            self.known.insert(key, Setting { value, origin });
        }
        Ok(())
    }

    /// The second layer: the text of a file.
    pub(crate) fn apply_file(&mut self, path: &Path, text: &str) -> Result<(), Error> {
        let document = parse(text, path)?;
        self.apply_table(document.get_ref(), "", &Source { path, text })
    }

    fn apply_table(&mut self, table: &DeTable<'_>, section: &str, source: &Source<'_>) -> Result<(), Error> {
        for (name, value) in table {
            let key = key_in(section, name.get_ref());
            let origin = source.origin(name.span().start, &key);
            if key == "rule" {
                self.rules = rule::read(value.get_ref(), source, &origin)?;
                continue;
            }
            if key == "token" {
                self.tokens = token::read(value.get_ref(), source, &origin)?;
                continue;
            }
            if let Some(setting) = self.known.get_mut(&key) {
                let read = if SECONDS.contains(&key.as_str()) {
                    Value::from_toml_seconds(value.get_ref(), &setting.value)
                } else if NETWORKS.contains(&key.as_str()) {
                    Value::from_toml_network(value.get_ref(), &setting.value)
                } else {
                    Value::from_toml(value.get_ref(), Some(&setting.value))
                };
                let value = read.map_err(|what| Error::setting(&origin, what))?;
                *setting = Setting { value, origin };
            } else if !self.is_section(&key) {
                return Err(Error::setting(&origin, self.unknown(&key)));
            } else if let DeValue::Table(inside) = value.get_ref() {
                self.apply_table(inside, &key, source)?;
            } else {
                let what =
                    format!("this is a section; write [{key}] on a line of its own and its settings below");
                return Err(Error::setting(&origin, what));
            }
        }
        Ok(())
    }

    /// The third layer: variables of the environment.
    pub(crate) fn apply_environment(&mut self, variables: &Variables) -> Result<(), Error> {
        refuse_misspelt(variables, self.known.keys().map(String::as_str))?;
        for (key, setting) in &mut self.known {
            let name = variable(key);
            let Some(text) = variables.get(OsStr::new(&name)) else { continue };
            let origin = Origin::Variable(name);
            let text = text.to_str().ok_or_else(|| Error::setting(&origin, "the value is not UTF-8 text"))?;
            if !is_blank(text) || empty_counts(key) {
                setting.replace(text, origin)?;
            }
        }
        Ok(())
    }

    /// The last layer: one flag of the command line.
    pub(crate) fn apply_flag(&mut self, flag: &'static str, key: &str, text: &str) -> Result<(), Error> {
        let origin = Origin::Flag(flag);
        match self.known.get_mut(key) {
            Some(setting) => setting.replace(text, origin),
            None => Err(Error::setting(&origin, self.unknown(key))),
        }
    }

    /// Takes a setting out, so that what nobody reads can be seen to remain.
    pub(crate) fn take(&mut self, key: &str) -> Result<Setting, Error> {
        let absent = || Error::setting(&Origin::Default { key: key.into() }, "there is none");
        self.known.remove(key).ok_or_else(absent)
    }

    /// Takes the rules out.
    pub(crate) fn take_rules(&mut self) -> Vec<Rule> {
        std::mem::take(&mut self.rules)
    }

    /// Takes the tokens out.
    pub(crate) fn take_tokens(&mut self) -> Vec<Token> {
        std::mem::take(&mut self.tokens)
    }

    /// The settings that are left.
    #[cfg(test)]
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.known.keys().map(String::as_str)
    }

    fn is_section(&self, key: &str) -> bool {
        self.known.keys().any(|known| known.strip_prefix(key).is_some_and(|rest| rest.starts_with('.')))
    }

    fn unknown(&self, key: &str) -> String {
        let near = |known: &&String| strsim::damerau_levenshtein(known, key) <= 2;
        match self.known.keys().find(near) {
            Some(meant) => format!("there is no such setting; did you mean {meant}?"),
            None => format!("there is no such setting; there are {}", self.beside(key).join(", ")),
        }
    }

    /// The settings of the same section, or the names of all sections where there is no such section.
    fn beside(&self, key: &str) -> Vec<&str> {
        let known = || self.known.keys().map(String::as_str);
        let section = key.rsplit_once('.').map_or("", |(section, _)| section);
        if self.is_section(section) {
            return known().filter(|known| known.starts_with(section)).collect();
        }
        let first = |known: &'_ str| known.split('.').next().unwrap_or_default().len();
        let mut names: Vec<&str> = known().map(|known| known.get(..first(known)).unwrap_or(known)).collect();
        names.extend(["rule", "token"]);
        names.sort_unstable();
        names.dedup();
        names
    }
}

impl Setting {
    fn replace(&mut self, text: &str, origin: Origin) -> Result<(), Error> {
        let value = Value::from_text(text, &self.value).map_err(|what| Error::setting(&origin, what))?;
        *self = Setting { value, origin };
        Ok(())
    }
}

/// A file while it is read.
pub(super) struct Source<'a> {
    pub(super) path: &'a Path,
    pub(super) text: &'a str,
}

impl Source<'_> {
    /// The place of a key that starts here.
    pub(super) fn origin(&self, offset: usize, key: &str) -> Origin {
        Origin::File { path: self.path.into(), line: line_at(self.text, offset), key: key.into() }
    }
}

pub(super) fn parse<'a>(text: &'a str, path: &Path) -> Result<toml::Spanned<DeTable<'a>>, Error> {
    DeTable::parse(text).map_err(|error| Error::Syntax {
        path: path.into(),
        line: line_at(text, error.span().map_or(0, |span| span.start)),
        message: error.message().to_owned(),
    })
}

/// Nothing but spaces and commas: an empty text, and an empty list.
fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c == ',' || c.is_whitespace())
}

fn line_at(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1
}

fn key_in(section: &str, name: &str) -> String {
    if section.is_empty() { name.to_owned() } else { format!("{section}.{name}") }
}
