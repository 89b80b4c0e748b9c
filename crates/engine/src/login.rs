//! Login shells: which work wants one, and how one is started so that it says what it is.
//!
//! Nothing of what a caller said gets into this: program, environment and script are the operator's and ours. So it
//! needs no verdict, and is told in the log instead of the trail.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use runward_login::{Printed, Problem, Running, Shell, Snapshot};
use runward_model::wire::Report;
use runward_model::{Caller, Confinement, Door, Principal, Request, Script, Work};
use runward_policy::SearchPath;
use runward_process::{Child, Output, OwnProgram, Stdio};
use runward_sandbox::Scene;
use tokio::time::Instant;

use crate::confine::{self, ConfineAsk, Confined};
use crate::host::Start;
use crate::resolve::{self, Variables};
use crate::{Engine, cwd, patching, shell};

/// More than this no shell says of itself.
const MOST_PRINTED: usize = 8 << 20;

/// How long a process may outlive the shell that start-up files began it from.
const LINGER: Duration = Duration::from_millis(250);

/// Where a capture begins: nobody's workspace, so a sandbox makes nothing writable for it.
const PLACE: &str = "/";

/// Where captures come from, as settings for single doors see it.
const DOOR: Door = Door::named("login");

impl Engine {
    /// What a request's login shell would find; `None` when it has to find that by itself, or wants none.
    pub(crate) async fn login(&self, request: &Request) -> Option<Arc<Snapshot>> {
        let settings = &self.0.settings;
        let steers = |(name, _): &(String, String)| name == "HOME" || resolve::steers_bash(name.as_ref());
        let is_off = settings.login.timeout.is_zero() || patching::needs_no_shell(&request.work);
        if is_off || request.env.iter().any(steers) {
            return None;
        }
        let program = shell_of(&request.work, settings.policy.current().path())?;
        let shell = LoginShell { engine: self, program: &program, door_env: &request.door_env };
        self.0.logins.of(&shell, &settings.login, &self.0.stopping).await
    }

    /// The same as far as it is known already.
    pub(crate) fn known_login(&self, work: &Work) -> Option<Arc<Snapshot>> {
        let policy = self.0.settings.policy.current();
        self.0.logins.known(&shell_of(work, policy.path())?)
    }
}

/// The bash that some work wants to log in to.
fn shell_of(work: &Work, path: &SearchPath) -> Option<PathBuf> {
    let Work::Script(Script { shell, login: true, .. }) = work else { return None };
    let file = shell::login(shell.as_deref(), path)?;
    if file.contains('/') { Some(file.into()) } else { path.find(&file) }
}

/// A shell as the operator has it.
struct LoginShell<'a> {
    engine: &'a Engine,
    program: &'a Path,
    door_env: &'a [(String, String)],
}

impl Shell for LoginShell<'_> {
    fn program(&self) -> &Path {
        self.program
    }

    fn door_env(&self) -> &[(String, String)] {
        self.door_env
    }

    fn environment(&self) -> Vec<(OsString, OsString)> {
        let variables = Variables { door_env: self.door_env, ..Variables::default() };
        resolve::environment(&self.engine.0.settings, true, variables, Path::new(PLACE))
    }

    fn run<'a>(&'a self, argv: &'a [&'a str], environment: &'a [(OsString, OsString)]) -> Running<'a> {
        Box::pin(self.print(argv, environment))
    }
}

impl LoginShell<'_> {
    async fn print(&self, argv: &[&str], environment: &[(OsString, OsString)]) -> Result<Printed, Problem> {
        let shared = &self.engine.0;
        let Confined { fence, temporary: _temporary, .. } = self.confined().await?;
        let (limits, fence) = (shared.settings.limits, fence.as_ref());
        let shell = OwnProgram { program: self.program, argv, env: environment, limits, fence };
        let launch = shell.for_login_capture().map_err(|_| Problem::Silent)?;
        let cwd = cwd::open(Some(Path::new(PLACE)), &[]);
        let cwd = cwd.map_err(|refusal| Problem::NotStarted(refusal.to_string()))?;
        let start = Start { launch, program: None, cwd: cwd.handle, stdio: Stdio::Pipes };
        let child = shared.host.spawn(start).await;
        listen(child.map_err(|error| Problem::NotStarted(error.to_string()))?).await
    }

    /// As every command is, with no directory of its own to write to.
    async fn confined(&self) -> Result<Confined, Problem> {
        let shared = &self.engine.0;
        let scene = Scene { cwd: Path::new(PLACE), program: self.program, projects: &[] };
        // Nobody's, so it shares nothing with any command.
        let caller = Caller::new(DOOR, Principal::local().any_client());
        let ask =
            ConfineAsk { caller: &caller, confinement: Confinement::Usual, workspace: None, profile: None };
        let place = (&*shared.host, &shared.workspaces);
        let confined = confine::confine(&shared.settings.sandboxing, place, ask, scene).await;
        confined.map_err(|refusal| Problem::NotStarted(refusal.to_string()))
    }
}

/// Everything that it prints, once it and everything that it started are gone.
async fn listen(mut child: Child) -> Result<Printed, Problem> {
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
    let (stdout, stderr) = heard.unwrap_or_default();
    Ok(Printed { stdout, stderr })
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
