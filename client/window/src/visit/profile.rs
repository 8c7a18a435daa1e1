//! Settings that take effect during a game: name and looks, once they stay as they are, and the
//! input delay.

use phaselock::client::GhostChoice;
use phaselock::limits::INPUT_DELAY_TICKS_MAX;
use phaselock::time::Micros;
use phaselock::wire::talk::Look;

use super::Visit;

/// Time for which a changed name or look of the settings stays before others are told.
const CHANGE_STAYS: Micros = Micros::from_ms(1_500);

impl Visit {
    /// Applies the input delay of the settings, in ticks.
    pub(crate) fn follow_input_delay(&mut self, ticks: u16) {
        if std::mem::replace(&mut self.input_delay, ticks) != ticks {
            let ticks = u8::try_from(ticks).unwrap_or(INPUT_DELAY_TICKS_MAX);
            self.connection.session_mut().set_input_delay(ticks);
        }
    }

    /// Applies the choice of a ghost of the settings.
    pub(crate) fn follow_ghost(&mut self, choice: &GhostChoice) {
        if self.ghost != *choice {
            self.ghost = choice.clone();
            self.connection.session_mut().choose_ghost(choice.clone());
        }
    }

    /// Applies the choice of the settings whether deaths and highlights are shown again.
    pub(crate) fn follow_replays(&mut self, replays: bool) {
        self.replays = replays && !self.is_recording;
    }

    /// Takes over another name and other looks of the settings, once they stay as they are: a
    /// server takes few changes. An empty name is none.
    pub(crate) fn follow_profile(&mut self, name: &str, look: Look) {
        let (now, wish) = (self.now(), (name.to_owned(), look));
        let Some(profile) = &self.profile else {
            self.profile = Some(wish);
            return;
        };
        if *profile == wish || !self.is_connected() {
            self.changed = None;
            return;
        }
        if now - *self.changed.get_or_insert(now) < CHANGE_STAYS {
            return;
        }
        let session = self.connection.session_mut();
        let common = session.client().map(|client| client.common());
        let seat = common.and_then(|common| common.roster().get(&common.player()));
        let name = match (name, seat) {
            ("", Some(seat)) => seat.name.clone(),
            (name, _) => name.to_owned(),
        };
        // The server refuses what comes too fast, and the player is told so.
        let _ = session.restyle(&name, look);
        (self.profile, self.changed) = (Some(wish), None);
    }
}
