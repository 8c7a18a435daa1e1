//! Settings of a room that change while it runs.

use super::Room;
use super::talk::bot_seat;
use crate::fields::{Entity, KindOf, find_kind};
use crate::game::Game;
use crate::limits::BOTS_MAX;
use crate::motion::send_rule::SendRule;
use crate::rewind::Rewind;
use crate::server::config::RoomChanges;
use crate::server::control::Event;
use crate::server::rotation::bot_name;
use crate::wire::control::ServerMessage;
use crate::wire::disconnect::Code;

impl<G: Game> Room<G> {
    /// Takes over other settings.
    pub(super) fn configure(&mut self, changes: RoomChanges) {
        let sent_before = self.host.config.send.clone();
        changes.apply(&mut self.host.config);
        self.send_by_all(&sent_before);
        let config = &self.host.config;
        let most = config.rewind.unwrap_or(G::REWIND.most);
        let favour = config.favour.unwrap_or(G::REWIND.favour);
        self.world.past.configure(config.rates, Rewind { most, favour });
        for seated in self.members.values_mut().chain(self.gallery.watchers.values_mut()) {
            seated.member.set_bytes_per_second(config.client_bytes_per_second);
        }
        let strength = config.strength;
        self.bots.values_mut().for_each(|seat| seat.bot.set_strength(strength));
        self.keep_bots();
        self.tell_house();
        self.host.tell(Event::Configured);
    }

    /// Sends each kind by its rule in the configuration, or else by the game's.
    fn send_by_all(&mut self, before: &[(String, SendRule)]) {
        let rules = self.host.config.send.clone();
        let find = |name: &str| find_kind(G::Entity::KINDS, name).ok();
        // Of several rules for a kind the last one counts.
        let named = |rules: &[(String, SendRule)], kind| {
            let found = rules.iter().rev().find(|(name, _)| find(name) == Some(kind));
            found.map(|(_, rule)| *rule)
        };
        for kind in 0..G::Entity::KINDS.len() as u8 {
            let [was, is] = [before, &rules].map(|rules| named(rules, kind));
            let declared = || (G::KIT.sending)(KindOf::new(kind));
            if was != is {
                self.send_by(kind, is.unwrap_or_else(declared));
            }
        }
    }

    /// Has as many bots play as the settings say.
    pub(super) fn keep_bots(&mut self) {
        let config = &self.host.config;
        let people = if config.fill { self.members.len() } else { 0 };
        let count = usize::from(config.bots.min(BOTS_MAX)).saturating_sub(people);
        self.set_bots(count as u16);
    }

    /// Has bots make way for one more player.
    pub(super) fn make_way(&mut self) {
        let config = &self.host.config;
        let people = self.members.len() + 1;
        let most = usize::from(G::SEATS_MAX).saturating_sub(people);
        let wanted = usize::from(config.bots.min(BOTS_MAX)).saturating_sub(people);
        let most = if config.fill { wanted.min(most) } else { most };
        if self.bots.len() > most {
            self.set_bots(most as u16);
        }
    }

    /// Has so many bots play, as far as there are seats.
    pub(super) fn set_bots(&mut self, count: u16) {
        while self.bots.len() > usize::from(count) {
            let Some((player, _)) = self.bots.pop_last() else { break };
            self.game.leave(&mut self.world, player);
            self.world.set_profile(player, None);
            self.broadcast(&ServerMessage::Left { player, code: Code::Left });
        }
        let seats = usize::from(G::SEATS_MAX);
        while self.bots.len() < usize::from(count) && self.bots.len() + self.members.len() < seats {
            self.add_bot();
        }
        self.world.snap();
    }

    fn add_bot(&mut self) {
        let number = self.bots.len() as u16 + 1;
        let (player, name) = self.free_player(bot_name(number));
        self.sit_down(player, name.clone());
        self.game.join(&mut self.world, player);
        self.broadcast(&ServerMessage::Joined(vec![(player, bot_seat(player, &name))]));
    }
}
