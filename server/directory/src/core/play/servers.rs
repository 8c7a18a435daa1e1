//! Servers on which players can be placed: what they have said of themselves, and when.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::SocketAddr;

use phaselock::fingerprint::Fingerprint;
use phaselock::limits::REGIONS_MAX;
use phaselock::time::{LocalTime, Micros};
use phaselock::wire::query::{Info, Nonce, WebIdentity};
use phaselock::wire::rooms::{RoomCode, RoomStatus};
use phaselock_quic::packets::Route;

use super::crowds::Crowd;
use super::seats::Seats;
use crate::core::entries::{is_local, network};

/// Age from which on a status is too old to place players by it. If there are many servers, not all
/// of them are asked within a second.
const FRESH: Micros = Micros::from_ms(7000);
/// How old the status of a draining server may be if that server asks for seats for more players
/// than the status counts. Less than `FRESH`, and longer than it takes to repeat the question.
const JUST_SAID: Micros = Micros::from_ms(1000);
/// Time for a server to answer, after which it gets no players until it does.
const ANSWERS: Micros = Micros::from_ms(1000);
/// Number of questions without an answer after which a server that was allocated is forgotten.
const SILENT_MAX: u8 = 3;
/// Time for which a server that was just allocated counts as playing the game that it was allocated
/// for, whatever it says: it may still be changing games.
const SETTLES: Micros = Micros::from_ms(15_000);
/// How long players of a draining server wait for a newly allocated one to say how browsers
/// recognize it. Short, because the draining server may ask for no more than two seconds in all,
/// and then its players lose their seats.
const INTRODUCES: Micros = Micros::from_ms(300);

/// Time after its last request for places for which a server of the fleet gets no players, although
/// an allocator assigns it. Longer than any server waits for places.
const DRAINS: Micros = Micros::from_ms(30_000);
/// Maximum number of such servers to remember. Arbitrary.
const DRAINING_MAX: usize = 4096;

/// The maximum number of seats and players that a server is believed to have.
const SEATS_MAX: u32 = u16::MAX as u32;
/// The maximum number of seats of a server that count for its region.
const SEATS_COUNTED: u32 = 1024;
/// The maximum number of names of regions that the listed servers of a network can use.
const NAMES_PER_NETWORK: usize = 4;
/// The maximum number of regions that are told apart; all others count as unnamed.
const REGIONS_KNOWN: usize = 32;
/// Number of crowds whose players did not arrive at a listed server, while nothing else happened
/// there, after which it gets no players for some time.
const MISSED_MAX: usize = 8;
const SHUNNED: Micros = Micros::from_ms(30_000);

/// For whom a server is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Audience {
    /// Whether the player is on a local network.
    pub(super) local: bool,
    /// Whether the player is in a browser.
    pub(super) browser: bool,
}

/// A server that players can be sent to.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) fingerprint: Fingerprint,
    pub(super) route: Route,
    pub(super) region: String,
    games: Vec<String>,
    rooms: Vec<RoomStatus>,
    /// Whether players need no password there.
    is_open: bool,
    free: u32,
    players: u32,
    /// Number of all seats.
    most: u32,
    seen: Option<LocalTime>,
    /// How browsers recognize it; `None` until it has said so itself.
    web: Option<WebIdentity>,
    asked: Option<(Nonce, LocalTime)>,
    silent: u8,
    /// The game for which the server was allocated, and when. `None` for one that is listed.
    allocated: Option<(String, LocalTime)>,
    /// Number of its players when it began to drain, if it does, as far as it has said so itself.
    leaving: Option<u32>,
    /// Crowds whose players did not arrive since the number of players last changed.
    missed: BTreeSet<u128>,
    /// It gets no players until then.
    shunned_until: LocalTime,
}

/// A server that an allocator has assigned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllocatedServer {
    /// The server's address.
    pub address: SocketAddr,
    /// Fingerprint of its certificate.
    pub fingerprint: Fingerprint,
    /// Number of free seats, including those of the request, if the allocator says so.
    pub free: Option<u32>,
    /// Number of all its seats, if the allocator says so.
    pub seats: Option<u32>,
}

