//! Login shells: start-up files are read once, and commands find what a real login shell would have found.

use std::fs;
use std::path::Path;
use std::time::Duration;

use runward_engine::{Engine, LoginSettings, Settings, Withheld};
use runward_model::{Request, Script, View, Work};
use runward_policy::Glob;
use tempfile::TempDir;

use crate::setup::*;

/// Counts how often start-up files are read.
const COUNT: &str = "echo read >> \"$HOME/reads\"\n";

fn home(profile: &str) -> TempDir {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join(".bash_profile"), format!("{COUNT}{profile}\n")).unwrap();
    home
}

fn at_home(home: &Path, timeout: Duration) -> Settings {
    let mut told = settings();
    told.environment.push(variable("HOME", home.to_str().unwrap()));
    let globs = |names: &[&str]| names.iter().copied().map(Glob::new).collect();
    let withheld = Withheld {
        always: globs(&["RUNWARD_*"]),
        secret: globs(&["*TOKEN*", "*SECRET*"]),
        except: globs(&["WANTED_*"]),
    };
    Settings { login: LoginSettings { timeout, directory: home.join("state"), withheld }, ..told }
}

fn captured(home: &Path) -> Settings {
    at_home(home, MINUTE)
}

fn login(source: &str) -> Request {
    let script = Script { source: source.to_owned(), shell: None, login: true };
    Request { work: Work::Script(script), ..ask(&[]) }
}

fn reads(home: &Path) -> usize {
    fs::read_to_string(home.join("reads")).unwrap_or_default().lines().count()
}

fn printed(view: &View) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (view.outcome.exit_code(), text(&view.stdout.head), text(&view.stderr.head))
}

async fn all(engine: &Engine, scripts: &[&str]) -> Vec<(i32, String, String)> {
    let mut found = Vec::new();
    for script in scripts {
        found.push(printed(&run(engine, login(script)).await));
    }
    found
}

/// Runs scripts with a capture and by a login shell each; both have to print the same and end the same.
#[track_caller]
fn same_as_a_login_shell(profile: &str, scripts: &[&str]) {
    let home = home(profile);
    let oracle = block_on(at_home(home.path(), Duration::ZERO), async |engine| all(engine, scripts).await);
    assert_eq!(reads(home.path()), scripts.len(), "the oracle is no login shell");
    fs::remove_file(home.path().join("reads")).unwrap();
    let found = block_on(captured(home.path()), async |engine| all(engine, scripts).await);
    for (script, (found, oracle)) in scripts.iter().zip(found.iter().zip(&oracle)) {
        assert_eq!(found, oracle, "{script}");
    }
    assert_eq!(reads(home.path()), 1, "not captured");
}

#[test]
fn variables_are_those_of_a_login_shell() {
    let profile = "export A=1 B='two words'\nC=plain\nexport MULTI=$'line one\\nline \"two\"\\n'\n\
        export QUOTES='a'\\''b\"c$d`e\\\\f' BYTES=$'\\xff\\xfe\\x01\\t'\nHIDDEN=$'\\xc3(' \n\
        declare -r FIXED='a b'\nreadonly ALSO\nexport FIXED_TOO=1; readonly FIXED_TOO\ndeclare -i NUMBER=7\n\
        LIST=(a 'b c' $'d\\ne')\ndeclare -A MAP=([x y]=1 [z]='$q')\ndeclare -n REF=C\ndeclare -u LOUD=abc\n\
        declare -A MANY; for k in {a..z} {1..40}; do MANY[$k]=\"$k $k\"; done; unset k\n\
        export PATH=\"$HOME/bin:$PATH\" EMPTY=\nunset LANG\nPS1='> ' IFS=$' \\t\\n:' OPTIND=3";
    same_as_a_login_shell(
        profile,
        &[
            "echo $A \"$B\" $C \"$EMPTY\" ${EMPTY+set} ${LANG-none} $PS1 $OPTIND",
            "printf '%q\\n' \"$MULTI\" \"$QUOTES\" \"$BYTES\" \"$HIDDEN\"",
            "declare -p A B C MULTI QUOTES BYTES HIDDEN FIXED FIXED_TOO NUMBER LIST MAP REF LOUD EMPTY PATH IFS",
            "for k in {a..z} {1..40}; do echo ${MANY[$k]}; done; echo ${#MANY[@]}",
            "REF=new; NUMBER=3+4; LOUD=loud; echo $C $NUMBER $LOUD; x=a:b; echo $x",
            "FIXED_TOO=2; echo reached",
            "FIXED=2; echo reached",
            "env | sort | grep -v -e ^_= -e ^BASH_ENV",
            "env",
            "export -p",
            "bash -c 'echo ${A-none} ${C-none} ${BASH_ENV-none}'",
        ]
        .map(|script| if script == "env" { "/usr/bin/env | sort | grep -v ^_=" } else { script }),
    );
}

