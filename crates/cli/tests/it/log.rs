//! What is logged, and where.

use serde_json::Value;

use crate::program::Program;

const NOTHING_ALLOWED: &str =
    "no command is allowed; set ALLOWED_COMMANDS, such as ALLOWED_COMMANDS=ls,cat, or POLICY_DIR";

#[test]
fn log_lines_go_to_standard_error_without_colours() {
    let ended = Program::new(&["stdio"]).run();
    assert_eq!((ended.code, ended.stdout.as_str()), (0, ""), "{ended:?}");
    assert!(ended.stderr.contains(NOTHING_ALLOWED), "{ended:?}");
    assert!(!ended.stderr.contains('\u{1b}'), "{ended:?}");
}

#[test]
fn log_lines_are_json_where_asked() {
    let ended = Program::new(&["stdio", "--log-format", "json"]).run();
    let line: Value = serde_json::from_str(&ended.stderr).unwrap();
    assert_eq!(line["fields"]["message"], NOTHING_ALLOWED);
    assert_eq!(line["level"], "WARN");
}

#[test]
fn the_filter_chooses_what_is_logged() {
    let ended = Program::new(&["stdio"]).env("RUNWARD_LOG", "off").run();
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{ended:?}");
}
