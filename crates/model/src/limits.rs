//! How much a command may use.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How much a command may use; `None` is no limit. The kernel enforces each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Bytes of memory, of the whole session where control groups can tell, else of address space of each process.
    pub memory: Option<u64>,
    /// Processes of the session where control groups can tell, else of the user.
    pub processes: Option<u64>,
    /// Processor time of each process, in whole seconds.
    pub cpu_time: Option<Duration>,
    /// Bytes of any one file that is written.
    pub file_size: Option<u64>,
    /// Open descriptors of each process.
    pub open_files: Option<u64>,
    /// What holds where no control group can tell.
    pub elsewhere: Elsewhere,
}

/// What holds a command to its memory and its processes where no control group can tell how much it uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Elsewhere {
    /// Whether nothing else than control groups counts its memory: a limit on the address space of each process also ends
    /// programs that reserve much and use little, so nobody has it who did not ask for it.
    pub spares_memory: bool,
    /// How many processes others have that are counted with its own, being the same user's.
    pub others: u64,
}

/// Which limit a command ran into, where the kernel says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitHit {
    /// The kernel killed a process for memory.
    Memory,
    /// The kernel refused another process.
    Processes,
    /// A process used up its processor time.
    CpuTime,
    /// A file would have grown too large.
    FileSize,
    /// There was no room for more temporary files.
    TemporaryFiles,
}

impl fmt::Display for LimitHit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LimitHit::Memory => {
                "The limit on memory was hit and a process was killed for it, see limits.memory"
            }
            LimitHit::Processes => {
                "The limit on processes was hit and some did not start, see limits.processes"
            }
            LimitHit::CpuTime => "The limit on processor time was hit, see limits.cpu_time",
            LimitHit::FileSize => "The limit on the size of a file was hit, see limits.file_size",
            LimitHit::TemporaryFiles => {
                "Private temporary files have no room for more, see sandbox.temporary_size"
            }
        })
    }
}
