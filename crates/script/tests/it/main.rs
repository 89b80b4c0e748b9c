//! The reader and the writer held against each other, and against the real bash.

#![expect(clippy::unwrap_used, reason = "a test that cannot set up its world has failed")]

mod corpus;
mod kinds;
mod same;
mod written;
