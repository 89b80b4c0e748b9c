//! Where a command may begin among the words of a program that starts some of them.

use super::{carriers, is_known_otherwise, strangers, table};
use crate::facts::Word;

/// Programs whose words name things of their own: packages, targets, tests, files. One a line, in order.
const OWN_WORDS: &str = include_str!("../../data/own_words.txt");

/// Interpreters: the first word that is no option is a script, and what follows belongs to that.
const SCRIPTED: &[&str] = &[
    "R", "Rscript", "bpython", "elixir", "erl", "ghci", "groovy", "guile", "iex", "ipython", "irb", "java",
    "jshell", "jruby", "julia", "kotlin", "lua", "luajit", "node", "nodejs", "ocaml", "perl", "php", "pypy",
    "python", "raku", "ruby", "scala", "tclsh", "ts-node", "tsx", "wish",
];

/// Programs that take code from what they read, whatever else they are given.
const READERS: &[&str] = &[
    "bc", "dc", "ed", "ex", "ftp", "gdb", "lftp", "lldb", "mariadb", "mysql", "octave", "psql", "red",
    "sftp", "sqlite", "sqlite3", "ssh", "telnet", "vi", "view", "vim",
];

/// Words behind which programs have a command.
const RUNNERS: &[&str] = &[
    "call",
    "command",
    "devenv",
    "do",
    "env",
    "exec",
    "exec-env",
    "exec-file",
    "execute",
    "open",
    "program",
    "run",
    "run-shell",
    "sh",
    "shell",
    "spawn",
    "start",
    "system",
    "x",
];

/// Programs whose `run` is a script, a package or a target of their own.
const RUN_THEIR_OWN: &[&str] =
    &["dotnet", "gradle", "npm", "pnpm", "swift", "task", "just", "turbo", "nx", "yarn", "zig"];

/// Programs whose first words are a command already, and how many words come before it.
const DIRECT: &[(&str, usize)] =
    &[("bunx", 0), ("dotenv", 0), ("mosh", 1), ("npx", 0), ("pnpx", 0), ("ssh", 1), ("uvx", 0)];

/// Programs that run a command in something that is named before it.
const INSIDE: &[&str] =
    &["direnv", "docker", "ip", "kubectl", "lxc", "machinectl", "nerdctl", "podman", "rustup", "vagrant"];

/// Options that have no value, so that the next word is none.
const FLAGS: &[&str] = &[
    "--",
    "--detach",
    "--init",
    "--interactive",
    "--locked",
    "--no-install",
    "--no-sync",
    "--privileged",
    "--quiet",
    "--rm",
    "--silent",
    "--tty",
    "--verbose",
    "--yes",
    "-d",
    "-dit",
    "-i",
    "-it",
    "-itd",
    "-q",
    "-t",
    "-ti",
    "-v",
    "-vv",
    "-y",
];

/// Letters of ssh that have a value.
const SSH_VALUED: &str = "BbcDEeFIiJLlmOopQRSWw";

/// Options behind which people write what they like.
const PROSE: &[&str] = &[
    "--answer",
    "--body",
    "--comment",
    "--description",
    "--filter",
    "--grep",
    "--match",
    "--message",
    "--msg",
    "--name",
    "--notes",
    "--search",
    "--select",
    "--subject",
    "--summary",
    "--test-name-pattern",
    "--tests",
    "--title",
    "-S",
    "-b",
    "-d",
    "-g",
    "-k",
    "-m",
    "-n",
    "-t",
];

/// What ends one command and begins another, where words become a line.
const BETWEEN: &[&str] = &["!", "&", "&&", ";", "do", "else", "if", "then", "until", "while", "{", "|", "||"];

/// What a program does with its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nothing that is not looked at elsewhere.
    Followed,
    /// It starts a command that stands among them.
    Starter,
    /// Some of its own commands start what stands behind them.
    Tool,
    /// They name things of its own.
    Own,
    /// They are code, or a script with words of its own.
    Interpreter,
    /// Nobody knows.
    Stranger,
}

/// Where commands begin among the words of a tool.
#[derive(Debug, PartialEq, Eq)]
enum Spot {
    Nowhere,
    At(usize),
    /// At any word from this one on, since it is not certain which are the values of options.
    From(usize),
}

