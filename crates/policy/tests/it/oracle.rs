//! Bash itself as the judge of the judge: whatever the policy allows is written and run, and nothing may be executed that
//! was not in the verdict, or that the same policy denies once its words are known.

mod policies;
mod sources;
mod surroundings;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::available_parallelism;

use runward_model::{Argv, Decision, Verdict, Work};
use runward_policy::{Policy, Reading, read};
use runward_script::Dialect;
use runward_testkit::{Cage, Dice, Executed, Recorded, executed, skipped};

use policies::{DECOYS, policies};
use sources::Source;
use surroundings::Surroundings;

/// How many streams of scripts there are. Each is the same in every run with the same seed, whichever thread takes it.
const STREAMS: u64 = 16;

/// How many allowed scripts are run; each takes a few milliseconds. `ORACLE_RUNS=1000000` asks for a million.
fn wanted_runs() -> usize {
    std::env::var("ORACLE_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(20_000)
}

/// Where one thread makes, judges and runs scripts.
struct Court<'a> {
    cage: Cage,
    work: PathBuf,
    surroundings: &'a Surroundings,
    policies: Vec<(&'static str, Policy)>,
    /// How many scripts each policy allowed.
    allowed: BTreeMap<&'static str, usize>,
}

impl<'a> Court<'a> {
    fn new(surroundings: &'a Surroundings) -> Self {
        let cage = Cage::with(&DECOYS);
        let work = cage.work("work");
        let policies = policies(&cage.bin());
        Court { cage, work, surroundings, policies, allowed: BTreeMap::new() }
    }

    /// Runs so many scripts of a stream.
    fn try_stream(&mut self, stream: u64, wanted: usize) {
        let mut source = Source::new(stream);
        let mut runs = 0;
        while runs < wanted {
            let (text, dice) = source.script();
            if self.try_out(&text, dice) {
                runs += 1;
                // What scripts leave behind must not pile up.
                if runs.is_multiple_of(64) {
                    self.cage.work("work");
                }
            }
        }
    }

    /// Runs a script that some policy allows and holds each of those to what it said; whether it was run.
    fn try_out(&mut self, text: &str, dice: &mut Dice) -> bool {
        let Ok(Reading::Script(script)) = read(&Work::Line(text.to_owned())) else { return false };
        let Some(Ok(written)) = script.written(Dialect::Bash) else { return false };
        let reading = Reading::Script(script);
        // Judging takes as long as running; half of them are asked.
        let from = dice.below(self.policies.len());
        let verdicts: Vec<_> = self
            .policies
            .iter()
            .cycle()
            .skip(from)
            .take(self.policies.len() / 2)
            .map(|(name, policy)| (*name, policy, policy.judge(&reading, &self.work)))
            .filter(|(.., verdict)| verdict.decision == Decision::Allow)
            .collect();
        if verdicts.is_empty() {
            return false;
        }
        let (recorded, variables) = self.run(&written, dice).unwrap();
        for (name, policy, verdict) in &verdicts {
            *self.allowed.entry(name).or_default() += 1;
            for one in &recorded.executed {
                let wrong = objection(policy, verdict, one, &self.work);
                assert_eq!(
                    wrong, None,
                    "{name}: {one:?}\n{text}\n--- written:\n{written}\n--- {variables:?}"
                );
            }
        }
        true
    }

    /// What a text executes beside the shell that reads it; `None` where that cannot be recorded.
    fn run(&self, written: &str, dice: &mut Dice) -> Option<(Recorded, Vec<(String, String)>)> {
        let variables = self.surroundings.variables(dice, written);
        let mut recorded = executed(&["/bin/bash", "--norc", "--noprofile", "-c", written], |command| {
            self.cage.confine(command, &self.work);
            command
                .envs(variables.clone())
                .stdout(std::process::Stdio::null())
                .stderr(std::process::Stdio::null());
        })?;
        let bash = recorded.executed.drain(..1.min(recorded.executed.len())).next();
        assert!(bash.is_none_or(|bash| bash.program.ends_with("bash")));
        Some((recorded, variables))
    }
}

/// What speaks against what was executed: it is not in the verdict, or the policy denies those very words.
fn objection(policy: &Policy, verdict: &Verdict, one: &Executed, work: &Path) -> Option<String> {
    let judged: BTreeSet<PathBuf> =
        verdict.commands.iter().filter_map(|judged| judged.program.as_ref()?.canonicalize().ok()).collect();
    if !judged.contains(&one.program) {
        return Some(format!("not in the verdict, which has {judged:?}"));
    }
    let file = one.program.file_name()?.to_str()?;
    // The shell behind `sh` has another name.
    let file = if file == "dash" { "sh" } else { file }.to_owned();
    let argv = Argv { file, args: one.argv.get(1..).unwrap_or_default().to_vec() };
    let again = policy.judge(&Reading::Plain(argv), work);
    // Only what is said of the program itself: its words are more suspicious once they are known, even where they are data.
    let first = again.commands.into_iter().next()?;
    (first.decision != Decision::Allow).then_some(first.reason)
}

#[test]
fn the_recorder_sees_every_program_that_a_script_starts() {
    let surroundings = Surroundings::new();
    let court = Court::new(&surroundings);
    let names = |text: &str| {
        let (recorded, _) = court.run(text, &mut Dice::new(0))?;
        assert!(recorded.ended);
        let name = |one: Executed| one.program.file_name().unwrap().to_str().unwrap().to_owned();
        Some(recorded.executed.into_iter().map(name).collect::<BTreeSet<_>>())
    };
    let Some(direct) = names("canary") else { return skipped("processes cannot be traced here") };
    assert_eq!(direct, BTreeSet::from(["canary".to_owned()]));
    for (text, wanted) in [
        ("ls | canary", &["ls", "canary"][..]),
        ("echo $(canary)", &["canary"]),
        ("env nice canary", &["env", "nice", "canary"]),
        ("exec canary", &["canary"]),
        ("canary &", &["canary"]),
        ("(sh -c 'bash -c \"canary; :\"; :') > >(cat)", &["bash", "canary", "cat", "dash"]),
        ("exec -a ls canary", &["canary"]),
        ("find . -maxdepth 0 -exec canary {} +", &["canary", "find"]),
        ("nosuchprogram; echo x; :", &[]),
    ] {
        let wanted: BTreeSet<String> = wanted.iter().map(|name| (*name).to_owned()).collect();
        let found = names(text).unwrap();
        assert_eq!(found, wanted.iter().cloned().collect(), "{text}");
    }
    let (late, _) = court.run("while :; do :; done", &mut Dice::new(0)).unwrap();
    assert!(!late.ended);
}

#[test]
fn whatever_is_allowed_executes_nothing_that_was_not_judged() {
    let surroundings = Surroundings::new();
    if Court::new(&surroundings).run(":", &mut Dice::new(0)).is_none() {
        return skipped("processes cannot be traced here");
    }
    let (wanted, streams) = (wanted_runs(), AtomicU64::new(0));
    let threads = available_parallelism().map_or(2, usize::from);
    let counts: Vec<_> = std::thread::scope(|scope| {
        let thread = || {
            let mut court = Court::new(&surroundings);
            while let stream @ 0..STREAMS = streams.fetch_add(1, Ordering::Relaxed) {
                court.try_stream(stream, wanted.div_ceil(usize::try_from(STREAMS).unwrap()));
            }
            court.allowed
        };
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(thread)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for (name, _) in policies(Path::new("/usr/bin")) {
        let allowed: usize = counts.iter().filter_map(|count| count.get(name)).sum();
        assert!(allowed > wanted / 50, "{name} allowed only {allowed} scripts of {wanted}");
    }
}
