//! Tells a waiting caller that its command still runs, and never makes the command wait for that.

use std::fmt;
use std::future::pending;
use std::pin::Pin;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::Peer;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at, timeout};

/// Progress is counted in whole seconds and must grow, so beats are at least this far apart.
const SHORTEST: Duration = Duration::from_secs(1);

/// How long a reply waits for the last beat to get out before it.
const LAST_BEAT: Duration = Duration::from_secs(1);

/// Where progress goes.
#[derive(Clone, Debug)]
pub(crate) struct Progress {
    /// The client.
    pub(crate) peer: Peer<RoleServer>,
    /// What the client calls this progress.
    pub(crate) token: ProgressToken,
    /// How often.
    pub(crate) every: Duration,
}

/// The beats of one call; silent when nobody asked for progress.
pub(crate) struct Heartbeat(Option<Beats>);

struct Beats {
    progress: Progress,
    started: Instant,
    ticks: Interval,
    sending: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

impl Heartbeat {
    /// Starts counting now.
    pub(crate) fn new(progress: Option<Progress>) -> Self {
        Heartbeat(progress.map(|progress| {
            let (started, every) = (Instant::now(), progress.every.max(SHORTEST));
            let mut ticks = interval_at(started + every, every);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            Beats { progress, started, ticks, sending: None }
        }))
    }

    /// Ends when a beat is due and the one before it is out. May be dropped and asked again.
    pub(crate) async fn due(&mut self) {
        let Some(beats) = &mut self.0 else { return pending().await };
        beats.sent().await;
        beats.ticks.tick().await;
    }

    /// Begins to send a beat.
    pub(crate) fn beat(&mut self, printed: u64) {
        let Some(beats) = &mut self.0 else { return };
        let note = note(&beats.progress.token, beats.started.elapsed(), printed);
        let peer = beats.progress.peer.clone();
        beats.sending = Some(Box::pin(async move {
            if let Err(error) = peer.notify_progress(note).await {
                tracing::debug!(%error, "a heartbeat was not sent");
            }
        }));
    }

    /// Waits until the last beat is out, so that it comes before the reply.
    pub(crate) async fn finish(&mut self) {
        if let Some(beats) = &mut self.0
            && timeout(LAST_BEAT, beats.sent()).await.is_err()
        {
            tracing::debug!("the last heartbeat was not taken in time");
        }
    }
}

impl Beats {
    async fn sent(&mut self) {
        if let Some(sending) = &mut self.sending {
            sending.await;
            self.sending = None;
        }
    }
}

impl fmt::Debug for Heartbeat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Heartbeat").field(&self.0.as_ref().map(|beats| &beats.progress)).finish()
    }
}

fn note(token: &ProgressToken, elapsed: Duration, printed: u64) -> ProgressNotificationParam {
    let seconds = elapsed.as_secs();
    #[expect(clippy::cast_precision_loss, reason = "exact for 285 million years")]
    let progress = seconds as f64;
    ProgressNotificationParam::new(token.clone(), progress)
        .with_message(format!("running for {seconds} s, {printed} bytes of output"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::model::NumberOrString;

    #[test]
    fn a_beat_counts_whole_seconds_and_bytes() {
        let token = ProgressToken(NumberOrString::Number(7));
        let note = note(&token, Duration::from_millis(20_900), 1234);
        assert_eq!(note.message.as_deref(), Some("running for 20 s, 1234 bytes of output"));
        assert!((note.progress - 20.0).abs() < f64::EPSILON);
    }
}
