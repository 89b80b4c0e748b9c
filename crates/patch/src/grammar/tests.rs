use super::*;

fn parsed(text: &str) -> Vec<Hunk> {
    Patch::parse(text).unwrap().hunks
}

#[track_caller]
fn problem(text: &str) -> String {
    Patch::parse(text).unwrap_err().to_string()
}

#[test]
fn every_kind_of_hunk_is_read_with_its_line() {
    let text = "*** Begin Patch\n*** Add File: a b.txt\n+one\n+\n*** Delete File: c\n*** Update File: d\n\
        *** Move to: e\n@@ fn x()\n stays\n-goes\n+comes\n\n@@\n+last\n*** End of File\n*** End Patch\n";
    let chunks = vec![
        Chunk {
            line: 8,
            contexts: vec!["fn x()".into()],
            near: None,
            body: vec![
                Line::Keep("stays".into()),
                Line::Remove("goes".into()),
                Line::Add("comes".into()),
                Line::Keep(String::new()),
            ],
            at_end: false,
        },
        Chunk { line: 13, contexts: vec![], near: None, body: vec![Line::Add("last".into())], at_end: true },
    ];
    let hunk = |line, path: &str, action| Hunk { line, path: path.into(), action };
    assert_eq!(
        parsed(text),
        [
            hunk(2, "a b.txt", Action::Add(vec!["one".into(), String::new()])),
            hunk(5, "c", Action::Delete),
            hunk(6, "d", Action::Update { to: Some("e".into()), chunks }),
        ]
    );
}

#[test]
fn leniencies_make_no_difference() {
    let plain = "*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n*** End Patch";
    let wanted = parsed(plain);
    let same = |text: &str| {
        let mut hunks = parsed(text);
        for hunk in &mut hunks {
            hunk.line = 2;
            if let Action::Update { chunks, .. } = &mut hunk.action {
                for chunk in chunks {
                    chunk.line = 3;
                }
            }
        }
        assert_eq!(hunks, wanted, "{text}");
    };
    same("\n\n  *** Begin Patch  \n *** Update File:   a \n@@ \n-x\n+y\n   *** End Patch \n\n");
    same("*** Begin Patch\n*** Update File: a\n-x\n+y\n*** End Patch");
    same(&plain.replace('\n', "\r\n"));
    same("*** Begin Patch\n*** Environment ID: main\n\n*** Update File: a\n\n@@\n-x\n+y\n*** End Patch");
    for (open, close) in [("<<EOF", "EOF"), ("<<'EOF'", "EOF"), ("<<\"X\"", "X")] {
        same(&format!("{open}\n{plain}\n{close}\n"));
        same(&format!("apply_patch {open}\n{plain}\n{close}\n"));
        same(&format!("```sh\napplypatch {open}\n\n{plain}\n{close}\n```"));
    }
    for (open, close) in [("```", "```"), ("```diff", "```"), ("~~~patch", "~~~"), ("````", "`````")] {
        same(&format!("{open}\n{plain}\n{close}\n"));
        same(&format!("{open}\n\n{plain}\n\n{close}\n\n"));
    }
}

#[test]
fn several_contexts_narrow_down() {
    let hunks = parsed("*** Begin Patch\n*** Update File: a\n@@ class B\n@@     def f():\n+x\n*** End Patch");
    let [Hunk { action: Action::Update { chunks, .. }, .. }] = hunks.as_slice() else { panic!("{hunks:?}") };
    assert_eq!(chunks.len(), 1);
    assert_eq!(chunks[0].contexts, ["class B", "    def f():"]);
}

#[test]
fn headers_of_unified_diffs_give_a_place_and_no_context() {
    for (header, near) in [
        ("@@ -8,2 +8,2 @@", Some(7)),
        ("@@ -8 +8 @@ fn x()", Some(7)),
        ("@@ -8,2 +8,2", Some(7)),
        ("@@ -8,0 +9,2 @@", Some(8)),
        ("@@ -0,0 +1,2 @@", Some(0)),
        ("@@ -x,2 +8,2 @@", None),
        ("@@ -8,2 +8,2 or so", None),
        ("@@ -99999999999999999999,2 +8,2 @@", None),
    ] {
        let hunks = parsed(&format!("*** Begin Patch\n*** Update File: a\n{header}\n-x\n+y\n*** End Patch"));
        let [Hunk { action: Action::Update { chunks, .. }, .. }] = hunks.as_slice() else {
            panic!("{hunks:?}")
        };
        assert_eq!((chunks[0].near, chunks[0].contexts.is_empty()), (near, near.is_some()), "{header}");
    }
}

