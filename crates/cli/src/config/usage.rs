//! How much a command may use: what the settings say, else what this host leaves, found out once.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use runward_model::{Elsewhere, Limits};
use runward_runner::Room;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::fields::within;
use super::{Config, units};

/// The word that leaves an amount to the program.
const AUTO: &str = "auto";

/// A command that starts more than this by intent is rare.
const MOST_PROCESSES: u64 = 4096;

/// However full a disk is, files may become so large.
const LEAST_FILE: u64 = 64 << 20;

/// More private temporary files than this are rare.
const MOST_TEMPORARY: u64 = 4 << 30;

/// How much of something, as it is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Amount {
    /// What the host leaves.
    Auto,
    /// So much; `None` is without limit.
    Most(Option<u64>),
}

impl Amount {
    fn or(self, auto: impl FnOnce() -> Option<u64>) -> Option<u64> {
        match self {
            Amount::Auto => auto(),
            Amount::Most(most) => most,
        }
    }
}

/// A size of which zero says that there is none, or "auto".
pub(super) fn size_or_auto<'de, D: Deserializer<'de>>(
    setting: D,
    bounds: RangeInclusive<usize>,
) -> Result<Amount, D::Error> {
    let text = String::deserialize(setting)?;
    if text.trim() == AUTO {
        return Ok(Amount::Auto);
    }
    let size = units::size(&text).and_then(|size| within(size, &bounds, |size| units::show_size(*size)));
    Ok(some(size.map_err(D::Error::custom)? as u64))
}

/// A whole number of which zero says that there is none, or "auto".
pub(super) fn count_or_auto<'de, D: Deserializer<'de>>(setting: D, most: i64) -> Result<Amount, D::Error> {
    let number = match Counted::deserialize(setting)? {
        Counted::Number(number) => number,
        Counted::Text(text) if text.trim() == AUTO => return Ok(Amount::Auto),
        Counted::Text(text) => {
            let what = || format!("{text:?} is neither \"auto\" nor a whole number");
            text.trim().parse().map_err(|_| D::Error::custom(what()))?
        }
    };
    let number = within(number, &(0..=most), i64::to_string).map_err(D::Error::custom)?;
    Ok(some(number.unsigned_abs()))
}

fn some(amount: u64) -> Amount {
    Amount::Most(Some(amount).filter(|amount| *amount > 0))
}

/// As it is written.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected \"auto\" or a whole number")]
enum Counted {
    Number(i64),
    Text(String),
}

impl Config {
    /// How much each command may use.
    pub(crate) fn usage(&self) -> Limits {
        let told = &self.limits;
        let room = Room::here();
        Limits {
            memory: told.memory.or(|| Some(room.memory / 4 * 3)),
            processes: told.processes.or(|| Some(MOST_PROCESSES.min(room.processes / 2))),
            cpu_time: told.cpu_time,
            file_size: told.file_size.or(|| largest_file(&self.policy.cwd_roots)),
            open_files: told.open_files,
            elsewhere: Elsewhere {
                spares_memory: told.memory == Amount::Auto,
                others: if told.processes == Amount::Auto { room.taken } else { 0 },
            },
        }
    }
}

/// How large the private temporary files of a workspace may become: they are memory.
pub(crate) fn temporary_size(told: Amount, memory: Option<u64>) -> u64 {
    let most = memory.unwrap_or(u64::MAX);
    told.or(|| Some((most / 4).min(MOST_TEMPORARY))).unwrap_or(most).min(most)
}

/// Half of what is free where commands may write, where that is least.
fn largest_file(places: &[PathBuf]) -> Option<u64> {
    let own = std::env::current_dir().ok();
    let used = places.iter().map(PathBuf::as_path).chain(own.as_deref().filter(|_| places.is_empty()));
    used.filter_map(free).min().map(|free| (free / 2).max(LEAST_FILE))
}

/// Of a file system that can be written at all.
fn free(place: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(place).ok()?;
    let writable = !found.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY) && found.f_bavail > 0;
    writable.then(|| found.f_bavail.saturating_mul(found.f_frsize))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::settings::Settings;

    fn with(section: &str) -> Result<Limits, String> {
        let mut settings = Settings::defaults().unwrap();
        settings.apply_file(Path::new("runward.toml"), section).map_err(|error| error.to_string())?;
        Config::read(&settings).map(|config| config.usage()).map_err(|error| error.to_string())
    }

    #[test]
    fn without_a_word_everything_is_finite() {
        let limits = with("").unwrap();
        let room = Room::here();
        assert_eq!(limits.memory, Some(room.memory / 4 * 3));
        assert!(limits.processes.is_some_and(|most| most <= 4096 && most <= room.processes / 2));
        assert!(limits.file_size.is_some_and(|most| most >= LEAST_FILE));
        assert!(limits.elsewhere.spares_memory && limits.elsewhere.others > 0);
        assert!(temporary_size(Amount::Auto, limits.memory) <= room.memory / 4);
    }

    #[test]
    fn what_is_said_holds_and_zero_is_no_limit() {
        let limits = with("[limits]\nmemory = '96MiB'\nprocesses = 20\nfile_size = '0B'").unwrap();
        assert_eq!((limits.memory, limits.processes, limits.file_size), (Some(96 << 20), Some(20), None));
        assert_eq!(limits.elsewhere, Elsewhere::default());
        assert_eq!(with("limits.processes = '20'").unwrap().processes, Some(20));
        let none = with("[limits]\nmemory = '0B'\nprocesses = 0").unwrap();
        assert_eq!((none.memory, none.processes), (None, None));
        for (wrong, message) in [
            ("limits.processes = 'many'", "\"many\" is neither \"auto\" nor a whole number"),
            ("limits.memory = 'much'", "is not a size"),
            ("limits.processes = true", "expected \"auto\" or a whole number"),
        ] {
            let refused = with(wrong).unwrap_err();
            assert!(refused.contains(message), "{refused}");
        }
    }

    #[test]
    fn temporary_files_are_part_of_the_memory() {
        assert_eq!(temporary_size(Amount::Auto, Some(400)), 100);
        assert_eq!(temporary_size(Amount::Most(Some(700)), Some(400)), 400);
        assert_eq!(temporary_size(Amount::Auto, None), MOST_TEMPORARY);
        assert_eq!(temporary_size(Amount::Auto, Some(1 << 40)), MOST_TEMPORARY);
    }
}
