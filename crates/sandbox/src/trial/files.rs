//! Acts against files.

use std::ffi::CString;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, chown, symlink};
use std::path::Path;
use std::time::SystemTime;

use runward_model::Promise;
use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};

use super::{Entry, Stage, apart, done};

/// Tells a trial to write one file and nothing else.
pub(super) const ONE_WRITE: &str = "--write";

pub(super) const ACTS: &[Entry] = &[
    ("create outside", Promise::Writes, |stage| fs::write(stage.outside("new"), "x")),
    ("overwrite outside", Promise::Writes, |stage| touch(&stage.outside("victim"))),
    ("truncate by path", Promise::Writes, truncate),
    ("truncate on open", Promise::Writes, |stage| File::create(stage.outside("other")).map(drop)),
    ("rename outside", Promise::Writes, rename_outside),
    ("move out", Promise::Writes, move_out),
    ("move in", Promise::Writes, |stage| fs::rename(stage.outside("other"), stage.work("taken"))),
    ("write through a hard link", Promise::Writes, hard_link),
    ("write through a symbolic link", Promise::Writes, symbolic_link),
    ("write through ..", Promise::Writes, |stage| fs::write(stage.work("../outside/dotted"), "x")),
    ("remove outside", Promise::Writes, |stage| fs::remove_file(stage.outside("other"))),
    ("make a directory outside", Promise::Writes, |stage| fs::create_dir(stage.outside("made"))),
    ("make a fifo outside", Promise::Writes, make_fifo),
    ("reopen a file for writing", Promise::Writes, reopen),
    ("write through another root", Promise::Writes, other_root),
    ("write from a program in memory", Promise::Writes, from_memory),
    ("write with another descriptor left open", Promise::Writes, left_open),
    ("write to the user's own cache", Promise::Writes, |stage| {
        in_cache(stage, || fs::write(stage.cache("planted"), "x"))
    }),
    ("remove from the user's own cache", Promise::Writes, |stage| {
        in_cache(stage, || fs::remove_file(stage.cache("victim")))
    }),
    ("replace the user's own cache", Promise::Writes, |stage| {
        fs::rename(stage.cache(""), stage.base.join("elsewhere"))?;
        fs::rename(stage.base.join("elsewhere"), stage.cache(""))
    }),
    ("write out of a cache by a link", Promise::Writes, |stage| {
        let _ = symlink(stage.base.join("outside"), stage.cache("away"));
        let written = fs::write(stage.cache("away/planted"), "x");
        let _ = fs::remove_file(stage.cache("away"));
        written
    }),
    ("put a program where one is found by name", Promise::Writes, |stage| {
        fs::create_dir_all(stage.cache("bin"))?;
        fs::write(stage.cache("bin/planted"), "x")
    }),
    ("write where layers of caches are kept", Promise::Writes, |stage| {
        fs::create_dir_all(stage.layers())?;
        fs::write(stage.layers().join("planted"), "x")
    }),
    ("make a device", Promise::Writes, make_device),
    ("read a disk", Promise::Hidden, read_disk),
    ("use a device file in the workspace", Promise::Metadata, |stage| use_device(&stage.work("device"))),
    ("use a device file outside", Promise::Metadata, |stage| use_device(&stage.outside("device"))),
    ("read what only root can", Promise::Hidden, |_| read(Path::new("/etc/shadow"))),
    ("write own memory by file", Promise::Writes, own_memory),
    ("make a program run as its owner", Promise::Metadata, set_user_id),
    ("open a program that runs as its owner", Promise::Metadata, |stage| create_with_id(stage, 0o4000)),
    ("open a program that runs as its group", Promise::Metadata, |stage| create_with_id(stage, 0o2000)),
    ("change a mode", Promise::Metadata, |stage| {
        fs::set_permissions(stage.outside("victim"), Permissions::from_mode(0o600))
    }),
    ("change times", Promise::Metadata, |stage| {
        OpenOptions::new().read(true).open(stage.outside("victim"))?.set_modified(SystemTime::UNIX_EPOCH)
    }),
    ("change an attribute", Promise::Metadata, set_attribute),
    ("change an owner", Promise::Metadata, change_owner),
    ("write a hook", Promise::Protected, |stage| fs::write(stage.work(".git/hooks/pre-commit"), "x")),
    ("write git's settings", Promise::Protected, |stage| touch(&stage.work(".git/config"))),
    ("replace git's settings", Promise::Protected, replace_settings),
    ("point git elsewhere", Promise::Protected, |stage| fs::write(stage.work(".git/commondir"), "../evil")),
    ("make settings for one tree", Promise::Protected, |stage| {
        fs::write(stage.work(".git/config.worktree"), "x")
    }),
    ("write a submodule's hook", Promise::Protected, |stage| {
        fs::create_dir_all(stage.work(".git/modules/a/b/hooks"))?;
        fs::write(stage.work(".git/modules/a/b/hooks/post-checkout"), "x")
    }),
    ("write a nested repository's hook", Promise::Protected, |stage| {
        fs::create_dir_all(stage.work("sub/.git/hooks"))?;
        fs::write(stage.work("sub/.git/hooks/post-checkout"), "x")
    }),
    ("point a directory to a repository", Promise::Protected, |stage| {
        fs::create_dir_all(stage.work("tree"))?;
        fs::write(stage.work("tree/.git"), "gitdir: ../evil")
    }),
    ("make a repository with a hook", Promise::Protected, bare_repository),
    ("link git's settings", Promise::Protected, |stage| {
        fs::hard_link(stage.work(".git/config"), stage.work("alias"))?;
        touch(&stage.work("alias"))
    }),
    ("move hooks into a repository", Promise::Protected, |stage| {
        fs::create_dir_all(stage.work("other/hooks"))?;
        fs::write(stage.work("other/hooks/post-checkout"), "x")?;
        fs::create_dir_all(stage.work("third/.git"))?;
        fs::rename(stage.work("other/hooks"), stage.work("third/.git/hooks"))
    }),
    ("exchange git's settings", Promise::Protected, |stage| {
        fs::write(stage.work("swap"), "x")?;
        let flags = rustix::fs::RenameFlags::EXCHANGE;
        Ok(rustix::fs::renameat_with(CWD, stage.work("swap"), CWD, stage.work(".git/config"), flags)?)
    }),
    ("make a repository of another directory", Promise::Protected, move_git),
    ("make a missing directory", Promise::Protected, |stage| {
        fs::create_dir(stage.work(".vscode"))?;
        fs::write(stage.work(".vscode/tasks.json"), "x")
    }),
    ("make a missing file", Promise::Protected, |stage| fs::write(stage.work(".mcp.json"), "x")),
    ("make a missing file further down", Promise::Protected, |stage| {
        fs::create_dir_all(stage.work("deep/down"))?;
        fs::write(stage.work("deep/down/.mcp.json"), "x")
    }),
    ("link what is missing to something else", Promise::Protected, |stage| {
        symlink("x", stage.work(".claude"))
    }),
    ("read what is hidden", Promise::Hidden, |stage| read(&stage.base.join("hidden/key"))),
    ("list what is hidden", Promise::Hidden, |stage| {
        let mut entries = fs::read_dir(stage.base.join("hidden"))?;
        entries.next().map_or(Err(io::ErrorKind::NotFound.into()), |entry| entry.map(drop))
    }),
    ("read what is hidden through a link", Promise::Hidden, |stage| {
        let _ = symlink(stage.base.join("hidden"), stage.work("peek"));
        read(&stage.work("peek/key"))
    }),
    ("see another's temporary files", Promise::Temporary, |_| read(Path::new("/tmp/runward-trial-mark"))),
];

