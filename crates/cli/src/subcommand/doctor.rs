//! `runward doctor`: what this host can enforce, found out by trying every promise for real.

mod daemon;
mod proxy;
mod stage;
mod tell;

use std::ffi::OsStr;
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::path::Path;

use anyhow::Context;
use runward_model::{Abilities, Enforced, Fence, Limits, Network, Profile, Promise, Tier};
use runward_process::{Child, OwnProgram, RunnerProgram, Spawner, Stdio};
use runward_sandbox::{Fallback, Scene, Settings, trial};

use crate::args::{Common, Doctor};
use crate::config::Config;
use crate::exit::Exit;
use crate::wiring;
use stage::Set;

/// What was found out.
pub(crate) struct Findings {
    abilities: Abilities,
    enforced: Enforced,
    tried: Vec<trial::Tried>,
    /// What was changed out there although it must not, and other things that no act can tell of itself.
    breaches: Vec<(Promise, String)>,
    /// What must work and does not.
    broken: Vec<String>,
    remedy: String,
    /// Whether commands can write to caches.
    caches: bool,
    /// Doors whose commands have another network than the rest.
    exceptions: String,
}

/// Tries everything and says what came of it; the exit code says it too.
pub(crate) fn run(args: &Doctor, common: &Common) -> anyhow::Result<Exit> {
    let config = Config::load(common.config.as_deref(), &common.flags())?;
    crate::log::start(&config.log)?;
    let findings = wiring::block_on(examine(&config, args))?;
    let text = if args.json { tell::as_json(&findings)? } else { tell::as_text(&findings) };
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(if findings.is_sound() { Exit::Success } else { Exit::No })
}

impl Findings {
    /// Whether the profile can be kept as a whole.
    fn is_sound(&self) -> bool {
        self.enforced.unkept.is_empty() && self.broken_promises().is_empty() && self.broken.is_empty()
    }

    /// Promises that were broken, and by what.
    fn broken_promises(&self) -> Vec<(Promise, String)> {
        let open = self.enforced.network == Network::On;
        let counts = |promise: Promise| !(open && promise == Promise::Network);
        let through = self.tried.iter().filter(|tried| tried.refused.is_none() && counts(tried.promise));
        let acts = through.map(|tried| (tried.promise, tried.act.clone()));
        acts.chain(self.breaches.iter().cloned()).collect()
    }
}

async fn examine(config: &Config, args: &Doctor) -> anyhow::Result<Findings> {
    let unconfined = args.unconfined;
    let tier = args.tier.as_deref().map_or(Ok(Tier::Full), tier_named)?;
    let program = RunnerProgram { containment: config.process.containment, tier, ..RunnerProgram::default() };
    let spawner = Spawner::new(program);
    let abilities = spawner.abilities().await?.as_ref().clone();
    let set = Set::up().context("no place to try things in")?;
    let (fence, enforced) = fence(config, &set, &abilities)?;
    let fence = fence.filter(|_| !unconfined);
    let tried = act(&spawner, fence.clone(), &set).await?;
    let mut breaches = set.changes();
    breaches.extend(
        daemon::survives(&spawner, fence.clone(), &set).await?.map(|what| (Promise::Processes, what)),
    );
    let broken = if unconfined { Vec::new() } else { set.unusable(enforced.profile, &tried) };
    spawner.shutdown().await;
    breaches.extend(set.strays().into_iter().map(|what| (Promise::Protected, what)));
    let remedy = runward_sandbox::remedy(&abilities);
    let exceptions = exceptions(config);
    let layered = |tried: &trial::Tried| tried.refused.as_deref() == Some(trial::LAYERED);
    let caches = unconfined || tried.iter().any(layered);
    Ok(Findings { abilities, enforced, tried, breaches, broken, remedy, caches, exceptions })
}

/// Which doors have a network of their own, in words.
fn exceptions(config: &Config) -> String {
    let sandbox = &config.sandbox;
    let doors = [("run_network_tool", &config.network_tool.network), ("raw", &config.raw.network)];
    let other = doors.iter().filter(|(_, reach)| **reach != sandbox.network);
    let words: Vec<String> =
        other.map(|(door, reach)| format!("{door}: {}", reach.network().name())).collect();
    if words.is_empty() { String::new() } else { format!(" ({})", words.join(", ")) }
}

fn tier_named(name: &str) -> anyhow::Result<Tier> {
    let name = if name == "landlock" { Tier::Landlock.name() } else { name };
    let known = Tier::ALL.into_iter().find(|tier| tier.name() == name);
    known.with_context(|| {
        format!("there is no tier {name:?}; there are {}", Tier::ALL.map(Tier::name).join(", "))
    })
}

/// What the settings say, or what they would with the usual profile where they confine nothing.
fn fence(config: &Config, set: &Set, abilities: &Abilities) -> anyhow::Result<(Option<Fence>, Enforced)> {
    let sandboxing = wiring::sandboxing(config);
    let mut settings: Settings = sandboxing.usual;
    if settings.profile == Profile::FullAccess {
        settings.profile = Profile::WorkspaceWrite;
    }
    settings.fallback = Fallback::Warn;
    settings.deny_read.push(set.hidden());
    settings.caches = set.caches();
    settings.writable_roots.clear();
    // What would be held back is refused: that it is seen to be is what is tried.
    settings.held = None;
    settings.projects.roots.clear();
    let scene = Scene { cwd: &set.work(), program: &std::env::current_exe()?, projects: &[set.work()] };
    Ok(settings.confine(settings.profile, sandboxing.reach.network(), scene, abilities)?)
}

/// Has every forbidden act tried, and reads what came of it.
async fn act(spawner: &Spawner, fence: Option<Fence>, set: &Set) -> anyhow::Result<Vec<trial::Tried>> {
    let program = std::env::current_exe()?;
    let arguments = set.stage().arguments();
    let words: Vec<&str> = std::iter::once(trial::NAME).chain(arguments.iter().map(String::as_str)).collect();
    let mut child = start(spawner, program.as_os_str(), &words, fence, set.handle()?).await?;
    let _proxy = child.proxy_listener.take().map(proxy::serve).transpose()?;
    let mut output = Vec::new();
    let mut stdout = child.stdout.take().context("no output")?;
    let mut chunk = vec![0; 16 * 1024];
    loop {
        match stdout.read(&mut chunk).await? {
            0 => break,
            read => output.extend_from_slice(chunk.get(..read).unwrap_or_default()),
        }
    }
    Ok(trial::read(&String::from_utf8_lossy(&output)))
}

/// Starts a program as the engine would, without asking a policy: these are our own.
async fn start(
    spawner: &Spawner,
    program: &OsStr,
    words: &[&str],
    fence: Option<Fence>,
    directory: OwnedFd,
) -> anyhow::Result<Child> {
    let env = [("PATH".into(), std::env::var_os("PATH").unwrap_or_default())];
    let (program, fence) = (Path::new(program), fence.as_ref());
    let own = OwnProgram { program, argv: words, env: &env, limits: Limits::default(), fence };
    Ok(spawner.spawn(own.for_doctor()?, directory, Stdio::Pipes).await?)
}
