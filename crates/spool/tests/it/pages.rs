//! Lines with numbers, whatever the size.

use proptest::prelude::*;
use regex::bytes::Regex;
use runward_spool::{Page, Record, Selection, page};

fn look(text: &[u8], selection: &Selection) -> Page {
    page(Record::in_memory(text.to_vec(), 0), selection).unwrap()
}

fn shown(page: &Page) -> Vec<(u64, String)> {
    page.lines.iter().map(|line| (line.number, String::from_utf8(line.bytes.clone()).unwrap())).collect()
}

fn line(number: u64, text: &str) -> (u64, String) {
    (number, text.to_owned())
}

#[test]
fn a_page_says_where_the_next_one_begins() {
    let page = look(b"a\nb\n\nc", &Selection::From { first: 2, limit: 2 });
    assert_eq!(shown(&page), [line(2, "b"), line(3, "")]);
    assert_eq!((page.next, page.total, page.bytes), (Some(4), 4, 6));
    let page = look(b"a\nb\n\nc", &Selection::From { first: 4, limit: 2 });
    assert_eq!((shown(&page), page.next), (vec![line(4, "c")], None));
}

#[test]
fn the_last_lines_have_their_numbers() {
    let page = look(b"a\nb\nc\n", &Selection::Last(2));
    assert_eq!((shown(&page), page.total), (vec![line(2, "b"), line(3, "c")], 3));
    assert_eq!(look(b"a\n", &Selection::Last(9)).lines.len(), 1);
    assert_eq!(look(b"", &Selection::Last(9)).lines.len(), 0);
}

#[test]
fn matches_are_counted_beyond_those_shown() {
    let pattern = Regex::new("^x").unwrap();
    let selection = |first| Selection::Matching { pattern: pattern.clone(), first, limit: 2 };
    let page = look(b"x1\ny\nx2\nx3\n", &selection(1));
    assert_eq!((shown(&page), page.matches), (vec![line(1, "x1"), line(3, "x2")], Some(3)));
    assert_eq!(page.next, Some(3));
    let page = look(b"x1\ny\nx2\nx3\n", &selection(3));
    assert_eq!((shown(&page), page.next), (vec![line(4, "x3")], None));
}

#[test]
fn a_long_line_is_cut_and_says_by_how_much() {
    let long = [vec![b'a'; 500_000], b"\nb".to_vec()].concat();
    let page = look(&long, &Selection::From { first: 1, limit: 5 });
    assert_eq!((page.lines[0].bytes.len(), page.lines[0].cut), (2_000, 498_000));
    assert_eq!(page.lines[1].number, 2);
}

#[test]
fn a_page_is_small_however_many_lines_are_asked_for() {
    let text = b"0123456789\n".repeat(100_000);
    for selection in [Selection::From { first: 1, limit: u64::MAX >> 1 }, Selection::Last(u64::MAX >> 1)] {
        let page = look(&text, &selection);
        assert!(page.lines.len() < 7_000, "{}", page.lines.len());
        assert_eq!(page.total, 100_000);
    }
}

proptest! {
    #[test]
    fn pages_in_a_row_are_the_whole_text(text in "[ab\n]{0,200}", limit in 1u64..9) {
        let wanted: Vec<String> = text.split_inclusive('\n').map(|line| line.trim_end_matches('\n').into()).collect();
        let (mut first, mut seen) = (Some(1), Vec::new());
        while let Some(number) = first {
            let page = look(text.as_bytes(), &Selection::From { first: number, limit });
            seen.extend(shown(&page).into_iter().map(|(_, text)| text));
            first = page.next;
        }
        prop_assert_eq!(seen, wanted);
    }
}

#[test]
fn bytes_are_read_exactly_and_a_page_of_them_is_small() {
    let bytes: Vec<u8> = (0..200_000u32).map(|number| number.to_le_bytes()[0]).collect();
    let ask =
        |first, limit| page(Record::in_memory(bytes.clone(), 0), &Selection::Bytes { first, limit }).unwrap();
    let (mut next, mut read) = (Some(1), Vec::new());
    while let Some(first) = next {
        let page = ask(first, u64::MAX);
        assert!(page.raw.as_ref().unwrap().len() <= 64 * 1024);
        read.extend(page.raw.unwrap());
        next = page.next;
    }
    assert_eq!(read, bytes);
    let some = ask(257, 3);
    assert_eq!((some.raw.unwrap(), some.next, some.bytes), (vec![0, 1, 2], Some(260), 200_000));
    let beyond = ask(200_001, 3);
    assert_eq!((beyond.raw.unwrap(), beyond.next), (vec![], None));
}