/// What is done to a cache may succeed. It must not be done to the user's own.
fn in_cache(stage: &Stage, act: impl Fn() -> io::Result<()>) -> io::Result<()> {
    act()?;
    let is_own = fs::metadata(stage.cache(""))?.dev() == fs::metadata(&stage.base)?.dev();
    if is_own { Ok(()) } else { Err(io::Error::other(super::LAYERED)) }
}

fn touch(path: &Path) -> io::Result<()> {
    OpenOptions::new().append(true).open(path)?.write_all(b"x")
}

fn read(path: &Path) -> io::Result<()> {
    File::open(path)?.read_to_end(&mut Vec::new()).map(drop)
}

fn text(path: &Path) -> io::Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(io::Error::other)
}

fn truncate(stage: &Stage) -> io::Result<()> {
    let path = text(&stage.outside("other"))?;
    // SAFETY: a live string.
    done(unsafe { libc::truncate(path.as_ptr(), 0) }.into())
}

fn rename_outside(stage: &Stage) -> io::Result<()> {
    fs::rename(stage.outside("other"), stage.outside("renamed"))?;
    fs::rename(stage.outside("renamed"), stage.outside("other"))
}

fn move_out(stage: &Stage) -> io::Result<()> {
    fs::write(stage.work("mine"), "x")?;
    fs::rename(stage.work("mine"), stage.outside("moved"))
}

fn hard_link(stage: &Stage) -> io::Result<()> {
    fs::hard_link(stage.outside("victim"), stage.work("linked"))?;
    touch(&stage.work("linked"))
}

fn symbolic_link(stage: &Stage) -> io::Result<()> {
    let _ = symlink(stage.base.join("outside"), stage.work("away"));
    fs::write(stage.work("away/new"), "x")
}

fn make_fifo(stage: &Stage) -> io::Result<()> {
    Ok(mknodat(CWD, stage.outside("fifo"), FileType::Fifo, Mode::RUSR, 0)?)
}

