//! What a person has to approve, and what becomes of their answer.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use runward_audit::{Filter, Order, Trail};
use runward_engine::{ApprovalSettings, Approver, Asking, Conversation, Engine, Said, Settings, Watch};
use runward_model::{Answer, ApprovalPolicy, Confinement, Decision, Question, Refusal, Request, Wish};
use runward_policy::{Allowlist, Blocked, Policy, PrefixRule, Rules, SearchPath};
use tokio_util::sync::CancellationToken;

use crate::setup::*;

/// Somebody who always says the same, and remembers what they were asked.
#[derive(Debug, Default)]
struct Parrot {
    answer: Option<Answer>,
    asked: Mutex<Vec<Arc<Question>>>,
}

impl Parrot {
    fn saying(answer: Answer) -> Arc<Self> {
        Arc::new(Parrot { answer: Some(answer), asked: Mutex::default() })
    }

    /// One who never answers.
    fn silent() -> Arc<Self> {
        Arc::default()
    }

    fn asked(&self) -> Vec<Arc<Question>> {
        self.asked.lock().unwrap().clone()
    }
}

impl Approver for Parrot {
    fn way(&self) -> &'static str {
        "parrot"
    }

    fn ask(&self, question: Arc<Question>) -> Asking {
        self.asked.lock().unwrap().push(question);
        let answer = self.answer.clone();
        Box::pin(async move {
            match answer {
                Some(answer) => Ok(Said { answer, by: "the parrot".into() }),
                None => std::future::pending().await,
            }
        })
    }
}

/// Somebody whose line is dead.
#[derive(Debug)]
struct Dead;

impl Approver for Dead {
    fn way(&self) -> &'static str {
        "dead"
    }

    fn ask(&self, _: Arc<Question>) -> Asking {
        Box::pin(async { Err("the line is dead".to_owned()) })
    }
}

fn policy(list: &str, asks: &[&str]) -> Policy {
    let rule = |word: &&str| {
        PrefixRule::new(vec![vec![(*word).to_owned()]], Decision::Ask, "loud", "x.toml:1").unwrap()
    };
    let blocked = vec![Blocked::parse("dd", "x.toml:2").unwrap()];
    let path = std::env::var_os("PATH").unwrap_or_default();
    Policy::new(Allowlist::parse(list), SearchPath::new(&path)).with_rules(Rules {
        prefixes: asks.iter().map(rule).collect(),
        blocked,
        ..Rules::default()
    })
}

fn told(policy: Policy, approvals: ApprovalSettings) -> Settings {
    Settings { policy: policy.into(), approvals, ..settings() }
}

fn asking_about_echo() -> Settings {
    told(policy("*", &["echo"]), ApprovalSettings::default())
}

fn when(policy: ApprovalPolicy) -> ApprovalSettings {
    ApprovalSettings { policy, ..ApprovalSettings::default() }
}

fn escalated(request: Request) -> Request {
    let wish = Wish {
        confinement: Confinement::Escalated,
        justification: Some("it must".into()),
        prefix: Vec::new(),
    };
    Request { wish, ..request }
}

async fn printed(engine: &Engine, request: Request) -> String {
    text(&run(engine, request).await.stdout.head)
}

async fn refusal(engine: &Engine, request: Request) -> String {
    start(engine, request).await.unwrap_err().to_string()
}

#[test]
fn what_needs_approval_is_refused_where_nobody_is_there_to_ask() {
    under_each_containment_with(&asking_about_echo(), async |engine| {
        let refusal = start(engine, line("echo hello")).await.unwrap_err();
        assert_eq!(
            refusal.to_string(),
            "the rule [\"echo\"] wants a person to approve this command: loud; nobody is there to ask, so it was not run"
        );
        assert!(matches!(refusal, Refusal::NotApproved { verdict, .. } if verdict.decision == Decision::Ask));
    });
}

