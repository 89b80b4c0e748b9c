//! Files that change while the server runs.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use runward_testkit::eventually;

use super::{health, run, server, set};
use crate::program::Program;

fn rules(command: &str) -> String {
    format!("package sandbox.main\nallow if input.command == \"{command}\"\n")
}

/// Writes as editors do: beside it, then in its place.
fn replace(file: &Path, text: &str) {
    let beside = file.with_extension("tmp");
    fs::write(&beside, text).unwrap();
    fs::rename(beside, file).unwrap();
}

#[test]
fn changed_files_take_effect_however_they_are_changed() {
    let directory = set("allow if input.command == \"true\"");
    let file = directory.path().join("main.rego");
    let mut server = server(directory.path(), &[]);
    assert!(!run(&mut server, "true").0);
    replace(&file, &rules("echo"));
    eventually("a file that was renamed into place", || {
        !run(&mut server, "echo").0 && run(&mut server, "true").0
    });
    fs::write(&file, rules("true")).unwrap();
    eventually("a file that was written to", || !run(&mut server, "true").0 && run(&mut server, "echo").0);
    fs::create_dir_all(directory.path().join("a/b")).unwrap();
    fs::write(directory.path().join("a/b/more.rego"), rules("echo")).unwrap();
    eventually("a file in a new directory", || !run(&mut server, "echo").0 && !run(&mut server, "true").0);
    fs::remove_file(&file).unwrap();
    eventually("a file that was removed", || !run(&mut server, "echo").0 && run(&mut server, "true").0);
    fs::remove_dir_all(directory.path().join("a")).unwrap();
    eventually("no file at all", || run(&mut server, "echo").1.contains("there is no .rego file"));
}

#[test]
fn a_config_map_is_swapped_by_its_link() {
    let mount = tempfile::tempdir().unwrap();
    let version = |name: &str, command: &str| {
        fs::create_dir(mount.path().join(name)).unwrap();
        fs::write(mount.path().join(name).join("main.rego"), rules(command)).unwrap();
        symlink(name, mount.path().join("..data_tmp")).unwrap();
        fs::rename(mount.path().join("..data_tmp"), mount.path().join("..data")).unwrap();
    };
    version("..2026_1", "true");
    symlink("..data/main.rego", mount.path().join("main.rego")).unwrap();
    let mut server = server(mount.path(), &[]);
    assert!(!run(&mut server, "true").0);
    version("..2026_2", "echo");
    fs::remove_dir_all(mount.path().join("..2026_1")).unwrap();
    eventually("the next version", || !run(&mut server, "echo").0 && run(&mut server, "true").0);
}

#[test]
fn a_directory_behind_a_link_is_swapped_with_the_link() {
    let around = tempfile::tempdir().unwrap();
    let (one, two) = (set("allow if input.command == \"true\""), set("allow if input.command == \"echo\""));
    let link = around.path().join("policy");
    symlink(one.path(), &link).unwrap();
    let mut server = server(&link, &[]);
    assert!(!run(&mut server, "true").0);
    fs::write(one.path().join("main.rego"), rules("ls")).unwrap();
    eventually("a change behind the link", || !run(&mut server, "ls").0);
    symlink(two.path(), around.path().join("next")).unwrap();
    fs::rename(around.path().join("next"), &link).unwrap();
    eventually("another link", || !run(&mut server, "echo").0 && run(&mut server, "ls").0);
}

#[test]
fn a_broken_set_denies_everything_until_it_is_mended() {
    let directory = set("allow if input.command == \"true\"");
    let file = directory.path().join("main.rego");
    let mut server = server(directory.path(), &[]);
    assert!(!run(&mut server, "true").0);
    replace(&file, "package sandbox.main\nallow if {\n");
    let place = format!("{}:3:1: ", file.display());
    eventually("the compiler's message", || run(&mut server, "true").1.contains(&place));
    assert!(run(&mut server, "echo; ls").1.contains(&place), "in every denial");
    replace(&file, &rules("true"));
    eventually("the mended set", || !run(&mut server, "true").0);
    let conflict =
        "allow := true if input.command in {\"ls\", \"true\"}\nallow := false if input.command == \"ls\"";
    replace(&file, &format!("package sandbox.main\n{conflict}\n"));
    eventually("a set that contradicts itself", || run(&mut server, "ls").1.contains("rule conflicts"));
    assert!(run(&mut server, "true").1.contains("rule conflicts"), "for every command from then on");
    replace(&file, &rules("true"));
    eventually("the mended set", || !run(&mut server, "true").0);
}

#[test]
fn a_server_starts_with_a_broken_set_says_so_and_watches() {
    let around = tempfile::tempdir().unwrap();
    let directory = around.path().join("not/yet");
    let program = Program::new(&["serve", "--bind", "127.0.0.1:0"]).env("POLICY_DIR", &directory);
    let mut server = program.start();
    let line = server.first_line();
    let address = line.trim().strip_prefix("listening on http://").unwrap().to_owned();
    let told = health(&address);
    assert_eq!(told["status"], "degraded");
    assert!(told["policy"].as_str().unwrap().contains("No such file"), "{told}");
    fs::create_dir_all(&directory).unwrap();
    eventually("an empty directory", || health(&address).to_string().contains("there is no .rego file"));
    fs::write(directory.join("main.rego"), "package sandbox.main\nallow if").unwrap();
    eventually("the compiler's message", || health(&address).to_string().contains("main.rego:2:"));
    fs::write(directory.join("main.rego"), rules("true")).unwrap();
    eventually("health", || health(&address)["status"] == "ok");
    assert!(health(&address)["policy"].is_null());
}
