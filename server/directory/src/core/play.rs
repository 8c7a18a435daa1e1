//! The matchmaker: who plays where.
//!
//! A request is answered at once: with a server if one has free seats, otherwise with a place in
//! the queue. An asker repeats it until it is placed, so the directory owes no one an answer.
//! Servers are asked for their status while people look for their game; what they say counts, minus
//! the seats that were given out and are not taken yet.
//!
//! *Invariant:* everything is bounded by [`PlayBounds`], and forgotten when its asker is silent.

mod crowds;
mod fleet;
mod parties;
mod placements;
mod queue;
mod seats;
mod servers;
mod ticketing;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::{IpAddr, SocketAddr};

use phaselock::fingerprint::Fingerprint;
use phaselock::identity::PublicKey;
use phaselock::limits::{PARTY_MAX, QUESTION_BYTES};
use phaselock::random::Random;
use phaselock::time::{LocalTime, Micros};
use phaselock::wire::directory::play::{
    Beacon, PartyCode, PartyWish, Placed, Play, PlayRefusal, RegionPing, RequestId, Waiting,
};
use phaselock::wire::directory::{Answer, Listed};
use phaselock::wire::query::{Info, Nonce, WebIdentity, question_of};
use phaselock_quic::fleet::FleetKey;
use phaselock_quic::packets::Route;
use phaselock_quic::server::buckets::{Bucket, BucketTime};
use phaselock_quic::tickets::{Seat, TICKET_SECS};

use self::crowds::{Crowd, Crowds};
pub use self::fleet::{Allocate, Allocators, NotAllocated};
use self::fleet::{Came, Fleet, Need};
use self::parties::Parties;
use self::placements::Placements;
use self::queue::{Queue, Waiter};
use self::seats::{Holder, Seats};
pub use self::servers::AllocatedServer;
use self::servers::{Audience, Candidates, Servers};
use self::ticketing::Ticketing;
use super::bounds::PlayBounds;
use super::entries::is_local;
use super::tokens::Secrets;

/// Interval of the matchmaker's own work.
const INTERVAL: Micros = Micros::from_ms(250);
/// When to ask again: one whose turn is next, and one further behind.
const AGAIN_NEXT_MS: u32 = 300;
const AGAIN_MS: u32 = 1000;
/// Position from which on to ask more rarely.
const NEXT: u32 = 64;
/// Interval at which servers are asked for their status while people look for their game, and for
/// how long after the last one has looked.
const STATUS_EVERY: Micros = Micros::from_ms(1500);
const LOOKED_FOR: Micros = Micros::from_ms(10_000);
/// Maximum number of servers of a game that are asked at a time.
const STATUS_MAX: usize = 1024;
/// Time for which seats are reserved: for a player on the way there, and for friends, to whom the
/// founder must first tell the code.
const RESERVED: Micros = Micros::from_ms(8000);
const RESERVED_FOR_FRIENDS: Micros = Micros::from_ms(120_000);
/// Time for which a seat with a ticket is reserved: as long as the ticket is valid.
const RESERVED_WITH_TICKET: Micros = Micros::from_ms(TICKET_SECS * 1000);
/// Maximum number of requests for a game that are looked at a time.
const LOOKED_AT: usize = 1024;
/// Number of requests for a game up to which a new one is handled at once.
const SERVED_AT_ONCE: usize = 64;
/// After this time no one behind a request gets seats on the server that is closest to having as
/// many as it needs.
const PASSED: Micros = Micros::from_ms(30_000);
/// Time after the directory's start after which all servers have announced themselves, as they do
/// every five minutes.
const ANNOUNCED: Micros = Micros::from_ms(330_000);
/// How many times as much as a network a site (IPv6 /48) may use.
const PER_SITE: u32 = 4;
/// Difference of round trips that does not matter.
const NEAR_MS: u16 = 30;
/// Ping of a region that the asker has not measured.
const UNKNOWN_MS: u16 = u16::MAX;

/// A server's request for places for its players.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaving {
    /// The server.
    pub(super) server: SocketAddr,
    pub(super) fingerprint: Fingerprint,
    /// Whether it has proven that it has the secret of the fleet.
    pub(super) is_member: bool,
    /// Whether it has said at which address players reach it.
    is_told: bool,
}

