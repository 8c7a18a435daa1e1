//! Who is in the room: players with their seats, spectators with their places, and bots.
//!
//! *Invariant:* a client is a player or a spectator, never both. Code that counts or steps players
//! does not find spectators.

use std::collections::{BTreeMap, BTreeSet};

use super::host::Host;
use super::member::Member;
use super::member::attendance::Places;
use super::naming::free_name;
use super::output::ClientId;
use super::rotation::Waiting;
use super::seated::{Part, Seated};
use crate::fields::Record;
use crate::game::{Bot, Game, Inputs, Origin, Strength, World, new_bot};
use crate::ids::PlayerId;
use crate::limits::WATCHERS_MAX;
use crate::random::Random;
use crate::time::{Micros, Rates, Tick};
use crate::wire::control::Seat;
use crate::wire::talk::Look;

/// Players or spectators, in the order of their clients.
#[derive(Debug)]
pub(super) struct Occupants<I>(BTreeMap<ClientId, Seated<I>>);

impl<I> Default for Occupants<I> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<I: Record> Occupants<I> {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn has(&self, client: ClientId) -> bool {
        self.0.contains_key(&client)
    }

    pub(super) fn get(&self, client: ClientId) -> Option<&Member> {
        self.0.get(&client).map(Seated::member)
    }

    /// Iterates over all, including those who are away.
    pub(super) fn iter(&self) -> impl Iterator<Item = (ClientId, &Member)> + Clone {
        self.0.iter().map(|(client, seated)| (*client, seated.member()))
    }

    /// Iterates over those with a connection.
    pub(super) fn present(&self) -> impl Iterator<Item = (ClientId, &Member)> + Clone {
        self.iter().filter(|(_, member)| member.is_here())
    }

    /// Iterates over the player ids.
    pub(super) fn players(&self) -> impl Iterator<Item = PlayerId> + Clone {
        self.0.values().map(|seated| seated.member().person().player())
    }

    /// Iterates mutably over all members.
    pub(super) fn members_mut(&mut self) -> impl Iterator<Item = (ClientId, &mut Member)> {
        self.0.iter_mut().map(|(client, seated)| (*client, seated.member_mut()))
    }

    /// Iterates mutably over all members in this game.
    pub(super) fn seated_mut(&mut self) -> impl Iterator<Item = (ClientId, &mut Seated<I>)> {
        self.0.iter_mut().map(|(client, seated)| (*client, seated))
    }

    /// Iterates over all members in this game.
    pub(super) fn seated(&self) -> impl Iterator<Item = &Seated<I>> + Clone {
        self.0.values()
    }

    /// Returns the client who has been away longest.
    fn longest_away(&self, is_other: impl Fn(ClientId) -> bool) -> Option<ClientId> {
        let others = self.iter().filter(|(client, _)| is_other(*client));
        let away = others.filter_map(|(client, it)| Some((it.attendance().away_until()?, client)));
        away.min().map(|(_, client)| client)
    }
}

/// A bot in its seat.
#[derive(Debug)]
struct BotSeat<G: Game> {
    name: String,
    bot: Box<dyn Bot<G>>,
    random: Random,
}

/// Who is in the room.
#[derive(Debug)]
pub(super) struct Seats<G: Game> {
    players: Occupants<G::Input>,
    watchers: Occupants<G::Input>,
    bots: BTreeMap<PlayerId, BotSeat<G>>,
    /// People in the recording that the room shows.
    cast: BTreeMap<PlayerId, Seat>,
    /// Those of them who only watched when the room was opened.
    cast_watching: BTreeSet<PlayerId>,
    /// Random numbers for the bots.
    random: Random,
    /// First tick at which to check for free seats again.
    next_look: Tick,
}