#[test]
fn an_approved_command_runs_and_its_receipt_says_who_approved_it() {
    block_on(asking_about_echo(), async |engine| {
        let parrot = Parrot::saying(Answer::ApproveOnce);
        engine.attach(parrot.clone());
        for _ in 0..2 {
            let view = run(engine, line("echo 'a b' | cat")).await;
            assert_eq!(text(&view.stdout.head), "a b\n");
            let verdict = &view.receipt.verdict;
            assert_eq!(verdict.decision, Decision::Allow);
            assert!(verdict.reason.ends_with("loud; approved once by the parrot"), "{}", verdict.reason);
        }
        let asked = parrot.asked();
        assert_eq!(asked.len(), 2, "once is once");
        let question = &asked[0];
        assert_eq!(question.command, "echo 'a b' | cat");
        assert_eq!(question.argv.last().unwrap(), "echo 'a b' | cat");
        assert_eq!(question.directory, std::env::current_dir().unwrap().to_str().unwrap());
        let ruled: Vec<_> =
            question.commands.iter().map(|command| (command.words.clone(), command.decision)).collect();
        let words = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(ruled, [(words(&["echo", "a b"]), Decision::Ask), (words(&["cat"]), Decision::Allow)]);
        assert!(run(engine, line("printf x")).await.outcome.exit_code() == 0);
        assert_eq!(parrot.asked().len(), 2, "nobody is asked about what is allowed");
    });
}

#[test]
fn a_denial_carries_its_note_and_leaves_nothing_behind() {
    let settings = Settings { max_sessions: 1, ..asking_about_echo() };
    block_on(settings, async |engine| {
        engine.attach(Parrot::saying(Answer::Deny { note: Some("not today".into()) }));
        for _ in 0..3 {
            let said = refusal(engine, line("echo hello")).await;
            assert!(said.ends_with("loud; denied by the parrot: not today"), "{said}");
        }
        assert_eq!(printed(engine, line("printf x")).await, "x", "there is room for another command");
    });
}

#[test]
fn the_first_answer_counts_and_a_dead_line_is_not_one() {
    block_on(asking_about_echo(), async |engine| {
        engine.attach(Arc::new(Dead));
        assert!(refusal(engine, line("echo hello")).await.ends_with("the line is dead, so it was not run"));
        engine.attach(Parrot::silent());
        engine.attach(Parrot::saying(Answer::ApproveOnce));
        assert_eq!(printed(engine, line("echo hello")).await, "hello\n");
    });
}

#[test]
fn nobody_who_answers_in_time_is_a_denial() {
    let approvals = ApprovalSettings { timeout: Duration::from_secs(1), ..ApprovalSettings::default() };
    block_on(told(policy("*", &["echo"]), approvals), async |engine| {
        engine.attach(Parrot::silent());
        let said = refusal(engine, line("echo hello")).await;
        assert!(said.ends_with("nobody answered within 1 s, so it was not run"), "{said}");
    });
}

#[test]
fn a_caller_that_gives_up_ends_the_question() {
    block_on(asking_about_echo(), async |engine| {
        let parrot = Parrot::silent();
        let token = CancellationToken::new();
        let conversation = Conversation {
            approver: Some(parrot.clone()),
            given_up: vec![CancellationToken::new(), token.clone()],
            ..Conversation::default()
        };
        let starting = engine.start(line("echo hello"), &conversation, Watch::Call);
        let (refused, ()) = tokio::join!(starting, async {
            while parrot.asked().is_empty() {
                tokio::task::yield_now().await;
            }
            token.cancel();
        });
        let said = refused.unwrap_err().to_string();
        assert!(said.ends_with("no longer waits for an answer, so it was not run"), "{said}");
    });
}

