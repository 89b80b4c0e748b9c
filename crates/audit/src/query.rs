//! Reading calls back.

use std::collections::VecDeque;

use regex::Regex;
use rusqlite::{Connection, params};

use crate::{Answered, Asked, CallId, Closed, Entry, Error, Judged, Server, Started, Stored, Time, Trail};

/// How many calls are read at a time, which bounds what a reader holds in memory.
const PAGE: u32 = 128;

/// Which calls. All that is given must hold.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Opened at this time or later.
    pub since: Option<Time>,
    /// By a client of this name, in any case.
    pub client: Option<String>,
    /// Only those that were refused, by the policy or for another reason.
    pub denied: bool,
    /// Matched by this in the command, a word of it, the program, the directory, or a reason.
    pub grep: Option<Regex>,
    /// At most so many.
    pub limit: Option<usize>,
    /// Only this one.
    pub call: Option<CallId>,
}

impl Filter {
    /// Whether it lets every call through.
    pub fn is_open(&self) -> bool {
        let narrow = self.since.is_some() || self.client.is_some() || self.denied || self.call.is_some();
        !narrow && self.grep.is_none() && self.limit.is_none()
    }

    fn finds(&self, call: &Call) -> bool {
        self.grep.as_ref().is_none_or(|pattern| call.texts().any(|text| pattern.is_match(&text)))
    }
}

/// In which order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The latest call first.
    #[default]
    NewestFirst,
    /// The earliest call first.
    OldestFirst,
}

/// A call with everything that the trail says of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The number of the record that opened it.
    pub number: u64,
    /// When that was.
    pub time: Time,
    /// The server that wrote it.
    pub server: Server,
    /// What was asked and judged.
    pub judged: Judged,
    /// What a person was asked, if one was.
    pub asked: Option<Asked>,
    /// What they answered, if they did.
    pub answered: Option<Answered>,
    /// That it started, if it did.
    pub started: Option<Started>,
    /// How it was closed; `None` while it is open.
    pub closed: Option<Closed>,
}

impl Call {
    fn texts(&self) -> impl Iterator<Item = String> {
        let judged = &self.judged;
        let words = judged.commands.iter().flat_map(|command| command.words.iter().cloned());
        let paths = [&judged.program, &judged.directory];
        let paths = paths.into_iter().flatten().map(|path| path.to_string_lossy().into_owned());
        let reason = judged.verdict.as_ref().map(|verdict| verdict.reason.clone());
        let refused = self.closed.as_ref().and_then(|closed| closed.closing.reason().map(str::to_owned));
        [judged.command.clone()].into_iter().chain(words).chain(paths).chain(reason).chain(refused)
    }
}

impl Trail {
    /// The calls that pass the filter, read a page at a time. A trail that is not there has none.
    pub fn query(&self, filter: Filter, order: Order) -> Calls<'_> {
        let left = filter.limit.unwrap_or(usize::MAX);
        Calls { trail: self, filter, order, left, last: None, page: VecDeque::new(), is_done: false }
    }

    /// All records of a call, in order. None when the trail knows no such call.
    pub fn show(&self, call: &CallId) -> Result<Vec<Stored>, Error> {
        Ok(self.read(|connection| records_of(connection, call.as_str()))?.unwrap_or_default())
    }

    /// Why records cannot be read that are no JSON, so that nobody can tell which call they belong to; not more than
    /// a hundred of them.
    pub fn unreadable(&self) -> Result<Vec<Error>, Error> {
        let sql = "SELECT number, prev, hash, body FROM record WHERE call IS NULL AND phase IS NOT 'dropped' ORDER BY number LIMIT 100";
        let found = self.read(|connection| {
            connection.prepare_cached(sql)?.query_map([], Stored::from_row)?.collect::<Result<Vec<_>, _>>()
        })?;
        Ok(found.unwrap_or_default().iter().filter_map(|stored| stored.record().err()).collect())
    }

    /// What the records of `opened`'s call say together.
    fn assemble(&self, opened: &Stored) -> Result<Option<Call>, Error> {
        let record = opened.record()?;
        let Entry::Judged(judged) = record.entry else { return Ok(None) };
        let (mut asked, mut answered, mut started, mut closed) = (None, None, None, None);
        for stored in self.show(&judged.call)? {
            match stored.record()?.entry {
                Entry::Judged(_)
                | Entry::Typed(_)
                | Entry::Reached(_)
                | Entry::Dropped(_)
                | Entry::Asked(Asked { host: Some(_), .. })
                | Entry::Answered(Answered { host: Some(_), .. }) => {}
                Entry::Asked(entry) => asked = Some(entry),
                Entry::Answered(entry) => answered = Some(entry),
                Entry::Started(entry) => started = Some(entry),
                Entry::Closed(entry) => closed = Some(entry),
            }
        }
        let (number, time, server) = (opened.number, record.time, record.server);
        Ok(Some(Call { number, time, server, judged: *judged, asked, answered, started, closed }))
    }
}

