//! What a room adds to the recording of its world: who is there, and news for those who watch it.

use super::Room;
use super::orders::line;
use crate::game::Game;
use crate::replay::{About, News, Person, Recorder};
use crate::server::output::ClientId;
use crate::wire::control::ServerMessage;

impl<G: Game> Room<G> {
    /// Records the world from now on, if the room is configured so.
    pub(super) fn record(&mut self) {
        let config = self.host.config();
        let Some(record) = config.record else { return };
        let (rates, number) = (config.rates, u64::from(self.host.number()));
        let roster = self.seats.roster(None);
        let passed = rates.time_of(self.simulation.tick()).0;
        let about = About {
            server: config.settings.name.clone(),
            setup: self.simulation.setup().to_vec(),
            map_seed: config.map_seed.wrapping_add(number),
            seed: config.seed.wrapping_add(number),
            unix_micros: config.unix_micros.saturating_add(passed),
            people: roster.iter().map(|(player, seat)| Person::of((player, seat))).collect(),
            viewer: None,
        };
        self.simulation.record(|world| Recorder::new(about, rates, record.pace, world));
    }

    /// Begins the next recording, if the room makes one for each round and one has ended, or if the
    /// present one is long enough. If possible, that waits for the end of a round, since a finished
    /// recording may be handed out, and a running round hides things.
    pub(super) fn restart_recording(&mut self, round_ended: bool) {
        let Some(record) = self.host.config().record else { return };
        let Some(began) = self.simulation.recorder_mut().map(|it| it.began()) else { return };
        let ticks = self.simulation.tick().since(began);
        let secs = ticks / u64::from(self.host.rates().tick_hz);
        let longest = u64::from(record.secs_max);
        let is_long = longest > 0 && (secs >= longest && round_ended || secs >= 2 * longest);
        if is_long || record.by_round && round_ended {
            self.simulation.cut_recording();
            let rest = self.simulation.recorder_mut().map(Recorder::take);
            self.record();
            if let Some((recorder, rest)) = self.simulation.recorder_mut().zip(rest) {
                recorder.put_before(rest);
            }
        }
    }

    /// Tells a newcomer that the room is recorded.
    pub(super) fn tell_of_recording(&mut self, client: ClientId) {
        if self.host.config().record.is_some_and(|record| record.tells) {
            self.host.send(client, line("this server records its games".to_owned()));
        }
    }

    /// Records a message that all players are sent, unless it is only of the moment.
    pub(super) fn record_message(&mut self, message: &ServerMessage) {
        let Some(record) = self.host.config().record else { return };
        self.simulation.note_news(|| match message {
            ServerMessage::Chat { from: Some(_), .. }
            | ServerMessage::Quick { .. }
            | ServerMessage::Mark { .. }
                if !record.chat =>
            {
                None
            }
            message => News::of(message),
        });
    }
}
