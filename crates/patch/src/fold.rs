//! Letters that a model easily takes for each other.

/// Punctuation and blanks as ASCII, and nothing around them.
pub(crate) fn folded(text: &str) -> String {
    text.chars().filter_map(fold).collect::<String>().trim().to_owned()
}

fn fold(letter: char) -> Option<char> {
    match letter {
        '\u{2010}'..='\u{2015}' | '\u{2212}' => Some('-'),
        '\u{2018}'..='\u{201B}' => Some('\''),
        '\u{201C}'..='\u{201F}' => Some('"'),
        '\u{00A0}' | '\u{2002}'..='\u{200A}' | '\u{202F}' | '\u{205F}' | '\u{3000}' => Some(' '),
        '\u{FEFF}' => None,
        letter => Some(letter),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typographic_signs_are_plain_ones() {
        assert_eq!(folded(" \u{201C}a\u{201D}\u{00A0}\u{2013} it\u{2019}s\u{3000}"), "\"a\" - it's");
        assert_eq!(folded("\u{FEFF}import x"), "import x");
    }
}
