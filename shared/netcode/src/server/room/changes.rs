//! Changes to a room's settings while it runs.

use super::Room;
use crate::fields::{Entity, KindOf, find_kind};
use crate::game::Game;
use crate::limits::BOTS_MAX;
use crate::motion::send_rule::SendRule;
use crate::server::config::RoomSettings;
use crate::server::control::Event;
use crate::server::rotation::bot_name;
use crate::server::seats::bot_seat;
use crate::wire::control::ServerMessage;
use crate::wire::disconnect::Code;

impl<G: Game> Room<G> {
    /// Changes the settings.
    pub(super) fn configure(&mut self, changes: RoomSettings) {
        let sent_before = self.host.settings().send.clone();
        self.host.configure(changes);
        self.send_by_all(&sent_before);
        let config = self.host.config();
        self.simulation.configure(config);
        for seated in self.seats.everybody_mut() {
            seated.set_bytes_per_second(config.settings.client_bytes_per_second);
        }
        self.seats.set_strength(config.settings.strength);
        self.keep_bots();
        self.send_house();
        self.host.push_event(Event::Configured);
    }

    /// Sends each kind by its configured rule, or by the game's if it has none.
    fn send_by_all(&mut self, before: &[(String, SendRule)]) {
        let rules = self.host.settings().send.clone();
        let find = |name: &str| find_kind(G::Entity::kinds(), name).ok();
        // Of several rules for a kind, the last one counts.
        let named = |rules: &[(String, SendRule)], kind| {
            let found = rules.iter().rev().find(|(name, _)| find(name) == Some(kind));
            found.map(|(_, rule)| *rule)
        };
        for kind in 0..G::Entity::kinds().len() as u8 {
            let [was, is] = [before, &rules].map(|rules| named(rules, kind));
            let declared = || (G::KIT.sending)(KindOf::new(kind));
            if was != is {
                self.send_by(kind, is.unwrap_or_else(declared));
            }
        }
    }

    /// Adds or removes bots to match the settings.
    pub(super) fn keep_bots(&mut self) {
        let config = self.host.config();
        let people = if config.settings.fill { self.seats.players().len() } else { 0 };
        let count = usize::from(config.settings.bots.min(BOTS_MAX)).saturating_sub(people);
        self.set_bots(count);
    }

    /// Removes a bot to make way for one more player, if necessary.
    pub(super) fn make_way(&mut self) {
        let config = self.host.config();
        let people = self.seats.players().len() + 1;
        let most = usize::from(G::SEATS_MAX).saturating_sub(people);
        let wanted = usize::from(config.settings.bots.min(BOTS_MAX)).saturating_sub(people);
        let most = if config.settings.fill { wanted.min(most) } else { most };
        if self.seats.bot_count() > most {
            self.set_bots(most);
        }
    }

    /// Sets the number of bots, limited by the free seats.
    fn set_bots(&mut self, count: usize) {
        while self.seats.bot_count() > count {
            let Some(player) = self.seats.pop_bot() else { break };
            self.simulation.leave(player);
            self.broadcast(&ServerMessage::Left { player, code: Code::Left });
        }
        let left = usize::from(G::SEATS_MAX).saturating_sub(self.seats.players().len());
        while self.seats.bot_count() < count.min(left) {
            let (player, name) = self.free_player(bot_name(self.seats.bot_count() as u16 + 1));
            self.add_bot(player, name.clone());
            let seat = bot_seat(player, &name);
            self.broadcast(&ServerMessage::Joined(vec![(player, seat)]));
        }
        self.simulation.snap();
    }
}
