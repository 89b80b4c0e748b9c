//! The files of a set.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// More files than anybody writes by hand.
const MOST_FILES: usize = 1000;
/// All of them together.
const MOST_BYTES: usize = 8 << 20;
/// Directories inside directories.
const DEEPEST: usize = 32;
/// Brackets and braces inside each other: the parser takes twice as long for each further one.
const MOST_NESTED: usize = 10;

/// One file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Source {
    /// As found below the directory.
    pub(super) path: PathBuf,
    pub(super) text: String,
}

/// Every `.rego` file below a directory, by name, each file once however many links lead to it. Names that begin with
/// a dot are left out: editors and config maps keep their own copies there.
pub(super) fn read(directory: &Path) -> Result<Vec<Source>, String> {
    let mut walk = Walk::default();
    walk.enter(directory, 0)?;
    walk.files.sort();
    let mut sources = Vec::new();
    let mut bytes = 0;
    for path in walk.files {
        let text = read_file(&path, MOST_BYTES - bytes)?;
        bytes += text.len();
        refuse_deep_nesting(&path, &text)?;
        sources.push(Source { path, text });
    }
    Ok(sources)
}

/// Every directory that decides which files belong to the set.
pub(super) fn directories(directory: &Path) -> Vec<PathBuf> {
    let mut walk = Walk::default();
    // What cannot be entered is found out by whoever reads it; the rest is still worth watching.
    let _ = walk.enter(directory, 0);
    walk.directories
}

/// Every file of the set as far as it can be found.
pub(super) fn files(directory: &Path) -> Vec<PathBuf> {
    let mut walk = Walk::default();
    let _ = walk.enter(directory, 0);
    walk.files
}

#[derive(Default)]
struct Walk {
    files: Vec<PathBuf>,
    directories: Vec<PathBuf>,
    seen: BTreeSet<PathBuf>,
}

impl Walk {
    fn enter(&mut self, directory: &Path, depth: usize) -> Result<(), String> {
        let failed = |error: std::io::Error| format!("{}: {error}", directory.display());
        let real = directory.canonicalize().map_err(failed)?;
        if !self.seen.insert(real) {
            return Ok(());
        }
        if depth > DEEPEST {
            return Err(format!("{}: more than {DEEPEST} directories deep", directory.display()));
        }
        self.directories.push(directory.to_owned());
        let mut names: Vec<_> = fs::read_dir(directory)
            .map_err(failed)?
            .map(|entry| entry.map(|entry| entry.file_name()))
            .collect::<Result<_, _>>()
            .map_err(failed)?;
        names.retain(|name| !name.as_encoded_bytes().starts_with(b"."));
        names.sort();
        names.iter().try_for_each(|name| self.visit(&directory.join(name), depth))
    }

    fn visit(&mut self, path: &Path, depth: usize) -> Result<(), String> {
        let is_rego = path.extension().is_some_and(|extension| extension == "rego");
        match path.metadata() {
            Ok(found) if found.is_dir() => self.enter(path, depth + 1),
            Ok(_) if is_rego => self.add(path),
            Err(error) if is_rego => Err(format!("{}: {error}", path.display())),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    fn add(&mut self, path: &Path) -> Result<(), String> {
        let real = path.canonicalize().map_err(|error| format!("{}: {error}", path.display()))?;
        if self.seen.insert(real) {
            self.files.push(path.to_owned());
        }
        if self.files.len() > MOST_FILES {
            return Err(format!("{}: more than {MOST_FILES} files", path.display()));
        }
        Ok(())
    }
}

fn read_file(path: &Path, room: usize) -> Result<String, String> {
    let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    // A pipe or a device could keep the reader waiting for ever.
    if !path.metadata().map_err(|error| failed(&error))?.is_file() {
        return Err(failed(&"not a regular file"));
    }
    let file = fs::File::open(path).map_err(|error| failed(&error))?;
    let mut bytes = Vec::new();
    file.take(room as u64 + 1).read_to_end(&mut bytes).map_err(|error| failed(&error))?;
    if bytes.len() > room {
        return Err(failed(&format!("the files are larger than {MOST_BYTES} bytes together")));
    }
    String::from_utf8(bytes).map_err(|_| failed(&"not UTF-8"))
}

fn refuse_deep_nesting(path: &Path, text: &str) -> Result<(), String> {
    let mut depth = 0_usize;
    let mut bytes = text.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            b'#' => skip_to(b'\n', &mut bytes),
            b'`' => skip_to(b'`', &mut bytes),
            b'"' => skip_string(&mut bytes),
            _ => {}
        }
        if depth > MOST_NESTED {
            let line = text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1;
            let place = format!("{}:{line}", path.display());
            return Err(format!("{place}: brackets more than {MOST_NESTED} deep; give the inner ones names"));
        }
    }
    Ok(())
}

fn skip_to(end: u8, bytes: &mut impl Iterator<Item = (usize, u8)>) {
    let _ = bytes.find(|(_, byte)| *byte == end);
}

fn skip_string(bytes: &mut impl Iterator<Item = (usize, u8)>) {
    while let Some((_, byte)) = bytes.next() {
        match byte {
            // A string ends with its line at the latest, whatever the parser says of it.
            b'"' | b'\n' => return,
            b'\\' => {
                let _ = bytes.next();
            }
            _ => {}
        }
    }
}
