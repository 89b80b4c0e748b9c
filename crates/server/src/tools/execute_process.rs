//! `execute_process`: a program and its arguments, with no shell between.

use runward_model::{Argv, Caller, Request, Work};

use super::{Act, Alternative, Limits, Run, Telling, Tool, running};
use crate::params::{Given, Kind, Need, Param};

pub(super) const TOOL: Tool = Tool {
    name: "execute_process",
    title: "Run a program with arguments",
    description: "Run one program with a list of arguments, without a shell: every argument reaches the program \
        exactly as given, nothing is quoted or expanded. \
        Prefer this for a single program, above all when arguments hold spaces, quotes, `$` or text from elsewhere. \
        It runs to its end, and the reply is YAML with exit_code, stdout and stderr. \
        The program must be allowed by the operator; a refusal says which are.",
    alternative: Some(Alternative {
        tool: "execute_command",
        when: "For pipes, redirections, globs or several commands use execute_command.",
    }),
    annotations: running::annotations,
    params,
    output: None,
    act: Act::Run(Run {
        telling: Telling::Heartbeat,
        decode,
        encode: running::encode,
        refuse: running::refuse,
    }),
};

fn params(limits: &Limits) -> Vec<Param> {
    let file = Param {
        name: "file",
        kind: Kind::Word,
        need: Need::Required,
        description: "The program: a name to look up on PATH, such as `git`, or a path.",
    };
    let args = Param {
        name: "args",
        kind: Kind::TextList,
        need: Need::Optional,
        description: "Its arguments, one string each, without the program itself: [\"log\", \"--oneline\"].",
    };
    [file, args].into_iter().chain(running::surroundings(limits)).collect()
}

fn decode(mut given: Given, caller: Caller) -> Request {
    let argv = Argv { file: given.word("file"), args: given.texts("args") };
    running::request(Work::Argv(argv), given, caller)
}
