//! A sandbox as the runner sees it: a warden behind a socket.

use std::ffi::CString;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Instant;

use runward_model::wire::{self, Order, Report, SPAWN_FDS};
use runward_model::{Fence, Limits, SessionId};
use runward_sandbox::Namespaces;
use rustix::net::{
    AddressFamily, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
    recv, sendmsg, socketpair,
};

use crate::clone_vm;
use crate::grouped::Group;
use crate::serve;
use crate::warden;

/// What a command needs of a sandbox. Those with the same needs can use the same one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Needs {
    fence: Fence,
    limits: Limits,
    /// What the paths of the fence were when it was built: device and file number, or nothing.
    found: Vec<Option<(u64, u64)>>,
}

impl Needs {
    pub(crate) fn of(fence: &Fence, limits: &Limits) -> Self {
        let paths = [&fence.writable, &fence.shown, &fence.hidden, &fence.protected];
        let found = paths.into_iter().flatten().map(|path| runward_sandbox::identity(path)).collect();
        Needs { fence: fence.kind(), limits: *limits, found }
    }

    pub(crate) fn fence(&self) -> &Fence {
        &self.fence
    }
}

/// What a sandbox is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Runs a command, whose first process may have ended.
    Busy { session: SessionId, exited: bool },
    /// Is being cleaned up.
    Cleaning,
    /// Waits for the next command.
    Idle(Instant),
}

/// A sandbox: a warden behind a socket.
pub(crate) struct Sandbox {
    pub(crate) needs: Needs,
    pub(crate) warden: i32,
    pub(crate) stage: Stage,
    /// Where placeholders stand that it has covered.
    pub(crate) placeholders: Vec<CString>,
    /// What holds it to limits.
    pub(crate) group: Option<Group>,
    socket: OwnedFd,
    bytes: Vec<u8>,
}

impl Sandbox {
    /// Starts a warden. It builds the sandbox while this process goes on.
    pub(crate) fn start(needs: Needs, namespaces: &Namespaces, group: Option<Group>) -> io::Result<Self> {
        let flags = SocketFlags::CLOEXEC;
        let (socket, far) = socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        let directory = group.as_ref().map(Group::directory);
        let warden = clone_vm::fork(namespaces.clone_flags(), directory)?;
        if warden == 0 {
            if let Some(group) = &group {
                group.join();
            }
            serve::close_all_but(&[far.as_fd()]);
            let lived = warden::live(&needs.fence, namespaces, far);
            // SAFETY: ends this fork alone; what it has copies of is not dropped a second time.
            unsafe { libc::_exit(i32::from(lived.is_err())) }
        }
        let stage = Stage::Cleaning;
        Ok(Sandbox { needs, warden, stage, placeholders: Vec::new(), group, socket, bytes: Vec::new() })
    }

    /// The session that it runs.
    pub(crate) fn session(&self) -> Option<SessionId> {
        match self.stage {
            Stage::Busy { session, .. } => Some(session),
            Stage::Cleaning | Stage::Idle(_) => None,
        }
    }

    pub(crate) fn socket(&self) -> &OwnedFd {
        &self.socket
    }

    /// Passes an order on to the warden.
    pub(crate) fn order(&self, order: &Order, fds: &[OwnedFd]) -> io::Result<()> {
        let frame = wire::encode(order).map_err(io::Error::other)?;
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(SPAWN_FDS))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        let fds: Vec<_> = fds.iter().map(AsFd::as_fd).collect();
        if !fds.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(&fds)) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut rest = frame.as_slice();
        while !rest.is_empty() {
            let sent = sendmsg(&self.socket, &[IoSlice::new(rest)], &mut ancillary, SendFlags::NOSIGNAL)?;
            ancillary.clear();
            rest = rest.get(sent..).unwrap_or_default();
        }
        Ok(())
    }

    /// What the warden has reported since.
    pub(crate) fn reports(&mut self) -> Vec<Report> {
        let mut chunk = [0; 4096];
        while let Ok((read @ 1.., _)) = recv(&self.socket, &mut chunk[..], RecvFlags::DONTWAIT) {
            self.bytes.extend_from_slice(chunk.get(..read).unwrap_or_default());
        }
        std::iter::from_fn(|| wire::decode::<Report>(&mut self.bytes).ok().flatten()).collect()
    }

    /// Ends it and everything in it; it is reaped later.
    pub(crate) fn kill(&self) {
        // SAFETY: sends a signal to a child of this process that is not yet reaped.
        unsafe { libc::kill(self.warden, libc::SIGKILL) };
    }
}
