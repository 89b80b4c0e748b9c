//! What is recognised is held against the real bash: it must give `apply_patch` the same text from the same directory.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use runward_model::Work;
use runward_patch::{Recognised, recognise};

use super::Workspace;

/// A workspace with an `apply_patch` that keeps what it is given.
fn stage() -> Workspace {
    let program = "#!/bin/sh\n{ pwd -P; printf '%s\\n' \"$#\"; cat; } > \"$KEPT\"\n";
    let stage = Workspace::new(&[
        ("bin/apply_patch", program),
        ("bin/applypatch", program),
        ("place/a/b/keep", ""),
        ("place/a b/keep", ""),
        ("place/~/keep", ""),
    ]);
    for name in ["apply_patch", "applypatch"] {
        let program = stage.path(&format!("bin/{name}"));
        fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
    }
    stage
}

/// Where bash ran it, with how many arguments, and what it was given.
fn by_bash(stage: &Workspace, script: &str) -> Option<(String, String, String)> {
    let kept = stage.path("kept");
    let _ = fs::remove_file(&kept);
    #[expect(clippy::disallowed_methods, reason = "the oracle is the real bash")]
    let mut bash = Command::new("bash");
    bash.args(["-c", script]).current_dir(stage.path("place")).env_clear();
    bash.env("PATH", format!("{}:/usr/bin:/bin", stage.path("bin").display())).env("KEPT", &kept);
    bash.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    let kept = fs::read_to_string(kept).ok()?;
    let (directory, rest) = kept.split_once('\n')?;
    let (count, text) = rest.split_once('\n')?;
    Some((directory.to_owned(), count.to_owned(), text.to_owned()))
}

/// Pieces that scripts of patches are made of, and what easily stands beside them.
fn scripts() -> impl Strategy<Value = String> {
    let before = prop_oneof![
        4 => Just(""), 1 => Just("cd a/b && "), 1 => Just("cd 'a b' &&\n"), 1 => Just("cd \"a b\"&&"), 1 => Just("cd '~' && "),
        1 => Just("cd ~ && "), 1 => Just("cd a\\ b && "), 1 => Just("cd a* && "), 1 => Just("\n "), 1 => Just("cd .. && "),
    ];
    let call = prop_oneof![6 => Just("apply_patch "), 1 => Just("applypatch"), 1 => Just("'apply_patch'\t"), 1 => Just("apply_patch x ")];
    let sign = prop_oneof![4 => Just("<<"), 1 => Just("<<-"), 1 => Just("<< ")];
    let open = prop_oneof![4 => Just("'E'"), 2 => Just("E"), 1 => Just("\"E\""), 1 => Just("\\E"), 1 => Just("E\"\"")];
    let beside = prop_oneof![6 => Just("\n"), 1 => Just("  \n"), 1 => Just(" x\n"), 1 => Just(" #\n"), 1 => Just(";\n")];
    let line = prop_oneof![
        Just("+x\n"),
        Just("\t+y\n"),
        Just(" E\n"),
        Just("E \n"),
        Just("\tE\n"),
        Just("+$HOME\n"),
        Just("+`id`\n"),
        Just("+a\\\n"),
        Just("+'\"\n"),
        Just("\n"),
        Just("+é\r\n"),
        Just("E\n"),
    ];
    let body = proptest::collection::vec(line, 0..4).prop_map(|lines| lines.concat());
    let close = prop_oneof![4 => Just("E\n"), 2 => Just("E"), 1 => Just("E\n\n \n"), 1 => Just("E\necho\n"), 1 => Just("\tE\n"), 1 => Just("")];
    (before, call, sign, open, beside, body, close).prop_map(
        |(before, call, sign, open, beside, body, close)| {
            [before, call, sign, open, beside, &body, close].concat()
        },
    )
}

#[test]
fn bash_gives_apply_patch_what_was_recognised() {
    let stage = stage();
    let place = stage.path("place");
    let mut runner = TestRunner::deterministic();
    let mut recognised = 0;
    while recognised < 150 {
        let script = scripts().new_tree(&mut runner).unwrap().current();
        let Some(Recognised::Call { patch, cd }) = recognise(&Work::Line(script.clone())) else { continue };
        recognised += 1;
        let directory = cd.map_or(place.clone(), |cd| place.join(cd)).canonicalize().unwrap();
        let wanted = (shown(&directory), "0".to_owned(), patch);
        assert_eq!(by_bash(&stage, &script), Some(wanted), "{script:?}");
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
