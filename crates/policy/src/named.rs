//! Files that some work names, as they were when a person was asked about it.

mod words;

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use runward_files::{FileId, Stamp};
use rustix::fs::{Mode, OFlags};

use crate::held::{hashed, stamp};
use crate::{Reading, SearchPath};
use words::{Places, in_text, in_words};

/// Work that names more files than this is not asked about: nobody would look at them all.
const MOST_FILES: usize = 512;

/// Larger files are known by their times alone.
const LARGEST: u64 = 64 << 20;

/// Scripts whose interpreters are scripts, deeper than this, are not followed; nor does the system.
const DEEPEST: usize = 5;

/// How much of a script is read for the interpreter that it names.
const FIRST_LINE: usize = 256;

/// Whether commands may write a file.
pub type Writable<'a> = dyn Fn(&Path) -> bool + Send + Sync + 'a;

/// Every regular file that work names: its program, arguments, and words of its script, as far as they can be told before
/// it runs. What an interpreter would read is among them, since nobody knows which word that is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedFiles(Vec<NamedFile>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct NamedFile {
    /// As it is named, from the root.
    path: PathBuf,
    /// Where it really lies.
    real: PathBuf,
    /// Which file it is.
    file: FileId,
    content: Content,
    /// Whether commands may write it.
    writable: bool,
}

/// What is in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Content {
    /// Its SHA-256.
    Hash(String),
    /// Its size and times: where no command may write it, where it is large, and where it may not be read.
    Stamp(u64, [(i64, i64); 2]),
}

impl NamedFiles {
    /// Looks at every file that is named. An error says why that cannot be done.
    pub fn of(
        reading: &Reading,
        program: Option<&Path>,
        cwd: &Path,
        path: &SearchPath,
        writable: &Writable<'_>,
    ) -> Result<Self, String> {
        let mut places = Places::new(cwd, path);
        let words = match reading {
            Reading::Plain(argv) => {
                in_words(std::iter::once(&argv.file).chain(&argv.args).map(String::as_str))
            }
            Reading::Script(script) => {
                let known = script.words();
                let mut words = in_text(script.source());
                words.extend(in_words(known.iter().map(String::as_str)));
                words
            }
        };
        let mut wanted: Vec<PathBuf> = program.map(Path::to_owned).into_iter().collect();
        wanted.extend(places.of_words(&words)?);
        let mut named = NamedFiles::default();
        for _ in 0..DEEPEST {
            let mut next = Vec::new();
            for file in std::mem::take(&mut wanted) {
                if let Some(line) = named.take(&file, writable)? {
                    next.extend(places.of_words(&in_text(&line))?);
                }
            }
            wanted = next;
        }
        named.0.sort_unstable_by(|one, other| one.path.cmp(&other.path));
        Ok(named)
    }

    /// Takes one file down, and gives the line by which it names its interpreter.
    fn take(&mut self, path: &Path, writable: &Writable<'_>) -> Result<Option<String>, String> {
        // Without dots that mean nothing.
        let path: PathBuf = path.components().collect();
        if self.0.iter().any(|known| known.path == path) {
            return Ok(None);
        }
        if self.0.len() == MOST_FILES {
            return Err(format!(
                "it names more than {MOST_FILES} files; name their directory, or split it up"
            ));
        }
        let seen = NamedFile::look_at(path.clone(), writable);
        let (file, line) =
            seen.map_err(|error| format!("{} cannot be looked at: {error}", path.display()))?;
        self.0.push(file);
        Ok(line)
    }

    /// The first file that is not as it was, if they are looked at again: another content, another file at its path, or
    /// one that was not there, or that is there no longer.
    pub fn changed<'a>(&'a self, now: &'a NamedFiles) -> Option<&'a Path> {
        let lost = self.0.iter().find(|file| !now.0.contains(file));
        let other = || now.0.iter().find(|file| !self.0.contains(file));
        lost.or_else(other).map(|file| file.path.as_path())
    }

    /// Those that commands may write, with what is in them: answers that count again hold only for these.
    pub fn tied(&self) -> Vec<(PathBuf, String)> {
        let tied = self.0.iter().filter(|file| file.writable);
        tied.map(|file| (file.path.clone(), file.content.to_string())).collect()
    }
}

impl NamedFile {
    fn look_at(path: PathBuf, writable: &Writable<'_>) -> io::Result<(Self, Option<String>)> {
        let real = path.canonicalize()?;
        let writable = writable(&real);
        // Neither a pipe nor a terminal must keep anybody waiting.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let (file, readable) = match rustix::fs::open(&path, flags, Mode::empty()) {
            Ok(file) => (File::from(file), true),
            Err(_) => {
                (File::from(rustix::fs::open(&path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?), false)
            }
        };
        let found = file.metadata()?;
        let hashes = writable && readable && found.len() <= LARGEST;
        let content = if hashes { Content::Hash(hashed(&file)?.1) } else { Content::stamp(&file)? };
        let line = readable.then(|| interpreter(&file)).flatten();
        let file = FileId::from(&found);
        Ok((NamedFile { path, real, file, content, writable }, line))
    }
}

impl Content {
    fn stamp(file: &File) -> io::Result<Self> {
        let Stamp { size, modified, changed, .. } = stamp(file)?;
        Ok(Content::Stamp(size, [modified, changed]))
    }
}

impl std::fmt::Display for Content {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Content::Hash(hash) => f.write_str(hash),
            Content::Stamp(size, [modified, changed]) => {
                write!(
                    f,
                    "{size} bytes of {}.{:09} and {}.{:09}",
                    modified.0, modified.1, changed.0, changed.1
                )
            }
        }
    }
}

/// What stands behind `#!` in the first line of a script.
fn interpreter(file: &File) -> Option<String> {
    let mut start = [0; FIRST_LINE];
    let read = file.read_at(&mut start, 0).ok()?;
    let line = start.get(..read)?.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    Some(String::from_utf8_lossy(line).into_owned())
}
