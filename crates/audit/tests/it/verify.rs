//! Tampering shows.

use runward_audit::{Fault, Hash, Trail};
use tempfile::TempDir;

use crate::{refuse, tamper, trail};

/// Ten records, then this done to them.
fn tampered(sql: &str) -> (TempDir, Trail, Vec<Fault>) {
    let (directory, trail) = trail();
    for call in 0..5 {
        refuse(&trail, &format!("echo {call}"));
    }
    tamper(&trail, sql);
    let faults = trail.verify().unwrap().faults;
    (directory, trail, faults)
}

#[test]
fn a_chain_that_nobody_touched_is_clean() {
    let (_directory, trail, faults) = tampered("");
    assert_eq!(faults, []);
    let verification = trail.verify().unwrap();
    assert!(verification.is_clean());
    assert_eq!(verification.records, 10);
    assert_eq!(verification.head.unwrap().0, 10);
}

#[test]
fn an_edited_body_is_named() {
    let sql = "UPDATE record SET body = replace(body, 'echo 1', 'echo 9') WHERE number = 3";
    assert_eq!(tampered(sql).2, [Fault::Edited(3..=3)]);
}

#[test]
fn an_edited_body_that_is_no_json_or_no_text_is_named() {
    assert_eq!(tampered("UPDATE record SET body = '{' WHERE number = 4").2, [Fault::Edited(4..=4)]);
    let sql = "UPDATE record SET body = CAST(x'ff' AS TEXT) WHERE number = 4";
    assert_eq!(tampered(sql).2, [Fault::Edited(4..=4)]);
}

#[test]
fn edited_hashes_are_named() {
    assert_eq!(tampered("UPDATE record SET hash = prev WHERE number = 4").2, [Fault::Edited(4..=4)]);
    assert_eq!(tampered("UPDATE record SET prev = 'x' WHERE number = 4").2, [Fault::Edited(4..=4)]);
}

#[test]
fn records_edited_side_by_side_are_named_together() {
    let sql = "UPDATE record SET body = replace(body, 'local', 'other') WHERE number IN (3, 5, 7, 9);
               UPDATE record SET body = replace(body, 'no', 'yes') WHERE number IN (4, 6)";
    assert_eq!(tampered(sql).2, [Fault::Edited(3..=7), Fault::Edited(9..=9)]);
}

#[test]
fn a_record_that_was_rewritten_with_a_fitting_hash_breaks_its_link() {
    let (_directory, trail) = trail();
    refuse(&trail, "echo 1");
    refuse(&trail, "echo 2");
    let call = refuse(&trail, "echo 3");
    let last = trail.show(&call).unwrap()[0].clone();
    let hash = Hash::of(last.prev, 5, "{}");
    tamper(&trail, &format!("UPDATE record SET body = '{{}}', hash = '{hash}' WHERE number = 5"));
    assert_eq!(trail.verify().unwrap().faults, [Fault::Unlinked(6)]);
}

#[test]
fn a_last_record_that_was_rewritten_with_a_fitting_hash_does_not_match_the_head() {
    let (_directory, trail) = trail();
    let call = refuse(&trail, "echo 1");
    let last = trail.show(&call).unwrap()[1].clone();
    let hash = Hash::of(last.prev, 2, "{}");
    tamper(&trail, &format!("UPDATE record SET body = '{{}}', hash = '{hash}' WHERE number = 2"));
    assert_eq!(trail.verify().unwrap().faults, [Fault::HeadChanged]);
}

#[test]
fn a_record_removed_from_the_middle_is_named() {
    assert_eq!(tampered("DELETE FROM record WHERE number = 5").2, [Fault::Removed(5..=5)]);
}

#[test]
fn records_removed_from_the_end_are_named() {
    assert_eq!(tampered("DELETE FROM record WHERE number > 7").2, [Fault::Removed(8..=10)]);
}

#[test]
fn records_removed_from_the_start_are_named() {
    assert_eq!(tampered("DELETE FROM record WHERE number < 4").2, [Fault::Removed(1..=3)]);
}

