//! Which environment variable holds which setting.

/// Settings whose variables have names of their own; all others follow the rule in [`variable`].
const NAMED: [(&str, &str); 4] = [
    ("policy.allowed_commands", "ALLOWED_COMMANDS"),
    ("policy.cwd_roots", "ALLOWED_CWD_ROOTS"),
    ("http.bind", "MCP_BIND_ADDR"),
    ("log.filter", "RUNWARD_LOG"),
];

/// The variable of a setting: `limits.output` is `RUNWARD_LIMITS_OUTPUT`.
pub(crate) fn variable(key: &str) -> String {
    let named = NAMED.iter().find(|(named, _)| *named == key);
    named.map_or_else(
        || format!("RUNWARD_{}", key.replace('.', "_").to_uppercase()),
        |(_, name)| (*name).to_owned(),
    )
}

/// Whether an empty variable is a value. Only where that is the strictest value there is: elsewhere an empty
/// variable would lift what a file restricts, so it counts as unset.
pub(crate) fn empty_counts(key: &str) -> bool {
    key == "policy.allowed_commands"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_names_the_variable_of_every_setting() {
        let reference = include_str!("../../../../config/default.toml");
        for key in super::super::settings::Settings::defaults().unwrap().keys() {
            let name = variable(key);
            let named = reference.lines().any(|line| {
                line.strip_prefix("# ").is_some_and(|names| names.split(", ").any(|part| part == name))
            });
            assert!(named, "{key} should have a comment line with {name}");
        }
    }
}
