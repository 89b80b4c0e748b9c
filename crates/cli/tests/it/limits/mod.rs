//! What is too much, over the real program.

mod connections;
mod finite;
mod large;
mod processes;
mod sessions;
mod trail;
mod twice;
