//! The inside of a sandbox: what a command sees of the host.

use std::ffi::{CStr, CString};
use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use runward_model::{Fence, Network, Tier};
use rustix::fs::FileType;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};

use crate::mounts::{self, Depth};
use crate::namespaces::{self, Namespaces};
use crate::private::Private;
use crate::restrictions::Restrictions;
use crate::{capabilities, devices, loopback, services};

/// What remains of `/run`: programs of systems that keep them there. Everything else there listens.
const KEPT_RUN: [&str; 4] =
    ["/run/current-system", "/run/booted-system", "/run/wrappers", "/run/opengl-driver"];

/// Where the command's terminal is, should it have one.
const CONSOLE: &str = "/dev/console";

/// Where names are looked up from, for those who may.
const RESOLVER: &str = "/run/systemd/resolve";

/// The inside of a sandbox, built by the first process of a new PID namespace and used for one command at a time.
#[derive(Debug)]
pub struct Enclosure {
    private: Private,
    restrictions: Restrictions,
    /// The host's terminals, which have no name in here.
    terminals: Option<OwnedFd>,
}

/// A path in a writable root that must stay as it is.
enum Guarded {
    /// It is there, behind these directories.
    There { behind: Vec<PathBuf>, path: PathBuf },
    /// It is not; these directories lead to where it would be.
    Missing { behind: Vec<PathBuf> },
}

impl Enclosure {
    /// Makes the namespaces and everything in them. The caller was made with [`Namespaces::clone_flags`].
    pub fn build(fence: &Fence, namespaces: &Namespaces) -> io::Result<Self> {
        let services = services::listening();
        namespaces.enter(fence.network)?;
        let (writable, shown) = (copies(&fence.writable)?, visible(&fence.shown));
        let inner = inside_protected(fence);
        let inner = copies(&inner)?;
        mounts::make_read_only(mounts::root()?, Depth::All)?;
        let private = Private::mount(fence.temporary_size)?;
        let kept = kept_run(fence.network);
        let terminals = mounts::open(c"/dev/pts").ok();
        devices::furnish(&private)?;
        furnish_run(&private, kept)?;
        private.attach_temporary()?;
        if fence.tier == Tier::Full {
            let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC | MountFlags::RDONLY;
            mount("proc", "/proc", "proc", flags, None)?;
        }
        for (path, tree) in shown {
            mounts::make_read_only(&tree, Depth::All)?;
            show(path, tree)?;
        }
        for (path, tree) in writable {
            show(path, tree)?;
        }
        for place in [c"/dev", c"/run"] {
            mounts::make_read_only(mounts::open(place)?, Depth::One)?;
        }
        protect_all(fence, &private)?;
        for (path, tree) in inner {
            mounts::attach(tree, path)?;
        }
        for path in fence.hidden.iter().filter_map(|path| fs::canonicalize(mounts::path(path)).ok()) {
            unless_gone(private.cover(&path))?;
        }
        let is_own = |socket: &Path| root_of(socket, fence).is_some_and(|root| !is_shared(root));
        for socket in services.iter().filter_map(|socket| fs::canonicalize(socket).ok()) {
            if !is_own(&socket) && socket.symlink_metadata().is_ok_and(|it| it.file_type().is_socket()) {
                unless_gone(private.cover(&socket))?;
            }
        }
        if fence.network.is_own() {
            loopback::bring_up()?;
        }
        let restrictions = Restrictions::enclosed(&places(&fence.writable))?;
        capabilities::bound();
        Ok(Enclosure { private, restrictions, terminals })
    }

    /// What a command in here takes on.
    pub fn restrictions(&self) -> &Restrictions {
        &self.restrictions
    }

    /// Covers places that were made to keep something missing.
    pub fn cover(&self, fence: &Fence) -> io::Result<()> {
        fence.placeholders.iter().try_for_each(|place| self.private.cover_missing(mounts::path(place)))
    }

    /// Makes it fit for the next command: nothing of the last one is left. All its processes are gone.
    pub fn clean(&self) -> io::Result<()> {
        while unmount(CONSOLE, UnmountFlags::DETACH).is_ok() {}
        self.private.clean()?;
        devices::clean()?;
        namespaces::unshare(libc::CLONE_NEWIPC)
    }

    /// Lets a command use the terminal that it is given by name as well, and find out that name.
    pub fn admit_terminal(&self, terminal: impl AsFd) -> io::Result<()> {
        self.restrictions.admit_terminal(&terminal)?;
        let own = rustix::fs::fstat(&terminal)?;
        let Some(terminals) = &self.terminals else { return Ok(()) };
        let number = rustix::fs::minor(own.st_rdev).to_string();
        let tree = mounts::copy_at(terminals, Path::new(&number))?;
        let found = rustix::fs::fstat(&tree)?;
        // A terminal of another instance may have the same number.
        if (found.st_dev, found.st_ino) == (own.st_dev, own.st_ino) {
            mounts::attach(tree, Path::new(CONSOLE))?;
        }
        Ok(())
    }
}

