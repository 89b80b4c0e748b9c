//! Variables that a caller gives to a command.

use crate::builtins::is_identifier;
use crate::variables::decides_what_runs;
use crate::{Glob, Policy};

/// Which variables a caller may give beyond those that change nothing about what runs, and which never.
#[derive(Clone, Debug, Default)]
pub struct EnvironmentRules {
    /// Names that are allowed although they decide what runs.
    pub allow: Vec<Glob>,
    /// Names that are refused, whatever else is said of them.
    pub deny: Vec<Glob>,
}

impl Policy {
    /// Says whether a caller may give these variables to a command; an error is the sentence for the caller.
    pub fn judge_environment(&self, variables: &[(String, String)]) -> Result<(), String> {
        variables.iter().try_for_each(|(name, value)| {
            if value.contains('\0') {
                return Err(format!("the value of the variable \"{name}\" contains a NUL byte"));
            }
            self.environment.judge(name)
        })
    }
}

impl EnvironmentRules {
    fn judge(&self, name: &str) -> Result<(), String> {
        if !is_identifier(name) {
            return Err(format!(
                "{name:?} is no name for a variable; use letters, digits and _, and no digit first"
            ));
        }
        if matches!(name, "PWD" | "OLDPWD") {
            return Err(format!("the variable \"{name}\" follows the working directory; give that instead"));
        }
        if let Some(glob) = self.deny.iter().find(|glob| glob.matches(name)) {
            let glob = glob.as_str();
            return Err(format!(
                "the variable \"{name}\" is refused by {glob} in environment_deny; leave it out"
            ));
        }
        if decides_what_runs(name) && !self.allow.iter().any(|glob| glob.matches(name)) {
            return Err(format!(
                "the variable \"{name}\" decides what runs and may not be given; leave it out, or have the operator \
                 name it in environment_allow"
            ));
        }
        Ok(())
    }
}