#[test]
fn what_else_a_unified_diff_says_of_a_file_is_passed_over() {
    let text = "*** Begin Patch\n*** Update File: a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+y\n\\ No newline at end of file\n*** End Patch";
    let hunks = parsed(text);
    let [Hunk { action: Action::Update { chunks, .. }, .. }] = hunks.as_slice() else { panic!("{hunks:?}") };
    assert_eq!(chunks[0].body, [Line::Remove("x".into()), Line::Add("y".into())]);
    // Without a header after them, these are lines like any other.
    let hunks = parsed("*** Begin Patch\n*** Update File: a\n--- one\n+++ two\n*** End Patch");
    let [Hunk { action: Action::Update { chunks, .. }, .. }] = hunks.as_slice() else { panic!("{hunks:?}") };
    assert_eq!(chunks[0].body, [Line::Remove("-- one".into()), Line::Add("++ two".into())]);
}

#[test]
fn what_is_around_a_patch_has_to_be_around_all_of_it() {
    for text in [
        "```\n*** Begin Patch\n*** Delete File: a\n*** End Patch",
        "apply_patch <<EOF\n*** Begin Patch\n*** Delete File: a\n*** End Patch\nEND",
        "rm -rf / <<EOF\n*** Begin Patch\n*** Delete File: a\n*** End Patch\nEOF",
        "cd elsewhere && apply_patch <<EOF\n*** Begin Patch\n*** Delete File: a\n*** End Patch\nEOF",
    ] {
        assert!(problem(text).contains("line of the patch must be"), "{text}");
    }
}

#[test]
fn an_invalid_patch_is_refused_with_its_line() {
    for (text, start) in [
        ("", "invalid patch at line 1: the first line of the patch must be '*** Begin Patch', not ''"),
        ("*** Add File: a\n*** End Patch", "invalid patch at line 1: the first line of the patch must be"),
        (
            "*** Begin Patch\n*** Add File: a\n+x",
            "invalid patch at line 3: the last line of the patch must be",
        ),
        ("*** Begin Patch", "invalid patch at line 1: the last line of the patch must be"),
        ("*** Begin Patch\n*** End Patch", "no files were modified"),
        (
            "*** Begin Patch\n*** Frob File: a\n*** End Patch",
            "invalid patch at line 2: '*** Frob File: a' is not a valid",
        ),
        (
            "*** Begin Patch\n*** Add File: a\n+x\noops\n*** End Patch",
            "invalid patch at line 4: 'oops' is not a valid",
        ),
        (
            "*** Begin Patch\n*** Add File:\n*** End Patch",
            "invalid patch at line 2: the hunk header names no file",
        ),
        (
            "*** Begin Patch\n*** Update File: a\n*** End Patch",
            "invalid patch at line 2: the update of 'a' is empty",
        ),
        (
            "*** Begin Patch\n*** Update File: a\n@@\n*** End Patch",
            "invalid patch at line 3: the chunk is empty",
        ),
        (
            "*** Begin Patch\n*** Update File: a\n x\n?y\n*** End Patch",
            "invalid patch at line 4: '?y' is not expected",
        ),
        (
            "*** Begin Patch\n*** Delete File: a\n+x\n*** End Patch",
            "invalid patch at line 3: '+x' is not a valid",
        ),
    ] {
        let said = problem(text);
        assert!(said.starts_with(start), "{text:?}: {said}");
    }
    let many = "*** Delete File: a\n".repeat(MOST_HUNKS + 1);
    assert!(problem(&format!("*** Begin Patch\n{many}*** End Patch")).contains("1001 files"));
    assert!(problem(&"x".repeat(LONGEST + 1)).contains("split it"));
}

proptest::proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in "(\\*\\*\\* (Begin Patch|End Patch|Add File: a|Update File: b|End of File|Move to: c)|@@ ?|@@ -1,2 \\+1 @@|```|--- a|\\+\\+\\+ a|[-+ ]?x?|\\PC{0,6}|\r|<<EOF|EOF)(\n(\\*\\*\\* (Begin Patch|End Patch|Add File: a|Update File: b|End of File|Move to: c)|@@ ?|[-+ ]?x?))*") {
        let _ = Patch::parse(&text);
        let _ = Patch::parse(&format!("*** Begin Patch\n{text}\n*** End Patch"));
    }
}
