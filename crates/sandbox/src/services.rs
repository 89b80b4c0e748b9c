//! Services of the host that listen in the file system. Being able to read a socket's directory is enough to reach it.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

/// What listens on the host, in the network of whoever began to watch, wherever it is asked later.
#[derive(Debug)]
pub(crate) struct Services {
    table: Option<File>,
    /// The sockets that were there when it was asked last.
    known: RefCell<BTreeSet<u64>>,
}

impl Services {
    /// Begins in the network namespace that this process is in now.
    pub(crate) fn watch() -> Self {
        // Held open: the table is one of the namespace that it was opened in.
        Services { table: File::open("/proc/net/unix").ok(), known: RefCell::default() }
    }

    /// Has all of them be new again.
    pub(crate) fn forget(&self) {
        self.known.take();
    }

    /// Where sockets are that were not there the last time. One that is bound anew is a new one.
    pub(crate) fn new_places(&self) -> Vec<PathBuf> {
        let sockets = self.table.as_ref().map(whole).map(|table| sockets(&table)).unwrap_or_default();
        let known = self.known.replace(sockets.iter().map(|(number, _)| *number).collect());
        let new = sockets.into_iter().filter(|(number, _)| !known.contains(number));
        let mut places: Vec<PathBuf> = new.map(|(_, place)| place).collect();
        places.sort_unstable();
        places.dedup();
        places
    }
}

/// The table from its beginning.
fn whole(table: &File) -> Vec<u8> {
    let (mut text, mut chunk) = (Vec::new(), [0; 16 * 1024]);
    while let Ok(read @ 1..) = table.read_at(&mut chunk, text.len() as u64) {
        text.extend_from_slice(chunk.get(..read).unwrap_or_default());
    }
    text
}

/// Lines `address: references protocol flags type state number path`; abstract names begin with `@`.
fn sockets(table: &[u8]) -> Vec<(u64, PathBuf)> {
    // Whether one accepts connections stands in the flags; datagram sockets never say so. A name may hold anything but
    // the end of a line, and no field before it holds a slash.
    let socket = |line: &[u8]| {
        let start = line.iter().position(|byte| *byte == b'/')?;
        let (fields, name) = line.split_at_checked(start)?;
        let fields = str::from_utf8(fields.strip_suffix(b" ")?).ok()?;
        let number = fields.rsplit(' ').next()?.parse().ok()?;
        Some((number, PathBuf::from(OsStr::from_bytes(name))))
    };
    table.split(|byte| *byte == b'\n').filter_map(socket).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn sockets_are_read_from_the_kernels_table() {
        let table = b"Num       RefCount Protocol Flags    Type St Inode Path\n\
            0000000000000000: 00000002 00000000 00010000 0001 01 17 /run/a.sock\n\
            0000000000000000: 00000002 00000000 00010000 0001 01 18 @abstract\n\
            0000000000000000: 00000003 00000000 00000000 0001 03 19\n\
            0000000000000000: 00000003 00000000 00000000 0001 03 20 /run/a.sock\n\
            0000000000000000: 00000003 00000000 00000000 0001 03 21 /srv/my files/b.sock\n\
            0000000000000000: 00000003 00000000 00000000 0001 03 22 relative/c.sock\n";
        let (listener, accepted) = ((17, "/run/a.sock".into()), (20, "/run/a.sock".into()));
        assert_eq!(sockets(table), [listener, accepted, (21, "/srv/my files/b.sock".into())]);
    }

    #[test]
    fn what_begins_to_listen_is_new_once_and_again_when_it_is_bound_anew() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("socket");
        let services = Services::watch();
        services.new_places();
        let is_new = || services.new_places().contains(&path);
        assert!(!is_new());
        let first = UnixListener::bind(&path).unwrap();
        assert!(is_new() && !is_new());
        drop(first);
        std::fs::remove_file(&path).unwrap();
        let _second = UnixListener::bind(&path).unwrap();
        assert!(is_new() && !is_new());
    }
}