/// What this program does with its words.
pub(crate) fn kind(name: &str) -> Kind {
    if carriers::is_starter(name) {
        return Kind::Starter;
    }
    if carriers::starts_its_words(name) {
        return Kind::Tool;
    }
    if is_known_otherwise(name) || strangers::takes_data(name) {
        return Kind::Followed;
    }
    let is_own = |name: &str| OWN_WORDS.lines().any(|known| known == name);
    let family = table::family(name);
    if SCRIPTED.contains(&name) || SCRIPTED.contains(&family) {
        return Kind::Interpreter;
    }
    if is_own(name) || is_own(family) { Kind::Own } else { Kind::Stranger }
}

/// Whether a command stands behind this word.
pub(crate) fn is_runner(word: &str) -> bool {
    RUNNERS.contains(&word.trim_start_matches(['.', '/', ':', '\\', '-']))
}

/// Whether the option of this name looks as if it had a command.
fn names_a_command(option: &str) -> bool {
    const HINTS: &[&str] = &[
        "agent", "browser", "cmd", "command", "editor", "exec", "handler", "hook", "launch", "linker",
        "pager", "prog", "run", "shell", "spawn", "viewer", "wrapper",
    ];
    let option = option.to_ascii_lowercase();
    option.starts_with('-') && HINTS.iter().any(|hint| option.contains(hint))
        || carriers::is_before_line(&option)
}

/// Whether a command may begin at this word of a program, if it is one by its name alone. `words` begins with the program.
pub(crate) fn may_begin(kind: Kind, name: &str, words: &[Word], at: usize) -> bool {
    let text = |at: usize| words.get(at).and_then(Word::text).unwrap_or_default();
    let before = at.checked_sub(1).map(text).unwrap_or_default();
    let alone = at + 1 >= words.len();
    match kind {
        Kind::Starter => true,
        Kind::Followed | Kind::Interpreter => false,
        Kind::Stranger => {
            let first = (1..at).all(|at| text(at).starts_with('-')) && !before.starts_with("--");
            !alone || first || before == "--" || is_runner(before) || names_a_command(before)
        }
        Kind::Tool | Kind::Own => {
            let spot = match spot(name, words) {
                Spot::Nowhere => false,
                Spot::At(place) => at == place || at > place && BETWEEN.contains(&before),
                Spot::From(first) => at >= first && !alone,
            };
            spot || !alone && names_a_command(before)
        }
    }
}

/// Whether the word at `at` is certain to be the command that the program starts.
pub(crate) fn begins(kind: Kind, name: &str, words: &[Word], at: usize) -> bool {
    matches!(kind, Kind::Tool | Kind::Own) && spot(name, words) == Spot::At(at)
}

/// Where the command of a tool begins.
fn spot(name: &str, words: &[Word]) -> Spot {
    let direct = DIRECT.iter().find(|(known, _)| *known == name);
    let (after, lead) = if let Some((_, lead)) = direct {
        (1, *lead)
    } else {
        let own_run = RUN_THEIR_OWN.contains(&name);
        let runs = |word: &Word| {
            word.text().is_some_and(|word| RUNNERS.contains(&word) && !(own_run && word == "run"))
        };
        let Some(at) = words.iter().skip(1).position(runs).map(|at| at + 1) else { return Spot::Nowhere };
        if at > 1 && words.get(at - 1).is_some_and(|word| is_loose(name, word.prefix())) {
            return Spot::From(at + 1);
        }
        (at + 1, usize::from(INSIDE.contains(&name)))
    };
    let mut left = lead;
    let mut at = after;
    while let Some(word) = words.get(at) {
        let text = word.prefix();
        if name == "ssh" && takes_next(text) {
            at += 2;
            continue;
        }
        if word.is_many() || is_loose(name, text) {
            return Spot::From(after);
        }
        if !text.starts_with('-') && !text.contains('=') {
            if left == 0 {
                return Spot::At(at);
            }
            left -= 1;
        }
        at += 1;
    }
    Spot::Nowhere
}

/// Whether the word behind this one may be its value.
fn is_loose(name: &str, word: &str) -> bool {
    let option = word.starts_with('-') && !word.contains('=');
    option && !FLAGS.contains(&word) && (name != "ssh" || word.starts_with("--"))
}

