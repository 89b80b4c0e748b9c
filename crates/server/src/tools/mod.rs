//! The tools: one file each, and the table of them all.
//!
//! A tool is data and two pure functions; it never sees the engine. To add one, write its file and name it in
//! [`TOOLS`].

mod apply_patch;
mod execute_command;
mod execute_process;
mod goes_on;
mod kill_session;
mod output;
mod read_output;
mod receipt;
mod reply;
mod run_network_tool;
mod running;
mod session;
mod shell;
mod workflow;

use std::time::Duration;

use rmcp::model::{JsonObject, ToolAnnotations};
use runward_engine::{Output, Page, Selection};
use runward_model::{OutputId, Refusal, Request, SessionId, Stream, View};

pub(crate) use goes_on::goes_on;
pub(crate) use output::share;
pub(crate) use read_output::page;
pub(crate) use receipt::sandbox_note;
pub(crate) use reply::Reply;
pub(crate) use running::refuse;
pub(crate) use session::{Attention, Look, Opening, Portion, Touch, chunk, list, looked, readiness};

use crate::Role;
use crate::arguments::{Decoder, Shape};
use crate::settings::Settings;
use crate::yaml::Room;

/// Every tool that can be offered, in the order in which they are listed.
pub(crate) static TOOLS: &[Tool] = &[
    execute_command::TOOL,
    execute_process::TOOL,
    shell::TOOL,
    run_network_tool::TOOL,
    apply_patch::TOOL,
    session::exec_command::TOOL,
    session::write_stdin::TOOL,
    session::read_session::TOOL,
    session::list_sessions::TOOL,
    kill_session::TOOL,
    read_output::TOOL,
];

/// A tool: what a model is told of it, and how its foreign words become a request and a view becomes its reply.
#[derive(Debug)]
pub(crate) struct Tool {
    /// What it is called by.
    pub(crate) name: &'static str,
    /// What a person reads.
    pub(crate) title: &'static str,
    /// For a model: what it does and what to expect of it.
    pub(crate) description: &'static str,
    /// For a model: when to use others, each said only where that one is offered too.
    pub(crate) alternatives: &'static [Alternative],
    /// What it may do to the world.
    pub(crate) annotations: fn() -> ToolAnnotations,
    /// What its structured content looks like, where it has some.
    pub(crate) output: Option<fn() -> JsonObject>,
    /// What it does.
    pub(crate) act: Act,
}

/// What a tool does with the engine, and how its arguments say that.
#[derive(Debug)]
pub(crate) enum Act {
    /// It runs a command.
    Run(Run),
    /// It reads what a command printed.
    Read(Decoder<Query>),
    /// It runs a command that may go on after the reply.
    Keep(Decoder<Opening>),
    /// It has to do with a command that goes on.
    Attend(Decoder<Attention>),
    /// It reads again what such a command printed, or what its terminal shows.
    Look(Decoder<Look>),
    /// It lists the commands that go on.
    List(Decoder<()>),
    /// It ends a command that goes on.
    Stop(Decoder<SessionId>),
}

impl Act {
    /// What its caller has to be allowed to.
    pub(crate) fn role(&self) -> Role {
        match self {
            Act::Run(_) | Act::Keep(_) | Act::Attend(_) | Act::Stop(_) => Role::Run,
            Act::Read(_) | Act::Look(_) | Act::List(_) => Role::Read,
        }
    }

    /// What arguments it takes.
    pub(crate) fn shape(&self) -> Shape {
        match self {
            Act::Run(run) => (run.decoder.shape)(),
            Act::Read(decoder) => (decoder.shape)(),
            Act::Keep(decoder) => (decoder.shape)(),
            Act::Attend(decoder) => (decoder.shape)(),
            Act::Look(decoder) => (decoder.shape)(),
            Act::List(decoder) => (decoder.shape)(),
            Act::Stop(decoder) => (decoder.shape)(),
        }
    }
}

/// From foreign words to a request, and from what came of that to a reply.
#[derive(Debug)]
pub(crate) struct Run {
    /// What a caller that asked for progress hears while it runs.
    pub(crate) telling: Telling,
    /// Its arguments.
    pub(crate) decoder: Decoder<Request>,
    /// The end of a session to a reply.
    pub(crate) encode: fn(&Seen<'_>) -> Reply,
    /// The reason why nothing ran to a reply.
    pub(crate) refuse: fn(&Refused<'_>) -> Reply,
}

/// Which lines of which output.
#[derive(Debug)]
pub(crate) struct Query {
    /// Whose output.
    pub(crate) output: OutputId,
    /// Which of the two.
    pub(crate) stream: Stream,
    /// Which lines.
    pub(crate) selection: Selection,
    /// How long to wait for the end of the command first.
    pub(crate) wait: Duration,
}

/// Some lines of an output.
#[derive(Debug)]
pub(crate) struct Found<'a> {
    /// What they are of.
    pub(crate) output: &'a Output,
    /// Which of the two.
    pub(crate) stream: Stream,
    /// The lines.
    pub(crate) page: &'a Page,
}

/// What a caller that asked for progress hears while a command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Telling {
    /// That it is alive.
    Heartbeat,
    /// What it prints.
    Output,
}

