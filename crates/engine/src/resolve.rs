//! Resolve: from what was asked to what would run. Nothing after this changes program, directory or environment.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use runward_login::Snapshot;
use runward_model::{ApprovalPolicy, Argv, Confinement, Decision, Refusal, Request, Stdio, Verdict, Work};
use runward_policy::{Asker, Held, NamedFiles, Policy, Reading, Rulebook, SearchPath, Trace};
use rustix::fs::{Access, AtFlags};

use crate::bounds;
use crate::cwd::{self, Cwd, RootList};
use crate::patching::{self, Call, Prepared};
use crate::shell;
use crate::without_terminal;
use crate::{Engine, Settings};

/// What would run.
#[derive(Debug)]
pub(crate) struct Resolved {
    /// The policy that judges it, the same from beginning to end.
    pub(crate) policy: Arc<Policy>,
    /// The work as the policy reads it.
    pub(crate) reading: Reading,
    /// The file to execute; judged first, so that a refusal speaks of the rule and not of the file.
    pub(crate) program: Result<PathBuf, Refusal>,
    /// The same, open since before it was judged, where the policy may want to know its hash, and where commands may write
    /// it.
    pub(crate) held: Option<Held>,
    /// Its arguments, its name first, as people know them: the text of a script is its caller's.
    pub(crate) argv: Vec<String>,
    /// What its shell is given in place of the last of them.
    pub(crate) text: Option<String>,
    /// Where.
    pub(crate) cwd: Cwd,
    /// With which variables.
    pub(crate) env: Vec<(OsString, OsString)>,
    /// The patch that it is, if it is one; then nothing is executed.
    pub(crate) patch: Option<Prepared>,
    /// The files that it names as they were when it was judged, where what is said of it depends on them.
    pub(crate) files: Option<NamedFiles>,
}

/// Whether anything could stop a script: a rule, or a person who would have to be asked.
fn rules(policy: &Policy, settings: &Settings, confinement: Confinement) -> shell::Rules {
    let asks =
        settings.approvals.policy == ApprovalPolicy::Untrusted || confinement == Confinement::Escalated;
    if policy.restricts() || asks { shell::Rules::Decide } else { shell::Rules::AllowEverything }
}

/// What a request brings beyond its work.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Variables<'a> {
    /// Those that the caller gave.
    pub(crate) given: &'a [(String, String)],
    /// Those that the door sets, which nothing replaces.
    pub(crate) door_env: &'a [(String, String)],
    /// What its login shell would find, in place of those that every command gets.
    pub(crate) login: Option<&'a Snapshot>,
    /// How tightly its caller wants it to be held.
    pub(crate) confinement: Confinement,
    /// What its descriptors lead to.
    pub(crate) stdio: Option<&'a Stdio>,
}

impl Variables<'_> {
    fn has_terminal(&self) -> bool {
        matches!(self.stdio, Some(Stdio::Terminal(_)))
    }
}

