//! The state of a room as bytes, from which another process can continue: world, seats and tokens.
//!
//! A checkpoint holds the state on the wire's grid, which is the complete state, so the restored
//! room continues as the original would have. Its players are away until they come back. Bytes that
//! are damaged, or made by other rules, change nothing.

use core::net::SocketAddr;
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::Room;
use crate::fields::{Entity, Slot};
use crate::game::{Game, Profile};
use crate::identity::{Credentials, Proof, PublicKey, ResumeToken};
use crate::ids::{EntityId, PlayerId};
use crate::limits::{BOTS_MAX, ENTITIES_MAX, FIELDS_MAX, GAMES_MAX, PLAYERS_MAX};
use crate::random::Random;
use crate::server::control::Event;
use crate::server::host::{Host, HostState};
use crate::server::member::Member;
use crate::server::member::person::Person;
use crate::server::output::ClientId;
use crate::server::rotation::Rotation;
use crate::server::seated::Part;
use crate::server::simulation::Hidden;
use crate::time::{LocalTime, Micros, Rates, Tick};
use crate::wire::control::{Hello, WISH_PLAIN};
use crate::wire::protocol::game_hash;
use crate::wire::talk::Look;
use crate::wire::text::clean_name;

/// Version of the layout.
const FORMAT: u16 = 3;

/// Why a room cannot be restored from a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RestoreError {
    /// The bytes are not a checkpoint, or are damaged.
    #[error("the saved room is damaged")]
    Damaged,
    /// Another build or configuration made the checkpoint.
    #[error("the saved room has different rules, rates or settings of its game")]
    Other,
}

/// The header, which every later layout must begin with.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    format: u16,
    game: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct SavedRoom {
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
    entities: Vec<SavedEntity>,
    /// Fields of all entities on the grid, concatenated.
    fields: Vec<u32>,
    /// The game's memory.
    memory: Vec<u8>,
    bots: Vec<(PlayerId, String)>,
    seats: Vec<SavedSeat>,
}

#[derive(Debug, Serialize, Deserialize)]
struct SavedEntity {
    index: u16,
    generation: u8,
    owner: Option<PlayerId>,
    kind: u8,
}

#[derive(Debug, Serialize, Deserialize)]
struct SavedSeat {
    player: PlayerId,
    name: String,
    look: Look,
    key: PublicKey,
    token: ResumeToken,
    /// Games of the player's build, with their hashes.
    games: Vec<(String, u64)>,
    plain: bool,
    /// Time since the player joined.
    played: Micros,
    /// Address of the player's last connection.
    address: Option<SocketAddr>,
}

/// Returns the name of the game that a checkpoint belongs to; `None` if the bytes are not a
/// checkpoint.
pub fn game_of(checkpoint: &[u8]) -> Option<String> {
    let (head, _) = postcard::take_from_bytes::<Head>(checkpoint).ok()?;
    (head.format == FORMAT).then_some(head.game)
}

impl<G: Game> Room<G> {
    /// Returns the checkpoint; see [`AnyRoom::checkpoint`](crate::server::AnyRoom::checkpoint).
    pub(super) fn checkpoint(&self, now: LocalTime) -> Option<Vec<u8>> {
        let mut fields = Vec::new();
        let mut entity = |slot: &Slot<G::Entity>| {
            fields.extend(&slot.entity.pack()[..slot.entity.fields().len()]);
            SavedEntity {
                index: slot.id.index,
                generation: slot.id.generation,
                owner: slot.owner,
                kind: slot.entity.kind(),
            }
        };
        let world = self.simulation.world();
        let entities = world.entities.iter().map(&mut entity).collect();
        // A player who never sent more than a hello has nothing to come back to.
        let has_played = |member: &Member| member.has_played() || !member.is_here();
        let players = self.seats.players().iter().map(|(_, member)| member);
        let HostState { seed, map_seed, number, epoch_number, next_player, next_token } =
            self.host.state();
        let kept = SavedRoom {
            hash: self.simulation.hash(),
            rates: self.host.rates(),
            setup: self.simulation.setup().to_vec(),
            seed,
            map_seed,
            number,
            epoch_number,
            tick: world.tick.0,
            next_player,
            next_token,
            random: world.random.clone(),
            generations: world.generations.clone(),
            entities,
            fields,
            memory: postcard::to_stdvec(&world.memory).ok()?,
            bots: self.seats.bots().map(|(player, name)| (player, name.to_owned())).collect(),
            seats: players
                .filter(|member| has_played(member))
                .map(|member| SavedSeat::of(member, now))
                .collect(),
        };
        let head = Head { format: FORMAT, game: G::NAME.to_owned() };
        let bytes = postcard::to_stdvec(&head).ok()?;
        postcard::to_extend(&kept, bytes).ok()
    }

