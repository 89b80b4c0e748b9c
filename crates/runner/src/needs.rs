//! What a command needs of a sandbox.

use std::ffi::CString;
use std::time::Duration;

use runward_files::FileId;
use runward_model::{Fence, Limits};

/// What a command needs of a sandbox. Those with the same needs can use the same one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Needs {
    fence: Fence,
    limits: Limits,
    /// What the paths of the fence were when it was built: device and file number, or nothing. A mount keeps what was
    /// there, whatever has been put in its place since.
    found: Vec<Option<FileId>>,
    /// When something was last added to, or taken from, what may be shown with more in it than the host has there.
    changed: Vec<Option<(i64, u64)>>,
}

impl Needs {
    pub(crate) fn of(fence: &Fence, limits: &Limits) -> Self {
        let look = |path: &CString| rustix::fs::lstat(path.as_c_str()).ok();
        let caches = fence.caches.as_ref();
        let paths = [&fence.writable, &fence.shown, &fence.hidden].into_iter().flatten();
        let paths = paths.chain(caches.into_iter().flat_map(|caches| &caches.kept));
        let found = paths.map(|path| look(path).map(|found| FileId::from(&found))).collect();
        let around = caches.into_iter().flat_map(|caches| &caches.around);
        let changed = around.map(|path| look(path).map(|found| (found.st_mtime, found.st_mtime_nsec)));
        Needs { fence: fence.kind(), limits: *limits, found, changed: changed.collect() }
    }

    pub(crate) fn fence(&self) -> &Fence {
        &self.fence
    }

    pub(crate) fn limits(&self) -> Limits {
        self.limits
    }

    /// How long a sandbox is kept for the next command with these needs.
    pub(crate) fn keep(&self) -> Duration {
        self.fence.keep
    }
}
