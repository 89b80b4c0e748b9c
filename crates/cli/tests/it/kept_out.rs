//! What confined commands are kept from without anybody having said so: secrets, services that come later, devices, and on
//! hosts without namespaces whatever can be kept there.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use runward_testkit::mcp::{Client, Era, StdioClient};
use runward_testkit::{eventually, skipped};
use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::Program;

const NOBODY: u32 = 65534;

/// A home with a workspace in it, where nothing is set but what may run.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let directory = runward_testkit::seen_by_the_confined(env!("CARGO_TARGET_TMPDIR"));
        let place = Place(tempfile::tempdir_in(directory).unwrap());
        fs::create_dir(place.path("work")).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(name)
    }

    fn program(&self) -> Program {
        Program::new(&["stdio"])
            .env("ALLOWED_COMMANDS", "*")
            .env("HOME", self.path(""))
            .env("XDG_STATE_HOME", self.path("state"))
            .env("RUNWARD_SANDBOX_WRITABLE_ROOTS", "/nowhere/at/all")
    }

    /// A client of the program, begun in the workspace after a shell has done this first.
    fn after(&self, program: Program, first: &str) -> StdioClient {
        let program = program.after(first).current_dir(&self.path("work"));
        StdioClient::start(program.into_command(), Era::Modern)
    }

    fn client(&self) -> StdioClient {
        self.after(self.program(), "true")
    }
}

fn shell(client: &mut StdioClient, line: &str) -> Value {
    client.call("shell", json!({ "command": line }))["result"].take()
}

fn is_enclosed(client: &mut StdioClient) -> bool {
    let tier = shell(client, "true")["structuredContent"]["policy"]["sandbox"]["tier"].take();
    if tier != "full" {
        skipped(&format!("this host offers {tier}"));
    }
    tier == "full"
}

#[test]
fn what_only_root_can_read_is_not_read_by_a_command_of_root() {
    let secrets = ["/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/ssh/ssh_host_ed25519_key"];
    let secrets: Vec<&str> = secrets.into_iter().filter(|path| Path::new(path).exists()).collect();
    let place = Place::new();
    fs::write(place.path("work/own"), "mine\n").unwrap();
    fs::set_permissions(place.path("work/own"), PermissionsExt::from_mode(0o600)).unwrap();
    let mut client = place.client();
    if !is_enclosed(&mut client) {
        return;
    }
    for path in secrets {
        let result = shell(&mut client, &format!("cat {path}"));
        assert_eq!(result["isError"], true, "{path}: {result:#}");
        assert!(result.to_string().contains("Permission denied"), "{path}: {result:#}");
    }
    let own = shell(&mut client, "cat own; cat /etc/passwd > /dev/null && echo open");
    assert_eq!(own["structuredContent"]["stdout"], "mine\nopen\n", "{own:#}");
}

#[test]
fn tokens_and_histories_are_not_read_and_tools_that_look_for_them_work() {
    let place = Place::new();
    for name in [".git-credentials", ".npmrc", ".pgpass", ".bash_history"] {
        fs::write(place.path(name), "a-token\n").unwrap();
    }
    fs::create_dir(place.path(".kube")).unwrap();
    fs::write(place.path(".kube/config"), "a-token\n").unwrap();
    let mut client = place.client();
    if !is_enclosed(&mut client) {
        return;
    }
    let line = "cat ~/.git-credentials ~/.npmrc ~/.pgpass ~/.bash_history ~/.kube/config; cat ~/.npmrc && echo readable";
    let result = shell(&mut client, line);
    assert!(!result.to_string().contains("a-token"), "{result:#}");
    assert_eq!(result["structuredContent"]["stdout"], "readable\n", "{result:#}");
    // One that comes later is hidden from the next command.
    fs::write(place.path(".netrc"), "a-token\n").unwrap();
    let later = shell(&mut client, "cat ~/.netrc");
    assert!(later["isError"] == true && !later.to_string().contains("a-token"), "{later:#}");
    if Path::new("/usr/bin/npm").exists() {
        let npm = shell(&mut client, "npm config get registry");
        assert_eq!(npm["isError"], false, "{npm:#}");
    }
}

