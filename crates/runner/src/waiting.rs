//! Whether a session waits for input: asked of the kernel, while its processes are still there.

mod call;

use runward_files::FileId;
use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use crate::procfs;

/// More processes or threads than this are not looked at.
const MOST: usize = 256;

/// A process, and a descriptor that it waits to read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Reader {
    pid: i32,
    descriptor: u64,
}

/// Whether somebody of a session waits for a terminal, or for a standard input that nobody of the session writes, and
/// for nothing that could come over a network.
pub(crate) fn for_input(first: i32) -> bool {
    let family = procfs::family(first, MOST);
    let waits_for_input = |readers: Vec<Reader>| {
        readers.iter().any(|reader| reader.reads_terminal() || reader.reads_input_from_outside(&family))
            && !readers.iter().any(|reader| reader.reads_network())
    };
    family.iter().flat_map(|pid| threads(*pid)).any(waits_for_input)
}

impl Reader {
    fn file(self) -> PathBuf {
        format!("/proc/{}/fd/{}", self.pid, self.descriptor).into()
    }

    /// The other side of a terminal does not count: whoever holds that one types.
    fn reads_terminal(self) -> bool {
        fs::read_link(self.file()).is_ok_and(|file| {
            let terminal = ["/dev/pts/", "/dev/tty", "/dev/console"];
            !file.ends_with("ptmx")
                && terminal
                    .iter()
                    .any(|name| file.as_os_str().as_encoded_bytes().starts_with(name.as_bytes()))
        })
    }

    fn reads_input_from_outside(self, family: &[i32]) -> bool {
        let Some(pipe) = pipe(&self.file()).filter(|_| self.descriptor == 0) else { return false };
        !family.iter().any(|pid| writes(*pid, pipe))
    }

    /// A socket that has no other end on this machine, as far as the kernel lists those.
    fn reads_network(self) -> bool {
        let Ok(file) = fs::read_link(self.file()) else { return false };
        let name = file.to_string_lossy();
        let Some(inode) = name.strip_prefix("socket:[").and_then(|rest| rest.strip_suffix(']')) else {
            return false;
        };
        let local = fs::read_to_string(format!("/proc/{}/net/unix", self.pid)).unwrap_or_default();
        !local.lines().any(|line| line.split_whitespace().nth(6) == Some(inode))
    }
}

/// What each thread of a process waits to read.
fn threads(pid: i32) -> impl Iterator<Item = Vec<Reader>> {
    let threads = entries(&format!("/proc/{pid}/task")).into_iter();
    threads.map(move |thread| {
        let waited = call::waited_for(&thread).into_iter();
        waited.map(|descriptor| Reader { pid, descriptor }).collect()
    })
}

/// A pipe, with or without a name, by what tells it from all others.
fn pipe(file: &Path) -> Option<FileId> {
    let found = fs::metadata(file).ok()?;
    found.file_type().is_fifo().then(|| FileId::from(&found))
}

fn writes(pid: i32, wanted: FileId) -> bool {
    entries(&format!("/proc/{pid}/fd")).into_iter().any(|file| {
        let may_write = || {
            let name = file.file_name().unwrap_or_default();
            let about =
                fs::read_to_string(Path::new(&format!("/proc/{pid}/fdinfo")).join(name)).unwrap_or_default();
            let flags = about.lines().find_map(|line| line.strip_prefix("flags:"));
            // The last octal digit holds the access mode: 0 is reading only.
            flags.is_some_and(|flags| !flags.trim().ends_with(['0', '4']))
        };
        pipe(&file) == Some(wanted) && may_write()
    })
}

fn entries(directory: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.take(MOST).map(|entry| entry.path()).collect()
}
