//! What is said when a machine cannot start a command.

use runward_model::Refusal;
use runward_model::wire::Step;
use runward_testkit::ScriptedHost;

use crate::setup::{ask, settings, start};

/// How a command is refused that failed like this.
async fn refused(step: Step, error: rustix::io::Errno) -> Refusal {
    let (engine, host, _spawned) = ScriptedHost::engine(settings());
    host.fails_next(step, error.raw_os_error());
    start(&engine, ask(&[])).await.unwrap_err()
}

#[tokio::test(start_paused = true)]
async fn each_step_that_fails_is_said_in_the_words_of_whoever_asked() {
    use rustix::io::Errno;
    assert!(matches!(refused(Step::Cwd, Errno::ACCESS).await, Refusal::CwdUnusable { .. }));
    assert!(matches!(refused(Step::Clone, Errno::AGAIN).await, Refusal::Exhausted { .. }));
    assert!(matches!(refused(Step::Exec, Errno::ACCESS).await, Refusal::NotExecutable(_)));
    let interpreter = refused(Step::Exec, Errno::NOENT).await.to_string();
    assert!(interpreter.contains("its interpreter"), "{interpreter}");
    let swapped = refused(Step::Cwd, Errno::STALE).await.to_string();
    assert!(swapped.contains("another directory stands in its place"), "{swapped}");
}

#[tokio::test(start_paused = true)]
async fn a_start_that_failed_takes_no_room() {
    let (engine, host, mut spawned) =
        ScriptedHost::engine(runward_engine::Settings { max_sessions: 1, ..settings() });
    host.fails_next(Step::Clone, rustix::io::Errno::AGAIN.raw_os_error());
    start(&engine, ask(&[])).await.unwrap_err();
    let mut session = start(&engine, ask(&[])).await.unwrap();
    let busy = start(&engine, ask(&[])).await.unwrap_err();
    assert!(matches!(busy, Refusal::Exhausted { .. }), "{busy}");
    let mut command = spawned.next().await;
    command.exits(0);
    command.end_of_outputs();
    session.over().await;
    start(&engine, ask(&[])).await.unwrap();
}
