//! Every order in which sandboxes and commands can come, report, fail and go.

use std::collections::{HashMap, HashSet};
use std::ffi::CString;

use proptest::prelude::*;
use runward_model::{Abilities, Containment, Fence, Limits, Network, Profile, Tier};

use super::*;

const KEEP: Duration = Duration::from_secs(2);
const SESSION: SessionId = SessionId(1);
const NEXT: SessionId = SessionId(2);
const WORKSPACE: u64 = 9;

/// What commands of one kind need; kinds differ in a limit.
fn needs(kind: u64) -> Rc<Needs> {
    needs_in(Some(WORKSPACE), kind)
}

fn needs_in(workspace: Option<u64>, kind: u64) -> Rc<Needs> {
    let mut fence = Fence::new(Profile::ReadOnly, Tier::Full, Network::Off, CString::default());
    (fence.keep, fence.workspace) = (KEEP, workspace);
    Rc::new(Needs::of(&fence, &Limits { memory: Some(kind), ..Limits::default() }))
}

fn spawn(session: SessionId) -> Input {
    Input::Spawn { session, needs: needs(0) }
}

fn ready() -> Report {
    Report::Ready { containment: Containment::Namespace, cgroup: None, abilities: Abilities::default() }
}

fn started(session: SessionId) -> Report {
    Report::Started { session, pid: 7 }
}

fn exited(session: SessionId, alone: bool) -> Report {
    let (ending, usage) = (Ending::Exited(0), Usage::default());
    Report::Exited { session, ending, usage, hit: None, alone }
}

fn closed(session: SessionId) -> Report {
    Report::Closed { session, ended: 3, survivors: Vec::new() }
}

fn failed(session: SessionId, step: Step) -> Report {
    Report::Failed { session, step, errno: libc::ESTALE }
}

const FIRST: SandboxId = SandboxId(0);
const SECOND: SandboxId = SandboxId(1);

fn at(sandbox: SandboxId, report: Report) -> Input {
    Input::Reported { sandbox, report, spent: false }
}

/// A pool, and what it wanted last.
#[derive(Default)]
struct Trial(Pool, Duration);

impl Trial {
    fn step(&mut self, input: Input) -> Vec<Effect> {
        self.0.step(self.1, input)
    }

    /// A pool whose only sandbox has run one command and waits.
    fn idle() -> Self {
        let mut trial = Trial::default();
        for input in [
            spawn(SESSION),
            at(FIRST, started(SESSION)),
            at(FIRST, exited(SESSION, true)),
            at(FIRST, ready()),
        ] {
            trial.step(input);
        }
        trial
    }

    fn later(&mut self, by: Duration) -> Vec<Effect> {
        self.1 += by;
        self.step(Input::Tick)
    }
}

#[test]
fn a_command_gets_a_new_sandbox_and_the_next_one_like_it_the_same() {
    let mut trial = Trial::default();
    let build = Effect::Build { sandbox: FIRST, needs: needs(0) };
    assert_eq!(trial.step(spawn(SESSION)), [build, Effect::Send { sandbox: FIRST, session: SESSION }]);
    let release = Effect::Release { session: SESSION };
    assert_eq!(trial.step(at(FIRST, started(SESSION))), [release, Effect::Report(started(SESSION))]);
    assert_eq!((trial.0.of(SESSION), trial.0.first(SESSION)), (Some(FIRST), Some(7)));
    assert_eq!(trial.step(at(FIRST, exited(SESSION, true))), [Effect::Report(exited(SESSION, true))]);
    assert_eq!(trial.0.of(SESSION), None);
    assert_eq!(
        trial.step(spawn(NEXT)),
        [Effect::Send { sandbox: FIRST, session: NEXT }],
        "while it is cleaned"
    );
    assert_eq!(trial.step(at(FIRST, ready())), [], "the command that it was sent comes next");
    assert_eq!(trial.step(at(FIRST, started(NEXT))).len(), 2);
}

#[test]
fn two_commands_never_share_a_sandbox_and_one_that_waits_is_taken_first() {
    let mut trial = Trial::idle();
    assert_eq!(trial.step(spawn(NEXT)), [Effect::Send { sandbox: FIRST, session: NEXT }]);
    assert!(matches!(trial.step(spawn(SessionId(3)))[..], [Effect::Build { sandbox: SECOND, .. }, _]));
    trial.step(at(FIRST, started(NEXT)));
    trial.step(at(FIRST, exited(NEXT, true)));
    trial.step(at(SECOND, started(SessionId(3))));
    trial.step(at(SECOND, exited(SessionId(3), true)));
    trial.step(at(SECOND, ready()));
    let next = SessionId(4);
    assert_eq!(trial.step(spawn(next)), [Effect::Send { sandbox: SECOND, session: next }]);
}

