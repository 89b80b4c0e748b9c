//! When: UTC with milliseconds, and what people write for "since".

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use jiff::{Timestamp, civil::Date, tz::TimeZone};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use thiserror::Error;

/// A moment in UTC, to the millisecond. Its text has a fixed width, so texts sort as moments do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Time(Timestamp);

/// A text that names no moment.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("not a time: {0:?}; write 2026-01-31T08:00:00Z, 2026-01-31, or an age such as 90s, 30m, 2h, 7d, 2w")]
pub struct BadTime(pub String);

impl Time {
    /// This moment.
    pub fn now() -> Self {
        Time::to_the_millisecond(Timestamp::now())
    }

    /// Milliseconds since 1970.
    pub fn as_millisecond(self) -> i64 {
        self.0.as_millisecond()
    }

    /// So long before a moment, where there is such a time.
    pub(crate) fn before(now: Time, age: Duration) -> Option<Self> {
        now.0.checked_sub(age).ok().map(Time::to_the_millisecond)
    }

    /// What a person means by `text`: RFC 3339, a date (its first moment in UTC), or an age before `now`.
    pub fn since(text: &str, now: Time) -> Result<Self, BadTime> {
        let bad = || BadTime(text.to_owned());
        if let Some(age) = age(text) {
            return now.0.checked_sub(age).map(Time::to_the_millisecond).map_err(|_| bad());
        }
        if let Ok(date) = text.parse::<Date>()
            && text.len() == "2026-01-31".len()
        {
            return date.to_zoned(TimeZone::UTC).map(|day| Time(day.timestamp())).map_err(|_| bad());
        }
        text.parse()
    }

    fn to_the_millisecond(moment: Timestamp) -> Self {
        Time(Timestamp::from_millisecond(moment.as_millisecond()).unwrap_or(moment))
    }
}

/// `2h`, `1d12h`: numbers each with a unit, nothing else.
fn age(text: &str) -> Option<Duration> {
    let mut total = Duration::ZERO;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let (number, tail) = rest.split_at(digits);
        let seconds = match tail.chars().next()? {
            's' => 1,
            'm' => 60,
            'h' => 3_600,
            'd' => 86_400,
            'w' => 604_800,
            _ => return None,
        };
        let part = number.parse::<u64>().ok()?.checked_mul(seconds)?;
        total = total.checked_add(Duration::from_secs(part))?;
        rest = tail.get(1..)?;
    }
    (!text.is_empty()).then_some(total)
}

impl FromStr for Time {
    type Err = BadTime;

    fn from_str(text: &str) -> Result<Self, BadTime> {
        text.parse().map(Time::to_the_millisecond).map_err(|_| BadTime(text.to_owned()))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").fmt(f)
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> Time {
        text.parse().unwrap()
    }

    #[test]
    fn a_time_is_shown_in_utc_with_three_decimals() {
        assert_eq!(time("2026-01-31T10:00:00.5+02:00").to_string(), "2026-01-31T08:00:00.500Z");
        assert_eq!(time("2026-01-31T08:00:00Z").to_string(), "2026-01-31T08:00:00.000Z");
    }

    #[test]
    fn this_moment_survives_being_written_and_read() {
        let now = Time::now();
        assert_eq!(time(&now.to_string()), now);
    }

    #[test]
    fn since_takes_ages_dates_and_full_times() {
        let now = time("2026-03-10T12:00:00Z");
        for (text, meant) in [
            ("90s", "2026-03-10T11:58:30.000Z"),
            ("30m", "2026-03-10T11:30:00.000Z"),
            ("2h", "2026-03-10T10:00:00.000Z"),
            ("7d", "2026-03-03T12:00:00.000Z"),
            ("1w", "2026-03-03T12:00:00.000Z"),
            ("1d12h", "2026-03-09T00:00:00.000Z"),
            ("2026-03-01", "2026-03-01T00:00:00.000Z"),
            ("2026-03-01T10:00:00+01:00", "2026-03-01T09:00:00.000Z"),
        ] {
            assert_eq!(Time::since(text, now).unwrap().to_string(), meant, "{text}");
        }
    }

    #[test]
    fn since_refuses_what_names_no_moment() {
        let now = Time::now();
        for text in [
            "",
            "h",
            "2",
            "2y",
            "-2h",
            "yesterday",
            "2026-13-01",
            "2h ago",
            "99999999999999999999s",
            "9999999w",
        ] {
            assert_eq!(Time::since(text, now), Err(BadTime(text.to_owned())), "{text}");
        }
    }
}
