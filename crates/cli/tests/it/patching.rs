//! Patches, as clients meet them: by their own tool, and in the command lines of every other.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use runward_testkit::mcp::{Client, Era, StdioClient};
use runward_testkit::skipped;
use serde_json::{Value, json};

use crate::program::Program;

const UPDATE: &str = "*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+TWO\n*** Add File: new/b.txt\n+b\n*** End Patch\n";

const DONE: &str = "Success. Updated the following files:\nA new/b.txt\nM a.txt\n";

/// A directory with a file in it, and nothing that another test sees.
fn workspace() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().canonicalize().unwrap();
    fs::write(path.join("a.txt"), "one\ntwo\nthree\n").unwrap();
    (directory, path)
}

fn program(allowed: &str) -> Program {
    Program::new(&["stdio"]).env("ALLOWED_COMMANDS", allowed)
}

fn client(program: Program) -> StdioClient {
    StdioClient::start(program.into_command(), Era::Modern)
}

#[track_caller]
fn call(client: &mut StdioClient, tool: &str, arguments: Value) -> Value {
    let answer = client.call(tool, arguments);
    answer.get("result").unwrap_or_else(|| panic!("not a result: {answer}")).clone()
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}

fn read(directory: &Path, file: &str) -> String {
    fs::read_to_string(directory.join(file)).unwrap_or_default()
}

#[track_caller]
fn is_done(directory: &Path) {
    assert_eq!(read(directory, "a.txt"), "one\nTWO\nthree\n");
    assert_eq!(read(directory, "new/b.txt"), "b\n");
}

#[track_caller]
fn is_untouched(directory: &Path) {
    assert_eq!(read(directory, "a.txt"), "one\ntwo\nthree\n");
    // What keeps missing files missing in a sandbox is gone a moment after a command.
    runward_testkit::eventually("nothing else is there", || {
        let names = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name());
        names.collect::<Vec<_>>() == ["a.txt"]
    });
}

#[test]
fn the_tool_applies_a_patch_and_lists_the_files() {
    let (_guard, directory) = workspace();
    fs::set_permissions(directory.join("a.txt"), fs::Permissions::from_mode(0o640)).unwrap();
    let result = call(
        &mut client(program("apply_patch")),
        "apply_patch",
        json!({ "patch": UPDATE, "workdir": directory }),
    );
    assert_eq!((&result["isError"], text(&result)), (&json!(false), DONE), "{result}");
    let fields = &result["structuredContent"];
    assert_eq!(fields["applied"], true);
    let files = (&fields["added"], &fields["modified"], &fields["deleted"]);
    assert_eq!(files, (&json!(["new/b.txt"]), &json!(["a.txt"]), &json!([])));
    assert_eq!(fields["working_directory"], json!(directory));
    assert_eq!(fields["policy"]["commands"][0]["words"], json!(["apply_patch", "a.txt", "new/b.txt"]));
    is_done(&directory);
    let mode = fs::metadata(directory.join("a.txt")).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o640);
}

#[test]
fn a_patch_that_does_not_fit_changes_nothing_and_says_what_stands_there() {
    let (_guard, directory) = workspace();
    let patch =
        "*** Begin Patch\n*** Add File: new.txt\n+x\n*** Update File: a.txt\n@@\n one\n-2\n+3\n*** End Patch";
    let result = call(
        &mut client(program("apply_patch")),
        "apply_patch",
        json!({ "patch": patch, "workdir": directory }),
    );
    let said = "apply_patch verification failed: hunk 2 at line 4 (update a.txt): failed to find expected lines \
        (chunk 1, at line 5 of the patch); looked for:\n    one\n    2\nwhat stands there instead:\n     1: one\n     2: two\n";
    assert!(result["isError"] == true && text(&result).starts_with(said), "{result}");
    let fields = &result["structuredContent"];
    assert_eq!((&fields["applied"], &fields["added"]), (&json!(false), &json!([])));
    assert_eq!(fields["error"], text(&result));
    is_untouched(&directory);
}

