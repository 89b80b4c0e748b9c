//! Lines of a coding agent's everyday, where every program that they name is allowed: each does what the real bash does, or is
//! refused with a line that does.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use runward_testkit::mcp::{Client, Era, StdioClient};
use runward_testkit::skipped;
use serde_json::json;
use tempfile::TempDir;

use crate::program::Program;
use crate::reply::Reply;

const LINES: &str = include_str!("everyday/lines.txt");
const CORRECTED: &str = include_str!("everyday/corrected.txt");

const PROGRAMS: &str = "git,cargo,npm,node,python3,grep,sed,awk,find,xargs,jq,curl,tar,make,ls,cat,head,tail,wc,sort,uniq,diff,\
    echo,printf,mkdir,cp,mv,rm,touch,chmod,test,sleep,tr,cut,tee,comm,seq,date,basename,dirname,uname,env,timeout,nproc,pwd";

const FILES: [(&str, &str); 8] = [
    ("notes.txt", "foo one\nbar two\nfoo three\n"),
    ("other.txt", "bar two\nbaz\n"),
    ("data.csv", "pears,3\napples,12\n"),
    ("package.json", r#"{"name": "shop", "scripts": {"test": "node t", "build": "node b"}}"#),
    ("Makefile", "hello:\n\t@echo hello from make\n"),
    ("src/main.rs", "fn main() {} // TODO\n"),
    ("src/lib.rs", "// TODO\n"),
    ("run.sh", "echo ran\n"),
];

/// A directory in which workspaces are made that are alike.
struct Site {
    directory: TempDir,
    template: PathBuf,
}

impl Site {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let template = directory.path().join("template");
        for (name, text) in FILES {
            let file = template.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        let site = Site { directory, template };
        let git = "git init -q -b main && git add . && git -c user.name=a -c user.email=a@b commit -qm 'first things'; rm run.sh; \
                   echo 'echo ran' > run.sh; touch new";
        assert_eq!(bash(git, &site.template).1, Some(0));
        site
    }

    /// A workspace of this name.
    fn workspace(&self, name: &str) -> PathBuf {
        let place = self.directory.path().join(name).join("shop");
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        let from = self.template.display();
        assert_eq!(bash(&format!("cp -a '{from}' '{}'", place.display()), self.directory.path()).1, Some(0));
        place
    }
}

/// What the real bash prints for a line, and how it ends.
#[expect(clippy::disallowed_methods, reason = "the real bash says what a line does")]
fn bash(line: &str, directory: &Path) -> (String, Option<i32>) {
    let output = Command::new("bash")
        .args(["-c", line])
        .current_dir(directory)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .unwrap();
    (String::from_utf8(output.stdout).unwrap(), output.status.code())
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(|line| line.replace('␤', "\n")).collect()
}

/// Whether every program of a line is on this host; the test says which are not.
fn is_here(line: &str) -> bool {
    let missing = ["jq", "node", "npm", "cargo", "python3", "curl", "make", "git"].into_iter().find(|name| {
        let named = line.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').any(|word| word == *name);
        named && bash(&format!("command -v {name}"), Path::new("/")).1 != Some(0)
    });
    if let Some(name) = missing {
        skipped(&format!("there is no {name} here"));
    }
    missing.is_none()
}

struct Everyday {
    site: Site,
    client: StdioClient,
    made: usize,
}

impl Everyday {
    fn start(programs: &str) -> Self {
        let site = Site::new();
        let path = std::env::var_os("PATH").unwrap();
        let program =
            Program::new(&["stdio"]).current_dir(site.directory.path()).env("ALLOWED_COMMANDS", programs);
        let home = std::env::home_dir().unwrap_or_else(|| "/".into());
        let program = program.env("PATH", path).env("HOME", home);
        let client = StdioClient::start(program.into_command(), Era::Modern);
        Everyday { site, client, made: 0 }
    }

    fn run(&mut self, line: &str) -> Reply {
        self.made += 1;
        let place = self.site.workspace(&format!("ours-{}", self.made));
        Reply::read(&self.client.call("execute_command", json!({ "command": line, "cwd": place })))
    }

    /// What is wrong with what became of a line; nothing if the real bash does the same.
    fn objection(&mut self, line: &str) -> Option<String> {
        let reply = self.run(line);
        let (stdout, code) = bash(line, &self.site.workspace(&format!("its-{}", self.made)));
        let same = !reply.is_error && reply.exit_code == code.map(i64::from) && reply.stdout == stdout;
        (!same).then(|| format!("{line}\n    bash: {code:?} {stdout:?}\n    here: {reply:?}"))
    }
}

#[test]
fn every_line_of_an_agents_everyday_does_what_bash_does() {
    let lines = lines(LINES);
    assert!(lines.len() >= 89, "{}", lines.len());
    let mut everyday = Everyday::start(PROGRAMS);
    let wrong: Vec<String> =
        lines.iter().filter(|line| is_here(line)).filter_map(|line| everyday.objection(line)).collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), lines.len(), wrong.join("\n"));
}

#[test]
fn what_is_refused_comes_with_a_line_that_runs() {
    let mut everyday = Everyday::start(PROGRAMS);
    for line in lines(CORRECTED).iter().filter(|line| is_here(line)) {
        let reply = everyday.run(line);
        let reason = reply.refusal().to_owned();
        let (_, instead) = reason.split_once("write instead: ").unwrap_or_else(|| panic!("{line}: {reason}"));
        let again = everyday.run(instead);
        assert_eq!((again.is_error, again.exit_code), (false, Some(0)), "{line}: {instead}: {again:?}");
        assert!(!again.stdout.is_empty(), "{instead}");
        assert!(!reason.contains("ALLOWED_COMMANDS=*"), "{reason}");
    }
}

#[test]
fn a_refusal_names_all_that_is_not_allowed_and_the_list_once() {
    let mut everyday = Everyday::start("ls,cat");
    let reply = everyday.run("ls; whoami && id | cat; whoami");
    assert_eq!(
        reply.refusal(),
        "commands \"whoami\" and \"id\" are not allowed; allowed commands: ls, cat (set ALLOWED_COMMANDS to change this)"
    );
}

#[test]
fn nothing_waits_for_an_editor_or_a_pager_where_there_is_no_terminal() {
    let mut everyday = Everyday::start("*");
    let reply = everyday
        .run("git log; GIT_CONFIG_GLOBAL=/dev/null git var GIT_EDITOR; echo \"$EDITOR $PAGER $GIT_PAGER\"");
    assert_eq!(reply.exit_code, Some(0), "{reply:?}");
    assert!(reply.stdout.ends_with("true\ntrue cat cat\n"), "{reply:?}");
    let given = json!({ "command": "echo \"$EDITOR$GIT_EDITOR $PAGER\"", "environment": { "PAGER": "cat", "EDITOR": "true" } });
    let answer = everyday.client.call("shell", given);
    assert!(answer.to_string().contains("true cat"), "{answer}");
}
