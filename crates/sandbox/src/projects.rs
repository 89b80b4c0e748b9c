//! Which directories can be somebody's workspace, and why the others cannot.

use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use runward_model::PrivateDirectory;

use crate::homes::Homes;
use crate::names::{RUN_CODE, TREES, is_repository_at};
use crate::repository;
use crate::settings::{Settings, canonical};
use crate::workspace::OWN_NAMES;

/// Directories that are never somebody's workspace, however a command came to run there; what is below them may be.
const SHARED: [&str; 8] = ["/", "/home", "/media", "/mnt", "/opt", "/root", "/srv", "/var"];

/// The system's own, with everything below.
const SYSTEM: [&str; 16] = [
    "/bin",
    "/boot",
    "/efi",
    "/etc",
    "/lib",
    "/lib32",
    "/lib64",
    "/nix",
    "/proc",
    "/run",
    "/sbin",
    "/snap",
    "/sys",
    "/usr",
    "/var/log",
    "/var/spool",
];

/// The same, but for a home that lies there, and for directories that everybody shares.
const MOSTLY_SYSTEM: [&str; 3] = ["/dev", "/var/cache", "/var/lib"];

/// What belongs to `root` below these belongs to the system, unless somebody names it.
const OF_ROOT: [&str; 4] = ["/home", "/opt", "/srv", "/var"];

/// What tells a project from other directories.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Projects {
    /// What the operator keeps commands to; with any list, a project lies below an entry of each.
    pub roots: Vec<Vec<PathBuf>>,
    /// Where the server was started, and what its client named as its project then.
    pub named: Vec<PathBuf>,
    /// Whose homes there are.
    pub homes: Homes,
    /// Where programs are looked for.
    pub programs: Vec<PathBuf>,
    /// Directories above whose content no repository is looked for, as git itself is told by `GIT_CEILING_DIRECTORIES`.
    pub ceilings: Vec<PathBuf>,
}

/// Why a directory is nobody's workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoWorkspace {
    /// It belongs to the system.
    System,
    /// Everybody shares it.
    Shared,
    /// Programs are looked for there.
    Programs,
    /// It is a home itself.
    Home,
    /// It is another user's home, or lies in one.
    OthersHome,
    /// It is a directory of a home that programs keep to themselves, or lies in one.
    Dotted(PathBuf),
    /// It holds what decides about commands, or what runs code for other programs.
    Guarded,
    /// It lies outside what the operator keeps commands to.
    OutsideRoots,
    /// Nobody named it, and it belongs to another user.
    NotOwned,
}

impl fmt::Display for NoWorkspace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NAME_IT: &str = "to allow it, start the server there, have its client name it as its project, or add it to ALLOWED_CWD_ROOTS or sandbox.writable_roots";
        const ADD_IT: &str = "to allow it, add it to sandbox.writable_roots";
        match self {
            NoWorkspace::System => write!(f, "it belongs to the system; {ADD_IT}"),
            NoWorkspace::Shared => {
                write!(f, "everybody shares it; work in a directory below it, or {ADD_IT}")
            }
            NoWorkspace::Programs => write!(f, "programs are looked for there (PATH); {ADD_IT}"),
            NoWorkspace::Home => {
                write!(f, "it is a home itself; work in a directory below it, or {NAME_IT}")
            }
            NoWorkspace::OthersHome => write!(f, "it lies in another user's home; {NAME_IT}"),
            NoWorkspace::Dotted(place) => {
                write!(f, "programs keep {} to themselves; {NAME_IT}", place.display())
            }
            NoWorkspace::Guarded => {
                write!(f, "it holds what decides about commands, or what other programs run; {ADD_IT}")
            }
            NoWorkspace::OutsideRoots => {
                write!(f, "it lies outside ALLOWED_CWD_ROOTS; name a cwd within them, or {ADD_IT}")
            }
            NoWorkspace::NotOwned => write!(f, "it belongs to another user; {NAME_IT}"),
        }
    }
}

