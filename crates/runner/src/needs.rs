//! What a command needs of a sandbox.

use runward_files::FileId;
use std::time::Duration;

use runward_model::{Fence, Limits};

/// What a command needs of a sandbox. Those with the same needs can use the same one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Needs {
    fence: Fence,
    limits: Limits,
    /// What the paths of the fence were when it was built: device and file number, or nothing. A mount keeps what was
    /// there, whatever has been put in its place since.
    found: Vec<Option<FileId>>,
}

impl Needs {
    pub(crate) fn of(fence: &Fence, limits: &Limits) -> Self {
        let paths = [&fence.writable, &fence.shown, &fence.hidden];
        let found = paths
            .into_iter()
            .flatten()
            .map(|path| rustix::fs::lstat(path.as_c_str()).ok().map(|found| FileId::from(&found)))
            .collect();
        Needs { fence: fence.kind(), limits: *limits, found }
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
