//! What commands write to caches below the home goes to a layer of their workspace's own.

mod gc;
mod hostile;
mod layers;
mod tools;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use runward_testkit::mcp::{Client, Era, StdioClient};
use runward_testkit::skipped;
use serde_json::{Value, json};
use tempfile::TempDir;

const NOBODY: u32 = 65534;

/// Who runs the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum User {
    /// Whoever runs the tests.
    Own,
    /// An ordinary user.
    Nobody,
}

impl User {
    /// All that this test can be.
    fn all() -> Vec<User> {
        if rustix::process::geteuid().is_root() {
            return vec![User::Own, User::Nobody];
        }
        skipped("only root can become another user");
        vec![User::Own]
    }
}

/// A home, and two workspaces beside it.
struct Place {
    directory: TempDir,
    user: User,
    path: String,
}

impl Place {
    fn new(user: User) -> Self {
        let directory = runward_testkit::seen_by_the_confined(env!("CARGO_TARGET_TMPDIR"));
        let directory = tempfile::tempdir_in(directory).unwrap();
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let place = Place { directory, user, path: "/usr/bin:/bin".into() };
        for name in ["", "home", "home/.cargo/registry", "work", "other"] {
            place.make(name);
        }
        place.write("home/.cargo/registry/known", "the user's own");
        place.write("home/.bashrc", "# the user's own");
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Makes a directory that belongs to the user, as what leads there.
    fn make(&self, name: &str) {
        fs::create_dir_all(self.at(name)).unwrap();
        for lead in Path::new(name).ancestors() {
            self.give(&self.directory.path().join(lead));
        }
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.at(name), text).unwrap();
        self.give(&self.at(name));
    }

    fn give(&self, path: &Path) {
        if self.user == User::Nobody {
            chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
    }

    #[expect(clippy::disallowed_methods, reason = "a test starts the program under test")]
    fn program(&self, words: &[&str]) -> Command {
        let program = env!("CARGO_BIN_EXE_runward");
        let mut command = match self.user {
            User::Own => Command::new(program),
            User::Nobody => {
                let mut command = Command::new("setpriv");
                command.args(["--reuid=65534", "--regid=65534", "--clear-groups", program]);
                command
            }
        };
        command
            .args(words)
            .env_clear()
            .env("PATH", &self.path)
            .env("HOME", self.at("home"))
            .env("ALLOWED_COMMANDS", "*")
            .env("GIT_CEILING_DIRECTORIES", self.directory.path())
            .current_dir(self.at("work"))
            .stderr(Stdio::null());
        command
    }

    /// A server's client, unless this host has no sandbox in which there are caches.
    fn client(&self) -> Option<StdioClient> {
        self.client_in("work", &[])
    }

    fn client_in(&self, workspace: &str, variables: &[(&str, &str)]) -> Option<StdioClient> {
        let mut command = self.program(&["stdio"]);
        command.current_dir(self.at(workspace)).envs(variables.iter().copied());
        let mut client = StdioClient::start(command, Era::Modern);
        if shell(&mut client, "true").ok() {
            return Some(client);
        }
        skipped("this host cannot keep what the sandbox promises");
        None
    }

    fn runward(&self, words: &[&str]) -> String {
        let output = self.program(words).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Everything in the home but the program's own state: what it is, and what is in it.
    fn home(&self) -> BTreeMap<PathBuf, String> {
        let mut found = BTreeMap::new();
        let mut waiting = vec![self.at("home")];
        while let Some(path) = waiting.pop() {
            let is = path.symlink_metadata().unwrap();
            let mut told = format!("{:o} {} {:?}", is.mode(), is.uid(), is.modified().unwrap());
            // What leads to the state is made, and nothing else.
            if self.at("home/.local").starts_with(&path) || path == self.at("home") {
                told.clear();
            }
            if is.is_dir() {
                let inside = fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path());
                waiting.extend(inside.filter(|inside| !inside.ends_with(".local/state")));
            } else {
                told += &fs::read_to_string(&path).unwrap_or_default();
            }
            found.insert(path, told);
        }
        found.remove(&self.at("home/.local"));
        found
    }
}

/// What came of a line.
#[derive(Debug)]
struct Said(Value);

impl Said {
    fn ok(&self) -> bool {
        self.0["isError"] == false
    }

    fn text(&self) -> String {
        let parts = self.0["content"].as_array().cloned().unwrap_or_default();
        parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n")
    }
}

fn shell(client: &mut StdioClient, line: &str) -> Said {
    Said(client.call("shell", json!({ "command": line, "timeout": 120 }))["result"].clone())
}

/// Runs a line that has to succeed.
#[track_caller]
fn done(client: &mut StdioClient, line: &str) -> String {
    let said = shell(client, line);
    assert!(said.ok(), "{line}: {said:#?}");
    said.text()
}