impl Server {
    fn new(route: Route, fingerprint: Fingerprint) -> Self {
        Self {
            fingerprint,
            route,
            region: String::new(),
            games: Vec::new(),
            rooms: Vec::new(),
            is_open: true,
            free: 0,
            players: 0,
            most: 0,
            seen: None,
            web: None,
            asked: None,
            silent: 0,
            allocated: None,
            leaving: None,
            missed: BTreeSet::new(),
            shunned_until: LocalTime(0),
        }
    }

    /// Whether what the server has said of itself is new.
    pub(super) fn is_fresh(&self, now: LocalTime) -> bool {
        self.seen.is_some_and(|seen| now - seen <= FRESH)
    }

    /// Whether the status is recent enough to move this number of players from a draining server.
    /// It may be older if it counts that many, or if the server is already moving players.
    /// Otherwise more players may have joined since.
    pub(super) fn is_enough(&self, now: LocalTime, people: u32) -> bool {
        let since = self.seen.map(|seen| now - seen);
        let is_enough = self.leaving.is_some() || self.players >= people;
        since.is_some_and(|since| since <= if is_enough { FRESH } else { JUST_SAID })
    }

    /// Whether the server plays a game now, or may open a room for it.
    pub(super) fn plays(&self, game: &str, now: LocalTime) -> bool {
        let settles = |(_, at): &&(String, LocalTime)| now - *at < SETTLES;
        match self.allocated.as_ref().filter(settles) {
            Some((allocated, _)) => allocated == game,
            None => self.games.iter().any(|it| it == game),
        }
    }

    /// Whether the server, which has this address, is for local players only. The host of an
    /// allocator knows whom its addresses are for.
    fn is_only_local(&self, address: SocketAddr) -> bool {
        self.allocated.is_none() && is_local(address.ip())
    }

    /// Whether the server has announced itself, and no allocator has assigned it.
    pub(super) fn is_listed(&self) -> bool {
        self.allocated.is_none()
    }

    /// Whether no browser can connect to the server, as far as is known. One that was allocated
    /// may not have said so yet, and another one would be like it.
    fn is_only_native(&self) -> bool {
        self.allocated.is_none() && self.web.as_ref().is_none_or(WebIdentity::is_empty)
    }

    /// Whether players in browsers may be on the server.
    pub(super) fn may_have_browsers(&self) -> bool {
        self.web.as_ref().is_none_or(|web| !web.is_empty())
    }

    /// Whether the server was allocated less than [`INTRODUCES`] ago.
    pub(super) fn is_new(&self, now: LocalTime) -> bool {
        self.allocated.as_ref().is_some_and(|(_, at)| now - *at < INTRODUCES)
    }

    /// Returns how browsers recognize the server; `None` if it has not said so yet.
    pub(super) fn web(&self) -> Option<&WebIdentity> {
        self.web.as_ref()
    }

    /// Whether the server, which has this address, has this number of seats at all, and is open to
    /// such players.
    fn fits(&self, address: SocketAddr, (seats, audience): (u32, Audience)) -> bool {
        self.is_open
            && self.most >= seats
            && (audience.local || !self.is_only_local(address))
            && !(audience.browser && self.is_only_native())
    }

    /// Whether the answer to a question may still come.
    pub(super) fn is_asked(&self, now: LocalTime) -> bool {
        self.asked.is_some_and(|(_, at)| now - at <= ANSWERS)
    }

    /// Returns the number of free seats for a game, without those that are reserved.
    fn free_for(&self, game: &str, now: LocalTime) -> u32 {
        let is_fresh = self.is_fresh(now);
        let is_silent = self.asked.is_some() && !self.is_asked(now);
        let is_shunned = self.leaving.is_some() || now < self.shunned_until;
        if !is_fresh || is_silent || is_shunned || !self.plays(game, now) {
            return 0;
        }
        let is_settling = self.allocated.as_ref().is_some_and(|(_, at)| now - *at < SETTLES);
        if self.games.len() < 2 || is_settling {
            return self.free;
        }
        // Rooms that are not open yet begin with the first game.
        let listed = |of: &dyn Fn(&&RoomStatus) -> bool| {
            self.rooms.iter().filter(of).map(free_in).sum::<u32>().min(self.free)
        };
        let unopened = self.free - listed(&|_| true);
        let is_first = self.games.first().is_some_and(|first| first == game);
        listed(&|room| room.game == game) + if is_first { unopened } else { 0 }
    }

