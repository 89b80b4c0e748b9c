//! Why a patch was not applied.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::missing::Missing;

/// Longer text from outside is cut in errors.
const LONGEST: usize = 200;

/// Why a patch was not applied. Whatever it was, the files are as they were, unless it says otherwise.
#[derive(Debug, Error)]
pub enum Error {
    /// It cannot be read.
    #[error("invalid patch at line {line}: {problem}")]
    Grammar {
        /// Which line of the patch, from 1.
        line: usize,
        /// What is wrong there.
        problem: String,
    },
    /// It names no file.
    #[error("no files were modified: the patch holds no hunk")]
    Empty,
    /// It goes beyond a bound.
    #[error("{0}")]
    TooLarge(String),
    /// One of its hunks does not fit.
    #[error("hunk {hunk} at line {line} ({verb} {path}): {problem}")]
    Hunk {
        /// Which of them, from 1.
        hunk: usize,
        /// The line of the patch that it begins at.
        line: usize,
        /// What it was to do.
        verb: &'static str,
        /// To which file, as the patch names it.
        path: String,
        /// Why it cannot.
        problem: Problem,
    },
    /// Writing failed, and everything is as it was.
    #[error("cannot write {path}: {source}; nothing was changed")]
    Write {
        /// The file, as the patch names it.
        path: String,
        /// The system's reason.
        source: io::Error,
    },
    /// Writing failed, and not everything could be put back.
    #[error("cannot write {path}: {source}; {} could not be put back ({reason}), look at it before going on", join(.left))]
    Broken {
        /// The file, as the patch names it.
        path: String,
        /// The system's reason.
        source: io::Error,
        /// What is not as it was.
        left: Vec<PathBuf>,
        /// Why not.
        reason: String,
    },
}

/// Why a hunk does not fit.
#[derive(Debug, Error)]
pub enum Problem {
    /// Two hunks are about one file, or one is about a directory above another's file.
    #[error("multiple operations target {0}; put everything about one file into one hunk")]
    Twice(String),
    /// The file lies where nothing may be written.
    #[error("{} lies outside the writable roots of {setting}: {}", .path.display(), join(.roots))]
    Outside {
        /// The file.
        path: PathBuf,
        /// What lists the roots.
        setting: &'static str,
        /// The roots.
        roots: Vec<PathBuf>,
    },
    /// The file is kept as it is although it lies where files may be written.
    #[error("{} is protected: nothing may be changed in {}", .path.display(), .kept.display())]
    Protected {
        /// The file.
        path: PathBuf,
        /// What is protected.
        kept: PathBuf,
    },
    /// The path names no file.
    #[error("the path names no file")]
    NoName,
    /// The file, or a directory above it, is a symbolic link.
    #[error("{} is a symbolic link, and patches do not write through links; name the file that it leads to", .0.display())]
    Link(PathBuf),
    /// What stands there is no regular file.
    #[error("{} is {kind}, not a file", .path.display())]
    NotAFile {
        /// Which.
        path: PathBuf,
        /// What it is.
        kind: &'static str,
    },
    /// What stands above it is no directory.
    #[error("{} is not a directory", .0.display())]
    NotADirectory(PathBuf),
    /// There is no such file.
    #[error("failed to read {}: there is no such file", .0.display())]
    NoSuchFile(PathBuf),
    /// It cannot be read or written.
    #[error("failed to {act} {}: {source}", .path.display())]
    Unusable {
        /// What was tried.
        act: &'static str,
        /// On which.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// It is too large.
    #[error("{} has {size} bytes; files of up to {most} can be patched", .path.display())]
    TooLarge {
        /// Which.
        path: PathBuf,
        /// Its size.
        size: u64,
        /// The bound.
        most: u64,
    },
    /// All of them together are too large.
    #[error("the files of this patch have more than {0} bytes together; split it")]
    TooMuch(u64),
    /// Looking for lines would take too long.
    #[error("looking for the lines of this patch takes too long; split it, or give more context with '@@'")]
    TooMuchSearching,
    /// Lines that it names do not stand in the file.
    #[error(transparent)]
    Missing(Box<Missing>),
    /// Another program changed it meanwhile.
    #[error("{} changed while the patch was being applied; read it again", .0.display())]
    Changed(PathBuf),
}

/// Text from outside, quoted and bounded.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", shortened(text))
}

/// Text from outside, bounded.
pub(crate) fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

fn join(paths: &[PathBuf]) -> String {
    if paths.is_empty() {
        return "(none)".into();
    }
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}
