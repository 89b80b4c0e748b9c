//! What the trail keeps of all that.

use serde_json::{Value, json};

use crate::program::Program;
use crate::raw::server::Raw;

fn raw(state: &tempfile::TempDir, size: &str) -> Raw {
    let variables = [
        ("ALLOWED_COMMANDS", "*"),
        ("XDG_STATE_HOME", state.path().to_str().unwrap()),
        ("RUNWARD_AUDIT_MAX_SIZE", size),
    ];
    Raw::with(&variables)
}

fn audit(state: &tempfile::TempDir, args: &[&str]) -> String {
    let output = Program::new(&[&["audit"], args].concat()).env("XDG_STATE_HOME", state.path());
    let output = output.into_command().output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn of_large_calls_run_or_refused_the_trail_keeps_little_and_a_hash() {
    let state = tempfile::tempdir().unwrap();
    let server = raw(&state, "1GiB");
    let long = "x".repeat(100_000);
    let ran = json!({"executable": "true", "args": vec![long.clone(); 10]});
    assert_eq!(server.run(&ran).events().last().unwrap()["exitCode"], 0);
    let refused = server.post("/raw", &json!({"executable": "no-such-program", "args": vec![long; 10]}));
    assert_eq!(refused.status, 404);
    drop(server);
    let lines = audit(&state, &["export"]);
    let judged: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["body"].clone())
        .filter(|body| body["phase"] == "judged")
        .collect();
    assert_eq!(judged.len(), 2);
    for body in judged {
        assert!(body.to_string().len() < 64 * 1024);
        let omitted = &body["omitted"];
        assert!(omitted["bytes"].as_u64().unwrap() > 1_000_000, "{omitted}");
        assert_eq!(omitted["sha256"].as_str().unwrap().len(), 64, "{omitted}");
    }
    assert!(audit(&state, &["verify"]).starts_with("clean: "));
}

#[test]
fn a_server_drops_old_records_and_verify_says_from_where_it_proves_the_rest() {
    let state = tempfile::tempdir().unwrap();
    let server = raw(&state, "1MiB");
    let call = json!({"executable": "true", "args": ["x".repeat(16_000)]});
    for _ in 0..140 {
        assert_eq!(server.run(&call).events().last().unwrap()["exitCode"], 0);
    }
    drop(server);
    let told = audit(&state, &["verify"]);
    assert!(told.starts_with("clean: ") && told.contains("all before it were dropped"), "{told}");
    assert!(told.contains("from record ") && told.contains("audit.max_size"), "{told}");
    let told: Value = serde_json::from_str(&audit(&state, &["verify", "--json"])).unwrap();
    assert!(told["clean"] == true && told["dropped"]["record"]["last"].as_u64().unwrap() > 0, "{told}");
}
