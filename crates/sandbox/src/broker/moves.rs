//! Linking, moving and removing, done for the command.

use std::ffi::CStr;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, RenameFlags, linkat, renameat_with, statat, unlinkat};
use rustix::io::Errno;

use super::acts::{Act, CONTINUE, DONE, KEPT, Result, TRIES};
use super::lookup::{self, Follow, Found, Place, Process};
use super::{Broker, Standing};
use crate::names::{Making, Ruling, completes_a_repository};

impl Broker {
    pub(super) fn link(
        &mut self,
        process: Process,
        (directory, path): (i32, &CStr),
        (new_directory, new_path): (i32, &CStr),
        flags: i32,
    ) -> Result<Act> {
        let follow = if flags & libc::AT_SYMLINK_FOLLOW != 0 { Follow::Yes } else { Follow::No };
        let there = match process.find(directory, path, follow)? {
            Found::There(there) => there,
            Found::Private => return Ok(CONTINUE),
            Found::Missing(_) => return Err(Errno::NOENT),
        };
        let Some(place) = process.place(new_directory, new_path)? else { return Ok(CONTINUE) };
        let (old, new) = (self.standing(&there.path, Making::File), self.standing(&place.path, Making::File));
        let there = match old {
            Standing::Unit => lookup::there(self.in_unit(&there.path)?)?,
            Standing::Ruled(Ruling::Free) => there,
            Standing::Elsewhere if matches!(new, Standing::Elsewhere) => return Ok(CONTINUE),
            Standing::Elsewhere | Standing::Ruled(_) => return Err(Errno::XDEV),
        };
        if matches!(new, Standing::Elsewhere | Standing::Ruled(Ruling::Held { .. })) {
            return Err(Errno::XDEV);
        }
        if let Some(Some(place)) = self.place_for(place, Making::File)? {
            let by_number = lookup::by_number(&there.open);
            linkat(CWD, by_number, &place.parent, &place.name, AtFlags::SYMLINK_FOLLOW)?;
        }
        Ok(DONE)
    }

    pub(super) fn unlink(
        &mut self,
        process: Process,
        (directory, path): (i32, &CStr),
        flags: i32,
    ) -> Result<Act> {
        let removes_directory = flags & libc::AT_REMOVEDIR != 0;
        let flags = if removes_directory { AtFlags::REMOVEDIR } else { AtFlags::empty() };
        let Some(mut place) = process.place(directory, path)? else { return Ok(CONTINUE) };
        let found = statat(&place.parent, &place.name, AtFlags::SYMLINK_NOFOLLOW)?;
        let is_directory = FileType::from_raw_mode(found.st_mode) == FileType::Directory;
        let making = if is_directory { Making::Directory } else { Making::File };
        match self.standing(&place.path, making) {
            Standing::Elsewhere => return Ok(CONTINUE),
            Standing::Unit if self.is_unit(&place.path) => {
                self.discard(&place.path, removes_directory)?;
                return Ok(DONE);
            }
            Standing::Unit => {
                place.parent = self.in_unit(place.path.parent().ok_or(Errno::NOENT)?)?;
            }
            // That something is gone runs nothing.
            Standing::Ruled(Ruling::Free | Ruling::Held { .. }) => {}
            Standing::Ruled(Ruling::Kept) => return Err(KEPT),
        }
        unlinkat(&place.parent, &place.given, flags)?;
        Ok(DONE)
    }

