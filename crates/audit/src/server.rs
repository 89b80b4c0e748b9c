//! Who wrote a record, and whether that process still lives.

use std::fs;

use serde::{Deserialize, Serialize};

/// One server process, told apart from every other that ever had its process id. What the system does not say is absent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Server {
    /// Its process id.
    pub pid: u32,
    /// When the process started, in clock ticks since boot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<u64>,
    /// Which boot of the machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot: Option<String>,
    /// The namespace in which the process id counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
}

impl Server {
    /// This process.
    pub fn this() -> Self {
        let pid = std::process::id();
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok();
        let namespace = fs::read_link("/proc/self/ns/pid").ok();
        Server {
            pid,
            started: running_since(pid),
            boot: boot.map(|text| text.trim().to_owned()),
            namespace: namespace.map(|link| link.to_string_lossy().into_owned()),
        }
    }

    /// Whether it is certain that this server no longer runs, as seen from `observer`, which does.
    ///
    /// A server in another pid namespace of the same boot cannot be seen and is taken to live.
    pub fn is_gone(&self, observer: &Server) -> bool {
        if differ(self.boot.as_ref(), observer.boot.as_ref()) {
            return true;
        }
        if differ(self.namespace.as_ref(), observer.namespace.as_ref()) || observer.started.is_none() {
            return false;
        }
        match running_since(self.pid) {
            None => true,
            now => differ(self.started, now),
        }
    }
}

fn differ<T: PartialEq>(one: Option<T>, other: Option<T>) -> bool {
    matches!((one, other), (Some(one), Some(other)) if one != other)
}

/// The start time of a process that runs; `None` when there is none of that id or it has ended and waits to be reaped.
fn running_since(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name is in parentheses and may itself hold spaces and parentheses.
    let mut fields = stat.rsplit_once(") ")?.1.split(' ');
    let state = fields.next()?;
    // Field 22 of the line; the state is field 3.
    let started = fields.nth(18)?.parse().ok()?;
    (!matches!(state, "Z" | "X" | "x")).then_some(started)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(change: impl FnOnce(&mut Server)) -> Server {
        let mut server = Server::this();
        change(&mut server);
        server
    }

    #[test]
    fn this_process_is_known_and_lives() {
        let this = Server::this();
        assert!(this.started.is_some() && this.boot.is_some() && this.namespace.is_some(), "{this:?}");
        assert!(!this.is_gone(&this));
    }

    #[test]
    fn a_process_id_in_use_by_a_later_process_is_another_server() {
        assert!(changed(|server| server.started = Some(1)).is_gone(&Server::this()));
    }

    #[test]
    fn a_process_id_that_nobody_has_is_gone() {
        assert!(changed(|server| server.pid = u32::MAX).is_gone(&Server::this()));
    }

    #[test]
    fn servers_of_an_earlier_boot_are_gone() {
        assert!(changed(|server| server.boot = Some("earlier".into())).is_gone(&Server::this()));
    }

    #[test]
    fn a_server_that_cannot_be_seen_from_here_is_taken_to_live() {
        let elsewhere = changed(|server| {
            server.namespace = Some("pid:[1]".into());
            server.pid = u32::MAX;
        });
        assert!(!elsewhere.is_gone(&Server::this()));
    }

    #[test]
    fn without_a_process_table_nobody_is_called_gone() {
        let blind = changed(|server| server.started = None);
        assert!(!changed(|server| server.pid = u32::MAX).is_gone(&blind));
    }
}
