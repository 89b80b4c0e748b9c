//! Secrets by their looks, in text.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Regex, RegexSet};

/// One quoted string, up to its end or to a substitution in it.
const QUOTED: &str = r#"(?:\$'(?:[^'\\]|\\.)*'?|\$?"(?:[^"\\$`]|\\.|\$[^("`\\])*"?|'[^']*'?)"#;

/// One character of a word without quotes. A word ends where a command could start.
const PLAIN: &str = r#"(?:\\[^\n]|[^\s"'\\$`;|&<>()])"#;

/// A shell word that is a value.
const VALUE: &str = "(?:{QUOTED}{PLAIN}*|{PLAIN}+)";

/// One that is not an option.
const ARGUMENT: &str = r#"(?:{QUOTED}{PLAIN}*|[^\s"'\\$`;|&<>()-]{PLAIN}*)"#;

/// The same inside a string: no quotes around it.
const BARE: &str = r#"[^\s"'\\$`;|&<>()]+"#;

/// Blanks, as they are or escaped.
const BLANKS: &str = r"(?:\\?[ \t])";

/// Where a word can begin.
const EDGE: &str = r#"(?:^|[\s"'`(;|&?{,:=@/\[])"#;

/// Variables whose name says that their value is secret.
const NAME: &str = r"(?:[a-z0-9_.]*(?:key|secret|token|password|passwd|passphrase|credential)[a-z0-9_.]*|(?:[a-z0-9_.]*_)?(?:pass|auth)|mysql_pwd)";

/// Options whose name says so.
pub(super) const OPTION: &str = r"--?(?:[a-z0-9_-]*(?:password|passwd|passphrase|secret|token|credentials?|(?:api|access|private|secret|account|auth|signing|encryption)[-_]?key)|(?:[a-z0-9_-]*-)?pass)";

