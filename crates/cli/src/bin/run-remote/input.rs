//! What is typed or piped in here, on its way to the command.

use std::thread;

use runward_client::{Control, Error};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::stdio::stdin;

/// What is sent at once.
const BLOCK: usize = 128 * 1024;

/// Forwards standard input on a thread of its own, until its end or until nobody wants it.
pub(crate) fn forward(mut control: Control) {
    thread::spawn(move || {
        let (mut block, mut sent) = (vec![0; BLOCK], 0);
        loop {
            let bytes = match rustix::io::read(stdin(), block.as_mut_slice()) {
                Err(Errno::INTR) => continue,
                Err(Errno::AGAIN) => {
                    let _ = poll(&mut [PollFd::new(&stdin(), PollFlags::IN)], None);
                    continue;
                }
                Ok(count) => block.get(..count).unwrap_or_default(),
                Err(_) => &[],
            };
            if bytes.is_empty() {
                let _ = control.end_input(sent);
                return;
            }
            if !delivered(&mut control, sent, bytes) {
                return;
            }
            sent += bytes.len() as u64;
        }
    });
}

/// Whether the command took it. A lost connection is tried again for as long as the command may be resumed.
fn delivered(control: &mut Control, at: u64, bytes: &[u8]) -> bool {
    for pause in crate::follow::pauses() {
        match control.write(at, bytes) {
            Ok(()) => return true,
            // The command wants no more, or is gone.
            Err(Error::Rejected { .. } | Error::Protocol(_)) => return false,
            Err(Error::Lost(_) | Error::Unreachable { .. }) => thread::sleep(pause),
        }
    }
    false
}