    /// Restores a room that continues from a checkpoint at time `now`. The rotation provides the
    /// configuration, except for the seeds.
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
        // The fields of another build may differ: its hash comes before them.
        let (hash, _) = postcard::take_from_bytes::<u64>(rest).map_err(damaged)?;
        if hash != game_hash::<G>() {
            return Err(RestoreError::Other);
        }
        let kept: SavedRoom = postcard::from_bytes(rest).map_err(damaged)?;
        let host = rotation.host;
        if kept.rates != host.rates() || kept.setup != setup {
            return Err(RestoreError::Other);
        }
        let tick = Tick(kept.tick);
        if tick > Tick::MAX_SENT {
            return Err(RestoreError::Damaged);
        }
        kept.resume(host, tick, now)
    }
}

impl SavedRoom {
    /// Whether the entities are in the order of their slots, and have the slots' last generations.
    fn has_own_generations(&self) -> bool {
        let generation = |kept: &SavedEntity| self.generations.get(usize::from(kept.index));
        self.generations.len() <= ENTITIES_MAX.into()
            && self.entities.is_sorted_by(|a, b| a.index < b.index)
            && self.entities.iter().all(|kept| generation(kept) == Some(&kept.generation))
    }

    /// Whether there are no more seats than the game may have, and each belongs to a different
    /// player.
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
        let memory = memory.map_err(|_| RestoreError::Damaged)?;
        let mut fields = &*self.fields;
        let slots = self.entities.iter().map(|kept| kept.slot::<G>(&mut fields));
        let slots = slots.collect::<Option<Vec<_>>>().ok_or(RestoreError::Damaged)?;
        if !fields.is_empty() || !self.has_own_generations() || !self.seats_fit::<G>() {
            return Err(RestoreError::Damaged);
        }
        host.restore(
            HostState {
                seed: self.seed,
                map_seed: self.map_seed,
                number: self.number,
                epoch_number: self.epoch_number,
                next_player: self.next_player,
                next_token: self.next_token,
            },
            tick,
        );
        // Without members, and without bots, which are already in the world.
        let mut room = Room::<G>::open(Rotation::empty(host, tick, Vec::new()), &self.setup);
        let Self { generations, random, bots, seats, .. } = self;
        room.simulation.restore(&slots, Hidden { generations, random, memory });
        for (player, name) in bots {
            if let Some(name) = clean_name(&name) {
                room.keep_bot(player, name);
            }
        }
        for (number, seat) in (0..).zip(seats) {
            room.keep(seat, ClientId(u64::MAX - number), now);
        }
        // Removes all traces of players whose seats were not kept.
        room.simulation.dismiss_strangers();
        // The settings may have changed since.
        room.keep_bots();
        room.simulation.snap();
        // Only now is the world complete.
        room.record();
        Ok(room)
    }
}

impl SavedSeat {
    fn of(member: &Member, now: LocalTime) -> Self {
        let (person, delivery) = (member.person(), member.delivery());
        Self {
            player: person.player(),
            name: person.name().to_owned(),
            look: person.look(),
            key: person.key(),
            token: person.token(),
            games: delivery.games().to_vec(),
            plain: delivery.is_plain(),
            played: now - person.joined(),
            address: person.address(),
        }
    }
}

impl SavedEntity {
    /// Returns the next entity if its numbers fit this game. Its fields are taken from the front of
    /// `fields`.
    fn slot<G: Game>(&self, fields: &mut &[u32]) -> Option<Slot<G::Entity>> {
        let kind = G::Entity::kinds().get(usize::from(self.kind))?;
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
    /// Keeps a bot that is already in the world.
    fn keep_bot(&mut self, player: PlayerId, name: String) {
        self.simulation.set_profile(player, Profile { name: name.clone(), key: None });
        self.seats.add_bot(player, name, self.host.settings().strength);
    }

    /// Keeps the seat of a player from before.
    fn keep(&mut self, seat: SavedSeat, client: ClientId, now: LocalTime) {
        let SavedSeat { player, name, look, key, token, mut games, plain, played, address } = seat;
        let Some(name) = clean_name(&name) else { return };
        games.truncate(GAMES_MAX);
        let look = if look.is_valid() { look } else { Look::default() };
        let person = Person::new((player, name.clone()), key, look, token, now - played);
        // The real hello is still to come.
        let hello = Hello {
            wire: 0,
            version: String::new(),
            name: name.clone(),
            games,
            sent: now,
            credentials: Credentials { key, proof: Proof::default() },
            resume: None,
            wishes: if plain { WISH_PLAIN } else { 0 },
            room: None,
            password: None,
            look,
            ticket: None,
        };
        let terms = self.host.terms(now, self.tick());
        let mut member = Member::new(person.coming_from(address), hello, terms);
        let until = now + self.host.settings().resume;
        member.attendance_mut().leave(until, self.host.number());
        self.simulation.set_profile(player, member.person().profile());
        self.seats.take(&self.host, client, member, Part::Play);
        self.host.push_event(Event::Joined { player, name, key, address, is_kept: true });
        self.host.push_event(Event::Away { player });
    }
}
