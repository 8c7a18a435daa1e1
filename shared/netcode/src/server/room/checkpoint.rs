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
        let world = self.simulation.world();
        let entities = world.entities.iter().map(&mut entity).collect();
        // Who never said more than hello has nothing to come back to.
        let has_played = |member: &Member| member.has_played() || !member.is_here();
        let players = self.seats.players().iter().map(|(_, member)| member);
        let HostState { seed, map_seed, number, epoch_number, next_player, next_token } =
            self.host.state();
        let kept = Kept {
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
                .map(|member| KeptSeat::of(member, now))
                .collect(),
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
        // With nobody in it, and no bots, who have their places in the world already.
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
        // Nothing stays behind of those whose seats were not kept.
        room.simulation.dismiss_strangers();
        // More or fewer may be asked for since.
        room.keep_bots();
        room.simulation.snap();
        Ok(room)
    }
}

impl KeptSeat {
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
    /// Keeps a bot that has its place in the world already.
    fn keep_bot(&mut self, player: PlayerId, name: String) {
        self.simulation.set_profile(player, Profile { name: name.clone(), key: None });
        self.seats.add_bot(player, name, self.host.settings().strength);
    }

    /// Keeps the seat of a player who was here before.
    fn keep(&mut self, seat: KeptSeat, client: ClientId, now: LocalTime) {
        let KeptSeat { player, name, look, key, token, mut games, plain, played, address } = seat;
        let Some(name) = clean_name(&name) else { return };
        games.truncate(GAMES_MAX);
        let look = if look.is_valid() { look } else { Look::default() };
        let person = Person::new((player, name.clone()), key, look, token, now - played);
        // The true hello is still to come.
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
        };
        let terms = self.host.terms(now, self.tick());
        let mut member = Member::new(person.coming_from(address), hello, terms);
        let until = now + self.host.settings().resume;
        member.attendance_mut().leave(until, self.host.number());
        self.simulation.set_profile(player, member.person().profile());
        self.seats.take(&self.host, client, member, Part::Play);
        self.host.tell(Event::Joined { player, name, key, address, is_kept: true });
        self.host.tell(Event::Away { player });
    }
}
