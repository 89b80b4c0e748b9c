//! How runs hang together: what they read from each other, and what stops those that follow.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use runward_model::{
    Condition, OnFailure, Outcome, OutputId, Principal, Refusal, Request, Stdio, StopReason, Stream, Work,
};
use runward_spool::Record;
use rustix::io::Errno;

use crate::output::Output;
use crate::outputs::Outputs;

/// What is shown of the reason why everything was stopped.
const LONGEST_REASON: u64 = 4096;

/// Refuses everything while the file is there. What cannot be looked at might be there.
pub(crate) fn unless_aborted(file: &Path) -> Result<(), Refusal> {
    let reason = match File::open(file) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(());
        }
        Err(error) => return Err(unlookable(file, &error)),
        Ok(opened) => {
            let mut text = Vec::new();
            let read = opened.take(LONGEST_REASON).read_to_end(&mut text);
            read.map_or_else(|error| error.to_string(), |_| String::from_utf8_lossy(&text).trim().to_owned())
        }
    };
    Err(Refusal::Aborted { reason, file: file.to_owned() })
}

fn unlookable(file: &Path, error: &io::Error) -> Refusal {
    let reason = error.to_string();
    match Errno::from_io_error(error) {
        Some(Errno::MFILE | Errno::NFILE | Errno::NOMEM) => {
            Refusal::Exhausted { what: "no descriptor for another command", reason }
        }
        _ => Refusal::AbortUnknown { file: file.to_owned(), reason },
    }
}

/// Whether the condition of a request holds, and what it is given to read.
pub(crate) fn input(request: &Request, outputs: &Outputs) -> Result<Option<Record>, Refusal> {
    let (workflow, principal) = (&request.workflow, &request.caller.principal);
    if let Some(Condition { output, exit_code }) = &workflow.only_if {
        let ended = ended(outputs, principal, "only_if", output)?.1;
        if ended != *exit_code {
            return Err(Refusal::Skipped { output: output.clone(), ended, wanted: *exit_code });
        }
    }
    match (&workflow.input_from, &request.stdio) {
        (Some(from), Stdio::Pipes) => whole(outputs, principal, from).map(Some),
        (Some(_), _) => Err(Refusal::TwoInputs),
        (None, Stdio::Given(input)) => Ok(Some(Record::in_memory(input.clone(), 0))),
        (None, Stdio::Pipes | Stdio::Open | Stdio::Terminal(_)) => Ok(None),
    }
}

/// An earlier run that has ended, and with which exit code.
fn ended(
    outputs: &Outputs,
    principal: &Principal,
    argument: &'static str,
    id: &OutputId,
) -> Result<(Output, i32), Refusal> {
    let unusable = |reason: String| Refusal::Earlier { argument, output: id.clone(), reason };
    let output = outputs.find(principal, id).map_err(|gone| unusable(gone.to_string()))?;
    match output.outcome() {
        Some(outcome) => Ok((output, outcome.exit_code())),
        None => Err(unusable("it is still running; wait for its end with read_output and wait_ms".into())),
    }
}

/// The standard output of an earlier run. A part of it is never passed for the whole.
fn whole(outputs: &Outputs, principal: &Principal, id: &OutputId) -> Result<Record, Refusal> {
    let unusable = |reason: String| Refusal::Earlier { argument: "input_from", output: id.clone(), reason };
    let (output, _) = ended(outputs, principal, "input_from", id)?;
    let record = output.record(Stream::Stdout).map_err(|gone| unusable(gone.to_string()))?;
    match record.missing() {
        0 => Ok(record),
        missing => Err(unusable(format!("{missing} bytes of its stdout were not kept"))),
    }
}

/// Stops what follows if a run failed that is to. A run that its own caller gave up has not failed.
pub(crate) fn after_end(on_failure: OnFailure, file: &Path, command: &str, outcome: &Outcome) {
    let given_up = matches!(
        outcome.stopped,
        Some(
            StopReason::Cancelled | StopReason::Disconnected | StopReason::Evicted | StopReason::ShuttingDown
        )
    );
    if on_failure == OnFailure::Abort && outcome.exit_code() != 0 && !given_up {
        let why = outcome.stopped.map_or_else(
            || format!("failed with exit code {}", outcome.exit_code()),
            |reason| format!("failed ({reason})"),
        );
        abort(file, &format!("`{command}` {why}"));
    }
}

/// The same for a run that was refused.
pub(crate) fn after_refusal(on_failure: OnFailure, file: &Path, work: &Work, refusal: &Refusal) {
    let is_no_failure = matches!(
        refusal,
        Refusal::Skipped { .. }
            | Refusal::Aborted { .. }
            | Refusal::AbortUnknown { .. }
            | Refusal::ShuttingDown
    );
    if on_failure == OnFailure::Abort && !is_no_failure {
        abort(file, &format!("`{work}` was refused: {refusal}"));
    }
}

/// The first reason stays.
fn abort(file: &Path, reason: &str) {
    if let Err(error) = write(file, reason)
        && error.kind() != io::ErrorKind::AlreadyExists
    {
        tracing::error!(%error, file = %file.display(), "the reason to abort could not be written");
    }
}

fn write(file: &Path, reason: &str) -> io::Result<()> {
    if let Some(directory) = file.parent() {
        runward_files::private::make(directory)?;
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file)?;
    writeln!(file, "{reason}")
}
