//! `runward token`: makes the bearer tokens that HTTP clients show.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::Path;

use anyhow::{Context as _, bail};
use runward_files::private::{self, Others};
use runward_files::{random, replace};
use runward_server::{Role, hash_of};

use crate::args::Token;
use crate::config::{checked_name, roles_of};
use crate::exit::Exit;
use crate::state::State;

/// Makes this user's own token, or one with a name.
pub(crate) fn run(args: &Token) -> anyhow::Result<Exit> {
    match &args.name {
        Some(name) => named(name, &args.roles),
        None => own(&State::token_file(), args.new),
    }
}

/// Only its hash is kept, and that by whoever writes it into the settings.
fn named(name: &str, roles: &str) -> anyhow::Result<Exit> {
    let asked = checked_name(name).and_then(|name| {
        let names = roles.split(',').map(str::trim).filter(|role| !role.is_empty());
        Ok((name, roles_of(names)?))
    });
    let (name, roles) = match asked {
        Ok(asked) => asked,
        Err(what) => {
            eprintln!("runward: {what}");
            return Ok(Exit::Usage);
        }
    };
    let token = fresh();
    let hash = hash_of(&token).iter().fold(String::new(), |mut digits, byte| {
        let _ = write!(digits, "{byte:02x}");
        digits
    });
    let roles: Vec<_> = roles.into_iter().map(Role::name).map(|role| format!("{role:?}")).collect();
    let roles = roles.join(", ");
    writeln!(
        io::stdout(),
        "{token}\n\n[[token]]\nname = {name:?}\nhash = \"sha256:{hash}\"\nroles = [{roles}]"
    )?;
    eprintln!(
        "runward: the first line is the token, which is shown only now: give it to {name}. The rest belongs at the end of \
         the settings; servers read it when they start"
    );
    Ok(Exit::Success)
}

fn own(file: &Path, replace: bool) -> anyhow::Result<Exit> {
    let is_there = !replace && runward_client::token(file)?.is_some();
    if !is_there {
        write(file).with_context(|| format!("cannot write {}", file.display()))?;
    }
    writeln!(io::stdout(), "{}", file.display())?;
    if is_there {
        eprintln!("runward: it was there already; runward token --new makes another one");
    }
    Ok(Exit::Success)
}

/// Found only once it is whole.
fn write(file: &Path) -> anyhow::Result<()> {
    let directory = file.parent().context("it has no directory")?;
    private::make(directory)?;
    if !private::is_directory_of(directory, private::user(), Others::Read) {
        bail!("others can write to {}; make it private (chmod 700)", directory.display());
    }
    Ok(replace(file, format!("{}\n", fresh()).as_bytes(), 0o600)?)
}

/// A token that nobody can guess, and that is known for one where it turns up.
fn fresh() -> String {
    format!("runward_{}", random::name::<32>())
}
