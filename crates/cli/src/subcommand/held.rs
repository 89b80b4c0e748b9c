//! `runward held`: what commands made that would run code for others, and what becomes of it.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use runward_sandbox::HeldBack;
use serde_json::json;

use crate::args::{Held, HeldAction, Named};
use crate::exit::Exit;
use crate::printable::printable;
use crate::state::State;

/// More of one file is not shown.
const SHOWN: usize = 64 * 1024;

/// Lists what is held back, shows it, puts it in its place, or removes it.
pub(crate) fn run(args: &Held) -> anyhow::Result<Exit> {
    let store = State::of_this_user().path().join("held");
    // A machine that lost its power, or a server and its runner that were killed, may have left something standing in.
    runward_sandbox::sweep_all(&store);
    let all =
        runward_sandbox::held_back(&store).with_context(|| format!("cannot read {}", store.display()))?;
    match &args.action {
        None => list(&all, args.json),
        Some(HeldAction::Show(named)) => {
            each(&all, named, |held| Ok(write!(io::stdout(), "{}", shown(held)?)?))
        }
        Some(HeldAction::Accept(named)) => each(&all, named, |held| {
            held.accept().with_context(|| format!("cannot put {} in its place", place(held)))?;
            Ok(writeln!(io::stdout(), "{} is in its place now", place(held))?)
        }),
        Some(HeldAction::Discard(named)) => each(&all, named, |held| {
            held.discard().with_context(|| format!("cannot discard {}", place(held)))?;
            Ok(writeln!(io::stdout(), "{} is discarded", place(held))?)
        }),
    }
}

fn list(all: &[HeldBack], as_json: bool) -> anyhow::Result<Exit> {
    let mut out = String::new();
    for held in all {
        if as_json {
            writeln!(out, "{}", json!({ "workspace": held.root, "path": held.path, "kept": held.kept }))?;
        } else {
            writeln!(out, "{}", place(held))?;
        }
    }
    if all.is_empty() && !as_json {
        out.push_str("nothing is held back\n");
    } else if !as_json {
        out.push_str("\nlook with `runward held show PATH`; then `runward held accept PATH` or `runward held discard PATH`\n");
    }
    io::stdout().write_all(out.as_bytes())?;
    Ok(Exit::Success)
}

/// Does something with each thing that was named.
fn each(
    all: &[HeldBack],
    named: &Named,
    mut act: impl FnMut(&HeldBack) -> anyhow::Result<()>,
) -> anyhow::Result<Exit> {
    if !named.all && named.paths.is_empty() {
        bail!("name a path that `runward held` lists, or give --all");
    }
    let wanted: Vec<PathBuf> =
        named.paths.iter().map(|path| absolute(path)).collect::<anyhow::Result<_>>()?;
    for path in &wanted {
        if !all.iter().any(|held| held.root.join(&held.path) == *path) {
            bail!("nothing is held back at {}; `runward held` lists what is", path.display());
        }
    }
    let is_wanted = |held: &&HeldBack| named.all || wanted.contains(&held.root.join(&held.path));
    all.iter().filter(is_wanted).try_for_each(&mut act)?;
    Ok(Exit::Success)
}

/// A path as `held` lists it, with the links on the way to it resolved.
fn absolute(path: &Path) -> anyhow::Result<PathBuf> {
    let whole = std::path::absolute(path)?;
    let (Some(parent), Some(name)) = (whole.parent(), whole.file_name()) else { return Ok(whole) };
    Ok(fs::canonicalize(parent).map_or(whole.clone(), |parent| parent.join(name)))
}

fn place(held: &HeldBack) -> String {
    printable(&held.root.join(&held.path).to_string_lossy())
}

/// What is in a file, or in each file of a directory, fit for a terminal.
fn shown(held: &HeldBack) -> anyhow::Result<String> {
    let mut out = String::new();
    show(&held.kept, &place(held), &mut out)?;
    Ok(out)
}

fn show(file: &Path, name: &str, out: &mut String) -> anyhow::Result<()> {
    let found = fs::symlink_metadata(file)?;
    if found.is_dir() {
        let mut names: Vec<_> =
            fs::read_dir(file)?.collect::<Result<Vec<_>, _>>()?.iter().map(fs::DirEntry::file_name).collect();
        names.sort();
        for below in names {
            let shown = format!("{name}/{}", printable(&below.to_string_lossy()));
            show(&file.join(&below), &shown, out)?;
        }
        return Ok(());
    }
    writeln!(out, "==> {name}")?;
    if found.is_symlink() {
        writeln!(out, "a link to {}", printable(&fs::read_link(file)?.to_string_lossy()))?;
        return Ok(());
    }
    if !found.is_file() {
        writeln!(out, "neither a file nor a directory")?;
        return Ok(());
    }
    let bytes = fs::read(file)?;
    for line in String::from_utf8_lossy(bytes.get(..SHOWN).unwrap_or(&bytes)).lines() {
        writeln!(out, "{}", printable(line))?;
    }
    if bytes.len() > SHOWN {
        writeln!(out, "… {} bytes more", bytes.len() - SHOWN)?;
    }
    Ok(())
}
