//! Patches against real files.

#![expect(clippy::unwrap_used, reason = "a test that cannot set up its world has failed")]

mod fixtures;
mod hostile;
mod modes;
mod oracle;
mod random;
mod rollback;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use runward_patch::{Error, Ground, Patch, Report, Roots};

/// A directory that patches may write to.
struct Workspace(tempfile::TempDir);

impl Workspace {
    fn new(files: &[(&str, &str)]) -> Self {
        let workspace = Workspace(tempfile::tempdir().unwrap());
        for (path, content) in files {
            let path = workspace.path(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        workspace
    }

    fn ground(&self) -> Ground {
        let directory = self.0.path().canonicalize().unwrap();
        let roots = vec![Roots { setting: "the test", paths: vec![directory.clone()] }];
        Ground { roots, directory, protected: Vec::new() }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(path)
    }

    fn apply(&self, patch: &str) -> Result<Report, Error> {
        Patch::parse(patch)?.verify(&self.ground())?.apply()
    }

    fn tree(&self) -> BTreeMap<PathBuf, Entry> {
        tree(self.0.path())
    }
}

/// What a test sees of a file.
#[derive(Debug, PartialEq, Eq)]
enum Entry {
    Directory,
    Link(PathBuf),
    File { mode: u32, content: Vec<u8> },
}

/// Everything below a directory.
fn tree(root: &Path) -> BTreeMap<PathBuf, Entry> {
    let mut found = BTreeMap::new();
    let mut ahead = vec![root.to_owned()];
    while let Some(directory) = ahead.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten().map(Result::unwrap) {
            let (path, kind) = (entry.path(), entry.file_type().unwrap());
            let name = path.strip_prefix(root).unwrap().to_owned();
            let seen = if kind.is_dir() {
                ahead.push(path);
                Entry::Directory
            } else if kind.is_symlink() {
                Entry::Link(fs::read_link(&path).unwrap())
            } else if kind.is_file() {
                let mode = entry.metadata().unwrap().permissions().mode() & 0o7777;
                Entry::File { mode, content: fs::read(&path).unwrap() }
            } else {
                continue;
            };
            found.insert(name, seen);
        }
    }
    found
}

fn patch(body: &str) -> String {
    format!("*** Begin Patch\n{body}\n*** End Patch\n")
}
