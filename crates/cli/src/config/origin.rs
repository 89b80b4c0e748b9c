//! Where a value came from.

use std::fmt;
use std::path::PathBuf;

/// Where a value came from, as error messages name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The embedded defaults.
    Default {
        /// Which setting.
        key: String,
    },
    /// The configuration file.
    File {
        /// Which file.
        path: PathBuf,
        /// Which line, from 1.
        line: usize,
        /// Which setting.
        key: String,
    },
    /// An environment variable.
    Variable(String),
    /// A flag of the command line.
    Flag(String),
}

impl Origin {
    /// Which layer it is of; later ones win.
    pub(crate) const fn layer(&self) -> u8 {
        match self {
            Origin::Default { .. } => 0,
            Origin::File { .. } => 1,
            Origin::Variable(_) => 2,
            Origin::Flag(_) => 3,
        }
    }

    /// Where to look for it: file and line, variable, or flag.
    pub(crate) fn place(&self) -> String {
        match self {
            Origin::Default { key } => key.clone(),
            Origin::File { path, line, .. } => format!("{}:{line}", path.display()),
            Origin::Variable(name) | Origin::Flag(name) => name.clone(),
        }
    }

    /// The section that it stands in, as far as it has a key.
    pub(crate) fn section(&self) -> &str {
        match self {
            Origin::Default { key } | Origin::File { key, .. } => key.split('.').next().unwrap_or_default(),
            Origin::Variable(_) | Origin::Flag(_) => "",
        }
    }

    /// As texts, which is how it comes through serde.
    pub(crate) fn to_parts(&self) -> Vec<String> {
        match self {
            Origin::Default { key } => vec![key.clone()],
            Origin::File { path, line, key } => {
                vec![path.to_string_lossy().into_owned(), line.to_string(), key.clone()]
            }
            Origin::Variable(name) => vec!["variable".into(), name.clone()],
            Origin::Flag(name) => vec!["flag".into(), name.clone()],
        }
    }

    /// The other way.
    pub(crate) fn from_parts(parts: &[String]) -> Option<Self> {
        Some(match parts {
            [key] => Origin::Default { key: key.clone() },
            [kind, name] if kind == "flag" => Origin::Flag(name.clone()),
            [_, name] => Origin::Variable(name.clone()),
            [path, line, key] => {
                Origin::File { path: path.into(), line: line.parse().ok()?, key: key.clone() }
            }
            _ => return None,
        })
    }

    /// Whether nobody chose the value.
    pub(crate) const fn is_default(&self) -> bool {
        matches!(self, Origin::Default { .. })
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default { key } => write!(f, "built-in default of {key}"),
            Origin::File { path, line, key } => write!(f, "{}:{line}: {key}", path.display()),
            Origin::Variable(name) | Origin::Flag(name) => f.write_str(name),
        }
    }
}
