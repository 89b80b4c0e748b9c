//! Asking the interpreter, within bounds.
//!
//! The interpreter counts its steps, but not those inside a single built-in function, and it can use up a stack. So it
//! works on a thread of its own with room to spare, and whoever asked waits no longer than the bound.

use std::cell::Cell;
use std::fmt;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use regorus::utils::limits::ExecutionTimerConfig;
use regorus::{Engine, LimitError, Value};

use super::{ALLOW, ASK, Answer, PROFILE, REASON, Set, fault};

/// How long all commands of one request may take together.
const PER_REQUEST: Duration = Duration::from_secs(2);
/// How many steps the interpreter may take for one rule about one command.
const STEPS: NonZeroU32 = NonZeroU32::new(1_000_000).unwrap();
/// Reserved, not used, unless rules are nested very deeply.
const STACK: usize = 256 << 20;
/// Threads that are still busy although nobody waits for them any more; beyond this nothing more is asked.
const MOST_BUSY: usize = 64;

static BUSY: AtomicUsize = AtomicUsize::new(0);

/// The time that is left for one request.
#[derive(Debug)]
pub(crate) struct Budget(Cell<Duration>);

impl Default for Budget {
    fn default() -> Self {
        Budget(Cell::new(PER_REQUEST))
    }
}

/// Which of the optional rules there are.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Queries {
    ask: bool,
    reason: bool,
    profile: bool,
}

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum Failure {
    /// It was not found within the bounds.
    Unfinished(String),
    /// The set contradicts itself.
    Error(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Failure::Unfinished(why) | Failure::Error(why)) = self;
        f.write_str(why)
    }
}

impl Queries {
    /// Looks for the rules, and has everything prepared for evaluation.
    pub(super) fn of(engine: &mut Engine) -> Result<Self, String> {
        let mut is_rule = |rule: &str| engine.compile_with_entrypoint(&rule.into());
        if let Err(error) = is_rule(ALLOW) {
            let why = fault::told(&error);
            let missing = "there is no rule data.sandbox.main.allow; write it in \"package sandbox.main\"";
            return Err(if why == "not a valid rule path" { missing.to_owned() } else { why });
        }
        let [ask, reason, profile] = [ASK, REASON, PROFILE].map(|rule| is_rule(rule).is_ok());
        Ok(Queries { ask, reason, profile })
    }
}

impl Set {
    /// What the rules say of this input.
    pub(super) fn ask(&self, input: &Value, budget: &Budget) -> Result<Answer, Failure> {
        let limit = budget.0.get();
        let begun = Instant::now();
        let (set, input) = (self.clone(), input.clone());
        let answered = aside(limit, move || set.answer(input));
        budget.0.set(limit.saturating_sub(begun.elapsed()));
        answered.and_then(|answer| answer)
    }

    /// Whether it was a built-in function that failed, for words that it cannot take. Rego calls that undefined.
    pub(super) fn fails_only_by_its_words(&self, input: &Value, budget: &Budget) -> bool {
        let mut lenient = self.clone();
        lenient.engine.set_strict_builtin_errors(false);
        lenient.ask(input, budget).is_ok()
    }

    fn answer(mut self, input: Value) -> Result<Answer, Failure> {
        let engine = &mut self.engine;
        engine.set_execution_timer_config(step_limit());
        engine.set_input(input);
        let mut value = |rule: &str, there: bool| {
            let value = there.then(|| engine.eval_rule(rule.to_owned()));
            value.unwrap_or(Ok(Value::Undefined)).map_err(|error| failure(&error))
        };
        let allow = value(ALLOW, true)?;
        let allowed = allow == Value::Bool(true);
        let ask = value(ASK, self.queries.ask && allowed)?;
        let reason = value(REASON, self.queries.reason && !allowed)?;
        let profile = value(PROFILE, self.queries.profile && allowed)?;
        Ok(Answer { allow, ask, reason, profile })
    }
}

/// The interpreter looks at the clock after so many steps, and then it is always too late.
pub(super) fn step_limit() -> ExecutionTimerConfig {
    ExecutionTimerConfig { limit: Duration::ZERO, check_interval: STEPS }
}

fn failure(error: &(impl fmt::Display + AsRef<dyn std::error::Error + Send + Sync + 'static>)) -> Failure {
    match error.as_ref().downcast_ref::<LimitError>() {
        Some(LimitError::TimeLimitExceeded { .. }) => {
            Failure::Unfinished(format!("the policy takes more than {STEPS} steps to decide; simplify it"))
        }
        _ => Failure::Error(fault::told(error)),
    }
}

fn too_long() -> String {
    format!("the policy takes longer than {} s to decide; simplify it", PER_REQUEST.as_secs())
}

/// Does something on a thread of its own, and waits for it no longer than this.
pub(super) fn aside<T: Send + 'static>(
    limit: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Failure> {
    let unfinished = |why: &str| Failure::Unfinished(why.to_owned());
    if BUSY.fetch_add(1, Ordering::Relaxed) >= MOST_BUSY {
        BUSY.fetch_sub(1, Ordering::Relaxed);
        return Err(unfinished("the policy is busy with too many other commands; try again"));
    }
    let busy = Busy;
    let (tell, told) = mpsc::sync_channel(1);
    let thread = thread::Builder::new().name("rego".into()).stack_size(STACK);
    let started = thread.spawn(move || {
        let _busy = busy;
        let _ = tell.send(work());
    });
    started.map_err(|error| unfinished(&format!("no thread for the policy: {error}")))?;
    told.recv_timeout(limit).map_err(|error| match error {
        RecvTimeoutError::Timeout => Failure::Unfinished(too_long()),
        RecvTimeoutError::Disconnected => unfinished("the interpreter of the policy failed"),
    })
}

/// One thread at work.
struct Busy;

impl Drop for Busy {
    fn drop(&mut self) {
        BUSY.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_waits_longer_than_the_bound_for_what_does_not_end() {
        let (release, wait) = mpsc::channel::<()>();
        let failure = aside(Duration::from_millis(1), move || wait.recv()).unwrap_err();
        assert!(failure.to_string().starts_with("the policy takes longer than 2 s"), "{failure}");
        drop(release);
    }

    #[test]
    fn an_interpreter_that_panics_is_a_failure_and_no_more() {
        let failure = aside(Duration::from_mins(1), || assert!(std::hint::black_box(false))).unwrap_err();
        assert_eq!(failure.to_string(), "the interpreter of the policy failed");
    }
}
