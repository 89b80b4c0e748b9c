//! Bearer tokens: who shows which, and what they may do.

use std::fmt;
use std::sync::Arc;

use runward_model::Principal;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// Something that the holder of a token may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Start commands, and drive and read what it started.
    Run,
    /// Read what was started under its name, and ask what may run; start and drive nothing.
    Read,
    /// Answer for a person, in the forms that a client shows.
    Answer,
}

/// What somebody may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roles(Arc<[Role]>);

/// Every token that is taken. None of them is ever shown, and all are compared in a time that does not depend on where
/// they differ.
#[derive(Clone, Default)]
pub struct Tokens {
    known: Vec<Known>,
    /// Knows the token of this machine's user, which can be made or replaced while the server runs.
    own: Option<Arc<dyn Fn() -> Option<String> + Send + Sync>>,
    is_demanded: bool,
}

#[derive(Clone)]
struct Known {
    principal: Principal,
    hash: [u8; 32],
    roles: Roles,
}

impl Role {
    /// All there are.
    pub const ALL: [Role; 3] = [Role::Run, Role::Read, Role::Answer];

    /// How settings name it.
    pub const fn name(self) -> &'static str {
        match self {
            Role::Run => "run",
            Role::Read => "read",
            Role::Answer => "answer",
        }
    }

    /// The role of a name.
    pub fn named(name: &str) -> Option<Self> {
        Role::ALL.into_iter().find(|role| role.name() == name)
    }
}

impl Roles {
    /// These.
    pub fn new(roles: &[Role]) -> Self {
        Roles(roles.into())
    }

    /// All there are.
    pub fn all() -> Self {
        Roles::new(&Role::ALL)
    }

    /// Whether a role is among them. Whoever may start commands may read what they print.
    pub fn has(&self, role: Role) -> bool {
        self.0.contains(&role) || (role == Role::Read && self.0.contains(&Role::Run))
    }

    /// What a caller is told that lacks a role.
    pub(crate) fn lack(&self, role: Role) -> String {
        let held: Vec<_> = self.0.iter().map(|role| role.name()).collect();
        format!(
            "this token may not do that: it takes the role {:?}, and the token has {}; see roles of its [[token]]",
            role.name(),
            held.join(", ")
        )
    }
}

impl Tokens {
    /// Also the one token that the operator gave the server, with all roles.
    #[must_use]
    pub fn with(self, token: &str) -> Self {
        self.known(Principal::token_holder(), hash_of(token), Roles::all())
    }

    /// Also one of which the hash is known, and whose it is.
    #[must_use]
    pub fn known(mut self, principal: Principal, hash: [u8; 32], roles: Roles) -> Self {
        self.known.push(Known { principal, hash, roles });
        self.is_demanded = true;
        self
    }

    /// Also the one of this machine's user, with all roles. It is demanded if there is one now.
    #[must_use]
    pub fn own(self, own: impl Fn() -> Option<String> + Send + Sync + 'static) -> Self {
        let is_demanded = self.is_demanded || own().is_some();
        Tokens { own: Some(Arc::new(own)), is_demanded, ..self }
    }

    /// Whether nobody is let in without.
    pub fn are_demanded(&self) -> bool {
        self.is_demanded
    }

    /// Who shows this, and what they may do.
    pub(crate) fn holder(&self, shown: &[u8]) -> Option<(Principal, Roles)> {
        let shown: [u8; 32] = Sha256::digest(shown).into();
        let found = self.known.iter().find(|known| known.hash.ct_eq(&shown).into());
        if let Some(Known { principal, roles, .. }) = found {
            return Some((principal.clone(), roles.clone()));
        }
        let own = self.own.as_ref().and_then(|own| own())?;
        bool::from(hash_of(&own).ct_eq(&shown)).then(|| (Principal::user(), Roles::all()))
    }
}

/// What is kept of a token in settings.
pub fn hash_of(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tokens({} known, hidden)", self.known.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_token_is_its_holders_own_with_its_roles() {
        let reader = Roles::new(&[Role::Read]);
        let tokens = Tokens::default().with("s3cret").known(Principal::named("ci"), hash_of("other"), reader);
        assert_eq!(tokens.holder(b"s3cret"), Some((Principal::token_holder(), Roles::all())));
        let (principal, roles) = tokens.holder(b"other").expect("known");
        assert_eq!(principal.name(), "ci");
        assert!(roles.has(Role::Read) && !roles.has(Role::Run) && !roles.has(Role::Answer));
        assert_eq!(tokens.holder(b"nobody's"), None);
        assert!(!format!("{tokens:?}").contains("s3cret"));
    }

    #[test]
    fn the_token_of_this_machines_user_is_looked_up_when_it_is_shown() {
        let tokens = Tokens::default().own(|| None);
        assert!(!tokens.are_demanded() && tokens.holder(b"").is_none());
        let tokens = Tokens::default().own(|| Some("mine".into()));
        assert!(tokens.are_demanded());
        assert_eq!(tokens.holder(b"mine").map(|(principal, _)| principal), Some(Principal::user()));
    }
}
