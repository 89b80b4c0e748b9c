//! How much is kept: old records are dropped from the beginning, and a record in the chain says which.

use std::time::Duration;

use rusqlite::Connection;

use crate::trail::Chain;
use crate::{Error, Time, Trail};

/// How many records are dropped in one step: others wait for the file meanwhile.
const STEP: u64 = 5_000;

/// The latest records are never dropped for their size.
const ALWAYS_KEPT: u64 = 64;

/// How much is kept; `None` is without limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// For how long.
    pub age: Option<Duration>,
    /// How many bytes the file may use. Beyond that, the oldest records go until a quarter of it is free.
    pub size: Option<u64>,
}

impl Trail {
    /// Drops what is older or more than is to be kept, and says how many records that were. Quick when there is nothing
    /// to drop; makes no file.
    pub fn drop_old(&self) -> Result<u64, Error> {
        let by_age = match self.retention().age.and_then(|age| Time::before(Time::now(), age)) {
            Some(limit) => self.drop_all(
                |connection, first| older(connection, first, limit),
                &format!("older than {limit} (audit.keep)"),
            )?,
            None => 0,
        };
        let by_size = match self.retention().size {
            Some(most) if self.used()? > most => self.drop_all(
                |connection, first| larger(connection, first, most - most / 4),
                &format!("more than {most} bytes (audit.max_size)"),
            )?,
            _ => 0,
        };
        Ok(by_age + by_size)
    }

    fn used(&self) -> Result<u64, Error> {
        Ok(self.read(used)?.unwrap_or_default())
    }

    /// Step by step, whatever `last` says can go.
    fn drop_all(
        &self,
        last: impl Fn(&Connection, u64) -> rusqlite::Result<Option<u64>>,
        reason: &str,
    ) -> Result<u64, Error> {
        let next = |connection: &Connection| {
            let Some(first) = first(connection)? else { return Ok(None) };
            Ok(last(connection, first)?.map(|last| (first, last)))
        };
        let mut count = 0;
        // Looked at before anybody has to wait for it, and again by whoever alone may write.
        while self.read(next)?.flatten().is_some() {
            let mut dropped = 0;
            self.write(|chain: &mut Chain<'_>| {
                let range = next(chain.connection())
                    .map_err(|source| Error::Read { path: self.path().to_owned(), source })?;
                let Some((first, last)) = range else { return Ok(()) };
                dropped = last - first + 1;
                chain.drop_records(first, last, reason.to_owned())
            })?;
            count += dropped;
        }
        Ok(count)
    }
}

fn first(connection: &Connection) -> rusqlite::Result<Option<u64>> {
    connection.query_one("SELECT min(number) FROM record", [], |row| row.get(0))
}

/// The last of the records from `first` on that were all written before this time.
fn older(connection: &Connection, first: u64, limit: Time) -> rusqlite::Result<Option<u64>> {
    let sql = "SELECT number, time FROM record WHERE number >= ?1 ORDER BY number LIMIT ?2";
    let mut select = connection.prepare_cached(sql)?;
    let mut rows = select.query((first, STEP))?;
    let (mut last, limit) = (None, limit.to_string());
    while let Some(row) = rows.next()? {
        // A record that cannot be read is as old as those around it.
        let time: Option<String> = row.get(1)?;
        if time.is_some_and(|time| time >= limit) {
            break;
        }
        last = Some(row.get(0)?);
    }
    Ok(last)
}

/// The last of the records that have to go for the rest to fit.
fn larger(connection: &Connection, first: u64, most: u64) -> rusqlite::Result<Option<u64>> {
    let (used, end): (u64, u64) =
        (used(connection)?, connection.query_one("SELECT count FROM head", [], |row| row.get(0))?);
    let records = (end + 1).saturating_sub(first);
    let too_many = records.saturating_mul(used.saturating_sub(most)).div_ceil(used.max(1));
    let count = too_many.min(STEP).min(records.saturating_sub(ALWAYS_KEPT));
    Ok((count > 0).then(|| first + count - 1))
}

/// How many bytes the file uses. What was freed is used again before it grows.
fn used(connection: &Connection) -> rusqlite::Result<u64> {
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, u64>(0));
    let (pages, free, size) = (pragma("page_count")?, pragma("freelist_count")?, pragma("page_size")?);
    Ok(pages.saturating_sub(free).saturating_mul(size))
}
