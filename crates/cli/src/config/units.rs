//! Durations and sizes as people write them.

use std::time::Duration;

const DURATIONS: [(&str, u64); 4] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)];
const SIZES: [(&str, u64); 7] = [
    ("B", 1),
    ("KB", 1_000),
    ("KiB", 1 << 10),
    ("MB", 1_000_000),
    ("MiB", 1 << 20),
    ("GB", 1_000_000_000),
    ("GiB", 1 << 30),
];

/// Reads `500ms`, `30s`, `10m`, `1h`.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let example = "a duration; write a whole number and a unit (ms, s, m, h), such as \"30s\"";
    let millis = scaled(text, &DURATIONS).ok_or_else(|| format!("{text:?} is not {example}"))?;
    Ok(Duration::from_millis(millis))
}

/// The same, where a number alone is in seconds.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let alone = !text.trim().is_empty() && text.trim().bytes().all(|byte| byte.is_ascii_digit());
    if alone { duration(&format!("{}s", text.trim())) } else { duration(text) }
}

/// Reads `512B`, `64KiB`, `1MiB`, `1GiB`, `10MB`.
pub(crate) fn size(text: &str) -> Result<usize, String> {
    let example = "a size; write a whole number and a unit (B, KiB, MiB, GiB, KB, MB, GB), such as \"1MiB\"";
    let bytes = scaled(text, &SIZES).and_then(|bytes| usize::try_from(bytes).ok());
    bytes.ok_or_else(|| format!("{text:?} is not {example}"))
}

/// The largest unit that shows a duration as a whole number.
pub(crate) fn show_duration(duration: Duration) -> String {
    shown(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX), &DURATIONS)
}

/// The largest unit that shows a size as a whole number.
pub(crate) fn show_size(bytes: usize) -> String {
    shown(bytes as u64, &SIZES)
}

fn scaled(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(digits);
    let (_, scale) = units.iter().find(|(name, _)| *name == unit.trim_start())?;
    number.parse::<u64>().ok()?.checked_mul(*scale)
}

fn shown(amount: u64, units: &[(&str, u64)]) -> String {
    let fits = |(_, scale): &&(&str, u64)| amount >= *scale && amount.is_multiple_of(*scale);
    let smallest = ("", 1);
    let (name, scale) = units.iter().rev().find(fits).or(units.first()).copied().unwrap_or(smallest);
    format!("{}{name}", amount / scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_in_every_unit() {
        assert_eq!(duration("0ms"), Ok(Duration::ZERO));
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration(" 30 s "), Ok(Duration::from_secs(30)));
        assert_eq!(duration("10m"), Ok(Duration::from_mins(10)));
        assert_eq!(duration("2h"), Ok(Duration::from_hours(2)));
    }

    #[test]
    fn a_number_alone_is_seconds_where_that_is_said() {
        assert_eq!(seconds("90"), Ok(Duration::from_secs(90)));
        assert_eq!(seconds(" 5m "), Ok(Duration::from_mins(5)));
        assert!(seconds("").is_err() && seconds("-1").is_err() && seconds("1.5").is_err());
    }

    #[test]
    fn sizes_are_read_in_every_unit() {
        assert_eq!(size("12B"), Ok(12));
        assert_eq!(size("64KiB"), Ok(65_536));
        assert_eq!(size("1MiB"), Ok(1_048_576));
        assert_eq!(size("2GiB"), Ok(2_147_483_648));
        assert_eq!((size("3KB"), size("10MB"), size("1GB")), (Ok(3_000), Ok(10_000_000), Ok(1_000_000_000)));
    }

    #[test]
    fn what_is_no_amount_is_refused_with_the_units() {
        for text in [
            "",
            "30",
            "s",
            "-1s",
            "1.5s",
            "30 parsecs",
            "1S",
            "1s2",
            "99999999999999999999s",
            "18446744073709551615h",
        ] {
            let message = duration(text).unwrap_err();
            assert!(message.contains(&format!("{text:?}")) && message.contains("ms, s, m, h"), "{message}");
        }
        for text in ["1", "1mib", "1kB", "one MiB", "18446744073709551615KiB"] {
            assert!(size(text).unwrap_err().contains("B, KiB, MiB, GiB"), "{text}");
        }
    }

    #[test]
    fn amounts_are_shown_in_the_largest_whole_unit() {
        assert_eq!(show_duration(Duration::from_millis(1500)), "1500ms");
        assert_eq!(show_duration(Duration::from_mins(10)), "10m");
        assert_eq!(show_duration(Duration::ZERO), "0ms");
        assert_eq!(show_size(1 << 20), "1MiB");
        assert_eq!(show_size(1500), "1500B");
    }
}
