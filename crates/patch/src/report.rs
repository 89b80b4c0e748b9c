//! What a patch did.

use std::fmt;

/// What a patch did: the files as it names them, in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Those that it made, or wrote anew.
    pub added: Vec<String>,
    /// Those that it changed; one that it moved is named by its new place.
    pub modified: Vec<String>,
    /// Those that it removed.
    pub deleted: Vec<String>,
}

impl fmt::Display for Report {
    /// The report that callers of `apply_patch` expect, a line a file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Success. Updated the following files:")?;
        for (letter, paths) in [('A', &self.added), ('M', &self.modified), ('D', &self.deleted)] {
            paths.iter().try_for_each(|path| writeln!(f, "{letter} {path}"))?;
        }
        Ok(())
    }
}
