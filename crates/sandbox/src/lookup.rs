//! Where paths of the settings lead, looked up once: only the directories on the way are looked at again.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use runward_files::Stamp;

/// Two changes within this may leave a directory with the same times.
const GRAIN: Duration = Duration::from_millis(20);

/// So many lists are remembered: a server has two, and tests have more.
const MOST: usize = 8;

static FOUND: Mutex<Vec<Arc<Found>>> = Mutex::new(Vec::new());

/// Where a list of paths leads.
#[derive(Debug)]
pub(crate) struct Found {
    asked: Vec<PathBuf>,
    /// In the same order.
    pub(crate) places: Vec<Place>,
    /// Every directory that was looked into, as it was then.
    on_the_way: Vec<(PathBuf, Stamp)>,
    /// Whether another change of one of them might not show.
    is_unsettled: bool,
}

/// Where a path leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The path that was asked for, while it leads nowhere.
    pub(crate) path: PathBuf,
    pub(crate) exists: bool,
}

/// Where these paths lead now.
pub(crate) fn places<'a>(asked: impl Iterator<Item = &'a PathBuf> + Clone) -> Arc<Found> {
    let mut known = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = known.iter().find(|found| found.asked.iter().eq(asked.clone()))
        && found.is_still_so()
    {
        return found.clone();
    }
    let found = Found::now(asked.cloned().collect());
    known.retain(|old| old.asked != found.asked);
    known.truncate(MOST - 1);
    let found = Arc::new(found);
    known.insert(0, found.clone());
    found
}

impl Found {
    fn now(asked: Vec<PathBuf>) -> Self {
        let mut found = Found { asked, places: Vec::new(), on_the_way: Vec::new(), is_unsettled: false };
        // Before anything is looked up: what changes meanwhile is seen the next time.
        found.stamp(found.asked.iter().flat_map(|path| way(path)).collect());
        for path in &found.asked {
            let (place, exists) = match fs::canonicalize(path) {
                Ok(place) => (place, true),
                Err(_) => (path.clone(), false),
            };
            found.places.push(Place { path: place, exists });
        }
        let linked = found.places.iter().zip(&found.asked).filter(|(place, path)| place.path != **path);
        found.stamp(linked.flat_map(|(place, _)| way(&place.path)).collect());
        found
    }

    /// Directories that are missing are found in those above them once they are there.
    fn stamp(&mut self, directories: BTreeSet<PathBuf>) {
        for directory in directories {
            if let Ok(stamp) = Stamp::of(&directory) {
                self.is_unsettled |= !stamp.has_settled(GRAIN);
                self.on_the_way.push((directory, stamp));
            }
        }
    }

    fn is_still_so(&self) -> bool {
        let unchanged = |(path, stamp): &(PathBuf, Stamp)| Stamp::of(path).is_ok_and(|now| now == *stamp);
        !self.is_unsettled && self.on_the_way.iter().all(unchanged)
    }
}

/// The directories that lead to a path.
fn way(path: &Path) -> impl Iterator<Item = PathBuf> {
    path.ancestors().skip(1).map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn what_is_made_moved_or_linked_since_is_seen() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        let asked = [root.join("key"), root.join("deep/key"), root.join("link/key")];
        let look = || places(asked.iter()).places.clone();
        let leads = |number: usize, path: &str| {
            let place = look().swap_remove(number);
            place.exists && place.path == root.join(path)
        };
        assert!(look().iter().zip(&asked).all(|(place, asked)| !place.exists && place.path == *asked));
        fs::write(root.join("key"), "").unwrap();
        assert!(leads(0, "key"));
        fs::create_dir(root.join("deep")).unwrap();
        fs::write(root.join("deep/key"), "").unwrap();
        assert!(leads(1, "deep/key"));
        symlink("deep", root.join("link")).unwrap();
        assert!(leads(2, "deep/key"));
        fs::create_dir(root.join("other")).unwrap();
        fs::rename(root.join("deep/key"), root.join("other/key")).unwrap();
        assert!(!look()[1].exists && !look()[2].exists);
        fs::remove_file(root.join("link")).unwrap();
        symlink("other", root.join("link")).unwrap();
        assert!(leads(2, "other/key"));
    }
}
