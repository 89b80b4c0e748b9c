//! Names of sessions and outputs. What belongs to whoever knows its name has one that nobody can guess.

use runward_files::random;
use runward_model::{OutputId, Principal, SessionId};

/// The largest number that the tools take; every reader of JSON takes it for itself.
const LARGEST: u64 = u64::MAX >> 12;

/// A name for an output. It begins with a letter, so that nothing reads it as a number.
pub(crate) fn output(principal: &Principal) -> OutputId {
    let digits = if principal.is_any_client() { random::name::<16>() } else { random::name::<6>() };
    let [letter] = random::bytes();
    OutputId(format!("{}{digits}", char::from(b'a' + letter % 6)))
}

/// The number of a session, which is this one where numbers may be guessed.
pub(crate) fn session(principal: &Principal, usual: SessionId) -> SessionId {
    if principal.is_any_client() { SessionId(random::number() & LARGEST) } else { usual }
}
