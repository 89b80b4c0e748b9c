//! Confine: what a command may touch, decided once it is known what runs and where.

use std::ffi::{CString, OsStr, OsString};
use std::fs;
use std::net::TcpListener;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use runward_files::private;
use runward_model::{
    Abilities, Caller, Confinement, Door, Enforced, Fence, Network, PrivateDirectory, Profile, Refusal, Tier,
};
use runward_proxy::{Hosts, Reach};
use runward_sandbox::{Scene, Settings};

use crate::host::Host;
use crate::network::Unreached;
use crate::workspaces::{self, Place, ProxyPort, Workspaces};

/// Variables by which programs find a proxy that speaks HTTP.
const HTTP_PROXY: [&str; 4] = ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"];

/// And one that speaks SOCKS.
const ALL_PROXY: [&str; 2] = ["all_proxy", "ALL_PROXY"];

/// And what they reach without any.
const NO_PROXY: [&str; 2] = ["no_proxy", "NO_PROXY"];

/// How commands are confined, and what differs at certain doors.
#[derive(Clone, Debug)]
pub struct Sandboxing {
    /// What holds for every door.
    pub usual: Settings,
    /// What of the network commands can reach.
    pub reach: Reach,
    /// What differs.
    pub doors: Vec<AtDoor>,
}

/// What differs for commands of one door.
#[derive(Clone, Debug)]
pub struct AtDoor {
    /// Which door.
    pub door: String,
    /// A narrower profile; a wider one changes nothing.
    pub profile: Option<Profile>,
    /// What they can reach.
    pub reach: Option<Reach>,
}

/// What has a say in how a command is confined.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConfineAsk<'a> {
    pub(crate) caller: &'a Caller,
    pub(crate) confinement: Confinement,
    /// The name of the workspace that it wants to share.
    pub(crate) workspace: Option<&'a str>,
    /// A narrower profile that rules want for it.
    pub(crate) profile: Option<Profile>,
}

impl Sandboxing {
    /// Nothing is confined.
    pub fn none() -> Self {
        let usual = Settings {
            profile: Profile::FullAccess,
            writable_roots: Vec::new(),
            deny_read: Vec::new(),
            visible: Vec::new(),
            own: Vec::new(),
            kept: Vec::new(),
            fallback: runward_sandbox::Fallback::Refuse,
            temporary_size: 1 << 30,
            keep: std::time::Duration::ZERO,
            held: None,
            home: None,
            caches: runward_sandbox::CacheSettings::default(),
            projects: runward_sandbox::Projects::default(),
        };
        Sandboxing { usual, reach: Reach::On, doors: Vec::new() }
    }

    /// The narrowest of all that is wanted. Only a person's word makes it wider.
    fn profile(&self, ask: ConfineAsk<'_>) -> Profile {
        let at_door = self.at(&ask.caller.door).filter_map(|own| own.profile);
        match ask.confinement {
            Confinement::Usual => at_door.chain(ask.profile).fold(self.usual.profile, Profile::min),
            Confinement::Escalated => Profile::FullAccess,
        }
    }

    fn reach<'a>(&'a self, door: &Door) -> &'a Reach {
        self.at(door).find_map(|own| own.reach.as_ref()).unwrap_or(&self.reach)
    }

    fn at<'a>(&'a self, door: &Door) -> impl Iterator<Item = &'a AtDoor> {
        self.doors.iter().filter(move |own| own.door == door.0)
    }
}

/// What a command is confined to, and what has to be there for as long as it runs.
#[derive(Debug, Default)]
pub(crate) struct Confined {
    pub(crate) fence: Option<Fence>,
    pub(crate) enforced: Enforced,
    pub(crate) temporary: Option<TemporaryDirectory>,
    /// The hosts that it may reach, where there are lists of them.
    pub(crate) hosts: Option<Arc<Hosts>>,
    /// Where its proxy listens, where it has one.
    pub(crate) proxy_port: Option<ProxyPort>,
    /// The ports of it that are opened on this host, and what listens there.
    pub(crate) published: Vec<(u16, TcpListener)>,
    /// The hosts that it was kept from.
    pub(crate) unreached: Unreached,
    /// Held while it is in a named workspace.
    pub(crate) place: Option<Place>,
    /// Held while it can reach this host.
    pub(crate) networked: Option<Arc<()>>,
}

