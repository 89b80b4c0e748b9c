//! Names by which other programs find code: what a confined command makes under them is held back.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::workspace::OWN_NAMES;

/// Files and directories, at any depth, from which editors, agents and shells run code by themselves.
pub(crate) const RUN_CODE: [&str; 14] = [
    ".claude",
    ".codex",
    ".cursor",
    ".devcontainer",
    ".devcontainer.json",
    ".envrc",
    ".gemini",
    ".hg",
    ".idea",
    ".mcp.json",
    ".vscode",
    ".windsurf",
    ".zed",
    ".mise.toml",
];

/// Where trees of a repository lie that some clients make inside what is otherwise held back.
pub(crate) const TREES: [(&str, &str); 1] = [(".claude", "worktrees")];

/// What stands between a path and its being made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ruling {
    /// Nothing.
    Free,
    /// It is held back, as a whole with everything below `unit`.
    Held { unit: PathBuf, kind: Kind },
    /// It stays as it is.
    Kept,
}

/// What is held back, and so what could release it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// A configuration of git: its harmless entries are published.
    Configuration,
    /// A file that tells git where another directory is: published when it leads to the same repository.
    Pointer,
    /// Anything else: a person decides.
    Code,
}

/// What is about to come to be at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Making {
    /// A directory.
    Directory,
    /// A file, or anything else.
    File,
}

/// Names that make a directory a repository's own once they are all there.
pub(crate) fn completes_a_repository(name: &OsStr) -> bool {
    ["HEAD", "objects", "refs"].iter().any(|known| name == *known)
}

/// Whether anything about a path below a root depends on its names; the rest is free without a look at the disk.
pub(crate) fn is_telling(relative: &Path) -> bool {
    relative.components().any(|part| {
        let name = part.as_os_str();
        is_code(name)
            || is_own(name)
            || completes_a_repository(name)
            || GIT_NAMES.iter().any(|known| name == *known)
    })
}

/// Whether a directory is a repository's own, by what is in it.
pub(crate) fn is_repository_at(place: &Path) -> bool {
    ["HEAD", "objects", "refs"].iter().all(|name| place.join(name).exists())
}

/// What of a path below writable roots would be held back if a command made it, if anything.
pub fn runs_code(roots: &[PathBuf], path: &Path) -> Option<PathBuf> {
    let around = roots.iter().filter(|root| path.starts_with(root));
    let root = around.max_by_key(|root| root.as_os_str().len())?;
    match rule(root, path.strip_prefix(root).ok()?, Making::File, is_repository_at) {
        Ruling::Free => None,
        Ruling::Held { unit, .. } => Some(unit),
        Ruling::Kept => Some(path.to_owned()),
    }
}

/// What a path among what is held back of a root is, unless it only leads to something that is.
pub(crate) fn unit(
    root: &Path,
    relative: &Path,
    making: Making,
    is_repository: impl Fn(&Path) -> bool,
) -> Option<Kind> {
    let leads_on = making == Making::Directory && relative.file_name() == Some(OsStr::new(".git"));
    match rule(root, relative, Making::File, is_repository) {
        Ruling::Held { unit, kind } if !leads_on && unit == root.join(relative) => Some(kind),
        _ => None,
    }
}

/// Whether a directory that is moved to a path below a root may bring along what would be code there.
pub(crate) fn becomes_code(root: &Path, relative: &Path) -> bool {
    let known = |name: &OsStr| is_code(name) || is_own(name) || GIT_NAMES.iter().any(|known| name == *known);
    let parts: Vec<&OsStr> = relative.components().map(std::path::Component::as_os_str).collect();
    let inside =
        if is_git(root) { Some(0) } else { parts.iter().position(|name| *name == ".git").map(|at| at + 1) };
    let inside = inside.and_then(|at| parts.get(at..)).unwrap_or_default();
    parts.last().is_some_and(|name| known(name)) || inside.first().is_some_and(|name| known(name))
}

/// Names that mean something inside a repository's own directory, and that directory's usual name.
const GIT_NAMES: [&str; 7] =
    [".git", "config", "config.worktree", "commondir", "hooks", "modules", "worktrees"];

