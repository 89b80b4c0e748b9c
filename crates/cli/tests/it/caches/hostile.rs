//! What a command plants reaches nobody else.

use std::fs;
use std::os::unix::fs::symlink;

use super::{Place, User, done, shell};

#[test]
fn nothing_that_is_planted_reaches_the_host() {
    for user in User::all() {
        let mut place = Place::new(user);
        place.make("home/.cargo/bin");
        place.write("home/.cargo/bin/tool", "#!/bin/sh\necho the user\\'s own\n");
        place.path = format!("{}:/usr/bin:/bin", place.at("home/.cargo/bin").display());
        let Some(mut client) = place.client() else { return };
        let before = place.home();
        for line in [
            "echo evil > ~/.cargo/bin/tool",
            "echo evil > ~/.cargo/bin/ls",
            "mv ~/.cargo/bin ~/.cargo/other",
            "rm -r ~/.cargo/bin",
            "echo evil > ~/.npmrc",
            "echo evil >> ~/.bashrc",
            "mkdir -p ~/.config/git",
            "mkdir -p ~/.local/share/applications",
            "mv ~/.cargo ~/.elsewhere",
            "mkdir ~/.cache/runward/login",
            "mv ~/.cache/runward ~/.cache/moved",
            "ln -s /etc ~/.cache/etc && echo evil > ~/.cache/etc/runward-planted",
            "ln ~/.bashrc ~/.cache/linked && echo evil > ~/.cache/linked",
            "ln -s ~ ~/.cache/home && echo evil > ~/.cache/home/planted",
            "mknod ~/.cache/whiteout c 0 0 && cat ~/.cache/whiteout",
            "ls ~/.local/state/runward",
            "cat /proc/fs/caches/*/registry/known",
        ] {
            assert!(!shell(&mut client, line).ok(), "{user:?}: {line}");
        }
        for line in [
            "echo evil > ~/.cargo/config.toml",
            "rm -rf ~/.cargo/registry; ln -s /etc ~/.cargo/registry",
            "python3 -c \"import os; os.setxattr(os.path.expanduser('~/.cache'), 'user.overlay.redirect', b'/etc')\"",
            "chmod -R 777 ~/.cache ~/.npm",
        ] {
            shell(&mut client, line);
        }
        assert!(
            done(&mut client, "sh ~/.cargo/bin/tool; ls -d ~/.cargo/registry/passwd")
                .contains("the user's own")
        );
        drop(client);
        assert_eq!(place.home(), before, "{user:?}");
        let Some(mut other) = place.client_in("other", &[]) else { return };
        assert!(!shell(&mut other, "cat ~/.cargo/config.toml").ok(), "{user:?}");
    }
}

#[test]
fn what_a_layer_holds_cannot_stand_in_for_what_is_executed_later() {
    let mut place = Place::new(User::Own);
    let Some(mut client) = place.client() else { return };
    done(
        &mut client,
        "ln -s /etc ~/.cargo/bin; mkdir -p ~/.npm/bin; echo 'echo evil' > ~/.npm/bin/ls; chmod +x ~/.npm/bin/ls",
    );
    drop(client);
    let programs = ["home/.cargo/bin", "home/.npm/bin"].map(|name| place.at(name).display().to_string());
    place.path = format!("{}:/usr/bin:/bin", programs.join(":"));
    let Some(mut client) = place.client() else { return };
    let seen = done(&mut client, "ls ~/.npm/bin; ls ~/.cargo/registry");
    assert!(seen.contains("known") && !seen.contains("evil"), "{seen}");
    assert!(!shell(&mut client, "echo x > ~/.cargo/bin/ls").ok());
}

#[test]
fn what_may_not_be_read_cannot_be_read_in_a_cache_either() {
    for user in User::all() {
        let place = Place::new(user);
        place.write("home/.cargo/credentials.toml", "secret");
        let hidden = [("RUNWARD_SANDBOX_DENY_READ", "~/.cargo/credentials.toml")];
        let Some(mut client) = place.client_in("work", &hidden) else { return };
        for line in [
            "cat ~/.cargo/credentials.toml",
            "cp -a ~/.cargo ~/.cache/copy; cat ~/.cache/copy/credentials.toml",
            "mv ~/.cargo/credentials.toml ~/.cargo/mine; cat ~/.cargo/mine",
            "ln ~/.cargo/credentials.toml ~/.cargo/linked; cat ~/.cargo/linked",
            "rm -rf ~/.cargo; cat ~/.cargo/credentials.toml",
        ] {
            let said = shell(&mut client, line);
            assert!(!said.text().contains("secret"), "{user:?}: {line}: {said:?}");
        }
        assert_eq!(fs::read_to_string(place.at("home/.cargo/credentials.toml")).unwrap(), "secret");
    }
}

#[test]
fn a_program_in_a_cache_is_the_one_that_was_judged() {
    let place = Place::new(User::Own);
    place.make("home/.cache/env/bin");
    fs::copy("/bin/echo", place.at("home/.cache/env/bin/say")).unwrap();
    let Some(mut client) = place.client() else { return };
    let say = place.at("home/.cache/env/bin/say").display().to_string();
    done(&mut client, &format!("rm {say}; ln -s /bin/false {say}"));
    let call = serde_json::json!({ "file": say, "args": ["fine"] });
    let result = runward_testkit::mcp::Client::call(&mut client, "execute_process", call);
    // It is the user's own, or none.
    let told = result["result"].to_string();
    assert!(told.contains("fine") || result["result"]["isError"] == true, "{told}");
    drop(client);
    let Some(mut other) = place.client_in("other", &[]) else { return };
    let call = serde_json::json!({ "file": say, "args": ["fine"] });
    let result = runward_testkit::mcp::Client::call(&mut other, "execute_process", call);
    assert_eq!(result["result"]["isError"], false, "{result:#}");
}

#[test]
fn a_cache_that_is_a_link_or_a_workspace_is_what_it_leads_to() {
    let place = Place::new(User::Own);
    place.make("elsewhere");
    place.make("home/.cache/project");
    symlink(place.at("elsewhere"), place.at("home/.npm")).unwrap();
    let Some(mut client) = place.client() else { return };
    done(&mut client, "echo x > ~/.npm/x && cat ~/.npm/x");
    assert!(!place.at("elsewhere/x").exists());
    drop(client);
    let Some(mut inside) = place.client_in("home/.cache/project", &[]) else { return };
    done(&mut inside, "echo real > made; echo layered > ../beside; cat ../beside");
    assert_eq!(fs::read_to_string(place.at("home/.cache/project/made")).unwrap(), "real\n");
    assert!(!place.at("home/.cache/beside").exists());
}