#[test]
fn a_patch_in_a_command_line_is_applied_by_the_server_itself() {
    // No shell and no program of that name is on the path: nothing but the server can have done it.
    let nowhere = tempfile::tempdir().unwrap();
    let script = format!("apply_patch <<'EOF'\n{UPDATE}EOF\n");
    let calls = |directory: &Path| {
        let parent = directory.parent().unwrap();
        let moved = format!("cd '{}' && {script}", directory.file_name().unwrap().display());
        vec![
            ("shell", json!({ "command": script, "working_directory": directory })),
            ("shell", json!({ "command": moved, "working_directory": parent })),
            ("execute_command", json!({ "command": script, "cwd": directory })),
            ("execute_command", json!({ "command": format!("apply_patch '{UPDATE}'"), "cwd": directory })),
            ("execute_process", json!({ "file": "apply_patch", "args": [UPDATE], "cwd": directory })),
            ("execute_process", json!({ "file": "bash", "args": ["-lc", script], "cwd": directory })),
            ("exec_command", json!({ "cmd": script, "workdir": directory })),
        ]
    };
    for index in 0..calls(Path::new("/a/b")).len() {
        let (_guard, directory) = workspace();
        let mut client = client(program("apply_patch").env("PATH", nowhere.path()));
        let (tool, arguments) = calls(&directory).swap_remove(index);
        let result = call(&mut client, tool, arguments.clone());
        assert_eq!(result["isError"], false, "{arguments}: {result}");
        assert!(result["content"].to_string().contains("Success. Updated the following files:"), "{result}");
        is_done(&directory);
    }
}

#[test]
fn a_failure_in_a_command_line_is_an_exit_code_and_a_text_on_stderr() {
    let (_guard, directory) = workspace();
    let mut client = client(program("apply_patch"));
    let script = "apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: gone\n*** End Patch\nEOF";
    let result = call(&mut client, "shell", json!({ "command": script, "working_directory": directory }));
    let fields = &result["structuredContent"];
    assert_eq!((&fields["exit_code"], &fields["stdout"]), (&json!(1), &json!("")), "{result}");
    assert!(fields["stderr"].as_str().unwrap().contains("there is no such file"), "{result}");
    let result = call(&mut client, "execute_command", json!({ "command": script, "cwd": directory }));
    assert!(
        text(&result).starts_with("exit_code: 1\nstdout: ''\nstderr: |\n  apply_patch verification failed: "),
        "{result}"
    );
    is_untouched(&directory);
}

#[test]
fn only_what_is_allowed_is_applied() {
    let (_guard, directory) = workspace();
    let ask = |program: Program, patch: &str| {
        call(&mut client(program), "apply_patch", json!({ "patch": patch, "workdir": directory }))
    };
    let refused = ask(program("ls,bash"), UPDATE);
    assert!(text(&refused).starts_with("command \"apply_patch\" is not allowed"), "{refused}");
    assert_eq!(refused["structuredContent"]["policy"]["decision"], "deny");
    let blocked = |name: &str, value: &str| program("*").env(name, value);
    for program in [
        blocked("RUNWARD_SHELL_TOOL_BLOCKED_COMMANDS", "apply_patch"),
        blocked("RUNWARD_SHELL_TOOL_BLOCKED_PATTERNS", "^apply_patch .*new/"),
    ] {
        let refused = ask(program, &UPDATE.replace("new/b.txt", "./x/../new/b.txt"));
        assert!(
            refused["isError"] == true && refused["structuredContent"]["policy"]["decision"] == "deny",
            "{refused}"
        );
    }
    is_untouched(&directory);
    assert_eq!(ask(program("*"), UPDATE)["isError"], false);
    is_done(&directory);
}