/// What rules over a path below a root; `is_repository` tells whether a directory is a repository's own by its content.
pub(crate) fn rule(
    root: &Path,
    relative: &Path,
    making: Making,
    is_repository: impl Fn(&Path) -> bool,
) -> Ruling {
    let mut inside = is_git(root) || is_repository(root);
    let mut place = root.to_owned();
    let parts: Vec<&OsStr> = relative.components().map(std::path::Component::as_os_str).collect();
    for (at, name) in parts.iter().enumerate() {
        let rest = parts.get(at..).unwrap_or_default();
        if inside {
            return in_repository_or_below(&place, rest, making, &is_repository);
        }
        place.push(name);
        let is_last = rest.len() == 1;
        if is_own(name) {
            return Ruling::Kept;
        }
        // These make a repository of a directory that holds nothing else of one.
        if ["commondir", "config.worktree"].iter().any(|it| name == it) {
            return Ruling::Kept;
        }
        if is_code(name) && !is_tree(rest, making) {
            return Ruling::Held { unit: place, kind: Kind::Code };
        }
        if *name == ".git" {
            if is_last {
                let pointer = Ruling::Held { unit: place, kind: Kind::Pointer };
                return if making == Making::Directory { Ruling::Free } else { pointer };
            }
            inside = true;
        } else if !is_last && rest.iter().skip(1).any(|part| GIT_NAMES.iter().any(|known| part == known)) {
            inside = is_repository(&place);
        }
    }
    Ruling::Free
}

/// The same inside a repository's own directory, and inside whatever is a repository by itself in there.
fn in_repository_or_below(
    git: &Path,
    rest: &[&OsStr],
    making: Making,
    is_repository: &impl Fn(&Path) -> bool,
) -> Ruling {
    if rest.iter().any(|part| is_own(part)) {
        return Ruling::Kept;
    }
    let ruled = in_repository(git, rest, making, is_repository);
    if ruled != Ruling::Free || !rest.iter().skip(1).any(|part| GIT_NAMES.iter().any(|known| part == known)) {
        return ruled;
    }
    let mut place = git.to_owned();
    for (at, name) in rest.iter().enumerate() {
        place.push(name);
        let below = rest.get(at + 1..).unwrap_or_default();
        if !below.is_empty() && (is_git(&place) || is_repository(&place)) {
            let ruled = in_repository(&place, below, making, is_repository);
            if ruled != Ruling::Free {
                return ruled;
            }
        }
    }
    Ruling::Free
}

/// The same inside a repository's own directory.
fn in_repository(
    git: &Path,
    rest: &[&OsStr],
    making: Making,
    is_repository: &impl Fn(&Path) -> bool,
) -> Ruling {
    let text = |at: usize| rest.get(at).and_then(|part| part.to_str()).unwrap_or_default();
    let unit = |depth: usize| rest.iter().take(depth).fold(git.to_owned(), |path, part| path.join(part));
    let held = |depth, kind| Ruling::Held { unit: unit(depth), kind };
    match text(0) {
        "config" | "config.worktree" => held(1, Kind::Configuration),
        // Git fails on an empty one, so nothing may even stand in for it.
        "commondir" => Ruling::Kept,
        "hooks" => hooks(&unit(1), rest, making),
        "worktrees" => match text(2) {
            "config.worktree" => held(3, Kind::Configuration),
            "commondir" => held(3, Kind::Pointer),
            _ => Ruling::Free,
        },
        "modules" => in_modules(git, rest, making, is_repository),
        _ => Ruling::Free,
    }
}

/// The same among the repositories of submodules. Their names have slashes in them and may be any word: only what is
/// known to be a repository has data inside.
fn in_modules(git: &Path, rest: &[&OsStr], making: Making, is_repository: &impl Fn(&Path) -> bool) -> Ruling {
    let mut place = git.to_owned();
    for (at, name) in rest.iter().enumerate() {
        let around = place.clone();
        place.push(name);
        let is = |known: &[&str]| at > 0 && known.iter().any(|known| *name == *known);
        if is(&["hooks"]) {
            return hooks(&place, rest.get(at..).unwrap_or_default(), making);
        }
        if is(&["config", "config.worktree"]) {
            return Ruling::Held { unit: place, kind: Kind::Configuration };
        }
        if is(&["commondir"]) {
            return Ruling::Kept;
        }
        if is(&["objects", "refs", "logs", "info"]) && is_repository(&around) {
            return Ruling::Free;
        }
    }
    Ruling::Free
}

/// Examples of hooks are no hooks, and neither is an empty directory. `rest` begins with the directory itself.
fn hooks(directory: &Path, rest: &[&OsStr], making: Making) -> Ruling {
    let is_example = rest.last().is_some_and(|name| name.as_bytes().ends_with(b".sample"));
    let is_free = match rest.len() {
        1 => making == Making::Directory,
        2 => is_example && making == Making::File,
        _ => false,
    };
    if is_free { Ruling::Free } else { Ruling::Held { unit: directory.to_owned(), kind: Kind::Code } }
}

fn is_git(directory: &Path) -> bool {
    directory.file_name() == Some(OsStr::new(".git"))
}

fn is_code(name: &OsStr) -> bool {
    RUN_CODE.iter().any(|known| name == *known) || name.as_bytes().ends_with(b".code-workspace")
}

