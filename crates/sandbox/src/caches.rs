//! Which directories are caches, what of them stays as it is, and whose layer takes what is written there.

use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::homes::Homes;
use crate::settings::{Scene, canonical};
use crate::workspace;

/// Where this program keeps what confined commands may read and nobody but it may write.
const OWN: &str = ".cache/runward";

/// The caches of a host, found once: they do not move while a server runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CacheSettings {
    places: Vec<PathBuf>,
    kept: Vec<PathBuf>,
    guarded: Vec<PathBuf>,
    layers: Option<PathBuf>,
}

/// The caches of one workspace.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct WorkspaceCaches {
    pub(crate) root: PathBuf,
    pub(crate) layers: Option<PathBuf>,
    pub(crate) places: Vec<PathBuf>,
    pub(crate) kept: Vec<PathBuf>,
    pub(crate) guarded: Vec<PathBuf>,
}

impl CacheSettings {
    /// The directories of `named`, there or not; what is written to them goes to layers below `layers`, or to memory.
    /// What of `kept` lies in them, where programs are found by name say, is nobody's to plant.
    pub fn new(named: &[PathBuf], homes: &Homes, kept: &[PathBuf], layers: Option<PathBuf>) -> Self {
        let is_around = |place: &Path, inside: &Path| inside.starts_with(place);
        let mut places: Vec<PathBuf> = named.iter().map(|place| canonical(place)).collect();
        // Whoever layers a home, or the layers themselves, does not mean a cache.
        places.retain(|place| {
            place.is_absolute() && !homes.own.iter().chain(&layers).any(|inside| is_around(place, inside))
        });
        places.sort_unstable();
        // What is sorted has what is inside of a place right after it.
        places.dedup_by(|inside, place| is_around(place, inside));
        let inside = |path: &PathBuf| places.iter().any(|place| is_around(place, path));
        let own = homes.own.iter().map(|home| home.join(OWN));
        let kept = kept.iter().flat_map(|path| [path.clone(), canonical(path)]).chain(own);
        let mut kept: Vec<PathBuf> = kept.filter(inside).collect();
        kept.sort_unstable();
        kept.dedup();
        let guarded =
            homes.own.iter().flat_map(|home| workspace::PROTECTED_AT_HOME.map(|name| home.join(name)));
        let guarded = guarded.filter(|path| inside(path) && !kept.contains(path)).collect();
        CacheSettings { places, kept, guarded, layers }
    }

    /// The caches of the workspace that a command runs in, the outermost writable directory around it. Where nothing can be
    /// written there is none; and what lies in a writable directory is written for real.
    pub(crate) fn of(
        &self,
        Scene { cwd, program, .. }: Scene<'_>,
        writable: &[PathBuf],
    ) -> Option<WorkspaceCaches> {
        let around = writable.iter().filter(|root| cwd.starts_with(root));
        let root = around.min_by_key(|root| root.as_os_str().len())?.clone();
        // It is seen to be the one that was judged by where it lies, so that is not layered.
        let here = [cwd, program].into_iter().map(Path::to_owned);
        let kept: Vec<PathBuf> = self.kept.iter().cloned().chain(here).collect();
        let is_cache =
            |place: &&PathBuf| !writable.iter().any(|root| place.starts_with(root)) && !kept.contains(*place);
        let places: Vec<PathBuf> = self.places.iter().filter(is_cache).cloned().collect();
        let inside = |path: &PathBuf| places.iter().any(|place| path.starts_with(place));
        let kept = kept.into_iter().filter(inside).collect();
        let guarded = self.guarded.iter().filter(|path| inside(path)).cloned().collect();
        let layers = self.layers.as_ref().map(|layers| layers.join(name_of(&root)));
        (!places.is_empty()).then_some(WorkspaceCaches { root, layers, places, kept, guarded })
    }
}

/// What the layers of a workspace are called: nobody can make a directory whose layers are another's.
fn name_of(root: &Path) -> String {
    let hash = Sha256::digest(root.as_os_str().as_bytes());
    hash.iter().take(16).fold(String::new(), |mut name, byte| {
        let _ = write!(name, "{byte:02x}");
        name
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(names: &[&str]) -> Vec<PathBuf> {
        names.iter().map(PathBuf::from).collect()
    }

    fn settings() -> CacheSettings {
        let homes = Homes { own: paths(&["/home/ada"]), others: Vec::new() };
        let named = ["/home/ada/.cargo", "/home/ada/.cache", "/home/ada/.cache/pip", "/home/ada", "/home"];
        let programs = paths(&["/home/ada/.cargo/bin", "/usr/bin"]);
        CacheSettings::new(&paths(&named), &homes, &programs, Some("/home/ada/.local/state/runward".into()))
    }

    fn of(cwd: &str, program: &str, writable: &[&str]) -> Option<WorkspaceCaches> {
        let scene = Scene { cwd: Path::new(cwd), program: Path::new(program), projects: &[] };
        settings().of(scene, &paths(writable))
    }

    #[test]
    fn a_workspace_writes_to_caches_of_its_own_and_not_to_what_is_executed_from_there() {
        let found = of("/site/sub", "/bin/true", &["/site", "/site/sub"]).unwrap();
        assert_eq!(found.root, Path::new("/site"));
        assert_eq!(found.places, paths(&["/home/ada/.cache", "/home/ada/.cargo"]));
        assert_eq!(found.kept, paths(&["/home/ada/.cache/runward", "/home/ada/.cargo/bin"]));
        assert!(found.guarded.contains(&"/home/ada/.cargo/config.toml".into()));
        let other = of("/other", "/bin/true", &["/other"]).unwrap();
        assert_ne!(found.layers, other.layers);
        assert_eq!(found.layers, of("/site", "/bin/true", &["/site"]).unwrap().layers);
    }

    #[test]
    fn what_cannot_be_written_has_none_and_what_is_writable_itself_needs_none() {
        assert_eq!(of("/site", "/bin/true", &[]), None);
        assert_eq!(of("/elsewhere", "/bin/true", &["/site"]), None);
        assert_eq!(of("/home/ada", "/bin/true", &["/home/ada"]), None);
        let found = of("/site", "/bin/true", &["/site", "/home/ada/.cache"]).unwrap();
        assert_eq!(found.places, paths(&["/home/ada/.cargo"]));
    }

    #[test]
    fn a_program_or_a_directory_in_a_cache_is_the_one_that_was_judged() {
        let found = of("/site", "/home/ada/.cache/env/bin/python", &["/site"]).unwrap();
        assert!(found.kept.contains(&"/home/ada/.cache/env/bin/python".into()));
        let found = of("/home/ada/.cache/site", "/bin/true", &["/home/ada/.cache/site"]).unwrap();
        assert!(found.kept.contains(&"/home/ada/.cache/site".into()));
    }
}
