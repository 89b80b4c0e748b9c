//! Names and numbers from the system's generator, which nobody can guess.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Read as _;

use rustix::rand::{GetRandomFlags, getrandom};

/// Bytes of the system's generator. Without one nothing can be kept secret, so the process ends.
pub fn bytes<const COUNT: usize>() -> [u8; COUNT] {
    let mut bytes = [0; COUNT];
    let mut filled = 0;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match getrandom(&mut *rest, GetRandomFlags::empty()) {
            Ok(count) => filled += count,
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => {
                if File::open("/dev/urandom").and_then(|mut file| file.read_exact(rest)).is_err() {
                    eprintln!("runward: this system has no random numbers: {error}");
                    std::process::abort();
                }
                break;
            }
        }
    }
    bytes
}

/// Any number.
pub fn number() -> u64 {
    u64::from_ne_bytes(bytes())
}

/// So many random bytes as hexadecimal digits: a name that nobody can guess.
pub fn name<const COUNT: usize>() -> String {
    let mut name = String::with_capacity(2 * COUNT);
    for byte in bytes::<COUNT>() {
        let _ = write!(name, "{byte:02x}");
    }
    name
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_name_has_two_digits_for_each_byte_and_comes_once() {
        let names: HashSet<String> = (0..1000).map(|_| name::<8>()).collect();
        assert_eq!(names.len(), 1000);
        assert!(names.iter().all(|name| name.len() == 16 && name.bytes().all(|b| b.is_ascii_hexdigit())));
        assert_eq!(name::<0>(), "");
    }
}
