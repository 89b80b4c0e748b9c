//! What waits for an answer, done for the command.

use std::ffi::{CStr, CString};
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, chmodat, mkdirat, openat, statat, symlinkat};
use rustix::io::Errno;

use super::lookup::{self, Follow, Found, Place, Process, There};
use super::notify::{Answer, Call};
use super::{Broker, Standing};
use crate::capabilities;
use crate::names::{Kind, Making, Ruling, completes_a_repository};

/// `fchmodat2` is newer than the C library's list.
const FCHMODAT2: libc::c_long = 452;

/// Looking again after something was held back, or was there all of a sudden.
pub(super) const TRIES: usize = 6;

/// What has become of a call.
pub(super) enum Act {
    Answer(Answer),
    /// A file has been opened, with these flags.
    Opened(OwnedFd, i32),
    /// What takes time to be opened: a pipe with a name, until somebody opens its other end, or what somebody has a lease on.
    Slow(There, i32),
}

pub(super) type Result<T> = std::result::Result<T, Errno>;

pub(super) const DONE: Act = Act::Answer(Answer::Done);
pub(super) const CONTINUE: Act = Act::Answer(Answer::Continue);

/// What is told of a place that stays as it is.
pub(super) const KEPT: Errno = Errno::ROFS;

impl Broker {
    /// Does what a call asks for, with no more rights than whoever calls.
    pub(super) fn act(&mut self, call: Call, listener: &OwnedFd) {
        let lowered = capabilities::lower();
        self.show_again();
        let act =
            self.perform(&call).unwrap_or_else(|errno| Act::Answer(Answer::Errno(errno.raw_os_error())));
        match act {
            Act::Answer(answer) => call.answer(listener, &answer),
            Act::Opened(open, flags) => call.answer_with(listener, open, flags),
            Act::Slow(there, flags) => open_beside(call, listener, there, flags),
        }
        drop(lowered);
    }

    fn perform(&mut self, call: &Call) -> Result<Act> {
        let number = lookup::number(call.pid, self.is_own_proc).ok_or(Errno::SRCH)?;
        let process = Process { number };
        let path = |argument: usize| call.path(argument).map_err(Errno::from_raw_os_error);
        let at = |argument: usize| call.number_at(argument);
        let mode = |argument: usize| Mode::from_raw_mode(at(argument).cast_unsigned());
        match call.number {
            libc::SYS_openat => self.open(process, (at(0), &path(1)?), at(2), mode(3)),
            libc::SYS_mkdirat => self.make_directory(process, (at(0), &path(1)?), mode(2)),
            libc::SYS_mknodat => self.make_node(process, (at(0), &path(1)?), at(2)),
            libc::SYS_symlinkat => self.symlink(process, &path(0)?, (at(1), &path(2)?)),
            libc::SYS_linkat => self.link(process, (at(0), &path(1)?), (at(2), &path(3)?), at(4)),
            libc::SYS_renameat => self.rename(process, (at(0), &path(1)?), (at(2), &path(3)?), 0),
            libc::SYS_renameat2 => self.rename(process, (at(0), &path(1)?), (at(2), &path(3)?), at(4)),
            libc::SYS_unlinkat => self.unlink(process, (at(0), &path(1)?), at(2)),
            libc::SYS_fchmodat => self.set_mode(process, (at(0), &path(1)?), mode(2), 0),
            libc::SYS_fchmod => self.set_mode_of_open(process, at(0), mode(1)),
            FCHMODAT2 => self.set_mode(process, (at(0), &path(1)?), mode(2), at(3)),
            libc::SYS_truncate => {
                self.truncate(process, &path(0)?, call.arguments.get(1).copied().unwrap_or_default())
            }
            #[cfg(target_arch = "x86_64")]
            _ => self.perform_older(call, process),
            #[cfg(not(target_arch = "x86_64"))]
            _ => Err(Errno::NOSYS),
        }
    }

