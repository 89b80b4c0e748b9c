//! Links that may lead elsewhere when a command follows them: `/proc/self/cwd` is the server's directory when the server
//! looks, and the command's when the command does; and a link that commands may turn leads wherever they want by then.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use rustix::fs::PROC_SUPER_MAGIC;

use crate::Writable;

/// Links on one way, more than this, are not followed; the system follows no more either.
const MOST_LINKS: usize = 40;

/// The first link on the way to an absolute path that depends on who follows it: any that `/proc` makes up, however it
/// is reached. Elsewhere what is not there leads nowhere for anybody.
pub(crate) fn link_by_viewer(path: &Path) -> Option<PathBuf> {
    first_link(path, |_, here| is_made_up(here))
}

/// The first link on the way to an absolute path that somebody could turn before it is followed. What the path itself names
/// is not on the way to it.
pub(crate) fn link_to_turn(path: &Path, may_be_written: &Writable<'_>) -> Option<PathBuf> {
    first_link(path.parent()?, |step, _| may_be_written(step))
}

/// The first link on the way that leads where it wants: one of which `counts` says so, given the link and its directory.
fn first_link(path: &Path, counts: impl Fn(&Path, &Path) -> bool) -> Option<PathBuf> {
    let mut left: VecDeque<OsString> = parts(path);
    let mut here = PathBuf::from("/");
    let mut links = 0;
    while let Some(part) = left.pop_front() {
        if part == ".." {
            here.pop();
            continue;
        }
        let step = here.join(&part);
        let target = match std::fs::read_link(&step) {
            Ok(target) => target,
            // What the server may not follow, or does not find, a command may.
            Err(error) if error.kind() != ErrorKind::InvalidInput && is_made_up(&here) => return Some(step),
            Err(_) => {
                here = step;
                continue;
            }
        };
        links += 1;
        if links > MOST_LINKS || counts(&step, &here) {
            return Some(step);
        }
        if target.is_absolute() {
            here = PathBuf::from("/");
        }
        for part in parts(&target).into_iter().rev() {
            left.push_front(part);
        }
    }
    None
}

/// The sentence for a program that is named through such a link.
pub(crate) fn advice(name: &str, link: &Path) -> String {
    let link = link.display();
    format!(
        "\"{name}\" goes through {link}, which leads elsewhere for each process that follows it, so what would run cannot be \
         judged; write the program's real path"
    )
}

/// The sentence for a program on whose way such a link is.
pub(crate) fn advice_to_turn(name: &str, link: &Path) -> String {
    let link = link.display();
    format!(
        "\"{name}\" goes through {link}, a link that a command could turn before it is followed, so what would run cannot be \
         judged; write the program's real path"
    )
}

/// Whether links in this directory are made up by the system for whoever looks.
fn is_made_up(directory: &Path) -> bool {
    directory.starts_with("/proc")
        || rustix::fs::statfs(directory).is_ok_and(|found| found.f_type == PROC_SUPER_MAGIC)
}

fn parts(path: &Path) -> VecDeque<OsString> {
    let part = |part: Component<'_>| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    };
    path.components().filter_map(part).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn every_link_of_proc_depends_on_who_looks_however_it_is_reached() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        symlink("/proc/self/cwd", at("here")).unwrap();
        symlink("here/usr", at("further")).unwrap();
        symlink("/proc", at("p")).unwrap();
        let (far, p) = (at("further/bin/ls"), at("p/1/root/usr/bin/ls"));
        for path in [
            "/proc/self/cwd/usr/bin/ls",
            "/proc/thread-self/root/usr/bin/ls",
            "/usr/../proc/./self/exe",
            "/dev/fd/../cwd/usr/bin/ls",
            "/dev/fd/3",
            "/dev/stdin",
            "//proc//self/cwd",
            "/proc/4194305/cwd/ls",
            far.to_str().unwrap(),
            p.to_str().unwrap(),
        ] {
            assert!(link_by_viewer(Path::new(path)).is_some(), "{path}");
        }
    }

    #[test]
    fn other_links_lead_to_the_same_for_everybody() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        symlink("/usr", at("usr")).unwrap();
        symlink("../..", at("up")).unwrap();
        for path in
            [at("usr/bin/ls"), at("up"), "/bin/sh".into(), "/none/at/all".into(), "/proc/version".into()]
        {
            assert_eq!(link_by_viewer(&path), None, "{}", path.display());
        }
    }

    #[test]
    fn a_link_on_the_way_counts_where_it_may_be_turned() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        symlink("/usr", at("usr")).unwrap();
        symlink("/usr/bin/ls", at("ls")).unwrap();
        let (anywhere, nowhere): (&Writable<'_>, &Writable<'_>) = (&|_| true, &|_| false);
        assert_eq!(link_to_turn(&at("usr/bin/ls"), anywhere), Some(at("usr")));
        assert_eq!(link_to_turn(&at("usr/../etc/ls"), anywhere), Some(at("usr")));
        assert_eq!(link_to_turn(&at("usr/bin/ls"), nowhere), None);
        assert_eq!(link_to_turn(&at("ls"), anywhere), None, "itself it is where its directory says");
        assert_eq!(
            link_to_turn(&at("none/ls"), anywhere),
            None,
            "nothing is there, which is judged elsewhere"
        );
    }

    #[test]
    fn a_way_that_never_ends_is_not_followed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("loop");
        symlink("loop", &path).unwrap();
        assert!(link_by_viewer(&path).is_some());
    }
}
