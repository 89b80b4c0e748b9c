//! Where the program keeps what outlives it, without making anything there.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use runward_files::private;
use rustix::fs::{Access, AtFlags, CWD, accessat};

/// The file that names every user's home.
const USERS: &str = "/etc/passwd";

/// The directory of ours for what outlives the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// It stays.
    Lasting(PathBuf),
    /// There is no home to write to: it is among temporary files, and whoever uses it must see that it is ours.
    Temporary(PathBuf),
}

impl State {
    /// The state directory of this process.
    pub(crate) fn of_this_user() -> Self {
        let users = fs::read(USERS).unwrap_or_default();
        State::choose(|name| std::env::var_os(name), private::user(), &users)
    }

    /// The file that holds the token of this user.
    pub(crate) fn token_file() -> PathBuf {
        State::of_this_user().path().join("token")
    }

    /// The directory.
    pub(crate) fn path(&self) -> &Path {
        match self {
            State::Lasting(path) | State::Temporary(path) => path,
        }
    }

    fn choose(variable: impl Fn(&str) -> Option<OsString>, user: u32, users: &[u8]) -> Self {
        let absolute = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
        if let Some(state) = absolute("XDG_STATE_HOME") {
            return State::Lasting(state.join("runward"));
        }
        let home = absolute("HOME").or_else(|| home_of(user, users));
        let state = home.filter(|home| home.is_dir()).map(|home| home.join(".local/state/runward"));
        if let Some(state) = state.filter(|state| can_be_written(state)) {
            return State::Lasting(state);
        }
        let temporary = absolute("TMPDIR").unwrap_or_else(|| "/tmp".into());
        State::Temporary(temporary.join(format!("runward-{user}")))
    }
}

/// The home of a user, from the lines `name:password:uid:gid:comment:home:shell`.
fn home_of(user: u32, users: &[u8]) -> Option<PathBuf> {
    let user = user.to_string();
    let line = users.split(|byte| *byte == b'\n').find(|line| field(line, 2) == Some(user.as_bytes()))?;
    let home = PathBuf::from(OsStr::from_bytes(field(line, 5)?));
    home.is_absolute().then_some(home)
}

fn field(line: &[u8], index: usize) -> Option<&[u8]> {
    line.split(|byte| *byte == b':').nth(index)
}

/// Whether this directory can be written to, or made: what there is of it decides.
pub(crate) fn can_be_written(directory: &Path) -> bool {
    let there = directory.ancestors().find(|ancestor| ancestor.symlink_metadata().is_ok());
    there.is_some_and(|there| {
        there.is_dir() && accessat(CWD, there, Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS).is_ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const USERS: &[u8] =
        b"root:x:0:0::/root:/bin/sh\nbroken\nada:x:7:7:Ada::/bin/sh\nbob:x:8:8::/nowhere:/bin/sh\n";

    fn chosen(user: u32, variables: &[(&str, &Path)]) -> State {
        let value = |name: &str| variables.iter().find(|(known, _)| *known == name);
        State::choose(|name| value(name).map(|(_, path)| path.as_os_str().to_owned()), user, USERS)
    }

    #[test]
    fn the_state_directory_that_somebody_named_is_taken_as_it_is() {
        let named = [("XDG_STATE_HOME", Path::new("/nowhere/state")), ("HOME", Path::new("/"))];
        assert_eq!(chosen(8, &named), State::Lasting("/nowhere/state/runward".into()));
    }

    #[test]
    fn otherwise_it_is_in_the_home_directory_and_nothing_is_made_there() {
        let home = tempfile::tempdir().unwrap();
        let expected = State::Lasting(home.path().join(".local/state/runward"));
        assert_eq!(chosen(8, &[("HOME", home.path())]), expected);
        assert_eq!(chosen(8, &[("XDG_STATE_HOME", Path::new("state")), ("HOME", home.path())]), expected);
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
    }

    #[test]
    fn the_list_of_users_names_the_home_where_no_variable_does() {
        assert_eq!(home_of(8, USERS), Some("/nowhere".into()));
        assert_eq!(home_of(7, USERS), None, "an empty home is none");
        assert_eq!(home_of(9, USERS), None);
    }

    #[test]
    fn without_a_home_to_write_to_it_is_among_temporary_files() {
        let place = Path::new("/var/tmp");
        let expected = |user| State::Temporary(place.join(format!("runward-{user}")));
        assert_eq!(chosen(8, &[("TMPDIR", place)]), expected(8), "the listed home is not there");
        assert_eq!(chosen(0, &[("HOME", Path::new("/nowhere")), ("TMPDIR", place)]), expected(0));
        assert_eq!(chosen(9, &[]), State::Temporary("/tmp/runward-9".into()));
    }

    #[test]
    fn a_home_in_which_the_directory_cannot_be_made_is_none_to_write_to() {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join(".local"), "").unwrap();
        assert_eq!(chosen(9, &[("HOME", home.path())]), State::Temporary("/tmp/runward-9".into()));
    }
}
