//! Tells a waiting caller that its command still runs.

use std::time::Duration;

use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

use super::outlet::{Outlet, Progress};

/// Progress is counted in whole seconds and must grow, so beats are at least this far apart.
const SHORTEST: Duration = Duration::from_secs(1);

/// The beats of one call.
#[derive(Debug)]
pub(super) struct Heartbeat {
    outlet: Outlet,
    started: Instant,
    ticks: Interval,
}

impl Heartbeat {
    /// Starts counting now.
    pub(super) fn new(progress: Progress) -> Self {
        let (started, every) = (Instant::now(), progress.every.max(SHORTEST));
        let mut ticks = interval_at(started + every, every);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Heartbeat { outlet: Outlet::new(progress), started, ticks }
    }

    /// Ends when a beat is due and the one before it is out. May be dropped and asked again.
    pub(super) async fn due(&mut self) {
        self.outlet.sent().await;
        self.ticks.tick().await;
    }

    /// Begins to send a beat.
    pub(super) fn beat(&mut self, printed: u64) {
        let elapsed = self.started.elapsed();
        #[expect(clippy::cast_precision_loss, reason = "exact for 285 million years")]
        self.outlet.send(elapsed.as_secs() as f64, words(elapsed, printed));
    }

    /// Waits until the last beat is out.
    pub(super) async fn finish(&mut self) {
        self.outlet.finish().await;
    }
}

/// What is said of a command that prints nothing new.
pub(super) fn words(elapsed: Duration, printed: u64) -> String {
    format!("running for {} s, {printed} bytes of output", elapsed.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beat_counts_whole_seconds_and_bytes() {
        assert_eq!(words(Duration::from_millis(20_900), 1234), "running for 20 s, 1234 bytes of output");
    }
}
