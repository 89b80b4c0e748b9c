//! Confines commands: profiles, and the mechanisms that keep them, one file each.
//!
//! # Theory of operation
//!
//! [`Settings::confine`] turns a profile and a working directory into a [`Fence`](runward_model::Fence):
//! plain data that says what may be written, what stays read-only within that, and what may not be read. The runner
//! does the rest. Where namespaces can be made, the first process of a new PID namespace builds an [`Enclosure`]:
//! everything read-only but the writable roots, private temporary files, an own `/proc` and `/dev`, no network.
//! In the writable roots a [`Broker`] makes the files, and holds back what would run code for somebody else.
//! Building one takes a millisecond or two, so it is kept and cleaned for the next command like it. Each command
//! then takes on its [`Restrictions`] between clone and exec: no capabilities, no new privileges, Landlock, seccomp.
//! Those alone remain where no namespace can be made. [`probe()`] tells by trying which of it works here.
#![expect(unsafe_code, reason = "Landlock, seccomp, capabilities and mounts have no safe interface")]

mod broker;
mod caches;
mod capabilities;
mod devices;
mod enclosure;
mod fork;
mod git_config;
mod homes;
mod kept_open;
mod landlock;
mod layer;
mod layered;
mod layers;
mod lookup;
mod loopback;
mod mounts;
mod names;
mod namespaces;
mod private;
mod probe;
mod projects;
mod promises;
mod readable;
mod repository;
mod restrictions;
mod roots_own;
mod seccomp;
mod services;
mod settings;
mod shared;

pub mod trial;
mod view;
mod workspace;
mod written;

pub use broker::{Broker, HeldBack, held_back, sweep, sweep_all};
pub use caches::CacheSettings;
pub use enclosure::Enclosure;
pub use homes::Homes;
pub use layer::Layer;
pub use layers::{KeptLayer, Layers};
pub use names::runs_code;
pub use namespaces::Namespaces;
pub use probe::probe;
pub use projects::{NoWorkspace, Projects};
pub use promises::{remedy, unkept};
pub use readable::Readable;
pub use restrictions::Restrictions;
pub use roots_own::only_roots;
pub use settings::{Fallback, Scene, Settings, Unconfinable};
pub use shared::{Entrance, Shared};
pub use workspace::Workspace;
