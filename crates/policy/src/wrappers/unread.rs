//! Code that a program is given and that is not read here: in a file, in a setting, in a database's own language.

use crate::facts::Word;

/// Clients of databases, with what has them start a command.
const DATABASES: &[(&[&str], &[&str])] = &[
    (&["psql"], &["\\!", "\\e", "\\g|", "\\g |", "\\o|", "\\o |", "\\w|", "\\w |", "\\set", "program", "`"]),
    (&["mysql", "mariadb"], &["\\!", "\\e", "\\p", "system", "pager", "edit", "delimiter"]),
    (
        &["sqlite", "sqlite3"],
        &[
            ".shell",
            ".system",
            ".s",
            ".import",
            ".output",
            ".once",
            ".excel",
            ".e",
            ".o",
            ".i",
            ".load",
            "load_extension",
            "edit(",
            "|",
        ],
    ),
];

/// Settings of ssh that make it start a command where some condition holds, or read more settings.
const CONDITIONS: &[&str] = &["include", "match"];

/// Whether this is a client of a database, whose words are looked at here.
pub(super) fn is_database(name: &str) -> bool {
    DATABASES.iter().any(|(names, _)| names.contains(&name))
}

/// The sentence for code that is not read, and could start a command; `None` where there is none.
pub(super) fn unread(name: &str, args: &[Word]) -> Option<String> {
    let refused = |word: &Word, why: &str| {
        format!("\"{}\" has \"{name}\" {why}, which is not read while some commands are blocked", word.raw)
    };
    if let Some((_, starts)) = DATABASES.iter().find(|(names, _)| names.contains(&name)) {
        let begins = |text: &str| starts.iter().any(|begin| text.contains(begin));
        let could = |word: &&Word| {
            is_code(args, word) && begins(&word.raw.to_lowercase())
                || is_code(args, word) && word.text().is_some_and(|text| begins(&text.to_lowercase()))
        };
        return args.iter().find(could).map(|word| refused(word, "do what may start a command"));
    }
    let in_file = args.iter().enumerate().find(|(at, word)| takes_file(name, args, *at, word.prefix()));
    if let Some((_, word)) = in_file {
        return Some(refused(word, "run what stands in a file"));
    }
    let condition = args.iter().enumerate().find(|(at, _)| is_condition(name, args, *at));
    condition.map(|(_, word)| refused(word, "use settings by which it may start a command"))
}

/// Whether a word may be code: one with blanks, or that begins as a command of the client does.
fn is_code(args: &[Word], word: &Word) -> bool {
    let behind = args
        .iter()
        .position(|one| std::ptr::eq(one, word))
        .and_then(|at| args.get(at.checked_sub(1)?))
        .is_some_and(|option| matches!(option.prefix(), "-c" | "-e" | "-cmd" | "--command" | "--execute"));
    let text = word.prefix();
    let spaced = word.raw.contains(char::is_whitespace);
    behind
        || spaced
        || text.starts_with(['.', '\\', '|']) && !text.starts_with("./") && !text.starts_with("..")
}

/// Whether this word has a program take its code from a file.
fn takes_file(name: &str, args: &[Word], at: usize, word: &str) -> bool {
    let long = |full: &str, least: usize| {
        let given = word.split('=').next().unwrap_or_default();
        given.len() >= least && full.starts_with(given)
    };
    match name {
        "awk" | "gawk" | "mawk" | "nawk" | "original-awk" => word.starts_with("-f") || long("--file", 4),
        "sed" | "gsed" => {
            let letters = word.strip_prefix('-').filter(|rest| !rest.starts_with('-')).unwrap_or_default();
            let letters = letters.split(['e', 'i', 'l']).next().unwrap_or_default();
            let behind = at.checked_sub(1).and_then(|at| args.get(at)).map(Word::prefix).unwrap_or_default();
            letters.contains('f') && !matches!(behind, "-e" | "--expression") || long("--file", 4)
        }
        "gdb" => {
            let option = word.trim_start_matches('-').split('=').next().unwrap_or_default();
            word.starts_with('-') && matches!(option, "x" | "ix" | "command" | "init-command")
        }
        "git" => {
            let makes = args.iter().any(|word| matches!(word.text(), Some("init" | "clone")));
            makes && word.len() >= 4 && long("--template", 4)
        }
        _ => false,
    }
}

/// Whether this word is a setting of ssh that has a condition, or reads others.
fn is_condition(name: &str, args: &[Word], at: usize) -> bool {
    if !matches!(name, "autossh" | "scp" | "sftp" | "ssh" | "ssh-copy-id" | "sshfs") {
        return false;
    }
    let word = args.get(at).map(Word::prefix).unwrap_or_default();
    let behind = at.checked_sub(1).and_then(|at| args.get(at)).map(Word::prefix).unwrap_or_default();
    let joined = word.strip_prefix('-').and_then(|letters| letters.split_once('o')).map(|(_, set)| set);
    let set = if behind.starts_with('-') && behind.ends_with('o') { Some(word) } else { joined };
    let key = |set: &str| set.trim_start().split(['=', ' ', '\t']).next().unwrap_or_default().to_lowercase();
    set.is_some_and(|set| CONDITIONS.contains(&key(set).as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_refused(words: &[&str]) -> bool {
        let words: Vec<Word> = words.iter().map(|&word| Word::known(word)).collect();
        unread(words[0].prefix(), &words[1..]).is_some()
    }

    #[test]
    fn code_in_files_settings_and_databases_is_not_read() {
        for words in [
            &["awk", "-f", "x.awk", "f"][..],
            &["gawk", "-fx.awk"],
            &["mawk", "--file=x"],
            &["sed", "-f", "x"],
            &["sed", "-nf", "x"],
            &["sed", "-n", "--fi=x"],
            &["gdb", "-batch", "-x", "f"],
            &["gdb", "--command=f"],
            &["git", "init", "--template=t"],
            &["git", "clone", "--templ", "t", "u"],
            &["ssh", "-o", "Match exec \"touch M\"", "h"],
            &["ssh", "-omatch=exec", "h"],
            &["scp", "-o", "Include x", "a", "b"],
            &["psql", "-c", "copy x to program $$touch$$"],
            &["psql", "-c", "\\! touch M"],
            &["sqlite3", "x.db", ".shell touch"],
            &["sqlite3", "x.db", ".sh touch"],
            &["mysql", "-e", "system touch M"],
        ] {
            assert!(is_refused(words), "{words:?}");
        }
        for words in [
            &["awk", "{print}", "f"][..],
            &["sed", "-e", "s/a/f/", "-i", "f"],
            &["sed", "-i.f", "s/a/b/", "f"],
            &["gdb", "-batch", "x"],
            &["git", "commit", "--template=t"],
            &["ssh", "-o", "User=me", "h"],
            &["psql", "-c", "select format from dd"],
            &["psql", "-h", "system", "programs"],
            &["sqlite3", "./x.db", "select 1"],
            &["sqlite3", "x.db", ".tables"],
            &["mysql", "-u", "system", "edit"],
        ] {
            assert!(!is_refused(words), "{words:?}");
        }
    }
}