    /// Returns the room to ask for: the fullest public one with this many free seats. There is no
    /// need for one if a player can play in any.
    pub(super) fn room(&self, game: &str, people: u32, together: bool) -> Option<RoomCode> {
        let fits = |room: &&RoomStatus| room.game == game && free_in(room) >= people;
        let found = self.rooms.iter().filter(fits).min_by_key(|room| (free_in(room), &room.code));
        found.filter(|_| together || self.games.len() > 1).map(|room| room.code.clone())
    }
}

fn free_in(room: &RoomStatus) -> u32 {
    room.players_max.saturating_sub(room.players).into()
}

/// Servers with free seats for one game: by region and by who can play there. The fullest come
/// first, empty ones last.
#[derive(Debug, Default)]
pub(super) struct Candidates(BTreeMap<(Limited, String), BTreeSet<Candidate>>);

/// Who can play on a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Limited {
    only_local: bool,
    only_native: bool,
}

impl Limited {
    fn admits(self, audience: Audience) -> bool {
        (audience.local || !self.only_local) && !(audience.browser && self.only_native)
    }
}

/// Whether a server is empty, its number of free seats, and its address.
type Candidate = (bool, u32, SocketAddr);

impl Candidates {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the regions with free seats for such players.
    pub(super) fn regions(&self, audience: Audience) -> impl Iterator<Item = &str> {
        let visible = self.0.keys().filter(move |(limited, _)| limited.admits(audience));
        visible.map(|(_, region)| region.as_str())
    }

    /// Returns the fullest server of a region with this many free seats.
    pub(super) fn find(
        &self,
        region: &str,
        audience: Audience,
        people: u32,
        except: Option<SocketAddr>,
    ) -> Option<SocketAddr> {
        let is_visible = |limited: Limited, of: &str| limited.admits(audience) && of == region;
        let sets = self.0.iter().filter(|((limited, of), _)| is_visible(*limited, of));
        let lowest = SocketAddr::from(([0, 0, 0, 0], 0));
        let fit = |set: &BTreeSet<Candidate>, is_empty| {
            let mut range = set.range((is_empty, people, lowest)..=(is_empty, u32::MAX, highest()));
            range.find(|(_, _, server)| Some(*server) != except).copied()
        };
        let found = sets.map(|(_, set)| set);
        let found = found.filter_map(|set| fit(set, false).or_else(|| fit(set, true)));
        found.min().map(|(_, _, server)| server)
    }

    /// Returns the server with the most free seats of all, and their number.
    pub(super) fn largest(&self, audience: Audience, except: Option<SocketAddr>) -> Option<u32> {
        let visible = self.0.iter().filter(|((limited, _), _)| limited.admits(audience));
        let servers = visible.flat_map(|(_, set)| set);
        let servers = servers.filter(|(_, _, server)| Some(*server) != except);
        servers.map(|(_, free, _)| *free).max()
    }

    /// Sets the number of free seats of a server, on which players were placed.
    pub(super) fn set(&mut self, server: SocketAddr, free: u32) {
        self.0.retain(|_, set| {
            let found = set.iter().find(|(_, _, it)| *it == server).copied();
            if let Some(before) = found {
                set.remove(&before);
                if free > 0 {
                    set.insert((false, free, server));
                }
            }
            !set.is_empty()
        });
    }
}

/// The last address in order.
fn highest() -> SocketAddr {
    SocketAddr::from(([u16::MAX; 8], u16::MAX))
}

/// All servers, by address: those of a fleet share their certificate.
#[derive(Debug, Default)]
pub(super) struct Servers {
    known: BTreeMap<SocketAddr, Server>,
    /// Servers of the fleet that drain, and when each last asked for places. Allocators may still
    /// assign them.
    draining: BTreeMap<SocketAddr, LocalTime>,
}

impl Servers {
    pub(super) fn get(&self, server: SocketAddr) -> Option<&Server> {
        self.known.get(&server)
    }

    /// Whether a server is known, if only because it drains.
    pub(super) fn knows(&self, now: LocalTime, server: SocketAddr) -> bool {
        self.known.contains_key(&server) || self.drains(now, server)
    }

    /// Whether a server has asked for places a moment ago.
    fn drains(&self, now: LocalTime, server: SocketAddr) -> bool {
        self.draining.get(&server).is_some_and(|asked| now - *asked < DRAINS)
    }

    /// Whether a server has this certificate that an allocator has assigned. Only servers of the
    /// fleet have its key.
    pub(super) fn is_of_fleet(&self, fingerprint: Fingerprint) -> bool {
        self.known.values().any(|it| it.allocated.is_some() && it.fingerprint == fingerprint)
    }

