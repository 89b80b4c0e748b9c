//! System calls that wait for an answer: the kernel's side of the broker.

use std::ffi::{CString, c_int, c_ulong};
use std::io;
use std::mem::{MaybeUninit, zeroed};
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// `_IOWR('!', 0, struct seccomp_notif)` and its siblings.
const RECEIVE: c_ulong = 0xC050_2100;
const ANSWER: c_ulong = 0xC018_2101;
const ADD: c_ulong = 0x4018_2103;

/// The longest path that the kernel takes, with its end.
const LONGEST_PATH: usize = 4096;

const PAGE: usize = 4096;

/// A call that waits.
#[derive(Clone, Copy)]
pub(super) struct Call {
    id: u64,
    /// Who waits, as this process knows it.
    pub(super) pid: i32,
    pub(super) number: libc::c_long,
    pub(super) arguments: [u64; 6],
}

/// What a call is answered with.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The kernel goes on with it, as if nobody had been asked: what it may not do it is refused by other means.
    Continue,
    /// It has been done.
    Done,
    /// It has failed.
    Errno(i32),
}

impl Call {
    /// The next call of a listener, if one waits.
    pub(super) fn next(listener: &OwnedFd) -> Option<Self> {
        let mut fds = [PollFd::new(listener, PollFlags::IN)];
        if poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).ok()? == 0
            || !fds.first()?.revents().contains(PollFlags::IN)
        {
            return None;
        }
        // SAFETY: plain numbers, for which zeros are a value.
        let mut told: libc::seccomp_notif = unsafe { zeroed() };
        // SAFETY: the kernel fills a live structure of the size that the request's number says.
        if unsafe { libc::ioctl(listener.as_raw_fd(), RECEIVE as _, &raw mut told) } < 0 {
            return None;
        }
        let pid = i32::try_from(told.pid).ok()?;
        Some(Call { id: told.id, pid, number: told.data.nr.into(), arguments: told.data.args })
    }

    /// Answers it. Whoever asked may be gone.
    pub(super) fn answer(self, listener: &OwnedFd, answer: &Answer) {
        let (error, flags) = match answer {
            Answer::Continue => (0, 1),
            Answer::Done => (0, 0),
            Answer::Errno(errno) => (-errno, 0),
        };
        Call::send(listener, libc::seccomp_notif_resp { id: self.id, val: 0, error, flags });
    }

    /// Answers it with a descriptor. It is closed here before whoever asked goes on: a program that is still open for
    /// writing somewhere cannot be executed.
    pub(super) fn answer_with(self, listener: &OwnedFd, opened: OwnedFd, flags: c_int) {
        let add = libc::seccomp_notif_addfd {
            id: self.id,
            flags: 0,
            srcfd: opened.as_raw_fd().cast_unsigned(),
            newfd: 0,
            newfd_flags: (flags & libc::O_CLOEXEC).cast_unsigned(),
        };
        // SAFETY: the kernel reads a live structure of the size that the request's number says.
        let number = unsafe { libc::ioctl(listener.as_raw_fd(), ADD as _, &raw const add) };
        let error = if number < 0 { io::Error::last_os_error().raw_os_error() } else { None };
        drop(opened);
        let (val, error) = error.map_or((number.into(), 0), |errno| (0, -errno));
        Call::send(listener, libc::seccomp_notif_resp { id: self.id, val, error, flags: 0 });
    }

    fn send(listener: &OwnedFd, answer: libc::seccomp_notif_resp) {
        // SAFETY: the kernel reads a live structure of the size that the request's number says.
        unsafe { libc::ioctl(listener.as_raw_fd(), ANSWER as _, &raw const answer) };
    }

    /// A path that an argument points to. Whoever waits could change it meanwhile, so it is read once.
    pub(super) fn path(&self, argument: usize) -> Result<CString, i32> {
        let address = self.arguments.get(argument).copied().unwrap_or_default();
        let address = usize::try_from(address).map_err(|_| libc::EFAULT)?;
        let mut bytes = vec![0u8; LONGEST_PATH];
        // What is not mapped may begin at the next page.
        let first = (PAGE - address % PAGE).min(LONGEST_PATH);
        let remote = [
            libc::iovec { iov_base: address as *mut _, iov_len: first },
            libc::iovec { iov_base: address.wrapping_add(first) as *mut _, iov_len: LONGEST_PATH - first },
        ];
        let local = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
        // SAFETY: writes into `bytes` only, no more than its length; the other process's memory is only read.
        let read = unsafe { libc::process_vm_readv(self.pid, &raw const local, 1, remote.as_ptr(), 2, 0) };
        let read = usize::try_from(read).map_err(|_| libc::EFAULT)?;
        bytes.truncate(read);
        match bytes.iter().position(|byte| *byte == 0) {
            Some(end) => {
                bytes.truncate(end);
                CString::new(bytes).map_err(|_| libc::EFAULT)
            }
            None if read < LONGEST_PATH => Err(libc::EFAULT),
            None => Err(libc::ENAMETOOLONG),
        }
    }

    /// An argument as a number.
    pub(super) fn number_at(&self, argument: usize) -> i32 {
        let value = self.arguments.get(argument).copied().unwrap_or_default();
        // The kernel looks at the low half of such arguments alone.
        let [a, b, c, d, ..] = value.to_le_bytes();
        i32::from_le_bytes([a, b, c, d])
    }
}

/// Sends the listener of a filter that was just installed. Async-signal-safe: it allocates nothing.
pub(crate) fn send_listener(channel: RawFd, listener: RawFd) -> io::Result<()> {
    let mut byte = 0u8;
    let mut data = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
    // Room for one descriptor, aligned as its header has to be.
    let mut control = [0u64; 4];
    // SAFETY: the message points to live locals of the lengths that it names; the header lies within `control`.
    let sent = unsafe {
        let mut message: libc::msghdr = zeroed();
        message.msg_iov = &raw mut data;
        message.msg_iovlen = 1;
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = libc::CMSG_SPACE(4) as _;
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        (*header).cmsg_level = libc::SOL_SOCKET;
        (*header).cmsg_type = libc::SCM_RIGHTS;
        (*header).cmsg_len = libc::CMSG_LEN(4) as _;
        libc::CMSG_DATA(header).cast::<RawFd>().write_unaligned(listener);
        libc::sendmsg(channel, &raw const message, libc::MSG_NOSIGNAL)
    };
    if sent == 1 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The listeners that have arrived; the last one counts.
pub(super) fn receive_listener(channel: &OwnedFd) -> Option<OwnedFd> {
    use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
    let mut found = None;
    loop {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let mut byte = [0];
        let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
        let received = recvmsg(channel.as_fd(), &mut [io::IoSliceMut::new(&mut byte)], &mut ancillary, flags);
        if !received.is_ok_and(|received| received.bytes > 0) {
            return found;
        }
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(mut fds) = message {
                found = fds.next().or(found);
            }
        }
    }
}

/// Whether nobody is left who could call.
pub(super) fn is_over(listener: &OwnedFd) -> bool {
    let mut fds = [PollFd::new(listener, PollFlags::empty())];
    let _ = poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }));
    fds.first().is_none_or(|fd| fd.revents().contains(PollFlags::HUP))
}

/// Whether a file is open for writing anywhere: only then a lease to read it is refused.
pub(super) fn has_writers(file: &OwnedFd) -> bool {
    // SAFETY: takes numbers only; the lease ends with the descriptor.
    unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, libc::F_RDLCK) < 0 }
}
