//! What is refused, in words; and what the settings widen.

use runward_engine::AtDoor;
use runward_model::{Profile, Refusal};
use runward_proxy::Reach;

use super::{Place, confined, inside, sh, with};
use crate::setup::{run, script, start};

/// Ways of writing a file, from shells and languages; each ends with success only when the file was written.
const WAYS: [&str; 9] = [
    "echo x > {}/new",
    "cp /etc/hostname {}/new",
    "ln -s {} link; echo x > link/new",
    "mv /dev/null {}/new || dd if=/dev/zero of={}/new bs=1 count=1",
    "sh -c 'exec 3<>{}/file; echo x >&3'",
    "sed -i s/as/is/ {}/file",
    "python3 -c \"open('{}/new','w')\"",
    "perl -e \"open(F,'>','{}/new') or exit 1\"",
    "LD_PRELOAD=libm.so.6 touch {}/new && env -i /usr/bin/touch {}/new",
];

#[test]
fn no_shell_or_language_gets_out() {
    for profile in [Profile::WorkspaceWrite, Profile::ReadOnly] {
        let place = Place::new();
        with(confined(profile), async |engine| {
            for way in WAYS {
                let text = way.replace("{}", place.outside().to_str().unwrap());
                let (code, stdout, stderr) = sh(engine, &place.work(), &text).await;
                assert_ne!(code, 0, "{text}: {stdout} {stderr}");
                assert!(place.is_untouched(), "{text}");
            }
        });
    }
}

#[test]
fn a_refused_path_is_named_with_what_would_allow_it() {
    let place = Place::new();
    with(confined(Profile::WorkspaceWrite), async |engine| {
        let file = place.outside().join("file");
        let view = run(engine, inside(&place.work(), script(&format!("echo x >> {}", file.display())))).await;
        let told = view.outcome.denied.unwrap();
        assert!(told.contains(&format!("{} may not be written", file.display())), "{told}");
        assert!(told.contains("sandbox.writable_roots"), "{told}");
        let harmless = run(engine, inside(&place.work(), script("echo x > mine; cat /nowhere"))).await;
        assert_eq!(harmless.outcome.denied, None, "what the sandbox has nothing to do with is not its doing");
    });
}

#[test]
fn a_writable_root_can_be_written_and_a_named_path_is_not_protected() {
    let place = Place::new();
    let mut settings = confined(Profile::WorkspaceWrite);
    settings.sandboxing.usual.writable_roots = vec![place.outside(), place.work().join(".vscode")];
    with(settings, async |engine| {
        let write = format!(
            "echo x > {}/new && mkdir .vscode && echo x > .vscode/tasks.json",
            place.outside().display()
        );
        let (code, _, stderr) = sh(engine, &place.work(), &write).await;
        assert_eq!(code, 0, "{stderr}");
        assert!(place.outside().join("new").exists());
    });
}

#[test]
fn what_is_hidden_is_not_read_and_not_a_place_to_run() {
    let place = Place::new();
    let mut settings = confined(Profile::WorkspaceWrite);
    settings.sandboxing.usual.deny_read = vec![place.outside()];
    with(settings, async |engine| {
        let (code, stdout, _) = sh(engine, &place.work(), "cat ../outside/file").await;
        assert_eq!((code, stdout.as_str()), (1, ""));
        let refusal = start(engine, inside(&place.outside(), script("true"))).await.unwrap_err();
        assert!(matches!(refusal, Refusal::Unconfinable(_)), "{refusal}");
        assert!(refusal.to_string().contains("sandbox.deny_read"), "{refusal}");
    });
}

#[test]
fn doors_have_a_network_of_their_own() {
    let place = Place::new();
    let mut settings = confined(Profile::WorkspaceWrite);
    let own = AtDoor { door: "test".into(), profile: None, reach: Some(Reach::On) };
    settings.sandboxing.doors = vec![own];
    let own = std::fs::read_link("/proc/self/ns/net").unwrap();
    let look = "readlink /proc/self/ns/net";
    with(settings, async |engine| {
        let (_, stdout, _) = sh(engine, &place.work(), look).await;
        assert_eq!(stdout.trim_end(), own.to_str().unwrap());
    });
    with(confined(Profile::WorkspaceWrite), async |engine| {
        let (_, stdout, _) = sh(engine, &place.work(), look).await;
        assert_ne!(stdout.trim_end(), own.to_str().unwrap());
    });
}

#[test]
fn what_is_hidden_cannot_be_moved_into_sight_or_made() {
    let place = Place::new();
    std::fs::create_dir(place.work().join("deep")).unwrap();
    std::fs::write(place.work().join("deep/key"), "secret").unwrap();
    let mut settings = confined(Profile::WorkspaceWrite);
    settings.sandboxing.usual.deny_read = vec![place.work().join("deep/key"), place.work().join("later")];
    with(settings, async |engine| {
        for text in ["mv deep elsewhere", "mkdir later", "echo x > later"] {
            assert_ne!(sh(engine, &place.work(), text).await.0, 0, "{text}");
        }
        let (_, stdout, _) = sh(engine, &place.work(), "cat deep/key elsewhere/key").await;
        assert_eq!(stdout, "");
    });
    assert_eq!(super::names(&place.work()), ["deep"]);
}

#[test]
fn the_input_of_a_command_is_not_the_hosts_own_device() {
    let place = Place::new();
    with(confined(Profile::WorkspaceWrite), async |engine| {
        let change = "python3 -c \"import os; os.fchmod(0, 0o666)\"";
        let (code, _, stderr) = sh(engine, &place.work(), change).await;
        assert!(code != 0 && stderr.contains("Read-only file system"), "{code} {stderr}");
    });
}

#[test]
fn a_directory_of_the_system_is_nobodys_workspace() {
    let place = Place::new();
    with(confined(Profile::WorkspaceWrite), async |engine| {
        for directory in ["/etc/profile.d", "/usr/local/bin", "/var/lib"] {
            let (code, _, _) = sh(engine, std::path::Path::new(directory), "echo x > runward-was-here").await;
            assert_ne!(code, 0, "{directory}");
            assert!(!std::path::Path::new(directory).join("runward-was-here").exists(), "{directory}");
        }
        let hooks = place.work().join(".git/hooks");
        std::fs::create_dir_all(&hooks).unwrap();
        assert_ne!(sh(engine, &hooks, "echo x > pre-commit").await.0, 0);
    });
}

#[test]
fn a_repository_can_be_made_where_its_settings_are_named() {
    let place = Place::new();
    let mut settings = confined(Profile::WorkspaceWrite);
    settings.sandboxing.usual.writable_roots =
        [".git/hooks", ".git/config"].map(|name| place.work().join(name)).into();
    with(settings, async |engine| {
        let (code, _, stderr) = sh(engine, &place.work(), "git init -q . && git status").await;
        assert_eq!(code, 0, "{stderr}");
    });
    with(confined(Profile::WorkspaceWrite), async |engine| {
        let (code, _, _) = sh(engine, &place.work(), "echo x > .git/hooks/pre-commit").await;
        assert_ne!(code, 0);
    });
}
