//! Words that bash itself gives a meaning to.

/// Whether this unquoted word in command position is part of the grammar.
pub fn is_reserved(word: &str) -> bool {
    const RESERVED: &[&str] = &[
        "!", "{", "}", "[[", "]]", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for",
        "function", "if", "in", "select", "then", "time", "until", "while",
    ];
    RESERVED.contains(&word)
}

/// Builtins that also exist as programs of the same meaning, and so need no shell.
const ALSO_PROGRAMS: &[&str] = &["[", "echo", "false", "kill", "printf", "pwd", "test", "true"];

/// Every builtin of bash 5.
const BUILTINS: &[&str] = &[
    ".",
    ":",
    "[",
    "alias",
    "bg",
    "bind",
    "break",
    "builtin",
    "caller",
    "cd",
    "command",
    "compgen",
    "complete",
    "compopt",
    "continue",
    "declare",
    "dirs",
    "disown",
    "echo",
    "enable",
    "eval",
    "exec",
    "exit",
    "export",
    "false",
    "fc",
    "fg",
    "getopts",
    "hash",
    "help",
    "history",
    "jobs",
    "kill",
    "let",
    "local",
    "logout",
    "mapfile",
    "popd",
    "printf",
    "pushd",
    "pwd",
    "read",
    "readarray",
    "readonly",
    "return",
    "set",
    "shift",
    "shopt",
    "source",
    "suspend",
    "test",
    "times",
    "trap",
    "true",
    "type",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
    "unset",
    "wait",
];

/// Whether bash knows this command by itself.
pub fn is_builtin(name: &str) -> bool {
    BUILTINS.contains(&name)
}

/// Whether only a shell can run this command; `%1` means a job of the shell.
pub fn needs_the_shell(name: &str) -> bool {
    name.starts_with('%') || is_builtin(name) && !ALSO_PROGRAMS.contains(&name)
}

/// Whether a variable can have this name.
pub fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|first| first == '_' || first.is_ascii_alphabetic())
        && chars.all(|c| c == '_' || c.is_ascii_alphanumeric())
}
