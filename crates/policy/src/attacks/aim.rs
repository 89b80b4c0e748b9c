//! Attacks on what an operator blocked: the listed ones with a blocked command in the place of the canary, and every
//! way to spell that command itself.

use super::{Attack, CANARY, SPELLINGS};
use crate::rules::spellings;
use crate::{Policy, SearchPath};

/// Groups whose lines are about the name of a program and mean something else with words behind it.
const ABOUT_NAMES: [&str; 3] = [SPELLINGS, "options whose value is not where it seems", "encodings"];

/// A command that a rule is against.
pub(super) struct Target {
    /// The rule, and where it stands.
    pub(super) rule: String,
    /// The command, its program first.
    pub(super) words: Vec<String>,
}

impl Target {
    /// Every attack on this command.
    pub(super) fn attacks(&self, listed: &[Attack], path: &SearchPath) -> Vec<Attack> {
        let attack = |group, line| Attack { group, line, aim: Some(self.rule.clone()) };
        let forms = if self.is_plain() { spellings::of_command(&self.words) } else { Vec::new() };
        let Some(command) = forms.first().cloned() else { return Vec::new() };
        let own = forms.into_iter().chain(self.named_otherwise(path)).map(|line| attack(SPELLINGS, line));
        let aimed = listed.iter().filter_map(|one| Some(attack(one.group, self.in_place(one, &command)?)));
        own.chain(aimed).collect()
    }

    /// Words that would need quotes cannot be put into quotes again.
    fn is_plain(&self) -> bool {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_./:=+@%-".contains(c);
        self.words.iter().all(|word| !word.is_empty() && word.chars().all(is_plain))
    }

    fn in_place(&self, attack: &Attack, command: &str) -> Option<String> {
        let has_words = self.words.len() > 1;
        if attack.group == SPELLINGS || has_words && ABOUT_NAMES.contains(&attack.group) {
            return None;
        }
        with_command(&attack.line, command)
    }

    /// The command with its program spelled in ways that a shell undoes.
    fn named_otherwise(&self, path: &SearchPath) -> Vec<String> {
        let Some((program, rest)) = self.words.split_first() else { return Vec::new() };
        let mut letters = program.chars();
        let Some(first) = letters.next().filter(|_| !program.contains('/')) else { return Vec::new() };
        let tail = letters.as_str();
        let code = u32::from(first);
        let file = path.find(program).map(|file| file.to_string_lossy().into_owned());
        let roundabout = file.as_ref().map(|file| format!("/usr/..{file}"));
        let names = [
            format!("{first}''{tail}"),
            format!("\"{program}\""),
            format!("'{program}'"),
            format!("\\{program}"),
            format!("{first}\"{tail}\""),
            format!("$'{program}'"),
            format!("$'\\x{code:x}{tail}'"),
            format!("$'\\{code:o}{tail}'"),
            format!("$\"{program}\""),
            format!("{first}$@{tail}"),
            format!("{first}${{none}}{tail}"),
            format!("$(echo {program})"),
            format!("x={program}; $x"),
            format!("{{{program},x}}"),
        ];
        let all = names.into_iter().chain(file).chain(roundabout);
        all.map(|name| [&[name], rest].concat().join(" ")).collect()
    }
}

impl Policy {
    /// The commands that rules are against and that something else allows.
    pub(super) fn targets(&self) -> Vec<Target> {
        let blocked =
            self.rules.blocked.iter().map(|rule| Target { rule: rule.title(), words: rule.words() });
        let denied = self.rules.prefixes.iter().flat_map(|rule| {
            rule.denied_lines().into_iter().map(|words| Target { rule: rule.title(), words })
        });
        let mut unruled = self.clone();
        unruled.rules.blocked.clear();
        unruled.rules.patterns.clear();
        unruled.rules.prefixes.retain(|rule| rule.decision() == runward_model::Decision::Allow);
        let is_at_stake = |target: &Target| target.words.first().is_some_and(|name| unruled.allows(name));
        blocked.chain(denied).filter(is_at_stake).collect()
    }
}

/// The line with a command in the place of the canary, where that is a word of its own everywhere.
fn with_command(line: &str, command: &str) -> Option<String> {
    let mut parts = line.split(CANARY);
    let mut out = parts.next()?.to_owned();
    let mut found = false;
    for part in parts {
        let joins = |c: char| c.is_alphanumeric() || "_-./\\~{,}=:".contains(c);
        if out.ends_with(joins) || part.starts_with(joins) {
            return None;
        }
        out.push_str(command);
        out.push_str(part);
        found = true;
    }
    found.then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_takes_the_place_of_the_canary_where_it_stands_alone() {
        assert_eq!(with_command("ls; canary", "rm -rf x").as_deref(), Some("ls; rm -rf x"));
        assert_eq!(with_command("bash -c 'canary'", "dd").as_deref(), Some("bash -c 'dd'"));
        for line in ["ls", "./canary", "nice -n {5,canary} ls", "go run ./canary.go", "PAGER=canary ls"] {
            assert_eq!(with_command(line, "dd"), None, "{line}");
        }
    }
}
