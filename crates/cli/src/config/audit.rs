//! The section `[audit]`.

use std::path::PathBuf;

use runward_audit::Durability;

use super::error::Error;
use super::settings::Settings;

/// Whether, where and how firmly calls are recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Audit {
    pub(crate) enabled: bool,
    pub(crate) place: Place,
    pub(crate) durability: Durability,
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
        })
    }
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
        let usual = Audit { enabled: true, place: Place::Usual, durability: Durability::Crash };
        assert_eq!(with(""), Ok(usual));
        let told = with("enabled = false\npath = '/srv/audit.db'\ndurability = 'power-loss'").unwrap();
        let place = Place::Named("/srv/audit.db".into());
        assert_eq!(told, Audit { enabled: false, place, durability: Durability::PowerLoss });
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
