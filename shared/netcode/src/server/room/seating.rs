//! Who sits where, under which name, and what they are told of it.

use std::collections::BTreeSet;

use crate::game::Game;
use crate::ids::PlayerId;
use crate::time::Offset;
use crate::wire::control::{ServerMessage, Welcome, clip};
use crate::wire::protocol::game_hash;

use super::{ClientId, Guest, Output, Room, Session};

impl<G: Game> Room<G> {
    /// Lets somebody in who was in the game before.
    pub(super) fn seat(&mut self, client: ClientId, guest: Guest) {
        let (player, offset) = (guest.player, guest.welcome_offset);
        let welcome = self.welcome(player, offset);
        self.outputs.push_back(Output::Control { client, message: welcome });
        let session = Session::new::<G>(guest, self.number, self.config.rates);
        self.sessions.insert(client, session);
        self.game.join(&mut self.world, player);
    }

    /// Whether a build that knows these games can play this one.
    pub(super) fn check_games(&self, games: &[(String, u64)]) -> Result<(), String> {
        match games.iter().find(|(name, _)| name == G::NAME) {
            Some((_, hash)) if *hash == game_hash::<G>() => Ok(()),
            Some(_) => Err(format!("your build's rules of {} differ from this server's", G::NAME)),
            None => Err(format!("this server plays {}, which your build lacks", G::NAME)),
        }
    }

    pub(super) fn welcome(&self, player: PlayerId, offset: Offset) -> ServerMessage {
        ServerMessage::Welcome(Welcome {
            server: self.config.name.clone(),
            game: G::NAME.into(),
            number: self.number,
            seed: self.config.map_seed.wrapping_add(u64::from(self.number)),
            rates: self.config.rates,
            player,
            tick: self.world.tick,
            offset,
            epoch: self.epoch_number,
            unix_micros: self.config.unix_micros,
        })
    }

    pub(super) fn roster(&self) -> Vec<ServerMessage> {
        let people = self.sessions.values().map(|s| (s.player, s.name.clone(), false));
        let bots = self.bots.iter().map(|(player, seat)| (*player, seat.name.clone(), true));
        let joined = |(player, name, bot)| ServerMessage::Joined { player, name, bot };
        people.chain(bots).map(joined).collect()
    }

    pub(super) fn free_seat(&mut self) -> PlayerId {
        let taken: BTreeSet<_> =
            self.sessions.values().map(|s| s.player).chain(self.bots.keys().copied()).collect();
        // The last number is left out, so that a game may store a seat plus one in 16 bits.
        while taken.contains(&self.next_player) || self.next_player.0 == u16::MAX {
            self.next_player.0 = self.next_player.0.wrapping_add(1);
        }
        let free = self.next_player;
        self.next_player.0 = free.0.wrapping_add(1);
        free
    }

    /// The name itself, or with a number if somebody has it already.
    pub(super) fn free_name(&self, wanted: String) -> String {
        let taken: BTreeSet<&str> = self
            .sessions
            .values()
            .map(|session| session.name.as_str())
            .chain(self.bots.values().map(|seat| seat.name.as_str()))
            .collect();
        if !taken.contains(wanted.as_str()) {
            return wanted;
        }
        let numbered = (2..=u32::MAX).map(|number| {
            let suffix = format!(" {number}");
            let room = crate::limits::NAME_BYTES_MAX - suffix.len();
            format!("{}{suffix}", clip(&wanted, room))
        });
        // There are fewer names taken than numbers.
        numbered.into_iter().find(|name| !taken.contains(name.as_str())).unwrap_or(wanted)
    }
}
