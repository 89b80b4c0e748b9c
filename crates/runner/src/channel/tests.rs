//! The channel against the other end of its socket.

use std::io::Write;
use std::os::unix::net::UnixStream;

use runward_model::{SessionId, Signal};
use rustix::event::{PollFd, PollFlags};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, sendmsg};

use super::*;
use crate::clone::tests::launch;

const SESSION: SessionId = SessionId(3);

fn pair() -> (Channel, UnixStream) {
    let (near, far) = UnixStream::pair().unwrap();
    (Channel::new(near.into()), far)
}

fn orders(channel: &mut Channel) -> Vec<Order> {
    std::iter::from_fn(|| channel.next().unwrap()).map(|(order, _)| order).collect()
}

fn send_with(socket: &UnixStream, bytes: &[u8], count: usize) {
    let null = std::fs::File::open("/dev/null").unwrap();
    let fds = vec![null.as_fd(); count];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(8))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    assert!(ancillary.push(SendAncillaryMessage::ScmRights(&fds)));
    sendmsg(socket, &[std::io::IoSlice::new(bytes)], &mut ancillary, SendFlags::empty()).unwrap();
}

#[test]
fn orders_are_understood_however_they_are_cut() {
    let (mut channel, mut far) = pair();
    let sent = [Order::Signal { session: SESSION, signal: Signal(15) }, Order::Close { session: SESSION }];
    let bytes: Vec<u8> = sent.iter().flat_map(|order| wire::encode(order).unwrap()).collect();
    let mut received = Vec::new();
    for byte in bytes {
        far.write_all(&[byte]).unwrap();
        assert!(channel.fill().unwrap());
        received.extend(orders(&mut channel));
    }
    assert_eq!(received, sent);
    assert!(channel.fill().unwrap(), "nothing to read is not the end");
    drop(far);
    // A child that another test is just making holds the other end until it executes.
    rustix::event::poll(&mut [PollFd::new(&channel, PollFlags::IN)], None).unwrap();
    assert!(!channel.fill().unwrap());
}

#[test]
fn each_spawn_takes_as_many_descriptors_as_its_launch_says() {
    let (mut channel, far) = pair();
    let launch = launch("/bin/true", &["true"]);
    let count = launch.fds();
    let other = Order::Spawn { session: SESSION, launch: launch.clone() };
    let frame = wire::encode(&Order::Spawn { session: SESSION, launch }).unwrap();
    send_with(&far, &frame, count);
    send_with(&far, &frame, count);
    // Two messages with descriptors are never read as one.
    let mut received = Vec::new();
    while received.len() < 2 {
        assert!(channel.fill().unwrap());
        received.extend(std::iter::from_fn(|| channel.next().unwrap()));
    }
    for (order, fds) in received {
        assert_eq!((order, fds.len()), (other.clone(), count));
    }
    assert!(channel.fds.is_empty());
}

#[test]
fn a_spawn_without_its_descriptors_ends_the_channel() {
    let (mut channel, mut far) = pair();
    let launch = launch("/bin/true", &["true"]);
    far.write_all(&wire::encode(&Order::Spawn { session: SESSION, launch }).unwrap()).unwrap();
    assert!(channel.fill().unwrap());
    assert!(channel.next().is_err());
}

#[test]
fn a_server_of_another_version_is_not_obeyed() {
    let (near, mut far) = UnixStream::pair().unwrap();
    let mut channel = Channel::to_server(near.into());
    let mut hello = wire::hello();
    far.write_all(&hello[..3]).unwrap();
    assert!(channel.fill().unwrap());
    assert!(channel.next().unwrap().is_none(), "it has not said yet what it speaks");
    hello[4] += 1;
    far.write_all(&hello[3..]).unwrap();
    far.write_all(&wire::encode(&Order::Close { session: SESSION }).unwrap()).unwrap();
    assert!(channel.fill().unwrap());
    assert!(channel.next().is_err());
}

#[test]
fn a_report_is_sent_whole_and_to_nobody_is_no_error() {
    let (channel, far) = pair();
    let report = Report::Closed { session: SESSION, ended: 1, survivors: (0..10_000).collect() };
    let reader = std::thread::spawn(move || {
        let (mut bytes, mut chunk) = (Vec::new(), [0; 1000]);
        loop {
            let read = std::io::Read::read(&mut &far, &mut chunk).unwrap();
            bytes.extend_from_slice(&chunk[..read]);
            if let Some(report) = wire::decode::<Report>(&mut bytes).unwrap() {
                return report;
            }
        }
    });
    channel.report(&report);
    assert_eq!(reader.join().unwrap(), report);
    channel.report(&report);
}
