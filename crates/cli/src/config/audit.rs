//! The section `[audit]`.

use std::path::PathBuf;
use std::time::Duration;

use runward_audit::{Durability, Retention};

use super::error::Error;
use super::settings::Settings;
use super::units;

/// Below this, there is no room for what is always kept.
const LEAST_SIZE: u64 = 1 << 20;

/// Whether, where and how firmly calls are recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Audit {
    pub(crate) enabled: bool,
    pub(crate) place: Place,
    pub(crate) durability: Durability,
    pub(crate) retention: Retention,
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
    pub(super) fn read(settings: &mut Settings) -> Result<Self, Error> {
        let kinds = [("crash", Durability::Crash), ("power-loss", Durability::PowerLoss)];
        Ok(Audit {
            enabled: settings.switch("audit.enabled")?,
            place: read_place(settings)?,
            durability: settings.choice("audit.durability", &kinds)?,
            retention: read_retention(settings)?,
        })
    }
}

/// Zero is for ever, and without limit.
fn read_retention(settings: &mut Settings) -> Result<Retention, Error> {
    let age = settings.duration("audit.keep", Duration::ZERO..=Duration::from_hours(24 * 36_500))?;
    let (text, origin) = settings.text("audit.max_size")?;
    let size = units::size(&text).map_err(|what| Error::setting(&origin, what))? as u64;
    if (1..LEAST_SIZE).contains(&size) {
        let what = format!("{text} is out of bounds; it takes 0B, for no limit, or at least 1MiB");
        return Err(Error::setting(&origin, what));
    }
    Ok(Retention { age: Some(age).filter(|age| !age.is_zero()), size: Some(size).filter(|size| *size > 0) })
}

/// A relative path would be another file for every directory that a server is started in.
fn read_place(settings: &mut Settings) -> Result<Place, Error> {
    let (text, origin) = settings.text("audit.path")?;
    let path = PathBuf::from(&text);
    if text.is_empty() {
        return Ok(Place::Usual);
    }
    if !path.is_absolute() {
        return Err(Error::setting(&origin, format!("{text:?} is not an absolute path; begin it with /")));
    }
    Ok(Place::Named(path))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::Config;

    fn with(section: &str) -> Result<Audit, String> {
        let mut settings = Settings::defaults().unwrap();
        let text = format!("[audit]\n{section}\n");
        settings.apply_file(Path::new("x.toml"), &text).map_err(|error| error.to_string())?;
        Config::read(&mut settings).map(|config| config.audit).map_err(|error| error.to_string())
    }

    #[test]
    fn calls_are_recorded_in_the_usual_place_unless_somebody_says_otherwise() {
        let retention = Retention { age: Some(Duration::from_hours(24 * 365)), size: Some(1 << 30) };
        let usual = Audit { enabled: true, place: Place::Usual, durability: Durability::Crash, retention };
        assert_eq!(with(""), Ok(usual));
        let for_ever = "keep = '0s'\nmax_size = '0B'";
        let told = format!("enabled = false\npath = '/srv/audit.db'\ndurability = 'power-loss'\n{for_ever}");
        let told = with(&told).unwrap();
        let retention = Retention::default();
        let place = Place::Named("/srv/audit.db".into());
        assert_eq!(told, Audit { enabled: false, place, durability: Durability::PowerLoss, retention });
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
