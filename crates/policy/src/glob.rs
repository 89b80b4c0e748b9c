//! Patterns for names: `*` stands for anything, `?` for one character.

/// A pattern for names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob(String);

impl Glob {
    /// Every text is a pattern; one without `*` and `?` stands for itself.
    pub fn new(pattern: impl Into<String>) -> Self {
        Glob(pattern.into())
    }

    /// Whether the whole name fits.
    pub fn matches(&self, name: &str) -> bool {
        fits(self.0.as_bytes(), name.as_bytes())
    }

    /// As it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Goes back to the last `*` only, so that the time is bounded by the product of the two lengths.
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut seen) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while let Some(byte) = name.get(seen) {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, seen));
                at += 1;
            }
            Some(wanted) if wanted == byte || *wanted == b'?' => (at, seen) = (at + 1, seen + 1),
            _ => {
                let Some((star_at, taken)) = star else { return false };
                star = Some((star_at, taken + 1));
                (at, seen) = (star_at + 1, taken + 1);
            }
        }
    }
    pattern.get(at..).is_some_and(|rest| rest.iter().all(|byte| *byte == b'*'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_is_anything_and_a_question_mark_is_one_character() {
        for (pattern, name) in
            [("LC_*", "LC_ALL"), ("*KEY*", "API_KEY"), ("A?C", "ABC"), ("*", ""), ("*A*B", "AAB")]
        {
            assert!(Glob::new(pattern).matches(name), "{pattern} {name}");
        }
        for (pattern, name) in [("LC_", "LC_ALL"), ("*KEY", "KEYS"), ("A?C", "AC"), ("", "A"), ("A*B", "AC")]
        {
            assert!(!Glob::new(pattern).matches(name), "{pattern} {name}");
        }
    }
}
