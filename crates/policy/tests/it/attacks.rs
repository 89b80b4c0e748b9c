//! The built-in attacks, tried against rules.

use runward_model::Decision;
use runward_policy::{Allowlist, Blocked, Breach, Policy, PrefixRule, Rules, SearchPath, attacks};

fn policy(list: &str) -> Policy {
    Policy::new(Allowlist::parse(list), SearchPath::new("/usr/bin:/bin".as_ref()))
}

fn through(policy: &Policy) -> Vec<String> {
    policy.withstand().through.into_iter().map(|breach| breach.attack.line).collect()
}

fn print(policy: &Policy) {
    for breach in policy.withstand().through {
        eprintln!("{:?} {:?}", breach.attack, breach.verdict.reason);
    }
}

#[test]
fn there_are_enough_attacks_and_every_one_has_a_group() {
    let all = attacks();
    assert!(all.len() >= 300, "{}", all.len());
    assert!(all.iter().all(|attack| !attack.group.is_empty()));
}

#[test]
fn no_attack_gets_past_a_list_of_programs_that_start_no_others() {
    for list in [
        "",
        "ls",
        "ls,cat,echo",
        "git-lfs,wc,head",
        "true,test,[,cd,export,read,printf,declare,set",
        "/usr/bin/id",
    ] {
        print(&policy(list));
        assert_eq!(through(&policy(list)), Vec::<String>::new(), "{list}");
    }
}

#[test]
fn no_attack_gets_past_wrappers_since_what_they_start_is_judged() {
    let list = "ls,env,nohup,nice,timeout,time,xargs,find,command,exec,sudo,watch,script,stdbuf,setsid,busybox,strace";
    print(&policy(list));
    assert_eq!(through(&policy(list)), Vec::<String>::new());
}

#[test]
fn an_interpreter_that_is_listed_lets_its_attacks_through() {
    let found = through(&policy("bash,tar"));
    assert!(found.contains(&"bash -c 'canary'".to_owned()), "{found:?}");
    assert!(found.contains(&"tar --to-command='canary' -xf x.tar".to_owned()), "{found:?}");
    assert!(!found.iter().any(|line| line.starts_with("python")), "{found:?}");
}

#[test]
fn where_everything_is_allowed_every_attack_gets_through() {
    let trial = policy("*").withstand();
    assert_eq!((trial.through.len(), trial.attacks), (trial.attacks, attacks().len()));
}

#[test]
fn where_only_some_commands_are_blocked_only_programs_that_start_others_by_themselves_get_through() {
    let blocked = vec![Blocked::parse("rm -rf", "x").unwrap()];
    let policy = policy("*").with_rules(Rules { blocked, ..Rules::default() });
    let trial = policy.withstand();
    assert!(trial.attacks >= 300, "{}", trial.attacks);
    let told = |group: &str| {
        ["interpreters", "build tools", "options that name", "programs that start"]
            .iter()
            .any(|begin| group.starts_with(begin))
    };
    let odd: Vec<_> = trial
        .through
        .iter()
        .filter(|breach| !told(breach.attack.group))
        .map(|breach| &breach.attack.line)
        .collect();
    assert_eq!(odd, Vec::<&String>::new());
}

#[test]
fn every_blocked_command_is_tried_in_its_own_words() {
    let blocked = ["rm -rf", "dd"].map(|entry| Blocked::parse(entry, "here").unwrap());
    let rule =
        |words: &[&[&str]]| words.iter().map(|part| part.iter().map(|&w| w.to_owned()).collect()).collect();
    let pushes = PrefixRule::new(rule(&[&["git"], &["push", "fetch"]]), Decision::Deny, "", "there").unwrap();
    let rules = Rules { blocked: blocked.into(), prefixes: vec![pushes], ..Rules::default() };
    let policy = policy("*").with_rules(rules);
    let trial = policy.withstand();
    assert_eq!(trial.targets, 4);
    assert!(trial.attacks > 4 * 250, "{}", trial.attacks);
    for Breach { attack, .. } in &trial.through {
        let aim = attack.aim.as_deref().unwrap();
        let (program, _) = [("rm", "rm -rf"), ("dd", "\"dd\""), ("git", "git")]
            .into_iter()
            .find(|(_, rule)| aim.contains(rule))
            .unwrap_or_else(|| panic!("{aim}"));
        assert!(attack.line.contains(program) && !attack.line.contains("canary"), "{attack:?}");
    }
    assert!(trial.through.iter().all(|breach| breach.attack.group != "spellings of a name"));
}

#[test]
fn what_is_not_allowed_anyway_is_no_target() {
    let blocked = vec![Blocked::parse("rm -rf", "here").unwrap()];
    let only_ls = policy("ls").with_rules(Rules { blocked: blocked.clone(), ..Rules::default() }).withstand();
    assert_eq!((only_ls.targets, only_ls.attacks), (0, attacks().len()));
    let with_rm = policy("ls,rm").with_rules(Rules { blocked, ..Rules::default() }).withstand();
    assert!(with_rm.targets == 1 && with_rm.attacks > attacks().len() + 250);
    assert!(with_rm.through.is_empty(), "{:?}", with_rm.through);
}

#[test]
fn a_blocked_carrier_does_not_shield_what_stands_beside_it() {
    let blocked = ["ls", "cat", "echo", "dd"].map(|entry| Blocked::parse(entry, "here").unwrap());
    let policy = policy("*").with_rules(Rules { blocked: blocked.into(), ..Rules::default() });
    let through = through(&policy);
    assert!(through.iter().any(|line| line.starts_with("python3 -c")), "{through:?}");
}

#[test]
fn rules_that_allow_are_attacked_beside_what_they_allow() {
    let rule = PrefixRule::new(vec![vec!["id".into()], vec!["-u".into()]], Decision::Allow, "", "x").unwrap();
    let policy = policy("").with_rules(Rules { prefixes: vec![rule], ..Rules::default() });
    assert_eq!(through(&policy), Vec::<String>::new());
}
