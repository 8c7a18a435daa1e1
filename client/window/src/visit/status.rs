//! State of a visit as JSON, for other programs.

use phaselock::client::State;
use phaselock::time::Micros;
use serde_json::{Value, json};

use super::Visit;

/// Interval between reports.
pub(crate) const REPORT_EVERY: Micros = Micros::from_ms(250);

/// What is shown, as an object: with the state of the visit, or why the last one ended. `screen`
/// names what is shown outside of games.
pub(crate) fn status(visit: Option<&Visit>, screen: Option<&str>, reason: Option<&str>) -> String {
    let away = || json!({ "state": "away", "reason": reason });
    let mut status = visit.map_or_else(away, Visit::status);
    status["screen"] = match (screen, visit) {
        (Some(screen), _) => screen,
        (None, Some(visit)) if visit.is_paused() => "pause",
        (None, Some(_)) => "game",
        (None, None) => "menu",
    }
    .into();
    status.to_string()
}

impl Visit {
    /// State, figures, people, and values of the connection.
    fn status(&self) -> Value {
        let session = self.connection.session();
        let state = match session.state() {
            State::Connecting { .. } => "connecting",
            State::Connected => "connected",
            State::Waiting { .. } => "waiting",
            State::Ended { .. } => "ended",
        };
        let now = self.now();
        let mut status = json!({
            "state": state,
            "reason": self.lost,
            "server": self.server_name,
            "game": self.play.as_ref().map(|(entry, _)| entry.name),
            "title": self.play.as_ref().map(|(entry, _)| entry.title),
            "is_playing": self.is_playing(),
        });
        if let (Some(client), Value::Object(all)) = (session.client(), &mut status) {
            let (common, stats) = (client.common(), client.common().stats());
            let names: Vec<_> = common.roster().values().map(|seat| seat.name.clone()).collect();
            let clock = common.unix_micros().saturating_add(common.server_time(now).0)
                - self.connection.unix_of_start().saturating_add(now.0);
            let more = json!({
                "player": common.player().0,
                "watching": common.watching().is_some(),
                "names": names,
                "frames": stats.frames,
                "snapshots": stats.snapshots,
                "bytes_down": stats.rx_bytes,
                "bytes_up": stats.tx_bytes,
                "ticks": stats.ticks,
                "mispredictions": stats.mispredictions,
                "late_inputs": stats.late_inputs,
                "round_trip_us": stats.round_trip.0,
                "clock_error_us": clock,
                "now_us": now.0,
                "lines": self.talk.texts(),
            });
            if let Value::Object(more) = more {
                all.extend(more);
            }
            all.extend(self.connection.status());
        }
        status
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_screen_tells_an_object() {
        for (screen, told) in [(None, "menu"), (Some("settings"), "settings")] {
            let status: Value =
                serde_json::from_str(&status(None, screen, Some("full"))).expect("JSON");
            assert_eq!(status, json!({ "state": "away", "screen": told, "reason": "full" }));
        }
    }
}
