//! Events of rooms: logged, passed to the host, and acted on when players voted for a game.

use std::sync::Arc;

use phaselock::server::Event;

use super::{Rooms, Running};
use crate::server::directory::RoomId;
use crate::server::handle::RoomEvent;

impl Rooms {
    /// Handles a room's events, and passes them to the host if it listens.
    pub(in crate::server) fn handle_events(&mut self, id: RoomId) {
        let mut is_changed = false;
        let mut chosen = None;
        while let Some(event) = self.call(id, |room| room.poll_event()).flatten() {
            let Some(Running { span, code, .. }) = self.running.get(&id) else { return };
            let inside = span.enter();
            match &event {
                Event::Report { name, player, value, .. } => {
                    tracing::info!(
                        name: "game_report",
                        name,
                        player = player.map(|it| it.0),
                        value,
                        "report"
                    );
                }
                Event::Game { name } => tracing::info!(
                    name: "game_began",
                    game = name,
                    "the game begins"
                ),
                Event::Chosen { game } => chosen = Some(game.clone()),
                Event::Round { played } => tracing::info!(
                    name: "round_over",
                    played,
                    "a round is over"
                ),
                Event::GhostsAsked { .. } => {}
                _ => is_changed = true,
            }
            drop(inside);
            self.directory.note(id, &event);
            let _ = self.events.send(Arc::new(RoomEvent { room: code.clone(), event }));
        }
        if is_changed {
            self.measure(id);
        }
        if let Some(game) = chosen {
            self.play_chosen(id, &game);
        }
    }
}
