//! One command, from the first word to its exit code.

use std::ffi::OsString;
use std::io::{self, Write as _};

use runward_client::{Call, Error, Event, Events, Server, Stdin};
use runward_model::Stream;

use crate::acknowledge::Acknowledging;
use crate::args::{self, Args, Wanted};
use crate::exit::{self, Exit, Failure};
use crate::output::{self, Unprinted};
use crate::terminal::RawMode;
use crate::{follow, help, input, setup, signals};

/// Does what the command line asks; the code to exit with.
pub(crate) fn run(words: impl Iterator<Item = OsString>) -> Result<u8, Failure> {
    match args::parse(words)? {
        Wanted::Help => Ok(say(&help::help())),
        Wanted::Version => Ok(say(&help::version())),
        Wanted::Command(args) if args.check => check(args),
        Wanted::Command(args) => {
            let server = setup::server()?;
            let call = setup::call(args)?;
            let events = server.run(&call)?;
            Following::begin(server, &call, events)?.follow_to_the_end()
        }
    }
}

/// Nobody has to read it, so a closed output is no error.
fn say(text: &str) -> u8 {
    let _ = io::stdout().write_all(text.as_bytes());
    0
}

fn check(args: Args) -> Result<u8, Failure> {
    let server = setup::server()?;
    let checked = server.check(&setup::call(args)?)?;
    let verdict = if checked.allowed { "allowed" } else { "denied" };
    let mut text = format!("{verdict}: {}\n", checked.reason);
    for (name, value) in [("program", checked.path), ("sha256", checked.hash)] {
        text.extend(value.map(|value| format!("{name}: {value}\n")));
    }
    let said = say(&text);
    Ok(if checked.allowed { said } else { Exit::Denied.into() })
}

/// A command that runs, and everything that goes to and fro.
struct Following {
    server: Server,
    session: String,
    events: Events,
    acknowledging: Acknowledging,
    _raw: Option<RawMode>,
}

/// What an event means for what comes next.
enum Next {
    Another,
    End(u8),
}

impl Following {
    /// Waits for the word that it has started, and sets up what goes to it.
    fn begin(server: Server, call: &Call, mut events: Events) -> Result<Self, Failure> {
        let Some(Event::Start { session, .. }) = events.read_next()? else {
            return Err(Error::Protocol("the first event is not the start".into()).into());
        };
        signals::forward(server.control(&session))?;
        let raw = call.tty.and_then(|_| RawMode::enter());
        if call.stdin == Stdin::Stream {
            input::forward(server.control(&session));
        }
        let acknowledging = Acknowledging::new(server.clone(), &session);
        Ok(Following { server, session, events, acknowledging, _raw: raw })
    }

    fn follow_to_the_end(mut self) -> Result<u8, Failure> {
        loop {
            match self.step() {
                Ok(Next::Another) => {}
                Ok(Next::End(code)) => return Ok(code),
                Err(Error::Lost(why)) => {
                    let from = self.events.next_number();
                    self.events = follow::resume(&self.server, &self.session, from, &Error::Lost(why))?;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn step(&mut self) -> Result<Next, Error> {
        let broken = || Error::Lost(io::ErrorKind::UnexpectedEof.into());
        let (arrived, next) = match self.events.read_next()?.ok_or_else(broken)? {
            Event::Output { stream, data } => match output::print(stream, data) {
                Ok(()) => (data.len(), Next::Another),
                Err(why) => return Ok(Next::End(unprinted(&self.server, &self.session, stream, why))),
            },
            Event::Gap { stream, bytes } => {
                eprintln!("run-remote: {bytes} bytes of {} were not kept by the server", stream.name());
                (0, Next::Another)
            }
            Event::Exit(ended) => {
                if let Some(message) = ended.message.as_ref().filter(|_| ended.stopped.is_some()) {
                    eprintln!("run-remote: {message}");
                }
                if let Some(note) = &ended.sandbox {
                    eprintln!("run-remote: {note}");
                }
                (0, Next::End(exit::of_command(&ended)))
            }
            Event::Error(message) => {
                eprintln!("run-remote: {message}");
                (0, Next::End(Exit::Lost.into()))
            }
            Event::Start { .. } | Event::Other => (0, Next::Another),
        };
        let seq = self.events.next_number().saturating_sub(1);
        match next {
            Next::Another => self.acknowledging.arrived(arrived, seq),
            Next::End(_) => self.acknowledging.finish(seq),
        }
        Ok(next)
    }
}

/// Output that cannot be printed ends the command; quietly where somebody has simply read enough.
fn unprinted(server: &Server, session: &str, stream: Stream, why: Unprinted) -> u8 {
    let _ = server.control(session).stop();
    match why {
        Unprinted::Closed => exit::BROKEN_PIPE,
        Unprinted::Failed(errno) => {
            eprintln!("run-remote: cannot write to {}: {errno}; the command was ended", stream.name());
            Exit::Lost.into()
        }
    }
}
