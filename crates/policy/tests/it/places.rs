//! Names, paths and the search path.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use runward_model::{Argv, Decision, Work};
use runward_policy::{Allowlist, Asker, Held, Policy, SearchPath, read};
use tempfile::TempDir;

/// Two directories with programs, one of them also reachable through a symbolic link.
struct Programs {
    root: TempDir,
}

impl Programs {
    fn new() -> Self {
        let root = TempDir::new().unwrap();
        for directory in ["bin", "other"] {
            fs::create_dir(root.path().join(directory)).unwrap();
        }
        for file in ["bin/tool", "bin/tools", "bin/twin", "other/tool", "other/extra"] {
            fs::write(root.path().join(file), "#!/bin/sh\n").unwrap();
            fs::set_permissions(root.path().join(file), fs::Permissions::from_mode(0o755)).unwrap();
        }
        fs::write(root.path().join("bin/notes"), "").unwrap();
        fs::create_dir(root.path().join("bin/folder")).unwrap();
        symlink("tool", root.path().join("bin/alias")).unwrap();
        symlink("bin", root.path().join("link")).unwrap();
        Programs { root }
    }

    fn at(&self, place: &str) -> String {
        self.root.path().join(place).to_str().unwrap().to_owned()
    }

    fn path(&self) -> SearchPath {
        SearchPath::new(&OsString::from(format!("relative::{}:{}:.", self.at("bin"), self.at("other"))))
    }

    fn decides(&self, list: &str, command: &str, cwd: &str) -> Decision {
        let work = Work::Argv(Argv { file: command.to_owned(), args: vec![] });
        let policy = Policy::new(Allowlist::parse(list), self.path());
        policy.judge(&read(&work).unwrap(), Path::new(&self.at(cwd))).decision
    }
}

#[test]
fn the_first_executable_file_on_the_path_is_found() {
    let programs = Programs::new();
    let path = programs.path();
    assert_eq!(path.find("tool").unwrap().to_str(), Some(programs.at("bin/tool").as_str()));
    assert_eq!(path.find("extra").unwrap().to_str(), Some(programs.at("other/extra").as_str()));
    for name in ["notes", "folder", "absent", "", "bin/tool", "./tool", ".."] {
        assert_eq!(path.find(name), None, "{name:?}");
    }
}

#[test]
fn only_absolute_directories_are_kept() {
    let programs = Programs::new();
    let kept = format!("{}:{}", programs.at("bin"), programs.at("other"));
    assert_eq!(programs.path().to_variable(), OsString::from(kept));
    assert_eq!(SearchPath::new(&OsString::from(":.:bin")).to_variable(), OsString::new());
}

#[test]
fn close_matches_are_named_the_closest_first() {
    let programs = Programs::new();
    assert_eq!(programs.path().near("tol").first().map(String::as_str), Some("tool"));
    assert_eq!(programs.path().near("otol").first().map(String::as_str), Some("tool"));
    assert!(programs.path().near("tol").len() <= 3);
    assert_eq!(programs.path().near("zzzzzz"), Vec::<String>::new());
    assert!(!programs.path().near("note").contains(&"notes".to_owned()), "notes cannot be executed");
}

#[test]
fn a_path_is_a_name_when_it_is_the_file_that_the_name_finds() {
    let programs = Programs::new();
    for (command, wanted) in [
        ("tool", Decision::Allow),
        (programs.at("bin/tool").as_str(), Decision::Allow),
        (programs.at("link/tool").as_str(), Decision::Allow),
        (programs.at("other/../bin/tool").as_str(), Decision::Allow),
        (programs.at("other/tool").as_str(), Decision::Deny),
        (programs.at("bin/alias").as_str(), Decision::Deny),
        (programs.at("bin/twin").as_str(), Decision::Deny),
        ("alias", Decision::Deny),
        ("./tool", Decision::Deny),
        ("bin/tool", Decision::Deny),
        ("../bin/tool", Decision::Deny),
        ("TOOL", Decision::Deny),
        ("tool ", Decision::Deny),
    ] {
        assert_eq!(programs.decides("tool", command, "bin"), wanted, "{command:?}");
    }
}

#[test]
fn an_absolute_entry_is_that_file_however_it_is_named() {
    let programs = Programs::new();
    let list = programs.at("bin/tool");
    for (command, cwd, wanted) in [
        ("tool", "other", Decision::Allow),
        (list.as_str(), "other", Decision::Allow),
        ("./tool", "bin", Decision::Allow),
        ("../bin/tool", "other", Decision::Allow),
        ("./tool", "other", Decision::Deny),
        ("twin", "bin", Decision::Deny),
    ] {
        assert_eq!(programs.decides(&list, command, cwd), wanted, "{command:?} from {cwd}");
    }
    let hidden = programs.at("other/tool");
    assert_eq!(
        programs.decides(&hidden, "tool", "other"),
        Decision::Deny,
        "the name finds another file first"
    );
}

