//! Servers on which players can be placed: what they have said of themselves, and when.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use phaselock::fingerprint::Fingerprint;
use phaselock::time::{LocalTime, Micros};
use phaselock::wire::query::{Info, Nonce};
use phaselock::wire::rooms::{RoomCode, RoomStatus};
use phaselock_quic::packets::Route;

use super::seats::Seats;
use crate::core::entries::is_local;

/// Age from which on a status is too old to place players by it. If there are many servers, not all
/// of them are asked within a second.
const FRESH: Micros = Micros::from_ms(7000);
/// Time for a server to answer, after which it gets no players until it does.
const ANSWERS: Micros = Micros::from_ms(1000);
/// Number of questions without an answer after which a server that was allocated is forgotten.
const SILENT_MAX: u8 = 3;
/// Time for which a server that was just allocated counts as playing the game that it was allocated
/// for, whatever it says: it may still be changing games.
const SETTLES: Micros = Micros::from_ms(15_000);

/// A server that players can be sent to.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) fingerprint: Fingerprint,
    pub(super) route: Route,
    pub(super) region: String,
    games: Vec<String>,
    rooms: Vec<RoomStatus>,
    free: u32,
    players: u32,
    /// Number of all seats.
    most: u32,
    seen: Option<LocalTime>,
    asked: Option<(Nonce, LocalTime)>,
    silent: u8,
    /// The game for which the server was allocated, and when. `None` for one that is listed.
    allocated: Option<(String, LocalTime)>,
    /// Whether it is draining, as far as it has said so by itself.
    is_leaving: bool,
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
}

impl Server {
    fn new(route: Route, fingerprint: Fingerprint) -> Self {
        Self {
            fingerprint,
            route,
            region: String::new(),
            games: Vec::new(),
            rooms: Vec::new(),
            free: 0,
            players: 0,
            most: 0,
            seen: None,
            asked: None,
            silent: 0,
            allocated: None,
            is_leaving: false,
        }
    }

    /// Whether the server plays a game now, or may open a room for it.
    pub(super) fn plays(&self, game: &str, now: LocalTime) -> bool {
        let settles = |(_, at): &&(String, LocalTime)| now - *at < SETTLES;
        match self.allocated.as_ref().filter(settles) {
            Some((allocated, _)) => allocated == game,
            None => self.games.iter().any(|it| it == game),
        }
    }

