//! A bound listener, and how it ends.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::DefaultBodyLimit;
use axum::routing::get;
use axum::serve::ListenerExt;
use axum::{Router, middleware};
use rmcp::ServerHandler;
use rustix::net::sockopt;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use super::allowed::Allowed;
use super::answer::{method_not_allowed, not_found};
use super::endpoint::{Open, endpoint};
use super::error::Error;
use super::guard::{Guard, authenticate, guard};
use super::health::{Health, health};
use crate::{HttpSettings, Token};

/// How long the last answers may take once everything has been stopped, and then how long the last connections may.
const LINGER: Duration = Duration::from_millis(500);

/// How long a connection may be silent before the system asks whether its other end still exists.
const PROBE_AFTER: Duration = Duration::from_mins(1);

/// A bound listener that does not accept anybody yet.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    guard: Arc<Guard>,
    token: Option<Token>,
    health: Health,
    doors: Router,
    open: Open,
}

impl Server {
    /// Binds the address, which needs a token unless it is a loopback one.
    pub async fn bind(settings: &HttpSettings) -> Result<Self, Error> {
        let asked = settings.bind;
        if settings.token.is_none() && !asked.ip().to_canonical().is_loopback() {
            return Err(Error::TokenMissing(asked));
        }
        let failed = |source| Error::Bind { address: asked, source };
        let allowed = Allowed::new(asked, &settings.allowed_hosts, &settings.allowed_origins)?;
        let listener = TcpListener::bind(asked).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let guard = Arc::new(Guard { allowed, max_body: settings.max_body });
        let (token, doors, open) = (settings.token.clone(), Router::new(), Open::default());
        Ok(Server { listener, address, guard, token, health: Health::default(), doors, open })
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
        let router = router(mcp, self.doors, &self.guard, self.token, self.health, open.clone());
        let serving = axum::serve(self.listener.tap_io(prepare), router)
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

fn router<H>(
    mcp: H,
    doors: Router,
    guarding: &Arc<Guard>,
    token: Option<Token>,
    healthy: Health,
    open: Open,
) -> Router
where
    H: ServerHandler + Clone + Send + Sync + 'static,
{
    let doors = endpoint("/mcp", mcp, guarding.max_body, open)
        .merge(doors)
        .fallback(not_found)
        .layer(middleware::from_fn_with_state(token, authenticate));
    Router::new()
        .route("/healthz", get(health).with_state(healthy))
        .method_not_allowed_fallback(method_not_allowed)
        .merge(doors)
        .layer(DefaultBodyLimit::max(guarding.max_body))
        .layer(middleware::from_fn_with_state(Arc::clone(guarding), guard))
}

/// Answers are small and awaited: Nagle's algorithm would hold each back for 40 ms. Keep-alive probes find callers
/// that vanished without closing. Neither is worth refusing a connection for.
fn prepare(connection: &mut TcpStream) {
    let _ = connection.set_nodelay(true);
    let _ = sockopt::set_socket_keepalive(&*connection, true);
    let _ = sockopt::set_tcp_keepidle(&*connection, PROBE_AFTER);
}
