//! When a service is ready: what a caller may wait for, and what it is told of that.

use std::path::PathBuf;
use std::time::Duration;

use runward_engine::{Met, Pattern, Ready};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::arguments::BadArgument;
use crate::clean::clean;

/// With what a path is to be answered when nothing else is said.
const OK: u16 = 200;

/// All of what is named has to hold.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "an object with port, path (and status), text or file")]
pub(super) struct ReadyArguments {
    #[schemars(range(min = 1, max = 65535))]
    port: Option<u16>,
    #[schemars(length(min = 1))]
    path: Option<String>,
    #[schemars(range(min = 100, max = 599))]
    status: Option<u16>,
    #[schemars(length(min = 1))]
    text: Option<String>,
    #[schemars(length(min = 1))]
    file: Option<PathBuf>,
}

impl ReadyArguments {
    /// What has to hold.
    pub(super) fn conditions(self) -> Result<Vec<Ready>, BadArgument> {
        let wrong = |what: &str| BadArgument::Contradiction(format!("ready {what}"));
        let port = match (self.port, self.path) {
            (Some(port), Some(path)) if is_plain(&path) => {
                Some(Ready::Http { port, path, status: self.status.unwrap_or(OK) })
            }
            (_, Some(path)) if !is_plain(&path) => {
                return Err(wrong("takes a path such as /health?full=1: it begins with / and has no blanks"));
            }
            (None, Some(_)) => {
                return Err(wrong("needs a port beside path, such as {\"port\":8000,\"path\":\"/\"}"));
            }
            (_, None) if self.status.is_some() => {
                return Err(wrong(
                    "needs port and path beside status, such as {\"port\":8000,\"path\":\"/\",\"status\":204}",
                ));
            }
            (port, _) => port.map(Ready::Port),
        };
        let text = self.text.map(|text| Pattern::parse(&text, clean)).transpose();
        let text = text.map_err(|error| wrong(&format!("has a text that is no pattern: {error}")))?;
        let all = [port, text.map(Ready::Text), self.file.map(Ready::File)];
        let all: Vec<Ready> = all.into_iter().flatten().collect();
        if all.is_empty() {
            return Err(wrong("names nothing to wait for; give it a port, a text or a file"));
        }
        Ok(all)
    }
}

/// Whether a path can stand in the first line of a request as it is.
fn is_plain(path: &str) -> bool {
    path.starts_with('/') && path.bytes().all(|byte| byte.is_ascii_graphic())
}

/// What a caller is told that waited for something to be ready.
pub(crate) fn readiness(conditions: &[Ready], met: Met, waited: Duration) -> Option<String> {
    let all: Vec<String> = conditions.iter().map(ToString::to_string).collect();
    let all = all.join(", and ");
    (!conditions.is_empty()).then(|| match met {
        Met::Ready => format!("ready: {all}"),
        Met::End => format!("not ready: all of it has ended before it could be said that {all}"),
        Met::Print | Met::Time => format!(
            "not ready after {:.1} s: it cannot be said that {all}; it goes on, so look again with write_stdin",
            waited.as_secs_f64()
        ),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn conditions(given: Value) -> Result<String, String> {
        let given: ReadyArguments = serde_json::from_value(given).map_err(|error| error.to_string())?;
        let conditions = given.conditions().map_err(|wrong| wrong.to_string())?;
        Ok(readiness(&conditions, Met::Ready, Duration::ZERO).unwrap_or_default())
    }

    #[test]
    fn all_that_is_named_has_to_hold() {
        let all = json!({ "port": 80, "path": "/a", "status": 204, "text": "up", "file": "pid" });
        let said = "ready: /a on port 80 answers with 204, and the text was printed, and pid is there";
        assert_eq!(conditions(all).unwrap(), said);
        assert_eq!(conditions(json!({ "port": 80 })).unwrap(), "ready: it listens on port 80");
    }

    #[test]
    fn what_cannot_be_waited_for_is_said_with_what_to_write_instead() {
        for (given, said) in [
            (json!({}), "names nothing"),
            (json!({ "path": "/" }), "needs a port"),
            (json!({ "port": 1, "path": "http://x" }), "begins with /"),
            (json!({ "port": 1, "path": "/ HTTP/1.1\r\nX: y" }), "no blanks"),
            (json!({ "port": 1, "status": 200 }), "needs port and path"),
            (json!({ "text": "/(/" }), "no pattern"),
        ] {
            let wrong = conditions(given).unwrap_err();
            assert!(wrong.contains(said), "{wrong}");
        }
    }
}
