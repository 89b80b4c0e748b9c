//! Names of sessions and outputs. What belongs to whoever knows its name has one that nobody can guess.

use runward_model::{OutputId, Principal, SessionId};
use runward_process::secret;

/// The largest number that the tools take; every reader of JSON takes it for itself.
const LARGEST: u64 = u64::MAX >> 12;

/// A name for an output. It begins with a letter, so that nothing reads it as a number.
pub(crate) fn output(principal: &Principal) -> OutputId {
    let digits = if principal.is_any_client() { secret::name::<16>() } else { secret::name::<6>() };
    let [letter] = secret::random::<1>();
    OutputId(format!("{}{digits}", char::from(b'a' + letter % 6)))
}

/// The number of a session, which is this one where numbers may be guessed.
pub(crate) fn session(principal: &Principal, usual: SessionId) -> SessionId {
    let random = || u64::from_ne_bytes(secret::random()) & LARGEST;
    if principal.is_any_client() { SessionId(random()) } else { usual }
}
