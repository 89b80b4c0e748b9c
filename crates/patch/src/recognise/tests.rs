use super::*;

const PATCH: &str = "*** Begin Patch\n*** Delete File: a\n*** End Patch\n";

fn line(text: &str) -> Option<Recognised> {
    recognise(&Work::Line(text.to_owned()))
}

fn argv(words: &[&str]) -> Option<Recognised> {
    let mut words = words.iter().map(ToString::to_string);
    recognise(&Work::Argv(Argv { file: words.next().unwrap(), args: words.collect() }))
}

fn call(cd: Option<&str>) -> Recognised {
    Recognised::Call { patch: PATCH.to_owned(), cd: cd.map(str::to_owned) }
}

#[test]
fn a_here_document_for_apply_patch_is_a_patch() {
    for text in [
        format!("apply_patch <<'EOF'\n{PATCH}EOF"),
        format!("applypatch <<\"PATCH\"\n{PATCH}PATCH\n"),
        format!("\n  apply_patch<<\\E_1  \n{PATCH}E_1\n\n  \n"),
        format!("apply_patch <<EOF\n{PATCH}EOF\n"),
        format!("'apply_patch' << 'EOF'\n{PATCH}EOF\n"),
        format!("apply_patch <<-'EOF'\n\t{}\n\tEOF\n", PATCH.trim_end().replace('\n', "\n\t\t")),
    ] {
        assert_eq!(line(&text), Some(call(None)));
        assert_eq!(argv(&["bash", "-lc", &text]), Some(call(None)));
        assert_eq!(argv(&["/usr/bin/zsh", "-c", &text]), Some(call(None)));
    }
    assert_eq!(argv(&["apply_patch", PATCH]), Some(call(None)));
    assert_eq!(argv(&["applypatch", PATCH]), Some(call(None)));
}

#[test]
fn so_is_one_after_a_change_of_directory() {
    for (cd, directory) in
        [("a/b", "a/b"), ("'a b'", "a b"), ("\"/x y\"", "/x y"), ("'~'", "~"), ("..", "..")]
    {
        assert_eq!(
            line(&format!("cd {cd} && apply_patch <<'EOF'\n{PATCH}EOF\n")),
            Some(call(Some(directory)))
        );
        assert_eq!(
            line(&format!("cd {cd}&&\napply_patch <<'EOF'\n{PATCH}EOF\n")),
            Some(call(Some(directory)))
        );
    }
}

#[test]
fn anything_else_in_the_line_makes_it_an_ordinary_command() {
    for text in [
        "cd a; apply_patch <<'EOF'\n@EOF\n",
        "cd a || apply_patch <<'EOF'\n@EOF\n",
        "cd a | apply_patch <<'EOF'\n@EOF\n",
        "cd a & apply_patch <<'EOF'\n@EOF\n",
        "cd a && cd b && apply_patch <<'EOF'\n@EOF\n",
        "cd a b && apply_patch <<'EOF'\n@EOF\n",
        "cd && apply_patch <<'EOF'\n@EOF\n",
        "cd - && apply_patch <<'EOF'\n@EOF\n",
        "cd +1 && apply_patch <<'EOF'\n@EOF\n",
        "cd '' && apply_patch <<'EOF'\n@EOF\n",
        "cd ~/a && apply_patch <<'EOF'\n@EOF\n",
        "cd $HOME && apply_patch <<'EOF'\n@EOF\n",
        "cd \"$HOME\" && apply_patch <<'EOF'\n@EOF\n",
        "cd a* && apply_patch <<'EOF'\n@EOF\n",
        "cd a\\ b && apply_patch <<'EOF'\n@EOF\n",
        "cd a'b' && apply_patch <<'EOF'\n@EOF\n",
        "apply_patch foo <<'EOF'\n@EOF\n",
        "apply_patch <<'EOF' foo\n@EOF\n",
        "apply_patch <<'EOF' > out\n@EOF\n",
        "apply_patch <<'EOF' && echo done\n@EOF\n",
        "apply_patch <<'EOF' # done\n@EOF\n",
        "apply_patch <<'EOF'\n@EOF\necho done\n",
        "apply_patch <<'EOF'\n@EOF\n&& echo done\n",
        "apply_patch <<'EOF'\n@EOF ",
        "apply_patch <<'EOF'\n@",
        "apply_patch <<<'EOF'\n@EOF\n",
        "apply_patch <<'E F'\n@E F\n",
        "apply_patch << 'EOF' <<'X'\n@EOF\nX\n",
        "echo x && apply_patch <<'EOF'\n@EOF\n",
        "X=1 apply_patch <<'EOF'\n@EOF\n",
        "X=1\napply_patch <<'EOF'\n@EOF\n",
        "apply_patch < patch.txt",
        "./apply_patch <<'EOF'\n@EOF\n",
        "(apply_patch <<'EOF'\n@EOF\n)",
        "! apply_patch <<'EOF'\n@EOF\n",
    ] {
        let text = text.replace('@', PATCH);
        assert_eq!(line(&text), None, "{text}");
        assert_eq!(argv(&["bash", "-lc", &text]), None, "{text}");
    }
    let call = format!("apply_patch <<'EOF'\n{PATCH}EOF\n");
    for words in [
        vec!["apply_patch"],
        vec!["apply_patch", PATCH, "x"],
        vec!["/bin/apply_patch", PATCH],
        vec!["bash", "-xc", &call],
        vec!["bash", "-lc", &call, "x"],
        vec!["fish", "-c", &call],
        vec!["sh", "-lc", "true"],
    ] {
        assert_eq!(argv(&words), None, "{words:?}");
    }
}

#[test]
fn what_a_shell_would_expand_is_left_to_the_shell() {
    for text in ["+$HOME", "+`id`", "+a\\b"] {
        let patch = format!("*** Begin Patch\n*** Add File: a\n{text}\n*** End Patch\n");
        assert_eq!(line(&format!("apply_patch <<EOF\n{patch}EOF\n")), None, "{text}");
        let quoted = line(&format!("apply_patch <<'EOF'\n{patch}EOF\n"));
        assert_eq!(quoted, Some(Recognised::Call { patch, cd: None }));
    }
}

#[test]
fn a_patch_that_is_given_to_nothing_is_told_from_a_command() {
    assert_eq!(line(PATCH), Some(Recognised::Bare));
    assert_eq!(argv(&["bash", "-lc", PATCH]), Some(Recognised::Bare));
    assert_eq!(argv(&[PATCH]), Some(Recognised::Bare));
    assert_eq!(line("echo '*** Begin Patch'"), None);
}
