//! Functions that call themselves.
//!
//! The interpreter follows them until its stack is used up, which would end the server. Whatever looks like a call of
//! a function counts as one, also inside a string.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;
use regorus::Engine;
use regorus::unstable::{Import, Module, Rule, RuleHead};

/// A name with its path, right in front of a parenthesis.
static CALL: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"([A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*)\(").ok());

type Calls = BTreeMap<String, BTreeSet<String>>;

/// Refuses a set in which a function can get back to itself.
pub(super) fn refuse(engine: &mut Engine) -> Result<(), String> {
    let mut calls = Calls::new();
    let mut places = BTreeMap::new();
    for module in engine.get_modules() {
        let package = format!("data.{}", dotted(module.package.refr.span().text()));
        for rule in &module.policy {
            let Rule::Spec { span, head: RuleHead::Func { refr, .. }, .. } = &**rule else { continue };
            let name = format!("{package}.{}", refr.span().text());
            let body = span.source.contents().get(refr.span().end as usize..span.end as usize);
            let body = dotted(body.unwrap_or_default());
            let called = calls_in(&body).map(|call| resolved(call, &package, module));
            calls.entry(name.clone()).or_default().extend(called);
            places.entry(name).or_insert_with(|| format!("{}:{}", span.source.get_path(), span.line));
        }
    }
    let circular = calls.keys().find(|name| reaches(&calls, name));
    circular.map_or(Ok(()), |name| {
        let place = places.get(name).map_or("", String::as_str);
        Err(format!("{place}: the function {name} calls itself, which Rego does not allow"))
    })
}

fn calls_in(text: &str) -> impl Iterator<Item = &str> {
    let calls = CALL.as_ref().map(|call| call.captures_iter(text));
    calls.into_iter().flatten().filter_map(|found| found.get(1)).map(|name| name.as_str())
}

/// The whole path of a function that is called by a shorter one.
fn resolved(call: &str, package: &str, module: &Module) -> String {
    let (first, rest) = call.split_once('.').map_or((call, None), |(first, rest)| (first, Some(rest)));
    if first == "data" {
        return call.to_owned();
    }
    let Some(path) = module.imports.iter().find_map(|import| imported_as(import, first)) else {
        return format!("{package}.{call}");
    };
    rest.map_or_else(|| path.clone(), |rest| format!("{path}.{rest}"))
}

fn imported_as(import: &Import, name: &str) -> Option<String> {
    let path = dotted(import.refr.span().text());
    let last = path.rsplit('.').next().unwrap_or(&path).to_owned();
    let known_as = import.r#as.as_ref().map_or(last, |span| span.text().to_owned());
    (known_as == name).then_some(path)
}

/// A path written with dots alone.
pub(super) fn dotted(path: &str) -> String {
    path.replace("[\"", ".").replace("\"]", "")
}

fn reaches(calls: &Calls, start: &str) -> bool {
    let mut seen = BTreeSet::new();
    let mut open: Vec<&str> = vec![start];
    while let Some(name) = open.pop() {
        for called in calls.get(name).into_iter().flatten() {
            if called == start {
                return true;
            }
            if seen.insert(called.as_str()) {
                open.push(called);
            }
        }
    }
    false
}
