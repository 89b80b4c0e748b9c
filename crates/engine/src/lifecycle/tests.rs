use std::time::Duration;

use proptest::prelude::*;
use runward_model::{Ending, Signal};

use super::*;

fn exited(alone: bool) -> Input {
    Input::Exited { ending: Ending::Exited(0), usage: Usage::default(), alone }
}

fn closed(ended: u32) -> Input {
    Input::Closed { ended, survivors: Vec::new() }
}

fn run(inputs: impl IntoIterator<Item = Input>) -> (State, Vec<Effect>) {
    run_with(Background::Kill, inputs)
}

fn run_with(background: Background, inputs: impl IntoIterator<Item = Input>) -> (State, Vec<Effect>) {
    inputs.into_iter().fold(
        (State::running(Stream::BOTH, background), Vec::new()),
        |(state, mut effects), input| {
            let (state, more) = state.step(input);
            effects.extend(more);
            (state, effects)
        },
    )
}

const EOFS: [Input; 2] = [Input::Eof(Stream::Stdout), Input::Eof(Stream::Stderr)];

#[test]
fn a_session_ends_after_exit_and_both_ends_of_file() {
    let [out, err] = EOFS;
    let (state, effects) = run([out, exited(true)]);
    assert_eq!(state.end(), None);
    assert_eq!(effects, [Effect::Arm(Timer::Drain)]);
    let end = state.step(err).0.end().unwrap();
    assert_eq!((end.ending, end.cut, end.stopped), (Ending::Exited(0), false, None));
}

#[test]
fn outputs_held_open_past_the_drain_grace_are_cut_and_said_so() {
    let (state, effects) = run([exited(false), Input::Timer]);
    assert_eq!(effects, [Effect::Arm(Timer::Drain), Effect::Close, Effect::Arm(Timer::GiveUp)]);
    let (state, _) = state.step(closed(2));
    assert_eq!(state.end(), None);
    let [out, err] = EOFS;
    let end = state.step(out).0.step(err).0.end().unwrap();
    assert!(end.cut);
    assert_eq!(end.gone.ended, 2);
}

#[test]
fn a_process_left_behind_with_other_outputs_is_killed_once_the_grace_is_over() {
    let [out, err] = EOFS;
    let (state, effects) = run([out, err, exited(false)]);
    assert_eq!(effects, [Effect::Arm(Timer::Drain)]);
    let (state, effects) = state.step(Input::Timer);
    assert_eq!(effects, [Effect::Close, Effect::Arm(Timer::GiveUp)]);
    let end = state.step(closed(1)).0.end().unwrap();
    assert!(!end.cut);
}

#[test]
fn a_process_that_may_stay_behind_is_released() {
    let [out, err] = EOFS;
    let (state, effects) = run_with(Background::Keep, [out, err, exited(false)]);
    assert_eq!(effects, [Effect::Release]);
    let end = state.end().unwrap();
    assert!(end.kept && !end.cut);
    let (state, effects) = run_with(Background::Keep, [exited(false), Input::Timer]);
    assert_eq!(effects, [Effect::Arm(Timer::Drain), Effect::Release]);
    assert!(state.end().unwrap().cut);
}

fn left_behind() -> (State, Vec<Effect>) {
    run_with(Background::Session, [exited(false), Input::Timer])
}

#[test]
fn what_is_left_behind_goes_on_until_it_ends_by_itself() {
    let (state, effects) = left_behind();
    assert_eq!(effects, [Effect::Arm(Timer::Drain), Effect::GoOn]);
    let [out, err] = EOFS;
    let (state, effects) = state.step(out);
    assert_eq!((state.end(), effects), (None, Vec::new()));
    let end = state.step(err).0.step(closed(0)).0.end().unwrap();
    assert_eq!((end.ending, end.cut, end.kept, end.stopped), (Ending::Exited(0), false, false, None));
}

#[test]
fn what_goes_on_is_asked_to_end_and_then_killed() {
    let (state, effects) = left_behind().0.step(Input::Stop(StopReason::Cancelled));
    assert_eq!(effects, [Effect::Terminate, Effect::Arm(Timer::Grace)]);
    let (state, effects) = state.step(Input::Timer);
    assert_eq!(effects, [Effect::Close, Effect::Arm(Timer::GiveUp)]);
    let [out, err] = EOFS;
    let end = state.step(closed(1)).0.step(out).0.step(err).0.end().unwrap();
    assert_eq!((end.stopped, end.gone.ended), (Some(StopReason::Cancelled), 1));
}

#[test]
fn what_nobody_would_come_back_to_or_has_no_room_is_killed() {
    let stop = Input::Stop(StopReason::Cancelled);
    let (_, effects) = run_with(Background::Session, [exited(false), stop, Input::Timer]);
    assert!(effects.contains(&Effect::Close) && !effects.contains(&Effect::GoOn));
    let (_, effects) = left_behind().0.step(Input::NoRoom);
    assert_eq!(effects, [Effect::Close, Effect::Arm(Timer::GiveUp)]);
}

