//! Services of the host that listen in the file system. Being able to read a socket's directory is enough to reach it.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// Where somebody listens just now, as far as this network namespace knows.
pub(crate) fn listening() -> Vec<PathBuf> {
    fs::read("/proc/net/unix").map(|table| places(&table)).unwrap_or_default()
}

/// Lines `address: references protocol flags type state inode path`; abstract names begin with `@`.
fn places(table: &[u8]) -> Vec<PathBuf> {
    // Whether one accepts connections stands in the flags; datagram sockets never say so. A name may hold anything but
    // the end of a line, and no field before it holds a slash.
    let path = |line: &[u8]| {
        let start = line.iter().position(|byte| *byte == b'/')?;
        let name = line.get(start..).filter(|_| line.get(start.wrapping_sub(1)) == Some(&b' '))?;
        Some(PathBuf::from(OsStr::from_bytes(name)))
    };
    let mut places: Vec<PathBuf> = table.split(|byte| *byte == b'\n').filter_map(path).collect();
    places.sort_unstable();
    places.dedup();
    places
}

#[cfg(test)]
mod tests {
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
        assert_eq!(places(table), [PathBuf::from("/run/a.sock"), PathBuf::from("/srv/my files/b.sock")]);
    }
}
