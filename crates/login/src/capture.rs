//! Captures: a shell reads its start-up files, and is asked what became of it.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use runward_files::random;
use runward_policy::SearchPath;

use crate::dump::{self, Dump};
use crate::restore::Changes;
use crate::snapshot::{File, Snapshot};
use crate::watched::Watched;
use crate::{LoginSettings, Printed, Problem, Shell};

/// How a shell is started that reads no start-up files and counts as a login shell all the same.
const BARE: [&str; 3] = ["--noprofile", "-l", "-c"];

/// A shell, and what it starts from.
pub(crate) struct Start<'a> {
    pub(crate) shell: &'a dyn Shell,
    pub(crate) settings: &'a LoginSettings,
    pub(crate) environment: Vec<(OsString, OsString)>,
}

impl Start<'_> {
    /// What the start-up files make of the shell, tried out: a shell that is given it is the same.
    pub(crate) async fn capture(&self) -> Result<(Snapshot, Watched), Problem> {
        let settings = self.settings;
        let before = self.ask(&BARE, &self.environment).await?;
        let home = before.variables.get("HOME").map_or(&b"/"[..], |home| &home.value);
        let mut watched = Watched::of(Path::new(std::ffi::OsStr::from_bytes(home)));
        let after = self.ask(&["-l", "-c"], &self.environment).await?;
        let inherited: Vec<OsString> = self.environment.iter().map(|(name, _)| name.clone()).collect();
        let changes =
            Changes { before: &before, after: &after, withheld: &settings.withheld, inherited: &inherited };
        if let Some(obstacle) = changes.obstacle() {
            return Err(Problem::Obstacle(obstacle));
        }
        let script = changes.script();
        let file = (!script.is_empty()).then(|| File::write(&settings.directory, &script)).transpose()?;
        // Whoever changes it changes what every command reads first.
        if let Some(file) = &file {
            watched.add(file.as_ref());
        }
        let snapshot = Snapshot::new(&changes, self.environment(&changes), file);
        let made = self.ask(&BARE, &snapshot.shell_environment()).await?;
        match changes.missed(&made) {
            None => Ok((snapshot, watched)),
            Some(missed) => Err(Problem::Missed(missed)),
        }
    }

    /// What commands get, with a `PATH` that means the same everywhere. What is no variable to bash goes through it.
    fn environment(&self, changes: &Changes<'_>) -> Vec<(OsString, OsString)> {
        let mut environment = changes.environment();
        for (name, value) in &mut environment {
            if name == "PATH" {
                *value = SearchPath::new(value).to_variable();
            }
        }
        let is_foreign = |name: &OsString| {
            name.as_bytes().iter().any(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_')
        };
        environment.extend(self.environment.iter().filter(|(name, _)| is_foreign(name)).cloned());
        environment
    }

    /// Starts the shell and has it say what it is.
    async fn ask(&self, options: &[&str], environment: &[(OsString, OsString)]) -> Result<Dump, Problem> {
        let mark = mark();
        let script = dump::script(&mark);
        let argv = [&["bash"], options, &["--", &script]].concat();
        let Printed { stdout, stderr } = self.shell.run(&argv, environment).await?;
        if !stderr.windows(mark.len()).any(|window| window == mark.as_bytes()) {
            return Err(Problem::Silent);
        }
        Dump::read(&stdout, &mark).ok_or(Problem::Silent)
    }
}

fn mark() -> String {
    format!("runward-{}", random::name::<16>())
}
