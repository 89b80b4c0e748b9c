//! What profiles promise, and the directories that one of the promises is about.

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// Something that a profile promises. Not every tier can keep it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Promise {
    /// No file outside the writable roots is made, changed, moved or removed.
    Writes,
    /// Nor are modes, times and attributes of files out there.
    Metadata,
    /// Protected paths inside a writable root stay as they are.
    Protected,
    /// What must not be read is not.
    Hidden,
    /// Temporary files are its own.
    Temporary,
    /// No address can be reached but what the settings allow, by any kind of socket.
    Network,
    /// Services of the host that listen in the file system cannot be reached.
    Services,
    /// Other processes are neither signalled nor traced nor looked into.
    Processes,
    /// No mounts, no namespaces, no capabilities, none of the kernel's rarely used insides.
    Kernel,
}

impl Promise {
    /// All of them.
    pub const ALL: [Promise; 9] = [
        Promise::Writes,
        Promise::Metadata,
        Promise::Protected,
        Promise::Hidden,
        Promise::Temporary,
        Promise::Network,
        Promise::Services,
        Promise::Processes,
        Promise::Kernel,
    ];

    /// The name that reports use.
    pub const fn name(self) -> &'static str {
        match self {
            Promise::Writes => "writes",
            Promise::Metadata => "metadata",
            Promise::Protected => "protected",
            Promise::Hidden => "hidden",
            Promise::Temporary => "temporary",
            Promise::Network => "network",
            Promise::Services => "services",
            Promise::Processes => "processes",
            Promise::Kernel => "kernel",
        }
    }

    /// What is promised, in a few words.
    pub const fn words(self) -> &'static str {
        match self {
            Promise::Writes => "no file outside the writable directories is changed",
            Promise::Metadata => "no mode, time or attribute of files out there is changed",
            Promise::Protected => "protected paths in a writable directory stay as they are",
            Promise::Hidden => "what sandbox.deny_read lists cannot be read",
            Promise::Temporary => "temporary files are private",
            Promise::Network => "no address can be reached but what the settings allow",
            Promise::Services => "local services of the host cannot be reached",
            Promise::Processes => "other processes cannot be signalled, traced or looked into",
            Promise::Kernel => "mounts, namespaces and the kernel's insides are out of reach",
        }
    }
}

impl fmt::Display for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A directory that everybody on a host shares. A command in namespaces has one of its own in its place, and one without
/// cannot list the host's. That keeps [`Promise::Temporary`], and [`Promise::Services`] for what listens there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrivateDirectory {
    /// Where it is.
    pub path: &'static str,
    /// What it is for.
    pub purpose: Purpose,
}

/// What a directory that everybody shares is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Temporary files, where `TMPDIR` may point.
    Temporary,
    /// Memory that programs share by name.
    SharedMemory,
    /// Sockets and state of services; a command's own is read-only.
    Services,
}

impl PrivateDirectory {
    /// All of them.
    pub const ALL: [PrivateDirectory; 4] = [
        PrivateDirectory { path: "/tmp", purpose: Purpose::Temporary },
        PrivateDirectory { path: "/var/tmp", purpose: Purpose::Temporary },
        PrivateDirectory { path: "/dev/shm", purpose: Purpose::SharedMemory },
        PrivateDirectory { path: "/run", purpose: Purpose::Services },
    ];

    /// The one that a path lies in, or is.
    pub fn around(path: &Path) -> Option<PrivateDirectory> {
        Self::ALL.into_iter().find(|private| path.starts_with(private.path))
    }

    /// Those that a command can write to.
    pub fn writable() -> impl Iterator<Item = PrivateDirectory> {
        Self::ALL.into_iter().filter(|private| private.purpose != Purpose::Services)
    }

    /// Those for temporary files.
    pub fn temporary() -> impl Iterator<Item = PrivateDirectory> {
        Self::ALL.into_iter().filter(|private| private.purpose == Purpose::Temporary)
    }
}
