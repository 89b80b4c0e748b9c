//! `runward approvals`: what servers on this machine ask, and the answers.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::Path;

use anyhow::Context as _;
use runward_model::{Answer, QuestionId};
use runward_server::approvals::client::{self, Asking, Taken};
use runward_server::approvals::told;
use serde_json::json;

use crate::args::{Approvals, Common};
use crate::config::Config;
use crate::exit::Exit;
use crate::printable::printable;
use crate::wiring;

/// Asks every server of this user.
pub(crate) fn run(action: Approvals, common: &Common) -> anyhow::Result<Exit> {
    let config = Config::load(common.config.as_deref(), &common.flags())?;
    crate::log::start(&config.log)?;
    let directory = wiring::approvals_directory(&config);
    match action {
        Approvals::List(args) => list(&directory, args.json),
        Approvals::Allow(args) => answer(&directory, args.id.clone(), &args.answer(), args.json),
        Approvals::Deny(args) => answer(&directory, args.id, &Answer::Deny { note: args.note }, args.json),
    }
}

fn list(directory: &Path, as_json: bool) -> anyhow::Result<Exit> {
    let asked = client::list(directory).with_context(|| unusable(directory))?;
    if asked.is_empty() {
        eprintln!("runward: nothing waits for an answer");
    }
    let mut text = String::new();
    for asking in &asked {
        if as_json {
            let _ = writeln!(text, "{}", serde_json::to_string(asking)?);
        } else {
            tell(&mut text, asking);
        }
    }
    io::stdout().write_all(text.as_bytes())?;
    Ok(Exit::Success)
}

fn tell(text: &mut String, asking: &Asking) {
    let (question, waiting) = (&asking.open.question, asking.open.waiting_seconds);
    let gap = if text.is_empty() { "" } else { "\n" };
    let id = printable(&question.id.0);
    let _ = writeln!(text, "{gap}{id}  (server {}, waiting for {waiting} s)", asking.server);
    text.push_str(&told(question));
    let always = if question.prefix.is_some() { " [--session | --always]" } else { " [--session]" };
    let _ =
        writeln!(text, "answer with: runward approvals allow {id}{always}, or runward approvals deny {id}");
}

fn answer(directory: &Path, id: String, answer: &Answer, as_json: bool) -> anyhow::Result<Exit> {
    let id = QuestionId(id);
    let taken = client::answer(directory, &id, answer).with_context(|| unusable(directory))?;
    let why = match &taken {
        Taken::Yes => None,
        Taken::Unknown => Some("no server asks this, or no longer; see runward approvals list".to_owned()),
        Taken::No(why) => Some(why.clone()),
    };
    if as_json {
        let told = json!({ "id": id, "answer": answer.name(), "taken": why.is_none(), "why": why });
        writeln!(io::stdout(), "{told}")?;
    } else if why.is_none() {
        writeln!(io::stdout(), "{}: {}", printable(&id.0), answer.name().replace('_', " "))?;
    }
    if let Some(why) = &why {
        eprintln!("runward: {}: {}", printable(&id.0), printable(why));
    }
    Ok(if why.is_none() { Exit::Success } else { Exit::No })
}

fn unusable(directory: &Path) -> String {
    format!("cannot ask the servers in {}", printable(&directory.display().to_string()))
}
