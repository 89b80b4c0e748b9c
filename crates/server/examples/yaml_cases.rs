//! Reads a JSON array of `[stdout, stderr]` pairs on standard input and prints a JSON array of the YAML replies, so that
//! parsers in other languages can be asked whether they read the same text back.

use std::io::{stdin, stdout};

fn main() -> Result<(), serde_json::Error> {
    let cases: Vec<(String, String)> = serde_json::from_reader(stdin().lock())?;
    let replies: Vec<_> =
        cases.into_iter().map(|(out, err)| runward_server::yaml_sample(out.into(), err.into())).collect();
    serde_json::to_writer(stdout().lock(), &replies)
}
