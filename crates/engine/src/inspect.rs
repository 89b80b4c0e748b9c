//! What would become of a request, and sessions by the names of their outputs.

use std::path::PathBuf;

use runward_model::{Decision, OutputId, Principal, Refusal, Request, Verdict};
use runward_policy::{Held, Policy};

use crate::Engine;
use crate::output::{Gone, Output};
use crate::resolve::{self, Variables};
use crate::session::Session;

/// What would become of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspected {
    /// What the policy says.
    pub verdict: Verdict,
    /// The file that would be executed, where there is one.
    pub program: Option<PathBuf>,
    /// The SHA-256 of that file, in hexadecimal digits, where it may be read.
    pub hash: Option<String>,
}

impl Engine {
    /// Judges a request with everything that belongs to it, and runs nothing. A program that may run and is not there
    /// is a refusal.
    pub fn inspect(&self, request: &Request) -> Result<Inspected, Refusal> {
        let settings = &self.0.settings;
        let login = self.known_login(&request.work);
        let confinement = request.wish.confinement;
        let variables = Variables {
            given: &request.env,
            door_env: &request.door_env,
            login: login.as_deref(),
            confinement,
            stdio: None,
        };
        let resolved = resolve::resolve(&request.work, request.cwd.as_deref(), variables, settings)?;
        let judged = |policy: &Policy| resolve::judge_by(policy, &resolved, request);
        let verdict = judged(&resolved.policy);
        let verdict = self.0.approvals.foreseen(&resolved.policy, verdict, &judged);
        let program = match verdict.decision {
            Decision::Allow => Some(resolve::program_of(&resolved)?),
            Decision::Ask | Decision::Deny => resolved.program.ok(),
        };
        let held = program.as_deref().and_then(|program| Held::open(program).ok()?.hashed().ok());
        let hash = held.and_then(|held| held.hash().map(str::to_owned));
        Ok(Inspected { verdict, program, hash })
    }

    /// The session of this principal whose output has this name, for somebody who only looks, or why there is none.
    pub fn session_of(&self, principal: &Principal, id: &OutputId) -> Result<Session, Gone> {
        self.0.outputs.find(principal, id).map(Output::attach)
    }
}
