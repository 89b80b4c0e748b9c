//! A place where scripts made at random can do no harm: a few programs, an empty directory, and a user who owns nothing.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// Programs that print what they are given, or start what they are given.
const HARMLESS: [&str; 16] = [
    "bash", "cat", "echo", "env", "find", "grep", "head", "ls", "nice", "nohup", "printf", "sh", "sort",
    "timeout", "wc", "xargs",
];

/// The user who owns nothing, on every Linux.
const NOBODY: u32 = 65534;

/// The place.
#[derive(Debug)]
pub struct Cage {
    root: TempDir,
}

impl Cage {
    /// Makes one in which these names are programs too; they do nothing.
    pub fn with(decoys: &[&str]) -> Self {
        let root = TempDir::new().expect("a temporary directory");
        let cage = Cage { root };
        fs::create_dir(cage.bin()).unwrap();
        for name in HARMLESS {
            symlink(Path::new("/usr/bin").join(name), cage.bin().join(name)).unwrap();
        }
        for name in decoys {
            // A file of its own, so that it can be told from others by its path.
            fs::copy("/usr/bin/true", cage.bin().join(name)).unwrap();
        }
        fs::set_permissions(cage.root.path(), fs::Permissions::from_mode(0o755)).unwrap();
        cage
    }

    /// The only directory in which programs are looked up.
    pub fn bin(&self) -> PathBuf {
        self.root.path().join("bin")
    }

    /// Makes an empty directory to work in.
    pub fn work(&self, name: &str) -> PathBuf {
        let work = self.root.path().join(name);
        let _ = fs::remove_dir_all(&work);
        fs::create_dir(&work).unwrap();
        fs::set_permissions(&work, fs::Permissions::from_mode(0o777)).unwrap();
        work
    }

    /// Has a command run there, as nobody where this is root: a script may write wherever its redirections say.
    pub fn confine(&self, command: &mut Command, work: &Path) {
        if fs::metadata(work).unwrap().uid() == 0 {
            command.uid(NOBODY).gid(NOBODY);
        }
        command.env_clear().env("PATH", self.bin()).env("HOME", work).current_dir(work).stdin(Stdio::null());
    }
}
