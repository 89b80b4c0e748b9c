//! `runward check`: what would be decided, and why; nothing is executed.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use runward_model::{Argv, Decision, Judged, Refusal, Verdict, Work};
use runward_policy::{Definition, Outcome, Trace};

use crate::args::{Check, Common};
use crate::config::Config;
use crate::exit::Exit;
use crate::printable::printable;
use crate::wiring;

/// Prints the verdict; the exit code says it too.
pub(crate) fn run(args: Check, common: &Common) -> anyhow::Result<Exit> {
    let config = Config::load(common.config.as_deref(), &common.flags())?;
    crate::log::start(&config.log)?;
    let engine = wiring::engine(&config);
    let (verdict, traces) = engine
        .explain(&work(args.command), args.cwd.as_deref())
        .unwrap_or_else(|refusal| (as_verdict(refusal), Vec::new()));
    let text = if args.json { as_json(&verdict, &traces)? } else { told(&verdict) + &told_how(&traces) };
    io::stdout().write_all(text.as_bytes())?;
    Ok(if verdict.decision == Decision::Allow { Exit::Success } else { Exit::No })
}

/// One argument is a command line; several are a program and its arguments.
fn work(mut command: Vec<String>) -> Work {
    let file = command.remove(0);
    if command.is_empty() { Work::Line(file) } else { Work::Argv(Argv { file, args: command }) }
}

/// A refusal for whatever reason is a denial to whoever asks.
fn as_verdict(refusal: Refusal) -> Verdict {
    match refusal {
        Refusal::Denied(verdict) => verdict,
        other => Verdict { reason: other.to_string(), ..Verdict::default() },
    }
}

fn told(verdict: &Verdict) -> String {
    let mut text = format!("{}: {}\n", name(verdict.decision), printable(&verdict.reason));
    if let Some(rule) = &verdict.rule {
        let _ = writeln!(text, "rule: {}", printable(rule));
    }
    for command in &verdict.commands {
        tell_command(&mut text, command);
    }
    if let Some(suggest) = &verdict.suggest {
        tell_suggestion(&mut text, suggest);
    }
    text
}

/// The verdict, and how rules in Rego came to it where there are any.
fn as_json(verdict: &Verdict, traces: &[Trace]) -> serde_json::Result<String> {
    let mut value = serde_json::to_value(verdict)?;
    if let Some(object) = value.as_object_mut().filter(|_| !traces.is_empty()) {
        object.insert("trace".to_owned(), serde_json::to_value(traces)?);
    }
    Ok(serde_json::to_string_pretty(&value)? + "\n")
}

fn told_how(traces: &[Trace]) -> String {
    let mut text = String::new();
    for Trace { input, definitions } in traces {
        let _ = writeln!(text, "\n  trace    input: {}", printable(&input.to_string()));
        for definition in definitions {
            tell_definition(&mut text, definition);
        }
    }
    text
}

fn tell_definition(text: &mut String, definition: &Definition) {
    let Definition { file, line, text: rule, outcome } = definition;
    let outcome = match outcome {
        Outcome::Held => "holds".to_owned(),
        Outcome::Default => "holds unless another does".to_owned(),
        Outcome::Gave { value } => format!("is {value}, which is not true"),
        Outcome::Stopped { at, condition } => format!("does not hold: line {at}: {condition}"),
        Outcome::Failed { error } => format!("failed: {error}"),
    };
    let _ = writeln!(text, "           {}:{line}: {}", printable(file), printable(rule));
    let _ = writeln!(text, "               {}", printable(&outcome));
}

fn tell_suggestion(text: &mut String, suggest: &str) {
    text.push_str("\nThe narrowest rule that would allow it, for the settings file:\n\n");
    for line in suggest.lines() {
        let _ = writeln!(text, "{}{}", if line.is_empty() { "" } else { "    " }, printable(line));
    }
}

fn tell_command(text: &mut String, command: &Judged) {
    let words: Vec<_> = command.words.iter().map(|word| shown(word)).collect();
    let _ = writeln!(text, "\n  {:<8} {}", name(command.decision), words.join(" "));
    if let Some(program) = &command.program {
        let _ = writeln!(text, "           program: {}", printable(&program.display().to_string()));
    }
    let _ = writeln!(text, "           reason: {}", printable(&command.reason));
    if let Some(rule) = &command.rule {
        let _ = writeln!(text, "           rule: {}", printable(rule));
    }
    if let Some(profile) = command.profile {
        let _ =
            writeln!(text, "           sandbox: {profile} for the whole line, if it is not narrower anyway");
    }
}

const fn name(decision: Decision) -> &'static str {
    match decision {
        Decision::Allow => "allowed",
        Decision::Ask => "needs approval",
        Decision::Deny => "denied",
    }
}

/// A word so that its ends can be seen.
fn shown(word: &str) -> String {
    let plain = !word.is_empty() && !word.contains(|c: char| c.is_whitespace() || c.is_control());
    if plain { word.to_owned() } else { format!("{word:?}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_argument_is_a_line_and_several_are_an_argv() {
        assert_eq!(work(vec!["ls | cat".into()]), Work::Line("ls | cat".into()));
        let argv = Argv { file: "ls".into(), args: vec!["|".into(), "cat".into()] };
        assert_eq!(work(vec!["ls".into(), "|".into(), "cat".into()]), Work::Argv(argv));
    }

    #[test]
    fn nothing_in_a_command_steers_the_terminal() {
        let hostile = Judged {
            words: vec!["ls\u{1b}[2J".into(), String::new()],
            program: Some("/bin/\u{7}".into()),
            decision: Decision::Deny,
            reason: "no\rallowed".into(),
            rule: None,
            profile: None,
        };
        let verdict = Verdict { reason: "a\u{1b}b".into(), commands: vec![hostile], ..Verdict::default() };
        let text = told(&verdict);
        assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
        assert!(text.contains(r#""ls\u{1b}[2J" """#), "{text}");
    }
}
