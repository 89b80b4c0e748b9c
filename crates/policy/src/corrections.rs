//! A line that does the same as a refused one and is allowed, where one is known.
//!
//! The edits are made in the text, without a reader's care, and then judged as any caller's line would be: what is offered is
//! what would run.

use std::path::Path;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use runward_model::{Argv, Decision, Verdict, Work};

use crate::judge::Case;
use crate::{Dialect, Policy, Reading, read};

/// Programs that do the same as others.
const INSTEAD: &str = include_str!("../data/instead.txt");

/// Longer lines are not corrected: nobody would copy them out of a refusal.
const LONGEST: usize = 1000;

/// Unquoted variables between the brackets of a test.
static TESTS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(?:\[|\btest) [^\[\];&|]*").ok());
static VARIABLE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"([ \t])(\$(?:[A-Za-z_0-9]+|\{[A-Za-z_0-9]+\}))").ok());
/// A handler in double quotes.
static HANDLER: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r#"\btrap (-- )?"([^"'\\`]*)""#).ok());
/// A text for a shell, or for `eval`.
static SHELL: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"(?:\b(?:ba)?sh -l?c|\beval) (?:'([^']*)'|"([^"\\$`]*)")"#).ok());
/// The declaration of an array.
static ARRAY: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\b(?:declare|typeset) -a ([A-Za-z_][A-Za-z_0-9]*)(=\()?").ok());
/// A variable that is set for a command or from then on.
static SETTING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?m)(^|[;&|(] *)(?:export +)?([A-Za-z_][A-Za-z_0-9]*)=(?:"[^"`(]*"|'[^']*'|[^\s;&|"'`(]*)( *;| *&&)? +"#,
    )
    .ok()
});
/// A program where a command begins.
static PROGRAM: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?m)(^ *|[;&|(] *|\b(?:do|then|else|if|while|until|xargs|!) +)([A-Za-z0-9_.-]+)(\s|$)").ok()
});

impl Policy {
    /// The line that is offered in the place of a refused one.
    pub(crate) fn correction(
        &self,
        reading: &Reading,
        verdict: &Verdict,
        cwd: &Path,
        case: &Case<'_>,
    ) -> Option<String> {
        let source = match reading {
            Reading::Script(script) => script.source().to_owned(),
            Reading::Plain(argv) => as_line(argv),
        };
        if verdict.decision != Decision::Deny || source.len() > LONGEST || self.rego.is_some() {
            return None;
        }
        let edited = self.edited(&source);
        if edited == source {
            return None;
        }
        let again = read(&Work::Line(edited.clone())).ok()?;
        let case = Case { asker: case.asker, shell: Case::commands_of(&again), ..Case::default() };
        (self.judge_reading(&again, cwd, &case).decision == Decision::Allow).then_some(edited)
    }

    fn edited(&self, source: &str) -> String {
        let mut text = source.to_owned();
        let edits: [&dyn Fn(&str) -> String; 6] = [
            &quoted_tests,
            &quoted_handlers,
            &without_shells,
            &plain_arrays,
            &|text| self.without_settings(text),
            &|text| self.with_others(text),
        ];
        for edit in edits {
            text = edit(&text);
        }
        text
    }

    /// Variables left out that may not be set.
    fn without_settings(&self, text: &str) -> String {
        replaced(SETTING.as_ref(), text, |found| {
            let refused = self.objection_to_setting(&found[2], crate::variables::Case::AsPrograms).is_some();
            // What follows means to find its programs elsewhere.
            let moves = matches!(&found[2], "PATH" | "HOME");
            (refused && !moves).then(|| found[1].to_owned())
        })
    }

    /// Programs that are allowed in the places of those that are not.
    fn with_others(&self, text: &str) -> String {
        replaced(PROGRAM.as_ref(), text, |found| {
            let lines = INSTEAD.lines().filter_map(|line| line.split_once(" | "));
            let (_, instead) = lines.rev().find(|(name, _)| *name == &found[2])?;
            (!self.allowlist.names(&found[2])).then(|| format!("{}{instead}{}", &found[1], &found[3]))
        })
    }
}

/// A program and its arguments as a line.
fn as_line(Argv { file, args }: &Argv) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=,+@%".contains(c);
    let word = |word: &String| {
        let is_plain = !word.is_empty() && word.chars().all(plain);
        if is_plain { word.clone() } else { Dialect::Posix.quoted(word) }
    };
    std::iter::once(file).chain(args).map(word).collect::<Vec<_>>().join(" ")
}

/// A text with every place that a pattern finds replaced, unless it is to stay.
fn replaced(pattern: Option<&Regex>, text: &str, with: impl Fn(&Captures<'_>) -> Option<String>) -> String {
    let Some(pattern) = pattern else { return text.to_owned() };
    let replace = |found: &Captures<'_>| with(found).unwrap_or_else(|| found[0].to_owned());
    pattern.replace_all(text, replace).into_owned()
}

fn quoted_tests(text: &str) -> String {
    replaced(TESTS.as_ref(), text, |test| {
        Some(replaced(VARIABLE.as_ref(), &test[0], |found| Some(format!("{}\"{}\"", &found[1], &found[2]))))
    })
}

fn quoted_handlers(text: &str) -> String {
    replaced(HANDLER.as_ref(), text, |found| {
        let dashes = found.get(1).map_or("", |dashes| dashes.as_str());
        Some(format!("trap {dashes}'{}'", &found[2]))
    })
}

fn without_shells(text: &str) -> String {
    replaced(SHELL.as_ref(), text, |found| {
        found.get(1).or(found.get(2)).map(|inner| inner.as_str().to_owned())
    })
}

fn plain_arrays(text: &str) -> String {
    replaced(ARRAY.as_ref(), text, |found| {
        let name = &found[1];
        Some(if found.get(2).is_some() { format!("{name}=(") } else { format!("{name}=()") })
    })
}