/// Whether the value of this option of ssh is the next word.
fn takes_next(option: &str) -> bool {
    let letters = option.strip_prefix('-').filter(|letters| !letters.starts_with('-')).unwrap_or_default();
    letters.find(|letter| SSH_VALUED.contains(letter)).is_some_and(|at| at + 1 == letters.len())
}

/// Whether the word at `at` is a text in which a command may stand. `words` begins with the program.
pub(crate) fn is_text(kind: Kind, words: &[Word], at: usize) -> bool {
    let text = |at: usize| words.get(at).map(Word::prefix).unwrap_or_default();
    let (word, before) = (text(at), at.checked_sub(1).map(text).unwrap_or_default());
    let (option, value) = word.split_once('=').unwrap_or((word, ""));
    let spaced = word.contains(char::is_whitespace) || word.starts_with('!');
    let has_command = names_a_command(before) || !value.is_empty() && names_a_command(option);
    match kind {
        Kind::Followed | Kind::Starter => true,
        Kind::Interpreter => at <= script(words) && (spaced || word.contains(['(', '!', '`'])),
        Kind::Own | Kind::Tool => {
            has_command || spaced && !PROSE.contains(&before) && !PROSE.contains(&option)
        }
        Kind::Stranger => {
            let short = ["-c", "-e", "-x"].iter().any(|begin| word.starts_with(begin));
            let joins = !word.starts_with('-') || short || !value.is_empty();
            spaced || has_command || joins && at + 1 < words.len() || word.contains(['(', '!', '|', '`'])
        }
    }
}

/// Which word is the script of an interpreter: the first that is no option and not behind one.
fn script(words: &[Word]) -> usize {
    let option = |at: usize| words.get(at).is_some_and(|word| word.prefix().starts_with('-'));
    (1..words.len()).find(|at| !option(*at) && (*at == 1 || !option(at - 1))).unwrap_or(words.len())
}

/// Whether this program runs what it reads, given these words.
pub(crate) fn reads_code(words: &[Word]) -> bool {
    let base = |word: &Word| word.prefix().rsplit('/').next().unwrap_or_default().to_owned();
    (0..words.len()).any(|at| {
        let Some(name) = words.get(at).map(base) else { return false };
        let own = words.get(at..).unwrap_or_default();
        let scripted = SCRIPTED.contains(&name.as_str()) || SCRIPTED.contains(&table::family(&name));
        let is_input = |word: &Word| word.prefix() == "-" || word.prefix() == "/dev/stdin";
        let file = own.get(script(own)).is_some_and(|word| !is_input(word));
        let code =
            own.iter().skip(1).any(|word| carriers::is_before_line(word.prefix()) || word.prefix() == "-e");
        READERS.contains(&name.as_str()) || scripted && !file && !code
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begins_at(line: &str) -> Vec<usize> {
        let words: Vec<Word> = line.split(' ').map(Word::known).collect();
        let name = words.first().and_then(Word::text).unwrap_or_default();
        (1..words.len()).filter(|at| may_begin(kind(name), name, &words, *at)).collect()
    }

    #[test]
    fn the_list_is_in_order_and_holds_nothing_that_is_known_otherwise() {
        let names: Vec<&str> = OWN_WORDS.lines().collect();
        let mut sorted = names.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(names, sorted);
        let odd: Vec<&&str> = names.iter().filter(|name| kind(name) != Kind::Own).collect();
        assert_eq!(odd, Vec::<&&str>::new());
    }

    #[test]
    fn the_command_of_a_tool_begins_where_the_tool_says() {
        for (line, at) in [
            ("npm run dd", &[][..]),
            ("npm exec dd x", &[2]),
            ("docker run -it debian dd x", &[4]),
            ("docker pull dd", &[]),
            ("ssh -p 22 host echo dd", &[4]),
            ("ssh host a ; dd", &[2, 4]),
            ("poetry run a dd", &[2]),
            ("docker exec -u me box dd x", &[2, 3, 4, 5]),
            ("pip install dd x", &[]),
            ("nobody-knows thing dd", &[1]),
        ] {
            assert_eq!(begins_at(line), at, "{line}");
        }
    }
}