    /// Calls that newer architectures do without.
    #[cfg(target_arch = "x86_64")]
    fn perform_older(&mut self, call: &Call, process: Process) -> Result<Act> {
        const HERE: i32 = libc::AT_FDCWD;
        let path = |argument: usize| call.path(argument).map_err(Errno::from_raw_os_error);
        let at = |argument: usize| call.number_at(argument);
        let mode = |argument: usize| Mode::from_raw_mode(at(argument).cast_unsigned());
        match call.number {
            libc::SYS_open => self.open(process, (HERE, &path(0)?), at(1), mode(2)),
            libc::SYS_creat => {
                self.open(process, (HERE, &path(0)?), libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC, mode(1))
            }
            libc::SYS_mknod => self.make_node(process, (HERE, &path(0)?), at(1)),
            libc::SYS_mkdir => self.make_directory(process, (HERE, &path(0)?), mode(1)),
            libc::SYS_symlink => self.symlink(process, &path(0)?, (HERE, &path(1)?)),
            libc::SYS_link => self.link(process, (HERE, &path(0)?), (HERE, &path(1)?), 0),
            libc::SYS_rename => self.rename(process, (HERE, &path(0)?), (HERE, &path(1)?), 0),
            libc::SYS_unlink => self.unlink(process, (HERE, &path(0)?), 0),
            libc::SYS_rmdir => self.unlink(process, (HERE, &path(0)?), libc::AT_REMOVEDIR),
            libc::SYS_chmod => self.set_mode(process, (HERE, &path(0)?), mode(1), 0),
            _ => Err(Errno::NOSYS),
        }
    }

    fn open(
        &mut self,
        process: Process,
        (directory, path): (i32, &CStr),
        flags: i32,
        mode: Mode,
    ) -> Result<Act> {
        let creates = flags & libc::O_CREAT != 0;
        let mut exclusive = creates && flags & libc::O_EXCL != 0;
        let mut flags = flags;
        if flags & libc::O_PATH != 0 {
            return Ok(CONTINUE);
        }
        let follow = if exclusive || flags & libc::O_NOFOLLOW != 0 { Follow::No } else { Follow::Yes };
        for _ in 0..TRIES {
            match process.find(directory, path, follow)? {
                Found::Private => return Ok(CONTINUE),
                Found::There(there) => {
                    let kind = file_type(&there.open)?;
                    let making = if kind == FileType::Directory { Making::Directory } else { Making::File };
                    let there = match self.standing(&there.path, making) {
                        Standing::Elsewhere => return Ok(CONTINUE),
                        Standing::Unit => lookup::there(self.in_unit(&there.path)?)?,
                        Standing::Ruled(Ruling::Free) => there,
                        Standing::Ruled(Ruling::Kept) => return Err(KEPT),
                        Standing::Ruled(Ruling::Held { unit, kind }) => {
                            if exclusive {
                                return Err(Errno::EXIST);
                            }
                            self.hold(&unit, kind, making)?;
                            continue;
                        }
                    };
                    return reopen(process, there, flags, mode);
                }
                Found::Missing(_) if !creates => return Err(Errno::NOENT),
                Found::Missing(_) if path.to_bytes().ends_with(b"/") => return Err(Errno::ISDIR),
                Found::Missing(place) => {
                    let whole = place.path.clone();
                    let Some(place) = self.place_for(place, Making::File)? else {
                        // Holding it back has made it.
                        if self.is_unit(&whole) {
                            (exclusive, flags) = (false, flags & !libc::O_EXCL);
                        }
                        continue;
                    };
                    let Some(place) = place else { return Ok(CONTINUE) };
                    let own = OFlags::from_bits_retain(flags.cast_unsigned())
                        | OFlags::EXCL
                        | OFlags::NOFOLLOW
                        | OFlags::CLOEXEC
                        | OFlags::NOCTTY;
                    let masked = Masked::like(process);
                    let opened = openat(&place.parent, &place.name, own, mode);
                    drop(masked);
                    match opened {
                        Err(Errno::EXIST) if !exclusive => {}
                        Ok(open) => return Ok(Act::Opened(open, flags)),
                        Err(errno) => return Err(errno),
                    }
                }
            }
        }
        Err(Errno::BUSY)
    }

    /// A place where something may be made. `Some(None)`: it is none of ours; `None`: look again, something is held now.
    #[expect(clippy::option_option, reason = "two different nothings, told apart at once by the few callers")]
    pub(super) fn place_for(&mut self, place: Place, making: Making) -> Result<Option<Option<Place>>> {
        match self.standing(&place.path, making) {
            Standing::Elsewhere => Ok(Some(None)),
            Standing::Unit => {
                let parent = place.path.parent().ok_or(Errno::NOENT)?;
                Ok(Some(Some(Place { parent: self.in_unit(parent)?, ..place })))
            }
            Standing::Ruled(Ruling::Free) => {
                if completes_a_repository(&place.name) {
                    self.check_completion(&place.path)?;
                }
                Ok(Some(Some(place)))
            }
            Standing::Ruled(Ruling::Kept) => Err(KEPT),
            Standing::Ruled(Ruling::Held { unit, kind }) => {
                self.hold(&unit, kind, if unit == place.path { making } else { Making::Directory })?;
                Ok(None)
            }
        }
    }