    /// Returns the server at an address, if it has this certificate.
    pub(super) fn identified(&self, server: SocketAddr, print: Fingerprint) -> Option<&Server> {
        self.known.get(&server).filter(|it| it.fingerprint == print)
    }

    /// Whether an allocator has assigned the server at an address that has this certificate.
    pub(super) fn is_allocated(&self, server: SocketAddr, print: Fingerprint) -> bool {
        self.identified(server, print).is_some_and(|it| it.allocated.is_some())
    }

    /// Whether any server plays a game, to which a browser can connect if one asks.
    pub(super) fn any_plays(&self, game: &str, now: LocalTime, browser: bool) -> bool {
        self.known.values().any(|it| it.plays(game, now) && !(browser && it.is_only_native()))
    }

    /// Notes what a server has said when it announced itself. One that was allocated stays so.
    pub(super) fn list(&mut self, now: LocalTime, route: Route, print: Fingerprint, info: &Info) {
        let server = self.known.entry(route.remote).or_insert_with(|| Server::new(route, print));
        if server.fingerprint != print {
            server.allocated = None;
        }
        (server.fingerprint, server.route) = (print, route);
        tell(server, now, info);
        if server.free > 0 {
            self.draining.remove(&route.remote);
        }
    }

    /// Adds a server that was allocated. One that is listed as well stays so.
    pub(super) fn allocate(
        &mut self,
        now: LocalTime,
        (game, region): (&str, &str),
        allocated: &AllocatedServer,
    ) {
        let AllocatedServer { address, fingerprint, free, seats } = *allocated;
        let drains = self.drains(now, address);
        let new = || Server::new(address.into(), fingerprint);
        let server = self.known.entry(address).or_insert_with(new);
        let is_listed = server.allocated.is_none() && server.seen.is_some();
        (server.fingerprint, server.region) = (fingerprint, region.to_owned());
        server.silent = 0;
        if !drains {
            server.leaving = None;
        }
        if !is_listed {
            server.allocated = Some((game.to_owned(), now));
        }
        // What it says itself is newer.
        let free = free.map(|free| free.min(SEATS_MAX));
        if let Some(free) = free.filter(|_| server.seen.is_none_or(|seen| now - seen > FRESH)) {
            (server.free, server.seen) = (free, Some(now));
            server.most = server.most.max(free);
        }
        server.most = server.most.max(seats.unwrap_or_default().min(SEATS_MAX));
    }

    /// Whether any server of a game that is open to such players has this number of seats at all.
    pub(super) fn any_fits(&self, game: &str, now: LocalTime, wanted: (u32, Audience)) -> bool {
        self.known.iter().any(|(at, it)| it.fits(*at, wanted) && it.plays(game, now))
    }

    /// Returns the server of a game that is the nearest to having this number of free seats for
    /// such players: of those that have that many seats at all, the one with the most
    /// free ones. `None` if it has enough.
    pub(super) fn nearest(
        &self,
        game: &str,
        now: LocalTime,
        wanted: (u32, Audience),
        seats: &Seats,
    ) -> Option<SocketAddr> {
        let large = self.known.iter().filter(|(at, it)| it.fits(**at, wanted));
        let free = large.map(|(at, it)| (it.free_for(game, now).saturating_sub(seats.of(*at)), at));
        free.max().filter(|(free, _)| *free < wanted.0).map(|(_, at)| *at)
    }

    /// Whether any allocated server of a game has this number of seats at all.
    pub(super) fn any_allocated_fits(&self, game: &str, now: LocalTime, seats: u32) -> bool {
        let mut allocated = self.known.values().filter(|it| it.allocated.is_some());
        allocated.any(|it| it.most >= seats && it.plays(game, now))
    }

    /// Notes that players of a crowd did not arrive at a server. One at which no one arrives, from
    /// wherever, counts as full for some time, unless an allocator vouches for it.
    pub(super) fn miss(&mut self, now: LocalTime, address: SocketAddr, crowd: Option<Crowd>) {
        let Some(server) = self.known.get_mut(&address).filter(|it| it.allocated.is_none()) else {
            return;
        };
        if let Some(Crowd::Network(bits) | Crowd::Site(bits)) = crowd {
            server.missed.insert(bits);
        }
        if server.missed.len() >= MISSED_MAX {
            server.missed.clear();
            server.shunned_until = now + SHUNNED;
        }
    }

