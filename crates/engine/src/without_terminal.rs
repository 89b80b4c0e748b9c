//! Programs that would wait for a person: where there is no terminal they are ones that end at once, unless somebody named
//! others.

use std::ffi::OsString;

/// Variables that name an editor, and what takes its place: it leaves the text as it is.
const EDITORS: (&[&str], &str) = (&["GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "VISUAL", "EDITOR"], "true");

/// Variables that name a pager, and what takes its place.
const PAGERS: (&[&str], &str) =
    (&["GIT_PAGER", "MANPAGER", "SYSTEMD_PAGER", "GH_PAGER", "AWS_PAGER", "PAGER"], "cat");

/// Sets those of which nobody has set any: who names an editor means it for all that start one.
pub(crate) fn fill_in(env: &mut Vec<(OsString, OsString)>) {
    for (names, program) in [EDITORS, PAGERS] {
        if !env.iter().any(|(known, _)| names.iter().any(|name| known == name)) {
            env.extend(names.iter().map(|name| (OsString::from(name), OsString::from(program))));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(given: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
        let mut env = given.iter().map(|(name, value)| (name.into(), value.into())).collect();
        fill_in(&mut env);
        env
    }

    #[test]
    fn nothing_waits_for_a_person_where_there_is_none() {
        let env = filled(&[("HOME", "/")]);
        let value = |name: &str| env.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        for (name, program) in
            [("GIT_EDITOR", "true"), ("EDITOR", "true"), ("PAGER", "cat"), ("GIT_PAGER", "cat")]
        {
            assert_eq!(value(name), Some(program.into()), "{name}");
        }
    }

    #[test]
    fn whoever_names_one_keeps_it() {
        let env = filled(&[("EDITOR", "./edit"), ("GIT_PAGER", "less")]);
        assert_eq!(env.len(), 2, "{env:?}");
    }
}