fn records_of(connection: &Connection, call: &str) -> rusqlite::Result<Vec<Stored>> {
    let mut select = connection
        .prepare_cached("SELECT number, prev, hash, body FROM record WHERE call = ?1 ORDER BY number")?;
    select.query_map([call], Stored::from_row)?.collect()
}

/// The calls that pass a filter.
#[derive(Debug)]
pub struct Calls<'a> {
    trail: &'a Trail,
    filter: Filter,
    order: Order,
    left: usize,
    /// The last record number that was read.
    last: Option<u64>,
    page: VecDeque<Stored>,
    is_done: bool,
}

impl Calls<'_> {
    fn next_opened(&mut self) -> Result<Option<Stored>, Error> {
        if self.page.is_empty() && !self.is_done {
            let page = self.trail.read(|connection| self.read_page(connection))?.unwrap_or_default();
            self.last = page.last().map(|stored| stored.number).or(self.last);
            self.is_done = page.len() < PAGE as usize;
            self.page = page.into();
        }
        Ok(self.page.pop_front())
    }

    fn read_page(&self, connection: &Connection) -> rusqlite::Result<Vec<Stored>> {
        let (bound, direction) = match self.order {
            Order::NewestFirst => ("number < ?1", "DESC"),
            Order::OldestFirst => ("number > ?1", "ASC"),
        };
        let start = match self.order {
            Order::NewestFirst => i64::MAX,
            Order::OldestFirst => 0,
        };
        // The unary plus keeps SQLite on the numbers: pages come from one place in the file, already sorted.
        let mut select = connection.prepare_cached(&format!(
            "SELECT number, prev, hash, body FROM record AS opened
             WHERE {bound} AND +phase = 'judged'
               AND (?2 IS NULL OR (number >= (SELECT min(number) FROM record WHERE phase = 'judged' AND time >= ?2)
                                   AND +time >= ?2))
               AND (?3 IS NULL OR client = ?3 COLLATE NOCASE)
               AND (?4 IS NULL OR number IN (SELECT number FROM record WHERE call = ?4))
               AND (NOT ?5 OR decision = 'deny' OR EXISTS (SELECT 1 FROM record AS closed
                    WHERE closed.call = opened.call AND closed.phase = 'closed' AND closed.kind = 'refused'))
             ORDER BY number {direction} LIMIT ?6"
        ))?;
        let last = self.last.map_or(start, |last| i64::try_from(last).unwrap_or(i64::MAX));
        let since = self.filter.since.map(|since| since.to_string());
        let call = self.filter.call.as_ref().map(CallId::as_str);
        let filter = params![last, since, self.filter.client, call, self.filter.denied, PAGE];
        select.query_map(filter, Stored::from_row)?.collect()
    }

    fn advance(&mut self) -> Result<Option<Call>, Error> {
        while self.left > 0 {
            let Some(opened) = self.next_opened()? else { return Ok(None) };
            let found = self.trail.assemble(&opened)?.filter(|call| self.filter.finds(call));
            if found.is_some() {
                self.left -= 1;
                return Ok(found);
            }
        }
        Ok(None)
    }
}

/// A record that cannot be read comes as its error, and the rest follows. A file that cannot be read ends it.
impl Iterator for Calls<'_> {
    type Item = Result<Call, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let item = self.advance().transpose();
        if let Some(Err(error)) = &item
            && !matches!(error, Error::Body { .. })
        {
            self.left = 0;
        }
        item
    }
}
