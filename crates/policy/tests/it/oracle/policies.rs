//! Policies of every kind.

use std::path::Path;

use runward_model::Decision;
use runward_policy::{Allowlist, Blocked, BlockedPattern, Policy, PrefixRule, Rules, SearchPath};

/// Programs that do nothing, some of which are blocked.
pub(super) const DECOYS: [&str; 4] = ["canary", "rm", "git", "touch"];

const LIST: &str = "ls,cat,echo,env,find,xargs,true,false,test,[,printf,read,export,set,cd,time,timeout,nice,command,declare,typeset,readonly,local,:,unset,exec,shopt,nohup,head,wc,sort,grep,builtin,getopts,mapfile,readarray,shift,return,break,continue,exit,wait,jobs,pwd,type,umask,ulimit,times,dirs,pushd,popd,kill,help,caller";

/// Each kind of policy, by its name.
pub(super) fn policies(bin: &Path) -> Vec<(&'static str, Policy)> {
    let policy = |list: &str, rules| {
        Policy::new(Allowlist::parse(list), SearchPath::new(bin.as_os_str())).with_rules(rules)
    };
    let blocked = |texts: &[&str]| Rules {
        blocked: texts.iter().map(|text| Blocked::parse(text, "here").unwrap()).collect(),
        ..Rules::default()
    };
    let patterns = |texts: &[&str]| Rules {
        patterns: texts.iter().map(|text| BlockedPattern::parse(text, "here").unwrap()).collect(),
        ..Rules::default()
    };
    let rule = |words: &[&str], decision| {
        let words = words.iter().map(|word| vec![(*word).to_owned()]).collect();
        PrefixRule::new(words, decision, "", "here").unwrap()
    };
    let denials = [&["canary"][..], &["rm"], &["git", "a"], &["echo", "canary"]];
    let denied = Rules {
        prefixes: denials.into_iter().map(|words| rule(words, Decision::Deny)).collect(),
        ..Rules::default()
    };
    let ruled = Rules { prefixes: vec![rule(&["echo", "a"], Decision::Allow)], ..Rules::default() };
    let listed_too = format!("{LIST},rm,git");
    vec![
        ("list", policy(LIST, Rules::default())),
        ("list and blocks", policy(&listed_too, blocked(&["rm -rf", "git a", "echo canary"]))),
        ("star and blocks", policy("*", blocked(&["canary", "rm", "git a"]))),
        ("star and patterns", policy("*", patterns(&["^canary", "^rm ", "^echo .*canary"]))),
        ("star and rules", policy("*", denied)),
        ("rules that allow", policy(":,true,x=", ruled)),
    ]
}