impl Settings {
    /// Whether a directory can be somebody's workspace; `named` is what the client of the call names as its projects.
    pub(crate) fn project(&self, directory: &Path, named: &[PathBuf]) -> Result<(), NoWorkspace> {
        let grants = self.grants(named);
        self.kept_from_all(directory, &grants).map_or(Ok(()), Err)?;
        if self.projects.roots.iter().any(|list| !list.is_empty()) {
            return if self.is_in_roots(directory) { Ok(()) } else { Err(NoWorkspace::OutsideRoots) };
        }
        if grants.iter().any(|grant| covers(grant, directory)) {
            return Ok(());
        }
        if is_everybodys(directory) {
            return Err(NoWorkspace::Shared);
        }
        let user = rustix::process::geteuid().as_raw();
        if fs::metadata(directory).is_ok_and(|found| found.uid() != user) || !directory.exists() {
            return Err(NoWorkspace::NotOwned);
        }
        let of_root =
            user == 0 && below(directory, &OF_ROOT) && PrivateDirectory::around(directory).is_none();
        let at_home = self.own_homes().any(|home| directory.starts_with(home));
        if of_root && !at_home { Err(NoWorkspace::System) } else { Ok(()) }
    }

    /// The innermost directory that the operator keeps commands to, around this one.
    pub(crate) fn root_around(&self, directory: &Path) -> Option<PathBuf> {
        let roots = self.projects.roots.iter().flatten().map(|root| canonical(root));
        let around = roots.filter(|root| directory.starts_with(root) && self.is_in_roots(root));
        around.max_by_key(|root| root.as_os_str().len())
    }

    /// Whether it is a home, of whomever.
    pub(crate) fn is_home(&self, directory: &Path) -> bool {
        self.own_homes().chain(&self.projects.homes.others).any(|home| home == directory)
    }

    pub(crate) fn own_homes(&self) -> impl Iterator<Item = &PathBuf> {
        let listed = &self.projects.homes.own;
        self.home.iter().filter(|home| !listed.contains(home)).chain(listed)
    }

    fn is_in_roots(&self, directory: &Path) -> bool {
        let lists = self.projects.roots.iter().filter(|list| !list.is_empty());
        lists.into_iter().all(|list| list.iter().any(|root| directory.starts_with(canonical(root))))
    }

    /// What people have named, by which a directory can be a project that would not be one otherwise.
    fn grants(&self, named: &[PathBuf]) -> Vec<PathBuf> {
        let roots: Vec<&PathBuf> = self.projects.roots.iter().flatten().collect();
        if roots.is_empty() {
            return self.projects.named.iter().chain(named).map(|path| canonical(path)).collect();
        }
        roots.into_iter().map(|path| canonical(path)).collect()
    }

    /// Where linked trees of a repository may be made that lie outside of it: what people have named around it.
    pub(crate) fn grounds(&self, root: &Path, named: &[PathBuf]) -> Vec<PathBuf> {
        let around = |grant: &PathBuf| {
            let is_around = root != grant && root.starts_with(grant) && !self.is_home(grant);
            is_around && self.project(grant, named).is_ok()
        };
        let grants = if repository::begins_at(root) { self.grants(named) } else { Vec::new() };
        grants.into_iter().filter(around).collect()
    }