#[test]
fn functions_aliases_and_options_are_those_of_a_login_shell() {
    let profile = "shopt -s extglob expand_aliases nullglob\nset -o pipefail\nset -u\n\
        hi() { local who=${1:-you}; cat <<X\nhello $who, it's \"fine\"\nX\n}\n\
        ext() { case $1 in +([0-9])) echo number;; !(a|b)) echo other;; esac; }\n\
        with-dash() { echo dash \"$@\"; }\nout() { echo out; }; export -f out\n\
        again() { [ \"$1\" -gt 0 ] && again $(($1 - 1)) || echo done; }\n\
        alias ll='echo long list' greet='hi everybody'\nll_not_yet() { ll x; }\nalias -- -x='echo dashed'";
    same_as_a_login_shell(
        profile,
        &[
            "hi; hi there; greet",
            "ext 12; ext xyz; ext a",
            "with-dash 'a b'; again 3",
            "ll \"and\" more; ll_not_yet; -x",
            "echo $undefined; echo not reached",
            "false | true; echo $?",
            "echo /nowhere/*.x end",
            "shopt -p; set +o; alias; declare -F; declare -f hi ext",
            "bash -c 'out; hi'",
            "echo $- $0 $# $?; shopt -q login_shell && echo login",
            "hi",
            "out",
            "exit 3",
        ],
    );
}

#[test]
fn masks_limits_traps_and_strict_options_are_those_of_a_login_shell() {
    same_as_a_login_shell(
        "umask 027; ulimit -S -n 200; trap 'echo bye $?' EXIT; trap '' USR1; set -e",
        &["umask", "ulimit -n", "kill -USR1 $$; echo alive", "false; echo not reached", "/bin/true", "trap"],
    );
    same_as_a_login_shell("set -x", &["echo traced; false", "/bin/echo alone", "echo $(echo deep)"]);
    same_as_a_login_shell(
        "enable -n test; set -a; set -f -o noclobber",
        &["type test; X=1; env | grep ^X=; echo *"],
    );
    same_as_a_login_shell("shopt -s xpg_echo", &["echo 'a\\nb'"]);
}

#[test]
fn what_a_login_shell_does_when_it_ends_is_done() {
    let profile = "cat > ~/.bash_logout <<< 'echo logged out'";
    same_as_a_login_shell(profile, &["exit 4", "echo stays", "logout"]);
}

#[test]
fn errors_name_the_same_lines() {
    same_as_a_login_shell(
        "f() { :; }",
        &["\n\nnosuchthing; echo $LINENO", "if", "echo ${BASH_SOURCE[0]-none} ${FUNCNAME-none}"],
    );
}

#[test]
fn files_that_start_up_files_read_count_as_well() {
    let home = home(". ~/.bashrc");
    fs::write(home.path().join(".bashrc"), "X=1").unwrap();
    block_on(captured(home.path()), async |engine| {
        for _ in 0..3 {
            assert_eq!(printed(&run(engine, login("echo $X;")).await).1, "1\n");
        }
        assert_eq!(reads(home.path()), 1);
        fs::write(home.path().join(".bashrc"), "X=22").unwrap();
        for _ in 0..3 {
            assert_eq!(printed(&run(engine, login("echo $X;")).await).1, "22\n");
        }
        assert_eq!(reads(home.path()), 2);
        fs::remove_file(home.path().join(".bash_profile")).unwrap();
        assert_eq!(printed(&run(engine, login("echo ${X-none};")).await).1, "none\n");
        fs::write(home.path().join(".profile"), format!("{COUNT}X=new")).unwrap();
        assert_eq!(printed(&run(engine, login("echo $X;")).await).1, "new\n");
        assert_eq!(reads(home.path()), 3);
    });
}

#[test]
fn callers_that_come_at_the_same_time_share_one_capture() {
    let home = home("X=1; sleep 0.2");
    block_on(captured(home.path()), async |engine| {
        let ask = || run(engine, login("echo $X;"));
        let (a, b, c) = tokio::join!(ask(), ask(), ask());
        for view in [a, b, c] {
            assert_eq!(printed(&view).1, "1\n");
        }
        assert_eq!(reads(home.path()), 1);
    });
}

