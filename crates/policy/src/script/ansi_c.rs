//! `$'…'`: text with C escapes.

/// How long the text up to its closing quote is; `None` when it is not closed.
pub(super) fn length(rest: &str) -> Option<usize> {
    let mut escaped = false;
    rest.bytes().position(|byte| match (escaped, byte) {
        (false, b'\'') => true,
        (before, _) => {
            escaped = !before && byte == b'\\';
            false
        }
    })
}

/// The text that is meant; `None` when it depends on the locale or is not text that an argument can hold.
pub(super) fn decode(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        let escape = rest.next()?;
        let plain = match escape {
            'a' => '\x07',
            'b' => '\x08',
            'e' | 'E' => '\x1b',
            'f' => '\x0c',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\x0b',
            '\\' | '\'' | '"' | '?' => escape,
            '0'..='7' => {
                let first = escape.to_digit(8)?;
                ascii(number(&mut rest, 8, 2, first)?.0)?
            }
            'x' => counted(&mut rest, 2)?,
            'u' => counted(&mut rest, 4)?,
            'U' => counted(&mut rest, 8)?,
            _ => return None,
        };
        out.push(plain);
    }
    Some(out)
}

fn counted(rest: &mut std::iter::Peekable<std::str::Chars<'_>>, most: usize) -> Option<char> {
    match number(rest, 16, most, 0)? {
        (_, 0) => None,
        (value, _) => ascii(value),
    }
}

/// A number of up to `most` digits, and how many there were.
fn number(
    rest: &mut std::iter::Peekable<std::str::Chars<'_>>,
    radix: u32,
    most: usize,
    first: u32,
) -> Option<(u32, usize)> {
    let (mut value, mut digits) = (first, 0);
    while digits < most {
        let Some(digit) = rest.peek().and_then(|c| c.to_digit(radix)) else { break };
        value = value.checked_mul(radix)?.checked_add(digit)?;
        digits += 1;
        rest.next();
    }
    Some((value, digits))
}

/// Beyond ASCII the meaning depends on the locale, and NUL ends the text early.
fn ascii(value: u32) -> Option<char> {
    char::from_u32(value).filter(|c| c.is_ascii() && *c != '\0')
}
