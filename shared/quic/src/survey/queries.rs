//! Whom to query and when, and what is known: the state machine.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::net::{Ipv4Addr, SocketAddr};

use phaselock::fingerprint::Fingerprint;
use phaselock::random::Random;
use phaselock::time::{LocalTime, Micros};
use phaselock::wire::directory::{Answer, Question, nonce_of_answer};
use phaselock::wire::query::{Info, Nonce, question};

use crate::address::{Address, DEFAULT_PORT};
use crate::attempts::{Attempts, unmapped};

/// The maximum number of known servers; more are ignored. Arbitrary: a list that no one reads to
/// its end.
pub const SERVERS_MAX: usize = 2048;
/// The maximum number of directories. Arbitrary.
pub const DIRECTORIES_MAX: usize = 16;
/// Ports on the local network at which servers are searched: the default, and those that a server
/// uses if that is taken.
pub const LAN_PORTS: std::ops::Range<u16> = DEFAULT_PORT..DEFAULT_PORT + 8;
/// Number of servers queried at a time, and the interval between queries: 80 kB/s.
const ASKED_MAX: usize = 32;
pub(super) const APART: Micros = Micros::from_ms(15);
/// How long to wait for an answer, and how often a server is queried.
const PATIENCE: Micros = Micros::from_ms(900);
const TIMES: u8 = 3;
/// Number of bytes before a nonce.
const NONCE_AT: usize = 11;

/// How a server became known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Via {
    /// The player named it.
    pub named: bool,
    /// The server is on the local network.
    pub lan: bool,
    /// A directory lists it.
    pub directory: bool,
}

/// What is known about a server's status.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// The server is being queried.
    Asking,
    /// The server's answer, and the round trip time.
    Answered(Box<Info>, Micros),
    /// The server does not answer.
    Silent,
}

/// A known server.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Address of the server.
    pub address: Address,
    /// How it became known.
    pub via: Via,
    /// Fingerprint of its certificate, as verified by a directory.
    pub listed: Option<Fingerprint>,
    /// Status of the server.
    pub reply: Reply,
}

/// What is known about a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    /// The directory is being queried.
    Asking,
    /// The directory has sent its list with this many servers.
    Listed(usize),
    /// The directory does not answer.
    Silent,
    /// The directory's name cannot be resolved.
    Unknown,
}

/// A server. Each round queries its addresses until one answers.
#[derive(Debug)]
struct Target {
    found: Found,
    /// The address that answered last comes first.
    remotes: Vec<SocketAddr>,
    /// Addresses that this round has not queried yet.
    attempts: Attempts,
    /// Number of rounds.
    times: u8,
    /// Number of queries that have no answer yet.
    open: usize,
}

/// A query to a server.
#[derive(Debug)]
struct Asked {
    address: Address,
    remote: SocketAddr,
    at: LocalTime,
}

/// A directory. Each round queries its addresses for a page until one answers, and that one for all
/// further pages.
#[derive(Debug)]
struct Directory {
    address: Address,
    remotes: Vec<SocketAddr>,
    /// The address that has answered.
    reached: Option<SocketAddr>,
    attempts: Attempts,
    listing: Listing,
    nonce: Nonce,
    after: u32,
    count: usize,
    times: u8,
    due: LocalTime,
}

impl Directory {
    /// Asks for the list from its start.
    fn restart(&mut self, nonce: Nonce, now: LocalTime) {
        (self.listing, self.reached) = (Listing::Asking, None);
        (self.nonce, self.after, self.count) = (nonce, 0, 0);
        self.next_page(now);
    }

    /// Asks for a page, from now on.
    fn next_page(&mut self, now: LocalTime) {
        (self.times, self.due, self.attempts) = (0, now, Attempts::new([], now));
    }

    /// Returns the address to send the next query to, if one is due.
    fn poll(&mut self, now: LocalTime) -> Option<SocketAddr> {
        if self.listing != Listing::Asking {
            return None;
        }
        if self.attempts.next_timeout().is_none() && self.due <= now {
            if self.times >= TIMES {
                self.listing = Listing::Silent;
                return None;
            }
            self.times += 1;
            self.attempts = match self.reached {
                Some(reached) => Attempts::new([reached], now),
                None => Attempts::new(self.remotes.iter().copied(), now),
            };
        }
        let remote = self.attempts.poll(now)?;
        self.due = now + PATIENCE;
        Some(remote)
    }

