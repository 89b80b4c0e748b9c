//! Programs of which nothing is known here, and languages whose code can start others.

use super::unread;
use crate::facts::Word;

/// Programs that start nothing, whatever their words are. One a line, in order.
const TAKE_DATA: &str = include_str!("../../data/take_data.txt");

/// Programs whose code stands among their words, in a language that can start commands in few ways.
const AWKS: &[&str] = &["awk", "gawk", "mawk", "nawk", "original-awk"];

/// Whether the words of this program are data to it, so that a command among them does not run.
pub(crate) fn takes_data(name: &str) -> bool {
    TAKE_DATA.lines().any(|known| known == name) || is_language(name)
}

/// Whether its code is looked at by [`starts`] instead.
pub(super) fn is_language(name: &str) -> bool {
    AWKS.contains(&name) || matches!(name, "sed" | "gsed") || unread::is_database(name)
}

/// The sentence for code of such a language that could start a command; `None` where it cannot.
pub(crate) fn starts(name: &str, args: &[Word]) -> Option<String> {
    if let Some(why) = unread::unread(name, args) {
        return Some(why);
    }
    let is_awk = AWKS.contains(&name);
    if !is_awk && !matches!(name, "sed" | "gsed") {
        return None;
    }
    let could = |word: &Word| match word.text() {
        // What is only known when it runs may be code.
        None => !word.is_number() && is_code(word, args),
        Some(text) if is_awk => starts_in_awk(text),
        Some(text) => starts_in_sed(text),
    };
    let found = args.iter().find(|word| could(word))?;
    let means = if is_awk { "system(), a pipe, or a library" } else { "its command e" };
    Some(format!(
        "\"{}\" may have \"{name}\" start a command by {means}, which cannot be judged while some commands are blocked",
        found.raw
    ))
}

/// Whether a word may be code: the first that is no option, or what stands behind an option.
fn is_code(word: &Word, args: &[Word]) -> bool {
    let is_option = |word: &Word| word.prefix().starts_with('-') && word.prefix().len() > 1;
    let at = args.iter().position(|one| std::ptr::eq(one, word));
    let first = args.iter().position(|one| !is_option(one));
    let behind = at.and_then(|at| args.get(at.checked_sub(1)?)).is_some_and(is_option);
    at == first || behind || is_option(word)
}

/// Whether a program of awk starts a command: `system(…)`, a pipe to or from one, an extension.
fn starts_in_awk(text: &str) -> bool {
    let bare = without_literals(text);
    let loads = ["system", "@load", "@include", "@"].iter().any(|word| bare.contains(word));
    let pipe = bare.replace("||", "").contains('|');
    loads || pipe || matches!(text, "-l" | "--load" | "-i" | "--include" | "-E" | "--exec")
}

/// The code without its texts, patterns and comments. What may be a pattern or a division is left as code.
fn without_literals(text: &str) -> String {
    let mut out = String::new();
    let mut before = '\n';
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        let pattern = c == '/' && "(,{;!~&|\n".contains(before);
        if c == '"' || pattern {
            // An end that is missing leaves nothing, as it does for awk, which refuses it.
            while let Some(inside) = rest.next() {
                match inside {
                    '\\' => drop(rest.next()),
                    end if end == c => break,
                    _ => {}
                }
            }
            before = c;
            continue;
        }
        out.push(c);
        if !c.is_whitespace() || c == '\n' {
            before = c;
        }
    }
    out
}

/// Whether a script of sed has its command `e`, or a substitution with the flag of that name.
fn starts_in_sed(text: &str) -> bool {
    let ends_command = |c: char| "\n;}".contains(c);
    let flags = |text: &str| {
        let flags = text.split(ends_command).next().unwrap_or_default();
        let flags = flags.split(['w', ' ']).next().unwrap_or_default();
        flags.contains('e') && flags.chars().all(|c| c.is_ascii_digit() || "gpiIMme".contains(c))
    };
    let substitutes = text.match_indices('s').any(|(at, _)| {
        let rest = text.get(at + 1..).unwrap_or_default();
        let Some(mark) = rest.chars().next().filter(|mark| !mark.is_alphanumeric() && !mark.is_whitespace())
        else {
            return false;
        };
        rest.match_indices(mark)
            .skip(2)
            .any(|(end, _)| flags(rest.get(end + mark.len_utf8()..).unwrap_or_default()))
    });
    let address = |c: char| c.is_ascii_digit() || "$/,!;{}+~\n \t|IM".contains(c);
    let commands = text.match_indices('e').any(|(at, _)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text.get(at + 1..).and_then(|after| after.chars().next());
        before.is_none_or(address) && after.is_none_or(|c| c.is_whitespace() || ends_command(c))
    });
    substitutes
        || commands
            && text.starts_with(|c: char| {
                !c.is_ascii_alphabetic() || c == 'e' || text.contains(['\n', ';', '{'])
            })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_in_order_and_holds_nothing_twice() {
        let names: Vec<&str> = TAKE_DATA.lines().collect();
        let mut sorted = names.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(names, sorted);
    }

    #[test]
    fn awk_starts_commands_by_system_and_by_pipes() {
        for code in [
            "BEGIN{system(\"touch M\")}",
            "BEGIN{\"touch M\"|getline}",
            "{print | \"touch M\"}",
            "BEGIN{x=1/1;print \"x\" | \"touch M\";y=1/1}",
            "BEGIN { print |& \"touch\" }",
            "@load \"x\"",
        ] {
            assert!(starts_in_awk(code), "{code}");
        }
        for code in [
            "{print $1}",
            "/a|b/{print \"c|d\"}",
            "$1 ~ /x|y/ || $2 { n++ } END { print n/2 }",
            "-F|",
            "x.txt",
        ] {
            assert_eq!(starts_in_awk(code), code == "-F|", "{code}");
        }
    }

    #[test]
    fn sed_starts_commands_by_its_command_e_and_by_a_flag() {
        for code in [
            "1e touch M",
            "e touch M",
            "s/x/touch M/e",
            "s,x,y,ge",
            "/x/e",
            "s/a/b/;s/x/touch/ep",
            "$!{e touch\n}",
        ] {
            assert!(starts_in_sed(code), "{code}");
        }
        for code in [
            "s/the/e/g",
            "s/a/b/",
            "1,5p",
            "/end/d",
            "s/one two/three e/",
            "file.txt",
            "s|/usr/e|x|",
            "y/e/f/",
        ] {
            assert!(!starts_in_sed(code), "{code}");
        }
    }
}
