//! The state of a room as bytes, from which another process goes on: world, seats and tokens.
//!
//! A checkpoint holds the truth on the wire's grid, which is all of it, so that the room that is
//! made of it steps on as the first one would have. Its players are away until they come back.
//! Bytes that are damaged, or of other rules, change nothing.

use core::net::SocketAddr;
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::Room;
use crate::fields::{Entity, Slot};
use crate::game::{Game, Memory as _, Profile};
use crate::identity::{Credentials, Proof, PublicKey, ResumeToken};
use crate::ids::{EntityId, PlayerId};
use crate::limits::{BOTS_MAX, ENTITIES_MAX, FIELDS_MAX, GAMES_MAX, PLAYERS_MAX};
use crate::random::Random;
use crate::server::member::Member;
use crate::server::output::ClientId;
use crate::server::rotation::{Host, Rotation};
use crate::time::{LocalTime, Micros, Offset, Rates, Tick};
use crate::wire::control::Hello;
use crate::wire::protocol::game_hash;
use crate::wire::talk::Look;
use crate::wire::text::clean_name;

use crate::server::control::Event;

/// Resume tokens that a room may have given after its last checkpoint: far more than it can.
const TOKENS_BETWEEN: u64 = 1 << 16;
/// Version of the layout.
const FORMAT: u16 = 3;

/// A room cannot be made of a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RestoreError {
    /// The bytes are no checkpoint, or damaged.
    #[error("the kept room is damaged")]
    Damaged,
    /// Another build or another configuration made it.
    #[error("the kept room is of other rules, rates or settings of its game")]
    Other,
}

/// The head, which every later layout begins with.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    format: u16,
    game: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    /// Hash of the game's rules.
    hash: u64,
    rates: Rates,
    setup: Vec<u8>,
    seed: u64,
    map_seed: u64,
    number: u8,
    epoch_number: u8,
    tick: u64,
    next_player: PlayerId,
    next_token: u64,
    random: Random,
    generations: Vec<u8>,
    entities: Vec<KeptEntity>,
    /// Fields of all entities on the grid, one after the other.
    fields: Vec<u32>,
    /// The game's memory.
    memory: Vec<u8>,
    bots: Vec<(PlayerId, String)>,
    seats: Vec<KeptSeat>,
}

#[derive(Debug, Serialize, Deserialize)]
struct KeptEntity {
    index: u16,
    generation: u8,
    owner: Option<PlayerId>,
    kind: u8,
}

#[derive(Debug, Serialize, Deserialize)]
struct KeptSeat {
    player: PlayerId,
    name: String,
    look: Look,
    key: PublicKey,
    token: ResumeToken,
    /// Games of the player's build, with their hashes.
    games: Vec<(String, u64)>,
    plain: bool,
    /// Time since the player took the seat.
    played: Micros,
    /// Where the player's last connection came from.
    address: Option<SocketAddr>,
}

/// Name of the game that a checkpoint is of; none if the bytes are no checkpoint.
pub fn game_of(checkpoint: &[u8]) -> Option<String> {
    let (head, _) = postcard::take_from_bytes::<Head>(checkpoint).ok()?;
    (head.format == FORMAT).then_some(head.game)
}

