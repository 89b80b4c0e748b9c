//! From a profile and a working directory to what a command is confined to.

use std::ffi::CString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use runward_model::{Abilities, Caches, Enforced, Fence, Network, Profile, Promise, Tier};
use thiserror::Error;

use crate::caches::{CacheSettings, WorkspaceCaches};
use crate::lookup::{self, Place};
use crate::projects::Projects;
use crate::promises::{remedy, unkept};

/// What is to run, and where.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    /// The working directory, symbolic links resolved.
    pub cwd: &'a Path,
    /// The file to execute.
    pub program: &'a Path,
    /// What the client of the call names as its projects.
    pub projects: &'a [PathBuf],
}

/// What happens where this host cannot keep a promise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fallback {
    /// Nothing runs.
    Refuse,
    /// Nothing runs if it is one of these; else it runs, and every result and record says what is missing.
    Unless(Vec<Promise>),
    /// It runs, and every result and record says what is missing.
    Warn,
}

impl Fallback {
    /// Whether nothing runs without that.
    fn requires(&self, promise: Promise) -> bool {
        match self {
            Fallback::Refuse => true,
            Fallback::Unless(required) => required.contains(&promise),
            Fallback::Warn => false,
        }
    }
}

/// What confines commands, as the operator wants it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How much commands may touch.
    pub profile: Profile,
    /// What they may write below besides their working directory.
    pub writable_roots: Vec<PathBuf>,
    /// What they may not read; absolute paths.
    pub deny_read: Vec<PathBuf>,
    /// What of our own they may not read either, once it is there.
    pub own: Vec<PathBuf>,
    /// What they may not change, or make, wherever it lies; absolute paths.
    pub kept: Vec<PathBuf>,
    /// What they can read even where it lies among temporary files, whose place is taken by their own.
    pub visible: Vec<PathBuf>,
    /// What happens where this host cannot keep a promise.
    pub fallback: Fallback,
    /// How large private temporary files may become together, in bytes.
    pub temporary_size: u64,
    /// Where what commands make is kept that would run code for others; without it, such things are refused.
    pub held: Option<PathBuf>,
    /// How long a sandbox is kept for the next command like it.
    pub keep: Duration,
    /// The home directory, where there is one.
    pub home: Option<PathBuf>,
    /// What is written to in a layer of the workspace's own.
    pub caches: CacheSettings,
    /// What tells a project from other directories.
    pub projects: Projects,
}

/// Why a command cannot be confined as it should be.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Unconfinable {
    /// This host cannot keep what the profile promises.
    #[error("the sandbox profile {profile} cannot be kept here: not kept is that {}; {remedy}; or require less (sandbox.require, or sandbox.fallback = \"warn\"), or choose another sandbox.profile", list(.unkept))]
    Unkept {
        /// Which profile.
        profile: Profile,
        /// What is not kept.
        unkept: Vec<Promise>,
        /// What would change that.
        remedy: String,
    },
    /// Only a network namespace keeps a command to a list of hosts.
    #[error(
        "a list of hosts for the network cannot be kept here, so nothing was run: it takes a network namespace; {remedy}; or set the network to \"off\" or \"on\""
    )]
    Unlistable {
        /// What would change that.
        remedy: String,
    },
    /// The working directory may not be read.
    #[error("the working directory {} lies in {}, which sandbox.deny_read keeps from commands", .cwd.display(), .hidden.display())]
    CwdHidden {
        /// Which.
        cwd: PathBuf,
        /// The entry that hides it.
        hidden: PathBuf,
    },
    /// A path that the system cannot be given.
    #[error("{} contains a NUL byte", .0.display())]
    Nul(PathBuf),
}

fn list(promises: &[Promise]) -> String {
    promises.iter().map(|promise| promise.words()).collect::<Vec<_>>().join(", that ")
}

