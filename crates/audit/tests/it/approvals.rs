//! What people were asked, what they said, and what was typed into what they approved.

use runward_audit::redact::Secrets;
use runward_audit::{Answered, Asked, CallId, Closed, Entry, Error, Filter, Order, Typed};
use runward_model::{Answer, Confinement};

use crate::{judged, started, tamper, trail};

fn asked(call: &CallId) -> Asked {
    Asked {
        call: call.clone(),
        reason: "the rule [\"echo\"] wants a person".into(),
        confinement: Confinement::Escalated,
        justification: Some("it needs --password=hunter2secret".into()),
        prefix: Some(vec!["echo".into(), "--token=hunter2secret".into()]),
        ways: vec!["elicitation".into()],
        host: None,
    }
}

fn denied(call: &CallId, note: &str) -> Answered {
    Answered {
        call: call.clone(),
        by: "uid 7".into(),
        answer: Answer::Deny { note: Some(note.into()) },
        host: None,
    }
}

#[test]
fn a_question_and_its_answer_are_part_of_the_call() {
    let (_directory, trail) = trail();
    let call = CallId::fresh();
    let entries: [Entry; 4] = [
        judged(&call, "echo hello").into(),
        asked(&call).into(),
        denied(&call, "not today").into(),
        Closed::refused(call.clone(), "denied").into(),
    ];
    trail.append_all(entries).unwrap();
    let found = trail.query(Filter::default(), Order::NewestFirst).next().unwrap().unwrap();
    assert_eq!(found.asked.unwrap().ways, ["elicitation"]);
    assert_eq!(found.answered.unwrap(), denied(&call, "not today"));
    assert!(trail.verify().unwrap().is_clean());
}

#[test]
fn nobody_is_asked_twice_about_a_call_nor_about_one_that_is_closed() {
    let (_directory, trail) = trail();
    let call = CallId::fresh();
    assert!(matches!(trail.append(asked(&call)), Err(Error::NotOpen(_))));
    trail.append_all([judged(&call, "echo").into(), asked(&call).into()]).unwrap();
    assert!(trail.append(asked(&call)).is_err());
    trail.append(Closed::refused(call.clone(), "no")).unwrap();
    assert!(matches!(trail.append(denied(&call, "late")), Err(Error::NotOpen(_))));
}

#[test]
fn everything_that_was_typed_is_kept_piece_by_piece() {
    let (_directory, trail) = trail();
    let call = CallId::fresh();
    trail.append_all([judged(&call, "bash").into(), started(&call).into()]).unwrap();
    for typed in ["id\n", "id\n", "exit\n"] {
        trail.append(Typed::new(call.clone(), typed.as_bytes())).unwrap();
    }
    let texts: Vec<String> = trail.show(&call).unwrap().iter().map(|stored| stored.body.clone()).collect();
    assert_eq!(texts.iter().filter(|body| body.contains(r#""phase":"typed""#)).count(), 3);
    let flood = Typed::new(call.clone(), &vec![b'x'; 1 << 20]);
    assert_eq!((flood.bytes, flood.text.len()), (1 << 20, 16 * 1024));
}

#[test]
fn a_trail_from_before_typing_was_recorded_is_written_on() {
    let (_directory, trail) = trail();
    let call = CallId::fresh();
    trail.append_all([judged(&call, "bash").into(), started(&call).into()]).unwrap();
    tamper(
        &trail,
        "DROP INDEX record_single; DROP INDEX record_by_call;
         CREATE UNIQUE INDEX record_of_call ON record (call, phase);",
    );
    let again = runward_audit::Trail::at(trail.path());
    for _ in 0..2 {
        again.append(Typed::new(call.clone(), b"id\n")).unwrap();
    }
    assert!(again.append(started(&call)).is_err(), "a call still starts once");
}

#[test]
fn secrets_are_left_out_of_questions_answers_and_typing() {
    let (_directory, trail) = trail();
    let call = CallId::fresh();
    let secrets = Secrets::new(["correct-horse"]).unwrap();
    let typed = Typed::new(call.clone(), b"login correct-horse\n").without(&secrets);
    let answered = denied(&call, "it shows correct-horse").without(&secrets);
    trail
        .append_all([judged(&call, "bash").into(), asked(&call).into(), answered.into(), typed.into()])
        .unwrap();
    for stored in trail.show(&call).unwrap() {
        assert!(!stored.body.contains("hunter2secret"), "{}", stored.body);
        assert!(!stored.body.contains("correct-horse"), "{}", stored.body);
    }
}
