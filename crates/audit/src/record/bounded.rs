//! How long a record may become: whoever calls must not fill the disk with what it says.

use std::path::PathBuf;

use runward_model::Answer;
use serde::{Deserialize, Serialize};

use super::{Answered, Asked, Client, Closed, Closing, Command, Entry, Judged, Ruling};
use crate::Hash;

/// How many bytes of a command, of the words of all its commands, and of any sentence are kept.
const KEPT: usize = 16 * 1024;

/// How many bytes all that is said of the commands of a line may take.
const OF_COMMANDS: usize = 64 * 1024;

/// How many bytes of a path, and of what a client calls itself.
const OF_A_PATH: usize = 4096;
const OF_A_NAME: usize = 256;

/// What a record would have held, had it not been too long.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Omitted {
    /// How many bytes the whole command has.
    pub bytes: u64,
    /// The SHA-256 of the whole command, without its secrets.
    pub sha256: Hash,
    /// How many commands of the line are left out, the last ones, with what was said of them.
    pub commands: u64,
    /// How many names of variables are left out.
    pub variables: u64,
}

impl Entry {
    /// The same, no longer than a record may be. To be done after secrets were taken out: half of one is not known again.
    #[must_use]
    pub(crate) fn bounded(self) -> Self {
        match self {
            Entry::Judged(judged) => judged.bounded().into(),
            Entry::Asked(asked) => Entry::Asked(Asked {
                reason: beginning(asked.reason, KEPT),
                justification: asked.justification.map(|text| beginning(text, KEPT)),
                prefix: asked.prefix.map(|words| within(words, &mut { KEPT })),
                ..asked
            }),
            Entry::Answered(Answered { answer: Answer::Deny { note: Some(note) }, call, by, host }) => {
                let answer = Answer::Deny { note: Some(beginning(note, KEPT)) };
                Entry::Answered(Answered { call, by, answer, host })
            }
            Entry::Closed(Closed { call, closing: Closing::Refused { reason } }) => {
                Closed::refused(call, beginning(reason, KEPT)).into()
            }
            other => other,
        }
    }
}

impl Judged {
    fn bounded(mut self) -> Self {
        let before = (self.commands.len(), self.variables.len());
        let (mut words, mut room) = (KEPT, OF_COMMANDS);
        let commands = self.commands.into_iter().map(|command| command.within(&mut words));
        self.commands = commands.take_while(|command| take(&mut room, command.size())).collect();
        self.variables = within(self.variables, &mut { KEPT });
        let commands = (before.0 - self.commands.len()) as u64;
        let variables = (before.1 - self.variables.len()) as u64;
        if self.command.len() > KEPT || words == 0 || commands + variables > 0 {
            let (bytes, sha256) = (self.command.len() as u64, Hash::of_text(&self.command));
            self.omitted = Some(Omitted { bytes, sha256, commands, variables });
        }
        Judged {
            command: beginning(self.command, KEPT),
            program: self.program.map(path_within),
            directory: self.directory.map(path_within),
            client: self.client.map(Client::bounded),
            verdict: self.verdict.map(Ruling::bounded),
            ..self
        }
    }
}

impl Client {
    fn bounded(self) -> Self {
        Client { name: beginning(self.name, OF_A_NAME), version: beginning(self.version, OF_A_NAME) }
    }
}

impl Ruling {
    fn bounded(self) -> Self {
        Ruling { reason: beginning(self.reason, OF_A_PATH), ..self }
    }
}

impl Command {
    fn within(self, words: &mut usize) -> Self {
        Command {
            words: within(self.words, words),
            program: self.program.map(path_within),
            ruling: self.ruling.bounded(),
        }
    }

    /// About how many bytes it takes.
    fn size(&self) -> usize {
        const FRAME: usize = 64;
        let words: usize = self.words.iter().map(|word| word.len() + 3).sum();
        let program = self.program.as_ref().map_or(0, |path| path.as_os_str().len());
        FRAME + words + program + self.ruling.reason.len()
    }
}

/// As many of them as there is room for, the last one perhaps not whole.
fn within(texts: Vec<String>, room: &mut usize) -> Vec<String> {
    let mut kept = Vec::new();
    for text in texts {
        if *room == 0 {
            break;
        }
        let text = beginning(text, *room);
        // An empty word takes room too.
        *room = room.saturating_sub(text.len() + 1);
        kept.push(text);
    }
    kept
}

fn take(room: &mut usize, size: usize) -> bool {
    let left = room.checked_sub(size);
    *room = left.unwrap_or(0);
    left.is_some()
}

fn beginning(mut text: String, most: usize) -> String {
    text.truncate(text.floor_char_boundary(most));
    text.shrink_to_fit();
    text
}

fn path_within(path: PathBuf) -> PathBuf {
    if path.as_os_str().len() <= OF_A_PATH {
        return path;
    }
    beginning(path.to_string_lossy().into_owned(), OF_A_PATH).into()
}
