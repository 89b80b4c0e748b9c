//! The inside of a sandbox: what a command sees of the host.

use std::ffi::CString;
use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use runward_files::FileId;
use runward_model::{Fence, Network, PrivateDirectory, Tier};
use rustix::fs::FileType;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use rustix::process::{DumpableBehavior, Signal, set_dumpable_behavior, set_parent_process_death_signal};

use crate::broker::{self, Broker};
use crate::layered::{Found, Layered};
use crate::mounts::{self, Depth};
use crate::private::Private;
use crate::restrictions::Restrictions;
use crate::services::Services;
use crate::shared::Entrance;
use crate::{capabilities, devices, landlock};

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
    layered: Layered,
    restrictions: Restrictions,
    /// The host's terminals, which have no name in here.
    terminals: Option<OwnedFd>,
    services: Services,
    /// Where commands can make sockets of their own.
    places: Vec<PathBuf>,
}

impl Enclosure {
    /// Makes everything in it. The caller is the first process of a new PID namespace.
    ///
    /// The order is the security. What is to be shown is copied before anything is changed, while it still is what the
    /// host has there; then all is made read-only and covered by what is private; then the copies are put back,
    /// outer ones first and the narrower the rule the later, since what is mounted last is what is seen.
    ///
    /// Where something may be written, whoever makes files for its commands comes with it.
    pub fn build(fence: &Fence, entrance: &Entrance) -> io::Result<(Self, Option<Broker>)> {
        // Its end is the end of all others, so it may go at once should its parent be killed.
        set_parent_process_death_signal(Some(Signal::KILL))?;
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
        // Asked in the host's network namespace: the table is one of each network.
        let services = Services::watch();
        entrance.enter()?;
        let devices = devices::copies()?;
        // Copies first. They keep the modes that they have now, so making all read-only does not reach them.
        let (writable, shown, caches) = (copies(&fence.writable)?, visible(&fence.shown), Found::of(fence));
        let (mut broker, listeners) = match broker::guarded(fence).next() {
            Some(_) => Broker::new(fence).map(|(broker, listeners)| (Some(broker), Some(listeners)))?,
            None => (None, None),
        };
        let behind = BehindBroker::of(fence);
        mounts::make_read_only(mounts::root()?, Depth::All)?;
        let private = Private::open()?;
        private.make_writable()?;
        if let Some(broker) = &mut broker {
            behind.give(broker, &private)?;
        }
        // What is kept of `/run` and `/dev` has to be in hand before those are covered.
        let kept = kept_run(fence.network);
        let terminals = devices::terminals()?;
        devices::mount_private(&private, devices)?;
        for directory in PrivateDirectory::ALL {
            private.attach_own(directory)?;
        }
        show_kept(kept)?;
        if fence.tier == Tier::Full {
            let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC | MountFlags::RDONLY;
            mount("proc", "/proc", "proc", flags, None)?;
        } else {
            private.hide()?;
        }
        // What is only read goes below what is written: a workspace inside a shown directory stays writable.
        for (path, tree) in shown {
            mounts::make_read_only(&tree, Depth::All)?;
            show(path, tree)?;
        }
        // A workspace inside a cache stays what it is.
        let layered = caches.place(&private)?;
        for (path, tree) in writable {
            show(path, tree)?;
        }
        // Only now: mount points for what is shown in them had to be made.
        for place in [c"/dev", c"/run"] {
            mounts::make_read_only(mounts::open(place)?, Depth::One)?;
        }
        protect(fence)?;
        // Last of all mounts, so that nothing uncovers it.
        for path in fence.hidden.iter().filter_map(|path| fs::canonicalize(mounts::path(path)).ok()) {
            unless_gone(private.cover(&path))?;
        }
        cover_services(&services.new_places(), fence, &private)?;
        // Landlock is told of what is mounted by now. This process keeps its capabilities, to clean up with; what it
        // executes cannot have them.
        let guarded: Vec<&Path> = broker::guarded(fence).collect();
        let free =
            fence.writable.iter().map(|path| mounts::path(path)).filter(|path| !guarded.contains(path));
        let private_roots = PrivateDirectory::writable().map(|private| Path::new(private.path));
        let free = free.chain(layered.places()).chain(private_roots.filter(|path| path.is_dir()));
        let restrictions = Restrictions::enclosed(free, guarded.iter().copied(), listeners)?;
        capabilities::bound();
        let places = roots(fence);
        Ok((Enclosure { private, layered, restrictions, terminals, services, places }, broker))
    }

    /// What a command in here is restricted by.
    pub fn restrictions(&self) -> &Restrictions {
        &self.restrictions
    }

    /// Whether a directory of the host is the one that is seen in here in its place.
    pub fn stands_for(&self, host: FileId, own: FileId) -> bool {
        self.layered.stands_for(host, own)
    }

    /// Has caches be seen as they are by now.
    pub fn look_again(&self) {
        self.layered.look_again();
    }

    /// Covers what has begun to listen on the host since it was looked at last. Without a network of its own, a command's
    /// sockets are among the host's; they lie in places of its own.
    pub fn cover_new_services(&self) -> io::Result<()> {
        if landlock::version() >= landlock::KNOWS_SOCKETS {
            return Ok(());
        }
        let is_own = |socket: &Path| {
            let private = PrivateDirectory::around(socket).is_some();
            private || self.places.iter().any(|place| socket.starts_with(place))
        };
        let covered = cover_sockets(self.services.new_places().iter(), is_own, &self.private);
        // What could not be covered is tried again.
        covered.inspect_err(|_| self.services.forget())
    }