    fn make_directory(
        &mut self,
        process: Process,
        (directory, path): (i32, &CStr),
        mode: Mode,
    ) -> Result<Act> {
        for _ in 0..TRIES {
            let Some(place) = process.place(directory, path)? else { return Ok(CONTINUE) };
            let is_new = statat(&place.parent, &place.name, AtFlags::SYMLINK_NOFOLLOW).is_err();
            let whole = place.path.clone();
            match self.place_for(place, Making::Directory)? {
                Some(None) if self.is_place_for_tree(&whole) => {
                    let _masked = Masked::like(process);
                    return self.make_tree(&whole, mode).map(|()| DONE);
                }
                Some(None) => return Ok(CONTINUE),
                Some(Some(place)) => {
                    let _masked = Masked::like(process);
                    mkdirat(&place.parent, &place.name, mode)?;
                    return Ok(DONE);
                }
                // Holding it back has made it.
                None if is_new && self.is_unit(&whole) => return Ok(DONE),
                None => {}
            }
        }
        Err(Errno::BUSY)
    }

    /// Pipes with names, and empty files; nobody makes a device.
    fn make_node(&mut self, process: Process, (directory, path): (i32, &CStr), mode: i32) -> Result<Act> {
        let (kind, mode) =
            (FileType::from_raw_mode(mode.cast_unsigned()), Mode::from_raw_mode(mode.cast_unsigned()));
        let kind = match kind {
            FileType::Fifo => FileType::Fifo,
            FileType::RegularFile | FileType::Unknown => FileType::RegularFile,
            _ => return Err(Errno::PERM),
        };
        let Some(place) = process.place(directory, path)? else { return Ok(CONTINUE) };
        match self.standing(&place.path, Making::File) {
            Standing::Elsewhere => Ok(CONTINUE),
            Standing::Ruled(Ruling::Free) => {
                let _masked = Masked::like(process);
                rustix::fs::mknodat(&place.parent, &place.name, kind, mode, 0)?;
                Ok(DONE)
            }
            Standing::Unit | Standing::Ruled(_) => Err(KEPT),
        }
    }

    fn symlink(
        &mut self,
        process: Process,
        target: &CString,
        (directory, path): (i32, &CStr),
    ) -> Result<Act> {
        for _ in 0..TRIES {
            let Some(place) = process.place(directory, path)? else { return Ok(CONTINUE) };
            // A link cannot be mounted over: where one would be held back itself, there is none.
            if let Standing::Ruled(Ruling::Held { unit, .. }) = self.standing(&place.path, Making::File)
                && unit == place.path
            {
                return Err(KEPT);
            }
            match self.place_for(place, Making::File)? {
                Some(None) => return Ok(CONTINUE),
                Some(Some(place)) => {
                    symlinkat(target.as_c_str(), &place.parent, &place.given)?;
                    return Ok(DONE);
                }
                None => {}
            }
        }
        Err(Errno::BUSY)
    }

    fn set_mode(
        &mut self,
        process: Process,
        (directory, path): (i32, &CStr),
        mode: Mode,
        flags: i32,
    ) -> Result<Act> {
        let follow = if flags & libc::AT_SYMLINK_NOFOLLOW != 0 { Follow::No } else { Follow::Yes };
        for _ in 0..TRIES {
            let there = match process.find(directory, path, follow)? {
                Found::There(there) => there,
                Found::Private => return Ok(CONTINUE),
                Found::Missing(_) => return Err(Errno::NOENT),
            };
            let kind = file_type(&there.open)?;
            if kind == FileType::Symlink {
                return Err(Errno::OPNOTSUPP);
            }
            // A program that runs as its group, too; on a directory the bit only says who owns what is made in it.
            if kind == FileType::RegularFile && mode.contains(Mode::SGID) {
                return Err(Errno::PERM);
            }
            let making = if kind == FileType::Directory { Making::Directory } else { Making::File };
            let there = match self.standing(&there.path, making) {
                Standing::Unit => lookup::there(self.in_unit(&there.path)?)?,
                Standing::Elsewhere
                | Standing::Ruled(
                    Ruling::Free | Ruling::Held { kind: Kind::Configuration | Kind::Pointer, .. },
                ) => there,
                Standing::Ruled(Ruling::Kept) => return Err(KEPT),
                Standing::Ruled(Ruling::Held { unit, kind }) => {
                    self.hold(&unit, kind, making)?;
                    continue;
                }
            };
            chmodat(CWD, lookup::by_number(&there.open), mode, AtFlags::empty())?;
            return Ok(DONE);
        }
        Err(Errno::BUSY)
    }

