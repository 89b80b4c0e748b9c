//! Why a command failed, in one line, where that can be told.

use runward_model::{Ending, LimitHit, Outcome, Signal, StopReason};

/// Texts by which programs say that they want a terminal.
const WANTS_TERMINAL: [&str; 9] = [
    "not a tty",
    "not a terminal",
    "/dev/tty",
    "no tty present",
    "terminal is required",
    "inappropriate ioctl for device",
    "must be run from a terminal",
    "requires a terminal",
    "cannot open terminal",
];

/// What the system says when it has no more of something, and what that means.
const EXHAUSTED: [(&str, &str); 5] = [
    ("No space left on device", "the disk is full"),
    ("Disk quota exceeded", "the disk quota is used up"),
    ("Cannot allocate memory", "the system had no more memory to give"),
    ("fork: retry: Resource temporarily unavailable", "the system had no room for another process"),
    ("Too many open files", "it had too many files open at once, see limits.open_files"),
];

/// The reason, from what the kernel said and from what the command printed on standard error.
pub(super) fn it_failed(
    outcome: &Outcome,
    stderr: &str,
    near: &dyn Fn(&str) -> Vec<String>,
) -> Option<String> {
    if let Some(hit) = outcome.limit_hit {
        return Some(hit.to_string());
    }
    match (outcome.stopped, outcome.ending) {
        (Some(StopReason::TimedOut(_)), _) => outcome.waiting_for_input.then(|| {
            "it was waiting for input, which cannot be typed here; look for an option that answers beforehand".into()
        }),
        (Some(reason), _) => Some(reason.to_string()),
        (None, Ending::Lost) => Some(Outcome::LOST.to_owned()),
        (None, Ending::Signaled(signal)) => Some(format!("it was ended by {}", ended_by(signal))),
        (None, Ending::Exited(0)) => None,
        (None, Ending::Exited(code)) => exited(code, stderr, near),
    }
}

fn exited(code: i32, stderr: &str, near: &dyn Fn(&str) -> Vec<String>) -> Option<String> {
    if let Some(directory) = missing_directory(stderr) {
        return Some(format!("directory does not exist: {directory}"));
    }
    match code {
        126 => Some(not_executable(stderr)),
        127 => Some(not_found(stderr, near)),
        code if wants_terminal(stderr) => {
            let what = "it seems to want a terminal, which there is none of here; look for an option to run without one";
            Some(format!("{what} (exit code {code})"))
        }
        _ if exhausted(stderr).is_some() => exhausted(stderr).map(str::to_owned),
        _ if stderr.contains(": Permission denied") => permission(stderr),
        129..=159 => Some(by_signal(Signal(code - 128))),
        _ => None,
    }
}

/// A shell says with its exit code that a command in it was ended by a signal; 24 and 25 are the kernel's for limits.
fn by_signal(signal: Signal) -> String {
    let limit = match signal {
        Signal(24) => Some(LimitHit::CpuTime),
        Signal(25) => Some(LimitHit::FileSize),
        _ => None,
    };
    limit.map_or_else(
        || format!("a command in it was ended by {}", ended_by(signal)),
        |limit| limit.to_string(),
    )
}

fn ended_by(signal: Signal) -> String {
    if signal == Signal::KILL {
        return format!("{signal}, which Runward did not send; most often the system ran out of memory");
    }
    signal.to_string()
}

fn wants_terminal(stderr: &str) -> bool {
    // ssh says this first, whatever fails afterwards.
    let lines = stderr.lines().filter(|line| !line.starts_with("Pseudo-terminal will not be allocated"));
    lines.map(str::to_lowercase).any(|line| WANTS_TERMINAL.iter().any(|text| line.contains(text)))
}

fn exhausted(stderr: &str) -> Option<&'static str> {
    EXHAUSTED.iter().find(|(said, _)| stderr.contains(said)).map(|(_, meaning)| *meaning)
}

fn permission(stderr: &str) -> Option<String> {
    let path = subject(stderr, &[": Permission denied"])?;
    Some(format!(
        "permission denied: {path}; check its owner and mode, or use a path that this server's user may use"
    ))
}

fn missing_directory(stderr: &str) -> Option<&str> {
    stderr.lines().rev().find_map(|line| {
        let (_, said) = line.split_once("cd: ")?;
        said.strip_suffix(": No such file or directory").or_else(|| said.strip_prefix("can't cd to "))
    })
}

fn not_executable(stderr: &str) -> String {
    let endings = [": Permission denied", ": Is a directory", ": cannot execute"];
    let what = subject(stderr, &endings).map_or("it".to_owned(), |name| format!("{name:?}"));
    format!("{what} was found but cannot be executed; check its mode (chmod +x) or name its interpreter")
}

fn not_found(stderr: &str, near: &dyn Fn(&str) -> Vec<String>) -> String {
    let endings = [": command not found", ": not found", ": No such file or directory"];
    let Some(name) = subject(stderr, &endings) else {
        return "a command in it was not found".into();
    };
    if name.contains('/') {
        return format!("there is no {name}, or the interpreter that its first line names is missing");
    }
    match near(name).as_slice() {
        [] => format!("command not found: {name} (no program of that name on PATH)"),
        near => format!("command not found: {name} (close matches on PATH: {})", near.join(", ")),
    }
}

/// What the last complaint with one of these endings speaks of.
fn subject<'a>(stderr: &'a str, endings: &[&str]) -> Option<&'a str> {
    stderr.lines().rev().find_map(|line| {
        let said = endings.iter().find_map(|ending| line.find(ending).and_then(|at| line.get(..at)))?;
        Some(named(said.rsplit(": ").next()?)).filter(|name| !name.is_empty())
    })
}

/// What a complaint names: what stands in quotes at its end, a whole path, or its last word.
fn named(said: &str) -> &str {
    let quotes = ['‘', '’', '\'', '"'];
    if let Some(quoted) = said.strip_suffix(quotes) {
        return quoted.rsplit(quotes).next().unwrap_or(quoted);
    }
    if said.starts_with(['/', '.', '~']) { said } else { said.rsplit(' ').next().unwrap_or(said) }
}

#[cfg(test)]
mod tests;
