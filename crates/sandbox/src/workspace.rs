//! What of a workspace can be written, what in it stays as it is, and what is nobody's workspace.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use runward_model::PrivateDirectory;
use rustix::fs::Access;

use crate::settings::{Settings, canonical};

/// What stays read-only in every writable root: what runs code on other programs' behalf.
const PROTECTED: [&str; 9] = [
    ".git/hooks",
    ".git/config",
    ".runward",
    ".runward.toml",
    ".vscode",
    ".idea",
    ".mcp.json",
    ".claude",
    ".codex",
];

/// The same in a home directory: what shells and sessions run by themselves.
const PROTECTED_AT_HOME: [&str; 20] = [
    ".bash_aliases",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".cache/runward",
    ".cargo/bin",
    ".config",
    ".gitconfig",
    ".local/bin",
    ".local/share",
    ".pam_environment",
    ".ssh",
    ".xprofile",
    "bin",
];

/// Directories that are never somebody's workspace, however a command came to run there; what is below them may be.
const SHARED: [&str; 8] = ["/", "/home", "/media", "/mnt", "/opt", "/root", "/srv", "/var"];

/// The system's own, with everything below.
const SYSTEM: [&str; 13] = [
    "/bin",
    "/boot",
    "/etc",
    "/lib",
    "/lib32",
    "/lib64",
    "/proc",
    "/run",
    "/sbin",
    "/sys",
    "/usr",
    "/var/log",
    "/var/spool",
];

/// The same, but for a home that lies there, and for directories that everybody shares.
const MOSTLY_SYSTEM: [&str; 3] = ["/dev", "/var/cache", "/var/lib"];

/// How settings of ours are called.
const OWN_NAMES: &[u8] = b".runward";

impl Settings {
    /// The working directory, if it can be somebody's workspace, and the configured roots that there are.
    pub fn writable(&self, cwd: &Path) -> Vec<PathBuf> {
        let own = (!self.is_system_directory(cwd)).then(|| cwd.to_owned());
        let roots = self.writable_roots.iter().filter_map(|root| fs::canonicalize(root).ok());
        let mut writable: Vec<PathBuf> = own.into_iter().chain(roots).collect();
        writable.sort_unstable();
        writable.dedup();
        writable
    }

    /// Whether a directory belongs to the system or to everybody.
    pub fn is_system_directory(&self, cwd: &Path) -> bool {
        let below = |places: &[&str]| places.iter().any(|place| cwd.starts_with(place));
        let home = self.home.as_deref();
        let at_home = home.is_some_and(|home| cwd.starts_with(home));
        let above_home = home.is_some_and(|home| home.starts_with(cwd) && home != cwd);
        let shared = SHARED.iter().any(|shared| cwd == Path::new(shared)) && home != Some(cwd);
        let private = PrivateDirectory::around(cwd).is_some();
        let system = below(&SYSTEM) || (below(&MOSTLY_SYSTEM) && !at_home && !private);
        above_home || shared || system || self.is_guarded(cwd)
    }

    /// Whether a file, links resolved, lies where some command may write, whichever directory that command is given.
    pub fn may_be_written(&self, file: &Path) -> bool {
        let below = |places: &[&str]| places.iter().any(|place| file.starts_with(place));
        let root = |root: &PathBuf| file.starts_with(canonical(root));
        let named = self.writable_roots.iter().chain(&self.home).any(root);
        (named || !below(&SYSTEM)) && file.ancestors().any(is_ours)
    }

    /// Whether it lies in what would be protected if somebody worked further up.
    fn is_guarded(&self, cwd: &Path) -> bool {
        let runs_code = |part: &OsStr| {
            let directories = PROTECTED.iter().filter_map(|name| name.split('/').next());
            part.as_bytes().starts_with(OWN_NAMES) || directories.into_iter().any(|name| part == name)
        };
        let at_home = self.guarded_at_home().any(|path| cwd.starts_with(path));
        let kept = self.kept.iter().any(|path| cwd.starts_with(canonical(path)));
        at_home || kept || cwd.iter().any(runs_code)
    }

    fn guarded_at_home(&self) -> impl Iterator<Item = PathBuf> {
        let join = |home: &PathBuf| PROTECTED_AT_HOME.iter().map(|name| home.join(name)).collect::<Vec<_>>();
        self.home.as_ref().map(join).unwrap_or_default().into_iter()
    }

    /// What would be out of sight in a directory that everybody shares.
    pub(crate) fn shown(&self, paths: &[&Path], writable: &[PathBuf]) -> Vec<PathBuf> {
        let is_inside = |path: &Path| PrivateDirectory::around(path).is_some();
        let is_one = |path: &PathBuf| PrivateDirectory::ALL.iter().any(|one| path == Path::new(one.path));
        let visible = self.visible.iter().filter_map(|path| fs::canonicalize(path).ok());
        let visible = visible.filter(|path| !is_one(path));
        let mut shown: Vec<PathBuf> = Vec::new();
        for path in visible.chain(paths.iter().map(Into::into)).filter(|path| is_inside(path)) {
            if !writable.iter().chain(&shown).any(|root| path.starts_with(root)) {
                shown.push(path);
            }
        }
        shown.sort_unstable();
        shown
    }

    /// What stays read-only in these roots, unless it is named as a root itself.
    pub(crate) fn protected(&self, writable: &[PathBuf]) -> Vec<PathBuf> {
        let named = |path: &PathBuf| self.writable_roots.iter().any(|root| root == path);
        let below = |root: &PathBuf| {
            // Whoever names the inside of a repository for git's sake does not mean its hooks.
            let inside =
                if root.file_name() == Some(OsStr::new(".git")) { &["hooks", "config"][..] } else { &[] };
            let known = PROTECTED.iter().chain(inside).map(|name| root.join(name));
            known.chain(own_settings(root)).chain(submodules(root)).collect::<Vec<PathBuf>>()
        };
        let inside = |path: &PathBuf| writable.iter().any(|root| path.starts_with(root) && path != root);
        // A link to what is hidden is kept as well as what it leads to.
        let unread = self.deny_read.iter().flat_map(|path| [path.clone(), canonical(path)]);
        let own = self.own.iter().filter_map(|path| fs::canonicalize(path).ok());
        let kept = self.kept.iter().map(|path| canonical(path)).chain(unread).chain(own);
        let usual = writable.iter().flat_map(below).chain(self.guarded_at_home());
        let usual = usual.filter(|path| !named(path));
        let mut protected: Vec<PathBuf> = usual.chain(kept).filter(inside).collect();
        protected.sort_unstable();
        protected.dedup();
        protected
    }
}

/// Whether this user may write a file, or change that.
fn is_ours(path: &Path) -> bool {
    let user = rustix::process::geteuid().as_raw();
    let owned = fs::metadata(path).is_ok_and(|found| found.uid() == user);
    owned || rustix::fs::access(path, Access::WRITE_OK).is_ok()
}

/// Whatever is called as if it were settings of ours.
fn own_settings(root: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    let is_ours = |entry: &fs::DirEntry| entry.file_name().as_bytes().starts_with(OWN_NAMES);
    entries.filter(is_ours).map(|entry| entry.path())
}

/// The same of repositories inside a repository, whose own files lie in the outer one.
fn submodules(root: &Path) -> impl Iterator<Item = PathBuf> {
    let modules = fs::read_dir(root.join(".git/modules")).into_iter().flatten().flatten();
    modules.flat_map(|module| ["hooks", "config"].map(|name| module.path().join(name)))
}