impl Settings {
    /// What a command is confined to under `profile` with `network`; `None` when it is not.
    pub fn confine(
        &self,
        profile: Profile,
        network: Network,
        Scene { cwd, program, projects }: Scene<'_>,
        abilities: &Abilities,
    ) -> Result<(Option<Fence>, Enforced), Unconfinable> {
        if profile == Profile::FullAccess {
            return Ok((None, Enforced::default()));
        }
        if network == Network::Listed && !abilities.tier.has_namespaces() {
            return Err(Unconfinable::Unlistable { remedy: remedy(abilities) });
        }
        let unkept = unkept(profile, network, abilities);
        if unkept.iter().any(|promise| self.fallback.requires(*promise)) {
            let unkept = unkept.into_iter().filter(|promise| self.fallback.requires(*promise)).collect();
            return Err(Unconfinable::Unkept { profile, unkept, remedy: remedy(abilities) });
        }
        let mut enforced = Enforced {
            profile,
            network,
            tier: abilities.tier,
            unkept,
            workspace: None,
            published: Vec::new(),
            no_workspace: None,
        };
        if abilities.tier == Tier::None {
            return Ok((None, enforced));
        }
        let found = lookup::places(self.deny_read.iter().chain(&self.own));
        if let Some(hidden) = found.places.iter().find(|hidden| cwd.starts_with(&hidden.path)) {
            return Err(Unconfinable::CwdHidden { cwd: cwd.into(), hidden: hidden.path.clone() });
        }
        // In namespaces what is missing needs no cover: a sandbox is built anew once it is there.
        let counts = |place: &&Place| place.exists || !abilities.tier.has_namespaces();
        let hidden = found.places.iter().filter(counts).map(|place| place.path.clone()).collect();
        let (mut writable, mut grounds) = (Vec::new(), Vec::new());
        if profile == Profile::WorkspaceWrite {
            let workspace = self.workspace_of(cwd, projects);
            grounds = workspace.iter().flat_map(|found| self.grounds(&found.root, projects)).collect();
            writable = self.writable(workspace.as_ref().ok());
            let why = workspace.err().filter(|_| !writable.iter().any(|root| cwd.starts_with(root)));
            enforced.no_workspace = why.map(|why| why.to_string());
        }
        let caches = self.caches.of(Scene { cwd, program, projects }, &writable);
        let caches = caches.filter(|_| abilities.tier.has_namespaces()).map(told).transpose()?;
        let mut fence = Fence::new(profile, abilities.tier, network, text(cwd.to_owned())?);
        fence.shown = texts(self.shown(&[cwd, program], &writable))?;
        fence.protected = texts(self.protected(&writable))?;
        fence.writable = texts(writable)?;
        fence.hidden = texts(hidden)?;
        fence.temporary_size = self.temporary_size;
        fence.keep = self.keep;
        fence.named = texts(self.writable_roots.iter().map(|root| canonical(root)).collect())?;
        fence.grounds = texts(grounds)?;
        fence.held = self.held.clone().map(text).transpose()?;
        fence.caches = caches;
        Ok((Some(fence), enforced))
    }
}

