//! How a decision came about.
//!
//! Each definition of `allow` is evaluated once more by itself, with the others taken out of the text, so that it can be
//! told which of them held and at which line the others ended.

use std::collections::BTreeSet;
use std::ops::Range;

use regorus::unstable::{Module, Rule, RuleHead};
use regorus::{Engine, Value};
use serde::Serialize;

use super::recursion::dotted;
use super::sources::Source;
use super::{ALLOW, Input, LOADING, Rego, evaluate, fault, new_engine};

/// Definitions that are told of.
const MOST_DEFINITIONS: usize = 200;

/// How the rules came to what they say of one command.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trace {
    /// What the rules were told.
    pub input: serde_json::Value,
    /// Every definition of `data.sandbox.main.allow`, in the order of their files and lines.
    pub definitions: Vec<Definition>,
}

/// One definition of the rule that allows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Definition {
    /// The file.
    pub file: String,
    /// The line on which it begins.
    pub line: u32,
    /// That line.
    pub text: String,
    /// What came of it.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// What came of one definition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub enum Outcome {
    /// It is true of this command.
    Held,
    /// It is what holds when nothing else does.
    Default,
    /// It has another value.
    Gave {
        /// Which.
        value: String,
    },
    /// It is not true of this command.
    Stopped {
        /// The last line that was looked at.
        at: u32,
        /// That line.
        condition: String,
    },
    /// It could not be evaluated.
    Failed {
        /// Why.
        error: String,
    },
}

struct Place {
    source: usize,
    bytes: Range<usize>,
    lines: Range<u32>,
    is_default: bool,
}

impl Rego {
    /// How the rules come to what they say of this command.
    pub(crate) fn trace(&self, input: &Input<'_>) -> Option<Trace> {
        let document = input.document().ok()?;
        let (sources, value) = (self.0.sources.clone(), Value::from(document.clone()));
        let mut engine = self.0.set.as_ref().ok()?.engine.clone();
        let places = places(&mut engine, &sources);
        let told = move || places.iter().map(|place| told(place, &places, &sources, &value)).collect();
        let definitions = evaluate::aside(LOADING, told).ok()?;
        Some(Trace { input: document, definitions })
    }
}

fn places(engine: &mut Engine, sources: &[Source]) -> Vec<Place> {
    let mut places = Vec::new();
    for module in engine.get_modules() {
        let path = module.package.span.source.get_path();
        let source = sources.iter().position(|source| source.path.display().to_string() == *path);
        let found = module.policy.iter().filter_map(|rule| place(module, rule, source?));
        places.extend(found);
    }
    places.truncate(MOST_DEFINITIONS);
    places
}

fn place(module: &Module, rule: &Rule, source: usize) -> Option<Place> {
    let (name, is_default) = match rule {
        Rule::Default { refr, .. } => (refr, true),
        Rule::Spec {
            head: RuleHead::Compr { refr, .. } | RuleHead::Set { refr, .. } | RuleHead::Func { refr, .. },
            ..
        } => (refr, false),
    };
    let package = dotted(module.package.refr.span().text());
    let span = rule.span();
    // The span of a rule that ends with a string ends before its last quote; up to the next rule there is nothing else.
    let starts = module.policy.iter().map(|rule| rule.span().start).filter(|start| *start > span.start);
    let text = span.source.contents();
    let bytes = span.start as usize..starts.min().map_or(text.len(), |start| start as usize);
    let inside = text.get(span.start as usize..span.end as usize).unwrap_or_default().trim_end();
    let lines = u32::try_from(inside.lines().count()).unwrap_or(1);
    let lines = span.line..span.line.saturating_add(lines);
    let is_allow = format!("data.{package}.{}", dotted(name.span().text())) == ALLOW;
    is_allow.then_some(Place { source, bytes, lines, is_default })
}

fn told(place: &Place, all: &[Place], sources: &[Source], input: &Value) -> Definition {
    let line_of = |number: u32| {
        let lines = sources.get(place.source).map(|source| source.text.lines());
        let line = lines.and_then(|mut lines| lines.nth(number.saturating_sub(1) as usize));
        line.unwrap_or_default().trim().to_owned()
    };
    let line = place.lines.start;
    let file = sources.get(place.source).map(|source| source.path.display().to_string()).unwrap_or_default();
    let outcome = match alone(place, all, sources, input) {
        _ if place.is_default => Outcome::Default,
        Err(error) => Outcome::Failed { error },
        Ok((Value::Bool(true), _)) => Outcome::Held,
        Ok((Value::Undefined, seen)) => {
            let at = seen.into_iter().filter(|line| place.lines.contains(line)).max().unwrap_or(line);
            Outcome::Stopped { at, condition: line_of(at) }
        }
        Ok((other, _)) => Outcome::Gave { value: other.to_string().chars().take(80).collect() },
    };
    Definition { file, line, text: line_of(line), outcome }
}

/// The value of one definition and the lines of its file that were looked at.
fn alone(
    kept: &Place,
    all: &[Place],
    sources: &[Source],
    input: &Value,
) -> Result<(Value, BTreeSet<u32>), String> {
    let mut engine = new_engine();
    for (number, source) in sources.iter().enumerate() {
        let others = all.iter().filter(|place| place.source == number && place.bytes != kept.bytes);
        let text = others.fold(source.text.clone(), |text, place| blanked(&text, &place.bytes));
        let added = engine.add_policy(source.path.display().to_string(), text);
        added.map_err(|error| fault::told(&error))?;
    }
    engine.set_enable_coverage(true);
    engine.set_input(input.clone());
    engine.set_execution_timer_config(evaluate::step_limit());
    let value = engine.eval_rule(ALLOW.to_owned()).map_err(|error| fault::told(&error))?;
    let report = engine.get_coverage_report().map_err(|error| fault::told(&error))?;
    let path = sources.get(kept.source).map(|source| source.path.display().to_string());
    let file = report.files.into_iter().find(|file| Some(&file.path) == path.as_ref());
    Ok((value, file.map(|file| file.covered).unwrap_or_default()))
}

/// The same text with spaces in place of a part, line by line as before.
fn blanked(text: &str, part: &Range<usize>) -> String {
    let blank = |(at, c): (usize, char)| if part.contains(&at) && c != '\n' { ' ' } else { c };
    let mut blank_text = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        // As many bytes as before, so that later places stay right.
        let shown = blank((at, c));
        let count = if shown == c { 1 } else { c.len_utf8() };
        blank_text.extend(std::iter::repeat_n(shown, count));
    }
    blank_text
}
