//! Which environment variable holds which setting.

use std::collections::BTreeMap;
use std::ffi::OsString;

use super::error::Error;
use super::origin::Origin;

/// An environment.
pub(crate) type Variables = BTreeMap<OsString, OsString>;

/// Variables of ours that are no settings.
const OTHERS: [&str; 2] = ["RUNWARD_CONFIG", "RUNWARD_TOKEN"];

/// Settings whose variables have names of their own; all others follow the rule in [`variable`].
const NAMED: [(&str, &str); 5] = [
    ("policy.allowed_commands", "ALLOWED_COMMANDS"),
    ("policy.cwd_roots", "ALLOWED_CWD_ROOTS"),
    ("policy.directory", "POLICY_DIR"),
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

/// Names of ours that are shorter than this have fewer slips that nobody else makes.
const LONG: usize = 14;

/// So many letters are one slip more.
const LETTERS_A_SLIP: usize = 10;

/// Refuses a variable that is almost one of ours: it was meant to change something and would not. Others of our
/// prefix are left alone, since some systems add their own (a Kubernetes service named `runward` does).
pub(crate) fn refuse_misspelt<'a>(
    variables: &Variables,
    keys: impl Iterator<Item = &'a str>,
) -> Result<(), Error> {
    let known: Vec<String> = keys.map(variable).chain(OTHERS.map(str::to_owned)).collect();
    let names = variables.keys().filter_map(|name| name.to_str());
    for name in names.filter(|name| !known.iter().any(|known| known == name)) {
        if let Some(meant) = meant(name, &known) {
            let what = format!("no setting has this variable; did you mean {meant}?");
            return Err(Error::setting(&Origin::Variable(name.into()), what));
        }
    }
    Ok(())
}

/// The name of ours that somebody meant who wrote this one.
fn meant<'a>(name: &str, known: &'a [String]) -> Option<&'a str> {
    let upper = name.to_uppercase().replace(['-', '.'], "_");
    let ours = upper.starts_with("RUNWARD_") || upper.starts_with("ALLOWED_");
    // Those with names of their own, written as all others are, or with our prefix.
    let long_form = |(key, own): &(&str, &'static str)| {
        let derived = format!("RUNWARD_{}", key.replace('.', "_").to_uppercase());
        (upper == derived || upper.strip_prefix("RUNWARD_") == Some(own)).then_some(*own)
    };
    if let Some(own) = NAMED.iter().find_map(long_form) {
        return known.iter().map(String::as_str).find(|known| *known == own);
    }
    let slips = |known: &str| match known.len() {
        length if ours => (length / LETTERS_A_SLIP).max(2),
        length if length < LONG => 1,
        _ => 2,
    };
    let near = |known: &&String| {
        let most = slips(known);
        known.len().abs_diff(upper.len()) <= most && strsim::damerau_levenshtein(known, &upper) <= most
    };
    known
        .iter()
        .filter(near)
        .map(String::as_str)
        .min_by_key(|known| strsim::damerau_levenshtein(known, &upper))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(name: &str) -> Option<String> {
        let keys = ["limits.output", "log.filter", "tools", "policy.allowed_commands"];
        let variables = Variables::from([(name.into(), "x".into())]);
        refuse_misspelt(&variables, keys.into_iter()).err().map(|error| error.to_string())
    }

    #[test]
    fn a_variable_that_is_almost_ours_is_refused() {
        let message =
            "RUNWARD_LIMIT_OUTPUT: no setting has this variable; did you mean RUNWARD_LIMITS_OUTPUT?";
        assert_eq!(refusal("RUNWARD_LIMIT_OUTPUT").as_deref(), Some(message));
        assert!(refusal("ALLOWED_COMMAND").unwrap().ends_with("did you mean ALLOWED_COMMANDS?"));
        assert!(refusal("RUNWARD_TOKNE").unwrap().ends_with("did you mean RUNWARD_TOKEN?"));
        for (name, meant) in [
            ("ALOWED_COMMANDS", "ALLOWED_COMMANDS"),
            ("ALLOWED_COMANDS", "ALLOWED_COMMANDS"),
            ("allowed_commands", "ALLOWED_COMMANDS"),
            ("ALLOW_COMMANDS", "ALLOWED_COMMANDS"),
            ("RUNWARD_ALLOWED_COMMANDS", "ALLOWED_COMMANDS"),
            ("RUNWARD_POLICY_ALLOWED_COMMANDS", "ALLOWED_COMMANDS"),
            ("RUNWARD_LOG_FILTER", "RUNWARD_LOG"),
            ("RUNWARDLIMITS_OUTPUT", "RUNWARD_LIMITS_OUTPUT"),
            ("RUNWRAD_LIMITS_OUTPUT", "RUNWARD_LIMITS_OUTPUT"),
            ("runward_tools", "RUNWARD_TOOLS"),
        ] {
            assert!(refusal(name).unwrap().ends_with(&format!("did you mean {meant}?")), "{name}");
        }
    }

    #[test]
    fn a_variable_that_somebody_else_made_is_left_alone() {
        for name in [
            "RUNWARD_SERVICE_HOST",
            "RUNWARD_PORT",
            "RUNWARD_PORT_8000_TCP_ADDR",
            "RUNWARD_LOG",
            "LOG",
            "ALLOWED_HOSTS",
            "DISALLOWED_COMMANDS",
            "FORWARD_TOKEN",
            "RUNWARD_PORT_8000_TCP_PROTO",
        ] {
            assert_eq!(refusal(name), None);
        }
    }

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
