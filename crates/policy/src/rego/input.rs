//! What the rules are told of a command.

use std::path::Path;

use regorus::Value;
use serde_json::{Map, json};

use crate::judge::Asker;

/// More than any command line that the system would start.
const MOST_BYTES: usize = 4 << 20;

/// One command, as the rules see it.
#[derive(Clone, Debug)]
pub(crate) struct Input<'a> {
    /// As it was asked for.
    pub(crate) command: &'a str,
    pub(crate) args: Vec<&'a str>,
    /// The file, if it is one.
    pub(crate) path: Option<&'a Path>,
    /// Of that file.
    pub(crate) hash: Option<&'a str>,
    /// Whether the file that was hashed is executed itself, and not looked up again by a shell or a wrapper.
    pub(crate) direct: bool,
    /// Where, if that is known.
    pub(crate) cwd: Option<&'a Path>,
    pub(crate) asker: &'a Asker<'a>,
    /// Variables that are set on the way to this command; their values are not known.
    pub(crate) variables: Vec<&'a str>,
    /// Every command of the script around it.
    pub(crate) shell: &'a [Vec<String>],
}

impl Input<'_> {
    /// As a document.
    pub(super) fn value(&self) -> Result<Value, String> {
        let bytes: usize = self.args.iter().map(|arg| arg.len()).sum();
        let script: usize = self.shell.iter().flatten().map(String::len).sum();
        if bytes + script > MOST_BYTES {
            return Err(format!("more than {MOST_BYTES} bytes of words are not judged"));
        }
        Ok(Value::from(self.document()?))
    }

    pub(super) fn document(&self) -> Result<serde_json::Value, String> {
        let path = |path: Option<&Path>| match path.map(Path::to_str) {
            Some(None) => Err("a path that is not UTF-8 cannot be judged".to_owned()),
            known => Ok(known.flatten().map(str::to_owned)),
        };
        let given = self.asker.env.iter().map(|(name, value)| (name.clone(), json!(value)));
        let set = self.variables.iter().map(|name| ((*name).to_owned(), serde_json::Value::Null));
        let env: Map<_, _> = given.chain(set).collect();
        Ok(json!({
            "command": self.command,
            "path": path(self.path)?,
            "hash": self.hash,
            "args": self.args,
            "env": env,
            "cwd": path(self.cwd)?,
            "door": self.asker.door,
            "client": self.asker.client,
            "shell": self.shell,
            "tty": self.asker.tty,
            "direct": self.direct,
        }))
    }
}