    /// Removes a server that is no longer listed. Returns false if it was allocated, and stays.
    pub(super) fn unlist(&mut self, server: SocketAddr) -> bool {
        let is_allocated = self.known.get(&server).is_some_and(|it| it.allocated.is_some());
        !is_allocated && self.known.remove(&server).is_some()
    }

    /// Removes the allocated server that has been silent for longest, if there are too many.
    pub(super) fn bound(&mut self, allocated_max: usize) -> Option<SocketAddr> {
        let allocated = || self.known.iter().filter(|(_, it)| it.allocated.is_some());
        if allocated().count() <= allocated_max {
            return None;
        }
        let (oldest, _) = allocated().min_by_key(|(_, it)| it.seen)?;
        let oldest = *oldest;
        self.known.remove(&oldest).map(|_| oldest)
    }

    /// Marks a server that drains, until it says otherwise.
    pub(super) fn leave(&mut self, server: SocketAddr) {
        if let Some(server) = self.known.get_mut(&server) {
            server.leaving = server.leaving.or(Some(server.players));
        }
    }

    /// Notes that a server of the fleet has just asked for places: no one is sent there, even if an
    /// allocator assigns it.
    pub(super) fn hold(&mut self, now: LocalTime, server: SocketAddr) {
        self.draining.retain(|_, asked| now - *asked < DRAINS);
        if self.draining.len() < DRAINING_MAX {
            self.draining.insert(server, now);
        }
    }

    /// Returns the number of players that a server had when it began to drain.
    pub(super) fn players_left(&self, server: SocketAddr) -> u32 {
        self.known.get(&server).and_then(|it| it.leaving).unwrap_or_default()
    }

    /// Handles a packet from a server. Returns the number of players who have arrived since it was
    /// last heard of; `None` if it is not the answer to a question.
    pub(super) fn handle_status(
        &mut self,
        now: LocalTime,
        from: SocketAddr,
        bytes: &[u8],
    ) -> Option<u32> {
        let server = self.known.get_mut(&from)?;
        let (nonce, _) = server.asked?;
        let info = Info::parse(bytes, nonce).ok()?;
        (server.asked, server.silent) = (None, 0);
        if info.fingerprint != Some(server.fingerprint) {
            // Another server has taken its place.
            (server.seen, server.free) = (None, 0);
            return Some(0);
        }
        let before = server.players;
        tell(server, now, &info);
        if server.players != before {
            server.missed.clear();
        }
        if server.free > 0 {
            self.draining.remove(&from);
        }
        Some(server.players.saturating_sub(before))
    }

    /// Returns at most `most` servers of a game that are to be asked now, those first that were not
    /// asked for longest.
    pub(super) fn due(
        &self,
        game: &str,
        now: LocalTime,
        every: Micros,
        most: usize,
    ) -> Vec<SocketAddr> {
        let last = |it: &Server| it.asked.map(|(_, at)| at).max(it.seen);
        let is_due = |it: &Server| last(it).is_none_or(|last| now - last >= every);
        let due = self.known.iter().filter(|(_, it)| it.plays(game, now) && is_due(it));
        let mut due: Vec<_> = due.map(|(address, it)| (last(it), *address)).collect();
        due.sort_unstable();
        due.into_iter().take(most).map(|(_, address)| address).collect()
    }

    /// Notes that a server is being asked. Returns its route; `None` if it was allocated and has
    /// been silent for too long, and is removed.
    pub(super) fn ask(
        &mut self,
        server: SocketAddr,
        nonce: Nonce,
        now: LocalTime,
    ) -> Option<Route> {
        let found = self.known.get_mut(&server)?;
        if found.asked.is_some() {
            found.silent = found.silent.saturating_add(1);
        }
        if found.silent >= SILENT_MAX && found.allocated.is_some() {
            self.known.remove(&server);
            return None;
        }
        found.asked = Some((nonce, now));
        Some(found.route)
    }