#[test]
fn a_list_is_trimmed_and_kept_in_order() {
    assert_eq!(Allowlist::parse(" ls , cat,, /opt/x ").entries(), ["ls", "cat", "/opt/x"]);
    assert!(Allowlist::parse("ls, * ").allows_everything());
    assert!(!Allowlist::parse("l*").allows_everything());
}

#[test]
fn a_wrapper_named_by_path_is_still_a_wrapper() {
    let policy = crate::policy("env,ls");
    let argv = |args: &[&str]| {
        Work::Argv(Argv {
            file: "/usr/bin/env".into(),
            args: args.iter().map(|&arg| arg.to_owned()).collect(),
        })
    };
    let decides = |args: &[&str]| policy.judge(&read(&argv(args)).unwrap(), Path::new("/")).decision;
    assert_eq!(decides(&["ls"]), Decision::Allow);
    assert_eq!(decides(&["whoami"]), Decision::Deny);
    assert_eq!(decides(&["-S", "ls"]), Decision::Deny);
}

#[test]
fn a_program_through_a_link_that_depends_on_who_looks_is_not_judged() {
    let (ls, root) = (Path::new("/usr/bin/ls"), TempDir::new().unwrap());
    symlink("/proc/self/root/usr/bin", root.path().join("way")).unwrap();
    let through = root.path().join("way/ls").to_str().unwrap().to_owned();
    let policy =
        Policy::new(Allowlist::parse("ls,env,nice"), SearchPath::new(&OsString::from("/usr/bin:/bin")));
    let judged = |line: &str| policy.judge(&read(&Work::Line(line.to_owned())).unwrap(), root.path());
    assert!(ls.exists());
    assert_eq!(
        judged("/usr/bin/ls /proc/self/cwd").decision,
        Decision::Allow,
        "as a word it is nothing to run"
    );
    for path in [
        "/proc/self/root/usr/bin/ls",
        "/proc/thread-self/root/usr/bin/ls",
        "/usr/../proc/self/root/usr/bin/ls",
        "/dev/fd/../root/usr/bin/ls",
        &through,
    ] {
        for line in [
            format!("{path} M"),
            format!("env {path} M"),
            format!("nice -n 1 {path} M"),
            format!("ls; {path} M"),
            format!("ls $({path} M)"),
        ] {
            let verdict = judged(&line);
            assert_eq!(verdict.decision, Decision::Deny, "{line}");
            assert!(
                verdict.reason.contains("leads elsewhere for each process"),
                "{line}: {}",
                verdict.reason
            );
        }
    }
}

#[test]
fn a_search_path_drops_directories_that_depend_on_who_looks() {
    let path = SearchPath::new(&OsString::from("/proc/self/cwd/bin:/usr/bin:/dev/fd/../cwd"));
    assert_eq!(path.to_variable(), "/usr/bin");
}

#[test]
fn a_link_that_a_command_could_turn_is_no_way_to_a_program_unless_it_is_held() {
    let programs = Programs::new();
    let (listed, cwd) = (format!("{},env,true", programs.at("bin/tool")), programs.at(""));
    let judged = |work: &Work, held: Option<&Held>| {
        let policy = Policy::new(Allowlist::parse(&listed), programs.path()).with_writable(|_| true);
        let asker = Asker { held, ..Asker::default() };
        policy.judge_for(&read(work).unwrap(), Path::new(&cwd), asker)
    };
    let line = |line: &str| judged(&Work::Line(line.to_owned()), None);
    for refused in ["link/tool; true", "(link/tool)", "env link/tool", "x=1 link/../link/tool; true"] {
        let verdict = line(refused);
        assert!(verdict.reason.contains("a link that a command could turn"), "{refused}: {}", verdict.reason);
    }
    assert_eq!(line("bin/tool; bin/tool").decision, Decision::Allow);
    let direct = Work::Argv(Argv { file: programs.at("link/tool"), args: vec![] });
    let held = Held::open(Path::new(&programs.at("link/tool"))).unwrap();
    assert_eq!(judged(&direct, Some(&held)).decision, Decision::Allow, "it is executed by its descriptor");
    assert_eq!(judged(&direct, None).decision, Decision::Deny);
}
