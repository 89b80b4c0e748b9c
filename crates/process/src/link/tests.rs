//! The link against the other end of its socket.

use std::io::{IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as Other;

use runward_model::wire::Step;
use runward_model::{Abilities, Containment, Ending, Usage};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use tokio::task::JoinHandle;

use super::*;
use crate::OwnProgram;

const SESSION: SessionId = SessionId(7);

/// A link, and the runner's end.
fn pair() -> (Orders, Link, Other) {
    let (near, far) = Other::pair().unwrap();
    near.set_nonblocking(true).unwrap();
    let (orders, link) = link(UnixStream::from_std(near).unwrap(), None);
    (orders, link, far)
}

fn ready() -> Report {
    Report::Ready { containment: Containment::Keeper, cgroup: None, abilities: Abilities::default() }
}

/// One whose runner has greeted and is ready, and its task.
async fn running() -> (Orders, JoinHandle<()>, Other) {
    let (orders, mut link, mut far) = pair();
    far.write_all(&[&wire::hello()[..], &wire::encode(&ready()).unwrap()].concat()).unwrap();
    assert_eq!(link.ready().await.unwrap(), ready());
    (orders, tokio::spawn(link.run()), far)
}

fn launch(argument: &str) -> Launch {
    let program = std::path::Path::new("/bin/true");
    let (argv, limits) = (&[argument][..], runward_model::Limits::default());
    OwnProgram { program, argv, env: &[], limits, fence: None }.for_doctor().unwrap()
}

fn failed(session: SessionId) -> Report {
    Report::Failed { session, step: Step::Exec, errno: 2 }
}

fn exited(session: SessionId, alone: bool) -> Report {
    let (ending, usage) = (Ending::Exited(0), Usage::default());
    Report::Exited { session, ending, usage, hit: None, alone }
}

#[tokio::test]
async fn readiness_is_understood_however_it_is_cut() {
    let (_orders, mut link, mut far) = pair();
    let bytes = [&wire::hello()[..], &wire::encode(&ready()).unwrap()].concat();
    let writer = tokio::task::spawn_blocking(move || {
        for byte in bytes {
            far.write_all(&[byte]).unwrap();
        }
        far
    });
    assert_eq!(link.ready().await.unwrap(), ready());
    drop(writer.await.unwrap());
}

#[tokio::test]
async fn another_version_is_not_spoken_with() {
    let (_orders, mut link, mut far) = pair();
    let mut hello = wire::hello();
    hello[4] += 1;
    far.write_all(&hello).unwrap();
    assert!(link.ready().await.unwrap_err().to_string().contains("version"));
}

#[tokio::test]
async fn a_spawn_travels_with_its_descriptors_and_orders_keep_their_order() {
    let (orders, _task, far) = running().await;
    let (mut read, write) = std::io::pipe().unwrap();
    let _reports = orders.spawn(SESSION, launch("x"), vec![OwnedFd::from(write)]).unwrap();
    orders.send(&Order::Probe { session: SESSION });
    orders.send(&Order::Close { session: SESSION });
    let received = tokio::task::spawn_blocking(move || {
        let (mut bytes, mut fds, mut all) = (Vec::new(), Vec::new(), Vec::new());
        let mut is_greeted = false;
        while all.len() < 3 {
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(SPAWN_FDS))];
            let mut ancillary = RecvAncillaryBuffer::new(&mut space);
            let mut chunk = [0; 4096];
            let mut slices = [IoSliceMut::new(&mut chunk)];
            let read = recvmsg(&far, &mut slices, &mut ancillary, RecvFlags::empty()).unwrap().bytes;
            assert!(read > 0, "the link has ended");
            bytes.extend_from_slice(&chunk[..read]);
            for message in ancillary.drain() {
                if let RecvAncillaryMessage::ScmRights(more) = message {
                    fds.extend(more);
                }
            }
            is_greeted = is_greeted || wire::take_hello(&mut bytes).unwrap();
            if !is_greeted {
                continue;
            }
            all.extend(std::iter::from_fn(|| wire::decode::<Order>(&mut bytes).unwrap()));
        }
        (fds, all)
    });
    let (mut fds, all) = received.await.unwrap();
    assert_eq!(all[0], Order::Spawn { session: SESSION, launch: launch("x") });
    assert_eq!(all[1..], [Order::Probe { session: SESSION }, Order::Close { session: SESSION }]);
    assert_eq!(fds.len(), 1);
    std::fs::File::from(fds.remove(0)).write_all(b"it is the pipe").unwrap();
    let mut text = String::new();
    read.read_to_string(&mut text).unwrap();
    assert_eq!(text, "it is the pipe", "and nobody else holds its other end");
}

#[tokio::test]
async fn a_report_goes_to_its_session_and_after_the_last_one_nothing_does() {
    let (orders, _task, mut far) = running().await;
    let other = SessionId(8);
    let mut first = orders.spawn(SESSION, launch("x"), Vec::new()).unwrap();
    let mut second = orders.spawn(other, launch("x"), Vec::new()).unwrap();
    for report in [exited(SESSION, false), failed(other), exited(other, true), ready()] {
        far.write_all(&wire::encode(&report).unwrap()).unwrap();
    }
    assert_eq!(second.recv().await, Some(failed(other)));
    assert_eq!(second.recv().await, None, "nothing is heard of a session after its last report");
    assert_eq!(first.recv().await, Some(exited(SESSION, false)));
}

#[tokio::test]
async fn when_the_runner_is_gone_every_session_is_lost_and_no_other_begins() {
    let (orders, task, far) = running().await;
    let mut reports = orders.spawn(SESSION, launch("x"), Vec::new()).unwrap();
    drop(far);
    // `Reports` makes a lost ending of this.
    assert_eq!(reports.recv().await, None);
    task.await.unwrap();
    assert!(!orders.is_open());
    assert!(matches!(orders.spawn(SESSION, launch("x"), Vec::new()), Err(Error::RunnerGone)));
}

#[tokio::test]
async fn a_report_that_nobody_understands_ends_the_link() {
    let (orders, task, mut far) = running().await;
    let mut reports = orders.spawn(SESSION, launch("x"), Vec::new()).unwrap();
    far.write_all(&[2, 0, 0, 0, 0xff, 0xff]).unwrap();
    assert_eq!(reports.recv().await, None);
    task.await.unwrap();
}

#[tokio::test]
async fn an_order_that_does_not_fit_is_refused_and_nothing_else_suffers() {
    let (orders, _task, mut far) = running().await;
    let long = "x".repeat(wire::MAX_FRAME);
    let refused = orders.spawn(SESSION, launch(&long), Vec::new());
    assert!(matches!(refused, Err(Error::Wire(WireError::TooLong(_)))));
    let mut reports = orders.spawn(SESSION, launch("x"), Vec::new()).unwrap();
    far.write_all(&wire::encode(&failed(SESSION)).unwrap()).unwrap();
    assert_eq!(reports.recv().await, Some(failed(SESSION)));
}

#[tokio::test]
async fn when_nobody_has_orders_any_more_the_runner_is_told_and_waited_for() {
    let (orders, task, mut far) = running().await;
    drop(orders);
    let far = tokio::task::spawn_blocking(move || {
        // The end of all orders.
        far.read_to_end(&mut Vec::new()).unwrap();
        far
    });
    let far = far.await.unwrap();
    assert!(!task.is_finished(), "it ends what it runs first");
    drop(far);
    task.await.unwrap();
}
