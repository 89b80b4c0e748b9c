//! Questions to people: through the client that called, and by `runward approvals`.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use runward_testkit::mcp::{Client, Era, Person, StdioClient};
use runward_testkit::{Marker, eventually, skipped};
use rustix::process::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::{Ended, Program};

const RULES: &str = r#"
policy.allowed_commands = ["*"]

[[rule]]
pattern = ["id"]
decision = "ask"
justification = "who are you?"
"#;

/// Settings and state of their own for every test.
pub(crate) struct Home(TempDir);

impl Home {
    pub(crate) fn new(settings: &str) -> Self {
        let home = Home(tempfile::tempdir().unwrap());
        fs::write(home.path("config.toml"), settings).unwrap();
        home
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The program with these settings, whatever it is called with.
    pub(crate) fn program(&self, args: &[&str]) -> Program {
        Program::new(args)
            .env("XDG_STATE_HOME", self.path("state"))
            .env("RUNWARD_CONFIG", self.path("config.toml"))
    }

    fn sockets(&self) -> PathBuf {
        self.path("state/runward/approvals")
    }

    pub(crate) fn runward(&self, args: &[&str]) -> Ended {
        self.program(args).run()
    }

    /// What `approvals list --json` shows, once it shows something.
    pub(crate) fn open_questions(&self, wanted: usize) -> Vec<Value> {
        let mut open = Vec::new();
        eventually("the questions are open", || {
            open = self.listed();
            open.len() == wanted
        });
        open
    }

    fn listed(&self) -> Vec<Value> {
        let ended = self.runward(&["approvals", "list", "--json"]);
        assert_eq!(ended.code, 0, "{ended:?}");
        ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Everybody whose user can be shown forms.
    fn people(&self) -> Vec<Person> {
        let (stdio, http) = (|| self.program(&["stdio"]).into_command(), || self.program(&[]).into_command());
        vec![
            Person::stdio(stdio(), Era::Legacy),
            Person::stdio(stdio(), Era::Modern),
            Person::http(http(), Era::Legacy),
            Person::http(http(), Era::Modern),
        ]
    }

    /// What the trail says of all calls, the newest first.
    fn calls(&self) -> Vec<Value> {
        let ended = self.runward(&["audit", "list", "--json"]);
        ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

fn command(line: &str) -> Value {
    json!({ "command": line })
}

pub(crate) fn text(result: &Value) -> String {
    result["content"][0]["text"].as_str().unwrap_or_default().to_owned()
}

#[track_caller]
pub(crate) fn ran(result: &Value, stdout: &str) {
    assert_eq!(result["isError"], false, "{result}");
    assert!(text(result).contains(stdout), "{result}");
}

#[track_caller]
pub(crate) fn refused(result: &Value, why: &str) {
    assert_eq!(result["isError"], true, "{result}");
    assert!(text(result).contains(why), "{result}");
}

/// A home whose only way to ask is the client.
fn without_desk(more: &str) -> Home {
    Home::new(&format!("{RULES}\n[approvals]\nlocal = false\n{more}"))
}

#[test]
fn a_user_is_shown_everything_and_what_they_approve_runs() {
    let home = without_desk("");
    for mut person in home.people() {
        let call = person.begin("execute_command", &command("id -u | tr 0-9 n"));
        let form = person.form(call);
        let message = form["message"].as_str().unwrap();
        let here = std::env::current_dir().unwrap();
        for shown in [
            "id -u | tr 0-9 n",
            here.to_str().unwrap(),
            "wants a person to approve this command: who are you?",
            "ask id -u:",
            "config.toml:4",
            "allow tr 0-9 n:",
        ] {
            assert!(message.contains(shown), "{shown} in {message}");
        }
        let choices = &form["requestedSchema"]["properties"]["decision"]["enum"];
        assert_eq!(*choices, json!(["approve once", "approve for this session", "deny"]));
        let result = person.decide(call, "approve once");
        ran(&result, "n");
        let policy = &result["_meta"]["runward/policy"];
        let reason = policy["reason"].as_str().unwrap();
        assert!(reason.ends_with("approved once by the user of testkit 1"), "{reason}");
    }
}

#[test]
fn what_a_user_denies_does_not_run_and_the_caller_hears_why() {
    let home = without_desk("");
    for mut person in home.people() {
        for (form, why) in [
            (
                json!({ "action": "accept", "content": { "decision": "deny", "note": "use whoami" } }),
                "denied by the user of testkit 1: use whoami",
            ),
            (json!({ "action": "decline" }), "denied by the user of testkit 1"),
            (json!({ "action": "cancel" }), "the form was closed without an answer"),
            (
                json!({ "action": "accept", "content": { "decision": "always allow this prefix" } }),
                "a prefix that was not offered",
            ),
            (json!({ "action": "accept", "content": {} }), "without a decision that was on it"),
            (json!({ "action": "whatever" }), "so it was not run"),
        ] {
            let call = person.begin("execute_command", &command("id"));
            person.form(call);
            let call = person.submit(call, &form);
            refused(&person.reply(call), why);
        }
    }
    assert!(home.calls().iter().all(|call| call["state"] == "refused"));
}

#[test]
fn an_approval_for_the_session_is_not_asked_again_in_it() {
    let home = without_desk("");
    let mut people = home.people();
    let nobody_known = people.pop();
    for mut person in people {
        let call = person.begin("execute_command", &command("id -u"));
        person.form(call);
        ran(&person.decide(call, "approve for this session"), "");
        let call = person.begin("execute_command", &command("id -u"));
        ran(&person.reply(call), "");
        let call = person.begin("execute_command", &command("id -g"));
        person.form(call);
        refused(&person.decide(call, "deny"), "denied by");
    }
    // Over HTTP without sessions and without a token, the next call could be anybody's.
    let mut person = nobody_known.unwrap();
    for decision in ["approve for this session", "approve once"] {
        let call = person.begin("execute_command", &command("id -u"));
        person.form(call);
        ran(&person.decide(call, decision), "");
    }
}

#[test]
fn an_answer_counts_once_and_only_for_its_own_call() {
    let home = without_desk("");
    let mut person = Person::stdio(home.program(&["stdio"]).into_command(), Era::Modern);
    let call = person.begin("execute_command", &command("id -u"));
    person.form(call);
    let approve = json!({ "action": "accept", "content": { "decision": "approve once" } });
    let first = person.submit(call, &approve);
    ran(&person.reply(first), "");
    let again = person.submit(call, &approve);
    refused(&person.reply(again), "no longer open");
    let call = person.begin("execute_command", &command("id -g"));
    let answer = person.client().answer(call);
    let state = answer["result"]["requestState"].clone();
    let forged = json!({
        "name": "execute_command", "arguments": command("rm -r /nowhere"), "requestState": state,
        "inputResponses": { "approval": approve },
        "_meta": { "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} } },
    });
    let reply = person.client().ask("tools/call", forged.clone());
    refused(&reply["result"], "was asked by another call");
    let mut unanswered = forged;
    unanswered["arguments"] = command("id -g");
    unanswered["inputResponses"] = json!({ "other": {} });
    let again = person.client().ask("tools/call", unanswered);
    assert_eq!(again["result"]["requestState"], state, "it is asked again: {again}");
}

#[test]
fn nobody_to_ask_is_a_denial_at_once_and_so_is_a_policy_that_never_asks() {
    let home = without_desk("");
    for era in [Era::Legacy, Era::Modern] {
        let mut client = StdioClient::start(home.program(&["stdio"]).into_command(), era);
        let answer = client.call("execute_command", command("id"));
        refused(&answer["result"], "nobody is there to ask, so it was not run");
    }
    let program = || home.program(&["stdio"]).env("RUNWARD_APPROVAL_POLICY", "never");
    let mut person = Person::stdio(program().into_command(), Era::Modern);
    let call = person.begin("execute_command", &command("id"));
    refused(&person.reply(call), "approval_policy is never");
}

#[test]
fn a_client_that_claims_to_show_forms_and_never_answers_is_a_denial_after_a_while() {
    let home = without_desk("timeout = \"1s\"\n");
    for mut person in home.people() {
        let call = person.begin("execute_command", &command("id"));
        person.form(call);
        let late = json!({ "action": "accept", "content": { "decision": "approve once" } });
        eventually("it is refused", || home.calls().first().is_some_and(|call| call["state"] == "refused"));
        let call = person.submit(call, &late);
        let reply = person.reply(call);
        assert_eq!(reply["isError"], true, "{reply}");
        fs::remove_dir_all(home.path("state")).unwrap();
    }
}

#[test]
fn a_call_that_is_cancelled_while_somebody_thinks_takes_its_question_back() {
    let home = without_desk("");
    let mut person = Person::stdio(home.program(&["stdio"]).into_command(), Era::Legacy);
    let call = person.begin("execute_command", &command("id"));
    person.form(call);
    person.client().cancel(call);
    eventually("it is refused", || home.calls().first().is_some_and(|call| call["state"] == "refused"));
    let reason = home.calls()[0]["reason"].as_str().unwrap().to_owned();
    assert!(reason.contains("no longer waits for an answer"), "{reason}");
}

#[test]
fn a_prefix_is_offered_where_the_settings_say_so_and_is_allowed_from_then_on() {
    let settings = "approval_policy = \"untrusted\"\n[approvals]\nlocal = false\nrequest_rule = true\n";
    let home = Home::new(settings);
    let mut person = Person::stdio(home.program(&["stdio"]).into_command(), Era::Legacy);
    let call =
        person.begin("execute_process", &json!({ "file": "printf", "args": ["%s", "a\"]\n[[rule]]"] }));
    let form = person.form(call);
    assert_eq!(
        form["requestedSchema"]["properties"]["decision"]["enum"].as_array().unwrap().len(),
        3,
        "{form}"
    );
    refused(&person.decide(call, "deny"), "denied by");
    let call = person.begin("execute_process", &json!({ "file": "printf", "args": ["%s"] }));
    let form = person.form(call);
    assert!(form["message"].as_str().unwrap().contains("everything that begins with: printf %s"), "{form}");
    ran(&person.decide(call, "always allow this prefix"), "");
    let call = person.begin("execute_process", &json!({ "file": "printf", "args": ["%s", "more"] }));
    ran(&person.reply(call), "more");
    drop(person);
    let file = home.path("state/runward/approved.toml");
    assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
    let mut later = StdioClient::start(home.program(&["stdio"]).into_command(), Era::Modern);
    let answer = later.call("execute_process", json!({ "file": "printf", "args": ["%s", "later"] }));
    ran(&answer["result"], "later");
    fs::set_permissions(&file, Permissions::from_mode(0o622)).unwrap();
    let ended = home.runward(&["check", "--", "printf", "%s"]);
    assert!(ended.code == 78 && ended.stderr.contains("others may write to it"), "{ended:?}");
}

#[test]
fn escalation_is_asked_for_shown_and_refused_at_once_where_it_cannot_be() {
    let home = without_desk("");
    let exec = |arguments: Value| {
        let mut arguments = arguments;
        arguments["cmd"] = json!("printf out");
        arguments
    };
    let wish = json!({ "sandbox_permissions": "require_escalated", "justification": "needs the network" });
    for mut person in home.people() {
        let call = person.begin("exec_command", &exec(wish.clone()));
        let form = person.form(call);
        let message = form["message"].as_str().unwrap();
        assert!(message.contains("it asks to run outside the sandbox"), "{message}");
        assert!(message.contains("caller says: needs the network"), "{message}");
        ran(&person.decide(call, "approve once"), "Process exited with code 0");
        let call = person.begin("exec_command", &exec(json!({ "justification": "because" })));
        refused(&person.reply(call), "justification needs sandbox_permissions");
    }
    for policy in ["never", "untrusted"] {
        let program = home.program(&["stdio"]).env("RUNWARD_APPROVAL_POLICY", policy);
        let mut person = Person::stdio(program.into_command(), Era::Legacy);
        let call = person.begin("exec_command", &exec(wish.clone()));
        refused(&person.reply(call), &format!("approval_policy is {policy}"));
    }
}

#[test]
fn no_form_of_an_open_listener_counts_while_a_confined_command_could_fill_it_in() {
    let home = without_desk("");
    let wish = json!({ "cmd": "true", "sandbox_permissions": "require_escalated" });
    for era in [Era::Legacy, Era::Modern] {
        let mut person = Person::http(home.program(&[]).into_command(), era);
        let sleep = json!({ "executable": "sleep", "args": ["30"] });
        let running = person.begin("run_network_tool", &sleep);
        eventually("the command runs", || {
            !home.calls().is_empty() && home.calls()[0].to_string().contains("run_network_tool")
        });
        let call = person.begin("exec_command", &wish);
        let result = person.reply(call);
        if text(&result).contains("cannot be kept here") {
            return skipped("this host cannot confine");
        }
        refused(&result, "the client is not asked while a confined command has the host's network");
        drop(person);
        let _ = running;
    }
}

#[test]
fn people_on_the_same_machine_answer_for_every_server() {
    let home = Home::new(RULES);
    let start = || StdioClient::start(home.program(&["stdio"]).into_command(), Era::Modern);
    let mut clients = [start(), start()];
    let calls: Vec<u64> = clients
        .iter_mut()
        .map(|client| {
            client.begin("tools/call", json!({ "name": "execute_command", "arguments": command("id -u") }))
        })
        .collect();
    let open = home.open_questions(2);
    let servers: Vec<_> = open.iter().map(|question| question["server"].as_u64().unwrap()).collect();
    assert_ne!(servers[0], servers[1]);
    let place = home.sockets();
    assert_eq!(fs::metadata(&place).unwrap().mode() & 0o777, 0o700);
    for socket in fs::read_dir(&place).unwrap().flatten() {
        assert_eq!(socket.metadata().unwrap().mode() & 0o777, 0o600);
    }
    let shown = home.runward(&["approvals", "list"]).stdout;
    assert!(shown.contains("    id -u\n") && shown.contains("asked because: the rule"), "{shown}");
    let id = |at: usize| open[at]["id"].as_str().unwrap();
    let of = |at: usize| {
        let pid = open[at]["server"].as_u64().unwrap();
        usize::from(u64::from(clients_pid(&clients, 1)) == pid)
    };
    let (first, second) = (of(0), of(1));
    let allowed = home.runward(&["approvals", "allow", id(0), "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&allowed.stdout).unwrap()["taken"], true, "{allowed:?}");
    let denied = home.runward(&["approvals", "deny", id(1), "--note", "use whoami"]);
    assert_eq!(
        (denied.code, denied.stdout.as_str()),
        (0, format!("{}: deny\n", id(1)).as_str()),
        "{denied:?}"
    );
    ran(&clients[first].answer(calls[first])["result"], "");
    refused(&clients[second].answer(calls[second])["result"], "with runward approvals: use whoami");
    for answer in ["allow", "deny"] {
        let again = home.runward(&["approvals", answer, id(0)]);
        assert!(again.code == 1 && again.stderr.contains("no server asks this"), "{again:?}");
    }
    let answers: Vec<_> = home.calls().iter().map(|call| call["answer"].clone()).collect();
    assert!(answers.contains(&json!("approve_once")) && answers.contains(&json!("deny")), "{answers:?}");
}

fn clients_pid(clients: &[StdioClient; 2], at: usize) -> u32 {
    clients[at].pid()
}

#[test]
fn whoever_answers_first_counts_and_the_form_is_taken_back() {
    let home = Home::new(RULES);
    let mut person = Person::stdio(home.program(&["stdio"]).into_command(), Era::Legacy);
    let call = person.begin("execute_command", &command("id -u"));
    person.form(call);
    let id = home.open_questions(1)[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(home.runward(&["approvals", "allow", &id]).code, 0);
    let messages = person.client().messages(call);
    assert!(messages.iter().any(|message| message["method"] == "notifications/cancelled"), "{messages:?}");
    ran(&messages.last().unwrap()["result"], "");
    let late = json!({ "action": "accept", "content": { "decision": "deny" } });
    person.submit(call, &late);
    let mut modern = Person::stdio(home.program(&["stdio"]).into_command(), Era::Modern);
    let call = modern.begin("execute_command", &command("id -g"));
    modern.form(call);
    let id = home.open_questions(1)[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(home.runward(&["approvals", "deny", &id]).code, 0);
    refused(&modern.decide(call, "approve once"), "with runward approvals");
}

#[test]
fn an_approval_for_the_session_or_for_good_can_be_given_here_too() {
    let settings = "approval_policy = \"untrusted\"\napprovals.request_rule = true\n";
    let home = Home::new(settings);
    let mut client = StdioClient::start(home.program(&["stdio"]).into_command(), Era::Modern);
    let begin = |client: &mut StdioClient, line: &str| {
        client.begin("tools/call", json!({ "name": "execute_command", "arguments": command(line) }))
    };
    let mut answered = |line: &str, flag: &str| {
        let call = begin(&mut client, line);
        let id = home.open_questions(1)[0]["id"].as_str().unwrap().to_owned();
        let ended = home.runward(&["approvals", "allow", &id, flag]);
        assert_eq!(ended.code, 0, "{ended:?}");
        ran(&client.answer(call)["result"], "");
        let call = begin(&mut client, line);
        ran(&client.answer(call)["result"], "");
    };
    answered("bash -c id", "--session");
    answered("printf %s x", "--always");
    let call = begin(&mut client, "python3 -c 1");
    let id = home.open_questions(1)[0]["id"].as_str().unwrap().to_owned();
    let ended = home.runward(&["approvals", "allow", &id, "--always"]);
    assert!(ended.code == 1 && ended.stderr.contains("no prefix is on offer"), "{ended:?}");
    assert_eq!(home.runward(&["approvals", "deny", &id]).code, 0);
    refused(&client.answer(call)["result"], "denied by");
}

#[test]
fn sockets_that_nobody_listens_to_are_removed_and_other_files_are_not() {
    let home = Home::new(RULES);
    let place = home.sockets();
    fs::create_dir_all(&place).unwrap();
    fs::set_permissions(&place, Permissions::from_mode(0o700)).unwrap();
    drop(UnixListener::bind(place.join("1-stale.sock")).unwrap());
    fs::write(place.join("notes.txt"), "kept").unwrap();
    let ended = home.runward(&["approvals", "list"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (0, ""), "{ended:?}");
    assert!(ended.stderr.contains("nothing waits for an answer"), "{ended:?}");
    assert!(!place.join("1-stale.sock").exists() && place.join("notes.txt").exists());
    let mut client = StdioClient::start(home.program(&["stdio"]).into_command(), Era::Modern);
    let call = json!({ "name": "execute_command", "arguments": command("id") });
    client.begin("tools/call", call.clone());
    home.open_questions(1);
    client.server().signal(Signal::KILL);
    client.server().ended();
    assert_eq!(home.listed().len(), 0);
    let mut client = StdioClient::start(home.program(&["stdio"]).into_command(), Era::Modern);
    client.begin("tools/call", call);
    home.open_questions(1);
    drop(client);
    let left: Vec<_> = fs::read_dir(&place).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(left, ["notes.txt"], "a server that ends takes its socket with it");
}

#[test]
fn a_directory_that_another_user_could_have_prepared_is_not_used() {
    let home = Home::new(RULES);
    let (place, elsewhere) = (home.sockets(), home.path("elsewhere"));
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, &place).unwrap();
    let mut client = StdioClient::start(home.program(&["stdio"]).into_command(), Era::Modern);
    let answer = client.call("execute_command", command("id"));
    refused(&answer["result"], "nobody can be asked on this machine");
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
    assert_eq!(home.runward(&["approvals", "list"]).code, 70);
}

#[test]
fn nobody_else_is_heard() {
    if !rustix::process::geteuid().is_root() {
        return skipped("only root can try as somebody else");
    }
    let home = Home::new(RULES);
    let mut client = StdioClient::start(home.program(&["stdio"]).into_command(), Era::Modern);
    client.begin("tools/call", json!({ "name": "execute_command", "arguments": command("id") }));
    home.open_questions(1);
    let place = home.sockets();
    let socket = fs::read_dir(&place).unwrap().flatten().next().unwrap().path();
    for path in [home.0.path(), &home.path("state"), &home.path("state/runward"), &place, &socket] {
        fs::set_permissions(path, Permissions::from_mode(0o777)).unwrap();
    }
    let asked = r#"import os, socket, sys
os.setgid(65534)
os.setuid(65534)
stream = socket.socket(socket.AF_UNIX)
stream.connect(sys.argv[1])
stream.sendall(b'{"do":"list"}\n')
sys.stdout.buffer.write(stream.recv(65536))
"#;
    let heard = python(asked, &socket);
    assert_eq!(heard, "", "somebody else is told nothing");
    assert!(python(&asked.replace("65534", "0"), &socket).contains("\"questions\""), "root is");
}

#[expect(clippy::disallowed_methods, reason = "somebody else has to be another process")]
fn python(script: &str, socket: &Path) -> String {
    let output = std::process::Command::new("python3").arg("-c").arg(script).arg(socket).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_server_that_ends_while_somebody_thinks_runs_nothing() {
    let home = Home::new(RULES);
    let marker = Marker::new();
    let mut client = StdioClient::start(home.program(&["stdio"]).into_command(), Era::Legacy);
    let line = format!("id; sleep 30 # {}", marker.as_str());
    client.begin("tools/call", json!({ "name": "execute_command", "arguments": command(&line) }));
    home.open_questions(1);
    client.close_input();
    assert!(client.server().ended().success());
    assert!(marker.carriers().is_empty());
    let calls = home.calls();
    assert!(calls.iter().all(|call| call["state"] == "refused"), "{calls:?}");
}

#[test]
fn check_says_what_a_person_would_be_asked_about() {
    let home = Home::new("policy.allowed_commands = [\"*\", \"ls\"]\n");
    let check = |policy: &str, command: &str| {
        let ended = home.program(&["check", "--", command]).env("RUNWARD_APPROVAL_POLICY", policy).run();
        (ended.code, ended.stdout.split(':').next().unwrap().to_owned())
    };
    assert_eq!(check("on-request", "id"), (0, "allowed".into()));
    assert_eq!(check("untrusted", "id"), (1, "needs approval".into()));
    assert_eq!(check("untrusted", "ls -l"), (0, "allowed".into()));
}

#[test]
fn a_caller_that_asked_for_progress_hears_that_somebody_is_asked() {
    let home = Home::new(RULES);
    let program = home.program(&["stdio"]).env("RUNWARD_MCP_HEARTBEAT", "1s");
    let mut client = StdioClient::start(program.into_command(), Era::Modern);
    let call = json!({
        "name": "execute_command", "arguments": command("id"), "_meta": { "progressToken": "mine" },
    });
    let call = client.begin("tools/call", call);
    let note = client.receive().unwrap();
    assert_eq!(note["params"]["message"], "waiting for approval", "{note}");
    let id = home.open_questions(1)[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(home.runward(&["approvals", "deny", &id]).code, 0);
    refused(&client.answer(call)["result"], "denied by");
}

#[test]
fn a_question_that_nobody_looks_at_is_denied_soon() {
    let home = Home::new(RULES);
    let program = home.program(&["stdio"]).env("RUNWARD_APPROVALS_NOTICE", "1s");
    let mut client = StdioClient::start(program.into_command(), Era::Modern);
    let call = json!({ "name": "execute_command", "arguments": command("id") });
    let answer = client.ask("tools/call", call);
    refused(
        &answer["result"],
        "nobody is there to ask: nobody looked at it with `runward approvals list` within 1 s",
    );
}

#[test]
fn a_question_that_was_looked_at_waits_for_its_answer() {
    let home = Home::new(RULES);
    let program =
        home.program(&["stdio"]).env("RUNWARD_APPROVALS_NOTICE", "2s").env("RUNWARD_APPROVALS_TIMEOUT", "4s");
    let mut client = StdioClient::start(program.into_command(), Era::Modern);
    let call = client.begin("tools/call", json!({ "name": "execute_command", "arguments": command("id") }));
    home.open_questions(1);
    refused(&client.answer(call)["result"], "nobody answered within 4 s");
}
