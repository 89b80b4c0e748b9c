//! From a wish to a connection: judged by name, resolved once, judged by address, recorded, dialled.

use std::fmt::Debug;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;

use crate::address::plain;
use crate::hosts::{Hosts, Leave, Ruling};
use crate::target::{Host, Target};

/// How long a name may take to be looked up, and an address to answer.
const PATIENCE: Duration = Duration::from_secs(15);

/// More addresses of one name are not tried.
const MOST_ADDRESSES: usize = 4;

/// Something that is waited for.
pub type Later<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// What was decided about one wish.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Decided {
    /// What was wanted.
    pub target: Target,
    /// The addresses that it led to and that may be dialled.
    pub addresses: Vec<IpAddr>,
    /// The entry of the lists, or the person, that allows it; or why it is refused.
    pub ruling: Result<String, String>,
}

/// Who has to know, and who may be asked.
pub trait Gate: Debug + Send + Sync {
    /// Takes down what was decided. Nothing is sent before; what cannot be taken down is refused.
    fn decided(&self, decided: Decided) -> Later<Result<(), String>>;

    /// Asks a person: who allowed it, or why it is not allowed.
    fn ask(&self, target: &Target) -> Later<Result<String, String>>;

    /// A connection was closed, since the command has as many as it may have just now.
    fn crowded(&self, open: usize);
}

/// Who knows the addresses of names.
pub trait Resolve: Debug + Send + Sync {
    /// Looks a name up.
    fn resolve(&self, name: &str, port: u16) -> Later<io::Result<Vec<SocketAddr>>>;
}

/// This host's own way to look names up.
#[derive(Clone, Copy, Debug, Default)]
pub struct System;

impl Resolve for System {
    fn resolve(&self, name: &str, port: u16) -> Later<io::Result<Vec<SocketAddr>>> {
        let name = name.to_owned();
        Box::pin(async move { Ok(tokio::net::lookup_host((name, port)).await?.collect()) })
    }
}

/// Why there is no connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoWay {
    /// It is not allowed.
    Refused(String),
    /// It is, and does not answer.
    Unreachable(String),
}

/// What wishes of one command are held against.
#[derive(Clone, Debug)]
pub(crate) struct Way {
    pub(crate) hosts: Arc<Hosts>,
    pub(crate) gate: Arc<dyn Gate>,
    pub(crate) names: Arc<dyn Resolve>,
}

impl Way {
    /// A connection to what is wanted.
    pub(crate) async fn to(&self, target: &Target) -> Result<TcpStream, NoWay> {
        let (ruling, found) = self.decide(target).await;
        let open = found.as_deref().unwrap_or_default();
        let addresses = open.iter().map(SocketAddr::ip).collect();
        let recorded =
            self.gate.decided(Decided { target: target.clone(), addresses, ruling: ruling.clone() }).await;
        let why = |why: String| NoWay::Refused(format!("{target} may not be reached: {why}"));
        ruling.and(recorded).map_err(why)?;
        dial(target, &found?).await
    }

    /// What is decided, and the addresses that may be dialled, or why there are none.
    async fn decide(&self, target: &Target) -> (Result<String, String>, Result<Vec<SocketAddr>, NoWay>) {
        let (ruling, asked) = match self.hosts.judge(target) {
            Ruling::Allow(entry) => (Ok(entry), false),
            Ruling::Ask(_) => (self.gate.ask(target).await, true),
            Ruling::Deny(why) => (Err(why), false),
        };
        if ruling.is_err() {
            return (ruling, Ok(Vec::new()));
        }
        let found = match self.addresses(target).await {
            Ok(found) => found,
            Err(unknown) => return (ruling, Err(unknown)),
        };
        let given = self.those(&found, |leave| leave == Leave::Given);
        let any = self.those(&found, |_| true);
        match (given.is_empty(), any.is_empty()) {
            (false, _) if !asked => (ruling, Ok(given)),
            (_, false) if asked => (ruling, Ok(any)),
            (_, false) => (self.gate.ask(target).await, Ok(any)),
            (_, true) => (ruling.and(self.refusal(&found)), Ok(Vec::new())),
        }
    }

    /// Those of the addresses that may be dialled.
    fn those(&self, found: &[SocketAddr], wanted: impl Fn(Leave) -> bool) -> Vec<SocketAddr> {
        let judged = |address: &&SocketAddr| self.hosts.judge_address(address.ip(), address.port());
        let open = found.iter().filter(|address| judged(address).is_ok_and(&wanted));
        open.copied().take(MOST_ADDRESSES).collect()
    }

    /// Why none of them may be.
    fn refusal(&self, found: &[SocketAddr]) -> Result<String, String> {
        let mut judged = found.iter().map(|address| self.hosts.judge_address(address.ip(), address.port()));
        let why = judged.find_map(Result::err);
        Err(why.unwrap_or_else(|| "it has no address".to_owned()))
    }

    async fn addresses(&self, target: &Target) -> Result<Vec<SocketAddr>, NoWay> {
        let name = match &target.host {
            Host::Address(address) => return Ok(vec![SocketAddr::new(*address, target.port)]),
            Host::Name(name) => name,
        };
        let looked_up = tokio::time::timeout(PATIENCE, self.names.resolve(name, target.port)).await;
        let unknown = |why: String| NoWay::Unreachable(format!("{name} could not be looked up: {why}"));
        let found = looked_up
            .map_err(|_| unknown("no answer".into()))?
            .map_err(|error| unknown(error.to_string()))?;
        Ok(found.into_iter().map(|address| SocketAddr::new(plain(address.ip()), target.port)).collect())
    }
}

async fn dial(target: &Target, addresses: &[SocketAddr]) -> Result<TcpStream, NoWay> {
    let mut why = "no answer".to_owned();
    for address in addresses {
        match tokio::time::timeout(PATIENCE, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => {
                let _ = stream.set_nodelay(true);
                return Ok(stream);
            }
            Ok(Err(error)) => why = error.to_string(),
            Err(_) => {}
        }
    }
    Err(NoWay::Unreachable(format!("{target} cannot be reached: {why}")))
}
