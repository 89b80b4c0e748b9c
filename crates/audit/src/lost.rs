//! Closing what dead servers left open.

use crate::trail::open_calls;
use crate::{CallId, Closed, Closing, Entry, Error, Stored, Trail};

impl Trail {
    /// Closes as lost every open call whose server no longer runs, and says which. For the start of a server; makes
    /// no file, and writes nothing when nothing was lost.
    pub fn close_lost(&self) -> Result<Vec<CallId>, Error> {
        let open = self.read(open_calls)?.unwrap_or_default();
        if self.lost_among(&open).is_empty() {
            return Ok(Vec::new());
        }
        let mut lost = Vec::new();
        self.write(|chain| {
            // Asked again: another server may have been faster.
            lost = self.lost_among(&chain.open_calls()?);
            lost.iter()
                .cloned()
                .try_for_each(|call| chain.push(Entry::Closed(Closed { call, closing: Closing::Lost })))
        })?;
        Ok(lost)
    }

    /// A record that cannot be read says nothing about its server and stays open; `verify` reports it.
    fn lost_among(&self, open: &[(CallId, Stored)]) -> Vec<CallId> {
        let is_lost =
            |opened: &Stored| opened.record().is_ok_and(|record| record.server.is_gone(self.server()));
        open.iter().filter(|(_, opened)| is_lost(opened)).map(|(call, _)| call.clone()).collect()
    }
}