#[test]
fn nothing_is_written_outside_the_roots_or_through_links() {
    let (_guard, directory) = workspace();
    let (_other, outside) = workspace();
    let inside = directory.join("in");
    fs::create_dir(&inside).unwrap();
    symlink(&outside, inside.join("link")).unwrap();
    symlink(outside.join("a.txt"), inside.join("leaf")).unwrap();
    let escapes = [
        "../a.txt".to_owned(),
        outside.join("a.txt").display().to_string(),
        "link/a.txt".to_owned(),
        "leaf".to_owned(),
        "/proc/self/root/etc/motd".to_owned(),
    ];
    let with_roots = || program("apply_patch").env("ALLOWED_CWD_ROOTS", &inside);
    for (setting, program) in [("roots", with_roots()), ("directory", program("apply_patch"))] {
        let mut client = client(program);
        for path in &escapes {
            for hunk in [format!("*** Add File: {path}\n+x"), format!("*** Delete File: {path}")] {
                let patch = format!("*** Begin Patch\n{hunk}\n*** End Patch");
                let result = call(&mut client, "apply_patch", json!({ "patch": patch, "workdir": inside }));
                let is_told = ["lies outside the writable roots", "is a symbolic link"]
                    .iter()
                    .any(|reason| text(&result).contains(reason));
                assert!(result["isError"] == true && is_told, "{setting} {hunk}: {result}");
            }
        }
    }
    let mut client = client(with_roots());
    for (tool, arguments) in [
        ("apply_patch", json!({ "patch": UPDATE, "workdir": directory })),
        ("apply_patch", json!({ "patch": UPDATE })),
        (
            "shell",
            json!({ "command": format!("cd .. && apply_patch <<'E'\n{UPDATE}E"), "working_directory": inside }),
        ),
    ] {
        let result = call(&mut client, tool, arguments.clone());
        assert_eq!(result["isError"], true, "{arguments}: {result}");
    }
    is_untouched(&outside);
    assert_eq!(read(&directory, "a.txt"), "one\ntwo\nthree\n");
}

#[test]
fn what_is_more_than_a_patch_is_an_ordinary_command() {
    let (_guard, directory) = workspace();
    let mut client = client(program("apply_patch,echo,cd"));
    for script in [
        format!("apply_patch <<'EOF'\n{UPDATE}EOF\necho more"),
        format!("cd .; apply_patch <<'EOF'\n{UPDATE}EOF"),
        format!("apply_patch <<EOF\n{}EOF", UPDATE.replace("TWO", "$HOME")),
    ] {
        let result = call(&mut client, "shell", json!({ "command": script, "working_directory": directory }));
        let said = result["content"].to_string();
        assert!(!said.contains("Success. Updated"), "{result}");
        is_untouched(&directory);
    }
    let bare = call(&mut client, "shell", json!({ "command": UPDATE, "working_directory": directory }));
    assert!(bare["isError"] == true && text(&bare).contains("apply_patch <<'EOF'"), "{bare}");
    is_untouched(&directory);
}

#[test]
fn every_patch_is_in_the_trail_applied_or_not() {
    let (_guard, directory) = workspace();
    let state = tempfile::tempdir().unwrap();
    let kept = |args: &[&str]| {
        Program::new(args).env("XDG_STATE_HOME", state.path()).env("ALLOWED_COMMANDS", "apply_patch")
    };
    let mut client = StdioClient::start(kept(&["stdio"]).into_command(), Era::Legacy);
    for patch in [UPDATE, "no patch"] {
        client.call("apply_patch", json!({ "patch": patch, "workdir": directory }));
    }
    client.close_input();
    assert!(client.server().ended().success());
    let ended = kept(&["audit", "list", "--json"]).run();
    let calls: Vec<Value> = ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told = |name: &str| -> Vec<&Value> { calls.iter().map(|call| &call[name]).collect() };
    assert_eq!(
        (told("state"), told("door")),
        (vec![&json!("ended"); 2], vec![&json!("apply_patch"); 2]),
        "{ended:?}"
    );
    assert_eq!(told("exit_code"), [&json!(1), &json!(0)]);
    assert_eq!(kept(&["audit", "verify"]).run().code, 0);
}

#[test]
fn a_check_judges_a_patch_like_a_call() {
    let (_guard, directory) = workspace();
    let line = format!("apply_patch <<'EOF'\n{UPDATE}EOF");
    let check = |allowed| {
        Program::new(&["check", "--", &line]).env("ALLOWED_COMMANDS", allowed).current_dir(&directory).run()
    };
    assert!(check("apply_patch").stdout.starts_with("allowed"), "{:?}", check("apply_patch"));
    assert!(check("ls").stdout.starts_with("denied"), "{:?}", check("ls"));
    is_untouched(&directory);
}