    /// What is nobody's workspace, unless a person has named a place inside it.
    fn kept_from_all(&self, directory: &Path, grants: &[PathBuf]) -> Option<NoWorkspace> {
        let inside = |place: &Path| {
            grants.iter().any(|grant| grant.starts_with(place) && directory.starts_with(grant))
        };
        let further_inside = |place: &PathBuf| inside(place) && !grants.contains(place);
        if self.is_system(directory) {
            return Some(NoWorkspace::System);
        }
        let mut programs = self.projects.programs.iter().map(|path| canonical(path));
        if programs.any(|place| directory.starts_with(&place) && !further_inside(&place)) {
            return Some(NoWorkspace::Programs);
        }
        let mut others = self.projects.homes.others.iter();
        if others.any(|home| directory.starts_with(home) && !further_inside(home)) {
            return Some(NoWorkspace::OthersHome);
        }
        let homes = || self.own_homes().chain(&self.projects.homes.others);
        if homes().any(|home| directory == home) && !grants.iter().any(|grant| directory.starts_with(grant)) {
            return Some(NoWorkspace::Home);
        }
        if self.is_shared(directory) {
            return Some(NoWorkspace::Shared);
        }
        if self.is_guarded(directory) {
            return Some(NoWorkspace::Guarded);
        }
        let dotted = homes().find_map(|home| dotted(home, directory));
        dotted.filter(|place| !inside(place)).map(NoWorkspace::Dotted)
    }

    fn is_system(&self, directory: &Path) -> bool {
        let at_home = self.own_homes().any(|home| directory.starts_with(home));
        let private = PrivateDirectory::around(directory).is_some();
        below(directory, &SYSTEM) || (below(directory, &MOSTLY_SYSTEM) && !at_home && !private)
    }

    fn is_shared(&self, directory: &Path) -> bool {
        let above_home = self.own_homes().any(|home| home.starts_with(directory) && home != directory);
        let own = self.own_homes().any(|home| home == directory);
        above_home || (SHARED.iter().any(|shared| directory == Path::new(shared)) && !own)
    }

    /// Whether it lies in what would be protected if somebody worked further up.
    fn is_guarded(&self, directory: &Path) -> bool {
        let at_home = self.guarded_at_home().any(|path| directory.starts_with(path));
        let kept = self.kept.iter().any(|path| directory.starts_with(canonical(path)));
        let parts: Vec<&OsStr> = directory.iter().collect();
        let mut nexts = parts.iter().skip(1).copied().chain([OsStr::new("")]);
        let runs_code = parts.iter().any(|part| {
            let next = nexts.next().unwrap_or_default();
            let tree = TREES.iter().any(|(around, trees)| part == around && next == *trees);
            let mut names = RUN_CODE.iter().chain([&".git"]);
            !tree && (part.as_bytes().starts_with(OWN_NAMES) || names.any(|name| *part == *name))
        });
        let in_repository = directory.ancestors().skip(1).any(is_repository_at);
        at_home || kept || runs_code || in_repository
    }

    /// Whether a file, links resolved, belongs to the system alone.
    pub(crate) fn is_systems_own(file: &Path) -> bool {
        below(file, &SYSTEM)
    }
}

/// Whether what people named makes this directory a project. What everybody shares does so for itself alone.
fn covers(grant: &Path, directory: &Path) -> bool {
    let shared = SHARED.iter().any(|shared| grant == Path::new(shared)) && !is_root_at_home(grant);
    grant == directory || (directory.starts_with(grant) && !shared && !is_everybodys(grant))
}

/// `/root` is a home where it is this user's.
fn is_root_at_home(grant: &Path) -> bool {
    grant == Path::new("/root") && rustix::process::geteuid().is_root()
}

/// Whether it is one of those whose place is taken by a command's own.
fn is_everybodys(directory: &Path) -> bool {
    PrivateDirectory::ALL.iter().any(|one| directory == Path::new(one.path))
}

fn below(path: &Path, places: &[&str]) -> bool {
    places.iter().any(|place| path.starts_with(place))
}

/// The hidden directory of a home that this one is, or lies in.
fn dotted(home: &Path, directory: &Path) -> Option<PathBuf> {
    let first = directory.strip_prefix(home).ok()?.iter().next()?;
    first.as_bytes().starts_with(b".").then(|| home.join(first))
}

#[cfg(test)]
pub(crate) mod tests {
    use std::time::Duration;

    use runward_model::Profile;