    /// Returns the number of free seats for a game, without those that are reserved.
    fn free_for(&self, game: &str, now: LocalTime) -> u32 {
        let is_fresh = self.seen.is_some_and(|seen| now - seen <= FRESH);
        let is_silent = self.asked.is_some_and(|(_, at)| now - at > ANSWERS);
        if !is_fresh || is_silent || self.is_leaving || !self.plays(game, now) {
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

/// Servers with free seats for one game: by region and by whether they are for local players only.
/// The fullest come first, empty ones last.
#[derive(Debug, Default)]
pub(super) struct Candidates(BTreeMap<(bool, String), BTreeSet<Candidate>>);

/// Whether a server is empty, its number of free seats, and its address.
type Candidate = (bool, u32, SocketAddr);

impl Candidates {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the regions with free seats for local or other players.
    pub(super) fn regions(&self, local: bool) -> impl Iterator<Item = &str> {
        let visible = self.0.keys().filter(move |(only_local, _)| local || !only_local);
        visible.map(|(_, region)| region.as_str())
    }

    /// Returns the fullest server of a region with this many free seats.
    pub(super) fn find(
        &self,
        region: &str,
        local: bool,
        people: u32,
        except: Option<SocketAddr>,
    ) -> Option<SocketAddr> {
        let own = |only_local| self.0.get(&(only_local, region.to_owned()));
        let sets = [own(false), own(true).filter(|_| local)];
        let lowest = SocketAddr::from(([0, 0, 0, 0], 0));
        let fit = |set: &BTreeSet<Candidate>, is_empty| {
            let mut range = set.range((is_empty, people, lowest)..=(is_empty, u32::MAX, highest()));
            range.find(|(_, _, server)| Some(*server) != except).copied()
        };
        let found = sets.into_iter().flatten();
        let found = found.filter_map(|set| fit(set, false).or_else(|| fit(set, true)));
        found.min().map(|(_, _, server)| server)
    }

    /// Returns the server with the most free seats of all, and their number.
    pub(super) fn largest(&self, local: bool, except: Option<SocketAddr>) -> Option<u32> {
        let visible = self.0.iter().filter(|((only_local, _), _)| local || !only_local);
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
pub(super) struct Servers(BTreeMap<SocketAddr, Server>);

impl Servers {
    pub(super) fn get(&self, server: SocketAddr) -> Option<&Server> {
        self.0.get(&server)
    }

    /// Whether any server presents this certificate.
    pub(super) fn has_certificate(&self, fingerprint: Fingerprint) -> bool {
        self.0.values().any(|it| it.fingerprint == fingerprint)
    }

    pub(super) fn any_plays(&self, game: &str, now: LocalTime) -> bool {
        self.0.values().any(|it| it.plays(game, now))
    }

    /// Notes what a server has said when it was listed.
    pub(super) fn list(&mut self, now: LocalTime, route: Route, print: Fingerprint, info: &Info) {
        let server = self.0.entry(route.remote).or_insert_with(|| Server::new(route, print));
        (server.fingerprint, server.route, server.allocated) = (print, route, None);
        tell(server, now, info);
    }

    /// Adds a server that was allocated. One that is listed as well stays so.
    pub(super) fn allocate(
        &mut self,
        now: LocalTime,
        (game, region): (&str, &str),
        allocated: &AllocatedServer,
    ) {
        let AllocatedServer { address, fingerprint, free } = *allocated;
        let new = || Server::new(address.into(), fingerprint);
        let server = self.0.entry(address).or_insert_with(new);
        let is_listed = server.allocated.is_none() && server.seen.is_some();
        (server.fingerprint, server.region) = (fingerprint, region.to_owned());
        (server.is_leaving, server.silent) = (false, 0);
        if !is_listed {
            server.allocated = Some((game.to_owned(), now));
        }
        // What it says itself is newer.
        if let Some(free) = free.filter(|_| server.seen.is_none_or(|seen| now - seen > FRESH)) {
            (server.free, server.seen) = (free, Some(now));
            server.most = server.most.max(free);
        }
    }

    /// Whether any server of a game has so many seats at all.
    pub(super) fn any_fits(&self, game: &str, now: LocalTime, seats: u32) -> bool {
        self.0.values().any(|it| it.most >= seats && it.plays(game, now))
    }

    /// Removes a server.
    pub(super) fn remove(&mut self, server: SocketAddr) {
        self.0.remove(&server);
    }

    /// Removes the allocated server that has been silent for longest, if there are too many.
    pub(super) fn bound(&mut self, allocated_max: usize) -> Option<SocketAddr> {
        let allocated = || self.0.iter().filter(|(_, it)| it.allocated.is_some());
        if allocated().count() <= allocated_max {
            return None;
        }
        let (oldest, _) = allocated().min_by_key(|(_, it)| it.seen)?;
        let oldest = *oldest;
        self.0.remove(&oldest).map(|_| oldest)
    }

    /// Marks a server that drains, until it says otherwise.
    pub(super) fn leave(&mut self, server: SocketAddr) -> Option<&Server> {
        let server = self.0.get_mut(&server)?;
        server.is_leaving = true;
        Some(server)
    }

    /// Handles a packet from a server. Returns the number of players who have arrived since it was
    /// last heard of; `None` if it is not the answer to a question.
    pub(super) fn handle_status(
        &mut self,
        now: LocalTime,
        from: SocketAddr,
        bytes: &[u8],
    ) -> Option<u32> {
        let server = self.0.get_mut(&from)?;
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
        let due = self.0.iter().filter(|(_, it)| it.plays(game, now) && is_due(it));
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
        let found = self.0.get_mut(&server)?;
        if found.asked.is_some() {
            found.silent = found.silent.saturating_add(1);
        }
        if found.silent >= SILENT_MAX && found.allocated.is_some() {
            self.0.remove(&server);
            return None;
        }
        found.asked = Some((nonce, now));
        Some(found.route)
    }

    /// Returns the servers with free seats for a game.
    pub(super) fn candidates(&self, game: &str, now: LocalTime, seats: &Seats) -> Candidates {
        let mut found = Candidates::default();
        for (address, server) in &self.0 {
            let free = server.free_for(game, now).saturating_sub(seats.of(*address));
            if free > 0 {
                let is_empty = server.players == 0 && seats.of(*address) == 0;
                // Whoever runs an allocator knows whom its addresses are for.
                let only_local = server.allocated.is_none() && is_local(address.ip());
                let set = found.0.entry((only_local, server.region.clone())).or_default();
                set.insert((is_empty, free, *address));
            }
        }
        found
    }

    /// Returns the free seats of one server for a game, including those that are reserved.
    pub(super) fn free_of(&self, server: SocketAddr, game: &str, now: LocalTime) -> Option<u32> {
        self.0.get(&server).filter(|it| !it.is_leaving).map(|it| it.free_for(game, now))
    }

    /// Returns a server for each region, by which players can measure their ping.
    pub(super) fn beacons(&self, local: bool) -> BTreeMap<&str, &Server> {
        let mut found: BTreeMap<&str, &Server> = BTreeMap::new();
        for (address, server) in &self.0 {
            let is_hidden = server.region.is_empty() || !local && is_local(address.ip());
            let is_newer = found.get(&*server.region).is_none_or(|it| it.seen < server.seen);
            if !is_hidden && server.silent == 0 && server.seen.is_some() && is_newer {
                found.insert(&server.region, server);
            }
        }
        found
    }
}

fn tell(server: &mut Server, now: LocalTime, info: &Info) {
    server.games.clone_from(&info.games);
    server.rooms.clone_from(&info.rooms);
    if server.allocated.is_none() || server.region.is_empty() {
        server.region.clone_from(&info.region);
    }
    // Strangers without the password cannot be placed there.
    let is_open = !info.needs_password;
    let free = info.free.unwrap_or_else(|| info.players_max.saturating_sub(info.players));
    server.free = if is_open { free } else { 0 };
    (server.players, server.seen) = (info.players, Some(now));
    server.most = info.players_max.max(info.players + server.free);
    server.is_leaving &= free == 0;
}
