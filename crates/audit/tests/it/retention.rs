//! What is too long, too old, and too much.

use std::time::Duration;

use runward_audit::{CallId, Closed, Dropped, Entry, Fault, Filter, Hash, Omitted, Order, Retention, Trail};

use crate::{judged, refuse, tamper, trail};

/// The trail in its place again, which keeps this.
fn keeping(trail: &Trail, age: Option<Duration>, size: Option<u64>) -> Trail {
    Trail::at(trail.path()).keeping(Retention { age, size })
}

fn entries(trail: &Trail, call: &CallId) -> Vec<Entry> {
    trail.show(call).unwrap().iter().map(|stored| stored.record().unwrap().entry).collect()
}

#[test]
fn of_a_long_command_the_beginning_is_kept_and_a_hash_of_the_whole() {
    let (_directory, trail) = trail();
    let command = format!("echo {}", "ü ".repeat(500_000));
    let mut asked = judged(&CallId::from("long"), &command);
    asked.variables = (0..4096).map(|at| format!("{at}{}", "V".repeat(1000))).collect();
    asked.commands = vec![judged(&CallId::from("long"), "echo short").commands[0].clone(); 5000];
    asked.directory = Some("/d".repeat(1_000_000).into());
    trail.append_all([asked.into(), Closed::refused("long".into(), "x".repeat(1_000_000)).into()]).unwrap();
    let stored = trail.show(&"long".into()).unwrap();
    assert!(stored.iter().all(|record| record.body.len() < 150 * 1024), "{}", stored[0].body.len());
    let Entry::Judged(kept) = &entries(&trail, &"long".into())[0] else { panic!("not judged") };
    assert!(command.starts_with(&kept.command) && kept.command.len() > 16_000);
    let Some(Omitted { bytes, sha256, commands, variables }) = &kept.omitted else {
        panic!("nothing omitted")
    };
    assert_eq!((*bytes, *sha256), (command.len() as u64, Hash::of_text(&command)));
    assert_eq!(*commands, 5000 - kept.commands.len() as u64);
    assert_eq!(*variables, 4096 - kept.variables.len() as u64);
    assert!(trail.verify().unwrap().is_clean());
}

#[test]
fn a_short_command_is_kept_whole() {
    let (_directory, trail) = trail();
    let call = refuse(&trail, "echo 1");
    let Entry::Judged(kept) = &entries(&trail, &call)[0] else { panic!("not judged") };
    assert_eq!((kept.command.as_str(), &kept.omitted), ("echo 1", &None));
}

#[test]
fn a_secret_that_a_cut_goes_through_is_not_kept_in_half() {
    let (_directory, trail) = trail();
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let command = format!("{} {secret}", "x".repeat(16 * 1024 - 20));
    let call = refuse(&trail, &command);
    assert!(!trail.show(&call).unwrap()[0].body.contains("ghp_0123"));
}

#[test]
fn what_is_too_old_is_dropped_and_the_rest_is_still_proved() {
    let (_directory, trail) = trail();
    for _ in 0..5 {
        refuse(&trail, "echo old");
    }
    assert_eq!(keeping(&trail, Some(Duration::from_hours(1)), None).drop_old().unwrap(), 0);
    let head = trail.verify().unwrap().head.unwrap();
    let kept = keeping(&trail, Some(Duration::ZERO), None);
    // Whatever was written in this very millisecond stays.
    let mut dropped = 0;
    assert!((0..10_000).any(|_| {
        dropped += kept.drop_old().unwrap();
        dropped >= 10
    }));
    refuse(&trail, "echo new");
    let found = trail.verify().unwrap();
    assert!(found.is_clean(), "{:?}", found.faults);
    let (_, Dropped { last, hash, reason, .. }) = found.dropped.unwrap();
    assert!(last >= 10 && reason.contains("audit.keep"), "{reason}");
    assert!(last > 10 || hash == head.1);
    let commands: Vec<_> =
        trail.query(Filter::default(), Order::default()).map(|call| call.unwrap().judged.command).collect();
    assert_eq!(commands, ["echo new"]);
    assert!(trail.unreadable().unwrap().is_empty());
}

/// A trail from which records were dropped once for its size.
fn shortened() -> (tempfile::TempDir, Trail) {
    let (directory, trail) = trail();
    let filler = "x".repeat(8000);
    for _ in 0..200 {
        refuse(&trail, &filler);
    }
    let kept = keeping(&trail, None, Some(2 << 20));
    assert!(kept.drop_old().unwrap() > 0);
    (directory, kept)
}

#[test]
fn what_is_too_much_is_dropped_until_a_quarter_is_free_and_its_room_is_used_again() {
    let (_directory, trail) = shortened();
    let found = trail.verify().unwrap();
    assert!(found.is_clean() && found.records > 64, "{found:?}");
    assert_eq!(trail.drop_old().unwrap(), 0, "it fits now");
    let size = |trail: &Trail| std::fs::metadata(trail.path()).unwrap().len();
    let filler = "x".repeat(8000);
    for _ in 0..20 {
        for _ in 0..20 {
            refuse(&trail, &filler);
        }
        trail.drop_old().unwrap();
    }
    assert!(size(&trail) < 6 << 20, "{}", size(&trail));
    assert!(trail.verify().unwrap().is_clean());
}

#[test]
fn more_taken_from_the_beginning_than_the_trail_says_shows() {
    let (_directory, trail) = shortened();
    let first = trail.verify().unwrap().dropped.unwrap().1.last + 1;
    tamper(&trail, &format!("DELETE FROM record WHERE number = {first}"));
    assert_eq!(trail.verify().unwrap().faults, [Fault::Removed(1..=first)]);
}

#[test]
fn the_record_that_says_what_was_dropped_cannot_be_edited() {
    let (_directory, trail) = shortened();
    let last = trail.verify().unwrap().dropped.unwrap().1.last;
    tamper(
        &trail,
        "UPDATE record SET body = replace(body, 'audit.max_size', 'a whim') WHERE phase = 'dropped'",
    );
    let faults = trail.verify().unwrap().faults;
    assert!(faults.contains(&Fault::Removed(1..=last)), "{faults:?}");
    assert!(faults.iter().any(|fault| matches!(fault, Fault::Edited(_))), "{faults:?}");
}

#[test]
fn nobody_else_can_remove_a_record_after_some_were_dropped() {
    let (_directory, trail) = shortened();
    let connection = rusqlite::Connection::open(trail.path()).unwrap();
    let error = connection.execute("DELETE FROM record", []).unwrap_err().to_string();
    assert!(error.contains("append-only"), "{error}");
}

#[test]
fn a_call_that_is_open_meanwhile_is_still_closed() {
    let (_directory, trail) = trail();
    let call = CallId::fresh();
    trail.append(judged(&call, "sleep 9")).unwrap();
    let kept = keeping(&trail, Some(Duration::ZERO), None);
    assert!((0..10_000).any(|_| kept.drop_old().unwrap() > 0));
    trail.append(Closed::refused(call.clone(), "late")).unwrap();
    assert_eq!(trail.show(&call).unwrap().len(), 1);
    assert!(trail.verify().unwrap().is_clean());
}
