//! What a thread waits for inside a system call: which descriptors it wants to read.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;

/// More descriptors than this are not looked at.
const MOST: usize = 1024;

/// `POLLIN`, which epoll calls `EPOLLIN`.
const READABLE: u16 = 1;

/// The system calls that wait for something to read, by number.
struct Numbers {
    /// Those whose first argument is the descriptor.
    read: &'static [u64],
    poll: &'static [u64],
    select: &'static [u64],
    epoll: &'static [u64],
}

const NUMBERS: Numbers = if cfg!(target_arch = "x86_64") {
    Numbers { read: &[0, 19, 275], poll: &[7, 271], select: &[23, 270], epoll: &[232, 281, 441] }
} else if cfg!(target_arch = "aarch64") {
    Numbers { read: &[63, 65, 76], poll: &[73], select: &[72], epoll: &[22, 441] }
} else {
    Numbers { read: &[], poll: &[], select: &[], epoll: &[] }
};

/// The descriptors that a thread, by its directory under `/proc`, waits to read from; none when it does something else.
pub(super) fn waited_for(thread: &Path) -> Vec<u64> {
    waits(thread).unwrap_or_default()
}

fn waits(thread: &Path) -> Option<Vec<u64>> {
    let call = fs::read_to_string(thread.join("syscall")).ok()?;
    let mut words = call.split_whitespace();
    let number: u64 = words.next()?.parse().ok()?;
    let mut argument = || u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok();
    let (first, second) = (argument()?, argument()?);
    if NUMBERS.read.contains(&number) {
        Some(vec![first])
    } else if NUMBERS.poll.contains(&number) {
        Some(polled(&memory(thread, first, size(second)?.checked_mul(8)?)?))
    } else if NUMBERS.select.contains(&number) {
        Some(selected(&memory(thread, second, size(first)?.div_ceil(64) * 8)?))
    } else if NUMBERS.epoll.contains(&number) {
        let about = fs::read_to_string(thread.join("fdinfo").join(first.to_string())).ok()?;
        Some(registered(&about))
    } else {
        None
    }
}

fn size(count: u64) -> Option<usize> {
    usize::try_from(count).ok().filter(|count| *count <= MOST)
}

fn memory(thread: &Path, at: u64, size: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; size];
    File::open(thread.join("mem")).ok()?.read_exact_at(&mut bytes, at).ok()?;
    Some(bytes)
}

/// Of an array of `struct pollfd`: a descriptor, what is wanted, what there is.
fn polled(array: &[u8]) -> Vec<u64> {
    let (entries, _) = array.as_chunks::<8>();
    let wanted = entries.iter().filter_map(|[a, b, c, d, events @ ..]| {
        let [low, high, ..] = *events;
        let reads = u16::from_ne_bytes([low, high]) & READABLE != 0;
        u64::try_from(i32::from_ne_bytes([*a, *b, *c, *d])).ok().filter(|_| reads)
    });
    wanted.collect()
}

/// Of an `fd_set`: one bit a descriptor, in words of 64.
fn selected(set: &[u8]) -> Vec<u64> {
    let (words, _) = set.as_chunks::<8>();
    let bits = words.iter().zip(0u64..).flat_map(|(word, index)| {
        let word = u64::from_ne_bytes(*word);
        (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| index * 64 + bit)
    });
    bits.collect()
}

/// Of what the kernel tells about an epoll descriptor: a line for each registered one.
fn registered(about: &str) -> Vec<u64> {
    let wanted = about.lines().filter_map(|line| {
        let mut words = line.strip_prefix("tfd:")?.split_whitespace();
        let descriptor = words.next()?.parse().ok()?;
        let events = words.find(|word| *word == "events:").and_then(|_| words.next())?;
        let reads = u64::from_str_radix(events, 16).ok()? & u64::from(READABLE) != 0;
        reads.then_some(descriptor)
    });
    wanted.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_to_be_read_counts() {
        let entry =
            |fd: i32, events: u16| [fd.to_ne_bytes().as_slice(), &events.to_ne_bytes(), &[0, 0]].concat();
        assert_eq!(polled(&[entry(0, 1), entry(4, 4), entry(-1, 1), entry(9, 3)].concat()), [0, 9]);
        assert_eq!(selected(&[1u64 << 5 | 1, 1 << 63].map(u64::to_ne_bytes).concat()), [0, 5, 127]);
        let about = "pos:\t0\nflags:\t02\ntfd:        0 events:       19 data:                0  pos:0 ino:1 sdev:1\n\
            tfd:       12 events:        4 data:                c  pos:0 ino:1 sdev:1\n";
        assert_eq!(registered(about), [0]);
    }
}