impl<G: Game> Seats<G> {
    /// Creates empty seats. Bots draw from `random`.
    pub(super) fn new(random: Random) -> Self {
        Self {
            players: Occupants::default(),
            watchers: Occupants::default(),
            bots: BTreeMap::new(),
            cast: BTreeMap::new(),
            cast_watching: BTreeSet::new(),
            random,
            next_look: Tick(0),
        }
    }

    pub(super) fn players(&self) -> &Occupants<G::Input> {
        &self.players
    }

    pub(super) fn players_mut(&mut self) -> &mut Occupants<G::Input> {
        &mut self.players
    }

    pub(super) fn watchers(&self) -> &Occupants<G::Input> {
        &self.watchers
    }

    pub(super) fn watchers_mut(&mut self) -> &mut Occupants<G::Input> {
        &mut self.watchers
    }

    /// Whether the room has only bots. Kept seats count as taken.
    pub(super) fn is_empty(&self) -> bool {
        self.players.is_empty() && self.watchers.is_empty()
    }

    /// Returns the client's seat or place.
    pub(super) fn seated_mut(&mut self, client: ClientId) -> Option<&mut Seated<G::Input>> {
        let watcher = self.watchers.0.get_mut(&client);
        watcher.or_else(|| self.players.0.get_mut(&client))
    }

    /// Returns the client as a member.
    pub(super) fn member(&self, client: ClientId) -> Option<&Member> {
        self.watchers.get(client).or_else(|| self.players.get(client))
    }

    /// Returns the client as a member, to change it.
    pub(super) fn member_mut(&mut self, client: ClientId) -> Option<&mut Member> {
        self.seated_mut(client).map(Seated::member_mut)
    }

    /// Iterates over all players and spectators.
    pub(super) fn everybody(&self) -> impl Iterator<Item = (ClientId, &Member)> + Clone {
        self.players.iter().chain(self.watchers.iter())
    }

    /// Iterates mutably over all players and spectators in this game.
    pub(super) fn everybody_mut(&mut self) -> impl Iterator<Item = &mut Seated<G::Input>> {
        self.players.0.values_mut().chain(self.watchers.0.values_mut())
    }

    /// Seats a player, or gives a spectator a place, in the game that `host` plays.
    pub(super) fn take(&mut self, host: &Host, client: ClientId, member: Member, part: Part) {
        let seated = Seated::new::<G>(member, host.number(), host.rates(), part);
        match part {
            Part::Play => self.players.0.insert(client, seated),
            Part::Watch => self.watchers.0.insert(client, seated),
        };
    }

    /// Removes a member from the seat or place. Returns the part as well.
    pub(super) fn remove(&mut self, client: ClientId) -> Option<(Member, Part)> {
        let player = self.players.0.remove(&client).map(|seated| (seated, Part::Play));
        let watcher = || Some((self.watchers.0.remove(&client)?, Part::Watch));
        player.or_else(watcher).map(|(seated, part)| (seated.into_member(), part))
    }

    /// Ends the game. Returns everyone for the next one.
    pub(super) fn close(self) -> Waiting {
        let [members, watchers] = [self.players, self.watchers].map(|occupants| {
            let members = occupants.0.into_iter();
            members.map(|(client, seated)| (client, seated.into_member())).collect()
        });
        let bots = self.bots.into_iter().map(|(player, seat)| (player, seat.name));
        Waiting { members, watchers, bots: bots.collect() }
    }

    /// Adds the inputs of all bots for the tick after the world's.
    pub(super) fn steer_bots(&mut self, game: &G, world: &World<G>, inputs: &mut Inputs<G::Input>) {
        for (player, seat) in &mut self.bots {
            let random = &mut seat.random;
            let input = seat.bot.input(game, world.tick, &world.entities, *player, random);
            inputs.set(*player, input.snapped());
            inputs.note_arrival(*player, Origin::Bot, 0);
        }
    }

    /// Adds one tick's allowance of input packets for everybody.
    pub(super) fn refill(&mut self) {
        self.everybody_mut().for_each(|seated| seated.member_mut().refill());
    }

