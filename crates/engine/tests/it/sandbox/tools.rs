//! What people do in a workspace works in one that is confined.

use runward_model::Profile;
use runward_testkit::skipped;

use super::{Place, confined, sh, with};

/// Runs `text` in a workspace that `prepare` has set up outside the sandbox, where there is a `program`.
fn works(program: &str, files: &[(&str, &str)], text: &str) {
    let place = Place::new();
    for (name, content) in files {
        let file = place.work().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, content).unwrap();
    }
    with(confined(Profile::WorkspaceWrite), async |engine| {
        let (found, _, _) = sh(engine, &place.work(), &format!("command -v {program}")).await;
        if found != 0 {
            return skipped(&format!("there is no {program} here"));
        }
        let (code, stdout, stderr) = sh(engine, &place.work(), text).await;
        assert_eq!(code, 0, "{program}: {stdout}\n{stderr}");
        assert!(stdout.ends_with("done\n"), "{program}: {stdout}\n{stderr}");
    });
}

#[test]
fn cargo_builds_and_tests() {
    let manifest = "[package]\nname = \"p\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n";
    let files = [("Cargo.toml", manifest), ("src/main.rs", "fn main() {}\n#[test]\nfn works() {}\n")];
    let home = std::env::var("HOME").unwrap_or_default();
    let text = format!(
        "export HOME={home}; cargo build --offline && cargo test --offline && ./target/debug/p && echo done"
    );
    works("cargo", &files, &text);
}

#[test]
fn git_commits_in_a_repository_that_is_there() {
    let place = Place::new();
    let init = "git init -q . && git config user.email a@example.com && git config user.name a && echo made";
    with(confined(Profile::FullAccess), async |engine| {
        let (code, _, stderr) = sh(engine, &place.work(), init).await;
        assert_eq!(code, 0, "{stderr}");
    });
    with(confined(Profile::WorkspaceWrite), async |engine| {
        let commit =
            "echo x > x && git add -A && git commit -qm one && git checkout -qb two && git log --oneline";
        let (code, stdout, stderr) = sh(engine, &place.work(), commit).await;
        assert_eq!(code, 0, "{stderr}");
        assert!(stdout.ends_with(" one\n"), "{stdout}");
        let (code, stdout, _) = sh(engine, &place.work(), "git status --porcelain").await;
        assert_eq!((code, stdout.as_str()), (0, ""), "nothing is seen of what keeps missing files missing");
    });
}

#[test]
fn npm_tests() {
    let package = r#"{"name":"x","version":"1.0.0","scripts":{"test":"node -e \"require('fs').writeFileSync('o','x')\""}}"#;
    works("npm", &[("package.json", package)], "npm test >/dev/null 2>&1 && test -f o && echo done");
}

#[test]
fn python_makes_environments_and_starts_processes() {
    let text = "python3 -m venv --without-pip venv && ./venv/bin/python -c \
        'import multiprocessing as m\nwith m.Pool(2) as p: assert p.map(abs, [-1, -2]) == [1, 2]' && echo done";
    works("python3", &[], text);
}

#[test]
fn gcc_compiles_and_make_builds_side_by_side() {
    let files = [
        ("Makefile", "all: a.o b.o\n\tgcc -o program a.o b.o\n%.o: %.c\n\tgcc -c $<\n"),
        ("a.c", "int b(void);\nint main(void) { return b(); }\n"),
        ("b.c", "int b(void) { return 0; }\n"),
    ];
    works("gcc", &files, "make -j4 >/dev/null && ./program && echo done");
}

#[test]
fn a_program_can_talk_to_itself_and_use_temporary_files() {
    let text = "cd \"$(mktemp -d)\" && echo x > x && (mkfifo f && echo hello > f & sleep 0.1; cat f >/dev/null); \
        echo a > /dev/stdout; echo b > /dev/null; cat /proc/self/status > /dev/null && echo done";
    works("mkfifo", &[], text);
}