/// A line of bash cannot connect to a socket in the file system; Python can.
fn connecting(socket: &Path) -> String {
    let socket = socket.display();
    format!(
        "/usr/bin/python3 -c \"import socket; socket.socket(socket.AF_UNIX).connect('{socket}'); print('connected')\""
    )
}

#[test]
fn a_service_that_begins_to_listen_later_is_out_of_reach_for_the_next_command_and_for_one_that_runs() {
    if !Path::new("/usr/bin/python3").exists() {
        return skipped("there is no Python here to connect with");
    }
    let place = Place::new();
    let mut client = place.client();
    if !is_enclosed(&mut client) {
        return;
    }
    let socket = place.path("service");
    let first = UnixListener::bind(&socket).unwrap();
    let refused = shell(&mut client, &connecting(&socket));
    assert_eq!(refused["isError"], true, "{refused:#}");
    // A service that is restarted listens at another socket of the same name.
    drop(first);
    fs::remove_file(&socket).unwrap();
    let _second = UnixListener::bind(&socket).unwrap();
    let refused = shell(&mut client, &connecting(&socket));
    assert_eq!(refused["isError"], true, "{refused:#}");
    // One that runs sees the new socket for a moment, then what covers it.
    let elsewhere = Place::new();
    let later = elsewhere.path("later");
    let line = format!(
        "touch begun; until [ -S {0} ]; do :; done; while [ -S {0} ]; do sleep 0.1; done; {1}",
        later.display(),
        connecting(&later)
    );
    let params = json!({ "name": "shell", "arguments": { "command": line } });
    let call = client.begin("tools/call", params);
    eventually("the command runs", || place.path("work/begun").exists());
    let _third = UnixListener::bind(&later).unwrap();
    let refused = client.messages(call).pop().unwrap()["result"].take();
    assert_eq!(refused["isError"], true, "{refused:#}");
    // Its own sockets are its own, with the network of the host too.
    let own = "import socket, time; s = socket.socket(socket.AF_UNIX); s.bind('own'); s.listen(); time.sleep(2); socket.socket(socket.AF_UNIX).connect('own'); print('connected')";
    for name in ["own", "/tmp/own"] {
        let own = own.replace("'own'", &format!("'{name}'"));
        let arguments = json!({ "executable": "/usr/bin/python3", "args": ["-c", own] });
        let result = client.call("run_network_tool", arguments)["result"].take();
        assert_eq!(result["structuredContent"]["stdout"], "connected\n", "{name}: {result:#}");
    }
}

#[test]
fn a_device_file_outside_dev_is_no_device() {
    let place = Place::new();
    // The devices that are always empty, and always full.
    for (name, minor) in [("null", 3), ("zero", 5)] {
        for path in [format!("work/{name}"), name.to_owned()] {
            let device = makedev(1, minor);
            let mode = Mode::from_raw_mode(0o666);
            if mknodat(CWD, place.path(&path), FileType::CharacterDevice, mode, device).is_err() {
                return skipped("only root can make a device file");
            }
        }
    }
    let mut client = place.client();
    if !is_enclosed(&mut client) {
        return;
    }
    for line in ["head -c 1 zero", "head -c 1 ../zero", "echo x > null", "echo x > ../null"] {
        let result = shell(&mut client, line);
        assert_eq!(result["isError"], true, "{line}: {result:#}");
        assert!(result.to_string().contains("Permission denied"), "{line}: {result:#}");
    }
    let usual =
        shell(&mut client, "head -c 1 /dev/zero | wc -c; echo x > /dev/null; head -c 1 /dev/urandom | wc -c");
    assert_eq!(usual["structuredContent"]["stdout"], "1\n1\n", "{usual:#}");
}

