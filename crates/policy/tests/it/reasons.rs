//! What a verdict says.

use runward_model::Decision;

use crate::judge;

#[test]
fn a_denial_names_the_command_and_the_list() {
    for line in ["whoami", "ls | whoami", "ls; echo $(whoami)"] {
        let verdict = judge("ls, cat,echo", line);
        assert_eq!(verdict.decision, Decision::Deny);
        assert_eq!(
            verdict.reason,
            "command \"whoami\" is not allowed; allowed commands: ls, cat, echo (set ALLOWED_COMMANDS to change this)"
        );
    }
}

#[test]
fn a_denial_by_an_empty_list_says_none() {
    for list in ["", " ", ",, ,"] {
        let reason = judge(list, "ls").reason;
        assert_eq!(
            reason,
            "command \"ls\" is not allowed; allowed commands: (none) (to begin, set ALLOWED_COMMANDS to names such as \
             ls,cat, or POLICY_DIR to a directory of rules in Rego)"
        );
    }
}

#[test]
fn what_cannot_be_known_is_shown_as_written_with_a_way_out() {
    assert_eq!(
        judge("ls", "ls; $x -l").reason,
        "\"$x\" as a command cannot be judged before it runs; write the command out"
    );
    for line in ["ls; eval ls", "PATH=x ls", "ls $[1]", "xargs --odd ls", "ls() { ls; }"] {
        let reason = judge("ls,echo,xargs,eval", line).reason;
        assert!(
            ["write the command out", "leave it out", "give it another name"]
                .iter()
                .any(|end| reason.contains(end)),
            "{line}: {reason}"
        );
    }
    let reason = judge("ls,echo", "ls; x='a'; echo $((x))").reason;
    assert!(
        reason.ends_with("give it a plain number on a line before it, such as: x=0 or x=$(printf %d \"$x\")"),
        "{reason}"
    );
    assert!(judge("ls", "ls \"").reason.ends_with("a double quote is not closed; close it"));
}

#[test]
fn every_command_is_listed_in_reading_order() {
    let verdict = judge("ls,echo,env", "echo \"$(whoami)\" $x | env A=1 ls -l");
    let seen: Vec<String> = verdict.commands.iter().map(|judged| judged.words.join(" ")).collect();
    assert_eq!(seen, ["echo \"$(whoami)\" $x", "whoami", "env A=1 ls -l", "ls -l"]);
    let decisions: Vec<Decision> = verdict.commands.iter().map(|judged| judged.decision).collect();
    assert_eq!(decisions, [Decision::Allow, Decision::Deny, Decision::Allow, Decision::Allow]);
}

#[test]
fn every_command_that_is_not_allowed_is_named_and_the_list_once() {
    let reason = judge("ls", "ls; first; second | third && first").reason;
    assert_eq!(
        reason,
        "commands \"first\", \"second\" and \"third\" are not allowed; allowed commands: ls (set ALLOWED_COMMANDS to \
         change this)"
    );
    let verdict = judge("ls", "first; second");
    assert!(verdict.commands.iter().all(|judged| !judged.reason.contains("allowed commands")), "{verdict:?}");
}

#[test]
fn whatever_else_speaks_against_a_line_is_said_in_the_same_answer() {
    let reason = judge("ls,echo", "first; PATH=x ls; [ $x = a ]").reason;
    assert!(reason.starts_with("command \"first\" is not allowed; allowed commands: ls, echo ("), "{reason}");
    assert!(
        reason.contains("; also: the variable \"PATH\"") && reason.contains("\"$x\" may become"),
        "{reason}"
    );
    let many: Vec<String> = (0..40).map(|n| format!("c{n}")).collect();
    let reason = judge("ls", &many.join("; ")).reason;
    assert!(reason.contains("\"c15\" and 24 more are not allowed"), "{reason}");
}

#[test]
fn an_allowed_command_says_by_what() {
    assert_eq!(judge("cat,ls", "ls -l").reason, "allowed by ls");
    assert_eq!(judge("*", "whoami").reason, "allowed by *");
    assert!(
        judge("ls,cat", "ls | cat")
            .reason
            .starts_with("all 2 commands are allowed: allowed by ls; allowed by cat")
    );
    assert!(judge("*", "ls \"").reason.contains("could not be read"));
}

#[test]
fn an_interpreter_is_taken_at_its_word_and_the_verdict_says_so() {
    let verdict = judge("bash", "bash -c 'whoami; ls'");
    assert_eq!(verdict.decision, Decision::Allow);
    assert_eq!(
        verdict.commands[0].reason,
        "allowed by bash; bash is an interpreter: whatever it is given runs"
    );
    assert!(judge("python3", "python3 -c 'print(1)'").reason.contains("is an interpreter"));
    assert_eq!(judge("ls", "bash -c ls").decision, Decision::Deny);
}

#[test]
fn a_program_is_named_where_there_is_one() {
    let verdict = judge("ls,cd", "cd / && ls");
    assert_eq!(verdict.commands[0].program, None);
    assert!(verdict.commands[1].program.as_ref().is_some_and(|file| file.ends_with("ls")));
}