#[test]
fn other_needs_take_another_sandbox() {
    let mut trial = Trial::idle();
    let effects = trial.step(Input::Spawn { session: NEXT, needs: needs(1) });
    assert!(matches!(
        effects[..],
        [Effect::Build { sandbox: SECOND, .. }, Effect::Send { sandbox: SECOND, .. }]
    ));
}

#[test]
fn what_was_left_behind_keeps_its_sandbox_until_it_is_closed() {
    let mut trial = Trial::default();
    trial.step(spawn(SESSION));
    trial.step(at(FIRST, started(SESSION)));
    trial.step(at(FIRST, exited(SESSION, false)));
    assert_eq!(trial.step(at(FIRST, ready())), [], "it is not clean yet");
    assert!(matches!(trial.step(spawn(NEXT))[..], [Effect::Build { sandbox: SECOND, .. }, _]));
    let close = Effect::Close { sandbox: FIRST, session: SESSION };
    assert_eq!(trial.step(Input::Close { session: SESSION }), [close]);
    assert_eq!(trial.step(at(FIRST, closed(SESSION))), [Effect::Report(closed(SESSION))]);
}

#[test]
fn a_command_that_could_not_start_is_tried_in_another_sandbox_once() {
    for step in [Step::Cwd, Step::Confine] {
        let mut trial = Trial::idle();
        trial.step(spawn(NEXT));
        assert_eq!(trial.step(at(FIRST, failed(NEXT, step))), [Effect::Kill { sandbox: FIRST }]);
        let again = trial.step(Input::Ended { sandbox: FIRST, hit: None });
        assert!(matches!(
            again[..],
            [Effect::Build { sandbox: SECOND, .. }, Effect::Send { session: NEXT, .. }]
        ));
        let told = trial.step(at(SECOND, failed(NEXT, step)));
        assert_eq!(told, [Effect::Release { session: NEXT }, Effect::Report(failed(NEXT, step))]);
    }
}

#[test]
fn what_no_other_sandbox_would_change_is_told_at_once() {
    let mut trial = Trial::idle();
    trial.step(spawn(NEXT));
    let told = trial.step(at(FIRST, failed(NEXT, Step::Exec)));
    assert_eq!(told, [Effect::Release { session: NEXT }, Effect::Report(failed(NEXT, Step::Exec))]);
    assert_eq!(trial.step(spawn(SessionId(3))).len(), 1, "the sandbox itself is fine");
}

#[test]
fn a_sandbox_that_ends_before_its_command_starts_is_replaced_once() {
    let mut trial = Trial::default();
    trial.step(spawn(SESSION));
    let again = trial.step(Input::Ended { sandbox: FIRST, hit: None });
    assert!(matches!(again[..], [Effect::Build { .. }, Effect::Send { sandbox: SECOND, session: SESSION }]));
    let told = trial.step(Input::Ended { sandbox: SECOND, hit: None });
    let lost = Report::Failed { session: SESSION, step: Step::Confine, errno: libc::EIO };
    assert_eq!(told, [Effect::Release { session: SESSION }, Effect::Report(lost)]);
}

#[test]
fn a_command_that_is_closed_before_it_starts_never_starts_elsewhere() {
    let mut sent = Trial::default();
    sent.step(spawn(SESSION));
    assert_eq!(sent.step(Input::Close { session: SESSION }).len(), 1);
    let told = sent.step(Input::Ended { sandbox: FIRST, hit: None });
    assert!(matches!(told[..], [Effect::Release { .. }, Effect::Report(Report::Failed { .. })]), "{told:?}");

    let mut ending = Trial::idle();
    ending.step(spawn(NEXT));
    ending.step(at(FIRST, failed(NEXT, Step::Cwd)));
    let told = ending.step(Input::Close { session: NEXT });
    assert!(matches!(told[..], [Effect::Release { .. }, Effect::Report(Report::Failed { .. })]), "{told:?}");
    assert_eq!(ending.step(Input::Ended { sandbox: FIRST, hit: None }), []);
}

#[test]
fn how_a_command_ended_is_told_when_its_sandbox_was_killed() {
    for (hit, ending) in [(None, Ending::Lost), (Some(LimitHit::Memory), Ending::Signaled(Signal::KILL))] {
        let mut trial = Trial::default();
        trial.step(spawn(SESSION));
        trial.step(at(FIRST, started(SESSION)));
        let exited = Report::Exited { session: SESSION, ending, usage: Usage::default(), hit, alone: true };
        assert_eq!(trial.step(Input::Ended { sandbox: FIRST, hit }), [Effect::Report(exited)]);
    }
    let mut trial = Trial::default();
    for input in [spawn(SESSION), at(FIRST, started(SESSION)), at(FIRST, exited(SESSION, false))] {
        trial.step(input);
    }
    let closed = Report::Closed { session: SESSION, ended: 0, survivors: Vec::new() };
    assert_eq!(trial.step(Input::Ended { sandbox: FIRST, hit: None }), [Effect::Report(closed)]);
}

