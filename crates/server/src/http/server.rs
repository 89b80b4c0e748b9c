//! A bound listener, and how it ends.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::DefaultBodyLimit;
use axum::routing::get;
use axum::{Router, middleware};
use rmcp::ServerHandler;
use runward_engine::Peers;
use runward_model::Principal;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::Limits;
use super::access::authenticate;
use super::allowed::Allowed;
use super::answer::{method_not_allowed, not_found};
use super::endpoint::{Open, endpoint};
use super::error::Error;
use super::guard::{Guard, guard};
use super::health::{Health, health};
use super::listener::{Bounded, Via};
use super::pace::pace;
use super::peer::apart;
use super::sessions::Leaving;
use crate::{HttpSettings, Tokens};

/// How long the last answers may take once everything has been stopped, and then how long the last connections may.
const LINGER: Duration = Duration::from_millis(500);

/// A bound listener that does not accept anybody yet.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    limits: Limits,
    guard: Arc<Guard>,
    tokens: Tokens,
    health: Health,
    peers: Peers,
    leaving: Leaving,
    doors: Router,
    open: Open,
}

impl Server {
    /// Binds the address, which needs a token unless it is a loopback one.
    pub async fn bind(settings: &HttpSettings) -> Result<Self, Error> {
        let asked = settings.bind;
        if !settings.tokens.are_demanded() && !asked.ip().to_canonical().is_loopback() {
            return Err(Error::TokenMissing(asked));
        }
        let failed = |source| Error::Bind { address: asked, source };
        let listener = TcpListener::bind(asked).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let allowed = Allowed::new(address, &settings.allowed_hosts, &settings.allowed_origins)?;
        let guard = Arc::new(Guard { allowed, max_body: settings.max_body });
        let (limits, tokens, doors) = (settings.limits, settings.tokens.clone(), Router::new());
        let (health, peers, leaving) = (Health::default(), Peers::default(), Leaving::default());
        let open = Open::default();
        Ok(Server { listener, address, limits, guard, tokens, health, peers, leaving, doors, open })
    }

    /// With doors beside MCP, behind the same guard.
    #[must_use]
    pub(crate) fn with_doors(self, doors: Router) -> Self {
        Server { doors: self.doors.merge(doors), ..self }
    }

    /// What is open while it serves.
    pub(crate) fn open(&self) -> Open {
        self.open.clone()
    }

    /// With what is wrong with the policy, if anything is, told by the health check.
    #[must_use]
    pub fn reporting(self, policy_fault: impl Fn() -> Option<String> + Send + Sync + 'static) -> Self {
        Server { health: Health::new(policy_fault), ..self }
    }

    /// With who tells the commands that it runs from everybody else.
    #[must_use]
    pub(crate) fn apart_from(self, peers: Peers) -> Self {
        Server { peers, ..self }
    }

    /// With who is told of clients that will not come back.
    #[must_use]
    pub(crate) fn on_leaving(self, told: impl Fn(&Principal) + Send + Sync + 'static) -> Self {
        Server { leaving: Leaving::new(told), ..self }
    }

    /// The real address, also where port 0 was asked for.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `told_to_stop` ends. Then nobody new is let in, `wind_down` gives the callers that are there
    /// their last answers, and every stream is ended.
    pub async fn run<H>(
        self,
        mcp: H,
        told_to_stop: impl Future<Output = ()>,
        wind_down: impl Future<Output = ()>,
    ) -> Result<(), Error>
    where
        H: ServerHandler + Clone + Send + Sync + 'static,
    {
        let (closing, open) = (CancellationToken::new(), self.open);
        let doors = endpoint("/mcp", mcp, self.guard.max_body, open.clone(), self.leaving).merge(self.doors);
        let router = router(doors, &self.guard, self.tokens, self.peers, self.health);
        let listener = Bounded::new(self.listener, self.limits);
        let serving = axum::serve(listener, router.into_make_service_with_connect_info::<Via>())
            .with_graceful_shutdown(closing.clone().cancelled_owned());
        let mut serving = std::pin::pin!(serving.into_future());

        tokio::select! {
            ended = &mut serving => return ended.map_err(Error::Listener),
            () = told_to_stop => closing.cancel(),
        }
        let winding_down = async {
            wind_down.await;
            open.answers.close();
            // Whoever does not take its last answer in time goes without.
            let _ = tokio::time::timeout(LINGER, open.answers.wait()).await;
            open.streams.cancel();
        };
        let leaving = async {
            tokio::select! {
                ended = serving => ended.map_err(Error::Listener),
                () = lingered(&open.streams) => Ok(()),
            }
        };
        tokio::join!(winding_down, leaving).1
    }
}

/// A client that reads nothing must not keep the server.
async fn lingered(streams: &CancellationToken) {
    streams.cancelled().await;
    tokio::time::sleep(LINGER).await;
}

/// The last layer is the first that a request passes.
fn router(doors: Router, guarding: &Arc<Guard>, tokens: Tokens, peers: Peers, healthy: Health) -> Router {
    let doors = doors
        .fallback(not_found)
        .layer(middleware::from_fn_with_state(tokens, authenticate))
        .layer(middleware::from_fn_with_state(peers, apart));
    Router::new()
        .route("/healthz", get(health).with_state(healthy))
        .method_not_allowed_fallback(method_not_allowed)
        .merge(doors)
        .layer(DefaultBodyLimit::max(guarding.max_body))
        .layer(middleware::from_fn_with_state(Arc::clone(guarding), guard))
        .layer(middleware::from_fn(pace))
}
