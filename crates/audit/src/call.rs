//! Which call.

use std::fmt;

use runward_files::random;
use serde::{Deserialize, Serialize};

use crate::Time;

/// One request by a client, named so that ids sort by time and no two servers choose the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(String);

/// Digits that survive being read aloud: no i, l, o or u.
const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

impl CallId {
    /// A new one: nine digits of milliseconds since 1970, seven at random.
    pub fn fresh() -> Self {
        let milliseconds = u64::try_from(Time::now().as_millisecond()).unwrap_or(0);
        let random = random::number();
        let mut text = String::with_capacity(16);
        push_digits(&mut text, milliseconds, 9);
        push_digits(&mut text, random, 7);
        CallId(text)
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn push_digits(text: &mut String, value: u64, count: u32) {
    for place in (0..count).rev() {
        let digit = (value >> (5 * place)) & 31;
        text.push(char::from(DIGITS[usize::try_from(digit).unwrap_or(0)]));
    }
}

impl From<&str> for CallId {
    fn from(text: &str) -> Self {
        CallId(text.to_owned())
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn fresh_ids_differ_and_have_sixteen_digits() {
        let ids: HashSet<CallId> = (0..1000).map(|_| CallId::fresh()).collect();
        assert_eq!(ids.len(), 1000);
        assert!(ids.iter().all(|id| id.as_str().len() == 16));
    }

    #[test]
    fn digits_are_written_most_significant_first() {
        let mut text = String::new();
        push_digits(&mut text, 33, 3);
        assert_eq!(text, "011");
    }
}
