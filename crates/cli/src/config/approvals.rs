//! The section `[approvals]`, and the file of rules that people made by their answers.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use runward_files::private::{self, Others};
use serde::Deserialize;

use super::error::Error;
use super::fields::readers;
use super::origin::Origin;
use super::rule::{Granted, granted};
use crate::state::State;

readers! {
    waiting: Duration = duration(Duration::from_secs(1)..=Duration::from_hours(24));
    path: Option<PathBuf> = path();
}

/// How people are asked.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Approvals {
    #[serde(deserialize_with = "waiting")]
    pub(crate) timeout: Duration,
    /// Whether `runward approvals` may answer.
    pub(crate) local: bool,
    /// How long it may take until somebody looks.
    #[serde(deserialize_with = "waiting")]
    pub(crate) notice: Duration,
    /// Whether people are offered to allow first words for good.
    pub(crate) request_rule: bool,
    /// `None` is the usual place.
    #[serde(deserialize_with = "path")]
    pub(crate) rules_file: Option<PathBuf>,
    /// `None` is the usual place.
    #[serde(deserialize_with = "path")]
    pub(crate) directory: Option<PathBuf>,
}

/// The file of rules that people made by their answers; none where there is nowhere to keep it.
pub(crate) fn rules_file(approvals: &Approvals) -> Option<PathBuf> {
    approvals.rules_file.clone().or_else(|| match State::of_this_user() {
        State::Lasting(directory) => Some(directory.join("approved.toml")),
        State::Temporary(_) => None,
    })
}

/// The rules that people made by their answers; none where there is no such file. A file that somebody else could have
/// written grants nothing, and is an error.
pub(crate) fn rules_of(file: &Path) -> Result<Granted, Error> {
    match read(file) {
        Ok(None) => Ok(Granted::default()),
        Ok(Some(text)) => granted(file, &text),
        Err(error) => {
            let origin = Origin::File { path: file.into(), line: 1, key: "rule".into() };
            Err(Error::setting(&origin, format!("the file of approved rules cannot be used: {error}")))
        }
    }
}

fn read(file: &Path) -> io::Result<Option<String>> {
    let mut opened = match File::open(file) {
        Ok(opened) => opened,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let found = opened.metadata()?;
    // Root's own file is as good as this user's.
    let owner = if found.uid() == 0 { 0 } else { private::user() };
    if !private::belongs_to(&found, owner, Others::Read) {
        let what = "others may write to it; make it your own (chmod go-w)";
        return Err(io::Error::new(ErrorKind::PermissionDenied, what));
    }
    let mut text = String::new();
    opened.read_to_string(&mut text)?;
    Ok(Some(text))
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use runward_model::ApprovalPolicy;

    use super::*;
    use crate::config::Config;
    use crate::config::settings::Settings;

    fn with(text: &str) -> Result<Config, String> {
        let mut settings = Settings::defaults().unwrap();
        settings.apply_file(Path::new("x.toml"), text).map_err(|error| error.to_string())?;
        Config::read(&settings).map_err(|error| error.to_string())
    }

    #[test]
    fn people_are_asked_on_request_unless_somebody_says_otherwise() {
        let usual = with("").unwrap();
        let approvals = usual.approvals;
        assert_eq!(
            (usual.approval_policy, approvals.local, approvals.request_rule),
            (ApprovalPolicy::OnRequest, true, false)
        );
        assert_eq!(with("approval_policy = 'untrusted'").unwrap().approval_policy, ApprovalPolicy::Untrusted);
        let message = "x.toml:1: approval_policy: \"always\" is not one of never, on-request, untrusted";
        assert_eq!(with("approval_policy = 'always'").unwrap_err(), message);
    }

    #[test]
    fn a_rule_that_people_made_can_be_tied_to_files() {
        let tied = "[[rule]]\npattern = ['./x']\ndecision = 'allow'\nunchanged = { '/w/x' = 'abc' }\n";
        let (_directory, path) = file(tied);
        let granted = rules_of(&path).unwrap();
        assert_eq!(granted.rules[0].tied(), [(PathBuf::from("/w/x"), "abc".to_owned())]);
        for (odd, why) in [
            ("{ 'x' = 'abc' }", "expected absolute paths"),
            ("{}", "expected absolute paths"),
            ("'x'", "expected absolute paths"),
        ] {
            let (_directory, path) = file(&tied.replace("{ '/w/x' = 'abc' }", odd));
            let error = rules_of(&path).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
        let (_directory, path) = file(&tied.replace("allow", "deny"));
        assert!(rules_of(&path).unwrap_err().to_string().contains("only a rule that allows can be tied"));
    }

    fn file(text: &str) -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("rules.toml");
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
        (directory, file)
    }

    #[test]
    fn rules_that_people_made_are_read_with_those_that_escalate() {
        let rule = "[[rule]]\npattern = [\"git\", \"log\"]\ndecision = \"allow\"\n";
        let (_directory, path) = file(&format!("{rule}\n{rule}escalated = true\n"));
        let found = rules_of(&path).unwrap();
        assert_eq!((found.rules.len(), found.escalated.len()), (2, 1));
        assert_eq!(rules_of(Path::new("/no/such/file")).unwrap().rules.len(), 0);
    }

    #[test]
    fn a_file_that_is_broken_or_open_to_others_is_an_error_that_names_it() {
        for (text, message) in [
            ("[[rule]]\npattern = ['x']\n", ":1: rule: a rule needs decision"),
            ("[[rule]\n", ":1: "),
            ("tools = []\n", ":1: tools: only [[rule]] may stand in this file"),
            (
                "[[rule]]\npattern = ['x']\ndecision = 'allow'\nescalated = 1\n",
                ":4: rule.escalated: expected true or false",
            ),
            (
                "[[rule]]\npattern = ['x']\ndecision = 'deny'\nescalated = true\n",
                ":4: rule.escalated: only a rule that allows",
            ),
        ] {
            let (_directory, path) = file(text);
            let found = rules_of(&path).unwrap_err().to_string();
            assert!(found.starts_with(&format!("{}{message}", path.display())), "{found}");
        }
        let (_directory, path) = file("");
        fs::set_permissions(&path, Permissions::from_mode(0o620)).unwrap();
        assert!(rules_of(&path).unwrap_err().to_string().contains("others may write to it"));
    }
}
