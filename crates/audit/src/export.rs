//! Handing records over as JSON lines.

use std::borrow::Cow;
use std::io::Write;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::{CallId, Error, Filter, Hash, Order, Stored, Trail};

/// How many records are read at a time.
const PAGE: u32 = 256;

/// One line. The body stands in it byte for byte, so that whoever has the lines can check the hashes.
#[derive(Serialize)]
struct Line<'a> {
    number: u64,
    prev: Hash,
    hash: Hash,
    body: Cow<'a, RawValue>,
}

impl Trail {
    /// Writes records as JSON lines, oldest first, and says how many: every record there is, or with a filter those
    /// of the calls that pass it. A call that cannot be read passes none; it is named to `unread`, and the rest follows.
    pub fn export(
        &self,
        filter: Filter,
        to: &mut impl Write,
        unread: impl FnMut(Error),
    ) -> Result<u64, Error> {
        let count =
            if filter.is_open() { self.export_all(to)? } else { self.export_calls(filter, to, unread)? };
        to.flush().map_err(Error::Export)?;
        Ok(count)
    }

    /// The same for every record of one call, whether it can be read or not.
    pub fn export_call(&self, call: &CallId, to: &mut impl Write) -> Result<u64, Error> {
        let count = write_lines(&self.show(call)?, to)?;
        to.flush().map_err(Error::Export)?;
        Ok(count)
    }

    fn export_all(&self, to: &mut impl Write) -> Result<u64, Error> {
        let (mut last, mut count) = (0, 0);
        loop {
            let page = self.records_after(last)?;
            let Some(end) = page.last() else { return Ok(count) };
            last = end.number;
            count += write_lines(&page, to)?;
        }
    }

    fn export_calls(
        &self,
        filter: Filter,
        to: &mut impl Write,
        mut unread: impl FnMut(Error),
    ) -> Result<u64, Error> {
        let mut count = 0;
        for call in self.query(filter, Order::OldestFirst) {
            match call {
                Ok(call) => count += write_lines(&self.show(&call.judged.call)?, to)?,
                Err(error @ Error::Body { .. }) => unread(error),
                Err(error) => return Err(error),
            }
        }
        Ok(count)
    }

    fn records_after(&self, last: u64) -> Result<Vec<Stored>, Error> {
        let page = self.read(|connection| {
            let mut select = connection.prepare_cached(
                "SELECT number, prev, hash, body FROM record WHERE number > ?1 ORDER BY number LIMIT ?2",
            )?;
            select.query_map((last, PAGE), Stored::from_row)?.collect()
        })?;
        Ok(page.unwrap_or_default())
    }
}

fn write_lines(records: &[Stored], to: &mut impl Write) -> Result<u64, Error> {
    let mut count = 0;
    for stored in records {
        let mut line = line(stored)?;
        line.push('\n');
        to.write_all(line.as_bytes()).map_err(Error::Export)?;
        count += 1;
    }
    Ok(count)
}

fn line(stored: &Stored) -> Result<String, Error> {
    let body = body(&stored.body).map_err(Error::Encode)?;
    let line = Line { number: stored.number, prev: stored.prev, hash: stored.hash, body };
    serde_json::to_string(&line).map_err(Error::Encode)
}

/// A body that another hand made no JSON, or more than a line, is handed over as a string.
fn body(text: &str) -> serde_json::Result<Cow<'_, RawValue>> {
    match serde_json::from_str::<&RawValue>(text) {
        Ok(raw) if raw.get().len() == text.len() && !text.contains(['\n', '\r']) => Ok(Cow::Borrowed(raw)),
        _ => serde_json::value::to_raw_value(text).map(Cow::Owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(body: &str) -> Stored {
        Stored { number: 7, prev: Hash::GENESIS, hash: Hash::GENESIS, body: body.into() }
    }

    #[test]
    fn a_body_stands_in_its_line_byte_for_byte() {
        let zeros = "0".repeat(64);
        let expected =
            format!(r#"{{"number":7,"prev":"{zeros}","hash":"{zeros}","body":{{"b": 1.0,"a":"é"}}}}"#);
        assert_eq!(line(&stored(r#"{"b": 1.0,"a":"é"}"#)).unwrap(), expected);
    }

    #[test]
    fn a_body_that_is_no_json_or_no_line_is_a_string() {
        for text in ["{", "{}\n{}", "{\n}", " {}", ""] {
            let line: serde_json::Value = serde_json::from_str(&line(&stored(text)).unwrap()).unwrap();
            assert_eq!(line["body"], text);
        }
    }
}
