//! Signals that come here, on their way to the command.

use std::process;
use std::thread;

use runward_client::Control;
use runward_model::Signal;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGWINCH};
use signal_hook::iterator::Signals;

use crate::exit::Failure;
use crate::terminal;

/// Forwards signals on a thread of its own. The second one that wants an end gives up here.
pub(crate) fn forward(mut control: Control) -> Result<(), Failure> {
    let signals = Signals::new([SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH]);
    let mut signals = signals.map_err(|why| Failure::usage(format!("signals cannot be received: {why}")))?;
    thread::spawn(move || {
        let mut is_second = false;
        for number in signals.forever() {
            if number == SIGWINCH {
                let _ = control.resize(terminal::size());
                continue;
            }
            if is_second {
                give_up(&mut control, number);
            }
            is_second = true;
            let _ = control.signal(Signal(number).to_string().trim_start_matches("SIG"));
        }
    });
    Ok(())
}

/// Ends the command and this program.
fn give_up(control: &mut Control, number: i32) -> ! {
    let _ = control.stop();
    terminal::restore();
    process::exit(128 + number)
}
