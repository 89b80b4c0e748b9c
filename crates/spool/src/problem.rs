//! Why something was not written.

use std::fmt;
use std::io;

/// Why some of an output is not on disk. The words are plain, so that any reply can carry them as they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// All sessions together may not keep more bytes, and nothing old could be removed.
    OverQuota {
        /// How many bytes this session keeps.
        kept: u64,
        /// How many all may.
        quota: u64,
    },
    /// The disk has no room.
    DiskFull,
    /// The system refused, for this reason.
    Refused(String),
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                Problem::DiskFull
            }
            kind => Problem::Refused(kind.to_string()),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::OverQuota { kept, quota } => write!(
                f,
                "Output beyond {kept} bytes was counted but not kept, since what running commands print has reached \
                 the quota of {quota} bytes, see output.quota"
            ),
            Problem::DiskFull => f.write_str("Output was not kept whole, since the disk is full"),
            Problem::Refused(reason) => {
                write!(f, "Output was not kept whole, since the output directory cannot be used, {reason}")
            }
        }
    }
}
