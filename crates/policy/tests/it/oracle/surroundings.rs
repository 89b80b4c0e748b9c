//! What a script is run in: variables of a caller who means harm, and every character set that there is.

use std::process::Command;

use runward_testkit::Dice;
use tempfile::TempDir;

/// Values that run a command where bash evaluates them.
const VALUES: [&str; 16] = [
    "a[$(canary)]",
    "a[`canary`]",
    "$(canary)",
    "canary",
    "5",
    "-1",
    "",
    "x",
    "n",
    "a b",
    "*",
    "x=a[$(canary)]",
    "; canary",
    "() { :; }; canary",
    "0x1f",
    "a[0$(canary)]+1",
];

/// The names that scripts of the grammar use.
const NAMES: [&str; 12] = ["x", "y", "n", "i", "a", "z", "b", "m", "r", "C", "fd", "OPTARG"];

/// Character sets in which the last byte of a letter can be a sign of the shell.
const SETS: [(&str, &str); 4] =
    [("zh_CN", "GBK"), ("zh_TW", "BIG5"), ("zh_CN", "GB18030"), ("ja_JP", "SHIFT_JIS")];

pub(super) struct Surroundings {
    locales: Vec<String>,
    /// Where those are that were made for this test.
    made: TempDir,
}

impl Surroundings {
    pub(super) fn new() -> Self {
        let made = TempDir::new().unwrap();
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(made.path(), open).unwrap();
        let mut locales = vec![String::new()];
        if let Some(listed) = output("locale", &["-a"]) {
            locales.extend(listed.lines().map(str::to_owned));
        }
        for (place, set) in SETS {
            let name = format!("{place}.{set}");
            let path = made.path().join(&name);
            let path = path.to_str().unwrap();
            // Some of them do not read ASCII as it is written, which it warns of.
            output("localedef", &["--no-archive", "-c", "-f", set, "-i", place, path]);
            if std::path::Path::new(path).exists() {
                locales.push(name);
            }
        }
        Surroundings { locales, made }
    }

    /// Variables for a script. What is written is ASCII and means the same in every character set; what is handed to
    /// another shell stands as it was given, and is run as the engine runs it, in one that reads ASCII as it is.
    pub(super) fn variables(&self, dice: &mut Dice, written: &str) -> Vec<(String, String)> {
        let hands = written.contains("'-c'");
        let locale = if hands { "C.UTF-8" } else { dice.one_of(&self.locales) };
        let mut variables = vec![
            ("LOCPATH".to_owned(), self.made.path().to_str().unwrap().to_owned()),
            ("LC_ALL".to_owned(), locale.to_owned()),
        ];
        for name in NAMES {
            if dice.below(4) > 0 {
                variables.push((name.to_owned(), (*dice.one_of(&VALUES)).to_owned()));
            }
        }
        variables
    }
}

#[expect(clippy::disallowed_methods, reason = "asks the host for its character sets")]
fn output(program: &str, args: &[&str]) -> Option<String> {
    let output = Command::new(program).args(args).output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}
