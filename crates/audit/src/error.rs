//! What can go wrong with a trail.

use std::io;
use std::path::PathBuf;

use rusqlite::{ErrorCode, ffi};
use thiserror::Error;

use crate::CallId;

/// What can go wrong with a trail.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The trail's directory or file cannot be made.
    #[error("cannot create the audit trail {}: {}", .path.display(), advice(.source))]
    Create {
        /// The directory or file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The file is there but cannot be opened.
    #[error("cannot open the audit trail {}: {}", .path.display(), reason(.source))]
    Open {
        /// Which file.
        path: PathBuf,
        /// The database's reason.
        source: rusqlite::Error,
    },
    /// A later version of the program wrote it.
    #[error("the audit trail {} has format {found}, this program knows up to {known}; use a newer runward or another path", .path.display())]
    Newer {
        /// Which file.
        path: PathBuf,
        /// The format of the file.
        found: i32,
        /// The newest format known here.
        known: i32,
    },
    /// Something else is there.
    #[error("{} is not an audit trail; move it away or choose another path", .0.display())]
    Foreign(PathBuf),
    /// Its directory should be ours alone and is not.
    #[error("{} is a link, belongs to another user or is open to others, so no audit trail is kept there; remove it or choose another path", .0.display())]
    NotPrivate(PathBuf),
    /// The file that was opened is no longer the one at its path.
    #[error("the audit trail {} was removed or replaced while in use; restart to begin a new one", .0.display())]
    Replaced(PathBuf),
    /// A record was not written.
    #[error("cannot write to the audit trail {}: {}", .path.display(), reason(.source))]
    Write {
        /// Which file.
        path: PathBuf,
        /// The database's reason.
        source: rusqlite::Error,
    },
    /// Records cannot be read.
    #[error("cannot read the audit trail {}: {source}", .path.display())]
    Read {
        /// Which file.
        path: PathBuf,
        /// The database's reason.
        source: rusqlite::Error,
    },
    /// A record for a call that no record opened, or that is closed already.
    #[error("call {0} is not open in the audit trail")]
    NotOpen(CallId),
    /// A record that has no JSON form.
    #[error("cannot encode an audit record: {0}")]
    Encode(#[source] serde_json::Error),
    /// A record whose body does not read as one.
    #[error("audit record {number} cannot be read: {source}; `verify` says whether it was changed")]
    Body {
        /// Which record.
        number: u64,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The receiver of an export failed.
    #[error("cannot write the export: {0}")]
    Export(#[source] io::Error),
}

const FULL: &str = "the disk is full; free some space there or choose another path";

/// The database's reason, in words that say what to do where the disk is full.
fn reason(error: &rusqlite::Error) -> String {
    // What is shared between servers is a file as well, and cannot grow either.
    let cannot_grow = error.sqlite_error().is_some_and(|it| it.extended_code == ffi::SQLITE_IOERR_SHMSIZE);
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => FULL.to_owned(),
        _ if cannot_grow => FULL.to_owned(),
        _ => error.to_string(),
    }
}

fn advice(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => FULL.to_owned(),
        _ => format!("{error}; make its directory writable or choose another path"),
    }
}
