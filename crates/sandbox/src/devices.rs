//! A `/dev` with nothing in it but what every program may use.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{Mode, OFlags, mkdirat, openat, symlinkat};
use rustix::mount::{MountFlags, mount};

use crate::mounts;
use crate::private::Private;
use crate::restrictions::DEVICES;

/// Links that programs expect.
const LINKS: [(&str, &str); 5] = [
    ("/proc/self/fd", "fd"),
    ("fd/0", "stdin"),
    ("fd/1", "stdout"),
    ("fd/2", "stderr"),
    ("pts/ptmx", "ptmx"),
];

/// Gives back the modes that a command, as root, may have changed. Nobody else can, in a user namespace this process
/// neither.
pub(crate) fn clean() -> io::Result<()> {
    for (path, mode) in [("/dev/pts", 0o755), ("/dev/pts/ptmx", 0o666)] {
        let mode = Mode::from_raw_mode(mode);
        if Mode::from_raw_mode(rustix::fs::stat(path)?.st_mode) != mode {
            rustix::fs::chmod(path, mode)?;
        }
    }
    Ok(())
}

/// Makes what it consists of, but for the devices themselves.
pub(crate) fn make(private: &Private) -> io::Result<()> {
    for (target, name) in LINKS {
        symlinkat(target, private.root(), inside(name))?;
    }
    for name in ["pts", "shm"] {
        mkdirat(private.root(), inside(name), Mode::from_raw_mode(0o755))?;
    }
    // A terminal of the host is put here, so that its name can be found.
    for place in DEVICES.iter().chain(&["/dev/console"]).filter_map(|place| place.strip_prefix("/dev/")) {
        openat(private.root(), inside(place), OFlags::CREATE | OFlags::CLOEXEC, Mode::RUSR)?;
    }
    Ok(())
}

/// Where the host's terminals are, which have to stay devices.
pub(crate) fn terminals() -> io::Result<Option<OwnedFd>> {
    let found = mounts::open(c"/dev/pts").ok();
    found.as_ref().map_or(Ok(()), mounts::with_devices)?;
    Ok(found)
}

/// Copies of the devices that every program may use, as long as they are devices.
pub(crate) fn copies() -> io::Result<Vec<(&'static str, OwnedFd)>> {
    let found = DEVICES.iter().filter_map(|device| Some((*device, mounts::copy(Path::new(device)).ok()?)));
    let found: Vec<_> = found.collect();
    for (_, tree) in &found {
        mounts::make_read_only_device(tree)?;
    }
    Ok(found)
}

/// Puts it in place of the host's: no disks, no memory, no other terminals.
pub(crate) fn mount_private(private: &Private, found: Vec<(&str, OwnedFd)>) -> io::Result<()> {
    private.attach("dev", Path::new("/dev"))?;
    for (device, tree) in found {
        mounts::attach(tree, Path::new(device))?;
    }
    let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
    Ok(mount("devpts", "/dev/pts", "devpts", flags, c"newinstance,ptmxmode=0666,mode=0620")?)
}

fn inside(path: &str) -> String {
    format!("dev/{path}")
}
