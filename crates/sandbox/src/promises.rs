//! Which tier keeps which promise, and what to do where one is not kept.

use runward_model::{Abilities, Network, Profile, Promise, Tier};

/// The first version of Landlock that knows whose abstract sockets are whose.
const SCOPES: u32 = 6;

/// What a host cannot keep of what a profile promises.
pub fn unkept(profile: Profile, network: Network, abilities: &Abilities) -> Vec<Promise> {
    if profile == Profile::FullAccess {
        return Vec::new();
    }
    let kept = |promise: &Promise| match promise {
        Promise::Protected => profile == Profile::ReadOnly || abilities.tier.has_namespaces(),
        Promise::Metadata => abilities.tier.has_namespaces(),
        Promise::Writes | Promise::Hidden | Promise::Temporary | Promise::Kernel => {
            abilities.tier != Tier::None
        }
        Promise::Network => match network {
            Network::On => true,
            Network::Off => abilities.tier != Tier::None,
            Network::Listed => abilities.tier.has_namespaces(),
        },
        Promise::Services => match abilities.tier {
            // Abstract sockets belong to the network, unless Landlock keeps them apart.
            Tier::Full | Tier::SharedProc => network.is_own() || abilities.landlock >= SCOPES,
            // It has no sockets that reach them.
            Tier::Landlock => true,
            Tier::None => false,
        },
        Promise::Processes => abilities.tier == Tier::Full,
    };
    Promise::ALL.into_iter().filter(|promise| !kept(promise)).collect()
}

/// What would have to change for the strongest tier, in words for the operator; empty for the strongest.
pub fn remedy(abilities: &Abilities) -> String {
    let Abilities { tier, landlock, obstacle } = abilities;
    let found = format!("this host offers {} ({obstacle})", offer(*tier, *landlock));
    match tier {
        Tier::Full => String::new(),
        Tier::SharedProc => format!(
            "{found}; in a container, start it with an unmasked /proc: podman --security-opt unmask=ALL, docker --security-opt systempaths=unconfined"
        ),
        Tier::Landlock | Tier::None => format!(
            "{found}; let it make user namespaces: on Ubuntu an AppArmor profile for runward with the rule `userns,` (or sysctl kernel.apparmor_restrict_unprivileged_userns=0), on older Debian sysctl kernel.unprivileged_userns_clone=1, elsewhere sysctl user.max_user_namespaces above 0, in Docker --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined"
        ),
    }
}

fn offer(tier: Tier, landlock: u32) -> String {
    match tier {
        Tier::Full => format!("namespaces, Landlock {landlock} and seccomp"),
        Tier::SharedProc => {
            format!("namespaces without a /proc of their own, Landlock {landlock} and seccomp")
        }
        Tier::Landlock => {
            format!("the basic tier: no namespaces, only Landlock {landlock} and seccomp")
        }
        Tier::None => "neither namespaces nor Landlock".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(tier: Tier) -> Abilities {
        Abilities { tier, landlock: 7, obstacle: "EPERM".into() }
    }

    #[test]
    fn the_strongest_tier_keeps_everything_and_no_tier_keeps_nothing() {
        for profile in [Profile::ReadOnly, Profile::WorkspaceWrite] {
            for network in Network::ALL {
                assert_eq!(unkept(profile, network, &host(Tier::Full)), []);
            }
        }
        let none = unkept(Profile::WorkspaceWrite, Network::Off, &host(Tier::None));
        assert_eq!(none, Promise::ALL);
        assert_eq!(unkept(Profile::FullAccess, Network::On, &host(Tier::None)), []);
    }

    #[test]
    fn without_namespaces_some_promises_are_not_kept() {
        let found = unkept(Profile::WorkspaceWrite, Network::Off, &host(Tier::Landlock));
        assert_eq!(found, [Promise::Metadata, Promise::Protected, Promise::Processes]);
        let found = unkept(Profile::ReadOnly, Network::On, &host(Tier::Landlock));
        assert_eq!(found, [Promise::Metadata, Promise::Processes]);
        assert!(remedy(&host(Tier::Landlock)).contains("userns"));
    }
}
