//! What ties a record to the one before it.

use std::fmt;

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest, Sha256};

use crate::{Error, Record};

/// A SHA-256 value, written as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Hash([u8; 32]);

impl Hash {
    /// What the first record follows.
    pub const GENESIS: Hash = Hash([0; 32]);

    /// The hash of record `number` with this body, when it follows the record with hash `prev`.
    pub fn of(prev: Hash, number: u64, body: &str) -> Self {
        let mut sha = Sha256::new();
        sha.update(prev.0);
        sha.update(number.to_be_bytes());
        sha.update(body);
        Hash(sha.finalize().into())
    }

    /// The hash of a text alone.
    pub fn of_text(text: &str) -> Self {
        Hash(Sha256::digest(text).into())
    }

    fn parse(text: &[u8]) -> Option<Self> {
        let mut bytes = [0; 32];
        if !text.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        let text = str::from_utf8(text).ok().filter(|text| text.len() == 64)?;
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
        }
        Some(Hash(bytes))
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Hash::parse(text.as_bytes()).ok_or_else(|| de::Error::custom("this is no hash"))
    }
}

impl ToSql for Hash {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.to_string().into())
    }
}

impl FromSql for Hash {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Hash::parse(value.as_bytes()?).ok_or(FromSqlError::InvalidType)
    }
}

/// A record as the trail keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Its number; the first is 1.
    pub number: u64,
    /// The hash of the record before it.
    pub prev: Hash,
    /// Its own.
    pub hash: Hash,
    /// Its content, exactly as it was hashed.
    pub body: String,
}

impl Stored {
    /// Its content.
    pub fn record(&self) -> Result<Record, Error> {
        serde_json::from_str(&self.body).map_err(|source| Error::Body { number: self.number, source })
    }

    /// Whether its hash fits its content.
    pub(crate) fn is_intact(&self) -> bool {
        Hash::of(self.prev, self.number, &self.body) == self.hash
    }

    /// From a row of `number, prev, hash, body`. A hash that is none reads as zeros, which no record has.
    pub(crate) fn from_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
        let hash =
            |column| row.get_ref(column).map(|value| FromSql::column_result(value).unwrap_or(Hash::GENESIS));
        let body = String::from_utf8_lossy(row.get_ref(3)?.as_bytes().unwrap_or_default()).into_owned();
        Ok(Stored { number: row.get(0)?, prev: hash(1)?, hash: hash(2)?, body })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_survives_being_written_and_read() {
        let hash = Hash::of(Hash::GENESIS, 1, "{}");
        assert_eq!(Hash::parse(hash.to_string().as_bytes()), Some(hash));
    }

    #[test]
    fn a_hash_is_the_digest_of_prev_number_and_body() {
        // printf '%064d%016x7b7d' 0 1 | xxd -r -p | sha256sum
        let known = "1bad765d926feacace97a8ddcd329a1f4254c208affc1ba86b3c7d59e8fba83e";
        assert_eq!(Hash::of(Hash::GENESIS, 1, "{}").to_string(), known);
    }

    #[test]
    fn what_is_no_hash_is_not_read_as_one() {
        for text in ["", "00", &"g".repeat(64), &"+1".repeat(32), &"é".repeat(32)] {
            assert_eq!(Hash::parse(text.as_bytes()), None, "{text}");
        }
    }
}
