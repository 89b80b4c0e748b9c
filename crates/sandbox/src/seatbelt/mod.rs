//! The same fence as Seatbelt text, for macOS.
//!
//! Nothing here looks at the file system or needs a Mac. Of the rules that match, the last one counts; so what is
//! granted comes first, and what is taken back from that comes after it. No path is ever part of the text: rules name
//! parameters, and Seatbelt compares their values without reading them.

mod paths;
mod system;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::path::PathBuf;

use runward_model::{Fence, Network};

use paths::{canonical, leading};

/// The same fence as Seatbelt text, for `/usr/bin/sandbox-exec` on macOS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seatbelt {
    /// The rules.
    pub text: String,
    /// The paths that the rules speak of, by the names that they use.
    pub parameters: Vec<(String, OsString)>,
}

/// How far sockets reach.
#[derive(Clone, Copy, Debug)]
enum Reach {
    Nowhere,
    /// To this port of the host's loopback.
    Outlet(u16),
    Anywhere,
}

/// Where names are looked up; every program that may use the network needs it.
const RESOLVER: &str = r#"(literal "/private/var/run/mDNSResponder")"#;

impl Seatbelt {
    /// Writes down a fence. Its `outlet` is the port of the host's loopback on which its proxy listens; that is all of the
    /// network that there is for a fence with lists of hosts. Everything can be read anyway, so what is shown needs no rule.
    pub fn new(fence: &Fence, outlet: Option<u16>) -> Self {
        let reach = match (fence.network, outlet) {
            (Network::On, _) => Reach::Anywhere,
            (Network::Listed, Some(port)) => Reach::Outlet(port),
            (Network::Listed, None) | (Network::Off, _) => Reach::Nowhere,
        };
        let (roots, own) = (canonical(&fence.writable), canonical(&fence.temporary));
        let (protected, hidden) = (canonical(&fence.protected), canonical(&fence.hidden));
        let areas = [&roots[..], &own[..]].concat();
        let (kept, pinned) = (leading(&protected, &areas), leading(&hidden, &areas));

        let mut seatbelt = Seatbelt { text: system::rules(), parameters: Vec::new() };
        let areas = [seatbelt.name("WRITABLE", roots), seatbelt.name("TEMPORARY", own)].concat();
        seatbelt.rule("allow file-write*", &below(&areas));
        let protected = whole(&seatbelt.name("PROTECTED", protected));
        let hidden = whole(&seatbelt.name("HIDDEN", hidden));
        seatbelt.refuse(&protected, &hidden);
        // A directory that is moved takes everything in it out of its rules' sight, and so does one that is prepared
        // elsewhere and moved to where a protected path would be.
        let kept = seatbelt.name("KEPT", kept);
        seatbelt.rule("deny file-write-create file-write-unlink", &exactly(&kept));
        let pinned = [areas.clone(), seatbelt.name("PINNED", pinned)].concat();
        seatbelt.rule("deny file-write-unlink", &exactly(&pinned));
        seatbelt.connect(reach, &below(&areas), &[protected, hidden].concat());
        seatbelt
    }

    /// What to give `/usr/bin/sandbox-exec` before the command and its arguments.
    pub fn arguments(&self) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = vec!["-p".into(), self.text.clone().into()];
        for (name, path) in &self.parameters {
            let mut definition = OsString::from(format!("{name}="));
            definition.push(path);
            arguments.extend(["-D".into(), definition]);
        }
        arguments.push("--".into());
        arguments
    }

    /// What neither roots nor the readable rest of the world include.
    fn refuse(&mut self, protected: &[String], hidden: &[String]) {
        self.rule("deny file-write*", protected);
        // Even whether there is anything: reading covers metadata.
        self.rule("deny file-read* file-write* process-exec", hidden);
        if !hidden.is_empty() {
            // A clone is a copy that nobody had to read. Older systems lack the word and would refuse the whole text.
            self.text.push_str("(if (defined? 'file-clone)\n");
            self.rule("deny file-clone", hidden);
            self.text.push_str(")\n");
        }
    }

    fn connect(&mut self, reach: Reach, areas: &[String], refused: &[String]) {
        match reach {
            Reach::Nowhere => {}
            Reach::Outlet(port) => {
                self.rule("allow network-outbound", &[format!(r#"(remote ip "localhost:{port}")"#)]);
            }
            Reach::Anywhere => {
                self.text.push_str("(allow network*)\n(allow system-socket)\n");
                // Sockets with a path reach the host's services, and to bind one makes a file.
                self.rule("deny network-bind network-outbound", &[r#"(regex #"^/")"#.into()]);
                self.rule("allow network-bind network-outbound", areas);
                self.rule("deny network-bind network-outbound", refused);
                self.rule("allow network-outbound", &[RESOLVER.into()]);
                self.rule("allow mach-lookup", &system::filters("global-name", &system::NETWORK_SERVICES));
            }
        }
    }

    /// Makes parameters of paths; returns what they are called.
    fn name(&mut self, kind: &str, paths: Vec<PathBuf>) -> Vec<String> {
        let named =
            paths.into_iter().enumerate().map(|(index, path)| (format!("{kind}_{index}"), path.into()));
        let from = self.parameters.len();
        self.parameters.extend(named);
        self.parameters.iter().skip(from).map(|(name, _)| name.clone()).collect()
    }

    /// Adds a rule for what passes any of the filters. Without one it would hold for everything, so there is none.
    fn rule(&mut self, action: &str, filters: &[String]) {
        if !filters.is_empty() {
            self.text.push_str(&system::rule(action, filters));
        }
    }
}

/// A directory with everything below it.
fn below(names: &[String]) -> Vec<String> {
    names.iter().map(|name| format!(r#"(subpath (param "{name}"))"#)).collect()
}

/// A path alone.
fn exactly(names: &[String]) -> Vec<String> {
    names.iter().map(|name| format!(r#"(literal (param "{name}"))"#)).collect()
}

/// A path, be it a directory, a file or nothing yet. Whether `subpath` alone covers the last two is not written
/// down anywhere.
fn whole(names: &[String]) -> Vec<String> {
    exactly(names).into_iter().zip(below(names)).flat_map(|(path, below)| [path, below]).collect()
}
