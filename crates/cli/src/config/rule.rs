//! `[[rule]]`: the only tables of which there may be several.

use std::path::{Path, PathBuf};

use runward_model::{Decision, Profile};
use runward_policy::PrefixRule;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::Error;
use super::origin::Origin;
use super::settings::{Source, parse};

/// A rule whose examples were checked, and where it stands.
pub(crate) type Rule = PrefixRule;

const KEYS: [&str; 7] =
    ["pattern", "decision", "justification", "profile", "match", "not_match", "unchanged"];
const HOW: &str =
    "write [[rule]] on a line of its own and below it pattern = [\"git\", \"push\"] and decision = \"deny\"";

/// A rule as it is written, with the place of each part.
#[derive(Default)]
struct Written {
    pattern: Option<(Vec<Vec<String>>, Origin)>,
    decision: Option<Decision>,
    justification: String,
    /// A narrower sandbox profile, and where it stands.
    profile: Option<(Profile, Origin)>,
    /// Examples, where they stand, and whether the rule has to be about them.
    examples: Vec<(String, Origin, bool)>,
    /// Files that it is tied to, with their SHA-256, and where that stands.
    unchanged: Option<(Vec<(PathBuf, String)>, Origin)>,
    /// Where it says that it also answers for callers that ask to be held less tightly.
    escalated: Option<Origin>,
}

/// Rules that people made by their answers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Granted {
    pub(crate) rules: Vec<Rule>,
    /// Those that also answer for callers that ask to be held less tightly.
    pub(crate) escalated: Vec<Rule>,
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
        let DeValue::Array(items) = value.get_ref() else { return Err(Error::setting(&origin, HOW)) };
        for item in items {
            let (rule, escalated) = one(item, &source)?;
            match escalated {
                Some(place) if rule.decision() != Decision::Allow => {
                    return Err(Error::setting(&place, "only a rule that allows can also escalate"));
                }
                Some(_) => granted.escalated.push(rule.clone()),
                None => {}
            }
            granted.rules.push(rule);
        }
    }
    Ok(granted)
}

/// Reads every rule of a file.
pub(super) fn read(value: &DeValue<'_>, source: &Source<'_>, origin: &Origin) -> Result<Vec<Rule>, Error> {
    let DeValue::Array(items) = value else { return Err(Error::setting(origin, HOW)) };
    let read = |item| match one(item, source)? {
        (rule, None) => Ok(rule),
        (_, Some(place)) => Err(Error::setting(&place, no_such_key())),
    };
    items.iter().map(read).collect()
}

/// A rule, and where it says that it escalates.
fn one(item: &Spanned<DeValue<'_>>, source: &Source<'_>) -> Result<(Rule, Option<Origin>), Error> {
    let here = source.origin(item.span().start, "rule");
    let DeValue::Table(table) = item.get_ref() else { return Err(Error::setting(&here, HOW)) };
    let written = written(table, source)?;
    let missing = |key: &str| Error::setting(&here, format!("a rule needs {key}; {HOW}"));
    let (pattern, place) = written.pattern.ok_or_else(|| missing("pattern"))?;
    let decision = written.decision.ok_or_else(|| missing("decision"))?;
    if let Some((_, place)) = written.profile.as_ref().filter(|_| decision == Decision::Deny) {
        return Err(Error::setting(place, "what a rule denies does not run; leave out its profile"));
    }
    if let Some((_, place)) = written.unchanged.as_ref().filter(|_| decision != Decision::Allow) {
        return Err(Error::setting(place, "only a rule that allows can be tied to files"));
    }
    let rule = PrefixRule::new(pattern, decision, written.justification, here.place())
        .map_err(|what| Error::setting(&place, what))?
        .with_profile(written.profile.map(|(profile, _)| profile))
        .tied_to(written.unchanged.map(|(files, _)| files).unwrap_or_default());
    for (example, place, wanted) in &written.examples {
        check(&rule, example, place, *wanted)?;
    }
    Ok((rule, written.escalated))
}

fn no_such_key() -> String {
    format!("there is no such key in a rule; there are {}", KEYS.join(", "))
}