/// Moves a shell to where nobody makes user namespaces, as in a container, and takes its capabilities.
const NO_NAMESPACES: &str = "exec unshare --user --map-root-user sh -c \
    'echo 0 > /proc/sys/user/max_user_namespaces && \
    exec setpriv --inh-caps=-all --ambient-caps=-all --bounding-set=-all \"$@\"' sh \"$@\"";

/// A client on a host with less, as an ordinary user.
fn on_less(place: &Place, require: Option<&str>) -> Option<StdioClient> {
    let is_root = rustix::process::geteuid().is_root();
    let mut first = NO_NAMESPACES.to_owned();
    if is_root {
        for path in ["", "work"] {
            chown(place.path(path), Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let drop = "exec setpriv --reuid=65534 --regid=65534 --clear-groups unshare";
        first = first.replace("exec unshare", drop);
    }
    let program = place.program();
    let program =
        require.into_iter().fold(program, |program, words| program.env("RUNWARD_SANDBOX_REQUIRE", words));
    let mut client = place.after(program, &first);
    let tried = shell(&mut client, "true");
    let told = tried.to_string();
    if !told.contains("basic") {
        skipped("this host has no Landlock, or gives no user namespace to take others away in");
        return None;
    }
    Some(client)
}

#[test]
fn without_namespaces_commands_run_in_the_basic_tier_and_every_reply_says_what_is_missing() {
    let place = Place::new();
    fs::write(place.path(".netrc"), "a-token\n").unwrap();
    let Some(mut client) = on_less(&place, None) else { return };
    let result = shell(&mut client, "echo x > made && mktemp > /dev/null && cat made");
    assert_eq!(result["structuredContent"]["stdout"], "x\n", "{result:#}");
    let sandbox = &result["structuredContent"]["policy"]["sandbox"];
    assert_eq!(sandbox["tier"], "basic", "{result:#}");
    let missing: Vec<&str> =
        sandbox["missing"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(missing, ["metadata", "protected", "processes"], "{result:#}");
    assert!(result["content"].to_string().contains("this host cannot keep that"), "{result:#}");
    for line in [
        "echo x > ../outside",
        "cat ~/.netrc",
        "echo x > /tmp/runward-test-stray",
        "exec 3<>/dev/tcp/127.0.0.1/22",
    ] {
        let result = shell(&mut client, line);
        assert_eq!(result["isError"], true, "{line}: {result:#}");
    }
    assert!(!place.path("outside").exists());
}

#[test]
fn without_namespaces_not_even_a_command_with_the_network_reaches_a_local_service() {
    let place = Place::new();
    let Some(mut client) = on_less(&place, None) else { return };
    let _service = UnixListener::bind(place.path("work/service")).unwrap();
    let connect = "import socket; socket.socket(socket.AF_INET); print('network', flush=True); socket.socket(socket.AF_UNIX).connect('service'); print('connected')";
    let arguments = json!({ "executable": "/usr/bin/python3", "args": ["-c", connect] });
    let result = client.call("run_network_tool", arguments)["result"].take();
    assert_eq!(result["structuredContent"]["stdout"], "network\n", "{result:#}");
}

#[test]
fn whoever_requires_what_the_basic_tier_cannot_keep_is_refused_with_what_would_help() {
    for (words, missing) in
        [("write,read,net,processes", "other processes cannot be"), ("protected", "protected paths")]
    {
        let place = Place::new();
        let Some(mut client) = on_less(&place, Some(words)) else { return };
        let result = shell(&mut client, "touch made");
        let told = result["content"].to_string();
        assert!(result["isError"] == true && told.contains(missing), "{words}: {told}");
        assert!(told.contains("max_user_namespaces") && told.contains("sandbox.require"), "{told}");
        assert!(!place.path("work/made").exists());
    }
}
