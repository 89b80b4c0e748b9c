//! Which file, if any.

use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::environment::Variables;
use super::error::Error;

/// The configuration file's path and text: the one that was named, else the one in the usual place if there is one.
pub(crate) fn read(named: Option<&Path>, variables: &Variables) -> Result<Option<(PathBuf, String)>, Error> {
    let variable = variables.get(OsStr::new("RUNWARD_CONFIG")).filter(|path| !path.is_empty());
    if let Some(path) = named {
        return text(path.into(), "named by --config").map(Some);
    }
    if let Some(path) = variable {
        return text(path.into(), "named by RUNWARD_CONFIG").map(Some);
    }
    let Some(path) = usual_place(variables) else { return Ok(None) };
    match text(path, "found in the usual place") {
        Err(Error::Unreadable { source, .. }) if is_absent(source.kind()) => Ok(None),
        result => result.map(Some),
    }
}

fn text(path: PathBuf, chosen_by: &'static str) -> Result<(PathBuf, String), Error> {
    match fs::read_to_string(&path) {
        Ok(text) => Ok((path, text)),
        Err(source) => Err(Error::Unreadable { path, chosen_by, source }),
    }
}

/// `$XDG_CONFIG_HOME`, where it is absolute as its specification demands, else `~/.config`.
fn usual_place(variables: &Variables) -> Option<PathBuf> {
    let absolute =
        |name: &str| variables.get(OsStr::new(name)).map(PathBuf::from).filter(|path| path.is_absolute());
    let directory =
        absolute("XDG_CONFIG_HOME").or_else(|| absolute("HOME").map(|home| home.join(".config")))?;
    Some(directory.join("runward/config.toml"))
}

fn is_absent(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(variables: &[(&str, &str)]) -> Option<PathBuf> {
        usual_place(&variables.iter().map(|(name, value)| (name.into(), value.into())).collect())
    }

    #[test]
    fn the_usual_place_follows_xdg_then_home() {
        let both = [("XDG_CONFIG_HOME", "/x"), ("HOME", "/home/me")];
        assert_eq!(place(&both), Some("/x/runward/config.toml".into()));
        let relative = [("XDG_CONFIG_HOME", "x"), ("HOME", "/home/me")];
        assert_eq!(place(&relative), Some("/home/me/.config/runward/config.toml".into()));
        assert_eq!(place(&[]), None);
    }
}