/// A player who asks, from an address that is proven.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlayerAsks {
    pub(super) ip: IpAddr,
    /// Whether it is a browser, which asks over HTTP.
    pub(super) is_browser: bool,
    /// Key of the player, if it is proven.
    pub(super) key: Option<PublicKey>,
}

/// Who asks for seats.
#[derive(Clone, Copy, Debug)]
struct Asker {
    audience: Audience,
    crowds: Crowds,
    /// The server that its people leave, if it is a server that asks.
    leaves: Option<SocketAddr>,
    /// Key of the player, if it is proven.
    key: Option<PublicKey>,
}

/// The matchmaker.
#[derive(Debug)]
pub(super) struct Matchmaker {
    bounds: PlayBounds,
    random: Random,
    secrets: Secrets,
    servers: Servers,
    seats: Seats,
    queue: Queue,
    parties: Parties,
    fleet: Fleet,
    placements: Placements,
    ticketing: Ticketing,
    /// Addresses by which players measure the ping of regions that have an allocator.
    beacons: BTreeMap<String, SocketAddr>,
    /// Games that people looked for, and when the last one did.
    looked_for: BTreeMap<String, LocalTime>,
    statuses: Bucket,
    questions: VecDeque<(Route, Vec<u8>)>,
    worked: LocalTime,
    /// When the directory started; `None` until something happens.
    started: Option<LocalTime>,
}

impl Matchmaker {
    pub(super) fn new(
        bounds: PlayBounds,
        allocators: Allocators,
        random: Random,
        [secrets, of_tickets]: [Secrets; 2],
    ) -> Self {
        let ticketing = Ticketing::new(of_tickets);
        Self {
            bounds,
            random,
            secrets,
            servers: Servers::default(),
            seats: Seats::default(),
            queue: Queue::default(),
            parties: Parties::default(),
            fleet: Fleet::new(allocators, bounds.allocations),
            placements: Placements::default(),
            ticketing,
            beacons: BTreeMap::new(),
            looked_for: BTreeMap::new(),
            statuses: Bucket::default(),
            questions: VecDeque::new(),
            worked: LocalTime(0),
            started: None,
        }
    }

    /// Returns the number of requests that wait.
    pub(super) fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// Sets the key of the fleet, with which tickets are signed.
    pub(super) fn set_fleet(&mut self, fleet: Option<FleetKey>) {
        self.ticketing.set_fleet(fleet);
    }

    /// Sets the addresses by which players measure the ping of regions that have an allocator.
    pub(super) fn set_beacons(&mut self, beacons: BTreeMap<String, SocketAddr>) {
        self.beacons.extend(beacons);
    }

    /// Sets the Unix time in seconds, by which tickets are valid.
    pub(super) fn set_unix(&mut self, unix: i64) {
        self.ticketing.set_unix(unix);
    }

    /// Whether an allocator has assigned a server, whose matches may be private.
    pub(super) fn is_allocated(&self, server: SocketAddr, print: Fingerprint) -> bool {
        self.servers.is_allocated(server, print)
    }

    /// Returns the number of keys with a request, and of requests that were replaced.
    #[cfg(test)]
    pub(super) fn keys(&self) -> usize {
        self.placements.keys()
    }

    /// Returns the number of seats of a server that are reserved.
    #[cfg(test)]
    pub(super) fn reserved(&self, server: SocketAddr) -> u32 {
        self.seats.of(server)
    }

    /// Notes that a server has announced itself, with its status.
    pub(super) fn list(&mut self, now: LocalTime, route: Route, print: Fingerprint, info: &Info) {
        self.started.get_or_insert(now);
        self.servers.list(now, route, print, info);
    }

    /// Notes that a server is no longer listed.
    pub(super) fn unlist(&mut self, server: SocketAddr) {
        if self.servers.unlist(server) {
            self.seats.forget(server);
        }
    }

    /// Whether a request is known, so that it costs nothing new.
    pub(super) fn knows(&self, request: RequestId) -> bool {
        self.placements.get(request).is_some() || self.queue.get(request).is_some()
    }