#[test]
fn deadlines_stand_still_while_somebody_thinks() {
    #[derive(Debug)]
    struct Slow;
    impl Approver for Slow {
        fn way(&self) -> &'static str {
            "slow"
        }

        fn ask(&self, _: Arc<Question>) -> Asking {
            Box::pin(async {
                tokio::time::sleep(Duration::from_millis(1500)).await;
                Ok(Said { answer: Answer::ApproveOnce, by: "somebody".into() })
            })
        }
    }
    block_on(asking_about_echo(), async |engine| {
        engine.attach(Arc::new(Slow));
        let request = Request { timeout: Some(Duration::from_secs(1)), ..line("echo hello") };
        let view = run(engine, request).await;
        assert_eq!((text(&view.stdout.head).as_str(), view.outcome.stopped), ("hello\n", None));
    });
}

#[test]
fn what_was_approved_for_the_session_is_asked_once_a_conversation() {
    block_on(asking_about_echo(), async |engine| {
        let parrot = Parrot::saying(Answer::ApproveForSession);
        let start = async |request: Request, name: &str| {
            let conversation =
                Conversation { approver: Some(parrot.clone()), name: name.into(), ..Conversation::default() };
            let mut session = engine.start(request, &conversation, Watch::Call).await.unwrap();
            session.ended().await;
            parrot.asked().len()
        };
        assert_eq!(start(line("echo hello"), "a").await, 1);
        assert_eq!(start(line("echo hello"), "a").await, 1);
        assert_eq!(start(line("echo hello"), "b").await, 2, "another conversation");
        assert_eq!(start(line("echo hello there"), "a").await, 3, "another command");
        let elsewhere = Request { cwd: Some("/".into()), ..line("echo hello") };
        assert_eq!(start(elsewhere, "a").await, 4, "another directory");
        let given = runward_model::Stdio::Given(b"x".to_vec());
        assert_eq!(start(Request { stdio: given, ..line("echo hello") }, "a").await, 5, "another input");
        let env = vec![("GREETING".to_owned(), "x".to_owned())];
        assert_eq!(start(Request { env, ..line("echo hello") }, "a").await, 6, "another environment");
        assert_eq!(start(escalated(line("echo hello")), "a").await, 7, "another confinement");
        let mut other = line("echo hello");
        other.caller.principal = runward_model::Principal::named("another");
        assert_eq!(start(other, "a").await, 8, "another principal");
    });
}

#[test]
fn under_never_nobody_is_asked() {
    block_on(told(policy("*", &["echo"]), when(ApprovalPolicy::Never)), async |engine| {
        let parrot = Parrot::saying(Answer::ApproveOnce);
        engine.attach(parrot.clone());
        let said = refusal(engine, line("echo hello")).await;
        assert!(said.ends_with("approval_policy is never, so nobody is asked and it was not run"), "{said}");
        assert_eq!(printed(engine, line("printf x")).await, "x");
        assert!(parrot.asked().is_empty());
    });
}

#[test]
fn escalation_is_refused_at_once_unless_it_can_be_asked_for() {
    for policy_of in [ApprovalPolicy::Never, ApprovalPolicy::Untrusted] {
        block_on(told(policy("*", &[]), when(policy_of)), async |engine| {
            let parrot = Parrot::saying(Answer::ApproveOnce);
            engine.attach(parrot.clone());
            let refused = start(engine, escalated(line("printf x"))).await.unwrap_err();
            assert_eq!(refused, Refusal::EscalationRefused(policy_of));
            assert!(refused.to_string().contains(policy_of.name()), "{refused}");
            assert!(parrot.asked().is_empty());
        });
    }
    block_on(told(policy("*", &[]), when(ApprovalPolicy::OnRequest)), async |engine| {
        let parrot = Parrot::saying(Answer::ApproveOnce);
        engine.attach(parrot.clone());
        assert_eq!(printed(engine, escalated(line("printf x"))).await, "x");
        let question = parrot.asked().pop().unwrap();
        assert_eq!(question.confinement, Confinement::Escalated);
        assert_eq!(question.justification.as_deref(), Some("it must"));
        let denied = refusal(engine, escalated(line("dd if=x"))).await;
        assert!(denied.contains("is blocked"), "a person is not asked about what is denied: {denied}");
    });
}

