//! Patches: work that is nothing but `apply_patch` is done here, and never handed to a shell.
//!
//! It takes the one path all the same: it is resolved to a directory and to the words that rules see
//! (`apply_patch` and every file that it names), judged, recorded, and watched as a session that prints its report.

use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use runward_model::{Argv, Ending, Fence, Outcome, Receipt, Refusal, Request, SessionId, Stream, Work};
use runward_patch::{Error, Ground, NAME, Patch, Recognised, Roots, recognise};
use runward_policy::Reading;
use runward_process::Loopback;

use crate::Engine;
use crate::cwd::{self, Cwd, RootList};
use crate::record::OpenCall;
use crate::redact::RedactingSink;
use crate::room::Place;
use crate::running::{Begun, Running};
use crate::session::Session;
use crate::watch::Watch;

/// The sessions of patches are counted apart from those of processes, above them.
const FIRST_SESSION: u64 = 1 << 32;

/// A patch, and where it may write.
#[derive(Debug)]
pub(crate) struct Prepared {
    text: String,
    ground: Ground,
}

/// A patch as its caller gave it, and the directory to go to first.
pub(crate) type Call = (String, Option<String>);

/// Whether the work is a patch that some shell would be given elsewhere; here it never is.
pub(crate) fn needs_no_shell(work: &Work) -> bool {
    recognise(work).is_some()
}

/// The work as a patch, if it is nothing else.
pub(crate) fn recognised(work: &Work) -> Result<Option<Call>, Refusal> {
    let found = recognise(work).or_else(|| match work {
        // A line may be a plain command whose only argument is the patch.
        Work::Line(line) if line.contains(NAME) => match runward_policy::read(work) {
            Ok(Reading::Plain(argv)) => recognise(&Work::Argv(argv)),
            _ => None,
        },
        _ => None,
    });
    match found {
        Some(Recognised::Call { patch, cd }) => Ok(Some((patch, cd))),
        Some(Recognised::Bare) => Err(Refusal::BarePatch),
        None => Ok(None),
    }
}

impl Prepared {
    /// Goes where the work says, and finds out where it may write: in the operator's roots, or where there are none,
    /// below the directory that it is applied in.
    pub(crate) fn new((text, cd): Call, cwd: Cwd, lists: &[RootList<'_>]) -> Result<(Self, Cwd), Refusal> {
        let cwd = match cd {
            Some(cd) => cwd::open(Some(&cwd.path.join(cd)), lists)?,
            None => cwd,
        };
        let mut roots = Vec::new();
        for (setting, paths) in cwd::canonical(lists)? {
            if !paths.is_empty() {
                roots.push(Roots { setting, paths });
            }
        }
        if roots.is_empty() {
            let setting = "a call without ALLOWED_CWD_ROOTS, its own directory";
            roots.push(Roots { setting, paths: vec![cwd.path.clone()] });
        }
        let ground = Ground { directory: cwd.path.clone(), roots, protected: Vec::new() };
        Ok((Prepared { text, ground }, cwd))
    }

    /// The same within what confines commands, as far as that is about files.
    pub(crate) fn confined(mut self, fence: Option<&Fence>) -> Self {
        let path = |path: &CString| PathBuf::from(OsStr::from_bytes(path.as_bytes()));
        if let Some(Fence { writable, protected, hidden, .. }) = fence {
            let paths = writable.iter().map(path).collect();
            self.ground.roots.push(Roots { setting: "the sandbox profile", paths });
            self.ground.protected.extend(protected.iter().chain(hidden).map(path));
            // What a command could only make held back, a patch does not make at all.
            let roots: Vec<PathBuf> = writable.iter().map(path).collect();
            let parsed = Patch::parse(&self.text);
            let named = parsed.iter().flat_map(Patch::paths).map(|path| self.ground.whole(path));
            let held: Vec<PathBuf> =
                named.filter_map(|path| runward_sandbox::runs_code(&roots, &path)).collect();
            self.ground.protected.extend(held);
        }
        self
    }

    /// What is judged: its name, and the files that it names.
    pub(crate) fn judged(&self) -> Argv {
        let paths = |patch: &Patch| patch.paths().map(|path| self.shown(path)).collect();
        let args = Patch::parse(&self.text).as_ref().map(paths).unwrap_or_default();
        Argv { file: NAME.to_owned(), args }
    }

    /// What a person is shown who is asked about it, and what they approve.
    pub(crate) fn argv(&self) -> Vec<String> {
        vec![NAME.to_owned(), self.text.clone()]
    }

    /// A path in one form only: relative to the directory where it lies below it.
    fn shown(&self, path: &str) -> String {
        let whole = self.ground.whole(path);
        let inside = whole.strip_prefix(&self.ground.directory).unwrap_or(&whole);
        inside.to_string_lossy().into_owned()
    }

    fn apply(&self) -> Result<String, String> {
        let unfit = |error: Error| format!("apply_patch verification failed: {error}\n");
        let patch = Patch::parse(&self.text).map_err(unfit)?;
        let verified = patch.verify(&self.ground).map_err(unfit)?;
        let report = verified.apply().map_err(|error| format!("apply_patch failed: {error}\n"))?;
        Ok(report.to_string())
    }
}

/// Applies a patch beside the runtime and returns its session. It is not stopped halfway: it is all done, or nothing is.
pub(crate) fn begin(
    engine: &Engine,
    prepared: Prepared,
    (request, receipt): (&Request, Receipt),
    watch: Watch,
    (open, room): (OpenCall, Place),
) -> Session {
    static NEXT: AtomicU64 = AtomicU64::new(FIRST_SESSION);
    let id = SessionId(NEXT.fetch_add(1, Ordering::Relaxed));
    let begun = Begun { id, pid: 0, receipt, typing: None, terminal: None, loopback: Loopback::Host };
    let (session, running, _) = Running::begin(engine, request, watch, begun);
    let (sink, logged) = (running.sink(request), engine.0.settings.log_commands);
    engine.0.sessions.spawn(async move {
        let started = Instant::now();
        let applied = tokio::task::spawn_blocking(move || prepared.apply()).await;
        let applied =
            applied.unwrap_or_else(|error| Err(format!("apply_patch failed inside the server: {error}\n")));
        let outcome = outcome_of(&applied, started);
        if logged {
            tracing::info!(session = %id, exit_code = outcome.exit_code(), "patched");
        }
        print(&applied, sink);
        drop(room);
        running.end(open, outcome).await;
    });
    session
}

fn print(applied: &Result<String, String>, mut sink: RedactingSink) {
    match applied {
        Ok(report) => sink.append(Stream::Stdout, report.as_bytes()),
        Err(problem) => sink.append(Stream::Stderr, problem.as_bytes()),
    }
}

fn outcome_of(applied: &Result<String, String>, started: Instant) -> Outcome {
    Outcome { wall: started.elapsed(), ..Outcome::of(Ending::Exited(i32::from(applied.is_err()))) }
}