    /// Handles a player's request.
    pub(super) fn handle_play(&mut self, now: LocalTime, from: PlayerAsks, play: Play) -> Answer {
        let PlayerAsks { ip, is_browser, key } = from;
        if play.people > PARTY_MAX {
            return Answer::Denied(PlayRefusal::People);
        }
        let audience = Audience { local: is_local(ip), browser: is_browser };
        let crowds = crowds::of_player(ip);
        let answer = self.ask(now, Asker { audience, crowds, leaves: None, key }, play);
        if is_browser { self.for_browser(answer, |_| true) } else { answer }
    }

    /// Adds how browsers recognize the server to an answer. If the server has not said so yet and
    /// `waits` returns `true` for it, the answer is to wait.
    fn for_browser(&self, answer: Answer, waits: impl Fn(&servers::Server) -> bool) -> Answer {
        let Answer::Placed(placed) = answer else { return answer };
        let Some(server) = self.servers.get(address_of(&placed)) else {
            return Answer::Placed(placed);
        };
        if server.web().is_none() && waits(server) {
            let (position, again_ms) = (0, AGAIN_NEXT_MS);
            return Answer::Waiting(Waiting { position, again_ms, party: placed.party });
        }
        let web = server.web().cloned().unwrap_or_default();
        Answer::Placed(Placed { web, ..placed })
    }

    /// Returns the server that asks from this address for places, and says that players reach it at
    /// `own`. A server of the fleet is believed; another one only about an address at which a
    /// server with its certificate is listed.
    pub(super) fn leaving(
        &self,
        (server, own): (SocketAddr, Option<SocketAddr>),
        fingerprint: Fingerprint,
        is_member: bool,
    ) -> Leaving {
        let is_its = |own: &SocketAddr| {
            is_member
                || self.servers.is_of_fleet(fingerprint)
                || self.servers.identified(*own, fingerprint).is_some()
        };
        let own = own.filter(is_its);
        let (server, is_told) = (own.unwrap_or(server), own.is_some());
        Leaving { server, fingerprint, is_member, is_told }
    }

    /// Whether a server is of the fleet: it has the fleet's secret, or a certificate that an
    /// allocator has assigned.
    pub(super) fn trusts(&self, leaving: Leaving) -> bool {
        leaving.is_member || self.servers.is_of_fleet(leaving.fingerprint)
    }

    /// Handles a server's request for its players.
    pub(super) fn handle_place(&mut self, now: LocalTime, leaving: Leaving, play: Play) -> Answer {
        let Leaving { server, fingerprint, .. } = leaving;
        let is_trusted = self.trusts(leaving);
        let own = self.servers.identified(server, fingerprint);
        // A listed server only moves the players that it has, who play its own games.
        match own {
            None if !is_trusted => return Answer::Denied(PlayRefusal::Stranger),
            Some(own) if !is_trusted && !own.plays(&play.game, now) => {
                return Answer::Denied(PlayRefusal::Game);
            }
            _ => {}
        }
        let has_browsers = own.is_none_or(servers::Server::may_have_browsers);
        let region = own.map(|it| it.region.clone());
        // One that an allocator starts may have asked from the address of its pod, which says
        // nothing about its players.
        let has_allocators = self.fleet.regions().next().is_some();
        let says_where = match own {
            Some(own) => own.is_listed(),
            None => leaving.is_member && (leaving.is_told || !has_allocators),
        };
        let local = says_where && is_local(server.ip());
        // How many players it has is asked first: some may have joined since it last said so.
        let is_enough = |it: &servers::Server| it.is_enough(now, play.people.into());
        if !is_trusted && !own.is_some_and(is_enough) && !self.knows(play.request) {
            if !own.is_some_and(|it| it.is_asked(now)) {
                self.question_server(now, server);
            }
            // The others as well, so that they are known by then.
            self.question(now, &play.game);
            let (position, again_ms) = (0, AGAIN_NEXT_MS);
            return Answer::Waiting(Waiting { position, again_ms, party: None });
        }
        self.servers.leave(server);
        if is_trusted {
            self.servers.hold(now, server);
        }
        let mut play = Play { party: PartyWish::None, ..play };
        if let Some(region) = region.filter(|region| !region.is_empty() && play.pings.is_empty()) {
            play.pings.push(RegionPing { ms: 0, region });
        }
        let crowds = crowds::of_server(server, is_trusted);
        let audience = Audience { local, browser: false };
        let asker = Asker { audience, crowds, leaves: Some(server), key: None };
        let answer = self.ask(now, asker, play);
        if has_browsers { self.introduce(now, answer) } else { answer }
    }

