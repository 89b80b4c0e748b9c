//! The bearer token, from the environment only: a file or a flag would show it to others.

use std::ffi::OsString;

use runward_process::secret;

use crate::config::{Error, Origin};

const VARIABLE: &str = "RUNWARD_TOKEN";

/// What HTTP clients must show, if `RUNWARD_TOKEN` is set. It is wiped from the environment, so call this once, and
/// before there is another thread.
pub(crate) fn token() -> Result<Option<String>, Error> {
    secret::take(VARIABLE).map(checked).transpose()
}

/// An empty or mistyped token must not quietly become no token. The messages never repeat it.
fn checked(secret: OsString) -> Result<String, Error> {
    let secret = secret.into_string().unwrap_or_else(|_| "\u{fffd}".into());
    if secret.is_empty() {
        return Err(refused("the token is empty; set a long random one, or unset the variable"));
    }
    if !secret.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(refused("the token holds a character that no header can carry; use letters and digits"));
    }
    Ok(secret)
}

fn refused(what: &str) -> Error {
    Error::setting(&Origin::Variable(VARIABLE.into()), what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_that_no_client_could_show_is_refused_without_repeating_it() {
        assert_eq!(checked("s3cret-~".into()).unwrap(), "s3cret-~");
        for bad in ["", "two words", "line\n", "schlüssel"] {
            let message = checked(bad.into()).unwrap_err().to_string();
            assert!(message.starts_with("RUNWARD_TOKEN: the token "), "{message}");
            assert!(bad.is_empty() || !message.contains(bad), "{message}");
        }
    }
}
