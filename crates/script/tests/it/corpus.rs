//! Scripts that do something in bash, so that it can be told whether what was written does the same.

/// Each prints, ends or writes files in a way of its own. One script between two lines of `----`.
pub(crate) const SCRIPTS: &str = include_str!("corpus.txt");

pub(crate) fn scripts() -> impl Iterator<Item = &'static str> {
    SCRIPTS.split("\n----\n").filter(|script| !script.trim().is_empty())
}
