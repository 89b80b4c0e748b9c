//! What a command without namespaces may read: everything but some paths, as few directories and files as can be.
//!
//! Finding and opening them takes longer than starting the command, so they are kept open. The directories that were
//! listed on the way are looked at again before each use: whatever is made or removed in one changes its times.

use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use runward_files::Stamp;
use rustix::fs::Mode;

use crate::mounts;

/// Afterwards they are found anew: a mount changes no times.
const KEPT: Duration = Duration::from_secs(30);

/// Two changes within this may leave a directory with the same times.
const GRAIN: Duration = Duration::from_millis(20);

/// What may be read, kept for the next command.
#[derive(Debug, Default)]
pub struct Readable(Option<Found>);

#[derive(Debug)]
struct Found {
    kept_out: Vec<PathBuf>,
    listed: Vec<(PathBuf, Stamp)>,
    places: Vec<ReadablePath>,
    at: Instant,
    /// Whether something changed just then, so that another change might not show.
    is_unsettled: bool,
}

/// Something that may be read, with everything below it.
#[derive(Debug)]
pub(crate) struct ReadablePath {
    pub(crate) open: OwnedFd,
    pub(crate) is_directory: bool,
}

impl Readable {
    /// Everything but `kept_out` and what is below those.
    pub(crate) fn all_but(&mut self, kept_out: &[&Path]) -> &[ReadablePath] {
        let found = match self.0.take() {
            Some(found) if found.is_still_so(kept_out) => found,
            _ => Found::now(kept_out),
        };
        &self.0.insert(found).places
    }
}

impl Found {
    fn now(kept_out: &[&Path]) -> Self {
        let mut found = Found {
            kept_out: kept_out.iter().map(|path| path.to_path_buf()).collect(),
            listed: Vec::new(),
            places: Vec::new(),
            at: Instant::now(),
            is_unsettled: false,
        };
        found.collect(Path::new("/"), true);
        found
    }

    fn is_still_so(&self, kept_out: &[&Path]) -> bool {
        let unchanged = |(path, stamp): &(PathBuf, Stamp)| Stamp::of(path).is_ok_and(|now| now == *stamp);
        let is_fresh = !self.is_unsettled && self.at.elapsed() < KEPT;
        is_fresh && self.kept_out == kept_out && self.listed.iter().all(unchanged)
    }

    fn collect(&mut self, place: &Path, is_directory: bool) {
        if self.kept_out.iter().any(|path| path == place) {
            return;
        }
        if !self.kept_out.iter().any(|path| path.starts_with(place)) {
            let open = rustix::fs::open(place, mounts::FIND, Mode::empty());
            self.places.extend(open.ok().map(|open| ReadablePath { open, is_directory }));
            return;
        }
        // Before it is listed: what changes meanwhile is seen the next time.
        match Stamp::of(place).ok().filter(|stamp| stamp.has_settled(GRAIN)) {
            Some(stamp) => self.listed.push((place.to_owned(), stamp)),
            None => self.is_unsettled = true,
        }
        for entry in fs::read_dir(place).into_iter().flatten().flatten() {
            if let Ok(kind) = entry.file_type()
                && !kind.is_symlink()
            {
                self.collect(&entry.path(), kind.is_dir());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(places: &[ReadablePath]) -> Vec<PathBuf> {
        let name = |place: &ReadablePath| {
            let link = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&place.open));
            fs::read_link(link).unwrap()
        };
        places.iter().map(name).collect()
    }

    fn inside(found: &[PathBuf], home: &Path) -> Vec<String> {
        let below = found.iter().filter_map(|path| path.strip_prefix(home).ok()?.to_str());
        let mut inside: Vec<String> = below.map(str::to_owned).collect();
        inside.sort_unstable();
        inside
    }

    #[test]
    fn everything_but_some_paths_is_listed_as_coarsely_as_can_be() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().canonicalize().unwrap();
        for name in ["open", "secret", "deep/open", "deep/secret"] {
            fs::create_dir_all(path.join(name)).unwrap();
        }
        let (secret, deep) = (path.join("secret"), path.join("deep/secret"));
        let mut readable = Readable::default();
        let found = names(readable.all_but(&[&secret, &deep]));
        assert_eq!(inside(&found, &path), ["deep/open", "open"]);
        assert!(found.contains(&"/usr".into()));
        assert!(!found.iter().any(|place| path.starts_with(place)));
    }

    #[test]
    fn what_was_made_or_removed_since_is_seen() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().canonicalize().unwrap();
        let secret = path.join("secret");
        fs::create_dir(&secret).unwrap();
        let mut readable = Readable::default();
        let mut look = || inside(&names(readable.all_but(&[&secret])), &path);
        for round in 0..50 {
            let name = format!("file-{round}");
            fs::write(path.join(&name), "").unwrap();
            for _ in 0..2 {
                assert_eq!(look(), std::slice::from_ref(&name));
            }
            fs::remove_file(path.join(&name)).unwrap();
            assert_eq!(look(), Vec::<String>::new());
        }
    }

    #[test]
    fn what_has_not_changed_is_not_looked_for_again() {
        let secret = Path::new("/usr/share/nothing/of/this/name");
        let mut readable = Readable::default();
        let first = readable.all_but(&[secret])[0].open.try_clone().unwrap();
        let numbers = |places: &[ReadablePath]| -> Vec<i32> {
            places.iter().map(|place| std::os::fd::AsRawFd::as_raw_fd(&place.open)).collect()
        };
        let before = numbers(readable.all_but(&[secret]));
        drop(first);
        assert_eq!(numbers(readable.all_but(&[secret])), before);
    }
}
