//! How the trail is put into words.

use std::time::Duration;

use runward_audit::{Call, Closing, Ended, Time};
use runward_model::{Answer, Decision};

/// What was decided about a call: it can be refused although the policy allows it.
pub(super) fn decision(call: &Call) -> &'static str {
    let refused = matches!(call.closed.as_ref().map(|closed| &closed.closing), Some(Closing::Refused { .. }));
    let answer = call.answered.as_ref().map(|answered| &answered.answer);
    match &call.judged.verdict {
        Some(_) if !refused && answer.is_some_and(|answer| !matches!(answer, Answer::Deny { .. })) => {
            "approved"
        }
        Some(verdict) if verdict.decision != Decision::Allow => decided(verdict.decision),
        _ if refused => "refused",
        Some(verdict) => decided(verdict.decision),
        None => "-",
    }
}

/// A decision in one word.
pub(super) const fn decided(decision: Decision) -> &'static str {
    match decision {
        Decision::Allow => "allowed",
        Decision::Ask => "ask",
        Decision::Deny => "denied",
    }
}

/// How a call ended, in one word.
pub(super) fn exit(call: &Call) -> String {
    match call.closed.as_ref().map(|closed| &closed.closing) {
        None => "open".to_owned(),
        Some(Closing::Lost) => "lost".to_owned(),
        Some(Closing::Refused { .. }) => "-".to_owned(),
        Some(Closing::Ended(ended)) => ended.signal.clone().unwrap_or_else(|| ended.exit_code.to_string()),
    }
}

/// How a call ran and ended, if it did.
pub(super) fn ended(call: &Call) -> Option<&Ended> {
    match &call.closed.as_ref()?.closing {
        Closing::Ended(ended) => Some(ended),
        Closing::Refused { .. } | Closing::Lost => None,
    }
}

/// A time to the second, for a column that says it is UTC.
pub(super) fn time(time: Time) -> String {
    time.to_string().replace('T', " ").chars().take("2026-01-31 08:00:00".len()).collect()
}

/// A duration with as much detail as matters.
pub(super) fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0 => format!("{}ms", duration.as_millis()),
        1..60 => format!("{seconds}.{}s", duration.subsec_millis() / 100),
        60..3600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h{:02}m", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_short() {
        for (milliseconds, text) in
            [(0, "0ms"), (999, "999ms"), (1_990, "1.9s"), (61_000, "1m01s"), (3_660_000, "1h01m")]
        {
            assert_eq!(duration(Duration::from_millis(milliseconds)), text);
        }
    }

    #[test]
    fn a_time_in_a_column_has_no_more_than_seconds() {
        assert_eq!(time("2026-01-31T10:00:00.5+02:00".parse().unwrap()), "2026-01-31 08:00:00");
    }
}