    pub(super) fn rename(
        &mut self,
        process: Process,
        (directory, path): (i32, &CStr),
        (new_directory, new_path): (i32, &CStr),
        flags: i32,
    ) -> Result<Act> {
        let flags = RenameFlags::from_bits_retain(flags.cast_unsigned());
        for _ in 0..TRIES {
            let (Some(mut old), Some(mut new)) =
                (process.place(directory, path)?, process.place(new_directory, new_path)?)
            else {
                return Err(Errno::XDEV);
            };
            let found = statat(&old.parent, &old.name, AtFlags::SYMLINK_NOFOLLOW)?;
            let kind = FileType::from_raw_mode(found.st_mode);
            let making = if kind == FileType::Directory { Making::Directory } else { Making::File };
            let (from, to) = (self.standing(&old.path, making), self.standing(&new.path, making));
            let is_unit = [&from, &to].iter().any(|it| matches!(it, Standing::Unit));
            if flags.contains(RenameFlags::EXCHANGE) && is_unit {
                return Err(Errno::XDEV);
            }
            if kind == FileType::Directory && self.leads_to_kept(&old.path) {
                return Err(KEPT);
            }
            match from {
                Standing::Elsewhere if matches!(to, Standing::Elsewhere) => return Ok(CONTINUE),
                Standing::Unit if self.is_unit(&old.path) => return Err(Errno::XDEV),
                Standing::Unit => old.parent = self.in_unit(old.path.parent().ok_or(Errno::NOENT)?)?,
                Standing::Elsewhere | Standing::Ruled(Ruling::Free) => {}
                Standing::Ruled(Ruling::Kept) => return Err(KEPT),
                Standing::Ruled(Ruling::Held { unit, kind }) if unit != old.path => {
                    self.hold(&unit, kind, Making::Directory)?;
                    continue;
                }
                Standing::Ruled(Ruling::Held { .. }) => return Err(Errno::XDEV),
            }
            match to {
                Standing::Unit if self.is_unit(&new.path) && kind == FileType::RegularFile => {
                    return self.put_in_place(&old, &new.path).map(|()| DONE);
                }
                Standing::Ruled(Ruling::Held { unit, .. })
                    if unit == new.path && kind == FileType::RegularFile =>
                {
                    return self.put_in_place(&old, &new.path).map(|()| DONE);
                }
                Standing::Unit if self.is_unit(&new.path) => return Err(Errno::XDEV),
                Standing::Unit => new.parent = self.in_unit(new.path.parent().ok_or(Errno::NOENT)?)?,
                Standing::Elsewhere => {}
                Standing::Ruled(Ruling::Free) => self.check_move(&old.path, &new, kind, flags)?,
                Standing::Ruled(Ruling::Kept) => return Err(KEPT),
                Standing::Ruled(Ruling::Held { .. }) if kind == FileType::Directory => {
                    return Err(Errno::XDEV);
                }
                Standing::Ruled(Ruling::Held { unit, kind }) => {
                    self.hold(&unit, kind, if unit == new.path { making } else { Making::Directory })?;
                    continue;
                }
            }
            renameat_with(&old.parent, &old.given, &new.parent, &new.given, flags)?;
            if kind == FileType::Directory {
                self.moved(&old.path, &new.path);
            }
            return Ok(DONE);
        }
        Err(Errno::BUSY)
    }

    /// Whether something may be moved to a place where it would be free. A directory must not bring along what would
    /// have been held back had it been made there; whoever is told that this is another file system copies it, file by file.
    fn check_move(&mut self, old: &Path, new: &Place, kind: FileType, flags: RenameFlags) -> Result<()> {
        // Both would be new: only plain files that mean nothing are exchanged.
        if flags.contains(RenameFlags::EXCHANGE) {
            let is_plain =
                |path: &Path| self.root_of(path).is_some_and(|(_, it)| !crate::names::is_telling(it));
            let other = statat(&new.parent, &new.name, AtFlags::SYMLINK_NOFOLLOW)?;
            let files =
                [kind, FileType::from_raw_mode(other.st_mode)].iter().all(|it| *it == FileType::RegularFile);
            if !files || !is_plain(old) || !is_plain(&new.path) {
                return Err(Errno::XDEV);
            }
        }
        if completes_a_repository(&new.name) {
            self.check_completion(&new.path)?;
        }
        let becomes_code = self.root_of(&new.path).is_some_and(|(root, relative)| {
            self.roots.get(root).is_some_and(|root| crate::names::becomes_code(&root.path, relative))
        });
        // What lies in a repository's own directory was looked at under the same rules.
        let depth = |path: &Path| path.iter().filter(|part| *part == ".git").count();
        let stays_git = [old, &new.path].iter().all(|path| path.ends_with(".git") && depth(path) == 1);
        if kind == FileType::Directory && becomes_code && !stays_git {
            return Err(Errno::XDEV);
        }
        Ok(())
    }
}