#[test]
fn what_start_up_files_print_read_and_where_they_go_is_not_the_commands() {
    let home = home("echo welcome; echo careful >&2; read x; cd /; X=1");
    block_on(captured(home.path()), async |engine| {
        let here = canonical(&std::env::current_dir().unwrap());
        for _ in 0..2 {
            let expected = (0, format!("1 {}\n", here.display()), String::new());
            assert_eq!(printed(&run(engine, login("echo $X $(pwd)")).await), expected);
        }
        assert_eq!(reads(home.path()), 1);
    });
}

/// What cannot be captured runs in a login shell of its own, each time.
#[track_caller]
fn not_captured(profile: &str, script: &str, expected: (i32, &str)) {
    let home = home(profile);
    block_on(captured(home.path()), async |engine| {
        for _ in 0..2 {
            let (code, stdout, _) = printed(&run(engine, login(script)).await);
            assert_eq!((code, stdout.as_str()), expected, "{profile}");
        }
    });
    assert!(reads(home.path()) >= 3, "{profile}: captured");
}

#[test]
fn what_cannot_be_captured_runs_in_a_login_shell_of_its_own() {
    not_captured("exit 7", "echo never", (7, ""));
    not_captured("exec 2>/dev/null", "echo out; echo lost >&2", (0, "out\n"));
    not_captured("exec 9< /dev/null", "echo $(ls -l /proc/self/fd/9 | grep -c null)", (0, "1\n"));
    not_captured("trap ': debug' DEBUG", "echo ran", (0, "ran\n"));
    not_captured("sleep 60 & disown", "echo ran;", (0, "ran\n"));
    not_captured("printf() { builtin printf broken; }; builtin() { :; }", "echo ran", (0, "ran\n"));
}

#[test]
fn start_up_files_that_hang_hold_a_call_up_once_and_for_a_bounded_time() {
    let home = home("[ -e ~/reads2 ] || { echo > ~/reads2; sleep 60; }");
    let told = at_home(home.path(), Duration::from_millis(300));
    block_on(told, async |engine| {
        assert_eq!(printed(&run(engine, login("echo ran")).await).1, "ran\n");
        assert_eq!(printed(&run(engine, login("echo ran")).await).1, "ran\n");
        assert_eq!(reads(home.path()), 3, "tried again at once");
    });
}

#[test]
fn doors_and_callers_have_the_last_word_about_variables() {
    let profile =
        "export PAGER=less TERM=xterm MINE=profile SHARED=profile; PLAIN=profile; declare -rx LOCKED=profile";
    let home = home(profile);
    block_on(captured(home.path()), async |engine| {
        let given = ["MINE", "PLAIN", "LOCKED"].map(|name| (name.to_owned(), "caller".to_owned())).to_vec();
        let source = "echo $PAGER $TERM $MINE $SHARED $PLAIN $LOCKED;";
        let door_env = vec![("PAGER".to_owned(), "cat".to_owned()), ("TERM".to_owned(), "dumb".to_owned())];
        let request = Request { env: given, door_env: door_env.clone(), ..login(source) };
        assert_eq!(printed(&run(engine, request).await).1, "cat dumb caller profile caller caller\n");
        let request = Request { door_env, ..login(source) };
        assert_eq!(printed(&run(engine, request).await).1, "cat dumb profile profile profile profile\n");
        assert_eq!(reads(home.path()), 1, "what a caller gives needs no capture of its own");
    });
}

#[test]
fn what_looks_secret_is_left_out_unless_the_operator_wants_it() {
    let profile =
        "export API_TOKEN=t1 WANTED_TOKEN=t2 OWN_SECRET=changed RUNWARD_X=1; MY_SECRET=t3; f() { :; }";
    let home = home(profile);
    let mut told = captured(home.path());
    told.environment.push(variable("OWN_SECRET", "s"));
    block_on(told, async |engine| {
        let source = "echo ${API_TOKEN-} ${WANTED_TOKEN-} ${OWN_SECRET-} ${RUNWARD_X-} ${MY_SECRET-};";
        assert_eq!(printed(&run(engine, login(source)).await).1, "t2 changed\n");
        let kept = fs::read_dir(home.path().join("state")).unwrap().flatten().map(|entry| entry.path());
        for text in kept.map(|path| fs::read_to_string(path).unwrap()) {
            assert!(!text.contains("t1") && !text.contains("t3"), "{text}");
        }
        assert_eq!(reads(home.path()), 1);
    });
}

