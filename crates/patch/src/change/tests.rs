use proptest::prelude::*;

use super::*;
use crate::hunk::{Action, Patch};

#[track_caller]
fn outcome(file: &[u8], body: &str) -> Result<Vec<u8>, String> {
    let text = format!("*** Begin Patch\n*** Update File: f\n{body}\n*** End Patch");
    let patch = Patch::parse(&text).unwrap();
    let Action::Update { chunks, .. } = &patch.hunks[0].action else { panic!("{patch:?}") };
    changed(file, chunks, &mut Effort::default()).map_err(|problem| problem.to_string())
}

#[track_caller]
fn becomes(file: &str, body: &str, wanted: &str) {
    let changed = outcome(file.as_bytes(), body).unwrap();
    assert_eq!(String::from_utf8(changed).unwrap(), wanted);
}

#[test]
fn lines_go_and_come_where_they_stand() {
    becomes("a\nb\nc\n", "@@\n a\n-b\n+B\n+B2\n c", "a\nB\nB2\nc\n");
    becomes("a\nb\nc\nd\n", "-a\n@@\n c\n+x", "b\nc\nx\nd\n");
    becomes("a\nb\n", "@@\n-a\n-b", "");
    becomes("", "@@\n+a", "a\n");
    becomes("a\nx\na\n", "@@\n-a\n+1\n*** End of File", "a\nx\n1\n");
}

#[test]
fn a_chunk_that_only_adds_goes_after_its_context() {
    becomes("f\n1\ng\n2\n", "@@ f\n+new", "f\nnew\n1\ng\n2\n");
    becomes("f\n1\ng\n2\n", "@@\n+new", "f\n1\ng\n2\nnew\n");
    becomes("f\n1\ng\n2\n", "@@ f\n+new\n*** End of File", "f\n1\ng\n2\nnew\n");
    becomes(
        "class A\n def f\n  x\nclass B\n def f\n  x\n",
        "@@ class B\n@@ def f\n+  y",
        "class A\n def f\n  x\nclass B\n def f\n  y\n  x\n",
    );
}

#[test]
fn line_numbers_choose_among_places_that_are_alike_and_do_no_harm_where_they_are_wrong() {
    let file = "x\na\nx\nb\nx\n";
    becomes(file, "@@ -3,1 +3,1 @@\n-x\n+X", "x\na\nX\nb\nx\n");
    becomes(file, "@@ -5 +5 @@ heading\n-x\n+X", "x\na\nx\nb\nX\n");
    becomes(file, "@@ -900,1 +900,1 @@\n-a\n+A", "x\nA\nx\nb\nx\n");
    becomes(file, "@@ -1 +1 @@\n-x\n+1\n@@ -5 +5 @@\n-x\n+5", "1\na\nx\nb\n5\n");
    becomes(file, "@@ -2,0 +3,1 @@\n+new", "x\na\nnew\nx\nb\nx\n");
    becomes(file, "@@ -0,0 +1,1 @@\n+new", "new\nx\na\nx\nb\nx\n");
    becomes(file, "@@ -77,0 +78,1 @@\n+new", "x\na\nx\nb\nx\nnew\n");
    becomes(file, "@@ -2,2 +2,2 @@\n-a\n+A\n x\n@@ -1,0 +1,1 @@\n+new", "x\nA\nx\nnew\nb\nx\n");
}

#[test]
fn each_chunk_is_looked_for_after_the_one_before() {
    becomes("x\nx\nx\n", "@@\n-x\n+1\n@@\n-x\n+2", "1\n2\nx\n");
    let said = outcome(b"a\nb\n", "@@\n-b\n+B\n@@\n-a\n+A").unwrap_err();
    assert!(
        said.contains("(chunk 2, at line 6 of the patch)") && said.contains("stands at line 1 of the file"),
        "{said}"
    );
}

#[test]
fn endings_stay_as_they_are() {
    becomes("a\r\nb\r\nc\r\n", "@@\n a\n-b\n+B\n+D\n c", "a\r\nB\r\nD\r\nc\r\n");
    becomes("a\r\nb\nc\r\n", "@@\n-b\n+B", "a\r\nB\nc\r\n");
    becomes("a\nb", "@@\n-b\n+B", "a\nB");
    becomes("a\nb", "@@\n b\n+c", "a\nb\nc");
    becomes("a\r\nb", "@@\n b\n+c", "a\r\nb\r\nc");
    becomes("a\nb", "@@\n-b", "a");
    becomes("a", "@@\n-a\n+b\n+c", "b\nc");
    becomes("a\rb\r", "@@\n-a\n+x", "x\rb\r");
    becomes("\u{FEFF}a\nb\n", "@@\n-a\n+x", "\u{FEFF}x\nb\n");
}

