//! Confine: what a command may touch, decided once it is known what runs and where.

use std::ffi::{CString, OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use runward_model::{Abilities, Confinement, Door, Enforced, Fence, Network, Profile, Refusal, Tier};
use runward_process::Spawner;
use runward_sandbox::{Scene, Settings};

/// Directories of a confined command's own, where it has namespaces.
const PRIVATE: [&str; 2] = ["/tmp", "/var/tmp"];

/// How commands are confined, and by which doors some have another network.
#[derive(Clone, Debug)]
pub struct Sandboxing {
    /// What holds for every door.
    pub usual: Settings,
    /// The network of certain doors, by name.
    pub networks: Vec<(&'static str, Network)>,
}

impl Sandboxing {
    /// Nothing is confined.
    pub fn none() -> Self {
        let usual = Settings {
            profile: Profile::FullAccess,
            network: Network::On,
            writable_roots: Vec::new(),
            deny_read: Vec::new(),
            fallback: runward_sandbox::Fallback::Refuse,
            keep: std::time::Duration::ZERO,
            home: None,
        };
        Sandboxing { usual, networks: Vec::new() }
    }

    fn profile(&self, confinement: Confinement) -> Profile {
        match confinement {
            Confinement::Usual => self.usual.profile,
            Confinement::Escalated => Profile::FullAccess,
        }
    }

    fn network(&self, door: Door) -> Network {
        let own = self.networks.iter().find(|(name, _)| *name == door.0);
        own.map_or(self.usual.network, |(_, network)| *network)
    }
}

/// What a command is confined to, and what has to be there for as long as it runs.
#[derive(Debug, Default)]
pub(crate) struct Confined {
    pub(crate) fence: Option<Fence>,
    pub(crate) enforced: Enforced,
    pub(crate) temporary: Option<TemporaryDirectory>,
}

/// Confines what a door asked for. Only a person's word makes the profile wider.
pub(crate) async fn confine(
    sandboxing: &Sandboxing,
    spawner: &Spawner,
    door: Door,
    confinement: Confinement,
    scene: Scene<'_>,
) -> Result<Confined, Refusal> {
    let profile = sandboxing.profile(confinement);
    if profile == Profile::FullAccess {
        return Ok(Confined::default());
    }
    let failed = |reason: String| Refusal::StartFailed { program: scene.program.to_owned(), reason };
    let abilities = spawner.abilities().await.map_err(|error| failed(error.to_string()))?;
    let network = sandboxing.network(door);
    let (fence, enforced) = sandboxing
        .usual
        .confine(profile, network, scene, &abilities)
        .map_err(|error| Refusal::Unconfinable(error.to_string()))?;
    let mut confined = Confined { fence, enforced, temporary: None };
    if let Some(fence) = confined.fence.as_mut().filter(|fence| fence.tier == Tier::Landlock) {
        let temporary = TemporaryDirectory::make().map_err(|error| failed(error.to_string()))?;
        fence.temporary = CString::new(temporary.0.as_os_str().as_bytes()).ok();
        confined.temporary = Some(temporary);
    }
    Ok(confined)
}

/// The same for what the server does to files itself: it keeps to the profile whatever the host can enforce.
pub(crate) fn confine_own(
    sandboxing: &Sandboxing,
    confinement: Confinement,
    scene: Scene<'_>,
) -> Result<Confined, Refusal> {
    let itself = Abilities { tier: Tier::Full, ..Abilities::default() };
    let confined = sandboxing.usual.confine(sandboxing.profile(confinement), Network::Off, scene, &itself);
    let (fence, enforced) = confined.map_err(|error| Refusal::Unconfinable(error.to_string()))?;
    Ok(Confined { fence, enforced, temporary: None })
}

impl Confined {
    /// Tells the command where its temporary files belong.
    pub(crate) fn adjust(&self, env: &mut Vec<(OsString, OsString)>) {
        let Some(fence) = &self.fence else { return };
        let writable = |path: &Path| {
            let roots = fence.writable.iter().map(|root| Path::new(OsStr::from_bytes(root.to_bytes())));
            roots.chain(PRIVATE.map(Path::new)).any(|root| path.starts_with(root))
        };
        let names_temporary = |name: &OsStr| ["TMPDIR", "TMP", "TEMP"].iter().any(|known| name == *known);
        env.retain(|(name, value)| !names_temporary(name) || writable(Path::new(value)));
        if let Some(TemporaryDirectory(own)) = &self.temporary {
            env.retain(|(name, _)| !names_temporary(name));
            env.push(("TMPDIR".into(), own.into()));
        }
    }
}

/// A directory for one command's temporary files; gone when dropped.
#[derive(Debug)]
pub(crate) struct TemporaryDirectory(PathBuf);

impl TemporaryDirectory {
    fn make() -> std::io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("runward-{}-{number}", std::process::id()));
        fs::DirBuilder::new().mode(0o700).create(&path)?;
        Ok(TemporaryDirectory(fs::canonicalize(path)?))
    }
}

impl Drop for TemporaryDirectory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
