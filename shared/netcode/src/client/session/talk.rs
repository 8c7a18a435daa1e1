//! Chat, arrivals and departures of other players, as notices for the player.

use super::Session;
use crate::client::output::{Notice, Speaker};
use crate::ids::PlayerId;
use crate::wire::control::{Seat, ServerMessage};

impl Session {
    /// Turns what others say and do outside of the game into notices. Returns whether the message
    /// needs no further handling.
    pub(super) fn handle_talk(&mut self, message: &ServerMessage) -> bool {
        let notice = match message {
            ServerMessage::Chat { from: None, to, text } => {
                Some(Notice::Chat { from: None, to: *to, text: text.clone() })
            }
            ServerMessage::Chat { from: Some(from), to, text } => {
                // A player who has left must not appear as the host.
                let from = self.speaker(*from);
                from.map(|from| Notice::Chat { from: Some(from), to: *to, text: text.clone() })
            }
            ServerMessage::Quick { from, to, number } => {
                let from = self.speaker(*from);
                from.map(|from| Notice::Quick { from, to: *to, number: *number })
            }
            ServerMessage::Mark { from, to, mark } => {
                self.speaker(*from).map(|from| Notice::Mark { from, to: *to, mark: *mark })
            }
            ServerMessage::Commands(commands) => Some(Notice::Commands(commands.clone())),
            ServerMessage::Joined(seats) => {
                self.note_joined(seats);
                return false;
            }
            ServerMessage::Left { player, code } => {
                if let Some(who) = self.speaker(*player) {
                    self.notify(Notice::Left { who, code: *code });
                }
                return false;
            }
            _ => return false,
        };
        if let Some(notice) = notice {
            self.notify(notice);
        }
        true
    }

    /// Announces new players and new names. Players listed before the client's own seat were there
    /// first.
    fn note_joined(&mut self, seats: &[(PlayerId, Seat)]) {
        let Some(client) = &self.client else { return };
        let common = client.common();
        let mut is_in = common.seat(common.player()).is_some();
        let mut told = Vec::new();
        for (player, seat) in seats {
            let who = Speaker { player: *player, seat: seat.clone() };
            match common.seat(*player) {
                Some(before) if before.name != seat.name && before.person == seat.person => {
                    told.push(Notice::Renamed { before: before.name.clone(), who });
                }
                None if is_in => told.push(Notice::Joined { who }),
                _ => {}
            }
            is_in |= *player == common.player();
        }
        told.into_iter().for_each(|notice| self.notify(notice));
    }

    /// Returns a player or spectator with the current seat.
    fn speaker(&self, player: PlayerId) -> Option<Speaker> {
        let seat = self.client.as_ref()?.common().seat(player)?;
        Some(Speaker { player, seat: seat.clone() })
    }
}
