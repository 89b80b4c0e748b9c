//! From a wish to a connection: judged by name, resolved once, judged by address, recorded, dialled.

use std::fmt::Debug;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;

use crate::address::plain;
use crate::hosts::{Hosts, Ruling};
use crate::target::{Host, Target};

/// How long a name may take to be looked up, and an address to answer.
const PATIENCE: Duration = Duration::from_secs(15);

/// More addresses of one name are not tried.
const MOST_ADDRESSES: usize = 4;

/// Something that is waited for.
pub type Later<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// What was decided about one wish.
#[derive(Clone, Debug, PartialEq, Eq)]
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
        let ruling = match self.hosts.judge(target) {
            Ruling::Allow(entry) => Ok(entry),
            Ruling::Ask(_) => self.gate.ask(target).await,
            Ruling::Deny(why) => Err(why),
        };
        let found = match &ruling {
            Ok(_) => self.addresses(target).await,
            Err(_) => Ok(Vec::new()),
        };
        let (addresses, ruling) = self.narrowed(found.as_deref().unwrap_or_default(), ruling);
        let plainly = addresses.iter().map(SocketAddr::ip).collect();
        let decided = Decided { target: target.clone(), addresses: plainly, ruling: ruling.clone() };
        let recorded = self.gate.decided(decided).await;
        let why = |why: String| NoWay::Refused(format!("{target} may not be reached: {why}"));
        ruling.and(recorded).map_err(why)?;
        found?;
        dial(target, &addresses).await
    }

    /// Those of the addresses that may be dialled; where none may, that is refused.
    fn narrowed(
        &self,
        found: &[SocketAddr],
        ruling: Result<String, String>,
    ) -> (Vec<SocketAddr>, Result<String, String>) {
        let mut refused = None;
        let mut open: Vec<SocketAddr> = Vec::new();
        for address in found {
            match self.hosts.judge_address(address.ip(), address.port()) {
                Ok(()) => open.push(*address),
                Err(why) => refused = Some(why),
            }
        }
        open.truncate(MOST_ADDRESSES);
        match refused.filter(|_| open.is_empty()) {
            Some(why) => (open, ruling.and(Err(why))),
            None => (open, ruling),
        }
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
