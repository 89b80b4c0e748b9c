use proptest::prelude::*;

use super::*;

fn stream() -> impl Strategy<Value = Stream> {
    prop_oneof![Just(Stream::Stdout), Just(Stream::Stderr)]
}

fn prints() -> impl Strategy<Value = Vec<(Stream, Vec<u8>)>> {
    prop::collection::vec((stream(), prop::collection::vec(any::<u8>(), 0..40)), 0..60)
}

fn log_of(prints: &[(Stream, Vec<u8>)], limit: usize) -> EventLog {
    let log = EventLog::new(limit);
    for (stream, bytes) in prints {
        log.append(*stream, bytes);
    }
    log
}

fn naive(prints: &[(Stream, Vec<u8>)], wanted: Stream) -> Vec<u8> {
    prints.iter().filter(|(stream, _)| *stream == wanted).flat_map(|(_, bytes)| bytes.clone()).collect()
}

proptest! {
    /// However little is kept: what a mark leaves unread is told to the byte, as bytes or as a gap.
    #[test]
    fn a_mark_accounts_for_every_byte(prints in prints(), limit in 2usize..200, cut in any::<prop::sample::Index>()) {
        let log = EventLog::new(limit);
        let cut = cut.index(prints.len().max(1));
        let mut mark = Mark::default();
        for (index, (stream, bytes)) in prints.iter().enumerate() {
            if index == cut {
                mark = log.since(mark).1;
            }
            log.append(*stream, bytes);
        }
        let (pieces, now) = log.since(mark);
        for stream in Stream::BOTH {
            let all = naive(&prints[cut.min(prints.len())..], stream);
            let (mut kept, mut gaps) = (Vec::new(), 0);
            for piece in pieces.iter().filter(|piece| piece.stream() == stream) {
                match piece {
                    Piece::Bytes { data, .. } => kept.extend_from_slice(data),
                    Piece::Gap { bytes, .. } => gaps += usize::try_from(*bytes).unwrap(),
                }
            }
            prop_assert_eq!(kept.len() + gaps, all.len());
            prop_assert_eq!(now.of(stream) - mark.of(stream), all.len() as u64);
            if gaps == 0 {
                prop_assert_eq!(kept, all);
            }
        }
        prop_assert_eq!(log.since(now), (Vec::new(), now));
    }

    #[test]
    fn what_is_captured_is_the_beginning_and_the_end_of_a_plain_vector(prints in prints(), limit in 2usize..400) {
        let log = log_of(&prints, limit);
        for stream in Stream::BOTH {
            let (all, captured) = (naive(&prints, stream), log.captured(stream));
            let half = limit / 2;
            prop_assert_eq!(log.size(stream), (all.len() as u64, captured.missing));
            if all.len() <= 2 * half {
                prop_assert_eq!(captured, Captured { head: all, missing: 0, tail: Vec::new() });
            } else {
                prop_assert_eq!(&captured.head, &all[..half]);
                prop_assert_eq!(&captured.tail, &all[all.len() - half..]);
                prop_assert_eq!(captured.missing, (all.len() - 2 * half) as u64);
            }
        }
    }

    #[test]
    fn a_reader_that_goes_on_where_it_stopped_sees_every_byte_once(prints in prints(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..5)) {
        let log = EventLog::new(1 << 20);
        let mut seen: [Vec<u8>; 2] = Default::default();
        let mut position = 0;
        let stops: Vec<usize> = cuts.iter().map(|cut| cut.index(prints.len().max(1))).collect();
        for (index, (stream, bytes)) in prints.iter().enumerate() {
            log.append(*stream, bytes);
            if stops.contains(&index) {
                position = read_on(&log, position, &mut seen);
            }
        }
        read_on(&log, position, &mut seen);
        prop_assert_eq!(&seen[0], &naive(&prints, Stream::Stdout));
        prop_assert_eq!(&seen[1], &naive(&prints, Stream::Stderr));
    }

    #[test]
    fn pieces_and_gaps_add_up_to_what_was_printed(prints in prints(), limit in 2usize..200) {
        let log = log_of(&prints, limit);
        for wanted in Stream::BOTH {
            let total: u64 = log.read_from(0).iter().map(|piece| match piece {
                Piece::Bytes { stream, data, .. } if *stream == wanted => data.len() as u64,
                Piece::Gap { stream, bytes } if *stream == wanted => *bytes,
                _ => 0,
            }).sum();
            prop_assert_eq!(total, naive(&prints, wanted).len() as u64);
        }
    }
}

fn read_on(log: &EventLog, position: u64, seen: &mut [Vec<u8>; 2]) -> u64 {
    for piece in log.read_from(position) {
        let Piece::Bytes { stream, data, .. } = piece else { panic!("nothing is dropped in this test") };
        seen[usize::from(stream == Stream::Stderr)].extend(data);
    }
    log.position()
}

#[test]
fn arrival_order_is_kept_between_the_outputs() {
    let log = EventLog::new(100);
    log.append(Stream::Stdout, b"a");
    log.append(Stream::Stderr, b"b");
    log.append(Stream::Stdout, b"c");
    let order: Vec<u8> = log
        .read_from(0)
        .into_iter()
        .filter_map(|piece| match piece {
            Piece::Bytes { data, .. } => Some(data[0]),
            Piece::Gap { .. } => None,
        })
        .collect();
    assert_eq!(order, b"abc");
}

#[test]
fn memory_stays_bounded_whatever_is_printed() {
    let log = EventLog::new(1 << 20);
    let much = vec![b'x'; 50_000];
    for _ in 0..2000 {
        log.append(Stream::Stdout, &much);
        log.append(Stream::Stderr, b"y");
    }
    let kept: usize = log
        .read_from(0)
        .iter()
        .map(|piece| match piece {
            Piece::Bytes { data, .. } => data.len(),
            Piece::Gap { .. } => 0,
        })
        .sum();
    assert!(kept < (1 << 20) + 200_000, "kept {kept} bytes");
}

/// A store of its own, with a directory that goes away with it.
fn store() -> (Store, tempfile::TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let settings = runward_spool::Settings {
        directory: directory.path().join("output"),
        quota: 1 << 30,
        keep: std::time::Duration::from_hours(1),
    };
    (Store::new(settings), directory)
}

fn whole(log: &EventLog, stream: Stream) -> Vec<u8> {
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut log.record(stream).unwrap(), &mut bytes).unwrap();
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    #[test]
    fn memory_and_disk_together_are_a_plain_vector(prints in prints(), limit in 2usize..400, forgets in any::<bool>()) {
        let (store, directory) = store();
        let log = EventLog::spooled(limit, store, OutputId("ab01".into()));
        for (index, (stream, bytes)) in prints.iter().enumerate() {
            log.append(*stream, bytes);
            if index % 7 == 0 {
                prop_assert_eq!(whole(&log, *stream), naive(&prints[..=index], *stream));
            }
        }
        log.close();
        let fits = Stream::BOTH.iter().all(|stream| naive(&prints, *stream).len() <= limit / 2 * 2);
        prop_assert_eq!(directory.path().join("output").exists(), !fits);
        let before = Stream::BOTH.map(|stream| log.captured(stream));
        if forgets {
            prop_assert!(log.forget());
            prop_assert_eq!(log.memory(), 0);
        }
        for (stream, captured) in Stream::BOTH.into_iter().zip(before) {
            prop_assert_eq!(whole(&log, stream), naive(&prints, stream));
            prop_assert_eq!(log.captured(stream), captured);
        }
    }
}