/// What is looked for and what takes its place, in this order; `{…}` stands for the constants above.
const RULES: &[(&str, &str)] = &[
    // Keys in PEM form, whole or cut off.
    (
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----(?:[A-Za-z0-9+/=\s\\:,.-]*?-----END [A-Z0-9 ]*PRIVATE KEY-----|(?:(?:\s|\\n)*[A-Za-z0-9+/=]{16,})*)",
        "[redacted]",
    ),
    // https://user:password@host
    (r#"\b([A-Za-z][A-Za-z0-9+.-]*://[^\s/?#@:"']*:)[^\s/?#"'\\$`;|&<>()]+@"#, "${1}[redacted]@"),
    // Authorization: Bearer …
    (r#"(?i)\b(authorization:{BLANKS}+){BARE}{BLANKS}+{BARE}(["'])"#, "${1}[redacted]${2}"),
    (
        r#"(?i)\b(authorization\\?["']?{BLANKS}*[:=]{BLANKS}*\\?["']?(?:(?:bearer|basic|digest|token|negotiate|apikey){BLANKS}+)?){BARE}"#,
        "${1}[redacted]",
    ),
    (r"(?i)\b(bearer{BLANKS}+)[a-z0-9._~+/=-]{16,}", "${1}[redacted]"),
    // X-Api-Key: …
    (r"(?i)\b((?:[a-z0-9]+-)+(?:key|token|secret|password|auth):{BLANKS}*){BARE}", "${1}[redacted]"),
    // {"password": "…"}
    (r#"(?i)(\\?["']{NAME}\\?["']\s*:\s*\\?["'])[^"'\\]+"#, "${1}[redacted]"),
    // --password=… and --password …
    (r"(?i)({EDGE}{OPTION}=){VALUE}", "${1}[redacted]"),
    (r"(?i)({EDGE}{OPTION}{BLANKS}+){ARGUMENT}", "${1}[redacted]"),
    // NAME=…
    (r"(?i)((?:{EDGE}|\s-[ed]){NAME}=){VALUE}", "${1}[redacted]"),
    // Options that mean a password to one program only.
    (r"\b((?:mysql[a-z]*|mariadb[a-z-]*)\b[^;|&\n]*?\s-p){VALUE}", "${1}[redacted]"),
    (r"\b(sshpass\s+-p\s*){VALUE}", "${1}[redacted]"),
    (r"\b(redis-cli\b[^;|&\n]*?\s-a\s+){VALUE}", "${1}[redacted]"),
    (
        r"\b((?:docker|podman|helm|buildah|skopeo|oras)\b[^;|&\n]*?\blogin\b[^;|&\n]*?\s-p\s*){VALUE}",
        "${1}[redacted]",
    ),
    (
        r#"\b(curl\b[^;|&\n]*?\s(?:-u|-U|--user|--proxy-user)[\s=]*["']?[^\s:"';|&$`]+:){BARE}"#,
        "${1}[redacted]",
    ),
    (r"\b(openssl\b[^;|&\n]*?\bpass:){BARE}", "${1}[redacted]"),
    // Tokens that are known by their form.
    (
        r"\b(?:gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{16,}|glpat-[A-Za-z0-9_.-]{16,}|sk-[A-Za-z0-9_-]{16,}|[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|xox[abeoprs]-[A-Za-z0-9-]{10,}|(?:AKIA|ASIA)[0-9A-Z]{16}|AIza[0-9A-Za-z_-]{35}|npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{32,}|hf_[A-Za-z0-9]{30,}|hvs\.[A-Za-z0-9_-]{20,}|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*)",
        "[redacted]",
    ),
];

/// Whether the value of a variable of this name is likely to be secret.
pub fn looks_secret(name: &str) -> bool {
    static SECRET: LazyLock<Regex> = LazyLock::new(|| compile(&format!("(?i)^{NAME}$")));
    SECRET.is_match(name)
}

/// The text with everything taken out that looks like a secret. Takes time linear in its length.
pub fn redact_command(text: &str) -> Cow<'_, str> {
    static READY: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(rules);
    let mut clean = Cow::Borrowed(text);
    if !holds_secrets(text) {
        return clean;
    }
    for (pattern, instead) in &*READY {
        if let Cow::Owned(changed) = pattern.replace_all(&clean, *instead) {
            clean = Cow::Owned(changed);
        }
    }
    clean
}

/// Most commands hold nothing secret; one look tells, and the rules are not even compiled for it.
#[expect(
    clippy::expect_used,
    reason = "the patterns are constants, and every test of this module compiles them"
)]
fn holds_secrets(text: &str) -> bool {
    static ANY: LazyLock<RegexSet> = LazyLock::new(|| {
        let patterns = RULES.iter().map(|(pattern, _)| spelled_out(pattern));
        RegexSet::new(patterns).expect("a constant pattern")
    });
    ANY.is_match(text)
}

fn rules() -> Vec<(Regex, &'static str)> {
    RULES.iter().map(|(pattern, instead)| (compile(&spelled_out(pattern)), *instead)).collect()
}

/// Word boundaries count ASCII letters only, which keeps text in any language on the fast path.
fn spelled_out(pattern: &str) -> String {
    let names = [
        ("{VALUE}", VALUE),
        ("{ARGUMENT}", ARGUMENT),
        ("{QUOTED}", QUOTED),
        ("{PLAIN}", PLAIN),
        ("{BARE}", BARE),
        ("{BLANKS}", BLANKS),
        ("{EDGE}", EDGE),
        ("{NAME}", NAME),
        ("{OPTION}", OPTION),
        (r"\b", r"(?-u:\b)"),
    ];
    names.iter().fold(pattern.to_owned(), |pattern, (name, text)| pattern.replace(name, text))
}