/// What is gone by now needs no cover.
fn unless_gone(covered: io::Result<()>) -> io::Result<()> {
    match covered {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        covered => covered,
    }
}

/// Copies of the writable roots as they are now, outer ones first.
fn copies(writable: &[CString]) -> io::Result<Vec<(&Path, OwnedFd)>> {
    let mut paths: Vec<&Path> = writable.iter().map(|path| mounts::path(path)).collect();
    paths.sort_unstable();
    paths.dedup();
    paths.into_iter().map(|path| Ok((path, mounts::copy(path)?))).collect()
}

/// Copies of what is only read, as far as there is a plain way to it.
fn visible(shown: &[CString]) -> Vec<(&Path, OwnedFd)> {
    let paths = shown.iter().map(|path| mounts::path(path));
    paths.filter_map(|path| Some((path, mounts::copy(path).ok()?))).collect()
}

/// Writable roots that lie in something that stays read-only around them.
fn inside_protected(fence: &Fence) -> Vec<CString> {
    let protected = |root: &&CString| {
        let (root, mut paths) = (mounts::path(root), fence.protected.iter().map(|path| mounts::path(path)));
        paths.any(|path| root.starts_with(path))
    };
    fence.writable.iter().filter(protected).cloned().collect()
}

/// Whether everybody has files there, and services that listen.
fn is_shared(root: &Path) -> bool {
    ["/tmp", "/var/tmp", "/dev/shm", "/run"].iter().any(|shared| root == Path::new(shared))
}

/// Puts a copy where it was; what leads there may have to be made again in a private directory.
fn show(path: &Path, tree: OwnedFd) -> io::Result<()> {
    if !path.exists() {
        let directory = FileType::from_raw_mode(rustix::fs::fstat(&tree)?.st_mode) == FileType::Directory;
        if directory {
            fs::create_dir_all(path)?;
        } else {
            path.parent().map_or(Ok(()), fs::create_dir_all)?;
            fs::File::create(path)?;
        }
    }
    mounts::attach(tree, path)
}

/// Everything that can be written, as Landlock is told.
fn places(writable: &[CString]) -> Vec<&CStr> {
    let private =
        [c"/tmp", c"/var/tmp", c"/dev/shm"].into_iter().filter(|place| mounts::path(place).is_dir());
    writable.iter().map(CString::as_c_str).chain(private).collect()
}

fn kept_run(network: Network) -> Vec<(&'static str, OwnedFd)> {
    let resolver = (network == Network::On).then_some(RESOLVER);
    let wanted = KEPT_RUN.into_iter().chain(resolver);
    wanted.filter_map(|place| Some((place, mounts::copy(Path::new(place)).ok()?))).collect()
}

fn furnish_run(private: &Private, kept: Vec<(&str, OwnedFd)>) -> io::Result<()> {
    if !Path::new("/run").is_dir() {
        return Ok(());
    }
    private.attach("run", Path::new("/run"))?;
    for (place, tree) in kept {
        fs::create_dir_all(place)?;
        mounts::attach(tree, Path::new(place))?;
    }
    Ok(())
}

fn protect_all(fence: &Fence, private: &Private) -> io::Result<()> {
    let mut pinned: Vec<PathBuf> = Vec::new();
    for path in fence.protected.iter().map(|path| mounts::path(path)) {
        let Some(root) = root_of(path, fence) else { continue };
        let (behind, there) = match guarded(root, path) {
            Guarded::There { behind, path } => (behind, Some(path)),
            Guarded::Missing { behind } => (behind, None),
        };
        for directory in behind {
            if !pinned.contains(&directory) {
                mounts::pin(&directory)?;
                pinned.push(directory);
            }
        }
        match there {
            Some(path) if path.is_symlink() => private.cover(&path)?,
            Some(path) => mounts::protect(&path)?,
            None => {}
        }
    }
    Ok(())
}

/// The innermost writable root that a path lies in.
pub(crate) fn root_of<'a>(path: &Path, fence: &'a Fence) -> Option<&'a Path> {
    let roots = fence.writable.iter().map(|root| mounts::path(root));
    roots.filter(|root| path.starts_with(root)).max_by_key(|root| root.as_os_str().len())
}

fn guarded(root: &Path, path: &Path) -> Guarded {
    let mut behind = Vec::new();
    let mut place = root.to_owned();
    for part in path.strip_prefix(root).unwrap_or(Path::new("")) {
        place.push(part);
        match place.symlink_metadata() {
            Err(_) => return Guarded::Missing { behind },
            Ok(found) if place == path || !found.is_dir() => return Guarded::There { behind, path: place },
            Ok(_) => behind.push(place.clone()),
        }
    }
    Guarded::There { behind, path: place }
}