fn reopen(stage: &Stage) -> io::Result<()> {
    let file = File::open(stage.outside("victim"))?;
    touch(Path::new(&format!("/proc/self/fd/{}", file.as_raw_fd())))
}

fn other_root(stage: &Stage) -> io::Result<()> {
    let below = stage.outside("rooted");
    fs::write(Path::new("/proc/1/root").join(below.strip_prefix("/").unwrap_or(&below)), "x")
}

/// A program in memory is a program like any other.
fn from_memory(stage: &Stage) -> io::Result<()> {
    let path = text(&stage.outside("from-memory"))?;
    let program = fs::read("/proc/self/exe")?;
    let memory = rustix::fs::memfd_create("trial", rustix::fs::MemfdFlags::empty())?;
    File::from(memory.try_clone()?).write_all(&program)?;
    apart(|| {
        let name = CString::new(super::NAME).map_err(io::Error::other)?;
        let verb = CString::new(ONE_WRITE).map_err(io::Error::other)?;
        let arguments = [name.as_ptr(), verb.as_ptr(), path.as_ptr(), std::ptr::null()];
        let none = [std::ptr::null()];
        // SAFETY: lists of live strings that end with a null.
        unsafe { libc::fexecve(memory.as_raw_fd(), arguments.as_ptr(), none.as_ptr()) };
        Err(io::Error::last_os_error())
    })
}

/// Nothing but the three usual descriptors was handed down.
fn left_open(_: &Stage) -> io::Result<()> {
    for fd in 3..256 {
        // SAFETY: asks about a number.
        if unsafe { libc::fcntl(fd, libc::F_GETFD) } >= 0 {
            return Ok(());
        }
    }
    Err(io::ErrorKind::NotFound.into())
}

fn make_device(stage: &Stage) -> io::Result<()> {
    mknodat(CWD, stage.work("disk"), FileType::BlockDevice, Mode::RUSR, makedev(7, 0))?;
    fs::remove_file(stage.work("disk"))
}

fn read_disk(_: &Stage) -> io::Result<()> {
    let disk = fs::read_dir("/sys/class/block")?.flatten().next().ok_or(io::ErrorKind::NotFound)?;
    File::open(Path::new("/dev").join(disk.file_name())).map(drop)
}

fn own_memory(_: &Stage) -> io::Result<()> {
    OpenOptions::new().read(true).write(true).open("/proc/self/mem").map(drop)
}

fn set_user_id(stage: &Stage) -> io::Result<()> {
    fs::write(stage.work("program"), "x")?;
    fs::set_permissions(stage.work("program"), Permissions::from_mode(0o4755))
}

/// One that is always full, put there by root.
fn use_device(path: &Path) -> io::Result<()> {
    File::open(path)?.read_exact(&mut [0])
}

fn create_with_id(stage: &Stage, id: u32) -> io::Result<()> {
    let path = stage.work("another");
    let _ = fs::remove_file(&path);
    let file = OpenOptions::new().write(true).create_new(true).mode(0o755 | id).open(path)?;
    if file.metadata()?.mode() & id == 0 { Err(io::ErrorKind::PermissionDenied.into()) } else { Ok(()) }
}

fn set_attribute(stage: &Stage) -> io::Result<()> {
    let path = text(&stage.outside("victim"))?;
    // SAFETY: live strings, and one byte of a value.
    done(unsafe { libc::setxattr(path.as_ptr(), c"user.trial".as_ptr(), c"x".as_ptr().cast(), 1, 0) }.into())
}

fn change_owner(stage: &Stage) -> io::Result<()> {
    let own = fs::metadata(stage.outside("victim"))?;
    chown(stage.outside("victim"), Some(own.uid()), Some(own.gid()))
}

fn replace_settings(stage: &Stage) -> io::Result<()> {
    fs::write(stage.work("config"), "x")?;
    fs::rename(stage.work("config"), stage.work(".git/config"))
}

/// All that makes a directory a repository, the hook first.
fn bare_repository(stage: &Stage) -> io::Result<()> {
    let place = stage.work("bare");
    fs::create_dir_all(place.join("hooks"))?;
    fs::write(place.join("hooks/post-checkout"), "x")?;
    fs::write(place.join("HEAD"), "ref: refs/heads/main\n")?;
    fs::create_dir(place.join("objects"))?;
    fs::create_dir(place.join("refs"))
}

fn move_git(stage: &Stage) -> io::Result<()> {
    fs::create_dir_all(stage.work("fourth/hooks"))?;
    fs::write(stage.work("fourth/hooks/post-checkout"), "x")?;
    fs::create_dir_all(stage.work("fifth"))?;
    fs::rename(stage.work("fourth"), stage.work("fifth/.git"))
}
