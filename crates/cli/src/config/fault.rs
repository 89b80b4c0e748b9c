//! What is wrong with a value, before and after it is known where that stands.

use std::fmt::{self, Display};

use serde::de::{Expected, Unexpected};

use super::error::Error;
use super::origin::Origin;

/// What is wrong with a value, and where the innermost part of it stands that is wrong.
#[derive(Debug)]
pub(crate) struct Fault {
    origin: Option<Origin>,
    what: What,
}

#[derive(Debug)]
enum What {
    Said(String),
    /// A key that nobody knows, and those that somebody does.
    NoSuchKey(&'static [&'static str]),
    /// Something else in place of a text.
    NotText(&'static str),
}

impl Fault {
    /// Something else, of this name, in place of a text.
    pub(crate) const fn not_text(found: &'static str) -> Self {
        Fault { origin: None, what: What::NotText(found) }
    }

    /// Something else in place of what was expected.
    pub(crate) fn expected(wanted: impl Display, found: &str) -> Self {
        Fault::said(format!("expected {wanted}, found {found}"))
    }

    /// In these words.
    pub(crate) const fn said(what: String) -> Self {
        Fault { origin: None, what: What::Said(what) }
    }

    /// As the fault of one part: it keeps the place that it has.
    pub(crate) fn at(self, origin: &Origin) -> Self {
        Fault { origin: self.origin.or_else(|| Some(origin.clone())), ..self }
    }

    /// As the fault of an item of a list that stands there: if that is no text, the list is none of texts.
    pub(crate) fn of_item(self, item: &Origin) -> Self {
        match self.what {
            What::NotText(_) if self.origin.as_ref() == Some(item) => {
                Fault::expected(LIST, "a list of something else")
            }
            _ => self.at(item),
        }
    }
}

/// What a list is called where there is none.
pub(crate) const LIST: &str = "a list of texts, such as [\"a\", \"b\"]";

impl From<Fault> for Error {
    fn from(Fault { origin, what }: Fault) -> Self {
        let origin = origin.unwrap_or(Origin::Default { key: String::new() });
        let what = match what {
            What::Said(what) => what,
            What::NotText(found) => format!("expected text in quotes, found {found}"),
            What::NoSuchKey(known) => {
                format!("there is no such key in a {}; there are {}", origin.section(), known.join(", "))
            }
        };
        Error::Setting { origin, what }
    }
}

impl Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.what {
            What::Said(what) => f.write_str(what),
            What::NotText(found) => write!(f, "expected text in quotes, found {found}"),
            What::NoSuchKey(known) => write!(f, "there is no such key; there are {}", known.join(", ")),
        }
    }
}

impl std::error::Error for Fault {}

impl serde::de::Error for Fault {
    fn custom<T: Display>(what: T) -> Self {
        Fault::said(what.to_string())
    }

    fn invalid_type(found: Unexpected<'_>, wanted: &dyn Expected) -> Self {
        let found = match found {
            Unexpected::Bool(_) => "true or false",
            Unexpected::Signed(_) | Unexpected::Unsigned(_) => "a number",
            Unexpected::Str(_) => "text",
            Unexpected::Seq => "a list of something else",
            Unexpected::Map => "a table",
            Unexpected::Other(name) => name,
            _ => "something else",
        };
        Fault::expected(wanted, found)
    }

    fn unknown_field(_: &str, known: &'static [&'static str]) -> Self {
        Fault { origin: None, what: What::NoSuchKey(known) }
    }
}