#[test]
fn programs_are_found_where_the_login_shell_finds_them() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = home("PATH=\".:$HOME/bin::$PATH\"; covered() { echo function; }");
    fs::create_dir(home.path().join("bin")).unwrap();
    for name in ["only-at-home", "covered"] {
        let file = home.path().join("bin").join(name);
        fs::write(&file, "#!/bin/sh\necho program $PATH\n").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let plain = at_home(home.path(), Duration::ZERO);
    let oracle = block_on(plain, async |engine| printed(&run(engine, login("echo $PATH;")).await).1);
    fs::remove_file(home.path().join("reads")).unwrap();
    block_on(captured(home.path()), async |engine| {
        assert!(oracle.starts_with(".:"), "{oracle}");
        let path = runward_policy::SearchPath::new(oracle.trim_end().as_ref()).to_variable();
        let expected = format!("program {}\n", path.display());
        assert_eq!(printed(&run(engine, login("only-at-home")).await).1, expected);
        assert_eq!(printed(&run(engine, login("only-at-home;")).await).1, expected);
        assert_eq!(printed(&run(engine, login("covered")).await).1, "function\n");
        assert!(start(engine, line("only-at-home")).await.is_err());
        assert!(check(engine, &login("only-at-home")).is_ok());
        assert_eq!(reads(home.path()), 1);
    });
}

#[test]
fn rules_are_held_against_what_the_login_shell_finds() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = home("PATH=\"$HOME/bin:$PATH\"");
    fs::create_dir(home.path().join("bin")).unwrap();
    let file = home.path().join("bin/true");
    fs::write(&file, "#!/bin/sh\necho another\n").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    let told = captured(home.path());
    let list = runward_policy::Allowlist::parse("/usr/bin/true");
    let policy = runward_policy::Policy::new(list, told.policy.current().path().clone());
    block_on(Settings { policy: policy.into(), ..told }, async |engine| {
        assert_eq!(printed(&run(engine, line("true")).await).0, 0);
        let refusal = start(engine, login("true")).await.unwrap_err();
        assert!(matches!(refusal, runward_model::Refusal::Denied(_)), "{refusal}");
    });
}

#[test]
fn the_private_file_is_the_operators_alone_and_goes_with_the_engine() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = home("f() { echo f; }");
    let state = home.path().join("state");
    let files = || fs::read_dir(&state).unwrap().flatten().map(|entry| entry.path()).collect::<Vec<_>>();
    block_on(captured(home.path()), async |engine| {
        assert_eq!(printed(&run(engine, login("f;")).await).1, "f\n");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&state), files().len(), mode(&files()[0])), (0o700, 1, 0o600));
        fs::write(home.path().join(".bash_profile"), "f() { echo g; }").unwrap();
        assert_eq!(printed(&run(engine, login("f;")).await).1, "g\n");
        let newest = files().into_iter().max_by_key(|path| fs::metadata(path).unwrap().modified().unwrap());
        fs::write(newest.unwrap(), "f() { echo forged; }").unwrap();
        assert_eq!(
            printed(&run(engine, login("f;")).await).1,
            "g\n",
            "a file that somebody changed was read"
        );
    });
    assert_eq!(files(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn other_shells_read_their_files_every_time() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join(".profile"), format!("{COUNT}export X=1\n")).unwrap();
    block_on(captured(home.path()), async |engine| {
        let script = Script { source: "echo $X".into(), shell: Some("sh".into()), login: true };
        for _ in 0..2 {
            let request = Request { work: Work::Script(script.clone()), ..ask(&[]) };
            assert_eq!(printed(&run(engine, request).await).1, "1\n");
        }
        assert_eq!(reads(home.path()), 2);
    });
}

/// What is confined has temporary directories of its own, so its home cannot be among them.
#[test]
fn a_confined_command_finds_the_same() {
    use runward_model::Profile;
    let home =
        tempfile::tempdir_in(runward_testkit::seen_by_the_confined(env!("CARGO_TARGET_TMPDIR"))).unwrap();
    fs::write(home.path().join(".bash_profile"), format!("{COUNT}f() {{ echo $X; }}; export X=1")).unwrap();
    let usual = runward_sandbox::Settings {
        profile: Profile::WorkspaceWrite,
        writable_roots: vec![home.path().join("reads")],
        fallback: runward_sandbox::Fallback::Warn,
        keep: MINUTE,
        ..runward_engine::Sandboxing::none().usual
    };
    fs::write(home.path().join("reads"), "").unwrap();
    let sandboxing =
        runward_engine::Sandboxing { usual, reach: runward_proxy::Reach::Off, doors: Vec::new() };
    block_on(Settings { sandboxing, ..captured(home.path()) }, async |engine| {
        for _ in 0..2 {
            let view = run(engine, login("f;")).await;
            assert_eq!(printed(&view).1, "1\n", "{view:?}");
        }
        assert_eq!(reads(home.path()), 1);
    });
}
