//! The same rules with more or less trust.

use crate::{Allowlist, Policy, PrefixRule, Rules};

impl Policy {
    /// The same with one more rule by first words.
    #[must_use]
    pub fn with_rule(&self, rule: PrefixRule) -> Self {
        let mut rules = self.rules.clone();
        rules.prefixes.push(rule);
        self.clone().with_rules(rules)
    }

    /// The same where `*` allows nothing: only what a list or a rule names may run.
    #[must_use]
    pub fn by_name_only(&self) -> Self {
        let list = &self.allowlist;
        let nothing = Allowlist::parse("").found_at(list.place_of(""));
        let named = list.entries().iter().filter(|entry| *entry != "*");
        let allowlist = named.fold(nothing, |list_so_far, entry| {
            list_so_far.and(&Allowlist::parse(entry).found_at(list.place_of(entry)))
        });
        Policy { allowlist, ..self.clone() }
    }

    /// The same where nothing has to be allowed: only rules that ask or deny count.
    #[must_use]
    pub fn unless_objected(&self) -> Self {
        Policy { allowlist: Allowlist::parse("*").found_at("whoever approves"), ..self.clone() }
    }

    /// Where only these rules allow anything, with names looked up on the same path.
    #[must_use]
    pub fn only(&self, rules: Vec<PrefixRule>) -> Self {
        Policy::new(Allowlist::parse(""), self.path.clone())
            .with_rules(Rules { prefixes: rules, ..Rules::default() })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use runward_model::{Decision, Work};

    use super::*;
    use crate::{Blocked, SearchPath, read};

    fn policy(list: &str) -> Policy {
        let blocked = vec![Blocked::parse("rm -rf", "x.toml:1").unwrap()];
        Policy::new(Allowlist::parse(list), SearchPath::new("/usr/bin:/bin".as_ref()))
            .with_rules(Rules { blocked, ..Rules::default() })
    }

    fn decided(policy: &Policy, line: &str) -> Decision {
        let reading = read(&Work::Line(line.into())).unwrap();
        policy.judge(&reading, Path::new("/")).decision
    }

    fn rule(words: &[&str]) -> PrefixRule {
        let pattern = words.iter().map(|word| vec![(*word).to_owned()]).collect();
        PrefixRule::new(pattern, Decision::Allow, "", "x.toml:2").unwrap()
    }

    #[test]
    fn everything_is_not_a_name() {
        let named = policy("*,ls").by_name_only();
        assert_eq!(decided(&named, "ls -l"), Decision::Allow);
        assert_eq!(decided(&named, "ls; cat x"), Decision::Deny);
        assert_eq!(decided(&policy("*").by_name_only(), "ls"), Decision::Deny);
    }

    #[test]
    fn what_is_blocked_stays_blocked_where_nothing_has_to_be_allowed() {
        let open = policy("").unless_objected();
        assert_eq!(decided(&open, "cat x | wc"), Decision::Allow);
        assert_eq!(decided(&open, "cat x; rm -fr y"), Decision::Deny);
        assert_eq!(decided(&open, "$x"), Decision::Deny);
    }

    #[test]
    fn one_more_rule_allows_and_lifts_nothing() {
        let more = policy("").with_rule(rule(&["cat", "x"])).with_rule(rule(&["rm"]));
        assert_eq!(decided(&more, "cat x y"), Decision::Allow);
        assert_eq!(decided(&more, "cat y"), Decision::Deny);
        assert_eq!(decided(&more, "rm -rf y"), Decision::Deny);
    }

    #[test]
    fn only_these_rules_allow_anything() {
        let only = policy("*").only(vec![rule(&["cat", "x"])]);
        assert_eq!(decided(&only, "cat x | cat x"), Decision::Allow);
        assert_eq!(decided(&only, "cat x | wc"), Decision::Deny);
        assert_eq!(decided(&policy("*").only(Vec::new()), "ls"), Decision::Deny);
    }
}
