//! A sandbox as the runner sees it: a warden behind a socket.

use std::ffi::CString;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Instant;

use runward_model::wire::{self, Launch, Order, Report, SPAWN_FDS};
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
    /// Is being cleaned up. The next command may be sent already: the warden comes to it when it is done.
    Cleaning,
    /// Is being ended.
    Ending,
    /// Waits for the next command.
    Idle(Instant),
}

/// A command that has not started yet.
pub(crate) struct Pending {
    pub(crate) session: SessionId,
    pub(crate) launch: Launch,
    pub(crate) fds: Vec<OwnedFd>,
    /// Whether it may be tried once more.
    pub(crate) again: bool,
}

/// A sandbox: a warden behind a socket.
pub(crate) struct Sandbox {
    pub(crate) needs: Needs,
    pub(crate) warden: i32,
    pub(crate) stage: Stage,
    /// When it was built. What listens on the host is covered as it was then.
    pub(crate) built: Instant,
    /// Where placeholders stand that it has covered.
    pub(crate) placeholders: Vec<CString>,
    /// What holds it to limits.
    pub(crate) group: Option<Group>,
    /// The command that it was sent and has not started yet. Should it end before, another sandbox is tried.
    pub(crate) pending: Option<Pending>,
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
        let (stage, built) = (Stage::Cleaning, Instant::now());
        Ok(Sandbox {
            needs,
            warden,
            stage,
            built,
            placeholders: Vec::new(),
            group,
            pending: None,
            socket,
            bytes: Vec::new(),
        })
    }

    /// The session that it runs.
    pub(crate) fn session(&self) -> Option<SessionId> {
        match self.stage {
            Stage::Busy { session, .. } => Some(session),
            Stage::Cleaning | Stage::Ending | Stage::Idle(_) => None,
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

    /// Whether what it was sent may be tried in another one.
    pub(crate) fn may_try_again(&self) -> bool {
        self.pending.as_ref().is_some_and(|pending| pending.again)
    }

    /// Whether another command can be sent to it.
    pub(crate) fn is_free(&self) -> bool {
        let waits = matches!(self.stage, Stage::Idle(_) | Stage::Cleaning);
        waits && self.group.as_ref().is_none_or(|group| group.hit().is_none())
    }

    /// Ends it and everything in it; it is reaped later.
    pub(crate) fn kill(&mut self) {
        self.stage = Stage::Ending;
        // SAFETY: sends a signal to a child of this process that is not yet reaped.
        unsafe { libc::kill(self.warden, libc::SIGKILL) };
    }
}