#[test]
fn it_is_looked_again_for_somebody_to_go_on() {
    let (state, effects) = left_behind().0.step(Input::Nobody);
    assert_eq!(effects, [Effect::Arm(Timer::Drain)]);
    assert_eq!(state.step(Input::Timer).1, [Effect::GoOn]);
}

#[test]
fn a_session_that_is_stopped_leaves_nothing_behind_whatever_the_operator_wants() {
    let [out, err] = EOFS;
    let stop = Input::Stop(StopReason::Cancelled);
    let (_, effects) = run_with(Background::Keep, [stop, exited(false), out, err, Input::Timer]);
    assert!(effects.contains(&Effect::Close));
}

#[test]
fn a_session_on_a_terminal_has_one_output() {
    let state = State::running([Stream::Stdout], Background::Kill).step(exited(true)).0;
    assert!(state.step(Input::Eof(Stream::Stdout)).0.end().is_some());
}

#[test]
fn a_stop_asks_first_and_kills_once_the_grace_is_over() {
    let reason = StopReason::TimedOut(Duration::from_millis(700));
    let (state, effects) = run([Input::Stop(reason)]);
    assert_eq!(effects, [Effect::Terminate, Effect::Arm(Timer::Grace)]);
    let (state, effects) = state.step(Input::Timer);
    assert_eq!(effects, [Effect::Close, Effect::Arm(Timer::GiveUp)]);
    let killed =
        Input::Exited { ending: Ending::Signaled(Signal::KILL), usage: Usage::default(), alone: false };
    let [out, err] = EOFS;
    let end = [killed, closed(1), out, err].into_iter().fold(state, |state, input| state.step(input).0).end();
    assert_eq!(end.unwrap().stopped, Some(reason));
}

#[test]
fn descendants_keep_the_grace_when_the_first_process_obeys_at_once() {
    let (state, effects) = run([Input::Stop(StopReason::Cancelled), exited(false)]);
    assert_eq!(effects, [Effect::Terminate, Effect::Arm(Timer::Grace)]);
    assert_eq!(state.end(), None);
}

#[test]
fn a_stop_after_the_exit_changes_nothing() {
    let (state, _) = run([exited(true), Input::Stop(StopReason::Cancelled)]);
    let [out, err] = EOFS;
    assert_eq!(state.step(out).0.step(err).0.end().unwrap().stopped, None);
}

#[test]
fn the_first_reason_to_stop_wins() {
    let (state, _) =
        run([Input::Stop(StopReason::Cancelled), Input::Stop(StopReason::ShuttingDown), exited(true)]);
    let [out, err] = EOFS;
    assert_eq!(state.step(out).0.step(err).0.end().unwrap().stopped, Some(StopReason::Cancelled));
}

#[test]
fn a_process_that_hangs_in_the_kernel_does_not_keep_the_answer() {
    let (state, _) = run([Input::Stop(StopReason::Cancelled), Input::Timer, Input::Timer]);
    let end = state.end().unwrap();
    assert_eq!(end.ending, Ending::Lost);
    assert!(end.cut);
}

fn any_input() -> impl Strategy<Value = Input> {
    prop_oneof![
        any::<bool>().prop_map(exited),
        any::<u32>().prop_map(closed),
        Just(Input::Eof(Stream::Stdout)),
        Just(Input::Eof(Stream::Stderr)),
        Just(Input::Stop(StopReason::Cancelled)),
        Just(Input::Timer),
        Just(Input::Nobody),
        Just(Input::NoRoom),
    ]
}

fn any_background() -> impl Strategy<Value = Background> {
    prop_oneof![Just(Background::Kill), Just(Background::Session), Just(Background::Keep)]
}

proptest! {
    /// In any order of inputs: whenever a session waits for a process that may live on, a timer is armed, so that
    /// at most four runs of the timer after the exit or a stop end it; and an ended session stays as it is.
    #[test]
    fn every_order_of_inputs_ends_within_a_few_timers(
        background in any_background(),
        inputs in prop::collection::vec(any_input(), 0..12),
    ) {
        let (mut state, _) = run_with(background, inputs);
        state = state.step(Input::Stop(StopReason::Cancelled)).0;
        for _ in 0..4 {
            state = state.step(Input::Timer).0;
        }
        let end = state.end();
        prop_assert!(end.is_some());
        for input in [exited(false), closed(9), Input::Timer] {
            state = state.step(input).0;
        }
        prop_assert_eq!(state.end(), end);
    }

    /// Kill is never ordered before the first process has ended or the grace is over.
    #[test]
    fn nothing_is_killed_before_its_time(inputs in prop::collection::vec(any_input(), 0..12)) {
        let before: Vec<Input> = inputs.into_iter()
            .filter(|input| !matches!(input, Input::Timer | Input::Exited { .. }))
            .collect();
        let (_, effects) = run(before);
        prop_assert!(!effects.contains(&Effect::Close));
    }
}
