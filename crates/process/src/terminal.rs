//! A terminal: the server holds one end, the child's three descriptors are the other.
//!
//! Opening one forks nothing; the child makes it its controlling terminal itself, between clone and exec.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Mutex, PoisonError};

use runward_model::{Signal, Size};
use rustix::fs::OFlags;
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, Winsize, tcgetattr, tcgetpgrp, tcgetwinsize, tcsetattr,
    tcsetwinsize,
};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// The server's end of a terminal.
#[derive(Debug)]
pub struct Terminal {
    near: AsyncFd<OwnedFd>,
    /// Held until the first process has ended: a terminal that nobody holds is at its end, and a program may close all
    /// that it has of one and open it again.
    far: Mutex<Option<OwnedFd>>,
}

impl Terminal {
    /// A terminal of this size: the server's end and the child's.
    pub(crate) fn open(size: Size) -> io::Result<(Self, OwnedFd)> {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let near = openpt(flags)?;
        grantpt(&near)?;
        unlockpt(&near)?;
        let far = ioctl_tiocgptpeer(&near, flags)?;
        let mut modes = tcgetattr(&far)?;
        modes.input_modes |= InputModes::IUTF8;
        tcsetattr(&far, OptionalActions::Now, &modes)?;
        tcsetwinsize(&far, winsize(size))?;
        rustix::fs::fcntl_setfl(near.as_fd(), OFlags::RDWR | OFlags::NONBLOCK)?;
        // SAFETY: the registered descriptor is owned by the registration, so it stays open for as long as that lives.
        let near = unsafe { AsyncFd::register(near) }?;
        let held = Mutex::new(Some(far.try_clone()?));
        Ok((Terminal { near, far: held }, far))
    }

    /// From now on it is at its end once no process holds it.
    pub fn let_go(&self) {
        self.far.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Its size, as the programs on it see it.
    pub fn size(&self) -> io::Result<Size> {
        let Winsize { ws_row: rows, ws_col: cols, .. } = tcgetwinsize(self.near.get_ref())?;
        Ok(Size { rows, cols })
    }

    /// Tells the programs on it that it has another size now.
    pub fn resize(&self, size: Size) -> io::Result<()> {
        Ok(tcsetwinsize(self.near.get_ref(), winsize(size))?)
    }

    /// Whether what is typed reaches its reader line by line, instead of key by key.
    pub fn reads_lines(&self) -> bool {
        tcgetattr(self.near.get_ref()).is_ok_and(|modes| modes.local_modes.contains(LocalModes::ICANON))
    }

    /// Sends a signal to whoever the keyboard belongs to just now.
    pub fn signal(&self, signal: Signal) -> io::Result<()> {
        let foreground = tcgetpgrp(self.near.get_ref())?;
        let signal = rustix::process::Signal::from_named_raw(signal.0).ok_or(io::ErrorKind::InvalidInput)?;
        Ok(rustix::process::kill_process_group(foreground, signal)?)
    }

    pub(crate) async fn ready(&self) {
        let _ = self.near.readable().await;
    }

    /// Reads once; 0 at the end, which is when nobody holds the other end any more.
    pub(crate) async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = |fd: &OwnedFd| Ok(rustix::io::read(fd, &mut *buffer)?);
        match self.near.async_io(Interest::READABLE, read).await {
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error()) => Ok(0),
            read => read,
        }
    }

    pub(crate) async fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        self.near.async_io(Interest::WRITABLE, |fd| Ok(rustix::io::write(fd, bytes)?)).await
    }
}

fn winsize(Size { rows, cols }: Size) -> Winsize {
    Winsize { ws_row: rows, ws_col: cols, ws_xpixel: 0, ws_ypixel: 0 }
}
