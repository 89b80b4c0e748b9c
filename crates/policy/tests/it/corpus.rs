//! Lines that have to be refused, and lines that have to be allowed.

use runward_model::Decision;

use crate::judge;

const LIST: &str = "ls,cat,echo,env,find,xargs";
const WIDE: &str = "jobs,stdbuf,ls,cat,echo,env,find,xargs,grep,wc,head,sort,git,cd,true,test,[,printf,read,export,set,exit,time,timeout,nice,command,sleep,tee,declare,shopt,:,unset,nohup,exec,local,return,wait";

/// One case a line; `␤` stands for a newline, lines that start with `## ` are headings.
fn cases(text: &str) -> impl Iterator<Item = String> {
    text.lines()
        .filter(|line| !line.is_empty() && !line.starts_with("## "))
        .map(|line| line.replace('␤', "\n"))
}

fn failing(list: &str, text: &str, wanted: Decision) -> Vec<String> {
    cases(text)
        .map(|case| (judge(list, &case), case))
        .filter(|(verdict, _)| verdict.decision != wanted)
        .map(|(verdict, case)| format!("{case}\n    {}", verdict.reason))
        .collect()
}

#[test]
fn attempts_to_run_something_else_are_refused() {
    let attacks = include_str!("../../data/smuggling.txt");
    assert!(cases(attacks).count() >= 150, "{}", cases(attacks).count());
    for text in [attacks, include_str!("corpus/refused.txt")] {
        let let_through = failing(LIST, text, Decision::Deny);
        assert!(let_through.is_empty(), "let through:\n{}", let_through.join("\n"));
    }
}

#[test]
fn attempts_by_way_of_builtins_are_refused() {
    for text in [include_str!("../../data/builtins.txt"), include_str!("corpus/refused_builtins.txt")] {
        let let_through = failing(WIDE, text, Decision::Deny);
        assert!(let_through.is_empty(), "let through:\n{}", let_through.join("\n"));
    }
}

#[test]
fn honest_lines_are_allowed() {
    let text = include_str!("corpus/allowed.txt");
    assert!(cases(text).count() >= 60, "{}", cases(text).count());
    let stopped = failing(WIDE, text, Decision::Allow);
    assert!(stopped.is_empty(), "stopped:\n{}", stopped.join("\n"));
}

#[test]
fn a_star_allows_every_line_of_every_corpus() {
    for text in [
        include_str!("../../data/smuggling.txt"),
        include_str!("../../data/builtins.txt"),
        include_str!("../../data/told.txt"),
        include_str!("corpus/refused.txt"),
        include_str!("corpus/refused_builtins.txt"),
    ] {
        let stopped = failing("*", text, Decision::Allow);
        assert!(stopped.is_empty(), "stopped:\n{}", stopped.join("\n"));
    }
}

#[test]
fn an_empty_list_refuses_every_line_of_every_corpus() {
    for text in [include_str!("../../data/smuggling.txt"), include_str!("corpus/allowed.txt")] {
        let let_through = failing("", text, Decision::Deny);
        assert!(let_through.is_empty(), "let through: {let_through:?}");
    }
}
