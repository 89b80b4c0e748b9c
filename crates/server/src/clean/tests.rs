use proptest::prelude::*;

use super::*;

#[test]
fn a_line_reads_as_a_terminal_shows_it_in_the_end() {
    for (printed, shown) in [
        ("plain\ttext é\n\nend", "plain\ttext é\n\nend"),
        ("dos\r\nlines  \r\n", "dos\nlines  \n"),
        ("10%\r20%\r100%\n", "100%\n"),
        ("downloading\rdone       \nnext", "done\nnext"),
        ("long line\rab\n", "abng line\n"),
        ("building...\r\x1b[Kfinished\n", "finished\n"),
        ("building...\x1b[2K\rok\n", "ok\n"),
        ("abc\x08\x08X\n", "aXc\n"),
        ("a\x1b[5Gb\x1b[3Cc\n", "a b c\n"),
        ("abc\x1b[2DX\x1b[1GY\n", "YXc\n"),
        ("\x1b[1;31mred\x1b[0m and \x1b[38:2::1:2:3mmore\x1b[m\n", "red and more\n"),
        ("\x1b]0;title\x07text\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\n", "textlink\n"),
        ("\x1bPsixel\x1b\\after\x1b(B\x1b=\x1b7\n", "after\n"),
        ("\u{9b}31mred\u{9d}title\u{9c}!\n", "red!\n"),
        ("\x1b]0;never ended\nnext line\n", "\nnext line\n"),
        ("\x1b[12\nx\x1b", "\nx"),
        ("\x1b\x1b[1mbold\x07\x00\x7f\n", "bold\n"),
        ("\x1b[é\x1b[?25lé\n", "éé\n"),
    ] {
        assert_eq!(clean(printed), shown, "{printed:?}");
    }
}

#[test]
fn a_part_ends_before_what_is_still_to_be_completed() {
    let euro = "€".as_bytes();
    for (bytes, wanted) in [
        (b"abc".to_vec(), 3),
        (b"abc\x1b".to_vec(), 3),
        (b"abc\x1b[3".to_vec(), 3),
        (b"abc\x1b[31m".to_vec(), 8),
        (b"abc\x1b]0;title".to_vec(), 3),
        (b"abc\x1b]0;title\x07".to_vec(), 13),
        (b"abc\x1b(B".to_vec(), 6),
        ([b"a", &euro[..2]].concat(), 1),
        ([b"a", euro].concat(), 4),
        (b"a\xff".to_vec(), 2),
        ([&b"\x1b]"[..], &[b'x'; 300]].concat(), 302),
    ] {
        assert_eq!(complete(&bytes), wanted, "{:?}", String::from_utf8_lossy(&bytes));
    }
}

/// Text with many sequences in it, whole and broken.
fn noise() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-zé €\t]{0,6}",
        "\\x1b\\[[0-9;?]{0,4}[@-~]?",
        "\\x1b[\\]PX^_][a-z]{0,4}(\\x07|\\x1b\\\\)?",
        "[\\x00-\\x1f\\x7f\u{80}-\u{9f}]{1,3}",
        Just("\r".to_owned()),
        Just("\n".to_owned()),
        any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn no_control_characters_are_left_and_nothing_grows(text in noise()) {
        let cleaned = clean(&text);
        prop_assert!(!cleaned.chars().any(|c| c.is_control() && c != '\n' && c != '\t'), "{cleaned:?}");
        prop_assert!(cleaned.len() <= text.len());
        prop_assert_eq!(cleaned.matches('\n').count(), text.matches('\n').count());
    }

    #[test]
    fn cleaning_twice_is_cleaning_once(text in noise()) {
        let cleaned = clean(&text);
        prop_assert_eq!(clean(&cleaned), cleaned);
    }

    #[test]
    fn a_part_is_never_longer_than_what_there_is_and_lacks_little(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        let ready = complete(&bytes);
        prop_assert!(ready <= bytes.len() && bytes.len() - ready <= LONGEST_SEQUENCE);
    }
}