    /// The same of what is open: it need not be open for writing.
    fn set_mode_of_open(&mut self, process: Process, number: i32, mode: Mode) -> Result<Act> {
        let there = process.open_file(number)?;
        let kind = file_type(&there.open)?;
        if kind == FileType::RegularFile && mode.contains(Mode::SGID) {
            return Err(Errno::PERM);
        }
        let making = if kind == FileType::Directory { Making::Directory } else { Making::File };
        match self.standing(&there.path, making) {
            Standing::Ruled(Ruling::Kept | Ruling::Held { kind: Kind::Code, .. }) => Err(KEPT),
            Standing::Elsewhere | Standing::Unit | Standing::Ruled(_) => {
                chmodat(CWD, lookup::by_number(&there.open), mode, AtFlags::empty())?;
                Ok(DONE)
            }
        }
    }

    fn truncate(&mut self, process: Process, path: &CStr, length: u64) -> Result<Act> {
        let here = (libc::AT_FDCWD, path);
        match self.open(process, here, libc::O_WRONLY | libc::O_CLOEXEC, Mode::empty())? {
            Act::Opened(open, _) if length > process.largest_file() => {
                drop(open);
                Err(Errno::FBIG)
            }
            Act::Opened(open, _) => {
                rustix::fs::ftruncate(open, length)?;
                Ok(DONE)
            }
            Act::Slow(..) => Err(Errno::AGAIN),
            act @ Act::Answer(_) => Ok(act),
        }
    }
}

/// Opens what has been found, as whoever asked wants it.
fn reopen(process: Process, there: There, flags: i32, mode: Mode) -> Result<Act> {
    let is_exclusive = flags & (libc::O_CREAT | libc::O_EXCL) == libc::O_CREAT | libc::O_EXCL;
    let is_unnamed = flags & libc::O_TMPFILE == libc::O_TMPFILE;
    match file_type(&there.open)? {
        _ if is_exclusive && !is_unnamed => Err(Errno::EXIST),
        FileType::Directory if is_unnamed => {
            let own = OFlags::from_bits_retain(flags.cast_unsigned()) | OFlags::CLOEXEC;
            let _masked = Masked::like(process);
            let open = openat(CWD, lookup::by_number(&there.open), own, mode)?;
            Ok(Act::Opened(open, flags))
        }
        FileType::Directory => Err(Errno::ISDIR),
        FileType::Symlink => Err(Errno::LOOP),
        FileType::Fifo => Ok(Act::Slow(there, flags)),
        FileType::RegularFile => match opened_at_once(&there, flags)? {
            Some(open) => Ok(Act::Opened(open, flags)),
            None => Ok(Act::Slow(there, flags)),
        },
        FileType::Socket => Err(Errno::NXIO),
        _ => Err(Errno::ACCESS),
    }
}

fn opened(there: &There, flags: i32) -> Result<OwnedFd> {
    let own = flags & !(libc::O_CREAT | libc::O_EXCL | libc::O_NOFOLLOW) | libc::O_CLOEXEC | libc::O_NOCTTY;
    openat(CWD, lookup::by_number(&there.open), OFlags::from_bits_retain(own.cast_unsigned()), Mode::empty())
}

/// The same without waiting for whoever holds a lease on it; `None` when that would take time.
fn opened_at_once(there: &There, flags: i32) -> Result<Option<OwnedFd>> {
    match opened(there, flags | libc::O_NONBLOCK) {
        Err(Errno::WOULDBLOCK) => Ok(None),
        Ok(open) if flags & libc::O_NONBLOCK == 0 => {
            let found = rustix::fs::fcntl_getfl(&open)?;
            rustix::fs::fcntl_setfl(&open, found - OFlags::NONBLOCK)?;
            Ok(Some(open))
        }
        open => open.map(Some),
    }
}

/// Opens something in a thread of its own: others go on meanwhile.
fn open_beside(call: Call, listener: &OwnedFd, there: There, flags: i32) {
    let Ok(own) = listener.try_clone() else {
        return call.answer(listener, &Answer::Errno(libc::EMFILE));
    };
    let wait = move || match opened(&there, flags) {
        Ok(open) => call.answer_with(&own, open, flags),
        Err(errno) => call.answer(&own, &Answer::Errno(errno.raw_os_error())),
    };
    if std::thread::Builder::new().stack_size(1 << 16).spawn(wait).is_err() {
        call.answer(listener, &Answer::Errno(libc::EAGAIN));
    }
}

fn file_type(open: &OwnedFd) -> Result<FileType> {
    Ok(FileType::from_raw_mode(rustix::fs::fstat(open)?.st_mode))
}

/// Makes files with the mask of another process, until it is dropped.
struct Masked(Mode);

impl Masked {
    fn like(process: Process) -> Self {
        Masked(rustix::process::umask(Mode::from_raw_mode(process.mask())))
    }
}

impl Drop for Masked {
    fn drop(&mut self) {
        rustix::process::umask(self.0);
    }
}
