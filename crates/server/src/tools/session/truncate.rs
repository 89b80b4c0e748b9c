//! Both ends of a text within a budget of tokens.

use super::portion::TOKEN;

/// Said before a text that is not whole, where there is room for it.
fn warning(tokens: u64) -> String {
    format!("Warning: truncated output (original token count: {tokens})\n\n")
}

fn marker(tokens: u64) -> String {
    format!("…{tokens} tokens truncated…")
}

/// How many tokens so many bytes are.
pub(super) fn tokens(bytes: u64) -> u64 {
    bytes.div_ceil(TOKEN as u64)
}

/// The beginning and the end of an output, and how much of it is missing in between.
pub(super) struct Ends<'a> {
    pub(super) head: &'a str,
    pub(super) missing: u64,
    pub(super) tail: &'a str,
    /// How many bytes were printed in all.
    pub(super) printed: u64,
    /// How many of them were taken out of head and tail because they show nothing.
    pub(super) cleaned: u64,
}

/// What is shown of it: everything if it fits `budget` bytes, else both ends with a word in between that says how
/// many tokens went. All of it fits the budget, unless that is too small for the words alone.
pub(super) fn fit(ends: &Ends<'_>, budget: usize) -> (String, u64) {
    let Ends { head, missing, tail, printed, cleaned } = ends;
    if *missing == 0 && head.len() + tail.len() <= budget {
        return (format!("{head}{tail}"), 0);
    }
    let warning = warning(tokens(*printed));
    // The longest that the marker can get.
    let words = warning.len() + marker(tokens(*printed)).len();
    let (warning, room) = match budget.checked_sub(words) {
        Some(room) if room >= words => (warning, room),
        _ => (String::new(), budget),
    };
    let whole = if *missing == 0 { format!("{head}{tail}") } else { String::new() };
    let (head, tail) = if *missing == 0 { (whole.as_str(), whole.as_str()) } else { (*head, *tail) };
    let first = head.get(..head.floor_char_boundary(room / 2)).unwrap_or_default();
    let start = tail.ceil_char_boundary(tail.len().saturating_sub(room - room / 2));
    let last = tail.get(start..).unwrap_or_default();
    let gone = tokens(printed.saturating_sub(cleaned + (first.len() + last.len()) as u64));
    (format!("{warning}{first}{}{last}", marker(gone)), gone)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(text: &str) -> Ends<'_> {
        Ends { head: text, missing: 0, tail: "", printed: text.len() as u64, cleaned: 0 }
    }

    #[test]
    fn what_fits_is_shown_as_it_is() {
        assert_eq!(fit(&whole("hello\n"), 16), ("hello\n".to_owned(), 0));
    }

    #[test]
    fn both_ends_of_what_does_not_fit_are_shown() {
        let text = "token one token two token three token four token five";
        assert_eq!(fit(&whole(text), 16), ("token on…10 tokens truncated…ken five".to_owned(), 10));
    }

    #[test]
    fn a_budget_with_room_for_the_words_is_never_exceeded() {
        let text = "é".repeat(5000);
        for budget in [400, 401, 1000, 4000] {
            let (shown, gone) = fit(&whole(&text), budget);
            assert!(shown.len() <= budget, "{} > {budget}", shown.len());
            assert!(
                shown.starts_with("Warning: truncated output (original token count: 2500)\n\né"),
                "{shown}"
            );
            assert!(shown.contains(&format!("…{gone} tokens truncated…")));
        }
    }

    #[test]
    fn what_was_missing_before_counts() {
        let ends = Ends { head: "begin", missing: 4_000_000, tail: "end", printed: 4_000_008, cleaned: 0 };
        let (shown, gone) = fit(&ends, 400);
        assert_eq!(gone, 1_000_000);
        assert!(shown.ends_with("begin…1000000 tokens truncated…end"), "{shown}");
    }

    #[test]
    fn no_budget_at_all_still_says_how_much_there_was() {
        assert_eq!(fit(&whole("12345678"), 0), ("…2 tokens truncated…".to_owned(), 2));
    }
}