    fn next_timeout(&self) -> Option<LocalTime> {
        let due = self.attempts.next_timeout().unwrap_or(self.due);
        (self.listing == Listing::Asking).then_some(due)
    }
}

/// The known servers, and the queue of queries.
#[derive(Debug)]
pub struct Survey {
    random: Random,
    targets: BTreeMap<Address, Target>,
    /// Servers to query, in this order.
    queue: VecDeque<Address>,
    /// Servers with addresses that this round has not queried yet.
    racing: Vec<Address>,
    /// Queries that have no answer yet.
    asked: HashMap<Nonce, Asked>,
    directories: Vec<Directory>,
    /// Queries to the local network that are queued, and the nonce and the time of the last one.
    lan: VecDeque<SocketAddr>,
    lan_nonce: Nonce,
    lan_asked: LocalTime,
    next_send: LocalTime,
}

impl Survey {
    /// Creates an empty survey.
    pub fn new(seed: u64) -> Self {
        Self {
            random: Random::new(seed),
            targets: BTreeMap::new(),
            queue: VecDeque::new(),
            racing: Vec::new(),
            asked: HashMap::new(),
            directories: Vec::new(),
            lan: VecDeque::new(),
            lan_nonce: Nonce::default(),
            lan_asked: LocalTime(0),
            next_send: LocalTime(0),
        }
    }

    /// Returns all known servers.
    pub fn found(&self) -> impl Iterator<Item = &Found> {
        self.targets.values().map(|target| &target.found)
    }

    /// Returns all given directories.
    pub fn listings(&self) -> impl Iterator<Item = (&Address, Listing)> {
        self.directories.iter().map(|it| (&it.address, it.listing))
    }

    /// Queries a server that the player named, at these addresses until one answers. Without an
    /// address the name counts as unresolved.
    pub fn ask(&mut self, address: Address, remotes: Vec<SocketAddr>) {
        let via = Via { named: true, ..Via::default() };
        self.add(address, remotes, via, None);
    }

    /// Queries a directory for its list, at these addresses until one answers.
    pub fn browse(&mut self, address: Address, remotes: Vec<SocketAddr>, now: LocalTime) {
        if self.directories.len() >= DIRECTORIES_MAX
            || self.directories.iter().any(|it| it.address == address)
        {
            return;
        }
        let listing = if remotes.is_empty() { Listing::Unknown } else { Listing::Asking };
        let nonce = self.random.bits().to_le_bytes();
        let (reached, attempts) = (None, Attempts::new([], now));
        let (after, count, times, due) = (0, 0, 0, now);
        self.directories.push(Directory {
            address,
            remotes,
            reached,
            attempts,
            listing,
            nonce,
            after,
            count,
            times,
            due,
        });
    }

    /// Queries all hosts at these addresses, which may be broadcast addresses.
    pub fn search(&mut self, remotes: impl IntoIterator<Item = SocketAddr>) {
        self.lan_nonce = self.random.bits().to_le_bytes();
        self.lan.extend(remotes);
    }

    /// Queries all known directories and servers again.
    pub fn refresh(&mut self, now: LocalTime) {
        for directory in self.directories.iter_mut().filter(|it| !it.remotes.is_empty()) {
            directory.restart(self.random.bits().to_le_bytes(), now);
        }
        self.queue = self.targets.keys().cloned().collect();
        self.racing.clear();
        self.asked.clear();
        for target in self.targets.values_mut() {
            (target.times, target.open) = (0, 0);
        }
    }

    fn add(
        &mut self,
        address: Address,
        remotes: Vec<SocketAddr>,
        via: Via,
        listed: Option<Fingerprint>,
    ) {
        let is_full = self.targets.len() >= SERVERS_MAX;
        if let Some(Target { found, remotes: known, .. }) = self.targets.get_mut(&address) {
            found.via.named |= via.named;
            found.via.lan |= via.lan;
            found.via.directory |= via.directory;
            found.listed = listed.or(found.listed);
            if !remotes.is_empty() {
                *known = remotes;
            }
            return;
        }
        if is_full {
            return;
        }
        let reply = if remotes.is_empty() { Reply::Silent } else { Reply::Asking };
        let found = Found { address: address.clone(), via, listed, reply };
        let (attempts, times, open) = (Attempts::new([], LocalTime(0)), 0, 0);
        self.targets.insert(address.clone(), Target { found, remotes, attempts, times, open });
        self.queue.push_back(address);
    }

