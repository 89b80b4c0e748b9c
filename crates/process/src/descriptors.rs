//! How many descriptors this process may have open.
//!
//! A server holds one for every client and several for every command, so it takes what it may have. Commands get what the
//! server was started with: programs that wait with `select` break where a descriptor has a number above 1023.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// More than this is of no use here.
const ENOUGH: u64 = 65_536;

/// How many descriptors this process may have open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptors {
    /// What it was started with, if that is a limit.
    pub inherited: Option<u64>,
    /// What it has now.
    pub available: u64,
}

/// Raises the soft limit as far as the hard one lets it, and is of use. To be called before anything is started.
pub fn raise() -> Descriptors {
    let before = getrlimit(Resource::Nofile);
    let wanted = before.maximum.unwrap_or(ENOUGH).min(ENOUGH);
    let inherited = before.current;
    if inherited.is_some_and(|inherited| inherited < wanted) {
        let raised = Rlimit { current: Some(wanted), maximum: before.maximum };
        if let Err(error) = setrlimit(Resource::Nofile, raised) {
            tracing::debug!(%error, "the limit on descriptors stays as it is");
        }
    }
    Descriptors { inherited, available: getrlimit(Resource::Nofile).current.unwrap_or(ENOUGH) }
}

impl Descriptors {
    /// How many connections there can be beside so many commands: what these need stays free, or where that is most of
    /// it, half.
    pub fn connections(self, sessions: usize) -> usize {
        const OWN: u64 = 64;
        const OF_ONE_COMMAND: u64 = 8;
        let others = OWN + OF_ONE_COMMAND * sessions as u64;
        let left = self.available.saturating_sub(others).max(self.available / 2);
        usize::try_from(left).unwrap_or(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_what_commands_need_or_half_of_what_there_is() {
        let connections = |available| Descriptors { inherited: None, available }.connections(64);
        assert_eq!(connections(65_536), 65_536 - 64 - 512);
        assert_eq!(connections(1024), 512);
        assert_eq!(connections(256), 128);
    }
}
