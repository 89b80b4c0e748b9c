//! `[[rule]]`: what commands may do, by their first words.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use runward_model::{Decision, Profile};
use runward_policy::PrefixRule;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use super::error::Error;
use super::node::{Data, Node};
use super::placed::Placed;
use super::settings::{Source, parse, tables};

/// How rules are written, for whoever writes something else.
pub(super) const HOW: &str =
    "write [[rule]] on a line of its own and below it pattern = [\"git\", \"push\"] and decision = \"deny\"";

/// A rule as it is written, with the place of each part that is checked against others.
#[derive(Clone, Debug, serde::Deserialize)]
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
    #[serde(default)]
    r#match: Vec<Placed<String>>,
    /// Commands that it must not be about.
    #[serde(default)]
    not_match: Vec<Placed<String>>,
    /// Files that it is tied to, with their SHA-256.
    unchanged: Option<Placed<Files>>,
}

/// Words, each with its alternatives.
#[derive(Clone, Debug)]
struct Pattern(Vec<Vec<String>>);

#[derive(Clone, Copy, Debug)]
struct Narrower(Profile);

#[derive(Clone, Debug)]
struct Files(Vec<(PathBuf, String)>);

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
        let made =
            PrefixRule::new(pattern.value.0.clone(), decision, rule.justification.clone(), here.place())
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
    match String::deserialize(value)?.as_str() {
        "allow" => Ok(Some(Decision::Allow)),
        "ask" => Ok(Some(Decision::Ask)),
        "deny" => Ok(Some(Decision::Deny)),
        other => Err(D::Error::custom(format!("expected \"allow\", \"ask\" or \"deny\", found {other:?}"))),
    }
}

impl<'de> Deserialize<'de> for Narrower {
    fn deserialize<D: Deserializer<'de>>(value: D) -> Result<Self, D::Error> {
        let name = String::deserialize(value)?;
        let profile = Profile::ALL.into_iter().find(|profile| profile.name() == name);
        let known = || {
            let what = "expected \"read-only\", \"workspace-write\" or \"full-access\"";
            D::Error::custom(format!("{what}, found {name:?}"))
        };
        profile.map(Narrower).ok_or_else(known)
    }
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(value: D) -> Result<Self, D::Error> {
        value.deserialize_any(Words).map(|parts| Pattern(parts.into_iter().map(|part| part.0).collect()))
    }
}

/// One place of a pattern: a word, or its alternatives.
struct Part(Vec<String>);

impl<'de> Deserialize<'de> for Part {
    fn deserialize<D: Deserializer<'de>>(value: D) -> Result<Self, D::Error> {
        value.deserialize_any(Alternatives).map(Part)
    }
}

const WORDS: &str = "words, or lists of alternatives, such as [\"git\", [\"push\", \"fetch\"]]";

struct Words;

impl<'de> Visitor<'de> for Words {
    type Value = Vec<Part>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(WORDS)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        std::iter::from_fn(|| items.next_element().transpose()).collect()
    }
}

struct Alternatives;

impl<'de> Visitor<'de> for Alternatives {
    type Value = Vec<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(WORDS)
    }

    fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<Self::Value, E> {
        Ok(vec![word.to_owned()])
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        std::iter::from_fn(|| items.next_element().transpose()).collect()
    }
}

impl<'de> Deserialize<'de> for Files {
    fn deserialize<D: Deserializer<'de>>(value: D) -> Result<Self, D::Error> {
        value.deserialize_any(Tied).map(Files)
    }
}

struct Tied;

impl<'de> Visitor<'de> for Tied {
    type Value = Vec<(PathBuf, String)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("absolute paths with a SHA-256 each: { \"/srv/deploy.sh\" = \"9f86…\" }")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut table: A) -> Result<Self::Value, A::Error> {
        let mut files = BTreeMap::new();
        while let Some((path, content)) = table.next_entry::<PathBuf, String>()? {
            files.insert(path, content);
        }
        // No files at all would be no tie.
        if files.is_empty() || files.keys().any(|path| !path.is_absolute()) {
            return Err(A::Error::invalid_type(serde::de::Unexpected::Other("something else"), &self));
        }
        Ok(files.into_iter().collect())
    }
}
