//! Hosts that offer less.

use runward_model::{Profile, Promise, Refusal, Tier};
use runward_sandbox::Fallback;

use super::{Place, confined, inside, names, sh, with_tier};
use crate::setup::{run, script, start};

fn lenient() -> runward_engine::Settings {
    let mut settings = confined(Profile::WorkspaceWrite);
    settings.sandboxing.usual.fallback = Fallback::Warn;
    settings
}

fn refused(tier: Tier) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let program =
            runward_process::RunnerProgram { path: runward_testkit::puppet(), tier, ..Default::default() };
        let engine = runward_engine::Engine::with_runner(confined(Profile::WorkspaceWrite), program);
        let refusal = start(&engine, script("true")).await.unwrap_err();
        assert!(matches!(refusal, Refusal::Unconfinable(_)), "{refusal}");
        engine.shutdown().await;
        refusal.to_string()
    })
}

#[test]
fn a_host_that_cannot_keep_a_promise_refuses_and_says_what_would_help() {
    for tier in [Tier::Landlock, Tier::None] {
        let told = refused(tier);
        assert!(told.contains("workspace-write cannot be kept here"), "{told}");
        assert!(told.contains("sandbox.fallback") && told.contains("userns"), "{told}");
    }
}

#[test]
fn without_namespaces_files_and_the_network_are_still_out_of_reach() {
    let (place, mut settings) = (Place::new(), lenient());
    std::fs::create_dir(place.work().with_file_name("hidden")).unwrap();
    std::fs::write(place.work().with_file_name("hidden").join("key"), "secret").unwrap();
    settings.sandboxing.usual.deny_read = vec![place.work().with_file_name("hidden")];
    with_tier(settings, Tier::Landlock, async |engine| {
        let view = run(engine, inside(&place.work(), script("echo x > mine && mktemp && cat mine"))).await;
        assert_eq!(view.outcome.exit_code(), 0, "{}", String::from_utf8_lossy(&view.stderr.head));
        let enforced = &view.receipt.enforced;
        assert_eq!(enforced.tier, Tier::Landlock);
        assert!(enforced.unkept.contains(&Promise::Protected), "{enforced}");
        let outside = place.outside();
        for text in [
            format!("echo x > {}/new", outside.display()),
            format!("echo x >> {}/file", outside.display()),
            "cat ../hidden/key".to_owned(),
            "echo x > /tmp/runward-test-stray".to_owned(),
            "exec 3<>/dev/tcp/127.0.0.1/1".to_owned(),
        ] {
            let (code, stdout, _) = sh(engine, &place.work(), &text).await;
            assert_ne!(code, 0, "{text}: {stdout}");
        }
        assert!(place.is_untouched());
    });
    assert_eq!(names(&place.work()), ["mine"]);
}

#[test]
fn where_nothing_can_be_kept_and_that_is_allowed_every_result_says_so() {
    with_tier(lenient(), Tier::None, async |engine| {
        let view = run(engine, script("true")).await;
        assert_eq!(view.receipt.enforced.unkept.len(), Promise::ALL.len());
        assert!(view.receipt.enforced.warning().unwrap().contains("cannot keep"));
    });
}