    /// Adds the inputs of all players for a tick, with view times at most `rewind_most` old.
    pub(super) fn collect(
        &mut self,
        rates: Rates,
        tick: Tick,
        rewind_most: Micros,
        inputs: &mut Inputs<G::Input>,
    ) {
        for seated in self.players.0.values_mut() {
            seated.take::<G>(rates, tick, rewind_most, inputs);
        }
    }

    /// Returns an unused id and a unique name; the wanted name if it is free.
    pub(super) fn free_player(&self, wanted: String, next: &mut PlayerId) -> (PlayerId, String) {
        let taken = self.players.players().chain(self.watchers.players());
        let others = self.bots.keys().chain(self.cast.keys()).copied();
        let player = free_seat(taken.chain(others), next);
        (player, self.free_name(wanted, None))
    }

    /// Returns the wanted name, or a unique one similar to it. `own` may have it already.
    pub(super) fn free_name(&self, wanted: String, own: Option<ClientId>) -> String {
        let others = self.everybody().filter(|(client, _)| Some(*client) != own);
        let people = others.map(|(_, member)| member.person().name());
        free_name(people.chain(self.bots.values().map(|bot| &*bot.name)), wanted)
    }

    /// Returns the people whose names look like `name`.
    pub(super) fn namesakes(&self, name: &str) -> Vec<ClientId> {
        let looks_alike = |other: &str| free_name([other].into_iter(), name.to_owned()) != name;
        let alike = self.everybody().filter(|(_, member)| looks_alike(member.person().name()));
        alike.map(|(client, _)| client).collect()
    }

    /// Returns a unique name similar to `own`'s, and different from `taken`.
    pub(super) fn other_name(&self, own: ClientId, taken: &str) -> Option<String> {
        let wanted = self.member(own)?.person().name().to_owned();
        let others = self.everybody().filter(|(client, _)| *client != own);
        let people = others.map(|(_, member)| member.person().name());
        let bots = self.bots.values().map(|bot| &*bot.name);
        Some(free_name(people.chain(bots).chain([taken]), wanted))
    }

    /// Returns all players and spectators as clients see them, the reader last.
    pub(super) fn roster(&self, reader: Option<PlayerId>) -> Vec<(PlayerId, Seat)> {
        let bots = self.bots().map(|(player, name)| (player, bot_seat(player, name)));
        let people = self.everybody().map(|(_, member)| {
            let person = member.person();
            (person.player(), person.seat())
        });
        let cast = self.cast.iter().map(|(player, seat)| (*player, seat.clone()));
        let mut seats: Vec<_> = bots.chain(cast).chain(people).collect();
        seats.sort_by_key(|(player, _)| Some(*player) == reader);
        seats
    }

    /// Iterates over the bots with their names.
    pub(super) fn bots(&self) -> impl Iterator<Item = (PlayerId, &str)> {
        self.bots.iter().map(|(player, seat)| (*player, &*seat.name))
    }

    pub(super) fn bot_count(&self) -> usize {
        self.bots.len()
    }

    pub(super) fn is_bot(&self, player: PlayerId) -> bool {
        self.bots.contains_key(&player)
    }

    /// Gives a bot a seat.
    pub(super) fn add_bot(&mut self, player: PlayerId, name: String, strength: Strength) {
        let random = self.random.fork();
        let mut bot = new_bot::<G>();
        bot.set_strength(strength);
        self.bots.insert(player, BotSeat { name, bot, random });
    }

    /// Sets the people in the recording that the room shows, and those who only watch.
    pub(super) fn set_cast(
        &mut self,
        cast: BTreeMap<PlayerId, Seat>,
        watching: BTreeSet<PlayerId>,
    ) {
        (self.cast, self.cast_watching) = (cast, watching);
    }

    /// Returns everyone who watches, also in the recording that the room shows.
    pub(super) fn spectators(&self) -> impl Iterator<Item = PlayerId> {
        let cast = self.cast_watching.iter().filter(|player| self.cast.contains_key(player));
        cast.copied().chain(self.watchers.players())
    }