impl<G: Game> Room<G> {
    /// See [`AnyRoom::checkpoint`](crate::server::AnyRoom::checkpoint).
    pub(super) fn checkpoint(&self, now: LocalTime) -> Option<Vec<u8>> {
        let mut fields = Vec::new();
        let mut entity = |slot: &Slot<G::Entity>| {
            fields.extend(&slot.entity.pack()[..slot.entity.fields().len()]);
            KeptEntity {
                index: slot.id.index,
                generation: slot.id.generation,
                owner: slot.owner,
                kind: slot.entity.kind(),
            }
        };
        let entities = self.world.entities.iter().map(&mut entity).collect();
        let seat = |member: &Member| KeptSeat {
            player: member.player,
            name: member.name.clone(),
            look: member.look,
            key: member.key,
            token: member.token,
            games: member.games.clone(),
            plain: member.plain,
            played: now - member.joined,
            address: member.address,
        };
        // Who never said more than hello has nothing to come back to.
        let has_played = |member: &Member| member.stats.accepted > 0 || member.away_until.is_some();
        let seats = self.members.values().filter(|seated| has_played(&seated.member));
        let Host { config, number, epoch_number, next_player, next_token, .. } = &self.host;
        let kept = Kept {
            hash: self.hash,
            rates: config.rates,
            setup: self.setup.clone(),
            seed: config.seed,
            map_seed: config.map_seed,
            number: *number,
            epoch_number: *epoch_number,
            tick: self.world.tick.0,
            next_player: *next_player,
            next_token: *next_token,
            random: self.world.random.clone(),
            generations: self.world.generations.clone(),
            entities,
            fields,
            memory: postcard::to_stdvec(&self.world.memory).ok()?,
            bots: self.bots.iter().map(|(player, bot)| (*player, bot.name.clone())).collect(),
            seats: seats.map(|seated| seat(&seated.member)).collect(),
        };
        let head = Head { format: FORMAT, game: G::NAME.to_owned() };
        let bytes = postcard::to_stdvec(&head).ok()?;
        postcard::to_extend(&kept, bytes).ok()
    }

    /// A room that goes on from a checkpoint at the time `now`. Of the rotation the configuration
    /// counts, apart from the seeds.
    pub fn restore(
        rotation: Rotation,
        setup: &[u8],
        checkpoint: &[u8],
        now: LocalTime,
    ) -> Result<Self, RestoreError> {
        let damaged = |_| RestoreError::Damaged;
        let (head, rest) = postcard::take_from_bytes::<Head>(checkpoint).map_err(damaged)?;
        if head.format != FORMAT || head.game != G::NAME {
            return Err(RestoreError::Other);
        }
        // Another build's fields may be others: its hash stands before them.
        let (hash, _) = postcard::take_from_bytes::<u64>(rest).map_err(damaged)?;
        if hash != game_hash::<G>() {
            return Err(RestoreError::Other);
        }
        let kept: Kept = postcard::from_bytes(rest).map_err(damaged)?;
        let host = rotation.host;
        if kept.rates != host.config.rates || kept.setup != setup {
            return Err(RestoreError::Other);
        }
        let tick = Tick(kept.tick);
        if tick > Tick::MAX_SENT {
            return Err(RestoreError::Damaged);
        }
        kept.resume(host, tick, now)
    }
}

impl Kept {
    /// True if the entities are in the order of their slots, and the last tenants of these.
    fn has_own_generations(&self) -> bool {
        let generation = |kept: &KeptEntity| self.generations.get(usize::from(kept.index));
        self.generations.len() <= ENTITIES_MAX.into()
            && self.entities.is_sorted_by(|a, b| a.index < b.index)
            && self.entities.iter().all(|kept| generation(kept) == Some(&kept.generation))
    }

    /// True if there are as many seats as the game may have, and no two are one player's.
    fn seats_fit<G: Game>(&self) -> bool {
        let bots = self.bots.iter().map(|(player, _)| *player);
        let players: BTreeSet<_> = bots.chain(self.seats.iter().map(|seat| seat.player)).collect();
        let tokens: BTreeSet<_> = self.seats.iter().map(|seat| seat.token.0).collect();
        let (seats, bots) = (self.seats.len(), self.bots.len());
        seats <= PLAYERS_MAX.into()
            && bots <= BOTS_MAX.into()
            && seats + bots <= G::SEATS_MAX.into()
            && players.len() == seats + bots
            && tokens.len() == seats
    }