#[test]
fn what_cannot_be_built_or_sent_is_told_and_not_used_again() {
    let failure = Failure { step: Step::Limit, errno: libc::ENOSPC };
    let mut trial = Trial::default();
    trial.step(spawn(SESSION));
    let told = trial.step(Input::Failed { sandbox: FIRST, failure });
    let report = Report::Failed { session: SESSION, step: Step::Limit, errno: libc::ENOSPC };
    let kill = Effect::Kill { sandbox: FIRST };
    assert_eq!(told, [kill, Effect::Release { session: SESSION }, Effect::Report(report)]);
    assert!(matches!(trial.step(spawn(NEXT))[..], [Effect::Build { sandbox: SECOND, .. }, _]));
    assert_eq!(trial.step(Input::Ended { sandbox: FIRST, hit: None }), [], "it was told already");
}

#[test]
fn a_sandbox_that_has_run_into_a_limit_serves_nobody_else() {
    for (report, alone) in [(exited(SESSION, true), true), (closed(SESSION), false)] {
        let mut trial = Trial::default();
        trial.step(spawn(SESSION));
        trial.step(at(FIRST, started(SESSION)));
        if !alone {
            trial.step(at(FIRST, exited(SESSION, false)));
        }
        let effects = trial.step(Input::Reported { sandbox: FIRST, report: report.clone(), spent: true });
        assert_eq!(effects, [Effect::Report(report), Effect::Kill { sandbox: FIRST }]);
    }
}

#[test]
fn a_sandbox_goes_when_it_has_waited_long_enough() {
    let mut trial = Trial::idle();
    assert_eq!(trial.0.alarm(trial.1), Some(KEEP));
    assert_eq!(trial.later(Duration::from_millis(1)), []);
    assert_eq!(trial.later(KEEP), [Effect::Kill { sandbox: FIRST }]);
    assert_eq!(trial.0.alarm(trial.1), None, "it is being ended");
    assert!(matches!(trial.step(spawn(NEXT))[..], [Effect::Build { .. }, _]));
}

#[test]
fn an_old_sandbox_is_not_used_again() {
    let mut trial = Trial::idle();
    trial.1 += MAX_AGE;
    assert!(matches!(trial.step(spawn(NEXT))[..], [Effect::Build { sandbox: SECOND, .. }, _]));
    assert_eq!(trial.step(Input::Tick), [Effect::Kill { sandbox: FIRST }]);
}

#[test]
fn what_shares_nothing_has_a_sandbox_of_its_own() {
    let mut trial = Trial::default();
    let alone = |session| Input::Spawn { session, needs: needs_in(None, 0) };
    trial.step(alone(SESSION));
    trial.step(at(FIRST, started(SESSION)));
    assert_eq!(trial.step(at(FIRST, exited(SESSION, true)))[1..], [Effect::Kill { sandbox: FIRST }]);
    assert!(matches!(trial.step(alone(NEXT))[..], [Effect::Build { sandbox: SECOND, .. }, _]));
}

#[test]
fn a_workspace_that_was_left_goes_with_its_last_command() {
    let left = Input::Left { workspace: WORKSPACE };
    let mut idle = Trial::idle();
    assert_eq!(idle.step(Input::Left { workspace: 1 }), []);
    assert_eq!(idle.step(left.clone()), [Effect::Kill { sandbox: FIRST }]);
    let mut busy = Trial::idle();
    busy.step(spawn(NEXT));
    busy.step(at(FIRST, started(NEXT)));
    assert_eq!(busy.step(left), []);
    assert_eq!(busy.step(at(FIRST, exited(NEXT, true)))[1..], [Effect::Kill { sandbox: FIRST }]);
}

#[test]
fn no_more_than_so_many_wait_at_once() {
    let mut trial = Trial::default();
    let sandboxes = 0..u64::try_from(MAX_IDLE).unwrap() + 2;
    for (id, session) in sandboxes.clone().map(|number| (SandboxId(number), SessionId(number))) {
        trial.step(spawn(session));
        trial.step(at(id, started(session)));
    }
    for (id, session) in sandboxes.map(|number| (SandboxId(number), SessionId(number))) {
        trial.step(at(id, exited(session, true)));
        trial.step(at(id, ready()));
    }
    assert_eq!(trial.step(Input::Tick).len(), 2);
    assert_eq!(trial.step(Input::Tick), []);
}