fn written(table: &DeTable<'_>, source: &Source<'_>) -> Result<Written, Error> {
    let mut written = Written::default();
    for (name, value) in table {
        let name_text = name.get_ref().as_ref();
        let origin = source.origin(name.span().start, &format!("rule.{name_text}"));
        let wrong = |what: &str| Error::setting(&origin, what);
        match name_text {
            "pattern" => {
                let pattern = parts(value.get_ref()).ok_or_else(|| {
                    wrong(
                        "expected words, or lists of alternatives, such as [\"git\", [\"push\", \"fetch\"]]",
                    )
                })?;
                written.pattern = Some((pattern, origin));
            }
            "decision" => {
                let decision = decision(value.get_ref());
                written.decision =
                    Some(decision.ok_or_else(|| wrong("expected \"allow\", \"ask\" or \"deny\""))?);
            }
            "justification" => {
                let text = value.get_ref().as_str().ok_or_else(|| wrong("expected text in quotes"))?;
                text.clone_into(&mut written.justification);
            }
            "profile" => {
                let profile = profile(value.get_ref());
                let known = || wrong("expected \"read-only\", \"workspace-write\" or \"full-access\"");
                written.profile = Some((profile.ok_or_else(known)?, origin));
            }
            "unchanged" => {
                let files = files(value.get_ref());
                let wanted = || {
                    wrong("expected absolute paths with a SHA-256 each: { \"/srv/deploy.sh\" = \"9f86…\" }")
                };
                written.unchanged = Some((files.ok_or_else(wanted)?, origin));
            }
            "match" | "not_match" => {
                let found = examples(value.get_ref(), source, &format!("rule.{name_text}"));
                let found = found
                    .ok_or_else(|| wrong("expected a list of commands, such as [\"git push origin\"]"))?;
                let wanted = name_text == "match";
                written.examples.extend(found.into_iter().map(|(text, place)| (text, place, wanted)));
            }
            "escalated" => match value.get_ref() {
                DeValue::Boolean(true) => written.escalated = Some(origin),
                DeValue::Boolean(false) => {}
                _ => return Err(wrong("expected true or false")),
            },
            _ => return Err(wrong(&no_such_key())),
        }
    }
    Ok(written)
}

fn parts(value: &DeValue<'_>) -> Option<Vec<Vec<String>>> {
    let part = |item: &Spanned<DeValue<'_>>| match item.get_ref() {
        DeValue::String(word) => Some(vec![word.to_string()]),
        other => words(other),
    };
    value.as_array()?.iter().map(part).collect()
}

fn words(value: &DeValue<'_>) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|item| item.get_ref().as_str().map(str::to_owned)).collect()
}

fn decision(value: &DeValue<'_>) -> Option<Decision> {
    match value.as_str()? {
        "allow" => Some(Decision::Allow),
        "ask" => Some(Decision::Ask),
        "deny" => Some(Decision::Deny),
        _ => None,
    }
}

fn profile(value: &DeValue<'_>) -> Option<Profile> {
    let name = value.as_str()?;
    Profile::ALL.into_iter().find(|profile| profile.name() == name)
}

fn files(value: &DeValue<'_>) -> Option<Vec<(PathBuf, String)>> {
    let pair = |(file, content): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
        let file: &std::borrow::Cow<'_, str> = file.get_ref();
        let file = Path::new(file.as_ref()).is_absolute().then(|| PathBuf::from(file.as_ref()));
        Some((file?, content.get_ref().as_str()?.to_owned()))
    };
    let files: Vec<_> = value.as_table()?.iter().map(pair).collect::<Option<_>>()?;
    // No files at all would be no tie.
    (!files.is_empty()).then_some(files)
}

fn examples(value: &DeValue<'_>, source: &Source<'_>, key: &str) -> Option<Vec<(String, Origin)>> {
    let example = |item: &Spanned<DeValue<'_>>| {
        Some((item.get_ref().as_str()?.to_owned(), source.origin(item.span().start, key)))
    };
    value.as_array()?.iter().map(example).collect()
}

fn check(rule: &Rule, example: &str, place: &Origin, wanted: bool) -> Result<(), Error> {
    let about = rule.is_about(example).map_err(|what| Error::setting(place, what))?;
    if about == wanted {
        return Ok(());
    }
    let what =
        if wanted { "should match this rule and does not" } else { "should not match this rule and does" };
    Err(Error::setting(place, format!("the example {example:?} {what}; change the rule or the example")))
}