    /// Adds how browsers recognize the server to an answer. One that was allocated a moment ago is
    /// asked for it first.
    fn introduce(&mut self, now: LocalTime, answer: Answer) -> Answer {
        if let Answer::Placed(placed) = &answer {
            let to = address_of(placed);
            let tells = |it: &servers::Server| it.web().is_some() || it.is_asked(now);
            if self.servers.get(to).is_some_and(|it| it.is_new(now) && !tells(it)) {
                self.question_server(now, to);
            }
        }
        self.for_browser(answer, |it| it.is_new(now))
    }

    fn ask(&mut self, now: LocalTime, asker: Asker, play: Play) -> Answer {
        self.started.get_or_insert(now);
        let request = play.request;
        if let Some(placement) = self.placements.get(request) {
            return Answer::Placed(placement.placed.clone());
        }
        if self.placements.is_replaced(request) {
            return Answer::Denied(PlayRefusal::Replaced);
        }
        if self.queue.get(request).is_some() {
            self.queue.renew(request, now, play.pings);
        } else {
            let waiter = match self.admit(now, asker, play) {
                Ok(waiter) => waiter,
                Err(refusal) => return Answer::Denied(refusal),
            };
            let game = waiter.game.clone();
            self.question(now, &game);
            // A request that is refused replaces nothing.
            if self.is_hopeless(now, &waiter) {
                waiter.party.into_iter().for_each(|code| self.parties.abandon(code, request));
                return Answer::Denied(PlayRefusal::People);
            }
            self.replace(now, request, &waiter);
            self.queue.push(request, waiter);
            // If many wait, this has its time, too.
            if self.queue.of_game(&game) <= SERVED_AT_ONCE {
                self.serve(now, &game);
            }
        }
        if let Some(waiter) = self.queue.get(request) {
            self.looked_for.insert(waiter.game.clone(), now);
        }
        if let Some(placement) = self.placements.get(request) {
            return Answer::Placed(placement.placed.clone());
        }
        if self.queue.get(request).is_some_and(|waiter| self.is_hopeless(now, waiter)) {
            self.forget(request);
            return Answer::Denied(PlayRefusal::People);
        }
        self.answer_waiting(now, request)
    }

    /// Gives back what the player's key holds by older requests: a place in the queue, seats on the
    /// way, and those for friends of another party. A seat with a ticket stays reserved, so that
    /// there are no more tickets than seats.
    fn replace(&mut self, now: LocalTime, request: RequestId, waiter: &Waiter) {
        let Some(key) = waiter.key else { return };
        if let Some(older) = self.placements.claim(now, key, request) {
            self.forget(older);
            if let Some(placement) = self.placements.remove(older)
                && placement.placed.ticket.is_none()
            {
                self.seats.release(placement.server, Holder::Request(older), u32::MAX);
            }
        }
        let party = self.parties.made_by(key).filter(|code| Some(*code) != waiter.party);
        if let Some(code) = party
            && let Some(server) = self.parties.server(code)
        {
            self.seats.release(server, Holder::Party(code), u32::MAX);
        }
        if let Some(code) = waiter.party {
            self.parties.sign(code, request, key);
        }
    }

    /// Returns a new request for the queue, unless a bound forbids it.
    fn admit(&mut self, now: LocalTime, asker: Asker, play: Play) -> Result<Waiter, PlayRefusal> {
        let Play { request, game, people, party, pings } = play;
        let Asker { audience, crowds, leaves, key } = asker;
        if !self.fleet.plays(&game) && !self.servers.any_plays(&game, now, audience.browser) {
            return Err(PlayRefusal::Game);
        }
        let requests = |crowd| self.queue.requests_of(crowd) >= self.requests_max(crowd);
        if self.queue.len() >= self.bounds.waiting || crowds.into_iter().flatten().any(requests) {
            return Err(PlayRefusal::Full);
        }
        let own = crowds.into_iter().flatten();
        let left = own.map(|it| self.seats_left(it).saturating_sub(self.queue.people_of(it)));
        let left = left.min().unwrap_or_default();
        // A server that drains moves as many as it can.
        let people = if leaves.is_some() { left.min(people.into()) } else { people.into() };
        if people == 0 || people > left {
            return Err(PlayRefusal::Often);
        }
        let (party, people) = self.join(now, &game, (people, party), (request, crowds))?;
        let claim = party.map_or(people, |code| people.max(self.parties.claim(code, request)));
        let (since, asked) = (now, now);
        Ok(Waiter {
            game,
            people,
            party,
            pings,
            claim,
            crowds,
            audience,
            leaves,
            key,
            since,
            asked,
        })
    }

