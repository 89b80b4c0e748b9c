//! From the command line and the variables to what is asked of whom.

use std::collections::BTreeMap;
use std::env;
use std::io::IsTerminal as _;
use std::time::Duration;

use runward_client::{Address, Call, Server, Stdin};

use crate::args::Args;
use crate::exit::Failure;
use crate::state::State;
use crate::terminal;

/// For how long the server keeps a command whose client was lost.
pub(crate) const RESUME: Duration = Duration::from_secs(10);

const SERVER: &str = "RUN_REMOTE_SERVER";
const TOKEN: &str = "RUN_REMOTE_TOKEN";

/// The server that the variables name.
pub(crate) fn server() -> Result<Server, Failure> {
    let example = format!("{SERVER}=http://127.0.0.1:8000/raw");
    let Some(text) = env::var_os(SERVER).filter(|text| !text.is_empty()) else {
        return Err(Failure::usage(format!("{SERVER} is not set; say where the server is, as in {example}")));
    };
    let text = text.to_string_lossy();
    let address: Address = text
        .parse()
        .map_err(|why| Failure::usage(format!("{SERVER} is {text:?}: {why}, as in {example}")))?;
    let token = match token()? {
        None if address.is_loopback() => own_token()?,
        token => token,
    };
    Ok(Server::new(address, token))
}

fn token() -> Result<Option<String>, Failure> {
    let Some(token) = env::var_os(TOKEN).filter(|token| !token.is_empty()) else { return Ok(None) };
    let token = token.into_string().ok().filter(|token| token.bytes().all(|byte| byte.is_ascii_graphic()));
    let wrong = || Failure::usage(format!("{TOKEN} holds a character that no token has; set it again"));
    token.map(Some).ok_or_else(wrong)
}

/// The token that this user has made on this machine, for servers on it.
fn own_token() -> Result<Option<String>, Failure> {
    runward_client::token(&State::token_file()).map_err(|why| {
        Failure::usage(format!("the token of this user cannot be used: {why}; or set {TOKEN}"))
    })
}

/// What is asked of the server.
pub(crate) fn call(args: Args) -> Result<Call, Failure> {
    let tty = args.tty.then(terminal::size);
    let streams =
        args.tty || args.interactive || (!std::io::stdin().is_terminal() && !terminal::input_is_null());
    Ok(Call {
        cwd: Some(directory(args.cwd)?),
        env: environment(&args.keep_env)?,
        stdin: if streams { Stdin::Stream } else { Stdin::None },
        tty,
        workspace: args.workspace,
        timeout_ms: args.timeout.map_or(0, milliseconds),
        resume_ms: milliseconds(RESUME),
        executable: args.program,
        args: args.words,
        ..Call::default()
    })
}

/// The current directory, or another as seen from there.
fn directory(other: Option<String>) -> Result<String, Failure> {
    let current = env::current_dir();
    let current =
        current.map_err(|why| Failure::usage(format!("the current directory is gone: {why}; use --cwd")));
    let directory = match other {
        Some(absolute) if absolute.starts_with('/') => return Ok(absolute),
        Some(other) => current?.join(other),
        None => current?,
    };
    directory.into_os_string().into_string().map_err(|_| {
        Failure::usage("the current directory is not UTF-8, and only text can be sent; use --cwd")
    })
}

/// The named variables. Those that are not set are all named before anything is sent.
fn environment(names: &[String]) -> Result<BTreeMap<String, String>, Failure> {
    let unset: Vec<&str> =
        names.iter().map(String::as_str).filter(|name| env::var_os(name).is_none()).collect();
    if !unset.is_empty() {
        let what = format!("--keep-env names variables that are not set: {}", unset.join(", "));
        return Err(Failure::usage(what + "; set them, or leave them out"));
    }
    let value = |name: &String| {
        let value = env::var(name);
        let value =
            value.map_err(|_| Failure::usage(format!("{name} is not UTF-8, and only text can be sent")));
        Ok((name.clone(), value?))
    };
    names.iter().map(value).collect()
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