fn is_own(name: &OsStr) -> bool {
    name.as_bytes().starts_with(OWN_NAMES)
}

fn is_tree(rest: &[&OsStr], making: Making) -> bool {
    let second = |name: &str| rest.get(1).is_some_and(|second| *second == name);
    let is_way = |(first, name): &(&str, &str)| {
        rest.first().is_some_and(|own| own == first)
            && (second(name) || (rest.len() == 1 && making == Making::Directory))
    };
    TREES.iter().any(is_way)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &str, making: Making) -> Ruling {
        let known = |directory: &Path| {
            ["bare", "a"].iter().any(|name| directory.ends_with(name) && directory != Path::new("/w/a"))
        };
        rule(Path::new("/w"), Path::new(path), making, known)
    }

    fn unit(path: &str) -> Option<String> {
        match of(path, Making::File) {
            Ruling::Held { unit, .. } => Some(unit.strip_prefix("/w").unwrap().to_str().unwrap().to_owned()),
            _ => None,
        }
    }

    #[test]
    fn what_only_holds_data_is_free() {
        for path in [
            "src/main.rs",
            "config",
            "hooks/x",
            "a/config/b",
            ".git/HEAD",
            ".git/index.lock",
            ".git/config.lock",
            ".git/refs/heads/config",
            ".git/objects/ab/cd",
            ".git/logs/HEAD",
            ".git/info/exclude",
            ".git/hooks/pre-commit.sample",
            ".git/worktrees/x/HEAD",
            ".git/worktrees/x/gitdir",
            ".git/modules/a/objects/x",
            ".git/modules/a/refs/heads/config",
            ".github/workflows/x.yml",
            ".gitignore",
            ".claude/worktrees/a/src/x",
            "bare/refs/heads/main",
            ".git/refs/heads/hooks/x",
        ] {
            assert_eq!(of(path, Making::File), Ruling::Free, "{path}");
        }
        for path in [".git", ".git/hooks", "sub/.git", ".claude"] {
            assert_eq!(of(path, Making::Directory), Ruling::Free, "{path}");
        }
    }

    #[test]
    fn what_runs_code_is_held_back_at_any_depth() {
        for (path, expected) in [
            (".git/config", ".git/config"),
            (".git/config.worktree", ".git/config.worktree"),
            (".git/hooks/pre-commit", ".git/hooks"),
            (".git/hooks/a.sample/b", ".git/hooks"),
            (".git/worktrees/x/commondir", ".git/worktrees/x/commondir"),
            (".git/worktrees/x/config.worktree", ".git/worktrees/x/config.worktree"),
            (".git/modules/a/b/hooks/x", ".git/modules/a/b/hooks"),
            (".git/modules/a/config", ".git/modules/a/config"),
            (".git/worktrees/bare/config", ".git/worktrees/bare/config"),
            (".git/objects/bare/hooks/x", ".git/objects/bare/hooks"),
            (".git/x/.git/config", ".git/x/.git/config"),
            (".git/modules/objects/hooks/x", ".git/modules/objects/hooks"),
            (".git/modules/x/objects/config", ".git/modules/x/objects/config"),
            ("a/b/.git/config", "a/b/.git/config"),
            (".git", ".git"),
            ("a/.git", "a/.git"),
            ("bare/config", "bare/config"),
            ("bare/hooks/x", "bare/hooks"),
            (".vscode/tasks.json", ".vscode"),
            ("a/.mcp.json", "a/.mcp.json"),
            (".claude/settings.json", ".claude"),
            ("x.code-workspace", "x.code-workspace"),
        ] {
            assert_eq!(unit(path).as_deref(), Some(expected), "{path}");
        }
        assert_eq!(of(".runward.toml", Making::File), Ruling::Kept);
        for path in ["sub/.runward/x", ".git/commondir", "a/commondir", "a/config.worktree"] {
            assert_eq!(of(path, Making::File), Ruling::Kept, "{path}");
        }
    }

    #[test]
    fn a_root_that_is_a_repositorys_own_directory_is_known() {
        let ruled = |root: &str, path: &str| rule(Path::new(root), Path::new(path), Making::File, |_| false);
        assert!(matches!(ruled("/w/.git", "hooks/x"), Ruling::Held { .. }));
        assert_eq!(ruled("/w/.git", "index"), Ruling::Free);
        assert_eq!(ruled("/w/.vscode", "tasks.json"), Ruling::Free, "whoever names it means it");
    }

    #[test]
    fn only_telling_names_are_looked_at() {
        assert!(
            is_telling(Path::new("a/.git/x"))
                && is_telling(Path::new("refs"))
                && is_telling(Path::new("a/.envrc"))
        );
        assert!(!is_telling(Path::new("src/lib.rs")));
    }
}