#[test]
fn under_untrusted_everything_is_asked_that_no_rule_allows_by_name() {
    for list in ["*,printf", "printf"] {
        block_on(told(policy(list, &[]), when(ApprovalPolicy::Untrusted)), async |engine| {
            let parrot = Parrot::saying(Answer::ApproveOnce);
            engine.attach(parrot.clone());
            assert_eq!(printed(engine, line("printf x")).await, "x");
            assert_eq!(parrot.asked().len(), 0, "{list}: named");
            assert_eq!(printed(engine, line("printf x | tr x y")).await, "y");
            let reason = parrot.asked().pop().unwrap().reason.clone();
            assert_eq!(reason, "no rule allows it by name, and approval_policy is untrusted");
            assert!(refusal(engine, line("dd if=x")).await.contains("is blocked"));
            assert!(refusal(engine, line("$x y")).await.contains("cannot be judged"));
            assert_eq!(parrot.asked().len(), 1, "{list}: what is blocked is not asked about");
        });
    }
}

fn keeping_rules(policy_of: ApprovalPolicy) -> (tempfile::TempDir, ApprovalSettings) {
    let directory = tempfile::tempdir().unwrap();
    let rules_file = Some(directory.path().join("rules.toml"));
    (directory, ApprovalSettings { rules_file, ..when(policy_of) })
}

fn wishing(request: Request, prefix: &[&str]) -> Request {
    let prefix = prefix.iter().map(ToString::to_string).collect();
    Request { wish: Wish { prefix, ..request.wish.clone() }, ..request }
}

#[test]
fn a_prefix_that_is_allowed_for_good_takes_effect_at_once_and_is_written_down() {
    let (directory, approvals) = keeping_rules(ApprovalPolicy::Untrusted);
    block_on(told(policy("", &[]), approvals), async |engine| {
        let parrot = Parrot::saying(Answer::AlwaysAllowPrefix);
        engine.attach(parrot.clone());
        let request = wishing(line("printf %s x"), &["printf", "%s"]);
        assert_eq!(printed(engine, request).await, "x");
        assert_eq!(printed(engine, line("printf %s y")).await, "y");
        assert_eq!(parrot.asked().len(), 1);
        assert_eq!(parrot.asked()[0].prefix.as_deref().unwrap(), ["printf", "%s"]);
        assert_eq!(printed(engine, line("printf z")).await, "z");
        assert_eq!(parrot.asked().len(), 2, "another prefix");
        assert_eq!(
            parrot.asked()[1].prefix.as_deref().unwrap(),
            ["printf", "z"],
            "the narrowest is proposed"
        );
    });
    let text = std::fs::read_to_string(directory.path().join("rules.toml")).unwrap();
    assert!(text.contains("pattern = [\"printf\", \"%s\"]\ndecision = \"allow\"\n"), "{text}");
}

#[test]
fn a_prefix_is_offered_only_where_it_is_narrow_and_would_answer_the_question() {
    let offered = |policy_of, list: &str, asks: &[&str], request: Request| {
        let (_directory, approvals) = keeping_rules(policy_of);
        block_on(told(policy(list, asks), approvals), async |engine| {
            let parrot = Parrot::saying(Answer::Deny { note: None });
            engine.attach(parrot.clone());
            start(engine, request).await.unwrap_err();
            parrot.asked().pop().unwrap().prefix.clone()
        })
    };
    let untrusted = ApprovalPolicy::Untrusted;
    assert_eq!(offered(untrusted, "", &[], wishing(line("ls; id"), &["ls"])), None, "one of two");
    assert_eq!(offered(untrusted, "", &[], wishing(line("bash -c id"), &["bash", "-c"])), None, "a shell");
    assert_eq!(offered(untrusted, "", &[], line("python3 -c 1")), None, "an interpreter");
    assert_eq!(offered(untrusted, "", &[], wishing(line("env id"), &["env"])), None, "a wrapper");
    let injected = wishing(line("ls x"), &["rm", "-rf"]);
    assert_eq!(offered(untrusted, "", &[], injected), Some(vec!["ls".into(), "x".into()]), "another command");
    assert_eq!(offered(untrusted, "", &[], line("echo $HOME")), None, "a word that is not known");
    let on_request = ApprovalPolicy::OnRequest;
    assert_eq!(offered(on_request, "*", &["ls"], wishing(line("ls x"), &["ls", "x"])), None, "a rule asks");
    let escalated_ls = offered(on_request, "*", &[], wishing(escalated(line("ls x")), &["ls"]));
    assert_eq!(escalated_ls, Some(vec!["ls".into()]));
}

