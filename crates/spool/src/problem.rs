//! Why something was not written.

use std::fmt;
use std::io;

/// Why some of an output is not on disk. The words are plain, so that any reply can carry them as they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// One session may not keep more than this many bytes.
    TooLarge(u64),
    /// All sessions together may not keep more than this many bytes, and nothing old could be removed.
    OverQuota(u64),
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
            Problem::TooLarge(limit) => {
                write!(f, "Output beyond {limit} bytes was counted but not kept, see max_output_size")
            }
            Problem::OverQuota(quota) => {
                write!(
                    f,
                    "Output was not kept whole, since running commands already use the quota of {quota} bytes"
                )
            }
            Problem::DiskFull => f.write_str("Output was not kept whole, since the disk is full"),
            Problem::Refused(reason) => {
                write!(f, "Output was not kept whole, since the output directory cannot be used, {reason}")
            }
        }
    }
}