    /// Returns the people in the recording that the room shows.
    pub(super) fn cast_mut(&mut self) -> &mut BTreeMap<PlayerId, Seat> {
        &mut self.cast
    }

    /// Removes the last bot from its seat.
    pub(super) fn pop_bot(&mut self) -> Option<PlayerId> {
        self.bots.pop_last().map(|(player, _)| player)
    }

    pub(super) fn set_strength(&mut self, strength: Strength) {
        self.bots.values_mut().for_each(|seat| seat.bot.set_strength(strength));
    }

    /// Returns the player who has been away longest.
    pub(super) fn longest_away(&self) -> Option<ClientId> {
        self.players.longest_away(|_| true)
    }

    /// Whether a spectator can get a place if those who are away give way. The place of `before`
    /// counts as free because its spectator returns.
    pub(super) fn has_place(&self, watchers_max: u16, before: Option<ClientId>) -> bool {
        let present = self.watchers.present().filter(|(client, _)| Some(*client) != before);
        present.count() < usize::from(watchers_max.min(WATCHERS_MAX))
    }

    /// Returns the spectator who must give way to free a place, if one who is away exists.
    pub(super) fn place_to_free(
        &self,
        watchers_max: u16,
        before: Option<ClientId>,
    ) -> Option<ClientId> {
        let is_other = |client| Some(client) != before;
        let taken = self.watchers.iter().filter(|(client, _)| is_other(*client)).count();
        let is_full = taken >= usize::from(watchers_max.min(WATCHERS_MAX));
        is_full.then(|| self.watchers.longest_away(is_other))?
    }

    /// Returns the connected spectators in the queue for a seat, with their tickets.
    pub(super) fn queue(&self) -> impl Iterator<Item = (u64, ClientId)> {
        let present = self.watchers.present();
        present.filter_map(|(client, member)| Some((member.attendance().ticket()?, client)))
    }

    /// Whether to check for free seats now.
    pub(super) fn is_look_due(&self, now: Tick) -> bool {
        now >= self.next_look && !self.watchers.is_empty()
    }

    /// Schedules the next check for free seats.
    pub(super) fn look_at(&mut self, tick: Tick) {
        self.next_look = tick;
    }

    /// Returns the spectators for whom the number of free seats, or of others ahead in the queue,
    /// is new.
    pub(super) fn news_of_places(&mut self, free: u16) -> Vec<(ClientId, Places)> {
        let tickets = self.watchers.iter().filter_map(|(_, member)| member.attendance().ticket());
        let mut line: Vec<_> = tickets.collect();
        line.sort_unstable();
        let mut news = Vec::new();
        for (client, member) in self.watchers.members_mut() {
            let attendance = member.attendance_mut();
            let ahead = |ticket| line.partition_point(|other| *other < ticket);
            let ahead = attendance.ticket().map(ahead);
            let places = (free, ahead.map(|ahead| u16::try_from(ahead).unwrap_or(u16::MAX)));
            if attendance.is_news(places) {
                news.push((client, places));
            }
        }
        news
    }
}

/// Returns the seat of a bot as clients see it.
pub(super) fn bot_seat(player: PlayerId, name: &str) -> Seat {
    Seat { name: name.to_owned(), bot: true, look: Look::of_bot(player), person: None }
}

/// Returns the next free id from `next` on, and advances `next` past it.
fn free_seat(taken: impl Iterator<Item = PlayerId>, next: &mut PlayerId) -> PlayerId {
    let taken: BTreeSet<_> = taken.collect();
    // The last number is left out, so that a game may store an id plus one in 16 bits.
    while taken.contains(next) || next.0 == u16::MAX {
        next.0 = next.0.wrapping_add(1);
    }
    let free = *next;
    next.0 = free.0.wrapping_add(1);
    free
}
