//! What dead servers left open.

use runward_audit::{CallId, Closed, Closing, Filter, Order, Record, Server, Trail};

use crate::{judged, scribe, tamper, trail};

fn closing(trail: &Trail, call: &CallId) -> Option<Closing> {
    let filter = Filter { call: Some(call.clone()), ..Filter::default() };
    let found = trail.query(filter, Order::default()).next().unwrap().unwrap();
    found.closed.map(|closed| closed.closing)
}

/// Makes it appear that another server opened this call.
fn opened_by(trail: &Trail, call: &CallId, change: impl FnOnce(&mut Server)) {
    let stored = trail.show(call).unwrap().remove(0);
    let mut record: Record = stored.record().unwrap();
    change(&mut record.server);
    let body = serde_json::to_string(&record).unwrap();
    tamper(trail, &format!("UPDATE record SET body = '{body}' WHERE number = {}", stored.number));
}

#[test]
fn calls_of_a_living_server_stay_open() {
    let (_directory, trail) = trail();
    let call = CallId::fresh();
    trail.append(judged(&call, "echo")).unwrap();
    assert_eq!(trail.close_lost().unwrap(), []);
    assert_eq!(Trail::at(trail.path()).close_lost().unwrap(), []);
    assert_eq!(closing(&trail, &call), None);
    trail.append(Closed::refused(call, "no")).unwrap();
}

#[test]
fn calls_of_a_killed_server_are_closed_as_lost_by_the_next() {
    let (_directory, trail) = trail();
    let (mut child, lines) = scribe::start(trail.path(), 0);
    let mut lines = scribe::acknowledged(lines);
    let (_, call) = lines.next().unwrap();
    let call = CallId::from(call.as_str());
    assert_eq!(trail.close_lost().unwrap(), [], "its server lives");
    child.kill().unwrap();
    lines.for_each(drop);
    // The end of its output comes before the end of the process, and its end before that of its id.
    child.wait().unwrap();
    assert_eq!(trail.close_lost().unwrap(), std::slice::from_ref(&call));
    assert_eq!(closing(&trail, &call), Some(Closing::Lost));
    assert!(trail.verify().unwrap().is_clean());
}

#[test]
fn calls_of_an_earlier_process_with_the_same_id_are_closed_as_lost() {
    let (_directory, trail) = trail();
    let (lost, kept) = (CallId::fresh(), CallId::fresh());
    trail.append(judged(&lost, "echo 1")).unwrap();
    trail.append(judged(&kept, "echo 2")).unwrap();
    opened_by(&trail, &lost, |server| server.started = Some(1));
    assert_eq!(trail.close_lost().unwrap(), std::slice::from_ref(&lost));
    assert_eq!(closing(&trail, &lost), Some(Closing::Lost));
    assert_eq!(closing(&trail, &kept), None);
    assert_eq!(trail.close_lost().unwrap(), [], "once is enough");
}

#[test]
fn calls_of_an_earlier_boot_are_closed_as_lost() {
    let (_directory, trail) = trail();
    let call = CallId::fresh();
    trail.append(judged(&call, "echo")).unwrap();
    opened_by(&trail, &call, |server| server.boot = Some("earlier".into()));
    assert_eq!(trail.close_lost().unwrap(), [call]);
}

#[test]
fn servers_that_start_together_close_a_lost_call_once() {
    let (_directory, trail) = trail();
    let call = CallId::fresh();
    trail.append(judged(&call, "echo")).unwrap();
    opened_by(&trail, &call, |server| server.started = Some(1));
    let closed: usize = std::thread::scope(|scope| {
        let starts: Vec<_> =
            (0..8).map(|_| scope.spawn(|| Trail::at(trail.path()).close_lost().unwrap().len())).collect();
        starts.into_iter().map(|start| start.join().unwrap()).sum()
    });
    assert_eq!(closed, 1);
}
