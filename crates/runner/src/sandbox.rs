//! A sandbox as the runner sees it: a process behind a socket, the first of a PID namespace.

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;

use runward_model::Fence;
use runward_model::wire::{self, Order, Report, SPAWN_FDS};
use runward_sandbox::Shared;
use rustix::net::{
    AddressFamily, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
    recv, sendmsg, socketpair,
};

use crate::cgroup_sessions::Group;
use crate::{clone_vm, oom, sandbox_init, serve};

/// A sandbox: its first process behind a socket.
pub(crate) struct Sandbox {
    /// That process; with it ends everything inside.
    pub(crate) init: i32,
    /// What it is known by and held to limits.
    pub(crate) group: Option<Group>,
    /// What its commands are confined to.
    pub(crate) fence: Fence,
    /// Held for as long as it lives.
    _shared: Rc<Shared>,
    socket: OwnedFd,
    bytes: Vec<u8>,
}

impl Sandbox {
    /// Starts its first process, which builds it while this one goes on.
    pub(crate) fn start(fence: &Fence, shared: Rc<Shared>, group: Option<Group>) -> io::Result<Self> {
        let flags = SocketFlags::CLOEXEC;
        let (socket, far) = socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        let entrance = shared.entrance(fence.network.is_own().then_some(fence.loopback));
        let between = || {
            let pid = oom::expendable(|| clone_vm::fork(0, group.as_ref().map(Group::directory)))?;
            if pid == 0
                && let Some(group) = &group
            {
                group.join();
            }
            Ok(pid)
        };
        let first = || {
            // Before anything else: the runner's other descriptors are none of a sandbox's business.
            let kept: Vec<_> = [far.as_fd()].into_iter().chain(entrance.descriptors()).collect();
            serve::close_all_but(&kept);
            i32::from(sandbox_init::live(fence, &entrance, far).is_err())
        };
        let init = shared.begin(between, first)?;
        Ok(Sandbox { init, group, fence: fence.clone(), _shared: shared, socket, bytes: Vec::new() })
    }

    pub(crate) fn socket(&self) -> &OwnedFd {
        &self.socket
    }

    /// Passes an order on to it.
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

    /// What it has reported since.
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
        unsafe { libc::kill(self.init, libc::SIGKILL) };
    }
}