    fn resume<G: Game>(
        self,
        mut host: Host,
        tick: Tick,
        now: LocalTime,
    ) -> Result<Room<G>, RestoreError> {
        let memory = postcard::from_bytes::<G::Memory>(&self.memory);
        let mut memory = memory.map_err(|_| RestoreError::Damaged)?;
        let mut fields = &*self.fields;
        let slots = self.entities.iter().map(|kept| kept.slot::<G>(&mut fields));
        let slots = slots.collect::<Option<Vec<_>>>().ok_or(RestoreError::Damaged)?;
        if !fields.is_empty() || !self.has_own_generations() || !self.seats_fit::<G>() {
            return Err(RestoreError::Damaged);
        }
        // The clock stood still while nobody ran.
        let epoch = host.epoch - Micros(host.config.rates.time_of(tick).0);
        host.config.unix_micros = host.config.unix_micros.saturating_add((epoch - host.epoch).0);
        host.epoch = epoch;
        (host.config.seed, host.config.map_seed) = (self.seed, self.map_seed);
        (host.number, host.epoch_number) = (self.number, self.epoch_number);
        // Some were given since, of which nobody knows any more.
        host.next_token = self.next_token.wrapping_add(TOKENS_BETWEEN);
        host.next_player = self.next_player;
        // With nobody in it, and no bots, who have their places in the world already.
        let rotation =
            Rotation { host, tick, members: Vec::new(), watchers: Vec::new(), bots: Vec::new() };
        let mut room = Room::<G>::open(rotation, &self.setup);
        room.world.entities.refill(slots.iter());
        room.world.generations = self.generations;
        memory.restored(&room.game, &room.world.entities);
        (room.world.random, room.world.memory) = (self.random, memory);
        for (player, name) in self.bots {
            if let Some(name) = clean_name(&name) {
                room.sit_down(player, name);
            }
        }
        for (number, seat) in (0..).zip(self.seats) {
            room.keep(seat, ClientId(u64::MAX - number), now);
        }
        room.dismiss_seatless();
        // More or fewer may be asked for since.
        room.keep_bots();
        room.world.snap();
        Ok(room)
    }
}

impl KeptEntity {
    /// The entity, if its numbers are those of this game; its fields are the first of those.
    fn slot<G: Game>(&self, fields: &mut &[u32]) -> Option<Slot<G::Entity>> {
        let kind = G::Entity::KINDS.get(usize::from(self.kind))?;
        let (own, rest) = fields.split_at_checked(kind.fields.len())?;
        *fields = rest;
        if own.iter().zip(kind.fields).any(|(number, field)| *number > field.greatest) {
            return None;
        }
        let mut packed = [0; FIELDS_MAX];
        packed[..own.len()].copy_from_slice(own);
        let id = EntityId { index: self.index, generation: self.generation };
        Some(Slot { id, owner: self.owner, entity: G::Entity::unpack(self.kind, &packed) })
    }
}

impl<G: Game> Room<G> {
    /// Has everybody leave whose seat was not kept, so that nothing of them stays behind.
    fn dismiss_seatless(&mut self) {
        let owners = self.world.entities.iter().filter_map(|slot| slot.owner);
        let seatless = owners.filter(|owner| self.world.profile(*owner).is_none());
        for player in seatless.collect::<BTreeSet<_>>() {
            self.game.leave(&mut self.world, player);
        }
    }

    /// Keeps the seat of a player who was here before.
    fn keep(&mut self, seat: KeptSeat, client: ClientId, now: LocalTime) {
        let KeptSeat { player, name, look, key, token, mut games, plain, played, address } = seat;
        let Some(name) = clean_name(&name) else { return };
        games.truncate(GAMES_MAX);
        // The true hello is still to come.
        let hello = Hello {
            wire: 0,
            version: String::new(),
            name: name.clone(),
            games,
            sent: now,
            credentials: Credentials { key, proof: Proof::default() },
            resume: None,
            wishes: 0,
            room: None,
            password: None,
            look: if look.is_valid() { look } else { Look::default() },
        };
        let Host { config, epoch_number, number, .. } = &self.host;
        let mut member =
            Member::new((player, name), token, hello, now, Offset(0), *epoch_number, config);
        member.plain = plain;
        member.joined = now - played;
        member.address = address;
        member.away_until = Some(now + config.resume);
        member.away_in = *number;
        let (name, key) = (member.name.clone(), member.key);
        let profile = Profile { name: name.clone(), key: Some(key) };
        self.world.set_profile(player, Some(profile));
        self.take_seat(client, member);
        self.host.tell(Event::Joined { player, name, key, address, is_kept: true });
        self.host.tell(Event::Away { player });
    }
}
