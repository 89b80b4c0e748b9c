//! What a command is confined to on machines that can do more or less.

use runward_engine::{Engine, Settings};
use runward_model::{Abilities, Profile, Refusal, Tier};
use runward_sandbox::Fallback;
use runward_testkit::{ScriptedHost, Spawned};

use crate::setup::{ask, settings, start};

fn confined(fallback: Fallback, tier: Tier) -> (Engine, Spawned) {
    let mut settings: Settings = settings();
    settings.sandboxing.reach = runward_proxy::Reach::Off;
    settings.sandboxing.usual.profile = Profile::WorkspaceWrite;
    settings.sandboxing.usual.fallback = fallback;
    let abilities = Abilities { tier, ..Abilities::default() };
    let (engine, _, spawned) = ScriptedHost::engine_with(settings, abilities);
    (engine, spawned)
}

#[tokio::test(start_paused = true)]
async fn the_fence_that_the_machine_is_given_is_the_one_that_the_receipt_tells_of() {
    let (engine, mut spawned) = confined(Fallback::Refuse, Tier::Full);
    let session = start(&engine, ask(&[])).await.unwrap();
    let command = spawned.next().await;
    let fence = command.launch.fence().expect("a fence");
    assert_eq!(Some(fence), session.receipt().fence.as_deref());
    assert_eq!(fence.tier, Tier::Full);
    assert!(!fence.writable.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_machine_that_cannot_confine_is_given_nothing_to_start() {
    let (engine, _spawned) = confined(Fallback::Refuse, Tier::None);
    let refused = start(&engine, ask(&[])).await.unwrap_err();
    assert!(matches!(refused, Refusal::Unconfinable(_)), "{refused}");
}

#[tokio::test(start_paused = true)]
async fn an_unconfined_command_asks_no_machine_what_it_can_do() {
    let (engine, _, mut spawned) = ScriptedHost::engine(settings());
    let session = start(&engine, ask(&[])).await.unwrap();
    assert_eq!(spawned.next().await.launch.fence(), None);
    assert_eq!(session.receipt().enforced.profile, Profile::FullAccess);
}
