//! Who is who over HTTP: our own commands, clients that share nothing, tokens and what they may do.

mod clients;
mod commands;
mod doors;
mod tokens;