/// An ended session and what a reply may say about it.
pub(crate) struct Seen<'a> {
    /// How it ended.
    pub(crate) view: &'a View,
    /// What the operator's settings say of replies.
    pub(crate) limits: &'a Limits,
    /// Programs whose names are like one that was not found.
    pub(crate) near: &'a dyn Fn(&str) -> Vec<String>,
    /// So many bytes of the beginning of an output.
    pub(crate) beginning: &'a dyn Fn(Stream, usize) -> Vec<u8>,
}

/// Work that never ran.
#[derive(Debug)]
pub(crate) struct Refused<'a> {
    /// As the caller gave it.
    pub(crate) command: &'a str,
    /// Why.
    pub(crate) refusal: &'a Refusal,
}

/// Another tool that does some things better.
#[derive(Debug)]
pub(crate) struct Alternative {
    /// Which.
    pub(crate) tool: &'static str,
    /// One sentence that says when.
    pub(crate) when: &'static str,
}

/// What the operator's settings leave open to a caller.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// How long a command may run when the caller does not say.
    pub(crate) default_timeout: Duration,
    /// The longest time that a caller may ask for.
    pub(crate) max_timeout: Duration,
    /// The first of these for `shell`.
    pub(crate) shell_default_timeout: Duration,
    /// The second of these for `shell`.
    pub(crate) shell_max_timeout: Duration,
    /// How many bytes of output a reply shows, in all of its forms together.
    pub(crate) reply_size: usize,
    /// How long a caller that hears of no progress waits before a command goes on without it.
    pub(crate) patience: Duration,
    /// The longest that an empty `write_stdin` waits for news.
    pub(crate) longest_poll: Duration,
    /// The most tokens of output that one reply about a session shows.
    pub(crate) reply_tokens: usize,
    /// Whether there is a tool to read what a reply leaves out.
    pub(crate) offers_read_output: bool,
    /// Whether there is a tool whose commands go on.
    pub(crate) offers_exec_command: bool,
}

/// An output of up to this many bytes stands in a reply twice, for clients that read the texts and for those that read
/// the structured content. Of a longer one the second form shows no more than this.
const SHORT: usize = 16 * 1024;

/// What is said beside the output takes no more than this, most of the time.
const NOTES: usize = 1024;

impl Limits {
    /// How many bytes of output the form of a reply shows that its tool is about.
    pub(crate) fn first_form(&self) -> usize {
        self.for_output().saturating_sub(SHORT).max(self.second_form())
    }

    /// How many bytes the other form shows.
    pub(crate) fn second_form(&self) -> usize {
        self.for_output().min(SHORT)
    }

    /// What is left beside the notes.
    fn for_output(&self) -> usize {
        self.reply_size - (self.reply_size / 16).min(NOTES)
    }

    /// What a reply in YAML shows.
    pub(crate) fn room(&self) -> Room {
        Room {
            budget: self.for_output(),
            reader: self.offers_read_output.then_some("read_output"),
            keeper: self.offers_exec_command.then_some("exec_command"),
        }
    }

    /// What the settings leave open.
    pub(crate) fn of(settings: &Settings) -> Self {
        let is_offered = |name: &str| {
            let is_chosen = settings.tools.is_empty() || settings.tools.iter().any(|chosen| chosen == name);
            is_chosen && TOOLS.iter().any(|tool| tool.name == name)
        };
        Limits {
            default_timeout: settings.default_timeout,
            max_timeout: settings.max_timeout,
            shell_default_timeout: settings.shell_default_timeout,
            shell_max_timeout: settings.shell_max_timeout,
            reply_size: settings.reply_size,
            patience: settings.patience,
            longest_poll: settings.longest_poll,
            reply_tokens: settings.reply_tokens,
            offers_read_output: is_offered("read_output"),
            offers_exec_command: is_offered("exec_command"),
        }
    }
}

#[cfg(test)]
impl Act {
    /// Reads arguments, whatever they mean.
    pub(crate) fn read(
        &self,
        given: crate::arguments::CheckedArguments,
        caller: &runward_model::Caller,
        limits: &Limits,
    ) -> Result<(), crate::arguments::BadArgument> {
        match self {
            Act::Run(run) => (run.decoder.decode)(given, caller, limits).map(drop),
            Act::Read(decoder) => (decoder.decode)(given, caller, limits).map(drop),
            Act::Keep(decoder) => (decoder.decode)(given, caller, limits).map(drop),
            Act::Attend(decoder) => (decoder.decode)(given, caller, limits).map(drop),
            Act::Look(decoder) => (decoder.decode)(given, caller, limits).map(drop),
            Act::List(decoder) => (decoder.decode)(given, caller, limits),
            Act::Stop(decoder) => (decoder.decode)(given, caller, limits).map(drop),
        }
    }
}

#[cfg(test)]
impl Tool {
    /// What it does, for a tool that runs commands.
    pub(crate) fn run(&self) -> &Run {
        let Act::Run(run) = &self.act else { panic!("{} runs nothing", self.name) };
        run
    }
}

/// What the embedded defaults say.
#[cfg(test)]
pub(crate) const USUAL_LIMITS: Limits = Limits {
    default_timeout: Duration::from_secs(30),
    max_timeout: Duration::from_mins(10),
    shell_default_timeout: Duration::from_mins(5),
    shell_max_timeout: Duration::from_mins(30),
    reply_size: 64 * 1024,
    patience: Duration::from_secs(45),
    longest_poll: Duration::from_mins(5),
    reply_tokens: 10_000,
    offers_read_output: true,
    offers_exec_command: true,
};

#[cfg(test)]
mod tests;