#[test]
fn nothing_is_offered_for_good_where_no_file_keeps_it_and_no_answer_makes_it_so() {
    block_on(told(policy("", &[]), when(ApprovalPolicy::Untrusted)), async |engine| {
        let parrot = Parrot::saying(Answer::AlwaysAllowPrefix);
        engine.attach(parrot.clone());
        let said = refusal(engine, wishing(line("ls x"), &["ls"])).await;
        assert!(said.ends_with("the answer allows a prefix that was not offered"), "{said}");
        assert_eq!(parrot.asked()[0].prefix, None);
    });
}

#[test]
fn an_allow_rule_never_lets_a_command_out_of_the_sandbox_unless_it_was_made_for_that() {
    let (directory, approvals) = keeping_rules(ApprovalPolicy::OnRequest);
    block_on(told(policy("printf", &[]), approvals), async |engine| {
        let parrot = Parrot::saying(Answer::AlwaysAllowPrefix);
        engine.attach(parrot.clone());
        for wanted in [1, 1] {
            assert_eq!(printed(engine, wishing(escalated(line("printf x")), &["printf", "x"])).await, "x");
            assert_eq!(parrot.asked().len(), wanted, "allowed by a list is not enough, said for good is");
        }
        assert_eq!(printed(engine, escalated(line("printf y"))).await, "y");
        assert_eq!(parrot.asked().len(), 2);
    });
    let text = std::fs::read_to_string(directory.path().join("rules.toml")).unwrap();
    assert_eq!(text.matches("escalated = true").count(), 2, "{text}");
}

#[test]
fn a_rule_that_cannot_be_written_approves_once() {
    let (directory, mut approvals) = keeping_rules(ApprovalPolicy::Untrusted);
    approvals.rules_file = Some(directory.path().to_owned());
    block_on(told(policy("", &[]), approvals), async |engine| {
        let parrot = Parrot::saying(Answer::AlwaysAllowPrefix);
        engine.attach(parrot.clone());
        for asked in [1, 2] {
            let view = run(engine, line("printf x")).await;
            let reason = &view.receipt.verdict.reason;
            assert!(reason.contains("since the rule could not be added"), "{reason}");
            assert_eq!(parrot.asked().len(), asked);
        }
    });
}

#[test]
fn rules_that_became_stricter_meanwhile_count() {
    #[derive(Debug)]
    struct Strict(runward_policy::Rulebook);
    impl Approver for Strict {
        fn way(&self) -> &'static str {
            "strict"
        }

        fn ask(&self, _: Arc<Question>) -> Asking {
            self.0.replace(policy("cat", &[]));
            Box::pin(async { Ok(Said { answer: Answer::ApproveOnce, by: "somebody".into() }) })
        }
    }
    block_on(asking_about_echo(), async |engine| {
        engine.attach(Arc::new(Strict(engine.rulebook().clone())));
        let said = refusal(engine, line("echo hello")).await;
        assert!(said.contains("\"echo\" is not allowed"), "{said}");
    });
}

