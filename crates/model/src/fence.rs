//! What a command is confined to, and what this host can enforce.

use std::ffi::CString;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Promise;

/// How much a command may touch, narrowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// Reads what is readable, writes nowhere but to temporary files of its own.
    ReadOnly,
    /// Also writes below its working directory and the configured roots.
    WorkspaceWrite,
    /// Not confined at all.
    FullAccess,
}

impl Profile {
    /// All of them, narrowest first.
    pub const ALL: [Profile; 3] = [Profile::ReadOnly, Profile::WorkspaceWrite, Profile::FullAccess];

    /// The name that settings and reports use.
    pub const fn name(self) -> &'static str {
        match self {
            Profile::ReadOnly => "read-only",
            Profile::WorkspaceWrite => "workspace-write",
            Profile::FullAccess => "full-access",
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Which network a confined command has, narrowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Network {
    /// None: its own loopback at most.
    Off,
    /// A loopback with a proxy on it that keeps to lists of hosts.
    #[serde(rename = "allow")]
    Listed,
    /// The host's.
    On,
}

impl Network {
    /// All of them, narrowest first.
    pub const ALL: [Network; 3] = [Network::Off, Network::Listed, Network::On];

    /// Where a proxy listens, on the loopback of a command that has one; on one that is shared, those of other commands
    /// listen at the ports after it.
    pub const PROXY_PORT: u16 = 3128;

    /// Whether it is a network of the command's own.
    pub const fn is_own(self) -> bool {
        matches!(self, Network::Off | Network::Listed)
    }

    /// The name that settings and reports use.
    pub const fn name(self) -> &'static str {
        match self {
            Network::Off => "off",
            Network::Listed => "allow",
            Network::On => "on",
        }
    }
}

/// What a host can enforce, strongest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tier {
    /// Namespaces of its own with a fresh `/proc`, Landlock, seccomp.
    Full,
    /// The same with the host's `/proc`.
    SharedProc,
    /// Landlock and seccomp alone, as in a container that makes no user namespaces.
    #[serde(rename = "basic", alias = "landlock")]
    Landlock,
    /// Nothing.
    #[default]
    None,
}

impl Tier {
    /// All of them, strongest first.
    pub const ALL: [Tier; 4] = [Tier::Full, Tier::SharedProc, Tier::Landlock, Tier::None];

    /// The name that reports use.
    pub const fn name(self) -> &'static str {
        match self {
            Tier::Full => "full",
            Tier::SharedProc => "shared-proc",
            Tier::Landlock => "basic",
            Tier::None => "none",
        }
    }

    /// Whether commands get namespaces of their own.
    pub const fn has_namespaces(self) -> bool {
        matches!(self, Tier::Full | Tier::SharedProc)
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a runner found out about its host by trying.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Abilities {
    /// The strongest tier that worked.
    pub tier: Tier,
    /// The version of Landlock; 0 where there is none.
    pub landlock: u32,
    /// What kept a stronger tier from working, in the system's words; empty for the strongest.
    pub obstacle: String,
}

/// Exactly what a command is confined to; every path is absolute, symbolic links resolved.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Fence {
    /// Which profile this is.
    pub profile: Profile,
    /// By which means.
    pub tier: Tier,
    /// Which network it has.
    pub network: Network,
    /// What it may write below.
    pub writable: Vec<CString>,
    /// What stays as it is within that, there or not.
    pub protected: Vec<CString>,
    /// What it may not even read, there or not.
    pub hidden: Vec<CString>,
    /// What it can read although everything around it is private.
    pub shown: Vec<CString>,
    /// A directory to be made for its temporary files, where there is no namespace for a private `/tmp`.
    pub temporary: Option<CString>,
    /// How large its private temporary files may become together, in bytes.
    pub temporary_size: u64,
    /// How long its sandbox is kept for the next command like it.
    pub keep: Duration,
    /// The caches that it writes to in a layer of its workspace's own, where it has any.
    pub caches: Option<Caches>,
    /// What it shares temporary files and loopbacks with: all commands of the same number. None: with nobody.
    pub workspace: Option<u64>,
    /// Which of the loopbacks of its workspace it has, where its network is its own: one for each list of hosts.
    pub loopback: u64,
    /// Where on it its proxy listens, if it has one.
    pub proxy_port: u16,
    /// Where it runs.
    pub directory: CString,
    /// What was named as writable itself, there or not: nothing of it is held back for the names that lead to it.
    pub named: Vec<CString>,
    /// Where git may make a linked tree of its repository, outside of it.
    pub grounds: Vec<CString>,
    /// Where what it makes is kept that would run code for others; without it, such things are refused.
    pub held: Option<CString>,
}

/// Directories of the user's whose content programs can get again. Commands read them as they are; what they write there
/// goes to a layer of their workspace's own, which nothing but its commands ever reads.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Caches {
    /// The workspace.
    pub root: CString,
    /// Where its layers are kept; without such a place they are in memory, and gone with the workspace's last client.
    pub layers: Option<CString>,
    /// The directories, there or not.
    pub places: Vec<CString>,
    /// The directories around them, which are seen with those in it that are missing.
    pub around: Vec<CString>,
    /// What in them stays as it is, there or not.
    pub kept: Vec<CString>,
    /// What in them stays as it is where it is there.
    pub guarded: Vec<CString>,
}

impl Fence {
    /// Nothing can be written and everything be read; what differs is set afterwards.
    pub fn new(profile: Profile, tier: Tier, network: Network, directory: CString) -> Self {
        Fence {
            profile,
            tier,
            network,
            writable: Vec::new(),
            protected: Vec::new(),
            hidden: Vec::new(),
            shown: Vec::new(),
            temporary: None,
            temporary_size: 1 << 30,
            keep: Duration::ZERO,
            caches: None,
            workspace: None,
            loopback: 0,
            proxy_port: Network::PROXY_PORT,
            directory,
            named: Vec::new(),
            grounds: Vec::new(),
            held: None,
        }
    }

    /// What all commands in one sandbox have in common.
    #[must_use]
    pub fn kind(&self) -> Self {
        let (directory, proxy_port) = (CString::default(), 0);
        Fence { directory, proxy_port, temporary: None, ..self.clone() }
    }
}

/// What a command was confined to, for replies and records.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Enforced {
    /// How much it may touch.
    pub profile: Profile,
    /// Which network it has.
    pub network: Network,
    /// By which means.
    pub tier: Tier,
    /// What this host cannot keep of what the profile promises.
    pub unkept: Vec<Promise>,
    /// What is its workspace, where it has one: all of that is writable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<PathBuf>,
    /// Which ports of it are opened on this host's loopback.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<u16>,
    /// Why its directory is nobody's workspace and so not writable, and what would make it one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_workspace: Option<String>,
}

impl Enforced {
    /// What is missing of what the profile promises, for every result that lacks it.
    pub fn warning(&self) -> Option<String> {
        let words: Vec<&str> = self.unkept.iter().map(|promise| promise.words()).collect();
        (!words.is_empty()).then(|| format!("this host cannot keep that {}", words.join(", that ")))
    }
}

impl fmt::Display for Enforced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, network {}, by {}", self.profile, self.network.name(), self.tier)?;
        match self.warning() {
            Some(warning) => write!(f, "; {warning}"),
            None => Ok(()),
        }
    }
}

impl Default for Enforced {
    /// Not confined.
    fn default() -> Self {
        Enforced {
            profile: Profile::FullAccess,
            network: Network::On,
            tier: Tier::None,
            unkept: Vec::new(),
            workspace: None,
            published: Vec::new(),
            no_workspace: None,
        }
    }
}