#[expect(
    clippy::expect_used,
    reason = "the patterns are constants, and every test of this module compiles them"
)]
pub(super) fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a constant pattern")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// In each pair the second is what is left of the first.
    const CASES: &[(&str, &str)] = &[
        ("curl https://ada:hunter2@example.com/x", "curl https://ada:[redacted]@example.com/x"),
        ("git clone https://ada:p@ss@example.com", "git clone https://ada:[redacted]@example.com"),
        ("redis-cli -u redis://:hunter2@host:6379", "redis-cli -u redis://:[redacted]@host:6379"),
        ("tool --password=hunter2 --verbose", "tool --password=[redacted] --verbose"),
        ("tool --password='hunter two' -v", "tool --password=[redacted] -v"),
        ("tool --password=\"hunter \\\" two\" -v", "tool --password=[redacted] -v"),
        ("tool --password hunter2 -v", "tool --password [redacted] -v"),
        ("tool --db-password 'hunter two'; ls", "tool --db-password [redacted]; ls"),
        ("tool --auth-token=abc | cat", "tool --auth-token=[redacted] | cat"),
        ("tool --accessToken abc", "tool --accessToken [redacted]"),
        ("tool -token abc", "tool -token [redacted]"),
        ("tool --api-key abc", "tool --api-key [redacted]"),
        ("tool --verbose --token abc", "tool --verbose --token [redacted]"),
        ("curl --pass abc x", "curl --pass [redacted] x"),
        ("curl -H 'Authorization: Bearer abc' x", "curl -H 'Authorization: [redacted]' x"),
        ("curl -H 'Authorization: Odd abc' x", "curl -H 'Authorization: [redacted]' x"),
        ("curl -H \"authorization: basic YWRhOng=\" x", "curl -H \"authorization: [redacted]\" x"),
        ("curl -H Authorization:\\ Bearer\\ abc x", "curl -H Authorization:\\ Bearer\\ [redacted] x"),
        ("curl -H Authorization:abc https://x", "curl -H Authorization:[redacted] https://x"),
        ("{\"Authorization\":\"Bearer abc\"}", "{\"Authorization\":\"Bearer [redacted]\"}"),
        ("say bearer abcdefghijklmnopqrst", "say bearer [redacted]"),
        ("curl -H 'X-Api-Key: abc' x", "curl -H 'X-Api-Key: [redacted]' x"),
        ("curl -H 'PRIVATE-TOKEN:abc' x", "curl -H 'PRIVATE-TOKEN:[redacted]' x"),
        ("curl -d '{\"password\": \"a b\"}' x", "curl -d '{\"password\": \"[redacted]\"}' x"),
        ("curl -d \"{\\\"token\\\":\\\"ab\\\"}\" x", "curl -d \"{\\\"token\\\":\\\"[redacted]\\\"}\" x"),
        ("AWS_SECRET_ACCESS_KEY=abc aws s3 ls", "AWS_SECRET_ACCESS_KEY=[redacted] aws s3 ls"),
        ("export DB_PASSWORD=\"a b\" && ls", "export DB_PASSWORD=[redacted] && ls"),
        ("DB_PASS=abc x", "DB_PASS=[redacted] x"),
        ("docker run -e API_TOKEN=abc img", "docker run -e API_TOKEN=[redacted] img"),
        ("docker run -eAPI_TOKEN=abc img", "docker run -eAPI_TOKEN=[redacted] img"),
        ("java -Dstore.password=abc Main", "java -Dstore.password=[redacted] Main"),
        ("curl 'https://x/y?api_key=abc&n=1'", "curl 'https://x/y?api_key=[redacted]&n=1'"),
        ("sh -c 'TOKEN=abc'; rm -rf 'x'", "sh -c 'TOKEN=[redacted]'; rm -rf 'x'"),
        ("TOKEN=$'a\\'b' x", "TOKEN=[redacted] x"),
        ("A_KEY=1 B_SECRET=2 C=3", "A_KEY=[redacted] B_SECRET=[redacted] C=3"),
        ("mysql -u root -phunter2 db", "mysql -u root -p[redacted] db"),
        ("mysqldump -p'hunter two' db", "mysqldump -p[redacted] db"),
        ("sshpass -p hunter2 ssh host", "sshpass -p [redacted] ssh host"),
        ("redis-cli -h x -a hunter2 ping", "redis-cli -h x -a [redacted] ping"),
        ("docker login -u ada -p hunter2 host", "docker login -u ada -p [redacted] host"),
        ("curl -u ada:hunter2 https://x", "curl -u ada:[redacted] https://x"),
        ("curl --user='ada:hunter2' https://x", "curl --user='ada:[redacted]' https://x"),
        ("openssl rsa -passin pass:hunter2 -in k", "openssl rsa -passin pass:[redacted] -in k"),
        ("echo ghp_abcdefghijklmnopqrstuvwxyz0123456789", "echo [redacted]"),
        ("echo github_pat_11ABCDEFG0123456789_abc", "echo [redacted]"),
        ("echo sk-proj-abcdefghijklmnop", "echo [redacted]"),
        ("echo xoxb-1234567890-abc", "echo [redacted]"),
        ("echo AKIAIOSFODNN7EXAMPLE", "echo [redacted]"),
        ("echo glpat-abcdefghij0123456789", "echo [redacted]"),
        ("echo eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", "echo [redacted]"),
        (
            "echo '-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA0\nab==\n-----END RSA PRIVATE KEY-----' > k",
            "echo '[redacted]' > k",
        ),
    ];

    #[test]
    fn secrets_written_in_the_usual_ways_are_taken_out_and_the_rest_stays() {
        for (given, left) in CASES {
            assert_eq!(redact_command(given), *left, "{given}");
            assert_eq!(redact_command(left), *left, "redacting again changes nothing");
        }
    }

    #[test]
    fn what_is_no_secret_stays() {
        for text in [
            "ls -la /tmp",
            "docker login --password-stdin host",
            "docker run -u 1000:1000 img",
            "mysql -p db",
            "ssh -p 2222 host",
            "mkdir -p a/b",
            "git push origin main:main",
            "git clone ssh://git@example.com/x",
            "curl http://localhost:8080/a@b",
            "sort --key=2 file",
            "make --bypass x",
            "unexpected token: fi",
            "tool --token --verbose",
            "tool --token-file path",
            "PWD=/home/ada ls",
            "echo '-----BEGIN CERTIFICATE-----'",
            "task-runner skip-this-long-name-here",
            "grüße aus köln",
        ] {
            assert!(
                matches!(redact_command(text), Cow::Borrowed(same) if same == text),
                "{}",
                redact_command(text)
            );
        }
    }

    #[test]
    fn what_the_shell_would_run_is_never_taken_for_a_value() {
        for (text, stays) in [
            ("TOKEN=$(rm -rf /)", "$(rm -rf /)"),
            ("TOKEN=\"$(rm -rf /)\" ls", "$(rm -rf /)"),
            ("TOKEN=abc`rm -rf /`", "`rm -rf /`"),
            ("TOKEN=\"abc`rm -rf /`\"", "`rm -rf /`"),
            ("tool --password $(rm -rf /)", "$(rm -rf /)"),
            ("tool --password abc;rm -rf /", ";rm -rf /"),
            ("tool --password abc&&rm -rf /", "&&rm -rf /"),
            ("tool --password abc\nrm -rf /", "\nrm -rf /"),
            ("tool --password\nrm -rf /", "\nrm -rf /"),
            ("echo Authorization: x; rm -rf /", "; rm -rf /"),
            ("echo Authorization: x $(rm -rf /)", "$(rm -rf /)"),
            ("echo -----BEGIN PRIVATE KEY-----; rm -rf /", "; rm -rf /"),
            ("mysql -pabc; rm -rf /", "; rm -rf /"),
            ("curl https://a:$(reboot)@x", "$(reboot)"),
            ("curl https://a:b;reboot;@x", ";reboot;"),
            ("curl -u a:b|rm -rf /", "|rm -rf /"),
        ] {
            assert!(redact_command(text).contains(stays), "{text}: {}", redact_command(text));
        }
    }

    #[test]
    fn names_look_secret_or_do_not() {
        for name in [
            "API_KEY",
            "aws_secret_access_key",
            "GITHUB_TOKEN",
            "PGPASSWORD",
            "DB_PASS",
            "GOOGLE_CREDENTIALS",
            "MYSQL_PWD",
        ] {
            assert!(looks_secret(name), "{name}");
        }
        for name in ["PATH", "HOME", "PWD", "LANG", "COMPASS", "AUTHOR"] {
            assert!(!looks_secret(name), "{name}");
        }
    }

    proptest! {
        #[test]
        fn any_plain_word_given_as_a_password_is_taken_out(secret in "[A-Za-z0-9_.,:+/=%^!*-]{8,40}") {
            for text in [
                format!("tool --password={secret} x"),
                format!("tool --token '{secret}' x"),
                format!("API_TOKEN={secret} x"),
                format!("curl -H 'Authorization: Bearer {secret}' x"),
            ] {
                prop_assert!(!redact_command(&text).contains(&secret), "{}", redact_command(&text));
            }
        }
    }
}