    use super::*;
    use crate::settings::Fallback;

    pub(crate) fn settings(projects: Projects) -> Settings {
        Settings {
            profile: Profile::WorkspaceWrite,
            writable_roots: Vec::new(),
            deny_read: Vec::new(),
            own: Vec::new(),
            kept: Vec::new(),
            visible: Vec::new(),
            fallback: Fallback::Refuse,
            temporary_size: 1 << 30,
            held: None,
            keep: Duration::ZERO,
            home: None,
            caches: crate::caches::CacheSettings::default(),
            projects,
        }
    }

    fn place() -> (tempfile::TempDir, PathBuf) {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().canonicalize().unwrap();
        (place, path)
    }

    #[test]
    fn a_directory_of_this_users_is_a_project_but_no_home_no_path_and_nobody_elses() {
        let (_place, place) = place();
        let (home, other) = (place.join("ada"), place.join("bob"));
        for directory in ["ada/work", "ada/.cache/x", "ada/tools", "bob/work", "mine"] {
            fs::create_dir_all(place.join(directory)).unwrap();
        }
        let homes = Homes { own: vec![home.clone()], others: vec![other.clone()] };
        let projects = Projects { homes, programs: vec![home.join("tools")], ..Projects::default() };
        let unnamed = settings(projects.clone());
        let why = |path: &Path| unnamed.project(path, &[]).err();
        assert_eq!(why(&home.join("work")), None);
        assert_eq!(why(&place.join("mine")), None);
        assert_eq!(why(&home), Some(NoWorkspace::Home));
        assert_eq!(why(&home.join(".cache/x")), Some(NoWorkspace::Dotted(home.join(".cache"))));
        assert_eq!(why(&home.join("tools")), Some(NoWorkspace::Programs));
        assert_eq!(why(&other), Some(NoWorkspace::OthersHome));
        assert_eq!(why(&other.join("work")), Some(NoWorkspace::OthersHome));
        assert_eq!(why(&place), Some(NoWorkspace::Shared), "what is around a home");
        assert_eq!(why(Path::new("/nowhere")), Some(NoWorkspace::NotOwned));
        assert_eq!(why(Path::new("/tmp")), Some(NoWorkspace::Shared));

        // What a person names is one, as far as it was named.
        for named in [home.clone(), home.join(".cache"), other.join("work")] {
            assert_eq!(unnamed.project(&named, std::slice::from_ref(&named)), Ok(()), "{}", named.display());
        }
        let at_home = settings(Projects { named: vec![home.clone()], ..projects.clone() });
        assert_eq!(at_home.project(&home, &[]), Ok(()));
        assert!(at_home.project(&home.join(".cache/x"), &[]).is_err());
        assert!(at_home.project(&home.join("tools"), &[]).is_err());
        let beside = settings(Projects { named: vec!["/".into(), other.clone()], ..projects });
        assert!(beside.project(&other, &[]).is_err() && beside.project(Path::new("/nowhere"), &[]).is_err());
    }

    #[test]
    fn where_there_are_roots_nothing_outside_them_is_a_project() {
        let (_place, place) = place();
        for directory in ["in/side", "out"] {
            fs::create_dir_all(place.join(directory)).unwrap();
        }
        let roots = vec![vec![place.join("in")], Vec::new()];
        let rooted = settings(Projects { roots, named: vec![place.join("out")], ..Projects::default() });
        assert_eq!(rooted.project(&place.join("in/side"), &[]), Ok(()));
        assert_eq!(rooted.project(&place.join("out"), &[place.join("out")]), Err(NoWorkspace::OutsideRoots));
        assert_eq!(rooted.workspace_of(&place.join("in/side"), &[]).unwrap().root, place.join("in"));
        let both =
            Projects { roots: vec![vec![place.join("in")], vec![place.join("out")]], ..Projects::default() };
        assert!(settings(both).project(&place.join("in"), &[]).is_err());
    }
}
