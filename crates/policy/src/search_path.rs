//! Where names are looked up.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::viewer::link_by_viewer;

/// At most this many close matches are named.
const NEAR_LIMIT: usize = 3;
/// At most this many directory entries are looked at for close matches.
const NEAR_SCAN: usize = 20_000;
/// One slip (a letter too many, too few, wrong, or two swapped) in this many letters is still a close match.
const LETTERS_A_SLIP: usize = 3;

/// The absolute directories of a `PATH`, in order; relative and empty entries are dropped, because what they
/// stand for changes with the directory that a command runs in, and so are those that pass through `/proc/self` and its
/// like, because that changes with whoever looks.
#[derive(Clone, Debug)]
pub struct SearchPath {
    directories: Arc<[PathBuf]>,
}

impl SearchPath {
    /// Takes a `PATH` variable apart.
    pub fn new(path: &OsStr) -> Self {
        SearchPath {
            directories: std::env::split_paths(path).filter(|directory| stands_still(directory)).collect(),
        }
    }

    /// The first executable regular file of this name. A name with a slash is no name.
    pub fn find(&self, name: &str) -> Option<PathBuf> {
        if name.is_empty() || name.contains(['/', '\0']) {
            return None;
        }
        self.directories.iter().map(|directory| directory.join(name)).find(|file| is_executable(file))
    }

    /// Up to three names of programs on the path that look much like this one, the most alike first.
    pub fn near(&self, name: &str) -> Vec<String> {
        let wanted = Path::new(name).file_name().and_then(OsStr::to_str).unwrap_or(name);
        let most = (wanted.chars().count() / LETTERS_A_SLIP).max(1);
        let mut close: Vec<(usize, String)> = Vec::new();
        for entry in self
            .directories
            .iter()
            .filter_map(|directory| directory.read_dir().ok())
            .flatten()
            .take(NEAR_SCAN)
        {
            let Some(found) = entry.ok().and_then(|entry| entry.file_name().into_string().ok()) else {
                continue;
            };
            // Names whose lengths differ by more need no closer look.
            if found.len().abs_diff(wanted.len()) > most {
                continue;
            }
            let slips = strsim::damerau_levenshtein(wanted, &found);
            if (1..=most).contains(&slips) && close.iter().all(|(_, known)| *known != found) {
                close.push((slips, found));
            }
        }
        close.sort();
        close
            .into_iter()
            .map(|(_, found)| found)
            .filter(|found| self.find(found).is_some())
            .take(NEAR_LIMIT)
            .collect()
    }

    /// The `PATH` variable that means exactly these directories.
    pub fn to_variable(&self) -> OsString {
        // Directories come from splitting at colons, so none of them contains one.
        std::env::join_paths(self.directories.iter()).unwrap_or_default()
    }
}

/// Whether a directory is the same for everybody, wherever they are.
fn stands_still(directory: &Path) -> bool {
    directory.is_absolute() && link_by_viewer(directory).is_none()
}

fn is_executable(file: &Path) -> bool {
    file.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}
