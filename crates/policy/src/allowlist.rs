//! What the operator allows.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::SearchPath;

/// The commands that may run: names, absolute paths, or `*` for everything.
#[derive(Clone, Debug)]
pub struct Allowlist {
    entries: Arc<[String]>,
}

impl Allowlist {
    /// Takes a comma-separated list apart. Blank pieces are skipped; a list without pieces allows nothing.
    pub fn parse(text: &str) -> Self {
        let pieces = text.split(',').map(str::trim).filter(|piece| !piece.is_empty());
        Allowlist { entries: pieces.map(str::to_owned).collect() }
    }

    /// The entries, in the operator's order.
    pub fn entries(&self) -> &[String] {
        &self.entries
    }

    /// Whether the list says `*`.
    pub fn allows_everything(&self) -> bool {
        self.entries.iter().any(|entry| entry == "*")
    }

    /// Whether a name that is no file, such as a shell builtin, is listed by name.
    pub(crate) fn names(&self, name: &str) -> bool {
        self.entries.iter().any(|entry| entry == name)
    }

    /// The entry that allows `command` when started from `cwd`; `None` in place of a directory that is not known.
    pub(crate) fn entry_for(&self, command: &str, path: &SearchPath, cwd: Option<&Path>) -> Option<&str> {
        if command.contains('/') {
            let wanted = place(&against(command, cwd)?)?;
            let absolute = command.starts_with('/');
            let meant = |entry: &str| match entry.strip_prefix('/') {
                Some(_) => Some(PathBuf::from(entry)),
                None => path.find(entry).filter(|_| absolute),
            };
            return self.find(|entry| meant(entry).and_then(|file| place(&file)).as_ref() == Some(&wanted));
        }
        let found = || path.find(command).and_then(|file| place(&file));
        self.find(|entry| {
            entry == command
                || entry.starts_with('/') && place(Path::new(entry)).is_some_and(|file| Some(file) == found())
        })
    }

    fn find(&self, matches: impl Fn(&str) -> bool) -> Option<&str> {
        self.entries.iter().map(String::as_str).find(|entry| matches(entry))
    }

    /// The entries as a reader of a refusal sees them.
    pub(crate) fn listing(&self) -> String {
        if self.entries.is_empty() {
            return "(none)".into();
        }
        self.entries.join(", ")
    }
}

/// A path made absolute; `None` when it is relative and where it starts is not known.
pub(crate) fn against(command: &str, cwd: Option<&Path>) -> Option<PathBuf> {
    if command.starts_with('/') { Some(PathBuf::from(command)) } else { Some(cwd?.join(command)) }
}

/// Where a file really lies: its directory canonical, its own name as it is. The name is not resolved further,
/// because one file may be many programs by name (`busybox`) and one program many files (`python3`).
fn place(file: &Path) -> Option<(PathBuf, std::ffi::OsString)> {
    let directory = file.parent()?.canonicalize().ok()?;
    Some((directory, file.file_name()?.to_owned()))
}
