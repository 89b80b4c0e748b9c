//! `runward gc`: what is kept of what commands have written to caches, and what is removed of it.

use std::io::{self, Write};

use anyhow::Context as _;
use runward_sandbox::{KeptLayer, Layers};
use serde_json::json;

use crate::args::{Common, Gc};
use crate::config::Config;
use crate::exit::Exit;
use crate::printable::printable;
use crate::state::State;
use crate::wiring;

/// What becomes of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Kept,
    InUse,
    WouldBeRemoved,
    Removed,
}

impl Fate {
    const fn words(self) -> &'static str {
        match self {
            Fate::Kept => "kept",
            Fate::InUse => "in use",
            Fate::WouldBeRemoved => "would be removed",
            Fate::Removed => "removed",
        }
    }
}

/// Removes what is too much or too old, and shows each layer.
pub(crate) fn run(args: &Gc, common: &Common) -> anyhow::Result<Exit> {
    let config = Config::load(common.config.as_deref(), &common.flags())?;
    crate::log::start(&config.log)?;
    let Some(directory) = wiring::cache_layers(&State::of_this_user()) else {
        anyhow::bail!("there is no home directory to keep caches in, so they are kept in memory alone");
    };
    let layers = Layers::below(directory.clone());
    let kept = layers.list().with_context(|| format!("cannot read {}", directory.display()))?;
    let superfluous = if args.all {
        kept.iter().filter(|layer| !layer.in_use).cloned().collect()
    } else {
        Layers::superfluous(&kept, config.sandbox.cache_quota, config.sandbox.cache_keep)
    };
    let mut told = Vec::new();
    for layer in kept {
        let fate = match (superfluous.contains(&layer), layer.in_use) {
            (false, true) => Fate::InUse,
            (false, false) => Fate::Kept,
            (true, _) if args.dry_run => Fate::WouldBeRemoved,
            (true, _) => {
                let removed = layers.remove(&layer);
                let removed =
                    removed.with_context(|| format!("cannot remove {}", layer.directory.display()))?;
                if removed { Fate::Removed } else { Fate::InUse }
            }
        };
        told.push((layer, fate));
    }
    let text = if args.json { as_json(&told)? } else { as_text(&told) };
    io::stdout().write_all(text.as_bytes())?;
    Ok(Exit::Success)
}

fn as_text(told: &[(KeptLayer, Fate)]) -> String {
    if told.is_empty() {
        return "no command has written to a cache\n".into();
    }
    let line = |(layer, fate): &(KeptLayer, Fate)| {
        let size = layer.size.map_or("unknown".into(), shown);
        let workspace = printable(&layer.workspace.to_string_lossy());
        format!("{size:>10}  used {:>8} ago  {:<16}  {workspace}\n", age(layer), fate.words())
    };
    let sum = |wanted: &[Fate]| {
        let sizes = told.iter().filter(|(_, fate)| wanted.contains(fate)).filter_map(|(layer, _)| layer.size);
        shown(sizes.fold(0, u64::saturating_add))
    };
    let (kept, gone) = (sum(&[Fate::Kept, Fate::InUse]), sum(&[Fate::WouldBeRemoved, Fate::Removed]));
    let verb =
        if told.iter().any(|(_, fate)| *fate == Fate::WouldBeRemoved) { "to be removed" } else { "removed" };
    told.iter().map(line).collect::<String>() + &format!("{kept} kept, {gone} {verb}\n")
}

fn as_json(told: &[(KeptLayer, Fate)]) -> anyhow::Result<String> {
    let layers: Vec<_> = told
        .iter()
        .map(|(layer, fate)| {
            json!({
                "workspace": layer.workspace.to_string_lossy(),
                "directory": layer.directory.to_string_lossy(),
                "bytes": layer.size,
                "idle_seconds": layer.last_used.elapsed().unwrap_or_default().as_secs(),
                "fate": fate.words(),
            })
        })
        .collect();
    Ok(serde_json::to_string_pretty(&json!({ "layers": layers }))? + "\n")
}

/// A size in the unit that fits.
fn shown(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    let fits = units.into_iter().find(|(power, _)| bytes >> power > 0);
    fits.map_or_else(
        || format!("{bytes} B"),
        |(power, unit)| {
            let tenths = (u128::from(bytes) * 10) >> power;
            format!("{}.{} {unit}", tenths / 10, tenths % 10)
        },
    )
}

/// How long nobody has used it, in the unit that fits.
fn age(layer: &KeptLayer) -> String {
    let seconds = layer.last_used.elapsed().unwrap_or_default().as_secs();
    let units = [(86_400, "d"), (3600, "h"), (60, "m")];
    let fits = units.into_iter().find(|(length, _)| seconds >= *length);
    fits.map_or_else(|| format!("{seconds}s"), |(length, unit)| format!("{}{unit}", seconds / length))
}