#[test]
fn all_records_removed_are_named() {
    assert_eq!(tampered("DELETE FROM record").2, [Fault::Removed(1..=10)]);
}

#[test]
fn a_gap_that_was_closed_by_renumbering_is_named() {
    let sql = "DELETE FROM record WHERE number = 5;
               UPDATE record SET number = number - 1 WHERE number = 6;
               UPDATE record SET number = number - 1 WHERE number = 7;
               UPDATE record SET number = number - 1 WHERE number = 8;
               UPDATE record SET number = number - 1 WHERE number = 9;
               UPDATE record SET number = number - 1 WHERE number = 10";
    let faults = tampered(sql).2;
    assert_eq!(faults.last(), Some(&Fault::Removed(10..=10)));
    // Each of 5 to 8 holds what was written one further; nothing changed that stands at 10 tells it of 9.
    let moved = [Fault::Moved(5, 6), Fault::Moved(6, 7), Fault::Moved(7, 8), Fault::Moved(8, 9)];
    assert_eq!(faults[..4], moved);
    assert_eq!(faults[4], Fault::Edited(9..=9));
}

#[test]
fn swapped_records_are_named_with_their_places() {
    let sql = "UPDATE record SET number = 99 WHERE number = 3;
               UPDATE record SET number = 3 WHERE number = 8;
               UPDATE record SET number = 8 WHERE number = 99";
    assert_eq!(tampered(sql).2, [Fault::Moved(3, 8), Fault::Moved(8, 3)]);
}

#[test]
fn swapped_neighbours_are_named_with_their_places() {
    let sql = "UPDATE record SET number = 99 WHERE number = 5;
               UPDATE record SET number = 5 WHERE number = 6;
               UPDATE record SET number = 6 WHERE number = 99";
    assert_eq!(tampered(sql).2, [Fault::Moved(5, 6), Fault::Moved(6, 5)]);
}

#[test]
fn swapped_bodies_are_named_with_their_places() {
    let sql = "DROP INDEX record_single;
               CREATE TEMP TABLE old AS SELECT number, body FROM record;
               UPDATE record SET body = (SELECT body FROM old WHERE number = 7) WHERE record.number = 3;
               UPDATE record SET body = (SELECT body FROM old WHERE number = 3) WHERE record.number = 7";
    assert_eq!(tampered(sql).2, [Fault::Moved(3, 7), Fault::Moved(7, 3)]);
}

#[test]
fn records_added_by_another_hand_are_named() {
    let sql = "INSERT INTO record (number, prev, hash, body) SELECT 11, prev, hash, '{}' FROM record WHERE number = 10";
    assert_eq!(tampered(sql).2, [Fault::Edited(11..=11), Fault::Added(11..=11)]);
}

#[test]
fn a_removed_head_is_named() {
    assert_eq!(tampered("DELETE FROM head").2, [Fault::HeadRemoved]);
}

#[test]
fn what_was_removed_stays_known_when_writing_goes_on() {
    let (_directory, trail, _) = tampered("DELETE FROM record WHERE number > 7");
    refuse(&trail, "echo again");
    assert_eq!(trail.verify().unwrap().faults, [Fault::Removed(8..=10)]);
}

#[test]
fn a_trail_that_is_not_there_has_nothing_to_verify() {
    let (directory, trail) = trail();
    let verification = trail.verify().unwrap();
    assert!(verification.is_clean() && verification.head.is_none());
    assert!(!directory.path().join("state").exists());
}

#[test]
fn faults_say_which_record_in_words() {
    for (fault, text) in [
        (Fault::Removed(3..=3), "record 3 removed"),
        (Fault::Edited(3..=5), "records 3 to 5 edited"),
        (Fault::Moved(3, 8), "record 3 reordered: it was written as record 8"),
        (Fault::Unlinked(4), "record 4 does not follow record 3: one of them was replaced"),
    ] {
        assert_eq!(fault.to_string(), text);
    }
}