    /// Returns the next packet to send, if one may be sent.
    pub fn poll_transmit(&mut self, now: LocalTime) -> Option<(SocketAddr, Vec<u8>)> {
        self.give_up(now);
        if now < self.next_send {
            return None;
        }
        let transmit = self.next(now);
        if transmit.is_some() {
            self.next_send = now + APART;
        }
        transmit
    }

    fn next(&mut self, now: LocalTime) -> Option<(SocketAddr, Vec<u8>)> {
        if let Some(remote) = self.lan.pop_front() {
            self.lan_asked = now;
            return Some((remote, question(self.lan_nonce)));
        }
        for directory in &mut self.directories {
            if let Some(remote) = directory.poll(now) {
                let question = Question::List { after: directory.after };
                return Some((remote, question.encode(directory.nonce)));
            }
        }
        if self.asked.len() >= ASKED_MAX {
            return None;
        }
        let is_due = |address: &Address| {
            let target = self.targets.get(address);
            target.and_then(|it| it.attempts.next_timeout()).is_some_and(|due| due <= now)
        };
        if let Some(at) = self.racing.iter().position(is_due) {
            let address = self.racing.swap_remove(at);
            return self.question(address, now);
        }
        while let Some(address) = self.queue.pop_front() {
            let Some(target) = self.targets.get_mut(&address) else { continue };
            if target.remotes.is_empty() {
                continue;
            }
            target.times += 1;
            target.attempts = Attempts::new(target.remotes.iter().copied(), now);
            return self.question(address, now);
        }
        None
    }

    /// Returns a query to the next address of a server.
    fn question(&mut self, address: Address, now: LocalTime) -> Option<(SocketAddr, Vec<u8>)> {
        let target = self.targets.get_mut(&address)?;
        let remote = target.attempts.poll(now)?;
        let nonce = self.random.bits().to_le_bytes();
        target.open += 1;
        if target.attempts.next_timeout().is_some() {
            self.racing.push(address.clone());
        }
        self.asked.insert(nonce, Asked { address, remote, at: now });
        Some((remote, question(nonce)))
    }

    /// Repeats queries whose answer has not come, or gives up on them.
    fn give_up(&mut self, now: LocalTime) {
        let Self { targets, queue, asked, .. } = self;
        asked.retain(|_, Asked { address, at, .. }| {
            let Some(target) = targets.get_mut(address) else { return false };
            if now < *at + PATIENCE {
                return true;
            }
            target.open = target.open.saturating_sub(1);
            if target.open > 0 || target.attempts.next_timeout().is_some() {
                // Another address may still answer.
            } else if target.times < TIMES {
                queue.push_back(address.clone());
            } else {
                target.found.reply = Reply::Silent;
            }
            false
        });
    }

    /// Returns the time of the next [`poll_transmit`](Self::poll_transmit); `None` if no query is
    /// pending.
    pub fn next_timeout(&self) -> Option<LocalTime> {
        let asked = self.asked.values().map(|asked| asked.at + PATIENCE);
        let directories = self.directories.iter().filter_map(Directory::next_timeout);
        let may_ask = self.asked.len() < ASKED_MAX;
        let racing = self.racing.iter().filter(|_| may_ask);
        let racing =
            racing.filter_map(|address| self.targets.get(address)?.attempts.next_timeout());
        let sends = !self.queue.is_empty() && may_ask || !self.lan.is_empty();
        let sends = sends.then_some(self.next_send);
        let due = asked.chain(directories).chain(racing);
        due.map(|due| due.max(self.next_send)).chain(sends).min()
    }

