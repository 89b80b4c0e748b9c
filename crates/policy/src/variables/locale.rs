//! Variables that choose a language and a character set.

/// Whether this variable chooses them.
fn is_locale(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    upper.starts_with("LC_") || matches!(upper.as_str(), "LANG" | "LANGUAGE")
}

/// Whether a variable may have this value as far as languages go; a value that is not known may be anything. Bash reads
/// a script, and others read their input, in the character set that these name, in which the last byte of a letter can
/// swallow a backslash; so only sets that read ASCII as it is written.
pub fn is_tame(name: &str, value: Option<&str>) -> bool {
    if !is_locale(name) {
        return true;
    }
    let Some(value) = value else { return false };
    let plain = |part: &str| part.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.@-".contains(&b));
    let tame = |part: &str| {
        let lower = part.to_ascii_lowercase();
        matches!(part, "" | "C" | "POSIX")
            || plain(part) && [".utf-8", ".utf8"].iter().any(|set| lower.ends_with(set))
    };
    // A list of languages in which messages are wanted, which names no character set.
    let language = |part: &str| plain(part) && !part.contains('.');
    if name.eq_ignore_ascii_case("LANGUAGE") {
        value.split(':').all(|part| tame(part) || language(part))
    } else {
        tame(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_character_sets_that_read_ascii_as_it_is_written_are_tame() {
        for (name, value) in [
            ("LC_ALL", "C"),
            ("LC_ALL", "POSIX"),
            ("LANG", "de_DE.UTF-8"),
            ("LC_CTYPE", "C.utf8"),
            ("LANG", ""),
            ("LANGUAGE", "de:en_GB:en"),
            ("LANGUAGE", "en_US.UTF-8"),
            ("GREETING", "zh_CN.gbk"),
        ] {
            assert!(is_tame(name, Some(value)), "{name}={value}");
        }
        for (name, value) in [
            ("LC_ALL", "zh_CN.gbk"),
            ("LC_ALL", "zh_CN.gb18030"),
            ("LC_CTYPE", "zh_TW.big5"),
            ("LANG", "ja_JP.SJIS"),
            ("LANG", "zh_CN"),
            ("lc_all", "zh_CN.gbk"),
            ("LC_ALL", "../x.UTF-8"),
            ("LC_ALL", "/tmp/x.UTF-8"),
            ("LANGUAGE", "../../x"),
            ("LANGUAGE", "zh.gbk"),
            ("LC_ALL", "x.UTF-8.gbk"),
            ("LC_ALL", "a b\nc"),
        ] {
            assert!(!is_tame(name, Some(value)), "{name}={value}");
        }
        assert!(!is_tame("LC_ALL", None) && is_tame("GREETING", None));
    }
}