    /// Returns the maximum requests of a crowd that wait.
    fn requests_max(&self, crowd: Crowd) -> u32 {
        match crowd {
            Crowd::Site(_) => self.bounds.waiting_per_network.saturating_mul(PER_SITE),
            _ => self.bounds.waiting_per_network,
        }
    }

    /// Returns the number of seats that can still be reserved for a crowd.
    fn seats_left(&self, crowd: Crowd) -> u32 {
        let most = match crowd {
            Crowd::Network(_) => self.bounds.reserved_per_network,
            Crowd::Site(_) => self.bounds.reserved_per_network.saturating_mul(PER_SITE),
            Crowd::Server(server) => self.servers.players_left(server),
            Crowd::Listed(_) => self.bounds.moved_per_network,
            Crowd::Allocated(_) => u32::MAX,
        };
        most.saturating_sub(self.seats.of_crowd(crowd))
    }

    /// Removes a request from the queue, and its party if that has no place.
    fn forget(&mut self, request: RequestId) {
        let Some(waiter) = self.queue.remove(request) else { return };
        self.placements.give_up(waiter.key, request);
        if let Some(code) = waiter.party {
            self.parties.abandon(code, request);
        }
    }

    fn answer_waiting(&mut self, now: LocalTime, request: RequestId) -> Answer {
        let position = self.queue.position(request);
        let party = self.queue.get(request).and_then(|waiter| waiter.party);
        if let Some(code) = party {
            self.parties.renew(code, now);
        }
        let again_ms = if position < NEXT { AGAIN_NEXT_MS } else { AGAIN_MS };
        Answer::Waiting(Waiting { position, again_ms, party })
    }

    /// Returns the party of a request, and the number of seats that it needs by itself.
    fn join(
        &mut self,
        now: LocalTime,
        game: &str,
        (people, wish): (u32, PartyWish),
        founder: (RequestId, Crowds),
    ) -> Result<(Option<PartyCode>, u32), PlayRefusal> {
        match wish {
            PartyWish::None => Ok((None, people)),
            PartyWish::New => {
                for crowd in founder.1.into_iter().flatten() {
                    let is_site = matches!(crowd, Crowd::Site(_));
                    let times = if is_site { PER_SITE } else { 1 };
                    let most = self.bounds.parties_per_network.saturating_mul(times);
                    if self.parties.of_crowd(crowd) >= most && !self.parties.evict(Some(crowd)) {
                        return Err(PlayRefusal::Often);
                    }
                }
                if self.parties.len() >= self.bounds.parties && !self.parties.evict(None) {
                    return Err(PlayRefusal::Full);
                }
                // There are 47 million codes, and few of them are in use.
                let code = PartyCode::random(&mut Random::new(self.secrets.bits()));
                let made = self.parties.found(now, code, (game, people), founder);
                made.map(|code| (Some(code), 1)).ok_or(PlayRefusal::Full)
            }
            PartyWish::Join(code) => {
                match self.parties.game(code) {
                    None => return Err(PlayRefusal::Party),
                    Some(other) if other != game => return Err(PlayRefusal::OtherGame),
                    Some(_) => {}
                }
                self.parties.join(code);
                // A stranger who has guessed the code cannot fill the server.
                let is_near = self.parties.is_of(code, founder.1);
                Ok((Some(code), if is_near { people } else { 1 }))
            }
        }
    }