#[test]
fn questions_and_answers_are_recorded_with_who_gave_them() {
    let directory = tempfile::tempdir().unwrap();
    let trail = Arc::new(Trail::at(directory.path().join("audit.db")));
    let settings = Settings { trail: Some(trail.clone()), ..asking_about_echo() };
    block_on(settings, async |engine| {
        let parrot = Parrot::saying(Answer::ApproveForSession);
        engine.attach(parrot);
        for _ in 0..2 {
            printed(engine, line("echo hello")).await;
        }
        engine.attach(Arc::new(Dead));
        let denied = Parrot::saying(Answer::Deny { note: Some("no".into()) });
        let conversation =
            Conversation { approver: Some(denied), name: "x".into(), ..Conversation::default() };
        engine.start(escalated(line("printf x")), &conversation, Watch::Call).await.unwrap_err();
    });
    let calls: Vec<_> = trail.query(Filter::default(), Order::OldestFirst).map(Result::unwrap).collect();
    let by: Vec<_> = calls.iter().map(|call| call.answered.clone().unwrap().by).collect();
    assert_eq!(by, ["the parrot", "an earlier answer", "the parrot"]);
    assert_eq!(calls[0].asked.clone().unwrap().ways, ["parrot"]);
    assert_eq!(calls[1].asked, None);
    let last = calls[2].asked.clone().unwrap();
    assert_eq!((last.confinement, last.justification.as_deref()), (Confinement::Escalated, Some("it must")));
    assert_eq!(last.ways.len(), 3);
    assert!(calls[2].closed.as_ref().unwrap().closing.reason().unwrap().contains("denied by the parrot: no"));
    assert!(trail.verify().unwrap().is_clean());
}

#[test]
fn what_is_too_long_to_be_read_is_not_asked_about() {
    block_on(asking_about_echo(), async |engine| {
        let parrot = Parrot::saying(Answer::ApproveOnce);
        engine.attach(parrot.clone());
        let said = refusal(engine, line(&format!("echo {}", "x".repeat(40_000)))).await;
        assert!(
            said.ends_with("too long to be shown to a person, so it was not run; put it into a file"),
            "{said}"
        );
        assert!(parrot.asked().is_empty());
    });
}

/// What was typed into each call, the oldest first.
fn typed(trail: &Trail) -> Vec<Vec<String>> {
    let calls = trail.query(Filter::default(), Order::OldestFirst).map(Result::unwrap);
    let texts = |call: runward_audit::Call| {
        let records = trail.show(&call.judged.call).unwrap();
        let texts = records.iter().filter_map(|stored| match stored.record().unwrap().entry {
            runward_audit::Entry::Typed(typed) => Some(typed.text),
            _ => None,
        });
        texts.collect()
    };
    calls.map(texts).collect()
}

#[test]
fn what_is_typed_into_an_escalated_session_is_recorded_before_it_arrives() {
    let directory = tempfile::tempdir().unwrap();
    let trail = Arc::new(Trail::at(directory.path().join("audit.db")));
    let settings =
        Settings { trail: Some(trail.clone()), ..told(policy("*", &[]), ApprovalSettings::default()) };
    block_on(settings, async |engine| {
        engine.attach(Parrot::saying(Answer::ApproveOnce));
        let open = || Request { stdio: runward_model::Stdio::Open, ..line("cat") };
        for request in [open(), escalated(open())] {
            let mut session = start(engine, request).await.unwrap();
            for typed in ["one\n", "two\n"] {
                session.write(typed.as_bytes().to_vec()).unwrap();
            }
            until_printed(&session, "two").await;
            session.close_input().unwrap();
            assert_eq!(text(&session.ended().await.stdout.head), "one\ntwo\n");
        }
        let given = runward_model::Stdio::Given(b"all at once".to_vec());
        assert_eq!(printed(engine, escalated(Request { stdio: given, ..line("cat") })).await, "all at once");
    });
    assert_eq!(
        typed(&trail),
        [vec![], vec!["one\n".to_owned(), "two\n".to_owned()], vec!["all at once".to_owned()]]
    );
    assert!(trail.verify().unwrap().is_clean());
}
