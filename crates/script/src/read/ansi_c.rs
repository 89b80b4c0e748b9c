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

/// The text that is meant; `None` when it is not text that an argument can hold.
pub(super) fn decode(text: &str) -> Option<String> {
    let mut out = Vec::new();
    let mut rest = text.chars().peekable();
    let mut utf8 = [0; 4];
    while let Some(c) = rest.next() {
        if c != '\\' {
            out.extend_from_slice(c.encode_utf8(&mut utf8).as_bytes());
            continue;
        }
        let byte = match rest.next()? {
            'a' => 0x07,
            'b' => 0x08,
            'e' | 'E' => 0x1b,
            'f' => 0x0c,
            'n' => b'\n',
            'r' => b'\r',
            't' => b'\t',
            'v' => 0x0b,
            same @ ('\\' | '\'' | '"' | '?') => u8::try_from(same).ok()?,
            digit @ '0'..='7' => u8::try_from(number(&mut rest, 8, 2, digit.to_digit(8)?)?.0).ok()?,
            'x' => u8::try_from(counted(&mut rest, 2)?).ok()?,
            wide @ ('u' | 'U') => {
                let c = char::from_u32(counted(&mut rest, if wide == 'u' { 4 } else { 8 })?)?;
                out.extend_from_slice(c.encode_utf8(&mut utf8).as_bytes());
                continue;
            }
            _ => return None,
        };
        out.push(byte);
    }
    // NUL would end the text early, and bytes that are no text are not what a caller can have meant.
    String::from_utf8(out).ok().filter(|text| !text.contains('\0'))
}

fn counted(rest: &mut std::iter::Peekable<std::str::Chars<'_>>, most: usize) -> Option<u32> {
    number(rest, 16, most, 0).and_then(|(value, digits)| (digits > 0).then_some(value))
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