    /// Places those who wait for a game, as far as there are seats, and asks for more servers.
    fn serve(&mut self, now: LocalTime, game: &str) {
        let mut candidates =
            self.servers.candidates((game, self.fleet.regions()), now, &self.seats);
        let waiters = self.queue.first(game, LOOKED_AT);
        let waiters: Vec<_> =
            waiters.into_iter().map(|(it, waiter)| (it, waiter.clone())).collect();
        let mut needs: BTreeMap<String, Need> = BTreeMap::new();
        let mut passed = BTreeSet::new();
        for (request, waiter) in waiters {
            let found = self.find(now, &waiter, &candidates);
            match found {
                Some((server, people)) => {
                    self.place(now, (request, &waiter), server, people);
                    candidates = self.refreshed(now, game, candidates, server);
                }
                None => {
                    let seats = self.seats_for(&waiter);
                    let wanted = (seats, waiter.audience);
                    let is_passed = now - waiter.since >= PASSED;
                    // One of those that want the same is enough.
                    if is_passed && self.bound(now, &waiter).is_none() && passed.insert(wanted) {
                        let held = self.servers.nearest(game, now, wanted, &self.seats);
                        held.into_iter().for_each(|server| candidates.set(server, 0));
                    }
                    // A server that drains moves as many as it can.
                    let at_once = if waiter.leaves.is_some() { 1 } else { seats };
                    if let Some(region) = self.region_for(now, &waiter, at_once) {
                        let need = needs.entry(region).or_default();
                        (need.people, need.at_once) =
                            (need.people + seats, need.at_once.max(at_once));
                    }
                }
            }
        }
        for (region, need) in needs {
            self.fleet.want(now, (&region, game), need);
        }
    }

    /// Returns the candidates after seats of one were taken.
    fn refreshed(
        &self,
        now: LocalTime,
        game: &str,
        mut candidates: Candidates,
        server: SocketAddr,
    ) -> Candidates {
        let free = self.servers.free_of(server, game, now).unwrap_or_default();
        candidates.set(server, free.saturating_sub(self.seats.of(server)));
        candidates
    }

    /// Returns the number of seats that a request needs at once: for the first of a party, those of
    /// the friends as well.
    fn seats_for(&self, waiter: &Waiter) -> u32 {
        let friends = waiter.party.map_or(0, |code| self.parties.expected(code));
        waiter.people.max(friends)
    }

    /// Whether no server has as many seats as a request needs at once, as far as is known. After
    /// its start, a directory does not know yet which servers there are.
    fn is_hopeless(&self, now: LocalTime, waiter: &Waiter) -> bool {
        let (game, seats) = (&waiter.game, self.seats_for(waiter));
        let may_come = || self.fleet.regions().any(|it| self.fits_in(now, it, game, seats));
        let any_fits = || self.servers.any_fits(game, now, (seats, waiter.audience));
        let is_new = self.started.is_none_or(|started| now - started < ANNOUNCED);
        let may_announce = is_new && !self.fleet.plays(game);
        let may_fit = || may_announce || may_come() || any_fits();
        waiter.leaves.is_none() && seats > 1 && !may_fit()
    }

    /// Whether a server with this number of seats may come from a region, as far as is known.
    fn fits_in(&self, now: LocalTime, region: &str, game: &str, seats: u32) -> bool {
        self.fleet.fits_in(region, game, seats)
            || self.fleet.plays(game) && self.servers.any_allocated_fits(game, now, seats)
    }

    /// Returns the server of a request's party, unless the party has to move, and its free seats.
    fn bound(&self, now: LocalTime, waiter: &Waiter) -> Option<(SocketAddr, u32)> {
        let server = self.parties.server(waiter.party?)?;
        Some((server, self.servers.free_of(server, &waiter.game, now)?))
    }

    /// Returns a server for a request, and the number of people who get seats there.
    fn find(
        &self,
        now: LocalTime,
        waiter: &Waiter,
        candidates: &Candidates,
    ) -> Option<(SocketAddr, u32)> {
        if let Some(code) = waiter.party
            && let Some((server, free)) = self.bound(now, waiter)
        {
            let kept = self.seats.of_holder(server, Holder::Party(code));
            let others = self.seats.of(server).saturating_sub(kept);
            let fits = free.saturating_sub(others) >= waiter.people;
            return fits.then_some((server, waiter.people));
        }
        if candidates.is_empty() {
            return None;
        }
        let seats = self.seats_for(waiter);
        let found = self.find_near(now, waiter, candidates, seats);
        if let Some(server) = found {
            return Some((server, waiter.people));
        }
        // A server that drains moves as many as it can.
        waiter.leaves?;
        let most = candidates.largest(waiter.audience, waiter.leaves)?.min(seats);
        let server = self.find_near(now, waiter, candidates, most)?;
        Some((server, most))
    }

