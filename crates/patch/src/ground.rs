//! Where a patch may write, by the names of paths alone.

use std::path::{Component, Path, PathBuf};

use crate::error::Problem;

/// Where a patch is applied and where it may write.
#[derive(Clone, Debug)]
pub struct Ground {
    /// The canonical directory that its paths are relative to.
    pub directory: PathBuf,
    /// Every file must lie in one root of each of these.
    pub roots: Vec<Roots>,
    /// Files and directories inside the roots that stay as they are, there or not.
    pub protected: Vec<PathBuf>,
}

/// Canonical directories, and what says that they may be written to.
#[derive(Clone, Debug)]
pub struct Roots {
    /// The setting that lists them.
    pub setting: &'static str,
    /// The directories.
    pub paths: Vec<PathBuf>,
}

impl Ground {
    /// The absolute path that a patch names, without `.` and `..`. No link is ever followed, so these can be taken by their
    /// names.
    pub fn whole(&self, named: &str) -> PathBuf {
        normal(&self.directory.join(named))
    }

    /// The same for a file that may be written to.
    pub(crate) fn target(&self, named: &str) -> Result<PathBuf, Problem> {
        let is_directory =
            ["/", "/.", "/.."].iter().any(|end| named.ends_with(end)) || named == "." || named == "..";
        let target = self.whole(named);
        if is_directory || target.file_name().is_none() {
            return Err(Problem::NoName);
        }
        for Roots { setting, paths } in &self.roots {
            if !paths.iter().any(|root| target != *root && target.starts_with(root)) {
                return Err(Problem::Outside { path: target, setting, roots: paths.clone() });
            }
        }
        match self.protected.iter().find(|kept| target.starts_with(kept)) {
            Some(kept) => Err(Problem::Protected { path: target, kept: kept.clone() }),
            None => Ok(target),
        }
    }
}

/// An absolute path without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::from("/");
    for component in path.components() {
        match component {
            Component::Normal(name) => normal.push(name),
            Component::ParentDir => {
                normal.pop();
            }
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ground() -> Ground {
        let roots =
            |setting, paths: &[&str]| Roots { setting, paths: paths.iter().map(PathBuf::from).collect() };
        Ground {
            directory: "/w/p".into(),
            roots: vec![roots("one", &["/w", "/x"]), roots("two", &["/w/p"])],
            protected: vec!["/w/p/.git".into()],
        }
    }

    #[test]
    fn a_file_must_lie_in_one_root_of_every_list() {
        for (named, target) in
            [("a", "/w/p/a"), ("./b/../c", "/w/p/c"), ("/w/p/d", "/w/p/d"), ("../p/e", "/w/p/e")]
        {
            assert_eq!(ground().target(named).unwrap(), Path::new(target), "{named}");
        }
        for (named, by) in [
            ("../a", "two"),
            ("/x/a", "two"),
            ("/etc/passwd", "one"),
            ("../../../a", "one"),
            ("/w/pp/a", "two"),
        ] {
            let problem = ground().target(named).unwrap_err();
            assert!(
                matches!(problem, Problem::Outside { setting, .. } if setting == by),
                "{named}: {problem}"
            );
        }
    }

    #[test]
    fn what_is_protected_inside_a_root_stays() {
        for named in [".git", ".git/config", "x/../.git/hooks/pre-commit"] {
            assert!(matches!(ground().target(named), Err(Problem::Protected { .. })), "{named}");
        }
        assert!(ground().target(".gitignore").is_ok());
    }

    #[test]
    fn a_directory_is_no_file() {
        for named in ["a/", ".", "..", "a/..", "/", "a/."] {
            assert!(matches!(ground().target(named), Err(Problem::NoName)), "{named}");
        }
    }
}
