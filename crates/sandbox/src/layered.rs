//! The caches in a sandbox: overlays of the workspace's layer, put where the user's own directories are.

use std::cell::Cell;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use runward_files::FileId;
use runward_model::{Caches, Fence};
use rustix::mount::{MountFlags, UnmountFlags, mount_remount, unmount};

use crate::mounts::{self, Depth};
use crate::private::Private;
use crate::view::View;

/// How long what the kernel knows of a cache is believed. It does not notice what the user adds to one, or renames.
const BELIEVED: Duration = Duration::from_secs(1);

/// What is to be put over caches, and copies of what in them stays as it is, while that still is what the host has there.
pub(crate) struct Found<'a> {
    caches: Vec<(&'a Path, usize)>,
    /// What stays as it is, outer ones first; no copy of what is missing.
    kept: Vec<(&'a Path, Option<OwnedFd>)>,
}

/// The caches of a sandbox.
#[derive(Debug)]
pub(crate) struct Layered {
    places: Vec<PathBuf>,
    views: Vec<View>,
    looked: Cell<Instant>,
}

impl<'a> Found<'a> {
    /// Takes copies.
    pub(crate) fn of(fence: &'a Fence) -> Self {
        let Some(Caches { places, kept, guarded, .. }) = &fence.caches else {
            return Found { caches: Vec::new(), kept: Vec::new() };
        };
        let places = places.iter().map(|place| mounts::path(place)).enumerate();
        let caches = places.map(|(number, place)| (place, number)).collect();
        let copied = |path: &'a Path| (path, mounts::copy(path).ok());
        let guarded =
            guarded.iter().map(|path| copied(mounts::path(path))).filter(|(_, tree)| tree.is_some());
        let mut kept: Vec<_> = kept.iter().map(|path| copied(mounts::path(path))).chain(guarded).collect();
        kept.sort_unstable_by_key(|(path, _)| *path);
        Found { caches, kept }
    }

    /// Puts them in their places. Where one cannot be put, or not without what must stay as it is in it, the user's own is
    /// seen, read-only.
    pub(crate) fn place(self, private: &Private) -> io::Result<Layered> {
        let (mut places, mut views) = (Vec::new(), Vec::new());
        for (place, number) in self.caches {
            let Some(cache) = private.cache(number) else { continue };
            let put = || {
                mounts::make_writable(&cache)?;
                mounts::attach(&cache, place)
            };
            if mount_point(place, &mut views).and_then(|()| put()).is_err() {
                continue;
            }
            let inside = self.kept.iter().filter(|(path, _)| path.starts_with(place));
            if inside.map(|(path, tree)| keep(path, tree.as_ref(), private)).all(|kept| kept.is_ok()) {
                places.push(place.to_owned());
            } else {
                unmount(place, UnmountFlags::DETACH)?;
            }
        }
        views.iter().try_for_each(View::finish)?;
        let layered = Layered { places, views, looked: Cell::new(Instant::now()) };
        layered.look_anew();
        Ok(layered)
    }
}

impl Layered {
    /// Where they are.
    pub(crate) fn places(&self) -> impl Iterator<Item = &Path> {
        self.places.iter().map(PathBuf::as_path)
    }

    /// Sees to it that the next command finds what the user's own caches hold by now.
    pub(crate) fn look_again(&self) {
        if self.looked.get().elapsed() > BELIEVED {
            self.look_anew();
        }
    }

    /// Whether a directory of the host is the one that is seen in here in its place.
    pub(crate) fn stands_for(&self, host: FileId, own: FileId) -> bool {
        self.views.iter().any(|view| view.stands_for(host, own))
    }

    /// A file system that is mounted anew forgets what it knows; it is the only way to tell it to.
    fn look_anew(&self) {
        for place in &self.places {
            // At worst something is seen late.
            let _ = mount_remount(place, MountFlags::NOSUID | MountFlags::NODEV, "");
        }
        self.looked.set(Instant::now());
    }
}

/// Sees to it that there is a directory. By now nothing of the host can be written, so what is made is the sandbox's own.
fn mount_point(place: &Path, views: &mut Vec<View>) -> io::Result<()> {
    match fs::create_dir_all(place) {
        Err(error) if error.kind() == io::ErrorKind::ReadOnlyFilesystem => {
            let around = place.ancestors().skip(1).find(|around| around.is_dir());
            let around = around.ok_or(io::ErrorKind::NotFound)?;
            views.push(View::over(around)?);
            fs::create_dir_all(place)
        }
        made => made,
    }
}

/// Has what is in a cache be what the host has there, read-only, or missing.
fn keep(path: &Path, tree: Option<&OwnedFd>, private: &Private) -> io::Result<()> {
    let Some(tree) = tree else {
        fs::create_dir_all(path)?;
        return private.cover_missing(path);
    };
    mounts::make_read_only(tree, Depth::All)?;
    mounts::attach(tree, path)
}