    /// Returns the names of regions: those of allocators first, then by the number of seats. The
    /// listed servers of a network can use only a few.
    fn regions<'a>(&'a self, of_allocators: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
        let mut names: HashMap<u128, BTreeSet<&str>> = HashMap::new();
        let mut seats: BTreeMap<&str, u64> = BTreeMap::new();
        for (address, server) in self.known.iter().filter(|(_, it)| !it.region.is_empty()) {
            let own = names.entry(network(address.ip())).or_default();
            let is_known = server.allocated.is_some() || own.contains(&*server.region);
            if is_known || own.len() < NAMES_PER_NETWORK {
                if server.allocated.is_none() {
                    own.insert(&server.region);
                }
                let most = server.most.min(SEATS_COUNTED);
                *seats.entry(&server.region).or_default() += u64::from(most);
            }
        }
        let mut found: Vec<_> = of_allocators.filter(|it| !it.is_empty()).collect();
        let mut others: Vec<_> = seats.into_iter().filter(|(it, _)| !found.contains(it)).collect();
        others.sort_unstable_by_key(|(region, seats)| (Reverse(*seats), *region));
        found.extend(others.into_iter().map(|(region, _)| region));
        found
    }

    /// Returns the servers with free seats for a game.
    pub(super) fn candidates<'a>(
        &'a self,
        (game, of_allocators): (&str, impl Iterator<Item = &'a str>),
        now: LocalTime,
        seats: &Seats,
    ) -> Candidates {
        let regions: BTreeSet<_> =
            self.regions(of_allocators).into_iter().take(REGIONS_KNOWN).collect();
        let mut found = Candidates::default();
        for (address, server) in &self.known {
            let free = server.free_for(game, now).saturating_sub(seats.of(*address));
            if free > 0 && !self.drains(now, *address) {
                let is_empty = server.players == 0 && seats.of(*address) == 0;
                let only_local = server.is_only_local(*address);
                let limited = Limited { only_local, only_native: server.is_only_native() };
                let region = regions.get(&*server.region).copied().unwrap_or_default();
                let set = found.0.entry((limited, region.to_owned())).or_default();
                set.insert((is_empty, free, *address));
            }
        }
        found
    }

    /// Returns the free seats of one server for a game, including those that are reserved. `None`
    /// if it drains, or has been silent for too long.
    pub(super) fn free_of(&self, server: SocketAddr, game: &str, now: LocalTime) -> Option<u32> {
        let found = self.known.get(&server)?;
        let is_there = found.leaving.is_none() && found.silent < SILENT_MAX;
        (is_there && !self.drains(now, server)).then(|| found.free_for(game, now))
    }

    /// Returns an address in each of the first regions, by which players can measure their ping:
    /// the known one, otherwise that of a server.
    pub(super) fn beacons<'a>(
        &'a self,
        (of_allocators, known): (impl Iterator<Item = &'a str>, &BTreeMap<String, SocketAddr>),
        local: bool,
    ) -> Vec<(&'a str, SocketAddr)> {
        let mut found: BTreeMap<&str, &Server> = BTreeMap::new();
        for (address, server) in &self.known {
            let is_hidden = server.region.is_empty() || !local && is_local(address.ip());
            let is_newer = found.get(&*server.region).is_none_or(|it| it.seen < server.seen);
            if !is_hidden && server.silent == 0 && server.seen.is_some() && is_newer {
                found.insert(&server.region, server);
            }
        }
        let regions = self.regions(of_allocators).into_iter();
        let of_server = |region| found.get(region).map(|server| server.route.remote);
        let address = |region| known.get(region).copied().or_else(|| of_server(region));
        let beacons = regions.filter_map(|region| Some((region, address(region)?)));
        beacons.take(REGIONS_MAX).collect()
    }
}

fn tell(server: &mut Server, now: LocalTime, info: &Info) {
    server.games.clone_from(&info.games);
    server.rooms.clone_from(&info.rooms);
    if server.allocated.is_none() || server.region.is_empty() {
        server.region.clone_from(&info.region);
    }
    // Strangers without the password cannot be placed there.
    server.is_open = !info.needs_password;
    let (players, most) = (info.players.min(SEATS_MAX), info.players_max.min(SEATS_MAX));
    // May be more than `most`: rooms that are not open yet have seats, too.
    let free = info.free.unwrap_or_else(|| most.saturating_sub(players)).min(SEATS_MAX);
    server.free = if server.is_open { free } else { 0 };
    (server.players, server.seen) = (players, Some(now));
    server.web = Some(info.web.clone());
    server.most = most.max(players.saturating_add(server.free));
    server.leaving = server.leaving.filter(|_| free == 0);
}
