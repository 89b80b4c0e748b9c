//! What is kept of what commands have written to caches: on disk, a directory for each workspace, numbered layers in it.
//!
//! Whoever uses a layer holds a lock on it. Clients of one server share the first; another server in the same workspace
//! takes the next that nobody has.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use runward_files::lock;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::written;

/// More layers than this no workspace has; what writes in yet another server is kept in memory.
const MOST: u32 = 64;

/// Which workspace a directory is for.
const ROOT: &str = "workspace";

/// Held by whoever uses a layer; changed when that begins.
const LOCK: &str = "lock";

/// Held while locks are taken, or only tried: whoever tries one must not pass for somebody who uses a layer.
const TAKING: &str = "lock";

/// How long somebody may take for that, who does nothing else meanwhile.
const PATIENCE: Duration = Duration::from_secs(5);

/// What is being removed.
const REMOVED: &str = "removed";

/// A layer that is this process's for as long as it has this.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) directory: PathBuf,
    _lock: File,
}

impl Taken {
    /// The first layer that nobody has, of those of `root` in `layers`; made if need be.
    pub(crate) fn some_of(layers: &Path, root: &Path) -> io::Result<Self> {
        make(layers)?;
        let all = layers.parent().ok_or(io::ErrorKind::InvalidInput)?;
        let _taking = lock(&all.join(TAKING), PATIENCE)?;
        make(layers)?;
        let told = layers.join(ROOT);
        if !told.exists() {
            fs::write(told, root.as_os_str().as_bytes())?;
        }
        (1..=MOST)
            .find_map(|number| Self::take(&layers.join(number.to_string())).transpose())
            .unwrap_or_else(|| Err(io::ErrorKind::ResourceBusy.into()))
    }

    /// Takes this one, or finds that somebody else has it.
    fn take(directory: &Path) -> io::Result<Option<Self>> {
        make(directory)?;
        let Some(lock) = locked(directory)? else { return Ok(None) };
        lock.set_modified(SystemTime::now())?;
        Ok(Some(Taken { directory: directory.to_owned(), _lock: lock }))
    }
}

/// The lock of a layer; `None` while somebody else has it, or when it has just been removed.
fn locked(directory: &Path) -> io::Result<Option<File>> {
    let lock = File::options().create(true).truncate(false).write(true).open(directory.join(LOCK))?;
    match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => return Ok(None),
        tried => tried?,
    }
    let (own, found) = (lock.metadata()?, fs::metadata(directory.join(LOCK)));
    Ok(found.is_ok_and(|found| (found.dev(), found.ino()) == (own.dev(), own.ino())).then_some(lock))
}

fn make(directory: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)
}

/// All layers of this user.
#[derive(Clone, Debug)]
pub struct Layers {
    directory: PathBuf,
}

/// A layer that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptLayer {
    /// The workspace that it belongs to.
    pub workspace: PathBuf,
    /// Where it is.
    pub directory: PathBuf,
    /// How many bytes it takes; `None` where somebody has made that impossible to find out.
    pub size: Option<u64>,
    /// When it was taken last.
    pub last_used: SystemTime,
    /// Whether a server has it.
    pub in_use: bool,
}

impl Layers {
    /// Those below this directory, which need not be there.
    pub fn below(directory: PathBuf) -> Self {
        Layers { directory }
    }

    /// Each that is kept, last used first.
    pub fn list(&self) -> io::Result<Vec<KeptLayer>> {
        let mut found = self.found()?;
        for layer in &mut found {
            let uppers = directories(&layer.directory)?.into_iter().map(|cache| cache.join("upper"));
            layer.size = written::size(uppers);
        }
        found.sort_by_key(|layer| std::cmp::Reverse(layer.last_used));
        Ok(found)
    }

    /// The same without their sizes, which take a while to find out.
    fn found(&self) -> io::Result<Vec<KeptLayer>> {
        let mut found = Vec::new();
        if !self.directory.exists() {
            return Ok(found);
        }
        let _taking = lock(&self.directory.join(TAKING), PATIENCE)?;
        for workspace in directories(&self.directory)? {
            let root = fs::read(workspace.join(ROOT)).unwrap_or_default();
            let root = PathBuf::from(OsStr::from_bytes(&root));
            for directory in directories(&workspace)? {
                let Ok(last_used) = fs::metadata(directory.join(LOCK)).and_then(|lock| lock.modified())
                else {
                    continue;
                };
                let in_use = !matches!(locked(&directory), Ok(Some(_)));
                found.push(KeptLayer { workspace: root.clone(), directory, size: None, last_used, in_use });
            }
        }
        Ok(found)
    }

