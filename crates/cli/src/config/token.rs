//! `[[token]]`: who may call over HTTP, by the hash of what they show, and what they may do.

use runward_server::Role;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

/// How tokens are written, for whoever writes something else.
pub(super) const HOW: &str = "write [[token]] on a line of its own; `runward token NAME` makes one, and prints what to write here: name, hash and roles";

const MADE: &str = "`runward token NAME` makes one, and prints what to write here: name, hash and roles";

/// Names that principals have who hold no such token.
const TAKEN: [&str; 3] = ["local", "token", "user"];

/// The longest name.
const LONGEST: usize = 64;

/// A token that the operator gave a name. Several with one name are one principal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) name: String,
    /// The SHA-256 of the token.
    pub(crate) hash: [u8; 32],
    pub(crate) roles: Vec<Role>,
}

/// A token as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default, deserialize_with = "name")]
    name: Option<String>,
    #[serde(default, deserialize_with = "hash")]
    hash: Option<[u8; 32]>,
    #[serde(default, deserialize_with = "roles")]
    roles: Option<Vec<Role>>,
}

impl<'de> Deserialize<'de> for Token {
    fn deserialize<D: Deserializer<'de>>(table: D) -> Result<Self, D::Error> {
        let Written { name, hash, roles } = Written::deserialize(table)?;
        let missing = |key: &str| D::Error::custom(format!("a token needs {key}; {MADE}"));
        Ok(Token {
            name: name.ok_or_else(|| missing("name"))?,
            hash: hash.ok_or_else(|| missing("hash"))?,
            roles: roles.ok_or_else(|| missing("roles"))?,
        })
    }
}

fn name<'de, D: Deserializer<'de>>(value: D) -> Result<Option<String>, D::Error> {
    checked_name(&String::deserialize(value)?).map(Some).map_err(D::Error::custom)
}

fn hash<'de, D: Deserializer<'de>>(value: D) -> Result<Option<[u8; 32]>, D::Error> {
    let expected = || D::Error::custom(format!("expected \"sha256:\" and 64 hexadecimal digits; {MADE}"));
    hash_from(&String::deserialize(value).unwrap_or_default()).map(Some).ok_or_else(expected)
}

fn roles<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Vec<Role>>, D::Error> {
    let words = Vec::<String>::deserialize(value);
    let words = words.map_err(|_| D::Error::custom("expected a list of roles, such as [\"run\"]"))?;
    roles_of(words.iter().map(String::as_str)).map(Some).map_err(D::Error::custom)
}

/// A name as records show it, or what is wrong with it.
pub(crate) fn checked_name(name: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.@".contains(c);
    if name.is_empty() || name.len() > LONGEST || !name.chars().all(is_plain) {
        return Err(format!("{name:?} is no name: write 1 to {LONGEST} letters, digits and any of - _ . @"));
    }
    if TAKEN.contains(&name) {
        return Err(format!("{name:?} is what records call somebody else; choose another name"));
    }
    Ok(name.to_owned())
}

/// Roles by their names, or what is wrong with them.
pub(crate) fn roles_of<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Vec<Role>, String> {
    let known = || Role::ALL.map(Role::name).join(", ");
    let role =
        |name| Role::named(name).ok_or_else(|| format!("there is no role {name:?}; there are {}", known()));
    let roles = names.into_iter().map(role).collect::<Result<Vec<_>, _>>()?;
    if roles.is_empty() {
        Err(format!("a token needs a role: one or more of {}", known()))
    } else {
        Ok(roles)
    }
}

fn hash_from(text: &str) -> Option<[u8; 32]> {
    let digits = text.strip_prefix("sha256:")?.as_bytes();
    let (pairs, rest) = digits.as_chunks::<2>();
    let byte = |pair: &[u8; 2]| {
        let [high, low] = pair.map(|digit| char::from(digit).to_digit(16));
        u8::try_from(high? * 16 + low?).ok()
    };
    let bytes: Vec<u8> = pairs.iter().map(byte).collect::<Option<_>>()?;
    rest.is_empty().then_some(bytes)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::Config;
    use super::super::settings::Settings;
    use super::*;

    fn with(text: &str) -> Result<Vec<Token>, String> {
        let mut settings = Settings::defaults().unwrap();
        settings.apply_file(Path::new("x.toml"), text).map_err(|error| error.to_string())?;
        Config::read(&settings).map(|config| config.tokens).map_err(|error| error.to_string())
    }

    #[test]
    fn a_token_is_read_with_its_name_hash_and_roles() {
        let text = format!(
            "[[token]]\nname = \"ci\"\nhash = \"sha256:{}\"\nroles = [\"run\", \"read\"]",
            "0a".repeat(32)
        );
        let roles = vec![Role::Run, Role::Read];
        assert_eq!(with(&text), Ok(vec![Token { name: "ci".into(), hash: [10; 32], roles }]));
        assert_eq!(with(""), Ok(vec![]));
    }

    #[test]
    fn what_is_wrong_with_a_token_is_said_with_its_place() {
        let hash = format!("hash = \"sha256:{}\"", "0a".repeat(32));
        for (lines, place, what) in [
            (format!("{hash}\nroles = [\"run\"]"), "x.toml:1: token:", "needs name"),
            (format!("name = \"token\"\n{hash}"), "x.toml:2: token.name:", "somebody else"),
            (format!("name = \"a b\"\n{hash}"), "x.toml:2: token.name:", "no name"),
            ("name = \"a\"\nhash = \"0a\"".into(), "x.toml:3: token.hash:", "64 hexadecimal digits"),
            (format!("name = \"a\"\n{hash}\nroles = []"), "x.toml:4: token.roles:", "needs a role"),
            (
                format!("name = \"a\"\n{hash}\nroles = [\"root\"]"),
                "x.toml:4: token.roles:",
                "there are run, read, answer",
            ),
            (format!("name = \"a\"\n{hash}\nrole = \"run\""), "x.toml:4: token.role:", "no such key"),
        ] {
            let error = with(&format!("[[token]]\n{lines}\n")).unwrap_err();
            assert!(error.starts_with(place) && error.contains(what), "{error}");
        }
    }
}