    /// Returns the fullest server in the nearest region that has one. A region further away is used
    /// only if no server can be allocated nearby.
    fn find_near(
        &self,
        now: LocalTime,
        waiter: &Waiter,
        candidates: &Candidates,
        seats: u32,
    ) -> Option<SocketAddr> {
        let mut regions: Vec<_> = candidates.regions(waiter.audience).collect();
        regions.sort_unstable_by_key(|it| (ping(waiter, it), self.fleet.rank(it), *it));
        regions.dedup();
        let nearest = waiter.pings.iter().map(|it| it.ms).min().unwrap_or(UNKNOWN_MS);
        let is_near = |ms: u16| ms <= nearest.saturating_add(NEAR_MS);
        let may_come = self.fleet.regions().any(|region| {
            is_near(ping(waiter, region)) && self.fleet.may(now, region, &waiter.game)
        });
        let near = regions.into_iter().filter(|it| !may_come || is_near(ping(waiter, it)));
        let mut found =
            near.filter_map(|it| candidates.find(it, waiter.audience, seats, waiter.leaves));
        found.next()
    }

    /// Returns the region whose allocator should provide a server: the nearest one that may, and
    /// among those that the asker has not measured the first that was configured.
    fn region_for(&self, now: LocalTime, waiter: &Waiter, seats: u32) -> Option<String> {
        // The others of a party wait for seats on its server.
        if self.bound(now, waiter).is_some() {
            return None;
        }
        let may = |region: &&str| {
            self.fleet.may(now, region, &waiter.game)
                && self.fits_in(now, region, &waiter.game, seats)
        };
        let may = self.fleet.regions().filter(may);
        may.min_by_key(|region| ping(waiter, region)).map(str::to_owned)
    }

    /// Gives seats to a request.
    fn place(
        &mut self,
        now: LocalTime,
        (request, waiter): (RequestId, &Waiter),
        server: SocketAddr,
        people: u32,
    ) {
        let Some(found) = self.servers.get(server) else { return };
        let own = waiter.crowds.into_iter().flatten();
        let left = own.map(|crowd| self.seats_left(crowd)).min().unwrap_or_default();
        if people > left {
            return;
        }
        let together = waiter.party.is_some();
        let friends = self.seats_for(waiter).saturating_sub(people).min(left - people);
        let known = waiter.party.and_then(|code| self.parties.room(code, server));
        let room = known.unwrap_or_else(|| found.room(&waiter.game, people + friends, together));
        let listed = Listed::new(server, found.fingerprint);
        let web = WebIdentity::default();
        let seat = Seat { game: waiter.game.clone(), room: room.clone() };
        let to = (server, found.fingerprint);
        let ticket = waiter.key.and_then(|key| self.ticketing.issue(to, seat, key));
        let mut holder = (Holder::Request(request), waiter.crowds);
        let kept = if ticket.is_some() { RESERVED_WITH_TICKET } else { RESERVED };
        let (mut reserved, mut until) = (people, now + kept);
        if let Some(code) = waiter.party {
            if self.parties.settle(code, server, room.clone()) {
                // Its maker may first tell the code to the others, and then ask with it, too.
                holder.0 = Holder::Party(code);
                (reserved, until) = (people + friends, now + RESERVED_FOR_FRIENDS);
            } else {
                self.seats.release(server, Holder::Party(code), people);
            }
            self.parties.renew(code, now);
        }
        self.seats.reserve(server, holder, reserved, until);
        self.queue.remove(request);
        let people = u16::try_from(people).unwrap_or(u16::MAX);
        let party = waiter.party;
        let placed = Placed { server: listed, people, room, party, web, ticket };
        self.placements.insert(now, request, (placed, server), waiter.key);
    }

    /// Handles a packet that may be the answer of a server.
    pub(super) fn handle_status(&mut self, now: LocalTime, from: SocketAddr, bytes: &[u8]) {
        if let Some(arrived) = self.servers.handle_status(now, from, bytes) {
            self.seats.arrive(from, arrived);
        }
    }

