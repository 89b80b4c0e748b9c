//! The judge from outside: what it lets through, what it stops, and what it says.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot set up its world has failed"
)]

mod argv;
mod attacks;
mod blocked;
mod corpus;
mod environment;
mod examples;
mod hostile;
mod layers;
mod oracle;
mod places;
mod reasons;
mod rego;
mod scripts;
mod wrappers;

use std::ffi::OsString;
use std::path::Path;

use runward_model::{Verdict, Work};
use runward_policy::{Allowlist, Policy, SearchPath, read};

/// A policy with this list and the system's usual directories.
fn policy(list: &str) -> Policy {
    Policy::new(
        Allowlist::parse(list),
        SearchPath::new(&OsString::from("/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin")),
    )
}

fn judge(list: &str, line: &str) -> Verdict {
    let reading = read(&Work::Line(line.to_owned())).expect("the line holds a command");
    policy(list).judge(&reading, Path::new("/"))
}
