//! What of a workspace can be written, what in it stays as it is, and what is nobody's workspace.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use runward_model::PrivateDirectory;
use rustix::fs::Access;

use crate::lookup;
use crate::projects::NoWorkspace;
use crate::repository;
use crate::settings::{Settings, canonical};

/// What stays as it is in a home directory: what shells and sessions run by themselves.
pub(crate) const PROTECTED_AT_HOME: [&str; 52] = [
    ".asdf",
    ".bash_aliases",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".cache/runward",
    ".cargo/bin",
    ".cargo/config",
    ".cargo/config.toml",
    ".cargo/env",
    ".config",
    ".cursor",
    ".docker",
    ".emacs",
    ".emacs.d",
    ".forward",
    ".gdbinit",
    ".gemini",
    ".gitconfig",
    ".gnupg",
    ".inputrc",
    ".kube",
    ".local/bin",
    ".local/lib",
    ".local/share",
    ".login",
    ".npmrc",
    ".nvm",
    ".pam_environment",
    ".profile",
    ".pyenv",
    ".rbenv",
    ".screenrc",
    ".sdkman",
    ".ssh",
    ".tmux.conf",
    ".vim",
    ".viminfo",
    ".vimrc",
    ".vscode-server",
    ".windsurf",
    ".xinitrc",
    ".xprofile",
    ".xsession",
    ".xsessionrc",
    ".zed",
    ".zlogin",
    ".zprofile",
    ".zshenv",
    ".zshrc",
    "bin",
];

/// How settings of ours are called.
pub(crate) const OWN_NAMES: &[u8] = b".runward";

/// What the calls of one client in one project share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workspace {
    /// The repository that holds the directory, else the allowed root, else the directory itself.
    pub root: PathBuf,
    /// What else belongs to that repository: linked trees beside it, or the git directory that a linked tree shares.
    pub also: Vec<PathBuf>,
}

impl Settings {
    /// The workspace that holds a directory; `named` is what the client of the call names as its projects.
    pub fn workspace_of(&self, cwd: &Path, named: &[PathBuf]) -> Result<Workspace, NoWorkspace> {
        let own = self.project(cwd, named);
        let around = match &own {
            // What is inside a project may belong to others: what a container made, say.
            Ok(()) | Err(NoWorkspace::NotOwned) => self.repository_around(cwd, named),
            Err(why) => return Err(why.clone()),
        };
        let Some(root) = around else {
            own?;
            let root = self.root_around(cwd).filter(|root| !self.is_home(root));
            let root = root.filter(|root| self.project(root, named).is_ok());
            return Ok(Workspace { root: root.unwrap_or_else(|| cwd.to_owned()), also: Vec::new() });
        };
        let is_project = |path: &PathBuf| self.project(repository::owner(path), named).is_ok();
        let also = repository::relatives(&root).into_iter().filter(is_project).collect();
        Ok(Workspace { root, also })
    }

    /// The repository that holds a directory. Submodules belong to the one around them; a home is one for itself alone.
    fn repository_around(&self, cwd: &Path, named: &[PathBuf]) -> Option<PathBuf> {
        let begins = |directory: &&Path| {
            let alone = *directory != cwd && self.is_home(directory);
            !alone && repository::begins_at(directory) && self.project(directory, named).is_ok()
        };
        let ceilings: Vec<PathBuf> = self.projects.ceilings.iter().map(|path| canonical(path)).collect();
        let below =
            |directory: &&Path| *directory == cwd || !ceilings.iter().any(|ceiling| ceiling == directory);
        let mut trees = cwd.ancestors().take_while(below).filter(begins);
        let first = trees.next()?;
        let mut inner = first;
        for outer in trees {
            if !repository::is_submodule(inner, outer) {
                break;
            }
            inner = outer;
        }
        Some(inner.to_owned())
    }

    /// The workspace, if there is one, and the configured roots that there are.
    pub fn writable(&self, workspace: Option<&Workspace>) -> Vec<PathBuf> {
        let own = workspace.into_iter().flat_map(|found| std::iter::once(&found.root).chain(&found.also));
        let roots = self.writable_roots.iter().filter_map(|root| fs::canonicalize(root).ok());
        let mut writable: Vec<PathBuf> = own.cloned().chain(roots).collect();
        writable.sort_unstable();
        writable.dedup();
        // What lies in another is written there: a place of its own could not be moved or removed.
        let all = writable.clone();
        writable.retain(|path| !all.iter().any(|outer| outer != path && path.starts_with(outer)));
        writable
    }

    /// Whether a file, links resolved, lies where some command may write, whichever directory that command is given.
    pub fn may_be_written(&self, file: &Path) -> bool {
        let root = |root: &PathBuf| file.starts_with(canonical(root));
        let named = self.writable_roots.iter().chain(&self.home).any(root);
        (named || !Settings::is_systems_own(file)) && file.ancestors().any(is_ours)
    }

    pub(crate) fn guarded_at_home(&self) -> impl Iterator<Item = PathBuf> {
        self.own_homes().flat_map(|home| PROTECTED_AT_HOME.iter().map(|name| home.join(name)))
    }

