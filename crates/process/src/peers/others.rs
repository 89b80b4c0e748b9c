//! Processes that are none of ours and hold sockets.

use std::cmp::Reverse;
use std::collections::{HashSet, VecDeque};

use super::{Socket, descent};

/// So many that called before are looked at first.
const REMEMBERED: usize = 32;

/// Who has called before. They are only looked at sooner than others, so it does no harm if one has ended.
#[derive(Debug, Default)]
pub(super) struct Others(VecDeque<i32>);

impl Others {
    /// Whether a process that is none of `ours` has this socket open.
    pub(super) fn hold(&mut self, socket: &Socket, ours: &[i32]) -> bool {
        let ours: HashSet<i32> = ours.iter().copied().collect();
        let known: Vec<i32> = self.0.iter().copied().collect();
        let holds = |pid: &i32| !ours.contains(pid) && descent::holds(*pid, socket) == Some(true);
        let Some(holder) = known.into_iter().find(holds).or_else(|| newest_first().into_iter().find(holds))
        else {
            return false;
        };
        self.0.retain(|pid| *pid != holder);
        self.0.push_front(holder);
        self.0.truncate(REMEMBERED);
        true
    }
}

/// Whoever calls has often just been started.
fn newest_first() -> Vec<i32> {
    let mut all = descent::processes();
    all.sort_unstable_by_key(|pid| Reverse(*pid));
    all
}
