//! Removes what is old, and finds room.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use runward_model::Stream;

use crate::journal;
use crate::store::Settings;

/// What can be in a folder.
const FILES: [&str; 3] = [Stream::Stdout.name(), Stream::Stderr.name(), journal::FILE];

/// The folder of one session.
struct Folder {
    path: PathBuf,
    bytes: u64,
    age: Duration,
    in_use: bool,
}

/// Removes what is too old, then the oldest until `wanted` bytes have room. Says how many bytes may be written now.
pub(crate) fn make_room(settings: &Settings, wanted: u64) -> u64 {
    let mut folders = folders(&settings.directory);
    folders.sort_by_key(|folder| folder.age);
    let mut used: u64 = folders.iter().map(|folder| folder.bytes).sum();
    while let Some(oldest) = folders.pop() {
        let is_over = used.saturating_add(wanted) > settings.quota;
        if !oldest.in_use && (oldest.age > settings.keep || is_over) && remove(&oldest.path) {
            used -= oldest.bytes;
        }
    }
    settings.quota.saturating_sub(used)
}

fn folders(directory: &Path) -> Vec<Folder> {
    let now = SystemTime::now();
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let folder = |entry: fs::DirEntry| {
        entry.file_name().to_str().filter(|name| is_ours(name))?;
        entry.file_type().ok().filter(fs::FileType::is_dir)?;
        let path = entry.path();
        let (bytes, age) = measure(&path, now);
        Some(Folder { in_use: is_in_use(&path), path, bytes, age })
    };
    entries.flatten().filter_map(folder).collect()
}

/// Only hexadecimal names are: nothing else in the directory is touched.
fn is_ours(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whoever writes holds a lock, in this server or in another.
fn is_in_use(folder: &Path) -> bool {
    File::open(folder).is_ok_and(|folder| folder.try_lock().is_err())
}

fn measure(folder: &Path, now: SystemTime) -> (u64, Duration) {
    let files = FILES.map(|name| folder.join(name));
    let found: Vec<_> = files.iter().filter_map(|file| fs::symlink_metadata(file).ok()).collect();
    let newest = found.iter().filter_map(|file| file.modified().ok()).max();
    let newest = newest.or_else(|| fs::symlink_metadata(folder).ok()?.modified().ok());
    let age = newest.and_then(|newest| now.duration_since(newest).ok()).unwrap_or_default();
    (found.iter().map(fs::Metadata::len).sum(), age)
}

/// Whether it is gone. Only the files that a writer makes are removed, never a tree.
fn remove(folder: &Path) -> bool {
    for name in FILES {
        let _ = fs::remove_file(folder.join(name));
    }
    fs::remove_dir(folder).is_ok()
}
