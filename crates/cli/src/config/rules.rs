//! From lists in settings to the rules of the policy.

use runward_policy::{Allowlist, Blocked, BlockedPattern, Rules};

use super::Config;
use super::error::Error;
use super::placed::Placed;
use super::rule::Rule;

/// Everything that the policy judges commands by.
#[derive(Clone, Debug, Default)]
pub(crate) struct RuleBook {
    pub(crate) allowlist: Allowlist,
    pub(crate) rules: Rules,
    /// Whether anybody said which commands are allowed, if only that none is.
    pub(crate) listed: bool,
}

impl RuleBook {
    /// The rules of every list and table.
    pub(super) fn of(config: &Config) -> Result<Self, Error> {
        let (first, told) = (&config.policy.allowed_commands, &config.shell_tool);
        let second = &told.allowed_commands;
        let rules = Rules {
            blocked: entries(&told.blocked_commands, Blocked::parse)?,
            patterns: entries(&told.blocked_patterns, BlockedPattern::parse)?,
            prefixes: config.rule.iter().map(Rule::checked).collect::<Result<_, _>>()?,
        };
        let listed = !(first.origin.is_default() && second.origin.is_default());
        Ok(RuleBook { allowlist: one_list(first, second)?, rules, listed })
    }
}

/// Both lists where they come from the same layer, else the one from the later layer.
fn one_list(first: &Placed<Vec<String>>, second: &Placed<Vec<String>>) -> Result<Allowlist, Error> {
    let is_later = second.origin.layer() > first.origin.layer();
    let (later, earlier) = if is_later { (second, first) } else { (first, second) };
    let is_same = later.origin.layer() == earlier.origin.layer();
    let later = allowlist(later)?;
    if is_same { Ok(later.and(&allowlist(earlier)?)) } else { Ok(later) }
}

fn allowlist(Placed { value: entries, origin }: &Placed<Vec<String>>) -> Result<Allowlist, Error> {
    if let Some(entry) = entries.iter().find(|entry| entry.contains(',')) {
        return Err(Error::setting(origin, format!("{entry:?} holds a comma; write one command an entry")));
    }
    Ok(Allowlist::new(entries.iter().map(String::as_str)).found_at(origin.place()))
}

fn entries<T>(
    Placed { value: texts, origin }: &Placed<Vec<String>>,
    parse: impl Fn(&str, String) -> Result<T, String>,
) -> Result<Vec<T>, Error> {
    let one = |text: &String| parse(text, origin.place()).map_err(|what| Error::setting(origin, what));
    texts.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::settings::Settings;
    use super::*;

    fn with(text: &str, variables: &[(&str, &str)]) -> Result<RuleBook, String> {
        let mut settings = Settings::defaults().unwrap();
        let variables = variables.iter().map(|(name, value)| (name.into(), value.into())).collect();
        settings
            .apply_file(Path::new("x.toml"), text)
            .and_then(|()| settings.apply_environment(&variables))
            .and_then(|()| Config::read(&settings).map(|config| config.rules))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn the_two_lists_are_one_and_a_later_layer_takes_the_place_of_both() {
        let file = "policy.allowed_commands = ['ls']\nshell_tool.allowed_commands = ['cat']";
        assert_eq!(with(file, &[]).unwrap().allowlist.entries(), ["ls", "cat"]);
        let variable = [("ALLOWED_COMMANDS", "git")];
        assert_eq!(with(file, &variable).unwrap().allowlist.entries(), ["git"]);
        assert!(with(file, &[("ALLOWED_COMMANDS", "")]).unwrap().allowlist.entries().is_empty());
        let only = "shell_tool.allowed_commands = ['cat']";
        assert_eq!(with(only, &[]).unwrap().allowlist.entries(), ["cat"]);
    }

    #[test]
    fn what_is_wrong_with_a_rule_is_said_with_file_line_and_key() {
        let rule = "\n[[rule]]\npattern = ['git', ['push', 'fetch']]\ndecision = 'deny'\n";
        for (text, message) in [
            (
                "[shell_tool]\nblocked_commands = ['rm | ls']".to_owned(),
                "x.toml:2: shell_tool.blocked_commands: \"rm | ls\" is no plain command",
            ),
            (
                "[shell_tool]\nblocked_patterns = ['(']".to_owned(),
                "x.toml:2: shell_tool.blocked_patterns: \"(\" is no regular expression: unclosed group",
            ),
            (
                format!("{rule}match = [\n  'git fetch',\n  'git status']"),
                "x.toml:7: rule.match: the example \"git status\" should match this rule and does not",
            ),
            (
                format!("{rule}not_match = ['git push x']"),
                "x.toml:5: rule.not_match: the example \"git push x\" should not match this rule and does",
            ),
            (
                format!("{rule}match = ['a | b']"),
                "x.toml:5: rule.match: the example \"a | b\" is no plain command",
            ),
            (
                format!("{rule}because = 'x'"),
                "x.toml:5: rule.because: there is no such key in a rule; there are pattern,",
            ),
            (
                "\n[[rule]]\npattern = ['git']".to_owned(),
                "x.toml:2: rule: a rule needs decision; write [[rule]]",
            ),
            (
                "[[rule]]\ndecision = 'deny'".to_owned(),
                "x.toml:1: rule: a rule needs pattern; write [[rule]]",
            ),
            (
                "[[rule]]\npattern = []\ndecision = 'deny'".to_owned(),
                "x.toml:2: rule.pattern: a pattern needs a program",
            ),
            (
                "[[rule]]\npattern = [1]\ndecision = 'deny'".to_owned(),
                "x.toml:2: rule.pattern: expected words",
            ),
            (
                "[[rule]]\npattern = ['a']\ndecision = 'no'".to_owned(),
                "x.toml:3: rule.decision: expected \"allow\", \"ask\" or \"deny\"",
            ),
            ("rule = 'x'".to_owned(), "x.toml:1: rule: write [[rule]] on a line of its own"),
        ] {
            let found = with(&text, &[]).unwrap_err();
            assert!(found.starts_with(message), "{text}\n{found}");
        }
        assert_eq!(with(rule, &[]).unwrap().rules.prefixes.len(), 1);
        assert_eq!(
            with(&format!("{rule}match = ['git push x']\nnot_match = ['git status']"), &[])
                .unwrap()
                .rules
                .prefixes
                .len(),
            1
        );
    }
}
