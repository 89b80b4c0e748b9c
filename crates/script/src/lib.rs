//! Bash as Runward reads it: a strict reader, a tree, and a writer.
//!
//! Where rules decide, bash never reads a caller's text. [`read`] takes the text apart into a [`Script`], a tree of the
//! part of the language that is known here; everything else is [`Unreadable`]. Whoever judges walks that tree. What runs
//! is [`Script::written`] from the tree anew, in a small and regular subset of the language: every word quoted by the
//! writer, ASCII only, no comments, no here-documents, no backticks. So a caller's text that bash would read in another
//! way than the reader did does something else than its author hoped, but never something that nobody judged.
//!
//! Two properties hold and are tested: reading what was written gives the same tree, and what was written does the same
//! in bash as the text did that it was read from. A command stands on the line that it stood on, so that bash's messages
//! name lines that the caller knows.

mod change;
mod names;
mod plain;
mod read;
mod tree;
mod write;

pub use change::{Change, change};
pub use names::{is_builtin, is_identifier, is_reserved, needs_the_shell};
pub use plain::split_plain;
pub use read::{LONGEST, Unreadable, read};
pub use tree::{
    AndOr, Argument, Arithmetic, Arm, ArmEnd, Assigned, Assignment, Command, Condition, Connector, Direction,
    Expansion, Item, Kind, Line, List, Loop, Operand, Operation, Parameter, Part, Pipe, Pipeline,
    Redirection, Script, Simple, Subscript, Timed, Token, Word,
};
pub use write::Dialect;
