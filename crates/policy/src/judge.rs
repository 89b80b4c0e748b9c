//! The verdict.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use runward_model::{Argv, Decision, Judged, Verdict};

use crate::facts::{Fact, Word};
use crate::refusal::denial;
use crate::rego::Budget;
use crate::viewer::link_to_turn;
use crate::weigh::{Scene, Weighed};
use crate::{
    Allowlist, EnvironmentRules, Held, NamedFiles, Reading, Rego, Rules, SearchPath, Trace, Writable,
};

/// The rules that an operator set.
#[derive(Clone, Debug)]
pub struct Policy {
    pub(crate) allowlist: Allowlist,
    pub(crate) path: SearchPath,
    pub(crate) rules: Rules,
    pub(crate) environment: EnvironmentRules,
    pub(crate) rego: Option<Rego>,
    pub(crate) turnable: Turnable,
}

/// Which links commands could turn after their way was looked at: those that lie where commands may write.
#[derive(Clone, Default)]
pub(crate) struct Turnable(Option<Arc<Writable<'static>>>);

impl Turnable {
    /// The first one on the way to a file.
    pub(crate) fn on_the_way(&self, file: &Path) -> Option<PathBuf> {
        link_to_turn(file, self.0.as_deref()?)
    }
}

impl std::fmt::Debug for Turnable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Turnable").field(&self.0.is_some()).finish()
    }
}

/// What else the policy may want to know about a request.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asker<'a> {
    /// The way in: the name of the tool or endpoint.
    pub door: &'a str,
    /// What the program at the other end calls itself.
    pub client: Option<&'a str>,
    /// Variables that the caller gives.
    pub env: &'a [(String, String)],
    /// Whether the command gets a terminal.
    pub tty: bool,
    /// The file that will be executed, where one is held.
    pub held: Option<&'a Held>,
    /// The files that it names, where somebody looked at them.
    pub files: Option<&'a NamedFiles>,
}

/// One piece of work while it is being judged.
#[derive(Debug, Default)]
pub(crate) struct Case<'a> {
    pub(crate) asker: Asker<'a>,
    /// Every command of the script, if it is one.
    pub(crate) shell: Vec<Vec<String>>,
    pub(crate) budget: Budget,
    /// Where to write down how the rules in Rego decided.
    pub(crate) traces: Option<RefCell<Vec<Trace>>>,
}

impl Case<'_> {
    /// The commands of a script.
    pub(crate) fn commands_of(reading: &Reading) -> Vec<Vec<String>> {
        match reading {
            Reading::Script(script) => script.facts().map(commands).unwrap_or_default(),
            Reading::Plain(_) => Vec::new(),
        }
    }
}

impl Policy {
    /// Judges by this list, with names looked up on this path.
    pub fn new(allowlist: Allowlist, path: SearchPath) -> Self {
        Policy {
            allowlist,
            path,
            rules: Rules::default(),
            environment: EnvironmentRules::default(),
            rego: None,
            turnable: Turnable::default(),
        }
    }

    /// The same with these rules beyond the list.
    #[must_use]
    pub fn with_rules(self, mut rules: Rules) -> Self {
        rules.look_up(&self.path);
        Policy { rules, ..self }
    }

    /// The same with these rules for variables that callers give.
    #[must_use]
    pub fn with_environment(self, environment: EnvironmentRules) -> Self {
        Policy { environment, ..self }
    }

    /// The same where these rules have to allow every command; everything else can only allow less.
    #[must_use]
    pub fn with_rego(self, rego: Rego) -> Self {
        Policy { rego: Some(rego), ..self }
    }

    /// The same where commands may write files of which this says so.
    #[must_use]
    pub fn with_writable(self, writable: impl Fn(&Path) -> bool + Send + Sync + 'static) -> Self {
        Policy { turnable: Turnable(Some(Arc::new(writable))), ..self }
    }

    /// The rules in Rego.
    pub fn rego(&self) -> Option<&Rego> {
        self.rego.as_ref()
    }

    /// Where names are looked up.
    pub fn path(&self) -> &SearchPath {
        &self.path
    }

    /// The same with names looked up on another path.
    #[must_use]
    pub fn on_path(&self, path: SearchPath) -> Self {
        let policy = self.clone();
        let rules = policy.rules.clone();
        Policy { path, ..policy }.with_rules(rules)
    }

    /// Whether any rule can stop a command; if none can, `*` allows even what cannot be read.
    pub fn restricts(&self) -> bool {
        !self.allowlist.allows_everything() || self.looks_inside()
    }

    /// Whether every command has to be read, wherever it stands.
    pub(crate) fn looks_inside(&self) -> bool {
        self.rules.restrict() || self.rego.is_some()
    }

    /// Whether any rule allows something only while files are as they were.
    pub fn ties(&self) -> bool {
        self.rules.prefixes.iter().any(|rule| !rule.tied().is_empty())
    }

    /// Whether any layer allows anything.
    pub fn allows_something(&self) -> bool {
        let allows = |rule: &crate::PrefixRule| rule.decision() == Decision::Allow;
        self.rego.is_some() || !self.allowlist.entries().is_empty() || self.rules.prefixes.iter().any(allows)
    }

    /// Says of every command in the work whether it may run from `cwd`, and why.
    pub fn judge(&self, reading: &Reading, cwd: &Path) -> Verdict {
        self.judge_for(reading, cwd, Asker::default())
    }

    /// The same, with everything that is known of who asks.
    pub fn judge_for(&self, reading: &Reading, cwd: &Path, asker: Asker<'_>) -> Verdict {
        self.judge_case(reading, cwd, Case { asker, ..Case::default() }).0
    }

