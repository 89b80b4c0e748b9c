//! Writing.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use runward_files::private::{self, Others};
use rusqlite::{OptionalExtension, Transaction, TransactionBehavior};

use crate::file::{self, File, PATIENCE};
use crate::{CallId, Dropped, Durability, Entry, Error, Hash, Record, Retention, Server, Stored, Time};

/// The trail of every call. Shared by reference between threads; a write takes some tens of microseconds and blocks.
#[derive(Debug)]
pub struct Trail {
    path: PathBuf,
    durability: Durability,
    /// Who alone may own and open its directory, where that must be seen to.
    owner: Option<u32>,
    retention: Retention,
    file: Mutex<Option<File>>,
    server: OnceLock<Server>,
}

impl Trail {
    /// The trail at this path. Touches nothing: the file is opened or made when it is first needed.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Trail {
            path: path.into(),
            durability: Durability::default(),
            owner: None,
            retention: Retention::default(),
            file: Mutex::new(None),
            server: OnceLock::new(),
        }
    }

    /// The same with this durability. For a trail that was not used yet.
    #[must_use]
    pub fn with_durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// The same in a directory that is made when it is needed, and refused unless it belongs to this user and is open
    /// to no other. For a trail among temporary files, where anybody may have made one of that name.
    #[must_use]
    pub fn in_private_directory_of(mut self, user: u32) -> Self {
        self.owner = Some(user);
        self
    }

    /// The same that keeps no more than this, once [`Trail::drop_old`] is called.
    #[must_use]
    pub fn keeping(mut self, retention: Retention) -> Self {
        self.retention = retention;
        self
    }

    /// How much it keeps.
    pub(crate) fn retention(&self) -> Retention {
        self.retention
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes one record, redacted, and says its number. Once this returns, the record survives this process.
    pub fn append(&self, entry: impl Into<Entry>) -> Result<u64, Error> {
        self.append_all([entry.into()])
    }

    /// Writes several records in one step, all or none, and says the number of the last (0 when there are none in it
    /// and none were written before). A refusal is best written so: what was judged, and that it is closed.
    pub fn append_all(&self, entries: impl IntoIterator<Item = Entry>) -> Result<u64, Error> {
        let entries: Vec<Entry> = entries.into_iter().map(Entry::redacted).map(Entry::bounded).collect();
        self.write(|chain| entries.into_iter().try_for_each(|entry| chain.push(entry)))
    }

    /// The same for callers that must not wait: some tens of microseconds, or `None` with nothing written when that
    /// would take longer, because the file is not open yet, another writer is at it, or the disk is to be waited for.
    pub fn append_at_once(&self, entries: &[Entry]) -> Option<Result<u64, Error>> {
        if self.durability == Durability::PowerLoss {
            return None;
        }
        let mut slot = self.file.try_lock().ok()?;
        let file = slot.as_mut()?;
        let mut entries = entries.iter().cloned().map(Entry::redacted).map(Entry::bounded);
        file.wait_for_others(Duration::ZERO).ok()?;
        let written = self.write_to(file, |chain| entries.try_for_each(|entry| chain.push(entry)));
        let _ = file.wait_for_others(PATIENCE);
        match written {
            Err(Error::Write { source, .. }) if is_busy(&source) => None,
            written => Some(written),
        }
    }

    /// Runs `add` in a transaction that holds the only right to write.
    pub(crate) fn write(&self, add: impl FnOnce(&mut Chain<'_>) -> Result<(), Error>) -> Result<u64, Error> {
        let mut slot = self.slot();
        let file = match &mut *slot {
            Some(file) => file,
            None => slot.insert(self.open_or_create()?),
        };
        self.write_to(file, add)
    }

    fn write_to(
        &self,
        file: &mut File,
        add: impl FnOnce(&mut Chain<'_>) -> Result<(), Error>,
    ) -> Result<u64, Error> {
        if !file.is_in_place(&self.path) {
            return Err(Error::Replaced(self.path.clone()));
        }
        let failed = |source| Error::Write { path: self.path.clone(), source };
        let transaction =
            file.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        let (count, hash) = transaction
            .prepare_cached("SELECT count, hash FROM head")
            .and_then(|mut head| head.query_one([], |row| Ok((row.get(0)?, row.get(1)?))))
            .map_err(failed)?;
        let mut chain = Chain { trail: self, transaction, count, hash };
        add(&mut chain)?;
        let count = chain.count;
        chain.commit().map_err(failed)?;
        Ok(count)
    }

    /// Runs `look` on the open file, or says `None` when there is no file.
    pub(crate) fn read<T>(
        &self,
        look: impl FnOnce(&rusqlite::Connection) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, Error> {
        let mut slot = self.slot();
        let file = match &mut *slot {
            Some(file) => file,
            None if self.path.try_exists().is_ok_and(|there| !there) => return Ok(None),
            None => slot.insert(self.open()?),
        };
        look(&file.connection).map(Some).map_err(|source| Error::Read { path: self.path.clone(), source })
    }

    fn open_or_create(&self) -> Result<File, Error> {
        if let (Some(_), Some(directory)) = (self.owner, self.path.parent()) {
            private::make(directory)
                .map_err(|source| Error::Create { path: directory.to_owned(), source })?;
        }
        self.check_directory()?;
        File::open_or_create(&self.path, self.durability)
    }

    fn open(&self) -> Result<File, Error> {
        self.check_directory()?;
        File::open(&self.path, self.durability)
    }

    fn check_directory(&self) -> Result<(), Error> {
        match (self.owner, self.path.parent()) {
            (Some(owner), Some(directory))
                if !private::is_directory_of(directory, owner, Others::Nothing) =>
            {
                Err(Error::NotPrivate(directory.to_owned()))
            }
            _ => Ok(()),
        }
    }

    /// The process that writes to this trail.
    pub(crate) fn server(&self) -> &Server {
        self.server.get_or_init(Server::this)
    }

    /// A panic elsewhere leaves no half-done work: an open transaction is rolled back when it is dropped.
    fn slot(&self) -> MutexGuard<'_, Option<File>> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    let busy = [rusqlite::ErrorCode::DatabaseBusy, rusqlite::ErrorCode::DatabaseLocked];
    error.sqlite_error_code().is_some_and(|code| busy.contains(&code))
}

/// The end of the chain, held by one writer.
pub(crate) struct Chain<'a> {
    trail: &'a Trail,
    transaction: Transaction<'a>,
    count: u64,
    hash: Hash,
}

impl Chain<'_> {
    /// Adds one record.
    pub(crate) fn push(&mut self, entry: Entry) -> Result<(), Error> {
        self.follow_up(&entry)?;
        let record = Record { time: Time::now(), server: self.trail.server().clone(), entry };
        let body = serde_json::to_string(&record).map_err(Error::Encode)?;
        let number = self.count + 1;
        let hash = Hash::of(self.hash, number, &body);
        self.insert(&Stored { number, prev: self.hash, hash, body }).map_err(|source| self.failed(source))?;
        (self.count, self.hash) = (number, hash);
        Ok(())
    }

    /// Removes the records from `first` to `last`, and says so in a record that the rest can be checked against.
    pub(crate) fn drop_records(&mut self, first: u64, last: u64, reason: String) -> Result<(), Error> {
        let failed = |source| Error::Write { path: self.trail.path.clone(), source };
        let hash = "SELECT hash FROM record WHERE number = ?1";
        let hash = self.transaction.query_one(hash, [last], |row| row.get(0)).map_err(failed)?;
        file::remove_up_to(&self.transaction, last).map_err(failed)?;
        self.push(Entry::Dropped(Dropped { first, last, hash, reason }))
    }

    /// What the transaction sees.
    pub(crate) fn connection(&self) -> &rusqlite::Connection {
        &self.transaction
    }

    /// The calls that are open, each with the record that opened it.
    pub(crate) fn open_calls(&self) -> Result<Vec<(CallId, Stored)>, Error> {
        open_calls(&self.transaction).map_err(|source| self.failed(source))
    }

    /// Keeps count of what is open: a call is opened once and closed once.
    fn follow_up(&self, entry: &Entry) -> Result<(), Error> {
        let Some(call) = entry.call() else { return Ok(()) };
        let open = match entry {
            Entry::Judged(_) => self.mark_open(call),
            Entry::Asked(_)
            | Entry::Answered(_)
            | Entry::Started(_)
            | Entry::Typed(_)
            | Entry::Reached(_) => self.is_open(call),
            Entry::Closed(_) => self.mark_closed(call),
            Entry::Dropped(_) => Ok(true),
        };
        if open.map_err(|source| self.failed(source))? {
            return Ok(());
        }
        Err(Error::NotOpen(call.clone()))
    }

    fn mark_open(&self, call: &CallId) -> rusqlite::Result<bool> {
        let mut insert = self.transaction.prepare_cached("INSERT INTO open VALUES (?1, ?2)")?;
        insert.execute((call.as_str(), self.count + 1)).map(|_| true)
    }

    fn is_open(&self, call: &CallId) -> rusqlite::Result<bool> {
        let mut find = self.transaction.prepare_cached("SELECT 1 FROM open WHERE call = ?1")?;
        find.query_row([call.as_str()], |_| Ok(())).optional().map(|found| found.is_some())
    }

    fn mark_closed(&self, call: &CallId) -> rusqlite::Result<bool> {
        let mut delete = self.transaction.prepare_cached("DELETE FROM open WHERE call = ?1")?;
        delete.execute([call.as_str()]).map(|removed| removed == 1)
    }

    fn insert(&self, stored: &Stored) -> rusqlite::Result<()> {
        let mut insert = self
            .transaction
            .prepare_cached("INSERT INTO record (number, prev, hash, body) VALUES (?1, ?2, ?3, ?4)")?;
        insert.execute((stored.number, stored.prev, stored.hash, &stored.body)).map(drop)
    }

    fn commit(self) -> rusqlite::Result<()> {
        self.transaction
            .prepare_cached("UPDATE head SET count = ?1, hash = ?2")?
            .execute((self.count, self.hash))?;
        self.transaction.commit()
    }

    fn failed(&self, source: rusqlite::Error) -> Error {
        Error::Write { path: self.trail.path.clone(), source }
    }
}

/// The calls that are open, each with the record that opened it.
pub(crate) fn open_calls(connection: &rusqlite::Connection) -> rusqlite::Result<Vec<(CallId, Stored)>> {
    let mut select = connection.prepare_cached(
        "SELECT number, prev, hash, body, open.call FROM open JOIN record USING (number) ORDER BY number",
    )?;
    let open = select.query_map([], |row| {
        let call: String = row.get(4)?;
        Ok((CallId::from(call.as_str()), Stored::from_row(row)?))
    })?;
    open.collect()
}
