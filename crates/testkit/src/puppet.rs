//! Where the puppet is.

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

/// The path of `puppet`, a child that does as it is told (and a runner, when called by that name). Built when first
/// asked for, so that a test of any one crate finds it.
#[expect(clippy::disallowed_methods, reason = "asks cargo for the puppet")]
pub fn puppet() -> PathBuf {
    static PUPPET: OnceLock<PathBuf> = OnceLock::new();
    let build = || {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let arguments =
            ["build", "--quiet", "--message-format=json", "-p", "runward-testkit", "--bin", "puppet"];
        let built = Command::new(cargo).args(arguments).output().expect("cargo runs");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        let messages = String::from_utf8_lossy(&built.stdout).into_owned();
        let executable = |line: &str| {
            let message: serde_json::Value = serde_json::from_str(line).ok()?;
            message.get("executable")?.as_str().map(PathBuf::from)
        };
        messages.lines().find_map(executable).expect("cargo names the puppet")
    };
    PUPPET.get_or_init(build).clone()
}
