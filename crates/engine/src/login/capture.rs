//! Captures: starts the operator's own shell, lets it read its start-up files, and asks what became of it.
//!
//! Nothing of what a caller said gets into this: program, environment and script are the operator's and ours. So it
//! needs no verdict, and is told in the log instead of the trail.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use runward_files::random;
use runward_model::wire::Report;
use runward_model::{Caller, Confinement, Door, Principal};
use runward_policy::SearchPath;
use runward_process::{Child, Output, OwnProgram, Stdio};
use runward_sandbox::Scene;
use tokio::time::Instant;

use super::Problem;
use super::dump::{self, Dump};
use super::restore::Changes;
use super::snapshot::{File, Snapshot};
use super::watched::Watched;
use crate::confine::{self, ConfineAsk, Confined};
use crate::host;
use crate::{Engine, cwd};

/// More than this no shell says of itself.
const MOST_PRINTED: usize = 8 << 20;

/// How long a process may outlive the shell that start-up files began it from.
const LINGER: Duration = Duration::from_millis(250);

/// How a shell is started that reads no start-up files and counts as a login shell all the same.
const BARE: [&str; 3] = ["--noprofile", "-l", "-c"];

/// Where a capture begins: nobody's workspace, so a sandbox makes nothing writable for it.
const PLACE: &str = "/";

/// Where captures come from, as settings for single doors see it.
const DOOR: Door = Door::named("login");

/// A shell, and what it starts from.
#[derive(Debug)]
pub(super) struct Start<'a> {
    pub(super) engine: &'a Engine,
    pub(super) program: &'a Path,
    pub(super) environment: Vec<(OsString, OsString)>,
}

impl Start<'_> {
    /// What the start-up files make of the shell, tried out: a shell that is given it is the same.
    pub(super) async fn capture(&self) -> Result<(Snapshot, Watched), Problem> {
        let settings = &self.engine.0.settings.login;
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
        let shared = &self.engine.0;
        let Confined { fence, temporary: _temporary, .. } = self.confined().await?;
        let (limits, fence) = (shared.settings.limits, fence.as_ref());
        let shell = OwnProgram { program: self.program, argv: &argv, env: environment, limits, fence };
        let launch = shell.for_login_capture().map_err(|_| Problem::Silent)?;
        let cwd = cwd::open(Some(Path::new(PLACE)), &[]);
        let cwd = cwd.map_err(|refusal| Problem::NotStarted(refusal.to_string()))?;
        let start = host::Start { launch, program: None, cwd: cwd.handle, stdio: Stdio::Pipes };
        let child = shared.host.spawn(start).await;
        let child = child.map_err(|error| Problem::NotStarted(error.to_string()))?;
        let (stdout, stderr) = listen(child).await?;
        if !stderr.windows(mark.len()).any(|window| window == mark.as_bytes()) {
            return Err(Problem::Silent);
        }
        Dump::read(&stdout, &mark).ok_or(Problem::Silent)
    }

    /// As every command is, with no directory of its own to write to.
    async fn confined(&self) -> Result<Confined, Problem> {
        let shared = &self.engine.0;
        let scene = Scene { cwd: Path::new(PLACE), program: self.program, projects: &[] };
        // Nobody's, so it shares nothing with any command.
        let caller = Caller::new(DOOR, Principal::local().any_client());
        let ask = ConfineAsk { caller: &caller, confinement: Confinement::Usual, profile: None };
        let place = (&*shared.host, &shared.workspaces);
        let confined = confine::confine(&shared.settings.sandboxing, place, ask, scene).await;
        confined.map_err(|refusal| Problem::NotStarted(refusal.to_string()))
    }
}

fn mark() -> String {
    format!("runward-{}", random::name::<16>())
}

/// Everything that it prints, once it and everything that it started are gone.
async fn listen(mut child: Child) -> Result<(Vec<u8>, Vec<u8>), Problem> {
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let printed = async { tokio::try_join!(all_of(stdout), all_of(stderr)) };
    tokio::pin!(printed);
    let (mut heard, mut gone, mut patience) = (None, false, None);
    while heard.is_none() || !gone {
        tokio::select! {
            result = &mut printed, if heard.is_none() => heard = Some(result?),
            report = child.reports.next(), if !gone => match report {
                Report::Exited { alone: false, .. } => patience = Some(Instant::now() + LINGER),
                _ => gone = true,
            },
            () = until(patience), if !gone => return Err(Problem::LeftBehind),
        }
    }
    Ok(heard.unwrap_or_default())
}

async fn until(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

async fn all_of(output: Option<Output>) -> Result<Vec<u8>, Problem> {
    let Some(mut output) = output else { return Ok(Vec::new()) };
    let (mut all, mut buffer) = (Vec::new(), vec![0; 64 << 10]);
    loop {
        let read = output.read(&mut buffer).await.unwrap_or(0);
        if read == 0 {
            return Ok(all);
        }
        if all.len() + read > MOST_PRINTED {
            return Err(Problem::TooMuch(MOST_PRINTED));
        }
        all.extend_from_slice(buffer.get(..read).unwrap_or_default());
    }
}
