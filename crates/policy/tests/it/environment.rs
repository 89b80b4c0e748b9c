//! Variables that a caller gives.

use runward_policy::{Allowlist, EnvironmentRules, Glob, Policy, SearchPath};

fn judged(rules: EnvironmentRules, name: &str, value: &str) -> Result<(), String> {
    let policy = Policy::new(Allowlist::parse("*"), SearchPath::new("/bin".as_ref())).with_environment(rules);
    policy.judge_environment(&[("FINE".to_owned(), "1".to_owned()), (name.to_owned(), value.to_owned())])
}

#[test]
fn a_variable_that_decides_what_runs_is_refused_whatever_the_list_allows() {
    let names = "PATH LD_PRELOAD LD_LIBRARY_PATH DYLD_INSERT_LIBRARIES BASH_ENV ENV SHELLOPTS BASHOPTS BASH_FUNC_x \
                 PS4 PROMPT_COMMAND IFS GCONV_PATH GIT_SSH_COMMAND GIT_EDITOR GIT_CONFIG_COUNT PYTHONSTARTUP \
                 PYTHONPATH PERL5OPT NODE_OPTIONS RUBYOPT EDITOR PAGER CDPATH RUNWARD_TOKEN";
    for name in names.split_whitespace() {
        let refusal = judged(EnvironmentRules::default(), name, "x").unwrap_err();
        assert!(refusal.contains(name) && refusal.contains("environment_allow"), "{refusal}");
    }
}

#[test]
fn a_variable_that_changes_nothing_about_what_runs_is_allowed() {
    for name in ["DEBUG", "LANG", "LC_ALL", "CI", "_x", "http_proxy"] {
        assert_eq!(judged(EnvironmentRules::default(), name, "a b\nc"), Ok(()));
    }
}

#[test]
fn the_operator_allows_by_pattern_and_what_he_denies_stays_denied() {
    let rules = || EnvironmentRules {
        allow: vec![Glob::new("GIT_AUTHOR_*"), Glob::new("GIT_SSH*")],
        deny: vec![Glob::new("*_proxy"), Glob::new("GIT_SSH_COMMAND")],
    };
    assert_eq!(judged(rules(), "GIT_AUTHOR_NAME", "me"), Ok(()));
    assert_eq!(judged(rules(), "GIT_SSH", "x"), Ok(()));
    for name in ["GIT_SSH_COMMAND", "http_proxy"] {
        assert!(judged(rules(), name, "x").unwrap_err().contains("environment_deny"));
    }
    assert!(judged(rules(), "GIT_EDITOR", "x").is_err());
}

#[test]
fn a_name_that_is_none_is_refused() {
    for name in ["", "A=B", "1A", "A-B", "BASH_FUNC_x%%", "A\0", "Ä"] {
        assert!(
            judged(EnvironmentRules::default(), name, "x").unwrap_err().contains("is no name"),
            "{name:?}"
        );
    }
    assert!(judged(EnvironmentRules::default(), "A", "a\0b").unwrap_err().contains("NUL"));
    assert!(judged(EnvironmentRules::default(), "PWD", "/").is_err());
}