    /// What would be out of sight in a directory that everybody shares.
    pub(crate) fn shown(&self, paths: &[&Path], writable: &[PathBuf]) -> Vec<PathBuf> {
        let is_inside = |path: &Path| PrivateDirectory::around(path).is_some();
        let is_one = |path: &PathBuf| PrivateDirectory::ALL.iter().any(|one| path == Path::new(one.path));
        let visible = self.visible.iter().filter_map(|path| fs::canonicalize(path).ok());
        // Whoever works in what everybody shares works in a command's own.
        let wanted = visible.chain(paths.iter().map(Into::into)).filter(|path| !is_one(path));
        let mut shown: Vec<PathBuf> = Vec::new();
        for path in wanted.filter(|path| is_inside(path)) {
            if !writable.iter().chain(&shown).any(|root| path.starts_with(root)) {
                shown.push(path);
            }
        }
        shown.sort_unstable();
        shown
    }

    /// What stays as it is in these roots, unless it is named as a root itself. What runs code by its name is held back
    /// instead, see [`crate::Broker`].
    pub(crate) fn protected(&self, writable: &[PathBuf]) -> Vec<PathBuf> {
        let named = |path: &PathBuf| self.writable_roots.iter().any(|root| root == path);
        let inside = |path: &PathBuf| writable.iter().any(|root| path.starts_with(root) && path != root);
        // A link to what is hidden is kept as well as what it leads to.
        let found = lookup::places(self.deny_read.iter().chain(&self.own));
        let (unread, own) = found.places.split_at(self.deny_read.len());
        let unread = unread.iter().map(|place| place.path.clone()).chain(self.deny_read.iter().cloned());
        let own = own.iter().filter(|place| place.exists).map(|place| place.path.clone());
        let kept = self.kept.iter().map(|path| canonical(path)).chain(unread).chain(own);
        let programs = self.projects.programs.iter().map(|path| canonical(path));
        let others = self.projects.homes.others.iter().cloned();
        let usual = self.guarded_at_home().chain(programs).chain(others).filter(|path| !named(path));
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

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::homes::Homes;
    use crate::projects::Projects;
    use crate::projects::tests::settings;

    fn git(cwd: &Path, words: &[&str]) {
        #[expect(clippy::disallowed_methods, reason = "a test makes a repository")]
        let mut git = Command::new("git");
        git.current_dir(cwd).args([
            "-c",
            "protocol.file.allow=always",
            "-c",
            "user.name=t",
            "-c",
            "user.email=t",
        ]);
        git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
        let done = git.args(words).output().unwrap();
        assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
    }

    #[test]
    fn a_repository_with_its_trees_and_submodules_is_one_workspace() {
        let place = tempfile::tempdir().unwrap();
        let place = place.path().canonicalize().unwrap();
        let (main, part) = (place.join("main"), place.join("part"));
        for repository in [&main, &part] {
            fs::create_dir(repository).unwrap();
            git(repository, &["init", "-q"]);
            git(repository, &["commit", "-q", "--allow-empty", "-m", "x"]);
        }
        git(&main, &["submodule", "--quiet", "add", part.to_str().unwrap(), "deep/part"]);
        git(&main, &["commit", "-q", "-m", "part"]);
        git(&main, &["worktree", "add", "-q", "../tree"]);
        git(&place.join("tree"), &["submodule", "--quiet", "update", "--init"]);
        fs::create_dir_all(main.join("a/b")).unwrap();

        let settings = settings(Projects::default());
        let of = |path: PathBuf| {
            let Workspace { root, also } = settings.workspace_of(&path, &[]).unwrap();
            (root, also)
        };
        let whole = (main.clone(), vec![place.join("tree")]);
        assert_eq!(of(main.clone()), whole);
        assert_eq!(of(main.join("a/b")), whole);
        assert_eq!(of(main.join("deep/part")), whole);
        let tree = (place.join("tree"), vec![main.join(".git")]);
        assert_eq!(of(place.join("tree")), tree);
        assert_eq!(of(place.join("tree/deep/part")), tree);
        assert_eq!(of(part.clone()), (part.clone(), Vec::new()));

        // A tree that names somebody else's repository is believed as little as a repository that names somebody's tree.
        let forged = place.join("forged");
        fs::create_dir(&forged).unwrap();
        fs::copy(place.join("tree/.git"), forged.join(".git")).unwrap();
        assert_eq!(of(forged.clone()), (forged.clone(), Vec::new()));
        let entry = part.join(".git/worktrees/x");
        fs::create_dir_all(&entry).unwrap();
        fs::write(entry.join("gitdir"), main.join(".git").to_str().unwrap()).unwrap();
        assert_eq!(of(part.clone()).1, Vec::<PathBuf>::new());
        fs::write(entry.join("gitdir"), place.join("tree/.git").to_str().unwrap()).unwrap();
        assert_eq!(of(part.clone()).1, Vec::<PathBuf>::new());
    }

    #[test]
    fn a_repository_at_home_is_no_workspace_for_what_lies_in_it() {
        let place = tempfile::tempdir().unwrap();
        let home = place.path().canonicalize().unwrap();
        for directory in [".git", "work/sub"] {
            fs::create_dir_all(home.join(directory)).unwrap();
        }
        let homes = Homes { own: vec![home.clone()], others: Vec::new() };
        let settings = settings(Projects { homes, named: vec![home.clone()], ..Projects::default() });
        assert_eq!(settings.workspace_of(&home.join("work/sub"), &[]).unwrap().root, home.join("work/sub"));
        assert_eq!(settings.workspace_of(&home, &[]).unwrap().root, home);
    }
}
