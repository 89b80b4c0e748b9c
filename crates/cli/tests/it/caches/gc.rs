//! What is kept is shown, and removed when it is too much, too old, or not wanted; never while it is in use.

use serde_json::Value;

use super::{Place, User, done, shell};

fn fates(told: &str) -> Vec<(String, String)> {
    let told: Value = serde_json::from_str(told).unwrap();
    let layers = told["layers"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    layers.map(|layer| (text(&layer["workspace"]), text(&layer["fate"]))).collect()
}

fn told(workspace: &str, fate: &str) -> (String, String) {
    (workspace.into(), fate.into())
}

#[test]
fn what_is_in_use_stays_and_the_rest_goes_when_told_to() {
    for user in User::all() {
        let place = Place::new(user);
        assert_eq!(place.runward(&["gc"]), "no command has written to a cache\n");
        let Some(mut client) = place.client() else { return };
        let Some(mut other) = place.client_in("other", &[]) else { return };
        done(&mut client, "head -c 3000000 /dev/zero > ~/.npm/large");
        // As what a build leaves: directories that nobody may write, deep ones, and links.
        done(
            &mut other,
            "mkdir -p ~/go/pkg/mod/a/b; echo x > ~/go/pkg/mod/a/b/c; ln -s /etc ~/go/pkg/mod/etc; chmod -R a-w ~/go/pkg/mod",
        );
        done(&mut other, "cd ~/.cache; for i in $(seq 300); do mkdir d; cd d; done; echo x > x; chmod 0 .");
        drop(other);
        let dry = fates(&place.runward(&["gc", "--all", "--dry-run", "--json"]));
        assert!(dry.contains(&told("other", "would be removed")), "{user:?}: {dry:?}");
        assert!(dry.contains(&told("work", "in use")), "{user:?}: {dry:?}");
        let text = place.runward(&["gc", "--all"]);
        assert!(text.contains("2.9 MiB") || text.contains("2.8 MiB"), "{text}");
        assert_eq!(fates(&place.runward(&["gc", "--json"])), [told("work", "in use")], "{user:?}");
        done(&mut client, "cat ~/.npm/large > /dev/null");
        drop(client);
        assert_eq!(fates(&place.runward(&["gc", "--json"])), [told("work", "kept")], "{user:?}");
        assert!(place.runward(&["gc", "--all"]).contains("removed"), "{user:?}");
        assert_eq!(fates(&place.runward(&["gc", "--json"])), []);
        let Some(mut client) = place.client() else { return };
        assert!(!shell(&mut client, "ls ~/.npm/large").ok(), "it is gone, and the workspace goes on");
    }
}

#[test]
fn what_is_over_the_quota_goes_least_recently_used_first_when_a_server_starts() {
    let place = Place::new(User::Own);
    for workspace in ["work", "other"] {
        let Some(mut client) = place.client_in(workspace, &[]) else { return };
        done(&mut client, "head -c 3000000 /dev/zero > ~/.npm/large");
    }
    place.make("third");
    let Some(mut client) = place.client_in("third", &[("RUNWARD_SANDBOX_CACHE_QUOTA", "4MiB")]) else {
        return;
    };
    runward_testkit::eventually("the older one goes", || {
        let kept = fates(&place.runward(&["gc", "--json"]));
        !kept.iter().any(|(workspace, _)| workspace == "work")
    });
    done(&mut client, "true");
    let kept = fates(&place.runward(&["gc", "--json"]));
    assert!(kept.contains(&told("other", "kept")), "{kept:?}");
}
