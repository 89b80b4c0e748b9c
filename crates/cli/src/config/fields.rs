//! What settings hold, and within which bounds.

use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::de::{Deserialize, Deserializer, Error as _};

use super::placed::Placed;
use super::units;

/// Names readers of settings with their bounds, for `#[serde(deserialize_with = "…")]`.
macro_rules! readers {
    ($($(#[$doc:meta])* $name:ident: $kind:ty = $read:ident($($bounds:expr),*);)*) => {
        $($(#[$doc])*
        fn $name<'de, D: serde::Deserializer<'de>>(setting: D) -> Result<$kind, D::Error> {
            $crate::config::fields::$read(setting, $($bounds),*)
        })*
    };
}
pub(super) use readers;

pub(super) use super::reach::reach;
pub(super) use super::usage::{count_or_auto, size_or_auto};

/// A duration within bounds.
pub(super) fn duration<'de, D: Deserializer<'de>>(
    setting: D,
    bounds: RangeInclusive<Duration>,
) -> Result<Duration, D::Error> {
    let duration = units::duration(&String::deserialize(setting)?).map_err(D::Error::custom)?;
    within(duration, &bounds, |duration| units::show_duration(*duration)).map_err(D::Error::custom)
}

/// The same, and where it came from.
pub(super) fn placed_duration<'de, D: Deserializer<'de>>(
    setting: D,
    bounds: RangeInclusive<Duration>,
) -> Result<Placed<Duration>, D::Error> {
    let read =
        |text: String| within(units::duration(&text)?, &bounds, |duration| units::show_duration(*duration));
    Placed::<String>::deserialize(setting)?.try_map(read).map_err(D::Error::custom)
}

/// A duration within bounds, of which zero says that there is none.
pub(super) fn some_duration<'de, D: Deserializer<'de>>(
    setting: D,
    most: Duration,
) -> Result<Option<Duration>, D::Error> {
    Ok(Some(duration(setting, Duration::ZERO..=most)?).filter(|duration| !duration.is_zero()))
}

/// A size in bytes within bounds.
pub(super) fn size<'de, D: Deserializer<'de>, T: TryFrom<usize>>(
    setting: D,
    bounds: RangeInclusive<usize>,
) -> Result<T, D::Error> {
    let size = units::size(&String::deserialize(setting)?).map_err(D::Error::custom)?;
    let size = within(size, &bounds, |size| units::show_size(*size)).map_err(D::Error::custom)?;
    T::try_from(size).map_err(|_| D::Error::custom("this machine counts no such size"))
}

/// A whole number within bounds.
pub(super) fn count<'de, D: Deserializer<'de>, T: TryFrom<i64>>(
    setting: D,
    bounds: RangeInclusive<i64>,
) -> Result<T, D::Error> {
    let number = within(i64::deserialize(setting)?, &bounds, i64::to_string).map_err(D::Error::custom)?;
    T::try_from(number).map_err(|_| D::Error::custom("this machine counts no such number"))
}

/// A whole number within bounds, of which zero says that there is none.
pub(super) fn some_count<'de, D: Deserializer<'de>>(setting: D, most: i64) -> Result<Option<u64>, D::Error> {
    count(setting, 0..=most).map(|count: u64| Some(count).filter(|count| *count > 0))
}

/// One of a few words.
pub(super) fn choice<'de, D: Deserializer<'de>, T: Copy>(
    setting: D,
    choices: &[(&str, T)],
) -> Result<T, D::Error> {
    let text = String::deserialize(setting)?;
    let chosen = choices.iter().find(|(name, _)| *name == text.trim());
    chosen.map(|(_, choice)| *choice).ok_or_else(|| {
        let names: Vec<_> = choices.iter().map(|(name, _)| *name).collect();
        D::Error::custom(format!("{text:?} is not one of {}", names.join(", ")))
    })
}

/// An IP address and a port.
pub(super) fn address<'de, D: Deserializer<'de>>(setting: D) -> Result<SocketAddr, D::Error> {
    let text = String::deserialize(setting)?;
    text.trim().parse().map_err(|_| {
        let what = "is not an address; write IP:PORT, such as 127.0.0.1:8000 or [::1]:8000";
        D::Error::custom(format!("{text:?} {what}"))
    })
}

/// An absolute path; empty is the usual place.
pub(super) fn path<'de, D: Deserializer<'de>>(setting: D) -> Result<Option<PathBuf>, D::Error> {
    let text = String::deserialize(setting)?;
    if text.is_empty() || Path::new(&text).is_absolute() {
        return Ok(Some(PathBuf::from(text)).filter(|path| !path.as_os_str().is_empty()));
    }
    Err(D::Error::custom(format!("{text:?} is not an absolute path")))
}

/// Absolute paths; `~` is the home directory, and what begins with it is left out where there is none.
pub(super) fn paths<'de, D: Deserializer<'de>>(setting: D, key: &str) -> Result<Vec<PathBuf>, D::Error> {
    let home = std::env::home_dir();
    let mut paths = Vec::new();
    for text in Vec::<String>::deserialize(setting)? {
        let path = match (text.strip_prefix("~/"), &home) {
            (Some(below), Some(home)) => home.join(below),
            (Some(_), None) => continue,
            (None, _) => PathBuf::from(&text),
        };
        if !path.is_absolute() {
            let what = format!("{text:?} in {key} is not an absolute path; begin it with / or ~/");
            return Err(D::Error::custom(what));
        }
        paths.push(path);
    }
    Ok(paths)
}

pub(super) fn within<T: PartialOrd>(
    value: T,
    bounds: &RangeInclusive<T>,
    show: impl Fn(&T) -> String,
) -> Result<T, String> {
    if bounds.contains(&value) {
        return Ok(value);
    }
    let (value, least, most) = (show(&value), show(bounds.start()), show(bounds.end()));
    Err(format!("{value} is out of bounds; it takes {least} to {most}"))
}
