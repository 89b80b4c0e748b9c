//! Text of unknown origin, made fit for a person's eyes.

/// The same text on one line, with everything escaped that would steer a terminal or show something that is not
/// there: control characters, and those that are invisible or change the direction of writing.
pub fn printable(text: &str) -> String {
    let mut printable = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_plain(letter) { printable.push(letter) } else { printable.extend(letter.escape_default()) }
    }
    printable
}

fn is_plain(letter: char) -> bool {
    let deceives = matches!(
        letter,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
    );
    !letter.is_control() && !deceives
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_terminal_or_deceives_its_reader_is_escaped() {
        assert_eq!(printable("ls \u{1b}[2J\n\t\u{9b}x"), r"ls \u{1b}[2J\n\t\u{9b}x");
        assert_eq!(printable("a\u{202e}b\u{200b}c\u{feff}"), r"a\u{202e}b\u{200b}c\u{feff}");
    }

    #[test]
    fn what_people_write_stays() {
        for text in ["grep -r 'naïve' ./日本", "echo \"a\\b\" 👍", ""] {
            assert_eq!(printable(text), text);
        }
    }
}
