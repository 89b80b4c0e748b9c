//! What only root can read. A command of root has no capabilities, but it still owns such files.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Where systems keep such files, and how deep it is looked for them.
const PLACES: [(&str, usize); 8] = [
    ("/etc", 8),
    ("/boot", 2),
    ("/usr/local/etc", 8),
    ("/var/backups", 2),
    ("/var/cache", 2),
    ("/var/lib", 2),
    ("/var/log", 2),
    ("/var/spool", 2),
];

/// More entries than this are not looked at.
const MOST: usize = 50_000;

/// Files and directories of the system that root can read and others cannot, looked for once; none for other users, who
/// cannot read them anyway.
pub fn only_roots() -> &'static [PathBuf] {
    static FOUND: OnceLock<Vec<PathBuf>> = OnceLock::new();
    FOUND.get_or_init(|| {
        let mut search = Search { found: Vec::new(), left: MOST };
        if rustix::process::geteuid().is_root() {
            for (place, depth) in PLACES {
                search.look(Path::new(place), depth);
            }
        }
        search.found
    })
}

struct Search {
    found: Vec<PathBuf>,
    left: usize,
}

impl Search {
    fn look(&mut self, place: &Path, depth: usize) {
        for entry in fs::read_dir(place).into_iter().flatten().flatten() {
            if self.left == 0 {
                return;
            }
            self.left -= 1;
            let Ok(found) = entry.metadata() else { continue };
            if is_closed(&found) {
                self.found.push(entry.path());
            } else if found.is_dir() && depth > 1 {
                self.look(&entry.path(), depth - 1);
            }
        }
    }
}

/// Whether it holds something, and only its owner, root, or a group can read it.
fn is_closed(found: &Metadata) -> bool {
    let to_others = if found.is_dir() { 0o005 } else { 0o004 };
    // An empty file, a lock say, has nothing to tell.
    let holds = found.is_dir() || (found.is_file() && found.len() > 0);
    found.uid() == 0 && holds && found.mode() & to_others != to_others
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn what_others_cannot_read_is_found_and_what_they_can_is_not() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        for directory in ["open", "open/below", "closed"] {
            fs::create_dir(path(directory)).unwrap();
        }
        for (name, text, mode) in [
            ("open/key", "secret", 0o600),
            ("open/below/group", "secret", 0o640),
            ("open/below/config", "x", 0o644),
            ("open/lock", "", 0o600),
            ("closed/inside", "x", 0o644),
        ] {
            fs::write(path(name), text).unwrap();
            fs::set_permissions(path(name), PermissionsExt::from_mode(mode)).unwrap();
        }
        fs::set_permissions(path("closed"), PermissionsExt::from_mode(0o700)).unwrap();
        let mut search = Search { found: Vec::new(), left: MOST };
        search.look(place.path(), 3);
        search.found.sort();
        let mine = rustix::process::geteuid().is_root();
        let expected = [path("closed"), path("open/below/group"), path("open/key")];
        assert_eq!(search.found, if mine { expected.to_vec() } else { Vec::new() });
        assert_eq!(only_roots().is_empty(), !mine);
    }
}