/// Reads the work, opens the directory, finds the program.
pub(crate) fn resolve(
    work: &Work,
    cwd: Option<&Path>,
    variables: Variables<'_>,
    settings: &Settings,
) -> Result<Resolved, Refusal> {
    bounds::of_surroundings(cwd, variables.given)?;
    let own = settings.policy.current();
    // A login shell may look names up elsewhere; itself it is found where every shell is.
    let policy = variables.login.map_or_else(|| own.clone(), |login| login.judge(&own));
    policy.judge_environment(variables.given).map_err(Refusal::Environment)?;
    let roots: [RootList<'_>; 2] =
        [("ALLOWED_CWD_ROOTS", &settings.cwd_roots), ("allowed_directories", &settings.allowed_directories)];
    if let Some(call) = patching::recognised(work)? {
        return patch(call, policy, cwd::open(cwd, &roots)?, &roots);
    }
    if let Work::Argv(argv) = work {
        bounds::of_argv(argv)?;
    }
    let reading = runward_policy::read(work)?;
    let cwd = cwd::open(cwd, &roots)?;
    let shell = shell::of(work, &reading, own.path(), variables.login)?;
    let rules = rules(&policy, settings, variables.confinement);
    if let (None, Reading::Plain(argv)) = (&shell, &reading) {
        bounds::of_argv(argv)?;
    }
    let argv = match (&shell, &reading) {
        (Some(shell), _) => shell.argv(work),
        (None, Reading::Script(script)) => vec![script.source().to_owned()],
        (None, Reading::Plain(Argv { file, args })) => [std::slice::from_ref(file), args].concat(),
    };
    let text = shell.as_ref().map(|shell| shell.text(work, &reading, rules)).transpose();
    let program = match (&text, &shell) {
        (Err(refusal), _) => Err(refusal.clone()),
        (Ok(_), Some(shell)) => find(&shell.file, &cwd.path, own.path()),
        (Ok(_), None) => find(argv.first().ok_or(Refusal::Empty)?, &cwd.path, policy.path()),
    };
    let text = text.ok().flatten();
    let (program, held) = match program {
        Ok(program) if shell.is_none() => hold(program, settings, policy.rego().is_some()),
        program => (program, None),
    };
    let mut env = environment(settings, shell.is_some(), variables, &cwd.path);
    if !variables.has_terminal() {
        without_terminal::fill_in(&mut env);
    }
    if shell.is_some() && rules == shell::Rules::Decide {
        shell::read_ascii_as_written(&mut env);
    }
    let mut resolved =
        Resolved { policy, reading, program, held, argv, text, cwd, env, patch: None, files: None };
    if resolved.policy.ties() {
        // Work of which that cannot be said is judged as if no file were as it was approved.
        resolved.files = resolved.look_at_files(settings).ok();
    }
    Ok(resolved)
}

impl Resolved {
    /// The files that it names, as they are now.
    pub(crate) fn look_at_files(&self, settings: &Settings) -> Result<NamedFiles, String> {
        if self.patch.is_some() {
            return Ok(NamedFiles::default());
        }
        let program = self.program.as_deref().ok();
        let writable = |file: &Path| settings.sandboxing.usual.may_be_written(file);
        NamedFiles::of(&self.reading, program, &self.cwd.path, self.policy.path(), &writable)
    }
}

/// The same for a patch, which no program and no shell ever sees.
fn patch(call: Call, policy: Arc<Policy>, cwd: Cwd, roots: &[RootList<'_>]) -> Result<Resolved, Refusal> {
    let (prepared, cwd) = Prepared::new(call, cwd, roots)?;
    let (argv, reading) = (prepared.argv(), Reading::Plain(prepared.judged()));
    let program = Ok(PathBuf::from(runward_patch::NAME));
    let patch = Some(prepared);
    let (env, held, text, files) = (Vec::new(), None, None, None);
    Ok(Resolved { policy, reading, program, held, argv, text, cwd, env, patch, files })
}

/// What a policy says of it for whoever asks.
pub(crate) fn judge_by(policy: &Policy, resolved: &Resolved, request: &Request) -> Verdict {
    let asker = Asker {
        door: &request.caller.door.0,
        client: request.caller.client.as_ref().map(|client| client.name.as_str()),
        env: &request.env,
        tty: matches!(request.stdio, Stdio::Terminal(_)),
        held: resolved.held.as_ref(),
        files: resolved.files.as_ref(),
    };
    policy.judge_for(&resolved.reading, &resolved.cwd.path, asker)
}

impl Engine {
    /// Judges and runs nothing, and says how rules in Rego decided about each command.
    pub fn explain(&self, work: &Work, cwd: Option<&Path>) -> Result<(Verdict, Vec<Trace>), Refusal> {
        let resolved = resolve(work, cwd, Variables::default(), &self.0.settings)?;
        let (held, files) = (resolved.held.as_ref(), resolved.files.as_ref());
        let asker = Asker { door: "check", held, files, ..Asker::default() };
        let (verdict, traces) = resolved.policy.judge_traced(&resolved.reading, &resolved.cwd.path, asker);
        let judged = |policy: &Policy| policy.judge_for(&resolved.reading, &resolved.cwd.path, asker);
        let verdict = self.0.approvals.foreseen(&resolved.policy, verdict, &judged);
        if verdict.decision == Decision::Allow {
            program_of(&resolved)?;
        }
        Ok((verdict, traces))
    }

    /// The policy that is in force, to be replaced by whoever changes it.
    pub fn rulebook(&self) -> &Rulebook {
        &self.0.settings.policy
    }

    /// Why the policy denies everything, if it is broken.
    pub fn policy_fault(&self) -> Option<String> {
        let policy = self.0.settings.policy.current();
        policy.rego().and_then(|rego| rego.fault().map(str::to_owned))
    }
}

/// Opens what will be executed, where a command could put something else in its place or its hash may be asked for. What
/// cannot be held on to is not executed.
fn hold(program: PathBuf, settings: &Settings, hashed: bool) -> (Result<PathBuf, Refusal>, Option<Held>) {
    let usual = &settings.sandboxing.usual;
    // Both the way to it and what it leads to: a link in the workspace may lead to the system's files, for now.
    let is_straight = || program.components().all(|part| part != Component::ParentDir);
    let is_safe = || {
        let leads_to_safe = || program.canonicalize().is_ok_and(|real| !usual.may_be_written(&real));
        is_straight() && !usual.may_be_written(&program) && leads_to_safe()
    };
    if !hashed && is_safe() {
        return (Ok(program), None);
    }
    let held = Held::open(&program).and_then(|held| if hashed { held.hashed() } else { Ok(held) });
    match held {
        Ok(held) => (Ok(program), Some(held)),
        Err(error) => (Err(Refusal::StartFailed { program, reason: error.to_string() }), None),
    }
}

/// A name is looked up on the server's search path; anything with a slash is a path, relative to the directory.
fn find(name: &str, cwd: &Path, path: &SearchPath) -> Result<PathBuf, Refusal> {
    if !name.contains('/') {
        // Close matches are looked for once the name is allowed: see `program_of`.
        let not_found = || Refusal::NotFound { program: name.to_owned(), near: Vec::new() };
        return path.find(name).ok_or_else(not_found);
    }
    let program = cwd.join(name);
    match std::fs::metadata(&program) {
        Err(_) => Err(Refusal::NotFound { program: name.to_owned(), near: Vec::new() }),
        Ok(found) if found.is_file() && is_executable(&program) => Ok(program),
        Ok(_) => Err(Refusal::NotExecutable(program)),
    }
}

/// The program of work that is allowed, or why there is none, with the names that may have been meant.
pub(crate) fn program_of(resolved: &Resolved) -> Result<PathBuf, Refusal> {
    match resolved.program.clone() {
        Err(Refusal::NotFound { program, .. }) if !program.contains('/') => {
            let near = resolved.policy.path().near(&program);
            Err(Refusal::NotFound { program, near })
        }
        found => found,
    }
}

fn is_executable(program: &Path) -> bool {
    rustix::fs::accessat(rustix::fs::CWD, program, Access::EXEC_OK, AtFlags::EACCESS).is_ok()
}

/// Variables through which bash would run or read something that nobody judged.
pub(crate) fn steers_bash(name: &OsStr) -> bool {
    const NAMES: [&str; 9] =
        ["BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "CDPATH", "GLOBIGNORE", "POSIXLY_CORRECT", "IFS", "PS4"];
    NAMES.iter().any(|steering| name == *steering) || name.as_bytes().starts_with(b"BASH_FUNC_")
}

/// The configured variables, those that the caller gave in their place, those of the door, and the directory as
/// programs expect to find it.
pub(crate) fn environment(
    settings: &Settings,
    has_shell: bool,
    Variables { given, door_env, login, .. }: Variables<'_>,
    cwd: &Path,
) -> Vec<(OsString, OsString)> {
    let steers = |name: &OsStr| has_shell && login.is_none() && steers_bash(name);
    let own = |name: &OsStr| name == "PWD" || name == "OLDPWD" || steers(name);
    let is_given = |name: &OsStr| given.iter().any(|(given, _)| name == given.as_str());
    let is_preset = |name: &OsStr| door_env.iter().any(|(preset, _)| name == preset.as_str());
    let is_replaced = |name: &OsStr| own(name) || is_given(name) || is_preset(name);
    let inherited = match login {
        Some(login) if has_shell => login.shell_environment(),
        Some(login) => login.environment(),
        None => settings.environment.clone(),
    };
    let inherited = inherited.into_iter().filter(|(name, _)| !is_replaced(name));
    let given = given.iter().filter(|(name, _)| !is_preset(name.as_ref()));
    let given = given.map(|(name, value)| (name.into(), value.into()));
    let door_env = door_env.iter().map(|(name, value)| (name.into(), value.into()));
    inherited.chain(given).chain(door_env).chain([("PWD".into(), cwd.into())]).collect()
}
