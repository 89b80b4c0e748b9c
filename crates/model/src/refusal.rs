//! Why nothing ran.

use std::path::PathBuf;

use thiserror::Error;

use crate::{ApprovalPolicy, OutputId, Verdict};

/// Why nothing ran. The text says what, why, and what would change it; doors pass it on as it is.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// The policy denies a command of the work.
    #[error("{}", .0.reason)]
    Denied(Verdict),
    /// A person had to approve the work, and nobody did.
    #[error("{}; {why}", .verdict.reason)]
    NotApproved {
        /// What the policy says of it.
        verdict: Box<Verdict>,
        /// Who denied it and why, or why nobody could be asked.
        why: String,
    },
    /// The caller asked for more than callers may ask for here.
    #[error(
        "running outside the sandbox (require_escalated) cannot be asked for: approval_policy is {}, and only on-request lets callers ask; nothing was run, call again without it",
        .0.name()
    )]
    EscalationRefused(ApprovalPolicy),
    /// The policy denies a variable that the caller gave.
    #[error("{0}")]
    Environment(String),
    /// The command line holds no command.
    #[error("command is empty; give a program and its arguments")]
    Empty,
    /// A program name, argument, or input that no process can be given.
    #[error("{what} contains a NUL byte, which no program can be given")]
    Nul {
        /// Which part.
        what: &'static str,
    },
    /// More than a process can be given, or than can be sent to where processes are made.
    #[error("{0}; nothing was run")]
    TooLarge(String),
    /// The program is on no directory of the search path, or the path names nothing.
    #[error("program not found: {program}{}", near_matches(.program, .near))]
    NotFound {
        /// As the caller named it.
        program: String,
        /// Close matches on the search path.
        near: Vec<String>,
    },
    /// The file is there but cannot be executed.
    #[error("permission denied: {} is not an executable file; check its mode (chmod +x) or name its interpreter", .0.display())]
    NotExecutable(PathBuf),
    /// The directory is not there.
    #[error("cwd does not exist: {}", .0.display())]
    CwdMissing(PathBuf),
    /// It is there but is no directory.
    #[error("cwd is not a directory: {}", .0.display())]
    CwdNotDirectory(PathBuf),
    /// It is there but this server may not enter it.
    #[error("cwd cannot be entered: {} ({reason})", .path.display())]
    CwdUnusable {
        /// Which.
        path: PathBuf,
        /// The system's reason.
        reason: String,
    },
    /// It lies outside every allowed root.
    #[error("cwd is not allowed by {setting}: {} (allowed roots: {})", .path.display(), join(.roots))]
    CwdOutsideRoots {
        /// The setting that lists the roots.
        setting: &'static str,
        /// The canonical directory.
        path: PathBuf,
        /// The canonical roots.
        roots: Vec<PathBuf>,
    },
    /// A configured root does not resolve, so no directory can be judged.
    #[error("invalid configuration: {setting} contains an invalid root: {}", .root.display())]
    InvalidRoot {
        /// The setting that lists it.
        setting: &'static str,
        /// As configured.
        root: PathBuf,
    },
    /// The system has no room for another process, descriptor or page just now.
    #[error("{what}: {reason}; nothing was run, try again when load is lower")]
    Exhausted {
        /// What was being done.
        what: &'static str,
        /// The system's reason.
        reason: String,
    },
    /// The audit trail cannot be written, and what is not recorded does not run.
    #[error(
        "the call cannot be recorded: {0}; nothing was run (fix the trail, or set audit.enabled to false)"
    )]
    Unrecorded(String),
    /// Starting failed in another way.
    #[error("cannot start {program}: {reason}")]
    StartFailed {
        /// The program that was to start.
        program: PathBuf,
        /// The system's reason.
        reason: String,
    },
    /// The command cannot be confined as it should be.
    #[error("{0}; nothing was run")]
    Unconfinable(String),
    /// The text of a patch that is not given to anything.
    #[error(
        "this is a patch, and not a command; give it to apply_patch: apply_patch <<'EOF', the patch, and a line EOF"
    )]
    BarePatch,
    /// The condition that the caller gave does not hold. Nothing is wrong.
    #[error("skipped: {output} ended with exit code {ended}, and only_if wants {wanted}; nothing was run")]
    Skipped {
        /// The run that the condition is about.
        output: OutputId,
        /// How it ended.
        ended: i32,
        /// How it should have.
        wanted: i32,
    },
    /// An earlier run that is named cannot be used.
    #[error("{argument} names {output}: {reason}; nothing was run")]
    Earlier {
        /// The argument that names it.
        argument: &'static str,
        /// The run.
        output: OutputId,
        /// Why not.
        reason: String,
    },
    /// The name stands for a request that was not the same.
    #[error(
        "request_key {0:?} stands for another request of the last ten minutes; use a new key for new arguments"
    )]
    KeyTaken(String),
    /// Nothing but the name tells its caller from others, and others could guess it.
    #[error(
        "request_key {key:?} could be guessed, and nothing else tells this caller from others; give one of {least} characters or more, such as a UUID, or show a token (`runward token` makes one)"
    )]
    KeyGuessable {
        /// The name.
        key: String,
        /// How long it has to be.
        least: usize,
    },
    /// A workspace cannot be called that.
    #[error("workspace {name:?} {reason}")]
    WorkspaceName {
        /// The name.
        name: String,
        /// Why, and what to write instead.
        reason: String,
    },
    /// A port cannot be opened on this host's loopback.
    #[error("port {port} was not published: {reason}; nothing was run")]
    Unpublishable {
        /// Which.
        port: u16,
        /// Why, and what to do instead.
        reason: String,
    },
    /// Two inputs were given.
    #[error("input and input_from exclude each other; give one of them")]
    TwoInputs,
    /// An earlier run failed that was to stop everything after it.
    #[error("everything is stopped since an earlier run failed: {reason} (a person can let runs go on with `runward resume`, or by removing {})", .file.display())]
    Aborted {
        /// What was said of that run.
        reason: String,
        /// Where that was said.
        file: PathBuf,
    },
    /// Whether an earlier run stopped everything cannot be told.
    #[error("whether runs are stopped cannot be told, since {} cannot be looked at: {reason}; nothing was run", .file.display())]
    AbortUnknown {
        /// Where that would be said.
        file: PathBuf,
        /// The system's reason.
        reason: String,
    },
    /// The server is stopping.
    #[error("the server is shutting down; nothing was run")]
    ShuttingDown,
}

fn near_matches(program: &str, near: &[String]) -> String {
    match near {
        [] if program.contains('/') => " (there is no such file)".into(),
        [] if ["sudo", "doas"].contains(&program) => {
            " (no program of that name on PATH; leave it out, since no command gains rights here)".into()
        }
        [] => " (no program of that name on PATH)".into(),
        near => format!(" (close matches on PATH: {})", near.join(", ")),
    }
}

fn join(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}
