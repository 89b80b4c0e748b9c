//! What the commands of one client in one workspace share: temporary files, and a loopback for each network that they have.
//!
//! They are namespaces that are held open and in which nobody runs. Each sandbox begins in a copy of the mounts, so the
//! file system in memory that is mounted there is one for all, and everything else is its own.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::rc::Rc;

use rustix::mount::MountPropagationFlags;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::thread::LinkNameSpaceType;

use crate::kept_open::kept_open;
use crate::layer::Layer;
use crate::namespaces::{self, Namespaces};
use crate::private::{Private, STORE};
use crate::{fork, loopback, mounts};

/// What the commands of one client in one workspace share. It is gone when this is dropped and the last of them has ended.
#[derive(Debug)]
pub struct Shared {
    /// The user namespace that owns the others, where one is needed to make them.
    user: Option<OwnedFd>,
    mounts: Rc<OwnedFd>,
    /// What is written to caches, if anything is; nobody else's while this is there.
    _layer: Option<Rc<Layer>>,
    /// By the number that stands for what of the network is reached from it.
    loopbacks: RefCell<Vec<(u64, Rc<OwnedFd>)>>,
}

/// What a sandbox begins in.
#[derive(Clone, Debug)]
pub struct Entrance {
    mounts: Rc<OwnedFd>,
    /// Its network; the host's where there is none.
    loopback: Option<Rc<OwnedFd>>,
}

impl Shared {
    /// Makes temporary files that take so many bytes at most, beside the caches of a workspace.
    ///
    /// The caller has a single thread: this forks.
    pub fn make(namespaces: &Namespaces, temporary_size: u64, layer: Option<&Rc<Layer>>) -> io::Result<Self> {
        // What has been mounted already can only be entered from where that was.
        let flag = if layer.is_some() { 0 } else { namespaces.user_flag() };
        let made = || {
            if let Some(layer) = layer {
                layer.enter()?;
            } else {
                namespaces.become_owner()?;
                namespaces::unshare(libc::CLONE_NEWNS)?;
            }
            // These are kept for long: what the host mounts or removes meanwhile holds for the sandboxes to come.
            namespaces::set_propagation(MountPropagationFlags::DOWNSTREAM)?;
            let caches = layer.map(|_| mounts::take(Path::new(STORE))).transpose()?;
            Private::make(temporary_size, caches)
        };
        let known = layer.map_or(Ok(None), |layer| layer.user())?;
        kept_open(flag, made, |name| {
            let user = if flag == 0 { known } else { Some(name("user")?) };
            Ok(Shared {
                user,
                mounts: name("mnt")?.into(),
                _layer: layer.cloned(),
                loopbacks: RefCell::default(),
            })
        })
    }

    /// Sees to it that there is a loopback of this number.
    pub fn make_loopback(&self, number: u64) -> io::Result<()> {
        if self.loopback(number).is_some() {
            return Ok(());
        }
        let made = || {
            self.enter_user()?;
            namespaces::unshare(libc::CLONE_NEWNET)?;
            loopback::bring_up()
        };
        let loopback = kept_open(0, made, |name| name("net"))?;
        self.loopbacks.borrow_mut().push((number, loopback.into()));
        Ok(())
    }

    /// What a sandbox begins in that has the network of this number, or the host's.
    pub fn entrance(&self, loopback: Option<u64>) -> Entrance {
        Entrance { mounts: self.mounts.clone(), loopback: loopback.and_then(|number| self.loopback(number)) }
    }

    /// Runs `first` as the first process of a new PID namespace and returns its number. It is a child of this process, born
    /// by way of one that `fork` makes: only from inside the user namespace can the others be entered.
    pub fn begin(
        &self,
        fork: impl FnOnce() -> io::Result<i32>,
        first: impl FnOnce() -> i32,
    ) -> io::Result<i32> {
        let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
        let between = fork()?;
        if between == 0 {
            let born = self.enter_user().and_then(|()| fork::fork(libc::CLONE_NEWPID | libc::CLONE_PARENT));
            if let Ok(0) = born {
                fork::exit(first());
            }
            let told = born.unwrap_or_else(|error| -error.raw_os_error().unwrap_or(libc::EIO));
            fork::exit(File::from(write).write_all(&told.to_ne_bytes()).is_err().into());
        }
        drop(write);
        let mut told = (-libc::EIO).to_ne_bytes();
        let read = File::from(read).read_exact(&mut told);
        fork::wait(between);
        read?;
        match i32::from_ne_bytes(told) {
            pid @ 1.. => Ok(pid),
            errno => Err(io::Error::from_raw_os_error(-errno)),
        }
    }

    fn loopback(&self, wanted: u64) -> Option<Rc<OwnedFd>> {
        self.loopbacks.borrow().iter().find(|(number, _)| *number == wanted).map(|(_, open)| open.clone())
    }

    fn enter_user(&self) -> io::Result<()> {
        self.user.as_ref().map_or(Ok(()), |user| namespaces::enter(user, LinkNameSpaceType::User))
    }
}

impl Entrance {
    /// What has to stay open until it is entered.
    pub fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        [Some(&self.mounts), self.loopback.as_ref()].into_iter().flatten().map(AsFd::as_fd)
    }

    /// Moves this process there, with mounts that from now on are its own.
    pub(crate) fn enter(&self) -> io::Result<()> {
        namespaces::enter(&*self.mounts, LinkNameSpaceType::Mount)?;
        if let Some(loopback) = &self.loopback {
            namespaces::enter(&**loopback, LinkNameSpaceType::Network)?;
        }
        namespaces::unshare(libc::CLONE_NEWNS | libc::CLONE_NEWIPC)?;
        // What is mounted in here is as narrow as it should be; what comes later would not be.
        namespaces::set_propagation(MountPropagationFlags::PRIVATE)
    }
}
