//! `[[rule]]`: what commands may do, by their first words.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use runward_model::{Decision, Profile};
use runward_policy::PrefixRule;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::error::Error;
use super::node::{Data, Node};
use super::placed::Placed;
use super::settings::{Source, parse, tables};

/// How rules are written, for whoever writes something else.
pub(super) const HOW: &str =
    "write [[rule]] on a line of its own and below it pattern = [\"git\", \"push\"] and decision = \"deny\"";

/// A rule as it is written, with the place of each part that is checked against others.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rule {
    pattern: Option<Placed<Pattern>>,
    #[serde(default, deserialize_with = "decision")]
    decision: Option<Decision>,
    #[serde(default)]
    justification: String,
    /// A narrower sandbox profile.
    profile: Option<Placed<Narrower>>,
    /// Commands that it has to be about.
    #[serde(default, deserialize_with = "examples")]
    r#match: Vec<Placed<String>>,
    /// Commands that it must not be about.
    #[serde(default, deserialize_with = "examples")]
    not_match: Vec<Placed<String>>,
    /// Files that it is tied to, with their SHA-256.
    unchanged: Option<Placed<Files>>,
}

/// Words, each with its alternatives.
#[derive(Clone, Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "expected words, or lists of alternatives, such as [\"git\", [\"push\", \"fetch\"]]"
)]
enum Pattern {
    Words(Vec<Part>),
}

/// One of them.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Part {
    Word(String),
    Alternatives(Vec<String>),
}

impl Pattern {
    fn parts(&self) -> Vec<Vec<String>> {
        let Pattern::Words(parts) = self;
        let alternatives = |part: &Part| match part {
            Part::Word(word) => vec![word.clone()],
            Part::Alternatives(words) => words.clone(),
        };
        parts.iter().map(alternatives).collect()
    }
}

/// A profile by its name.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(transparent)]
struct Narrower(#[serde(deserialize_with = "profile")] Profile);

/// Absolute paths, each with the SHA-256 of what has to be in it.
#[derive(Clone, Debug, Deserialize)]
#[serde(transparent)]
struct Files(#[serde(deserialize_with = "files")] Vec<(PathBuf, String)>);

impl Rule {
    /// The rule that it is, with its examples checked.
    pub(super) fn checked(Placed { value: rule, origin: here }: &Placed<Self>) -> Result<PrefixRule, Error> {
        let missing = |key: &str| Error::setting(here, format!("a rule needs {key}; {HOW}"));
        let pattern = rule.pattern.as_ref().ok_or_else(|| missing("pattern"))?;
        let decision = rule.decision.ok_or_else(|| missing("decision"))?;
        if let Some(profile) = rule.profile.as_ref().filter(|_| decision == Decision::Deny) {
            let what = "what a rule denies does not run; leave out its profile";
            return Err(Error::setting(&profile.origin, what));
        }
        if let Some(tied) = rule.unchanged.as_ref().filter(|_| decision != Decision::Allow) {
            return Err(Error::setting(&tied.origin, "only a rule that allows can be tied to files"));
        }
        let tied = rule.unchanged.as_ref().map(|files| files.value.0.clone()).unwrap_or_default();
        let made = PrefixRule::new(pattern.parts(), decision, rule.justification.clone(), here.place())
            .map_err(|what| Error::setting(&pattern.origin, what))?
            .with_profile(rule.profile.as_ref().map(|profile| profile.value.0))
            .tied_to(tied);
        rule.r#match.iter().try_for_each(|example| check(&made, example, true))?;
        rule.not_match.iter().try_for_each(|example| check(&made, example, false))?;
        Ok(made)
    }
}

fn check(rule: &PrefixRule, example: &Placed<String>, wanted: bool) -> Result<(), Error> {
    let Placed { value: text, origin } = example;
    if rule.is_about(text).map_err(|what| Error::setting(origin, what))? == wanted {
        return Ok(());
    }
    let what =
        if wanted { "should match this rule and does not" } else { "should not match this rule and does" };
    Err(Error::setting(origin, format!("the example {text:?} {what}; change the rule or the example")))
}

/// Rules that people made by their answers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Granted {
    pub(crate) rules: Vec<PrefixRule>,
    /// Those that also answer for callers that ask to be held less tightly.
    pub(crate) escalated: Vec<PrefixRule>,
}

/// Reads a file of nothing but such rules.
pub(super) fn granted(path: &Path, text: &str) -> Result<Granted, Error> {
    let (document, source) = (parse(text, path)?, Source { path, text });
    let mut granted = Granted::default();
    for (name, value) in document.get_ref() {
        let origin = source.origin(name.span().start, name.get_ref());
        if name.get_ref() != "rule" {
            return Err(Error::setting(&origin, "only [[rule]] may stand in this file"));
        }
        let rules = tables(Node::of_tables(value, origin, "rule", &source), HOW)?;
        let Data::List(rules) = rules.data else { continue };
        for rule in rules {
            granted.add(rule)?;
        }
    }
    Ok(granted)
}

impl Granted {
    /// Besides what all rules have, these may say that they also answer for callers that ask to be held less tightly.
    fn add(&mut self, mut rule: Node) -> Result<(), Error> {
        let escalated = match &mut rule.data {
            Data::Table(table) => table.remove("escalated"),
            _ => None,
        };
        let escalated = escalated.map(Placed::<bool>::deserialize).transpose()?;
        let rule = Rule::checked(&Placed::deserialize(rule)?)?;
        if let Some(Placed { origin, .. }) = escalated.filter(|escalated| escalated.value) {
            if rule.decision() != Decision::Allow {
                return Err(Error::setting(&origin, "only a rule that allows can also escalate"));
            }
            self.escalated.push(rule.clone());
        }
        self.rules.push(rule);
        Ok(())
    }
}

fn decision<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Decision>, D::Error> {
    match String::deserialize(value).as_deref() {
        Ok("allow") => Ok(Some(Decision::Allow)),
        Ok("ask") => Ok(Some(Decision::Ask)),
        Ok("deny") => Ok(Some(Decision::Deny)),
        _ => Err(D::Error::custom("expected \"allow\", \"ask\" or \"deny\"")),
    }
}

fn examples<'de, D: Deserializer<'de>>(value: D) -> Result<Vec<Placed<String>>, D::Error> {
    let wanted = "expected a list of commands, such as [\"git push origin\"]";
    Vec::deserialize(value).map_err(|_| D::Error::custom(wanted))
}

fn profile<'de, D: Deserializer<'de>>(value: D) -> Result<Profile, D::Error> {
    let name = String::deserialize(value).unwrap_or_default();
    let profile = Profile::ALL.into_iter().find(|profile| profile.name() == name);
    let known = "expected \"read-only\", \"workspace-write\" or \"full-access\"";
    profile.ok_or_else(|| D::Error::custom(known))
}

fn files<'de, D: Deserializer<'de>>(value: D) -> Result<Vec<(PathBuf, String)>, D::Error> {
    let files = BTreeMap::<PathBuf, String>::deserialize(value).unwrap_or_default();
    // No files at all would be no tie.
    if files.is_empty() || files.keys().any(|path| !path.is_absolute()) {
        let wanted = "expected absolute paths with a SHA-256 each: { \"/srv/deploy.sh\" = \"9f86…\" }";
        return Err(D::Error::custom(wanted));
    }
    Ok(files.into_iter().collect())
}
