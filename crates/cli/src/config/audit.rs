//! The section `[audit]`.

use std::path::PathBuf;
use std::time::Duration;

use runward_audit::{Durability, Retention};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::fields::readers;
use super::units;

/// Below this, there is no room for what is always kept.
const LEAST_SIZE: u64 = 1 << 20;

readers! {
    durability: Durability = choice(&[("crash", Durability::Crash), ("power-loss", Durability::PowerLoss)]);
    keep: Option<Duration> = some_duration(Duration::from_hours(24 * 36_500));
}

/// Whether, where and how firmly calls are recorded.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Audit {
    pub(crate) enabled: bool,
    #[serde(rename = "path", deserialize_with = "place")]
    pub(crate) place: Place,
    #[serde(deserialize_with = "durability")]
    pub(crate) durability: Durability,
    /// `None` is for ever.
    #[serde(deserialize_with = "keep")]
    keep: Option<Duration>,
    /// `None` is without limit.
    #[serde(deserialize_with = "max_size")]
    max_size: Option<u64>,
}

/// Where the trail is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In this file.
    Named(PathBuf),
    /// In the state directory of whoever runs the program.
    Usual,
}

impl Audit {
    /// What of the trail is kept.
    pub(crate) const fn retention(&self) -> Retention {
        Retention { age: self.keep, size: self.max_size }
    }
}

fn max_size<'de, D: Deserializer<'de>>(setting: D) -> Result<Option<u64>, D::Error> {
    let text = String::deserialize(setting)?;
    let size = units::size(&text).map_err(D::Error::custom)? as u64;
    if (1..LEAST_SIZE).contains(&size) {
        let what = format!("{text} is out of bounds; it takes 0B, for no limit, or at least 1MiB");
        return Err(D::Error::custom(what));
    }
    Ok(Some(size).filter(|size| *size > 0))
}

/// A relative path would be another file for every directory that a server is started in.
fn place<'de, D: Deserializer<'de>>(setting: D) -> Result<Place, D::Error> {
    let text = String::deserialize(setting)?;
    let path = PathBuf::from(&text);
    if text.is_empty() {
        return Ok(Place::Usual);
    }
    if !path.is_absolute() {
        return Err(D::Error::custom(format!("{text:?} is not an absolute path; begin it with /")));
    }
    Ok(Place::Named(path))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::Config;
    use crate::config::settings::Settings;

    fn with(section: &str) -> Result<Audit, String> {
        let mut settings = Settings::defaults().unwrap();
        let text = format!("[audit]\n{section}\n");
        settings.apply_file(Path::new("x.toml"), &text).map_err(|error| error.to_string())?;
        Config::read(&settings).map(|config| config.audit).map_err(|error| error.to_string())
    }

    #[test]
    fn calls_are_recorded_in_the_usual_place_unless_somebody_says_otherwise() {
        let retention = Retention { age: Some(Duration::from_hours(24 * 365)), size: Some(1 << 30) };
        let usual = with("").unwrap();
        assert_eq!(usual.retention(), retention);
        assert_eq!((usual.enabled, usual.place, usual.durability), (true, Place::Usual, Durability::Crash));
        let for_ever = "keep = '0s'\nmax_size = '0B'";
        let told = format!("enabled = false\npath = '/srv/audit.db'\ndurability = 'power-loss'\n{for_ever}");
        let told = with(&told).unwrap();
        assert_eq!(told.retention(), Retention::default());
        let place = Place::Named("/srv/audit.db".into());
        assert_eq!((told.enabled, told.place, told.durability), (false, place, Durability::PowerLoss));
    }

    #[test]
    fn a_path_that_depends_on_where_the_program_is_started_is_refused() {
        for path in ["audit.db", "~/audit.db"] {
            let message = format!("x.toml:2: audit.path: {path:?} is not an absolute path; begin it with /");
            assert_eq!(with(&format!("path = '{path}'")), Err(message));
        }
        let message = "x.toml:2: audit.durability: \"disk\" is not one of crash, power-loss";
        assert_eq!(with("durability = 'disk'"), Err(message.into()));
    }
}
