//! A question in words.

use std::fmt::Write as _;

use runward_model::{Argv, Confinement, Decision, Question, Ruled, Work, printable};

/// Everything that a person needs to know, line by line. Nothing in it steers a terminal or hides what is there.
pub fn told(question: &Question) -> String {
    let mut text = String::new();
    for line in question.command.split('\n') {
        let _ = writeln!(text, "    {}", printable(line));
    }
    text.push('\n');
    let exactly = shown(&question.argv);
    if exactly != question.command {
        field(&mut text, "exactly", &exactly);
    }
    field(&mut text, "program", &question.program);
    field(&mut text, "directory", &question.directory);
    for variable in &question.variables {
        field(&mut text, "variable", variable);
    }
    if let Some(input) = &question.input {
        field(&mut text, "input", input);
    }
    field(&mut text, "asked because", &question.reason);
    if question.confinement == Confinement::Escalated {
        field(&mut text, "sandbox", "it would run outside the sandbox");
    }
    if let Some(justification) = &question.justification {
        field(&mut text, "caller says", justification);
    }
    let client = question.client.as_deref().unwrap_or("unnamed client");
    field(&mut text, "caller", &format!("{client}, by {}, for {}", question.door, question.principal));
    for command in &question.commands {
        field(&mut text, "rules say", &ruled(command));
    }
    if let Some(prefix) = &question.prefix {
        field(&mut text, "always would be", &format!("everything that begins with: {}", shown(prefix)));
    }
    if !question.tied.is_empty() {
        field(&mut text, "tied to", &tied(&question.tied));
    }
    text
}

fn ruled(command: &Ruled) -> String {
    let decision = match command.decision {
        Decision::Allow => "allow",
        Decision::Ask => "ask",
        Decision::Deny => "deny",
    };
    let rule = command.rule.as_ref().map(|rule| format!(" [{rule}]")).unwrap_or_default();
    format!("{decision} {}: {}{rule}", shown(&command.words), command.reason)
}

/// Which files an answer holds for.
fn tied(files: &[String]) -> String {
    let holds = if let [_] = files { "the file as it is" } else { "these files as they are" };
    format!(
        "{} (this answer holds for {holds} now; with other content it is not run, or you are asked again)",
        files.join(", ")
    )
}

/// Words as a shell would read them back.
fn shown(words: &[String]) -> String {
    match words.split_first() {
        None => String::new(),
        Some((file, args)) => Work::Argv(Argv { file: file.clone(), args: args.to_vec() }).to_string(),
    }
}

fn field(text: &mut String, name: &str, value: &str) {
    let _ = writeln!(text, "{name}: {}", printable(value));
}

#[cfg(test)]
pub(super) fn sample() -> Question {
    Question {
        id: runward_model::QuestionId("0a1b2c3d".into()),
        door: "shell".into(),
        principal: "local".into(),
        client: Some("testkit 1".into()),
        command: "git push\nid".into(),
        program: "/usr/bin/bash".into(),
        argv: ["bash", "-c", "--", "git push\nid"].map(str::to_owned).to_vec(),
        directory: "/srv".into(),
        variables: vec!["A=b".into()],
        input: None,
        reason: "the rule [\"git\", \"push\"] wants a person to approve this command".into(),
        confinement: Confinement::Escalated,
        justification: Some("it must \u{1b}[2J get out".into()),
        commands: vec![Ruled {
            words: vec!["git".into(), "push".into()],
            decision: Decision::Ask,
            reason: "because".into(),
            rule: Some("rule 1 (x.toml:3)".into()),
        }],
        prefix: Some(vec!["git".into(), "push".into(), "origin".into()]),
        tied: vec!["/srv/deploy.sh".into()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_shows_the_command_the_place_the_reason_and_every_rule() {
        let wanted = "    git push\n    id\n\nexactly: bash -c -- 'git push\\nid'\nprogram: /usr/bin/bash\ndirectory: /srv\n\
            variable: A=b\nasked because: the rule [\"git\", \"push\"] wants a person to approve this command\n\
            sandbox: it would run outside the sandbox\ncaller says: it must \\u{1b}[2J get out\n\
            caller: testkit 1, by shell, for local\nrules say: ask git push: because [rule 1 (x.toml:3)]\n\
            always would be: everything that begins with: git push origin\n\
            tied to: /srv/deploy.sh (this answer holds for the file as it is now; with other content it is not run, or you \
            are asked again)\n";
        assert_eq!(told(&sample()), wanted);
    }

    #[test]
    fn nothing_in_a_question_steers_a_terminal_or_hides_what_is_there() {
        let hostile = "ls\u{1b}]0;x\u{7}\r\u{202e}";
        let question = Question {
            command: hostile.into(),
            argv: vec![hostile.into()],
            directory: hostile.into(),
            client: Some(hostile.into()),
            ..sample()
        };
        let text = told(&question);
        assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
        assert!(!text.contains('\u{202e}'), "{text:?}");
    }
}
