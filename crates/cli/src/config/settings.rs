//! The layers, put on top of each other.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;

use toml::de::{DeTable, DeValue};

use super::environment::{Variables, empty_counts, refuse_misspelt, variable};
use super::error::Error;
use super::node::{Data, Node};
use super::origin::Origin;
use super::{rule, token};

/// The reference: every setting that exists, and its default.
const DEFAULTS: &str = include_str!("../../../../config/default.toml");

/// Tables of which there may be several, in the file only, and how they are written.
const TABLES: [(&str, &str); 2] = [("rule", rule::HOW), ("token", token::HOW)];

/// Every setting by its key, such as `limits.output`, with the value that won so far.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    known: BTreeMap<String, Node>,
    /// The tables of the file, which have no defaults.
    tables: BTreeMap<String, Node>,
}

impl Settings {
    /// The first layer.
    pub(crate) fn defaults() -> Result<Self, Error> {
        Settings::of_reference(DEFAULTS)
    }

    fn of_reference(text: &str) -> Result<Self, Error> {
        let document = parse(text, Path::new("config/default.toml"))?;
        let mut settings = Settings { known: BTreeMap::new(), tables: BTreeMap::new() };
        settings.collect_defaults(document.get_ref(), "");
        Ok(settings)
    }

    fn collect_defaults(&mut self, table: &DeTable<'_>, section: &str) {
        for (name, value) in table {
            let key = key_in(section, name.get_ref());
            if let DeValue::Table(inside) = value.get_ref() {
                self.collect_defaults(inside, &key);
            } else {
                self.known.insert(key.clone(), Node::of_default(value, &key));
            }
        }
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
            if let Some((_, how)) = TABLES.iter().find(|(name, _)| *name == key) {
                let tables = tables(Node::of_tables(value, origin, &key, source), how)?;
                self.tables.insert(key, tables);
            } else if let Some(setting) = self.known.get_mut(&key) {
                *setting = Node::of_setting(value, origin, &key, source);
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
                *setting = Node::given(text, origin);
            }
        }
        Ok(())
    }

    /// The last layer: one flag of the command line.
    pub(crate) fn apply_flag(&mut self, flag: &str, key: &str, text: &str) -> Result<(), Error> {
        let origin = Origin::Flag(flag.to_owned());
        let unknown = || Error::setting(&origin, self.unknown(key));
        if !self.known.contains_key(key) {
            return Err(unknown());
        }
        self.known.insert(key.to_owned(), Node::given(text, origin));
        Ok(())
    }

    /// All of them together, as the types of the program are read from it.
    pub(crate) fn to_node(&self) -> Node {
        let mut root = BTreeMap::new();
        for (key, node) in self.known.iter().chain(&self.tables) {
            put(&mut root, key, node.clone());
        }
        Node { data: Data::Table(root), origin: Origin::Default { key: String::new() } }
    }

    /// The keys of all settings.
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
        names.extend(TABLES.map(|(name, _)| name));
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// Puts a setting into its section.
fn put(table: &mut BTreeMap<String, Node>, key: &str, node: Node) {
    let Some((section, rest)) = key.split_once('.') else {
        table.insert(key.to_owned(), node);
        return;
    };
    let empty =
        || Node { data: Data::Table(BTreeMap::new()), origin: Origin::Default { key: section.to_owned() } };
    if let Data::Table(inside) = &mut table.entry(section.to_owned()).or_insert_with(empty).data {
        put(inside, rest, node);
    }
}

/// A list of tables, and nothing else.
pub(super) fn tables(node: Node, how: &str) -> Result<Node, Error> {
    let Data::List(items) = &node.data else { return Err(Error::setting(&node.origin, how)) };
    match items.iter().find(|item| !matches!(item.data, Data::Table(_))) {
        Some(item) => Err(Error::setting(&item.origin, how)),
        None => Ok(node),
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

#[cfg(test)]
mod tests {
    use super::super::Config;
    use super::*;

    #[test]
    fn a_setting_stands_in_the_reference_and_in_one_struct() {
        let read = |settings: &Settings| Config::read(settings).map_err(|error| error.to_string());
        let reference = Settings::defaults().unwrap();
        read(&reference).unwrap();
        for key in reference.keys() {
            let mut without = reference.clone();
            without.known.remove(key);
            let error = read(&without).unwrap_err();
            let is_missing = |name: &str| error.contains(&format!("missing field `{name}`"));
            assert!(key.split('.').any(is_missing), "{key} is read from nowhere: {error}");
            let mut with = reference.clone();
            with.known.insert(format!("{key}_too"), reference.known[key].clone());
            assert!(read(&with).is_err(), "a setting beside {key} is read by nobody");
        }
    }
}