/// Where a path leads; itself while it leads nowhere.
pub(crate) fn canonical(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

fn told(caches: WorkspaceCaches) -> Result<Caches, Unconfinable> {
    let WorkspaceCaches { root, layers, places, kept, guarded } = caches;
    let mut around: Vec<PathBuf> =
        places.iter().filter_map(|place| Some(place.parent()?.to_owned())).collect();
    around.sort_unstable();
    around.dedup();
    Ok(Caches {
        root: text(root)?,
        layers: layers.map(text).transpose()?,
        places: texts(places)?,
        around: texts(around)?,
        kept: texts(kept)?,
        guarded: texts(guarded)?,
    })
}

fn texts(paths: Vec<PathBuf>) -> Result<Vec<CString>, Unconfinable> {
    paths.into_iter().map(text).collect()
}

fn text(path: PathBuf) -> Result<CString, Unconfinable> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| Unconfinable::Nul(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> Settings {
        Settings {
            profile: Profile::WorkspaceWrite,
            writable_roots: Vec::new(),
            deny_read: vec!["/nowhere/secret".into()],
            visible: Vec::new(),
            own: Vec::new(),
            kept: vec!["/site/rules".into(), "/elsewhere/rules".into()],
            fallback: Fallback::Refuse,
            temporary_size: 1 << 30,
            keep: Duration::ZERO,
            held: None,
            home: Some("/home/ada".into()),
            caches: CacheSettings::default(),
            projects: Projects {
                named: ["/site", "/srv/site", "/home/ada", "/var/www/site", "/tmp/work"]
                    .map(Into::into)
                    .into(),
                ..Projects::default()
            },
        }
    }

    fn host(tier: Tier) -> Abilities {
        Abilities { tier, landlock: 7, obstacle: "EPERM".into() }
    }

    fn scene(cwd: &str) -> Scene<'_> {
        Scene { cwd: Path::new(cwd), program: Path::new("/bin/true"), projects: &[] }
    }

    fn confined(settings: &Settings, profile: Profile, cwd: &str) -> Fence {
        settings.confine(profile, Network::Off, scene(cwd), &host(Tier::Full)).unwrap().0.unwrap()
    }

    #[test]
    fn what_runs_among_temporary_files_is_shown() {
        let scene = Scene { cwd: Path::new("/tmp/work"), program: Path::new("/var/tmp/tool"), projects: &[] };
        let ask = |profile| {
            settings().confine(profile, Network::Off, scene, &host(Tier::Full)).unwrap().0.unwrap().shown
        };
        assert_eq!(ask(Profile::ReadOnly), [c"/tmp/work".to_owned(), c"/var/tmp/tool".to_owned()]);
        assert_eq!(ask(Profile::WorkspaceWrite), [c"/var/tmp/tool".to_owned()]);
    }

    #[test]
    fn what_the_operator_works_in_is_shown_but_not_all_temporary_files() {
        let (place, other) = (tempfile::tempdir_in("/tmp").unwrap(), tempfile::tempdir_in("/tmp").unwrap());
        let visible = vec![place.path().into(), "/tmp".into(), "/usr".into(), "/tmp/nowhere".into()];
        let settings = Settings { visible, ..settings() };
        let cwd = other.path().to_str().unwrap();
        let shown = confined(&settings, Profile::WorkspaceWrite, cwd).shown;
        assert_eq!(shown, [text(place.path().into()).unwrap()]);
        let inside = place.path().join("below");
        let shown = confined(&settings, Profile::ReadOnly, inside.to_str().unwrap()).shown;
        assert_eq!(shown, [text(place.path().into()).unwrap()]);
    }

    #[test]
    fn a_workspace_is_writable_but_for_what_runs_code() {
        let found = confined(&settings(), Profile::WorkspaceWrite, "/site");
        assert_eq!(found.writable, [c"/site".to_owned()]);
        assert!(found.protected.contains(&c"/site/rules".to_owned()));
        assert!(!found.protected.contains(&c"/elsewhere/rules".to_owned()));
        assert_eq!(confined(&settings(), Profile::ReadOnly, "/site").writable, Vec::<CString>::new());
        let secret = Settings { deny_read: vec!["/site/deep/key".into()], ..settings() };
        let found = confined(&secret, Profile::WorkspaceWrite, "/site");
        assert!(found.protected.contains(&c"/site/deep/key".to_owned()), "its parents stay where they are");
    }

    #[test]
    fn a_system_directory_is_no_workspace_and_a_home_is_guarded_further() {
        for cwd in ["/site", "/site/sub", "/srv/site", "/home/ada/work", "/var/www/site"] {
            let found = confined(&settings(), Profile::WorkspaceWrite, cwd);
            assert_eq!(found.writable, [text(cwd.into()).unwrap()], "{cwd}");
        }
        let home = confined(&settings(), Profile::WorkspaceWrite, "/home/ada");
        assert!(home.protected.contains(&c"/home/ada/.bashrc".to_owned()));
    }

    #[test]
    fn what_cannot_be_kept_is_refused_or_marked() {
        let ask = |settings: &Settings, tier| {
            settings.confine(Profile::WorkspaceWrite, Network::Off, scene("/site"), &host(tier))
        };
        let refused = ask(&settings(), Tier::Landlock).unwrap_err().to_string();
        assert!(
            refused.contains("workspace-write cannot be kept here") && refused.contains("userns"),
            "{refused}"
        );
        let required = vec![Promise::Writes, Promise::Hidden, Promise::Network, Promise::Services];
        let usual = Settings { fallback: Fallback::Unless(required.clone()), ..settings() };
        let (fence, enforced) = ask(&usual, Tier::Landlock).unwrap();
        assert!(fence.is_some() && enforced.unkept.contains(&Promise::Processes));
        assert!(ask(&usual, Tier::None).is_err());
        let more = [required, vec![Promise::Processes]].concat();
        let more = Settings { fallback: Fallback::Unless(more), ..settings() };
        let refused = ask(&more, Tier::Landlock).unwrap_err().to_string();
        assert!(refused.contains("other processes") && !refused.contains("protected paths"), "{refused}");
        let lenient = Settings { fallback: Fallback::Warn, ..settings() };
        let (fence, enforced) = ask(&lenient, Tier::Landlock).unwrap();
        assert!(fence.is_some() && enforced.unkept.contains(&Promise::Protected));
        let (fence, enforced) = ask(&lenient, Tier::None).unwrap();
        assert_eq!((fence, enforced.unkept.len()), (None, Promise::ALL.len()));
    }

    #[test]
    fn a_list_of_hosts_needs_a_network_of_its_own_whatever_else_is_let_pass() {
        let lenient = Settings { fallback: Fallback::Warn, ..settings() };
        let ask = |tier| lenient.confine(Profile::ReadOnly, Network::Listed, scene("/site"), &host(tier));
        for tier in [Tier::Landlock, Tier::None] {
            let refused = ask(tier).unwrap_err().to_string();
            assert!(
                refused.contains("it takes a network namespace") && refused.contains("userns"),
                "{refused}"
            );
        }
        assert_eq!(ask(Tier::SharedProc).unwrap().0.unwrap().network, Network::Listed);
    }

    #[test]
    fn a_directory_that_may_not_be_read_is_no_place_to_run() {
        let cwd = scene("/nowhere/secret/keys");
        let refused =
            settings().confine(Profile::ReadOnly, Network::Off, cwd, &host(Tier::Full)).unwrap_err();
        let refused = refused.to_string();
        assert!(refused.contains("sandbox.deny_read"), "{refused}");
    }
}