/// Inputs of all kinds about few sandboxes and sessions, so that they meet.
fn inputs() -> impl Strategy<Value = Vec<(Input, u64)>> {
    let sandbox = || (0u64..5).prop_map(SandboxId);
    let session = || (0u64..6).prop_map(SessionId);
    let step = prop_oneof![Just(Step::Cwd), Just(Step::Confine), Just(Step::Exec)];
    let report = prop_oneof![
        Just(ready()),
        session().prop_map(started),
        (session(), any::<bool>()).prop_map(|(session, alone)| exited(session, alone)),
        session().prop_map(closed),
        (session(), step).prop_map(|(session, step)| failed(session, step)),
    ];
    let failure = Failure { step: Step::Limit, errno: libc::ENOSPC };
    let input = prop_oneof![
        4 => (session(), 0u64..2).prop_map(|(session, kind)| Input::Spawn { session, needs: needs(kind) }),
        1 => session().prop_map(|session| Input::Close { session }),
        1 => sandbox().prop_map(move |sandbox| Input::Failed { sandbox, failure }),
        8 => (sandbox(), report, any::<bool>())
            .prop_map(|(sandbox, report, spent)| Input::Reported { sandbox, report, spent }),
        2 => sandbox().prop_map(|sandbox| Input::Ended { sandbox, hit: None }),
        1 => Just(Input::Tick),
        1 => Just(Input::Left { workspace: WORKSPACE }),
    ];
    proptest::collection::vec((input, 0u64..3000), 0..60)
}

/// What has to hold of all that a pool ever wants.
#[derive(Default)]
struct Watcher {
    kinds: HashMap<SandboxId, Rc<Needs>>,
    wanted: HashMap<SessionId, Rc<Needs>>,
    /// The command that each sandbox has, and those that are being ended.
    busy: HashMap<SandboxId, SessionId>,
    killed: HashSet<SandboxId>,
    sent: HashMap<SessionId, u32>,
    released: HashSet<SessionId>,
    over: HashSet<SessionId>,
}

impl Watcher {
    fn see(&mut self, effect: Effect) {
        match effect {
            Effect::Build { sandbox, needs } => assert!(self.kinds.insert(sandbox, needs).is_none()),
            Effect::Send { sandbox, session } => {
                assert!(!self.killed.contains(&sandbox), "{sandbox:?} is being ended");
                assert_eq!(self.kinds.get(&sandbox), self.wanted.get(&session), "needs differ");
                assert!(!self.released.contains(&session), "its descriptors are gone");
                assert_eq!(self.busy.insert(sandbox, session), None, "two commands in {sandbox:?}");
                let sent = self.sent.entry(session).or_default();
                *sent += 1;
                assert!(*sent <= 2, "{session} was tried {sent} times");
            }
            Effect::Release { session } => assert!(self.released.insert(session)),
            Effect::Kill { sandbox } => assert!(self.killed.insert(sandbox), "{sandbox:?} is ended twice"),
            Effect::Report(report) => {
                let session = report.session().unwrap();
                assert!(!self.over.contains(&session), "{report:?} after the last report");
                assert!(self.released.contains(&session), "{report:?} before {session} was let go of");
                if report.is_last() {
                    self.over.insert(session);
                    self.busy.retain(|_, own| *own != session);
                }
            }
            Effect::Close { sandbox, session } => assert_eq!(self.busy.get(&sandbox), Some(&session)),
        }
    }
}

proptest! {
    #[test]
    fn in_every_order_commands_are_kept_apart_and_each_is_reported_to_its_end(inputs in inputs()) {
        let mut trial = Trial::default();
        let mut watcher = Watcher::default();
        let mut used = HashSet::new();
        for (input, wait) in inputs {
            trial.1 += Duration::from_millis(wait);
            match &input {
                // No id is used twice.
                Input::Spawn { session, .. } if !used.insert(*session) => continue,
                Input::Spawn { session, needs } => {
                    watcher.wanted.insert(*session, needs.clone());
                }
                // It is gone with its command, and nothing is heard of it any more.
                Input::Ended { sandbox, .. } => {
                    watcher.busy.remove(sandbox);
                }
                _ => {}
            }
            for effect in trial.step(input) {
                watcher.see(effect);
            }
        }
        for round in 0..2u64 {
            let ids: Vec<_> = trial.0.sandboxes.iter().map(|sandbox| sandbox.id).collect();
            for sandbox in ids {
                watcher.busy.remove(&sandbox);
                let effects = trial.step(Input::Ended { sandbox, hit: None });
                for effect in effects {
                    watcher.see(effect);
                }
            }
            prop_assert!(round == 0 || trial.0.sandboxes.is_empty());
        }
        prop_assert_eq!(&watcher.over, &used, "every command was reported to its end");
        prop_assert_eq!(&watcher.released, &used);
    }
}
