//! What is kept, and for whom.

use std::fs;

use runward_testkit::eventually;

use super::{Place, User, done, shell};

#[test]
fn what_is_written_to_a_cache_is_kept_for_the_workspace_and_the_users_own_stays() {
    for user in User::all() {
        let place = Place::new(user);
        let Some(mut client) = place.client() else { return };
        let before = place.home();
        done(&mut client, "echo new > ~/.cargo/registry/new; echo changed > ~/.cargo/registry/known");
        let missing = "for cache in .npm .cache/pip .cache/go-build go/pkg/mod .m2/repository .gradle/caches \
            .local/share/uv .local/share/pnpm/store .yarn .nuget; do mkdir -p ~/$cache && echo x > ~/$cache/x || exit 1; done";
        done(&mut client, missing);
        drop(client);
        assert_eq!(place.home(), before, "{user:?}");
        let Some(mut client) = place.client() else { return };
        let seen = done(
            &mut client,
            "cat ~/.cargo/registry/* ~/.npm/x ~/.cache/pip/x ~/go/pkg/mod/x ~/.local/share/uv/x",
        );
        assert!(seen.contains("changed\nnew\nx\nx\nx\nx"), "{user:?}: {seen}");
        done(&mut client, "rm -r ~/.cargo/registry ~/.npm/x");
        assert!(!shell(&mut client, "ls ~/.cargo/registry").ok());
        assert_eq!(place.home(), before, "{user:?}");
    }
}

#[test]
fn another_workspace_sees_the_users_own_and_nothing_else() {
    for user in User::all() {
        let place = Place::new(user);
        let Some(mut client) = place.client() else { return };
        done(&mut client, "echo mine > ~/.cargo/registry/known; echo mine > ~/.cargo/registry/new");
        let Some(mut other) = place.client_in("other", &[]) else { return };
        let seen = done(&mut other, "ls ~/.cargo/registry; cat ~/.cargo/registry/known");
        assert!(seen.contains("known\nthe user's own") && !seen.contains("new"), "{user:?}: {seen}");
        let cwd = place.at("other");
        let line = format!("cd {} && cat ~/.cargo/registry/known", cwd.display());
        assert!(done(&mut client, &line).contains("mine"), "the workspace is where the call is");
    }
}

#[test]
fn two_servers_in_one_workspace_each_have_a_layer_and_the_next_one_finds_the_first() {
    let place = Place::new(User::Own);
    let Some(mut one) = place.client() else { return };
    done(&mut one, "echo one > ~/.npm/name");
    let Some(mut two) = place.client() else { return };
    assert!(!shell(&mut two, "cat ~/.npm/name").ok());
    done(&mut two, "echo two > ~/.npm/name");
    assert!(done(&mut one, "cat ~/.npm/name").contains("one"));
    drop((one, two));
    let Some(mut next) = place.client() else { return };
    assert!(done(&mut next, "cat ~/.npm/name").contains("one"));
}

#[test]
fn what_the_user_adds_or_replaces_is_seen_by_the_next_command() {
    for user in User::all() {
        let place = Place::new(user);
        let Some(mut client) = place.client() else { return };
        let known = "ls ~/.cargo/registry; cat ~/.cargo/registry/later ~/.cargo/registry/known";
        assert!(!shell(&mut client, known).ok());
        place.write("home/.cargo/registry/later", "added");
        place.write("home/.cargo/replacing", "replaced");
        fs::rename(place.at("home/.cargo/replacing"), place.at("home/.cargo/registry/known")).unwrap();
        eventually("the user's changes are seen", || {
            let said = shell(&mut client, known);
            said.ok() && said.text().contains("addedreplaced")
        });
    }
}

#[test]
fn what_the_user_adds_to_the_home_is_seen_beside_the_caches() {
    let place = Place::new(User::Own);
    let Some(mut client) = place.client() else { return };
    assert!(!shell(&mut client, "cat ~/later ~/project/file").ok());
    place.write("home/later", "added");
    place.make("home/project");
    place.write("home/project/file", "deep");
    eventually("the home is seen as it is", || shell(&mut client, "cat ~/later ~/project/file").ok());
    let seen = done(&mut client, "cd ~ && pwd && cat .bashrc");
    assert!(seen.contains(place.at("home").to_str().unwrap()) && seen.contains("the user's own"), "{seen}");
}

#[test]
fn a_profile_that_writes_nowhere_has_no_layers() {
    let place = Place::new(User::Own);
    let Some(mut client) = place.client_in("work", &[("RUNWARD_SANDBOX_PROFILE", "read-only")]) else {
        return;
    };
    assert!(!shell(&mut client, "echo x > ~/.cargo/registry/new").ok());
    assert!(!shell(&mut client, "ls ~/.npm").ok(), "nothing is there that the user does not have");
    assert!(!place.at("home/.local/state/runward/caches").exists());
}

#[test]
fn the_list_of_caches_is_a_setting() {
    let place = Place::new(User::Own);
    let Some(mut client) = place.client_in("work", &[("RUNWARD_SANDBOX_CACHES", "~/mine")]) else { return };
    done(&mut client, "echo x > ~/mine/x");
    let refused = shell(&mut client, "echo x > ~/.cargo/registry/new").text();
    assert!(refused.contains("registry/new may not be written; to allow it, add"), "{refused}");
}
