//! Remembers.
