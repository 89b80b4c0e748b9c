//! The terminal that this program runs on.

use std::sync::{Mutex, PoisonError};

use runward_client::Size;
use rustix::fs::{FileType, Stat};
use rustix::stdio::{stderr, stdin, stdout};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};

/// How the terminal was before; set while it is raw.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

/// While this is held, every key goes to the command as it is typed.
pub(crate) struct RawMode;

impl RawMode {
    /// Where standard input is no terminal there is nothing to do.
    pub(crate) fn enter() -> Option<Self> {
        let before = tcgetattr(stdin()).ok()?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(stdin(), OptionalActions::Now, &raw).ok()?;
        *BEFORE.lock().unwrap_or_else(PoisonError::into_inner) = Some(before);
        Some(RawMode)
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        restore();
    }
}

/// Makes the terminal what it was before.
pub(crate) fn restore() {
    if let Some(before) = BEFORE.lock().unwrap_or_else(PoisonError::into_inner).take() {
        let _ = tcsetattr(stdin(), OptionalActions::Now, &before);
    }
}

/// How large it is; as large as terminals have always been, where there is none.
pub(crate) fn size() -> Size {
    let sizes = [tcgetwinsize(stdout()), tcgetwinsize(stdin()), tcgetwinsize(stderr())];
    let known = sizes.into_iter().flatten().find(|size| size.ws_row > 0 && size.ws_col > 0);
    known.map_or(Size::default(), |size| Size { rows: size.ws_row, cols: size.ws_col })
}

/// Whether standard input is `/dev/null`, which needs no forwarding.
pub(crate) fn input_is_null() -> bool {
    let same = |one: &Stat, other: &Stat| one.st_rdev == other.st_rdev;
    let null = rustix::fs::stat("/dev/null");
    let input = rustix::fs::fstat(stdin()).ok();
    let input = input.filter(|input| FileType::from_raw_mode(input.st_mode) == FileType::CharacterDevice);
    input.zip(null.ok()).is_some_and(|(input, null)| same(&input, &null))
}