#[test]
fn what_stays_stays_byte_for_byte_however_it_was_found() {
    becomes("\tif a {  \n\u{201C}b\u{201D}\n}\n", "@@\n if a {\n-\"b\"\n+c\n }", "\tif a {  \nc\n}\n");
    let changed = outcome(b"caf\xE9\n\xFF\xFE\nend\n", "@@\n caf\u{FFFD}\n+new").unwrap();
    assert_eq!(changed, b"caf\xE9\nnew\n\xFF\xFE\nend\n");
}

#[test]
fn empty_lines_at_the_end_of_a_chunk_need_not_stand_in_the_file() {
    becomes("a\nb\n", "@@\n-a\n+A\n\n@@\n-b\n+B\n\n", "A\nB\n");
    becomes("a\n\nb\n", "@@\n-a\n+A\n \n+x\n", "A\n\nx\nb\n");
}

#[test]
fn what_is_missing_is_shown_beside_what_stands_there() {
    let file = b"fn a() {\n    one();\n    two();\n}\nfn b() {\n    one();\n}\n";
    assert_eq!(
        outcome(file, "@@ fn a() {\n     one();\n-    three();\n+    four();\n }").unwrap_err(),
        "failed to find expected lines (chunk 1, at line 3 of the patch); looked for:\n        one();\n        three();\n    }\n\
         what stands there instead:\n     2:     one();\n     3:     two();\n     4: }\n\
         the first difference is at line 3 of the file"
    );
    assert_eq!(
        outcome(file, "@@ fn c() {\n+x").unwrap_err(),
        "failed to find context (chunk 1, at line 3 of the patch); looked for:\n    fn c() {\n\
         what stands there instead:\n     1: fn a() {\nand nothing like it stands in the file"
    );
    assert!(outcome(b"", "@@\n-x").unwrap_err().ends_with("but the file is empty"));
    let long = format!("@@\n{}", "-y\n".repeat(500).trim_end());
    let said = outcome(&b"z\n".repeat(1000), &long).unwrap_err();
    assert!(said.contains("… 480 more lines") && said.len() < 2000, "{said}");
}

/// A line of a file, whether it stays, and what comes before it.
type Fate = (String, bool, Option<String>);

/// A file, how its lines end, and whether the last one does.
fn edits() -> impl Strategy<Value = (Vec<Fate>, &'static str, bool)> {
    // Lines are told apart by their number, so that there is one place for each.
    let line = (any::<bool>(), proptest::option::of("[a-z]{1,3}"));
    let lines = proptest::collection::vec(line, 2..20).prop_map(|lines| {
        lines
            .into_iter()
            .enumerate()
            .map(|(index, (stays, comes))| (format!("line {index}"), stays, comes))
            .collect()
    });
    (lines, prop_oneof![Just("\n"), Just("\r\n")], any::<bool>())
}

proptest! {
    #[test]
    fn a_patch_does_exactly_what_it_says((lines, ending, finished) in edits()) {
        let mut body = String::from("@@\n");
        let mut wanted = Vec::new();
        for (text, stays, comes) in &lines {
            if let Some(comes) = comes {
                body.extend(["+", comes, "\n"]);
                wanted.push(comes.as_str());
            }
            body.extend([if *stays { " " } else { "-" }, text, "\n"]);
            wanted.extend(Some(text.as_str()).filter(|_| *stays));
        }
        let whole = |lines: &[&str]| {
            let mut whole: String = lines.iter().flat_map(|line| [line, ending]).collect();
            if !finished && !whole.is_empty() {
                whole.truncate(whole.len() - ending.len());
            }
            whole
        };
        let file = whole(&lines.iter().map(|(text, _, _)| text.as_str()).collect::<Vec<_>>());
        let changed = outcome(file.as_bytes(), body.trim_end()).unwrap();
        prop_assert_eq!(String::from_utf8(changed).unwrap(), whole(&wanted));
    }

    #[test]
    fn what_no_chunk_names_is_never_touched(file in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), any::<u8>()], 0..80)) {
        let marked = [&file[..], b"\nmark\n", &file[..]].concat();
        let changed = outcome(&marked, "@@\n-mark\n+MARK").unwrap();
        prop_assert_eq!(changed, [&file[..], b"\nMARK\n", &file[..]].concat());
    }
}
