//! What a person is shown.

use runward_audit::redact::looks_secret;
use runward_model::{Question, QuestionId, Refusal, Ruled, Stdio};

use crate::Case;

/// Longer commands are not asked about: nobody would read them to their end.
const LONGEST: usize = 16 * 1024;

/// What of an input is shown.
const INPUT_SHOWN: usize = 2 * 1024;

/// Everything that a person needs to know of a case. Fails when that is more than a person can look at.
pub(crate) fn question(
    case: &Case<'_>,
    reason: &str,
    prefix: Option<Vec<String>>,
) -> Result<Question, Refusal> {
    let request = case.request;
    let command = request.work.to_string();
    let given: usize = request.env.iter().map(|(name, value)| name.len() + value.len()).sum();
    let length = command.len() + case.argv.iter().map(String::len).sum::<usize>() + given;
    if length > 2 * LONGEST {
        let why = "it is too long to be shown to a person, so it was not run; put it into a file".to_owned();
        return Err(Refusal::NotApproved { verdict: case.said(reason.to_owned()).into(), why });
    }
    let caller = &request.caller;
    Ok(Question {
        id: fresh_id(),
        door: caller.door.0.to_string(),
        principal: caller.principal.name().to_owned(),
        client: caller.client.as_ref().map(|client| format!("{} {}", client.name, client.version)),
        command,
        program: case.program.to_string_lossy().into_owned(),
        argv: case.argv.to_vec(),
        directory: case.directory.to_string_lossy().into_owned(),
        variables: request.env.iter().map(|(name, value)| variable(name, value)).collect(),
        input: input(case),
        reason: reason.to_owned(),
        confinement: request.wish.confinement,
        justification: request.wish.justification.clone().map(|text| cut(&text, INPUT_SHOWN)),
        commands: case.verdict.commands.iter().map(ruled).collect(),
        prefix,
        tied: case.tied.iter().map(|(file, _)| file.to_string_lossy().into_owned()).collect(),
    })
}

fn ruled(judged: &runward_model::Judged) -> Ruled {
    let runward_model::Judged { words, decision, reason, rule, .. } = judged.clone();
    Ruled { words, decision, reason, rule }
}

fn variable(name: &str, value: &str) -> String {
    let value = if looks_secret(name) { "[redacted]" } else { value };
    format!("{name}={value}")
}

fn input(case: &Case<'_>) -> Option<String> {
    let request = case.request;
    if let Some(from) = &request.workflow.input_from {
        return Some(format!("the standard output of {from}"));
    }
    match &request.stdio {
        Stdio::Given(bytes) => Some(cut(&String::from_utf8_lossy(bytes), INPUT_SHOWN)),
        Stdio::Open | Stdio::Terminal(_) => Some("whatever is typed while it runs".into()),
        Stdio::Pipes => None,
    }
}

fn cut(text: &str, longest: usize) -> String {
    let end = text.floor_char_boundary(longest);
    match text.len() - end {
        0 => text.to_owned(),
        more => format!("{}… ({more} more bytes)", text.get(..end).unwrap_or_default()),
    }
}

/// Short, because people type it; unguessable beyond that it need not be.
pub(crate) fn fresh_id() -> QuestionId {
    QuestionId(runward_files::random::name::<4>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_between_letters_and_says_how_much_is_missing() {
        assert_eq!(cut("héllo", 2), "h… (5 more bytes)");
        assert_eq!(cut("héllo", 6), "héllo");
    }

    #[test]
    fn what_looks_secret_is_not_shown() {
        assert_eq!(variable("API_KEY", "x"), "API_KEY=[redacted]");
        assert_eq!(variable("GREETING", "x"), "GREETING=x");
    }
}
