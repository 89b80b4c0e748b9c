//! Scripts that are longer than an argument may be: a shell reads them from sealed memory, which nobody can change.

use std::io::{self, Write};
use std::os::fd::OwnedFd;

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};

use crate::bounds::LONGEST;

/// What a shell is given in the place of such a script. Another shell than these knows `source` alone.
const READ: &str = ". /proc/self/fd/3";
const READ_BY_FISH: &str = "source /proc/self/fd/3";

/// The argument that makes a shell run a text: the text itself, if it is short enough.
pub(crate) fn as_argument<'a>(shell: &str, text: &'a str) -> &'a str {
    match (text.len() > LONGEST, shell.ends_with("fish")) {
        (false, _) => text,
        (true, false) => READ,
        (true, true) => READ_BY_FISH,
    }
}

/// The text in memory that stays as it is, if it is too long for an argument.
pub(crate) fn sealed(text: &str) -> io::Result<Option<OwnedFd>> {
    if text.len() <= LONGEST {
        return Ok(None);
    }
    let memory = memfd_create("script", MemfdFlags::ALLOW_SEALING | MemfdFlags::CLOEXEC)?;
    let mut memory = std::fs::File::from(memory);
    memory.write_all(text.as_bytes())?;
    fcntl_add_seals(&memory, SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL)?;
    Ok(Some(memory.into()))
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    #[test]
    fn the_argument_names_the_descriptor_that_the_text_is_at() {
        let place = format!("/proc/self/fd/{}", runward_model::wire::TEXT_FD);
        assert!(READ.ends_with(&place) && READ_BY_FISH.ends_with(&place));
    }

    #[test]
    fn only_what_is_too_long_for_an_argument_is_put_elsewhere_and_stays_as_it_is() {
        let (short, long) = ("x".repeat(LONGEST), "x".repeat(LONGEST + 1));
        assert!(sealed(&short).unwrap().is_none());
        assert_eq!(as_argument("bash", &short), short);
        assert_eq!(as_argument("/usr/bin/fish", &long), READ_BY_FISH);
        let memory = File::from(sealed(&long).unwrap().unwrap());
        assert_eq!(memory.metadata().unwrap().len(), long.len() as u64);
        assert!((&memory).write_all(b"y").is_err() && memory.set_len(0).is_err());
    }
}