#[test]
fn a_disk_that_fills_up_leaves_everything_as_it_was() {
    let directory = tempfile::tempdir().unwrap();
    let Some(program) = program("apply_patch,ls,cat").on_small_disk(directory.path(), 64) else {
        return skipped("no disk can be mounted here");
    };
    let mut client = client(program);
    let mut ask = |tool: &str, arguments: Value| call(&mut client, tool, arguments);
    let small = "*** Begin Patch\n*** Add File: a.txt\n+one\n*** End Patch";
    let result = ask("apply_patch", json!({ "patch": small, "workdir": directory.path() }));
    assert_eq!(result["isError"], false, "{result}");
    let large = format!(
        "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n*** Add File: n/large\n{}*** End Patch",
        "+0123456789\n".repeat(20_000)
    );
    let result = ask("apply_patch", json!({ "patch": large, "workdir": directory.path() }));
    let said = text(&result);
    assert!(
        said.starts_with("apply_patch failed: cannot write n/large: No space left on device"),
        "{result}"
    );
    assert!(said.contains("nothing was changed"), "{result}");
    let seen = ask("shell", json!({ "command": "ls; cat a.txt", "working_directory": directory.path() }));
    assert_eq!(seen["structuredContent"]["stdout"], "a.txt\none\n", "{seen}");
}

#[test]
fn a_sandbox_profile_holds_for_patches_whatever_the_host_can_enforce() {
    let (_guard, directory) = workspace();
    let ask = |profile: &str, path: &str| {
        let program = program("*").env("RUNWARD_SANDBOX_PROFILE", profile);
        let patch = format!("*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch");
        call(&mut client(program), "apply_patch", json!({ "patch": patch, "workdir": directory }))
    };
    for (profile, path, said) in [
        ("read-only", "b.txt", "lies outside the writable roots of the sandbox profile: (none)"),
        ("workspace-write", ".git/hooks/pre-commit", "is protected"),
    ] {
        let result = ask(profile, path);
        assert!(result["isError"] == true && text(&result).contains(said), "{result}");
        is_untouched(&directory);
    }
    assert_eq!(ask("workspace-write", "b.txt")["isError"], false);
    assert_eq!(read(&directory, "b.txt"), "x\n");
}

#[test]
fn a_patch_that_needs_a_person_is_not_applied_without_one() {
    let (_guard, directory) = workspace();
    let settings = tempfile::tempdir().unwrap();
    let file = settings.path().join("rules.toml");
    fs::write(&file, "[[rule]]\npattern = [\"apply_patch\"]\ndecision = \"ask\"\n").unwrap();
    let program = Program::new(&["stdio", "--config", file.to_str().unwrap()])
        .env("ALLOWED_COMMANDS", "*")
        .env("RUNWARD_APPROVAL_POLICY", "never");
    let result = call(&mut client(program), "apply_patch", json!({ "patch": UPDATE, "workdir": directory }));
    assert!(result["isError"] == true && text(&result).contains("nobody is asked"), "{result}");
    is_untouched(&directory);
}

#[test]
fn what_callers_put_around_a_patch_makes_no_difference() {
    for (before, after) in
        [("```\n", "```"), ("```diff\n", "```\n"), ("apply_patch <<'EOF'\n", "EOF\n"), ("<<EOF\n", "EOF")]
    {
        let (_guard, directory) = workspace();
        let mut client = client(program("apply_patch"));
        let patch = format!("{before}{UPDATE}{after}");
        let result = call(&mut client, "apply_patch", json!({ "patch": patch, "workdir": directory }));
        assert_eq!(text(&result), DONE, "{before}");
        is_done(&directory);
    }
    let (_guard, directory) = workspace();
    let mut client = client(program("*"));
    let line = format!("```\n{UPDATE}```");
    let result = call(&mut client, "execute_command", json!({ "command": line, "cwd": directory }));
    assert!(result["isError"] == true && text(&result).contains("this is a patch"), "{result}");
    is_untouched(&directory);
}

#[test]
fn the_line_numbers_of_a_unified_diff_find_the_place_that_is_meant() {
    let (_guard, directory) = workspace();
    fs::write(directory.join("a.txt"), "one\ntwo\nthree\none\ntwo\nthree\n").unwrap();
    let patch = "*** Begin Patch\n*** Update File: a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -4,2 +4,2 @@\n one\n-two\n+TWO\n*** End Patch";
    let mut client = client(program("apply_patch"));
    let result = call(&mut client, "apply_patch", json!({ "patch": patch, "workdir": directory }));
    assert_eq!(text(&result), "Success. Updated the following files:\nM a.txt\n");
    assert_eq!(read(&directory, "a.txt"), "one\ntwo\nthree\none\nTWO\nthree\n");
}
