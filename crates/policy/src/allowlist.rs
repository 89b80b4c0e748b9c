//! What the operator allows.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::SearchPath;

/// The commands that may run: names, absolute paths, or `*` for everything.
#[derive(Clone, Debug, Default)]
pub struct Allowlist {
    entries: Arc<[String]>,
    /// Where each entry stands.
    places: Arc<[Arc<str>]>,
    /// Where the list as a whole stands.
    place: Arc<str>,
}

impl Allowlist {
    /// Takes a comma-separated list apart. Blank pieces are skipped; a list without pieces allows nothing.
    pub fn parse(text: &str) -> Self {
        Allowlist::new(text.split(','))
    }

    /// Of these entries. Blank ones are skipped; without any, nothing is allowed.
    pub fn new<'a>(entries: impl IntoIterator<Item = &'a str>) -> Self {
        let entries = entries.into_iter().map(str::trim).filter(|entry| !entry.is_empty());
        let entries: Arc<[String]> = entries.map(str::to_owned).collect();
        let place: Arc<str> = "ALLOWED_COMMANDS".into();
        Allowlist { places: vec![place.clone(); entries.len()].into(), entries, place }
    }

    /// The same list, said to stand elsewhere than in `ALLOWED_COMMANDS`.
    #[must_use]
    pub fn found_at(self, place: impl Into<Arc<str>>) -> Self {
        let place = place.into();
        Allowlist { places: vec![place.clone(); self.entries.len()].into(), place, ..self }
    }

    /// Both lists as one.
    #[must_use]
    pub fn and(self, other: &Allowlist) -> Self {
        if self.entries.is_empty() {
            return other.clone();
        }
        let entries = self.entries.iter().chain(other.entries.iter()).cloned().collect();
        let places = self.places.iter().chain(other.places.iter()).cloned().collect();
        Allowlist { entries, places, place: self.place }
    }

    /// The entries, in the operator's order.
    pub fn entries(&self) -> &[String] {
        &self.entries
    }

    /// Where an entry stands, or the whole list for what is no entry.
    pub(crate) fn place_of(&self, entry: &str) -> &str {
        let at = self.entries.iter().position(|listed| listed == entry);
        at.and_then(|at| self.places.get(at)).unwrap_or(&self.place)
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
            return self.entry_at(&place(&against(command, cwd)?)?, command, path);
        }
        let found = || path.find(command).and_then(|file| place(&file));
        self.find(|entry| {
            entry == command
                || entry.starts_with('/') && place(Path::new(entry)).is_some_and(|file| Some(file) == found())
        })
    }

    /// The entry that allows the file at this place, named by a path.
    pub(crate) fn entry_at(
        &self,
        wanted: &(PathBuf, OsString),
        command: &str,
        path: &SearchPath,
    ) -> Option<&str> {
        let absolute = command.starts_with('/');
        let meant = |entry: &str| match entry.strip_prefix('/') {
            Some(_) => Some(PathBuf::from(entry)),
            None => path.find(entry).filter(|_| absolute),
        };
        self.find(|entry| meant(entry).and_then(|file| place(&file)).as_ref() == Some(wanted))
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
fn place(file: &Path) -> Option<(PathBuf, OsString)> {
    let directory = file.parent()?.canonicalize().ok()?;
    Some((directory, file.file_name()?.to_owned()))
}
