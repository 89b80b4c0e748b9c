//! Variables that a caller gives to a command.

use crate::variables::{Case, is_tame_locale};
use crate::{Glob, Policy};
use runward_script::is_identifier;

/// Which names a caller may choose for variables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Given {
    /// Any that does not decide what a program runs or loads.
    #[default]
    Open,
    /// Only those that the operator allows by name.
    Listed,
}

/// Which variables a caller may give beyond those that change nothing about what runs, and which never.
#[derive(Clone, Debug, Default)]
pub struct EnvironmentRules {
    /// Which names a caller may choose.
    pub given: Given,
    /// Names that are allowed although they decide what runs.
    pub allow: Vec<Glob>,
    /// Names that are refused, whatever else is said of them.
    pub deny: Vec<Glob>,
}

/// What a caller can do about a variable that is refused.
const ADVICE: &str = "leave it out, or have the operator name it in environment_allow";

impl Policy {
    /// Says whether a caller may give these variables to a command; an error is the sentence for the caller.
    pub fn judge_environment(&self, variables: &[(String, String)]) -> Result<(), String> {
        variables.iter().try_for_each(|(name, value)| {
            if value.contains('\0') {
                return Err(format!("the value of the variable \"{name}\" contains a NUL byte"));
            }
            self.judge_variable(name, value)
        })
    }

    fn judge_variable(&self, name: &str, value: &str) -> Result<(), String> {
        if self.environment.names(name)? {
            return Ok(());
        }
        if self.environment.given == Given::Listed {
            return Err(format!(
                "the variable \"{name}\" is not in environment_allow, and no other may be given; {ADVICE}"
            ));
        }
        if let Some(entry) = self.objection_to_setting(name, Case::Any)
            && !self.is_tame_program(name, Some(value))
        {
            return Err(format!(
                "the variable \"{name}\" decides what runs and may not be given: it {entry}; {ADVICE}"
            ));
        }
        if !is_tame_locale(name, Some(value)) {
            return Err(format!(
                "the variable \"{name}\" may only be C, POSIX or a locale in UTF-8 such as en_US.UTF-8, because scripts are \
                 read in its character set; {ADVICE}"
            ));
        }
        Ok(())
    }
}

impl EnvironmentRules {
    /// Whether the operator allows this name whatever it does; an error says that nobody may give it.
    fn names(&self, name: &str) -> Result<bool, String> {
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
        Ok(self.allow.iter().any(|glob| glob.matches(name)))
    }
}
