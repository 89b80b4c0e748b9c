//! The file: where, how it is made, how it is opened.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use runward_files::{FileId, draft_of, private};
use rusqlite::{Connection, OpenFlags};

use crate::{Error, Hash};

/// How long a writer waits for the other writers of the same file.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// How long the write-ahead log grows before it is folded into the file, in pages of 4 KiB. Folding waits for the
/// disk, and at this length it happens to one record in some hundreds.
const LOG_PAGES: u32 = 4_000;

/// The format of files whose old records were dropped, kept in `user_version`. A program that knows only the first
/// would take them for removed.
const FORMAT: i32 = 2;

/// The format of a trail that begins with its first record.
const WHOLE: i32 = 1;

/// Marks a file as a trail, kept in `application_id`: `RWat`.
const APPLICATION: i32 = 0x5257_6174;

/// What is asked of records is computed from their bodies, so that only the chained body counts.
const SCHEMA: &str = "
CREATE TABLE record (
    number INTEGER PRIMARY KEY CHECK (number > 0),
    prev   TEXT NOT NULL,
    hash   TEXT NOT NULL,
    body   TEXT NOT NULL,
    call     TEXT AS (iif(json_valid(body), body ->> '$.call')),
    phase    TEXT AS (iif(json_valid(body), body ->> '$.phase')),
    time     TEXT AS (iif(json_valid(body), body ->> '$.time')),
    client   TEXT AS (iif(json_valid(body), body ->> '$.client.name')),
    decision TEXT AS (iif(json_valid(body), body ->> '$.verdict.decision')),
    kind     TEXT AS (iif(json_valid(body), body ->> '$.kind'))
) STRICT;
CREATE UNIQUE INDEX record_single ON record (call, phase)
    WHERE phase NOT IN ('typed', 'reached') AND iif(json_valid(body), body ->> '$.host') IS NULL;
CREATE INDEX record_by_call ON record (call);
CREATE INDEX record_opened ON record (time) WHERE phase = 'judged';
CREATE TABLE open (call TEXT PRIMARY KEY, number INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE head (one INTEGER PRIMARY KEY CHECK (one = 1), count INTEGER NOT NULL, hash TEXT NOT NULL) STRICT;
CREATE TRIGGER record_is_never_changed BEFORE UPDATE ON record
    BEGIN SELECT raise(ABORT, 'the audit trail is append-only'); END;
";

const NEVER_REMOVED: &str = "
CREATE TRIGGER record_is_never_removed BEFORE DELETE ON record
    BEGIN SELECT raise(ABORT, 'the audit trail is append-only'); END;
";

/// Indexes of trails that were made when fewer phases could come twice.
const REINDEX: &str = "
BEGIN IMMEDIATE;
DROP INDEX IF EXISTS record_of_call;
DROP INDEX IF EXISTS record_once;
CREATE UNIQUE INDEX IF NOT EXISTS record_single ON record (call, phase)
    WHERE phase NOT IN ('typed', 'reached') AND iif(json_valid(body), body ->> '$.host') IS NULL;
CREATE INDEX IF NOT EXISTS record_by_call ON record (call);
COMMIT;
";

/// What an acknowledged record survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// The death of the server by any cause. A power failure may take the last seconds, and leaves the rest whole.
    #[default]
    Crash,
    /// The loss of power too: every record waits for the disk.
    PowerLoss,
}