    /// Which of these nobody uses and are older than `keep`, or take more than `quota` together with those used since. One
    /// that cannot be measured takes more.
    pub fn superfluous(layers: &[KeptLayer], quota: u64, keep: Duration) -> Vec<KeptLayer> {
        let is_old = |layer: &KeptLayer| layer.last_used.elapsed().is_ok_and(|age| age > keep);
        let (used, idle): (Vec<_>, Vec<_>) = layers.iter().partition(|layer| layer.in_use);
        let sizes = used.iter().map(|layer| layer.size.unwrap_or(0));
        let mut taken = sizes.fold(0, u64::saturating_add);
        let mut superfluous = Vec::new();
        for layer in idle {
            let with = layer.size.and_then(|size| taken.checked_add(size)).filter(|with| *with <= quota);
            match with.filter(|_| !is_old(layer)) {
                Some(with) => taken = with,
                None => superfluous.push(layer.clone()),
            }
        }
        superfluous
    }

    /// Removes a layer, unless somebody has taken it meanwhile; whether it is gone.
    pub fn remove(&self, layer: &KeptLayer) -> io::Result<bool> {
        if !self.put_away(layer)? {
            return Ok(false);
        }
        written::empty(&self.directory.join(REMOVED))?;
        Ok(true)
    }

    /// Moves a layer that nobody uses to where nobody looks for one.
    fn put_away(&self, layer: &KeptLayer) -> io::Result<bool> {
        let _taking = lock(&self.directory.join(TAKING), PATIENCE)?;
        let Some(own) = locked(&layer.directory)? else { return Ok(false) };
        let removed = self.directory.join(REMOVED);
        make(&removed)?;
        let number = own.metadata()?.ino();
        fs::rename(&layer.directory, removed.join(format!("{}-{number}", std::process::id())))?;
        if let Some(workspace) = layer.directory.parent()
            && directories(workspace)?.is_empty()
        {
            let _ = fs::remove_file(workspace.join(ROOT));
            let _ = fs::remove_dir(workspace);
        }
        Ok(true)
    }

    /// Removes all, for whoever made them for a moment.
    pub fn discard(&self) -> io::Result<()> {
        if self.directory.exists() { written::empty(&self.directory) } else { Ok(()) }
    }

    /// Removes what is superfluous, and what an earlier removal has left; how many bytes that were.
    pub fn collect(&self, quota: u64, keep: Duration) -> io::Result<u64> {
        let mut freed = 0_u64;
        for layer in Self::superfluous(&self.list()?, quota, keep) {
            if self.remove(&layer)? {
                freed = freed.saturating_add(layer.size.unwrap_or(0));
            }
        }
        if self.directory.join(REMOVED).exists() {
            written::empty(&self.directory.join(REMOVED))?;
        }
        Ok(freed)
    }
}

/// The directories in a directory of ours, none where that is missing; not what is being removed.
fn directories(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let entries = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    Ok(entries.map(|entry| entry.path()).filter(|path| !path.ends_with(REMOVED)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(name: &str, size: Option<u64>, hours: u64, in_use: bool) -> KeptLayer {
        let last_used = SystemTime::now() - Duration::from_hours(hours);
        KeptLayer { workspace: name.into(), directory: name.into(), size, last_used, in_use }
    }

    #[test]
    fn what_is_old_too_much_or_unknown_goes_and_what_is_used_stays() {
        let layers = [
            kept("new", Some(40), 1, false),
            kept("used", Some(50), 2, true),
            kept("unknown", None, 3, false),
            kept("large", Some(20), 4, false),
            kept("small", Some(10), 5, false),
            kept("old", Some(0), 30, false),
        ];
        let gone = Layers::superfluous(&layers, 100, Duration::from_hours(24));
        let gone: Vec<_> = gone.iter().map(|layer| layer.workspace.to_str().unwrap()).collect();
        assert_eq!(gone, ["unknown", "large", "old"]);
    }

    #[test]
    fn a_layer_is_one_holders_and_the_next_gets_another() {
        let place = tempfile::tempdir().unwrap();
        let layers = place.path().join("site");
        let take = || Taken::some_of(&layers, Path::new("/site")).unwrap();
        let (one, two) = (take(), take());
        assert_ne!(one.directory, two.directory);
        let first = one.directory.clone();
        drop(one);
        assert_eq!(take().directory, first);
        let all = Layers::below(place.path().into());
        let listed = all.list().unwrap();
        assert_eq!(listed.iter().filter(|layer| layer.in_use).count(), 1);
        for layer in &listed {
            assert_eq!(all.remove(layer).unwrap(), !layer.in_use);
        }
        drop(two);
        all.remove(&all.list().unwrap()[0]).unwrap();
        assert_eq!(all.list().unwrap(), []);
    }
}
