//! Whose descendant a process is, and what descendants hold.

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;

use super::Socket;

/// The name that a runner has; the same as in the `runner` crate.
const RUNNER: &[u8] = b"runward-runner\0";

/// Where the kernel tells how a process is, whose child it is, and when it began.
const STATE: usize = 0;
const PARENT: usize = 1;
const BEGAN: usize = 19;

/// More ancestors or descendants than this are not looked at.
const MOST: usize = 1 << 16;

/// Whether a process descends from a runner that this server does not descend from; `None` when it is gone.
pub(super) fn of(pid: i32, runner: Option<i32>) -> Option<bool> {
    let own: HashSet<i32> = ancestors(i32::try_from(std::process::id()).ok()?)?.into_iter().collect();
    let theirs = ancestors(pid)?;
    let mut apart = theirs.into_iter().take_while(|pid| !own.contains(pid));
    Some(apart.any(|pid| Some(pid) == runner || is_runner(pid)))
}

/// Every process that descends from this one; `None` when they cannot be seen.
pub(super) fn descendants(pid: i32) -> Option<Vec<i32>> {
    let mut found = children(pid)?;
    let mut next = 0;
    while let Some(pid) = found.get(next).copied() {
        if found.len() > MOST {
            return None;
        }
        found.extend(children(pid).unwrap_or_default());
        next += 1;
    }
    Some(found)
}

/// Every process that descends from a runner of this user's which is not this one and not above this server. What other
/// users' processes hold cannot be seen, so that nobody of that user's could be let in.
pub(super) fn of_other_runners(own: Option<i32>) -> Vec<i32> {
    let above = i32::try_from(std::process::id()).ok().and_then(ancestors).unwrap_or_default();
    let known: HashSet<i32> =
        own.and_then(descendants).into_iter().flatten().chain(own).chain(above).collect();
    let user = rustix::process::geteuid().as_raw();
    let runners =
        processes().into_iter().filter(|pid| !known.contains(pid) && is_runner(*pid) && can_be(*pid, user));
    runners.filter_map(descendants).flatten().filter(|pid| !known.contains(pid)).collect()
}

/// The number of every process that is to be seen.
pub(super) fn processes() -> Vec<i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Whether a process holds a socket; `None` when it does not show what it holds. Each thread can hold something else.
pub(super) fn holds(pid: i32, socket: &Socket) -> Option<bool> {
    let wanted = format!("socket:[{}]", socket.inode);
    for thread in threads(pid).unwrap_or_default() {
        let files = fs::read_dir(thread.join("fd")).ok()?;
        let mut files = files.flatten().filter_map(|file| fs::read_link(file.path()).ok());
        if files.any(|file| file.as_os_str() == wanted.as_str()) {
            return Some(true);
        }
    }
    Some(false)
}

/// Whether a process is this user, or can become it again.
pub(super) fn can_be(pid: i32, user: u32) -> bool {
    let about = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let users = about.lines().find_map(|line| line.strip_prefix("Uid:")).unwrap_or_default();
    users.split_ascii_whitespace().any(|known| known.parse() == Ok(user))
}

/// A process, its parent, and so on; `None` when one of them is gone.
fn ancestors(pid: i32) -> Option<Vec<i32>> {
    let mut line = Vec::new();
    let mut next = pid;
    while next > 0 {
        if line.len() > MOST {
            return None;
        }
        line.push(next);
        next = parent(next)?;
    }
    Some(line)
}

/// A process that is told from others which had or will have its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Exactly {
    pid: i32,
    /// When it began.
    began: String,
}

impl Exactly {
    /// The process that has this number now.
    pub(super) fn now(pid: i32) -> Option<Self> {
        Some(Exactly { pid, began: field(pid, BEGAN)? })
    }

    /// Whether the process with this number is still that one.
    pub(super) fn is(&self, pid: i32) -> bool {
        self.pid == pid && field(pid, BEGAN).as_ref() == Some(&self.began)
    }
}

/// Of one that has ended nothing is known any more.
fn parent(pid: i32) -> Option<i32> {
    field(pid, STATE).filter(|state| state != "Z" && state != "X")?;
    field(pid, PARENT)?.parse().ok()
}

/// What the kernel tells of a process behind its name, which can hold anything, parentheses included.
fn field(pid: i32, index: usize) -> Option<String> {
    let about = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = about.rsplit_once(") ")?;
    rest.split_ascii_whitespace().nth(index).map(str::to_owned)
}

/// The direct children of every thread of a process.
fn children(pid: i32) -> Option<Vec<i32>> {
    let mut children = Vec::new();
    for thread in threads(pid)? {
        let list = fs::read_to_string(thread.join("children")).unwrap_or_default();
        children.extend(list.split_ascii_whitespace().filter_map(|pid| pid.parse::<i32>().ok()));
    }
    Some(children)
}

/// The directories of a process's threads; `None` when they cannot be seen.
fn threads(pid: i32) -> Option<Vec<PathBuf>> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).ok()?;
    Some(threads.flatten().map(|thread| thread.path()).collect())
}

fn is_runner(pid: i32) -> bool {
    fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line.starts_with(RUNNER))
}
