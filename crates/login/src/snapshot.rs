//! What a login shell found, ready to be given to others.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use runward_files::private::{self, Others};
use runward_files::random;
use runward_policy::{Policy, SearchPath};

use crate::dump::{Section, lines};
use crate::restore::{BASH_ENV, Changes};

/// Files older than this were left by a server that was killed: nobody uses a snapshot for so long.
const LEFT: Duration = Duration::from_hours(3);

/// What a login shell found.
#[derive(Debug)]
pub struct Snapshot {
    environment: Vec<(OsString, OsString)>,
    /// What a shell has to read besides, if it has to.
    file: Option<File>,
    /// Functions and aliases.
    names: HashSet<String>,
    /// Whether commands that are none of those need no shell.
    leaves_commands_alone: bool,
    path: SearchPath,
    /// A policy, and the same with names looked up on this path.
    judge: Mutex<Option<(Arc<Policy>, Arc<Policy>)>>,
}

impl Snapshot {
    pub(crate) fn new(
        changes: &Changes<'_>,
        environment: Vec<(OsString, OsString)>,
        file: Option<File>,
    ) -> Self {
        let path =
            environment.iter().find(|(name, _)| name == "PATH").map(|(_, value)| SearchPath::new(value));
        Snapshot {
            file,
            names: names(changes),
            leaves_commands_alone: changes.leave_commands_alone(),
            path: path.unwrap_or_else(|| SearchPath::new(OsStr::new(""))),
            judge: Mutex::default(),
            environment,
        }
    }

    /// What a command gets.
    pub fn environment(&self) -> Vec<(OsString, OsString)> {
        self.environment.clone()
    }

    /// What a shell gets, which may have to read something before anything else.
    pub fn shell_environment(&self) -> Vec<(OsString, OsString)> {
        let Some(File(file)) = &self.file else { return self.environment() };
        let others = self.environment.iter().filter(|(name, _)| name != BASH_ENV).cloned();
        others.chain([(BASH_ENV.into(), file.into())]).collect()
    }

    /// Whether this command is one only to a shell.
    pub fn concerns(&self, command: &str) -> bool {
        !self.leaves_commands_alone || self.names.contains(command)
    }

    /// A policy that looks names up where the login shell does.
    pub fn judge(&self, policy: &Arc<Policy>) -> Arc<Policy> {
        let mut judge = self.judge.lock().unwrap_or_else(PoisonError::into_inner);
        match &*judge {
            Some((before, after)) if Arc::ptr_eq(before, policy) => after.clone(),
            _ => {
                let after = Arc::new(policy.on_path(self.path.clone()));
                *judge = Some((policy.clone(), after.clone()));
                after
            }
        }
    }
}

/// The names of functions (`declare -fx name`) and aliases (`alias name='…'`).
fn names(changes: &Changes<'_>) -> HashSet<String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let functions = lines(changes.after.section(Section::FunctionAttributes));
    let functions = functions.filter_map(|line| line.splitn(3, |byte| *byte == b' ').nth(2)).map(text);
    let aliases = lines(changes.after.section(Section::Aliases));
    let aliases = aliases.filter_map(|line| line.strip_prefix(b"alias "));
    let aliases = aliases.map(|line| line.strip_prefix(b"-- ").unwrap_or(line));
    functions.chain(aliases.filter_map(|line| line.split(|byte| *byte == b'=').next()).map(text)).collect()
}

/// A private file that lives as long as this.
#[derive(Debug)]
pub(crate) struct File(PathBuf);

impl File {
    /// Writes a new file into a directory of ours.
    pub(crate) fn write(directory: &Path, text: &[u8]) -> io::Result<Self> {
        private::make(directory)?;
        if !private::belongs_to(&fs::metadata(directory)?, private::user(), Others::Read) {
            return Err(io::Error::other(format!("{} is not ours alone", directory.display())));
        }
        remove_left(directory);
        let path = directory.join(format!("{}.sh", random::name::<16>()));
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        let file_of_ours = File(path);
        file.write_all(text)?;
        Ok(file_of_ours)
    }
}

impl AsRef<Path> for File {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn remove_left(directory: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let age =
            entry.metadata().and_then(|found| found.modified()).ok().and_then(|time| time.elapsed().ok());
        let is_ours = entry.path().extension().is_some_and(|end| end == "sh");
        if is_ours && age.is_some_and(|age| age > LEFT) {
            let _ = fs::remove_file(entry.path());
        }
    }
}
