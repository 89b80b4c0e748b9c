//! Paths as Seatbelt sees them.

use std::collections::BTreeSet;
use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Links in the root directory of every Mac; each leads to the same name in `/private`.
const LINKS: [&str; 3] = ["/etc", "/tmp", "/var"];

/// Paths in the spelling that the kernel compares: it follows links first, so a rule for `/tmp` never matches.
pub(super) fn canonical<'a>(paths: impl IntoIterator<Item = &'a CString>) -> Vec<PathBuf> {
    paths.into_iter().map(|path| physical(Path::new(OsStr::from_bytes(path.to_bytes())))).collect()
}

/// The one spelling of a path that may have two, without slashes that mean nothing.
fn physical(path: &Path) -> PathBuf {
    let linked = LINKS.iter().any(|link| path.starts_with(link));
    let moved = path.strip_prefix("/").ok().filter(|_| linked).map(|rest| Path::new("/private").join(rest));
    moved.as_deref().unwrap_or(path).components().collect()
}

/// The directories within `areas` that lead to any of `paths`, without the areas themselves.
pub(super) fn leading(paths: &[PathBuf], areas: &[PathBuf]) -> Vec<PathBuf> {
    let within = |path: &&Path| areas.iter().any(|area| path.starts_with(area));
    let is_area = |path: &&Path| areas.iter().any(|area| path == area);
    let above = paths.iter().flat_map(|path| path.ancestors().skip(1));
    let found: BTreeSet<&Path> = above.filter(|path| within(path) && !is_area(path)).collect();
    found.into_iter().map(Path::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(texts: &[&str]) -> Vec<PathBuf> {
        texts.iter().map(PathBuf::from).collect()
    }

    #[test]
    fn both_spellings_of_a_path_become_one() {
        for (given, expected) in [
            ("/tmp", "/private/tmp"),
            ("/tmp/x", "/private/tmp/x"),
            ("/private/tmp/x", "/private/tmp/x"),
            ("/var/folders/ab/T", "/private/var/folders/ab/T"),
            ("/etc/hosts", "/private/etc/hosts"),
            ("//tmp//x/", "/private/tmp/x"),
            ("/tmpfiles/x", "/tmpfiles/x"),
            ("/Users/ada/tmp/x/", "/Users/ada/tmp/x"),
            ("/", "/"),
            // Not ours to guess: it matches nothing.
            ("tmp/x", "tmp/x"),
        ] {
            // Paths are equal by their parts; here the spelling counts.
            assert_eq!(physical(Path::new(given)).as_os_str(), expected, "{given}");
        }
    }

    #[test]
    fn only_directories_within_an_area_lead_anywhere() {
        let areas = paths(&["/work", "/work/a/b"]);
        let found = leading(&paths(&["/work/a/b/.git/hooks", "/work/.idea", "/home/ada/.ssh"]), &areas);
        assert_eq!(found, paths(&["/work/a", "/work/a/b/.git"]));
        assert_eq!(leading(&paths(&["/workshop/x/y"]), &areas), paths(&[]));
    }
}