/// Confines what a door asked for.
pub(crate) async fn confine(
    sandboxing: &Sandboxing,
    (host, workspaces): (&dyn Host, &Workspaces),
    ask: ConfineAsk<'_>,
    scene: Scene<'_>,
) -> Result<Confined, Refusal> {
    let profile = sandboxing.profile(ask);
    if profile == Profile::FullAccess {
        return Ok(Confined::default());
    }
    let failed = |reason: String| Refusal::StartFailed { program: scene.program.to_owned(), reason };
    let abilities = host.abilities().await.map_err(|error| failed(error.to_string()))?;
    let reach = sandboxing.reach(&ask.caller.door);
    let (fence, enforced) = sandboxing
        .usual
        .confine(profile, reach.network(), scene, &abilities)
        .map_err(|error| Refusal::Unconfinable(error.to_string()))?;
    let mut confined = Confined { fence, enforced, hosts: reach.hosts().cloned(), ..Confined::default() };
    if let Some(fence) = &mut confined.fence {
        let (owner, hosts) = ((&ask.caller.principal, ask.workspace), confined.hosts.as_ref());
        confined.place = workspaces.enter(fence, owner, hosts)?;
        confined.enforced.workspace = workspaces::writable(fence);
        confined.proxy_port = confined.hosts.is_some().then(|| workspaces.port());
        fence.proxy_port = confined.proxy_port.as_ref().map_or(fence.proxy_port, |port| port.number);
    }
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
    ask: ConfineAsk<'_>,
    scene: Scene<'_>,
) -> Result<Confined, Refusal> {
    let itself = Abilities { tier: Tier::Full, ..Abilities::default() };
    let confined = sandboxing.usual.confine(sandboxing.profile(ask), Network::Off, scene, &itself);
    let (fence, enforced) = confined.map_err(|error| Refusal::Unconfinable(error.to_string()))?;
    Ok(Confined { fence, enforced, ..Confined::default() })
}

impl Confined {
    /// Whether it is confined and can still reach what listens on this host, this server among it.
    pub(crate) fn reaches_this_host(&self) -> bool {
        let listed = self.hosts.as_ref().is_some_and(|hosts| hosts.names_loopback());
        let open = self.enforced.profile != Profile::FullAccess && self.enforced.network == Network::On;
        open || listed
    }

    /// Tells the command where its temporary files belong, and where its proxy is.
    pub(crate) fn adjust(&self, env: &mut Vec<(OsString, OsString)>) {
        if let (Some(hosts), Some(port)) = (&self.hosts, &self.proxy_port) {
            let proxies = [&HTTP_PROXY[..], &ALL_PROXY, &NO_PROXY].concat();
            env.retain(|(name, _)| !proxies.iter().any(|known| name == *known));
            env.extend(proxy_variables(hosts, port.number));
        }
        let Some(fence) = &self.fence else { return };
        let writable = |path: &Path| {
            let roots = fence.writable.iter().map(|root| Path::new(OsStr::from_bytes(root.to_bytes())));
            let private = PrivateDirectory::temporary().map(|private| Path::new(private.path));
            roots.chain(private).any(|root| path.starts_with(root))
        };
        let names_temporary = |name: &OsStr| ["TMPDIR", "TMP", "TEMP"].iter().any(|known| name == *known);
        env.retain(|(name, value)| !names_temporary(name) || writable(Path::new(value)));
        if let Some(TemporaryDirectory(own)) = &self.temporary {
            env.retain(|(name, _)| !names_temporary(name));
            env.push(("TMPDIR".into(), own.into()));
        }
    }
}

/// What tells programs of the proxy. Their own loopback they reach without it, unless the host's is meant by that.
fn proxy_variables(hosts: &Hosts, port: u16) -> Vec<(OsString, OsString)> {
    let own = if hosts.names_loopback() { "" } else { "localhost,127.0.0.1,::1" };
    let named = |names: &[&'static str], value: String| {
        names.iter().map(|name| (OsString::from(name), OsString::from(&value))).collect::<Vec<_>>()
    };
    let http = named(&HTTP_PROXY, format!("http://127.0.0.1:{port}"));
    let socks = named(&ALL_PROXY, format!("socks5h://127.0.0.1:{port}"));
    // Node looks at the others only when it is told to.
    let node = named(&["NODE_USE_ENV_PROXY"], "1".into());
    [http, socks, named(&NO_PROXY, own.into()), node].concat()
}

/// A directory for one command's temporary files; gone when dropped.
#[derive(Debug)]
pub(crate) struct TemporaryDirectory(PathBuf);

impl TemporaryDirectory {
    fn make() -> std::io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("runward-{}-{number}", std::process::id()));
        private::make_new(&path)?;
        Ok(TemporaryDirectory(fs::canonicalize(path)?))
    }
}

impl Drop for TemporaryDirectory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