/// Where the trail is kept unless settings say otherwise: `runward/audit.db` in the XDG state directory.
/// `None` when the environment names no home.
pub fn default_path(env: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let absolute = |name| env(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")))?;
    Some(state.join("runward/audit.db"))
}

/// An open file, and which one it was when it was opened.
#[derive(Debug)]
pub(crate) struct File {
    pub(crate) connection: Connection,
    identity: FileId,
}

impl File {
    /// How long a write waits for other writers.
    pub(crate) fn wait_for_others(&self, patience: Duration) -> rusqlite::Result<()> {
        self.connection.busy_timeout(patience)
    }

    /// Opens the trail, which must be there.
    pub(crate) fn open(path: &Path, durability: Durability) -> Result<Self, Error> {
        let failed = |source| Error::Open { path: path.to_owned(), source };
        let identity = FileId::of(path).map_err(|source| Error::Create { path: path.to_owned(), source })?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
        connection.busy_timeout(PATIENCE).map_err(failed)?;
        check_format(&connection, path)?;
        reindex(&connection).map_err(failed)?;
        let synchronous = match durability {
            Durability::Crash => "NORMAL",
            Durability::PowerLoss => "FULL",
        };
        connection.pragma_update(None, "synchronous", synchronous).map_err(failed)?;
        connection.pragma_update(None, "trusted_schema", "OFF").map_err(failed)?;
        connection.pragma_update(None, "wal_autocheckpoint", LOG_PAGES).map_err(failed)?;
        Ok(File { connection, identity })
    }

    /// Opens the trail, and makes it first where it is not there.
    pub(crate) fn open_or_create(path: &Path, durability: Durability) -> Result<Self, Error> {
        if !path.exists() {
            create(path)?;
        }
        File::open(path, durability)
    }

    /// Whether what was opened is still what the path names.
    pub(crate) fn is_in_place(&self, path: &Path) -> bool {
        FileId::of(path).is_ok_and(|now| now == self.identity)
    }
}

fn check_format(connection: &Connection, path: &Path) -> Result<(), Error> {
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    let foreign = || Error::Foreign(path.to_owned());
    let read = |name| {
        pragma(name).map_err(|source| match source.sqlite_error_code() {
            Some(rusqlite::ErrorCode::NotADatabase) => foreign(),
            _ => Error::Open { path: path.to_owned(), source },
        })
    };
    if read("application_id")? != APPLICATION {
        return Err(foreign());
    }
    match read("user_version")? {
        WHOLE..=FORMAT => Ok(()),
        found if found > FORMAT => Err(Error::Newer { path: path.to_owned(), found, known: FORMAT }),
        _ => Err(foreign()),
    }
}

/// Brings the indexes of an older trail up to date; its records stay as they are.
fn reindex(connection: &Connection) -> rusqlite::Result<()> {
    let sql = "SELECT count(*) FROM sqlite_master WHERE name IN ('record_single', 'record_by_call')";
    if connection.query_row(sql, [], |row| row.get::<_, i64>(0))? < 2 {
        connection.execute_batch(REINDEX)?;
    }
    Ok(())
}

/// Removes the records up to this one, in a transaction of the caller's.
pub(crate) fn remove_up_to(connection: &Connection, last: u64) -> rusqlite::Result<()> {
    connection.execute_batch("DROP TRIGGER IF EXISTS record_is_never_removed")?;
    connection.execute("DELETE FROM record WHERE number <= ?1", [last])?;
    connection.execute_batch(NEVER_REMOVED)?;
    connection.pragma_update(None, "user_version", FORMAT)
}

/// Makes an empty trail under another name, whole, and links it into place. Losing that race to another server is
/// as good as winning it.
fn create(path: &Path) -> Result<(), Error> {
    let failed = |source| Error::Create { path: path.to_owned(), source };
    if let Some(directory) = path.parent() {
        private::make(directory).map_err(failed)?;
    }
    let draft = draft_of(path);
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft).map_err(failed)?;
    let made = lay_out(&draft)
        .map_err(|source| Error::Write { path: path.to_owned(), source })
        .and_then(|()| put_in_place(&draft, path).map_err(failed));
    // Gone already where it was renamed; a draft that stays behind is of no consequence.
    let _ = fs::remove_file(&draft);
    made
}

fn lay_out(draft: &Path) -> rusqlite::Result<()> {
    let mut connection = Connection::open(draft)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    let transaction = connection.transaction()?;
    transaction.execute_batch(SCHEMA)?;
    transaction.execute_batch(NEVER_REMOVED)?;
    transaction.execute("INSERT INTO head VALUES (1, 0, ?1)", [Hash::GENESIS])?;
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", WHOLE)?;
    transaction.commit()?;
    connection.close().map_err(|(_, error)| error)
}

fn put_in_place(draft: &Path, path: &Path) -> io::Result<()> {
    match fs::hard_link(draft, path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        // A filesystem without hard links. A server that loses this race notices that its file was replaced.
        Err(_) => fs::rename(draft, path),
        Ok(()) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(variables: &[(&str, &str)]) -> Option<PathBuf> {
        default_path(|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn the_trail_is_kept_in_the_state_directory() {
        let state = ("XDG_STATE_HOME", "/state");
        let home = ("HOME", "/home/ada");
        assert_eq!(path(&[state, home]), Some("/state/runward/audit.db".into()));
        assert_eq!(path(&[home]), Some("/home/ada/.local/state/runward/audit.db".into()));
        assert_eq!(path(&[]), None);
    }

    #[test]
    fn a_state_directory_that_is_not_absolute_is_ignored() {
        let home = ("HOME", "/home/ada");
        let expected = Some("/home/ada/.local/state/runward/audit.db".into());
        assert_eq!(path(&[("XDG_STATE_HOME", "state"), home]), expected);
        assert_eq!(path(&[("XDG_STATE_HOME", ""), home]), expected);
    }
}
