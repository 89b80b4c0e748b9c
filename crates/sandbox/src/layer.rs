//! What commands of one workspace write to caches, mounted once for all of them.
//!
//! A cache is an overlay: below, the user's own directory, as it is; above, a directory of the layer. The kernel does not
//! take one directory as the upper one of two mounts, so a runner mounts a layer once, in a namespace that is held open
//! and in which nobody runs; what clients share in the workspace begins in a copy of that. Another server takes another
//! layer. An overlay over the whole home was the other way: it would let `~/.bashrc` be changed as if that counted, show
//! stale files of other projects (the kernel does not look twice at what is below), and hide what is mounted in a home.

use std::ffi::CString;
use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use runward_model::Caches;
use rustix::mount::{MountFlags, MountPropagationFlags, mount};
use rustix::process::{DumpableBehavior, set_dumpable_behavior};
use rustix::thread::LinkNameSpaceType;

use crate::kept_open::kept_open;
use crate::layers::Taken;
use crate::mounts;
use crate::namespaces::{self, Namespaces};
use crate::private::STORE;

/// Below a cache that the user does not have.
const NOTHING_BELOW: &str = "nothing";

/// The layer of a workspace, mounted. It is somebody else's to take once this is dropped.
#[derive(Debug)]
pub struct Layer {
    /// The user namespace that owns the other, where one is needed to make it.
    user: Option<OwnedFd>,
    mounts: OwnedFd,
    _taken: Option<Taken>,
}

impl Layer {
    /// Mounts a layer that nobody has, on disk or else in memory, of which it takes so many bytes at most. Where a cache
    /// cannot be layered there will be none, and it stays as it is.
    ///
    /// The caller has a single thread: this forks.
    pub fn mount(namespaces: &Namespaces, caches: &Caches, most_memory: u64) -> io::Result<Self> {
        let layers = caches.layers.as_ref().map(|layers| mounts::path(layers));
        let taken = layers.and_then(|layers| Taken::some_of(layers, mounts::path(&caches.root)).ok());
        let user = namespaces.user_flag();
        let made = || {
            namespaces.become_owner()?;
            namespaces::unshare(libc::CLONE_NEWNS)?;
            namespaces::set_propagation(MountPropagationFlags::DOWNSTREAM)?;
            mount_all(caches, taken.as_ref().map(|taken| taken.directory.as_path()), most_memory)
        };
        let (user, mounts) = kept_open(user, made, |name| {
            let user = if user == 0 { None } else { Some(name("user")?) };
            Ok((user, name("mnt")?))
        })?;
        Ok(Layer { user, mounts, _taken: taken })
    }

    /// The user namespace that it belongs to, if any.
    pub(crate) fn user(&self) -> io::Result<Option<OwnedFd>> {
        self.user.as_ref().map(OwnedFd::try_clone).transpose()
    }

    /// Moves this process to mounts that begin as a copy of its own.
    pub(crate) fn enter(&self) -> io::Result<()> {
        if let Some(user) = &self.user {
            namespaces::enter(user, LinkNameSpaceType::User)?;
            // Or whoever made this process could not look at its namespaces.
            set_dumpable_behavior(DumpableBehavior::Dumpable)?;
        }
        namespaces::enter(&self.mounts, LinkNameSpaceType::Mount)?;
        namespaces::unshare(libc::CLONE_NEWNS)
    }
}

/// How the overlay of a cache is called where they are mounted.
pub(crate) fn name_of(number: usize) -> String {
    number.to_string()
}

fn mount_all(caches: &Caches, directory: Option<&Path>, most_memory: u64) -> io::Result<()> {
    let options = CString::new(format!("mode=0700,size={}", most_memory.max(1 << 20)))?;
    mount("tmpfs", STORE, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, options.as_c_str())?;
    let store = Path::new(STORE);
    make(&store.join(NOTHING_BELOW))?;
    for (number, place) in caches.places.iter().enumerate() {
        let (point, place) = (store.join(name_of(number)), mounts::path(place));
        make(&point)?;
        let memory = store.join("memory");
        let on_disk =
            directory.map_or(Err(io::ErrorKind::NotFound.into()), |own| layered(own, place, &point));
        if on_disk.or_else(|_| layered(&memory, place, &point)).is_err() {
            fs::remove_dir(&point)?;
        }
    }
    Ok(())
}

/// Mounts the overlay of one cache at `point`; what is written goes to a directory in `own`.
fn layered(own: &Path, place: &Path, point: &Path) -> io::Result<()> {
    let above = own.join(above(place));
    let (upper, work) = (above.join("upper"), above.join("work"));
    make(&upper)?;
    make(&work)?;
    let lower = match mounts::find(place) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            mounts::find(&Path::new(STORE).join(NOTHING_BELOW))
        }
        lower => lower,
    }?;
    if above_is_new(&upper)? {
        like(&lower, &upper)?;
    }
    overlay([&lower, &mounts::find(&upper)?, &mounts::find(&work)?].map(AsFd::as_fd), point)
}

/// What the part of a layer is called that lies over a cache.
fn above(place: &Path) -> PathBuf {
    let name: Vec<String> =
        place.iter().skip(1).map(|part| part.to_string_lossy().replace('%', "%25")).collect();
    // Names have a limit; where they are cut the kernel says so, and the cache has no layer.
    PathBuf::from(name.join("%"))
}

fn above_is_new(upper: &Path) -> io::Result<bool> {
    Ok(fs::read_dir(upper)?.next().is_none())
}

/// The modes of a merged directory are those above.
fn like(lower: impl AsFd, upper: &Path) -> io::Result<()> {
    let mode = rustix::fs::Mode::from_raw_mode(rustix::fs::fstat(lower)?.st_mode);
    Ok(rustix::fs::chmod(upper, mode | rustix::fs::Mode::RWXU)?)
}

fn make(directory: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)
}

/// Descriptors instead of paths: nothing has to be escaped, and nothing is told to whoever reads the table of mounts.
fn overlay([lower, upper, work]: [BorrowedFd<'_>; 3], point: &Path) -> io::Result<()> {
    let at = |open: BorrowedFd<'_>| format!("/proc/self/fd/{}", open.as_raw_fd());
    // Kept as attributes that an ordinary user may set; with them the kernel follows nothing from layer to layer.
    let options =
        format!("userxattr,index=off,lowerdir={},upperdir={},workdir={}", at(lower), at(upper), at(work));
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    Ok(mount("overlay", point, "overlay", flags, CString::new(options)?.as_c_str())?)
}