    /// The same, and how the rules in Rego decided about each command.
    pub fn judge_traced(&self, reading: &Reading, cwd: &Path, asker: Asker<'_>) -> (Verdict, Vec<Trace>) {
        self.judge_case(reading, cwd, Case { asker, traces: Some(RefCell::default()), ..Case::default() })
    }

    fn judge_case(&self, reading: &Reading, cwd: &Path, mut case: Case<'_>) -> (Verdict, Vec<Trace>) {
        case.shell = Case::commands_of(reading);
        let verdict = self.judge_reading(reading, cwd, &case);
        let mut verdict = self.unless_nothing_is_allowed(verdict);
        if let Some(line) = self.correction(reading, &verdict, cwd, &case) {
            verdict.reason = format!("{}; write instead: {line}", verdict.reason);
        }
        (verdict, case.traces.map(RefCell::into_inner).unwrap_or_default())
    }

    /// Says of every command in the work what the layers say, without a word about what else could be written.
    pub(crate) fn judge_reading(&self, reading: &Reading, cwd: &Path, case: &Case<'_>) -> Verdict {
        match reading {
            Reading::Plain(argv) => self.judge_argv(argv, cwd, case),
            Reading::Script(script) => match script.facts() {
                Ok(facts) => self.judge_facts(facts, cwd, case),
                Err(why) => self.judge_unreadable(why),
            },
        }
    }

    fn unless_nothing_is_allowed(&self, verdict: Verdict) -> Verdict {
        if verdict.decision == Decision::Deny || self.allows_something() {
            return verdict;
        }
        let reason =
            "nothing is allowed yet; set ALLOWED_COMMANDS to the commands that may run, such as ls,cat, or \
                      POLICY_DIR to a directory of rules in Rego"
                .to_owned();
        let rule = Some(format!("no command is allowed ({})", self.allowlist.place_of("")));
        Verdict { decision: Decision::Deny, reason, rule, suggest: None, commands: verdict.commands }
    }

    /// What a caller can do about work that cannot be judged.
    pub(crate) fn advice(&self) -> &'static str {
        if self.rego.is_some() {
            "write it out, because the policy judges every command and all of its words"
        } else if self.rules.restrict() {
            "write it so that it can be read, because some commands are blocked here"
        } else {
            "write the command out"
        }
    }

    fn judge_argv(&self, argv: &Argv, cwd: &Path, case: &Case<'_>) -> Verdict {
        let words: Vec<Word> = std::iter::once(&argv.file).chain(&argv.args).map(Word::known).collect();
        let mut weighed = Vec::new();
        Scene::direct(self, cwd, case).weigh(&words, &mut weighed);
        summed_up(weighed, &self.allowlist, self.allows_something())
    }

    fn judge_facts(&self, facts: &[Fact], cwd: &Path, case: &Case<'_>) -> Verdict {
        let mut weighed = Vec::new();
        Scene::direct(self, cwd, case).weigh_script(facts, &mut weighed);
        if weighed.is_empty() && self.rego.is_some() {
            let reason = "nothing in it is a command that the policy could judge".to_owned();
            return Verdict { reason, ..Verdict::default() };
        }
        summed_up(weighed, &self.allowlist, self.allows_something())
    }

    fn judge_unreadable(&self, why: &str) -> Verdict {
        if !self.restricts() {
            let reason = "allowed by *, although the script could not be read".to_owned();
            let rule = Some(format!("* ({})", self.allowlist.place_of("*")));
            return Verdict { decision: Decision::Allow, reason, rule, ..Verdict::default() };
        }
        // More would not help: no shell could read it either.
        let advice = if why.ends_with("is not closed") { "close it" } else { self.advice() };
        let reason = format!("the script cannot be judged: {why}; {advice}");
        Verdict { reason, ..Verdict::default() }
    }
}

fn commands(facts: &[Fact]) -> Vec<Vec<String>> {
    let words = |fact: &Fact| match fact {
        Fact::Command(words) => Some(words.iter().map(Word::shown).collect()),
        Fact::Timed => Some(vec!["time".to_owned()]),
        _ => None,
    };
    facts.iter().filter_map(words).collect()
}

/// The strictest decision, with the reason of the first command that it fell on, or of all that nothing allows.
fn summed_up(weighed: Vec<Weighed>, list: &Allowlist, allows_something: bool) -> Verdict {
    let decision = weighed.iter().map(|one| one.judged.decision).max().unwrap_or(Decision::Allow);
    let suggest = suggestion(&weighed);
    let denied = denial(&weighed, list, allows_something);
    let commands: Vec<Judged> = weighed.into_iter().map(|one| one.judged).collect();
    let deciding = commands.iter().find(|judged| judged.decision == decision);
    let single = decision != Decision::Allow || commands.len() == 1;
    let reason = match deciding {
        Some(_) if decision == Decision::Deny => denied,
        Some(judged) if single => judged.reason.clone(),
        Some(_) => allowed_by(&commands),
        None => "nothing in it runs a command".to_owned(),
    };
    let rule = deciding.filter(|_| single).and_then(|judged| judged.rule.clone());
    Verdict { decision, reason, rule, suggest, commands }
}

/// The rules that together would allow everything that is not allowed, if there are such rules.
fn suggestion(weighed: &[Weighed]) -> Option<String> {
    let mut rules: Vec<&str> = Vec::new();
    for one in weighed.iter().filter(|one| one.judged.decision != Decision::Allow) {
        let rule = one.suggest.as_deref()?;
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    (!rules.is_empty()).then(|| rules.join("\n\n"))
}

fn allowed_by(commands: &[Judged]) -> String {
    let mut reasons: Vec<&str> = Vec::new();
    for judged in commands {
        if !reasons.contains(&judged.reason.as_str()) {
            reasons.push(&judged.reason);
        }
    }
    format!("all {} commands are allowed: {}", commands.len(), reasons.join("; "))
}
