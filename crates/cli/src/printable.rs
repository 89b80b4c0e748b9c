//! Text of unknown origin, made fit for a terminal.

pub(crate) use runward_model::printable;