    /// Handles the answer of an allocator.
    pub(super) fn handle_allocated(
        &mut self,
        now: LocalTime,
        number: u64,
        answer: Result<AllocatedServer, NotAllocated>,
    ) {
        let known = |it: &AllocatedServer| self.servers.knows(now, it.address);
        let came = |it: &AllocatedServer| {
            let (free, seats, is_known) = (it.free, it.seats, known(it));
            Came { free, seats, is_known }
        };
        let told = answer.as_ref().map(came).map_err(|why| *why);
        let request = self.fleet.handle(now, number, told, &mut self.random);
        let (Some(request), Ok(allocated)) = (request, answer) else { return };
        self.servers.allocate(now, (&request.game, &request.region), &allocated);
        if let Some(gone) = self.servers.bound(self.bounds.allocated) {
            self.seats.forget(gone);
        }
        self.serve(now, &request.game);
    }

    /// Returns the next request to an allocator.
    pub(super) fn poll_allocate(&mut self) -> Option<Allocate> {
        self.fleet.poll()
    }

    /// Returns the next question to a server.
    pub(super) fn poll_question(&mut self) -> Option<(Route, Vec<u8>)> {
        self.questions.pop_front()
    }

    /// Returns the addresses by which players measure their ping of each region.
    pub(super) fn beacons(&self, local: bool) -> Vec<Beacon> {
        let found = self.servers.beacons((self.fleet.regions(), &self.beacons), local);
        let beacon = |(region, address): (&str, SocketAddr)| {
            let Listed { ip, port, .. } = Listed::new(address, Fingerprint([0; 32]));
            Beacon { region: region.to_owned(), ip, port }
        };
        found.into_iter().map(beacon).collect()
    }

    pub(super) fn next_timeout(&self) -> Option<LocalTime> {
        let is_idle = self.looked_for.is_empty()
            && self.queue.len() == 0
            && self.seats.is_empty()
            && self.placements.is_empty()
            && self.parties.is_empty()
            && self.fleet.is_idle();
        (!is_idle).then_some(self.worked + INTERVAL)
    }

    pub(super) fn handle_timeout(&mut self, now: LocalTime) {
        self.started.get_or_insert(now);
        if self.next_timeout().is_none_or(|due| now < due) {
            return;
        }
        self.worked = now;
        for (server, crowds) in self.seats.expire(now) {
            let widest = crowds.into_iter().flatten().last();
            self.servers.miss(now, server, widest);
        }
        for request in self.queue.silent(now) {
            self.forget(request);
        }
        self.fleet.expire(now, &mut self.random);
        self.parties.expire(now);
        self.placements.expire(now);
        self.looked_for.retain(|_, at| now - *at < LOOKED_FOR);
        let games: Vec<_> = self.looked_for.keys().cloned().collect();
        for game in games {
            self.question(now, &game);
        }
        for game in self.queue.games() {
            self.serve(now, &game);
        }
    }

    /// Asks servers of a game for their status.
    fn question(&mut self, now: LocalTime, game: &str) {
        for server in self.servers.due(game, now, STATUS_EVERY, STATUS_MAX) {
            if !self.question_server(now, server) {
                return;
            }
        }
    }

    /// Asks a server for its status. Returns false if too many are asked.
    fn question_server(&mut self, now: LocalTime, server: SocketAddr) -> bool {
        let moment = BucketTime::try_from(now.0).unwrap_or_default();
        if !self.statuses.take(moment, self.bounds.statuses, 0) {
            return false;
        }
        let nonce: Nonce = self.secrets.bits().to_le_bytes();
        match self.servers.ask(server, nonce, now) {
            Some(route) => self.questions.push_back((route, question_of(nonce, QUESTION_BYTES))),
            None => self.seats.forget(server),
        }
        true
    }
}

/// Returns the address of the server at which players have seats.
fn address_of(placed: &Placed) -> SocketAddr {
    let address = SocketAddr::new(IpAddr::from(placed.server.ip), placed.server.port);
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// Returns the ping of a region as the asker has measured it.
fn ping(waiter: &Waiter, region: &str) -> u16 {
    let known = waiter.pings.iter().find(|it| it.region == region);
    known.map_or(UNKNOWN_MS, |it| it.ms)
}