    /// Makes it fit for the next command of the same client: the terminal of the last one is not its own. All processes of
    /// that are gone.
    ///
    /// An error means that something may be left, and ends the sandbox.
    pub fn clean(&self) -> io::Result<()> {
        while unmount(CONSOLE, UnmountFlags::DETACH).is_ok() {}
        self.private.restore()?;
        devices::clean()
    }

    /// Lets a command use the terminal that it is given by name as well, and find out that name.
    pub fn admit_terminal(&self, terminal: impl AsFd) -> io::Result<()> {
        self.restrictions.admit_terminal(&terminal)?;
        let own = rustix::fs::fstat(&terminal)?;
        let Some(terminals) = &self.terminals else { return Ok(()) };
        let number = rustix::fs::minor(own.st_rdev).to_string();
        let tree = mounts::copy_at(terminals, Path::new(&number))?;
        // A terminal of another instance may have the same number.
        if FileId::of_open(&tree)? == FileId::from(&own) {
            mounts::attach(tree, Path::new(CONSOLE))?;
        }
        Ok(())
    }
}

/// What a broker works with, and no command has a path to.
struct BehindBroker<'a> {
    /// Where things are held back.
    held: Option<OwnedFd>,
    /// Where linked trees may be made.
    grounds: Vec<(&'a Path, OwnedFd)>,
}

impl<'a> BehindBroker<'a> {
    /// Copies of it as it is on the host.
    fn of(fence: &'a Fence) -> Self {
        let held = fence.held.as_ref().map(|held| mounts::path(held)).and_then(|held| {
            runward_files::private::make(held).ok()?;
            mounts::copy(held).ok()
        });
        BehindBroker { held, grounds: visible(&fence.grounds) }
    }

    fn give(self, broker: &mut Broker, private: &Private) -> io::Result<()> {
        broker.keep_in(self.held.map(|held| private.open_host("held", held)).transpose()?);
        for (number, (path, tree)) in self.grounds.into_iter().enumerate() {
            broker.build_on(path, private.open_host(&format!("ground-{number}"), tree)?);
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

/// The writable roots.
fn roots(fence: &Fence) -> Vec<PathBuf> {
    fence.writable.iter().map(|path| mounts::path(path).to_owned()).collect()
}

/// Copies of the writable roots as they are now, outer ones first.
fn copies(writable: &[CString]) -> io::Result<Vec<(&Path, OwnedFd)>> {
    let mut paths: Vec<&Path> = writable.iter().map(|path| mounts::path(path)).collect();
    paths.sort_unstable();
    paths.dedup();
    let copied = |path| {
        let tree = mounts::copy(path)?;
        mounts::without_devices(&tree)?;
        Ok((path, tree))
    };
    paths.into_iter().map(copied).collect()
}

/// Copies of what is only read, as far as there is a plain way to it.
fn visible(shown: &[CString]) -> Vec<(&Path, OwnedFd)> {
    let paths = shown.iter().map(|path| mounts::path(path));
    paths.filter_map(|path| Some((path, mounts::copy(path).ok()?))).collect()
}

/// Puts what stays as it is over itself, read-only, as far as it is there. That nobody makes or moves it is up to the broker.
fn protect(fence: &Fence) -> io::Result<()> {
    let is_inside = |path: &&Path| root_of(path, fence).is_some();
    for path in fence.protected.iter().map(|path| mounts::path(path)).filter(is_inside) {
        let is_around = fence.writable.iter().any(|root| mounts::path(root).starts_with(path));
        let is_plain = path.symlink_metadata().is_ok_and(|found| found.is_dir() || found.is_file());
        if is_plain && !is_around {
            unless_gone(mounts::protect(path))?;
        }
    }
    Ok(())
}

/// Covers what listens on the host, but for what does so in a workspace.
fn cover_services(services: &[PathBuf], fence: &Fence, private: &Private) -> io::Result<()> {
    let is_shared = |root: &Path| PrivateDirectory::ALL.iter().any(|one| root == Path::new(one.path));
    let is_own = |socket: &Path| root_of(socket, fence).is_some_and(|root| !is_shared(root));
    cover_sockets(services.iter(), is_own, private)
}

fn cover_sockets<'a>(
    services: impl Iterator<Item = &'a PathBuf>,
    is_own: impl Fn(&Path) -> bool,
    private: &Private,
) -> io::Result<()> {
    for socket in services.filter_map(|socket| fs::canonicalize(socket).ok()) {
        if !is_own(&socket) && socket.symlink_metadata().is_ok_and(|it| it.file_type().is_socket()) {
            unless_gone(private.cover(&socket))?;
        }
    }
    Ok(())
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

fn kept_run(network: Network) -> Vec<(&'static str, OwnedFd)> {
    let resolver = (network == Network::On).then_some(RESOLVER);
    let wanted = KEPT_RUN.into_iter().chain(resolver);
    wanted.filter_map(|place| Some((place, mounts::copy(Path::new(place)).ok()?))).collect()
}

fn show_kept(kept: Vec<(&str, OwnedFd)>) -> io::Result<()> {
    for (place, tree) in kept {
        fs::create_dir_all(place)?;
        mounts::attach(tree, Path::new(place))?;
    }
    Ok(())
}

/// The innermost writable root that a path lies in.
pub(crate) fn root_of<'a>(path: &Path, fence: &'a Fence) -> Option<&'a Path> {
    let roots = fence.writable.iter().map(|root| mounts::path(root));
    roots.filter(|root| path.starts_with(root)).max_by_key(|root| root.as_os_str().len())
}