    /// Handles a packet.
    pub fn handle_packet(&mut self, now: LocalTime, from: SocketAddr, bytes: &[u8]) {
        let from = unmapped(from);
        if let Some(nonce) = nonce_of_answer(bytes) {
            return self.handle_page(now, from, nonce, bytes);
        }
        let Some(nonce) = bytes.get(NONCE_AT..).and_then(|rest| rest.first_chunk()) else { return };
        let Ok(info) = Info::parse(bytes, *nonce) else { return };
        if *nonce == self.lan_nonce && self.lan_asked != LocalTime(0) {
            return self.handle_neighbour(now, from, info);
        }
        let Some(Asked { address, remote, at }) = self.asked.get(nonce) else { return };
        if *remote != from {
            return;
        }
        let (address, round_trip) = (address.clone(), now - *at);
        if let Some(target) = self.targets.get_mut(&address) {
            target.found.reply = Reply::Answered(Box::new(info), round_trip);
            // The next round begins with it.
            target.remotes.sort_by_key(|it| *it != from);
        }
        self.settle(&address);
    }

    /// Stops querying a server, which has answered.
    fn settle(&mut self, address: &Address) {
        if let Some(target) = self.targets.get_mut(address) {
            (target.attempts, target.open) = (Attempts::new([], LocalTime(0)), 0);
        }
        self.asked.retain(|_, asked| asked.address != *address);
        self.racing.retain(|racing| racing != address);
        self.queue.retain(|queued| queued != address);
    }

    fn handle_page(&mut self, now: LocalTime, from: SocketAddr, nonce: Nonce, bytes: &[u8]) {
        let is_asked = |it: &Directory| match it.reached {
            Some(reached) => reached == from,
            None => it.remotes.contains(&from),
        };
        let found = self
            .directories
            .iter_mut()
            .find(|it| it.nonce == nonce && it.listing == Listing::Asking && is_asked(it));
        let Some(directory) = found else { return };
        let Ok(Answer::Page { servers, next, .. }) = Answer::parse(bytes, nonce) else { return };
        directory.count += servers.len();
        directory.nonce = self.random.bits().to_le_bytes();
        directory.reached = Some(from);
        directory.remotes.sort_by_key(|it| *it != from);
        directory.next_page(now);
        // A list that does not advance, or is too long to read, ends here.
        match next.filter(|next| *next > directory.after && directory.count < SERVERS_MAX) {
            Some(next) => directory.after = next,
            None => directory.listing = Listing::Listed(directory.count),
        }
        for listed in servers {
            let remote = listed.address(from);
            let via = Via { directory: true, ..Via::default() };
            self.add(remote.into(), vec![remote], via, Some(listed.fingerprint));
        }
    }

    /// Handles a server on the local network. A server with several addresses is known by one of
    /// them, one that others can use too.
    fn handle_neighbour(&mut self, now: LocalTime, from: SocketAddr, info: Info) {
        let is_same = |target: &&Target| {
            let Reply::Answered(known, _) = &target.found.reply else { return false };
            let same_port = target.remotes.first().is_some_and(|it| it.port() == from.port());
            let other = !target.remotes.contains(&from);
            target.found.via.lan
                && other
                && same_port
                && info.fingerprint.is_some()
                && known.fingerprint == info.fingerprint
        };
        let same = self.targets.values().find(is_same);
        if let Some(same) = same.map(|target| target.found.address.clone()) {
            if from.ip().is_loopback() {
                return;
            }
            if let Some(target) = self.targets.get_mut(&same) {
                target.found.via.lan = false;
                if target.found.via == Via::default() {
                    self.targets.remove(&same);
                }
            }
        }
        let round_trip = now - self.lan_asked;
        let via = Via { lan: true, ..Via::default() };
        self.add(from.into(), vec![from], via, None);
        if let Some(target) = self.targets.get_mut(&from.into()) {
            target.found.reply = Reply::Answered(Box::new(info), round_trip);
        }
        self.settle(&from.into());
    }
}

/// Returns the addresses at which servers on the local network are searched: the broadcast address,
/// and loopback for this machine.
pub fn neighbours() -> impl Iterator<Item = SocketAddr> {
    let everybody = [Ipv4Addr::BROADCAST, Ipv4Addr::LOCALHOST];
    LAN_PORTS.flat_map(move |port| everybody.map(|ip| SocketAddr::from((ip, port))))
}
