//! Looks for servers and asks them for their status: many at once, at a bounded rate. The state
//! machine; [`Surveyor`] drives it on a thread of its own.
//!
//! Servers are named by the player, found on the local network by a question to everybody, or told
//! by a directory. Call [`poll_transmit`](Survey::poll_transmit) until it has nothing more, then
//! again at [`next_timeout`](Survey::next_timeout); give it what comes.

mod driver;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use phaselock::fingerprint::Fingerprint;
use phaselock::random::Random;
use phaselock::time::{LocalTime, Micros};
use phaselock::wire::directory::{Answer, Listed, Question, nonce_of_answer};
use phaselock::wire::query::{Info, Nonce, question};

pub use self::driver::{Surveyor, View, Wanted};
use crate::address::{Address, DEFAULT_PORT};

/// Servers that are known at a time; more are not taken in. Arbitrary: a screen of a list that
/// nobody reads to its end.
pub const SERVERS_MAX: usize = 2048;
/// Directories that are asked. Arbitrary.
pub const DIRECTORIES_MAX: usize = 16;
/// Ports of the local network at which servers are looked for: the default, and those that a server
/// takes when that is taken.
pub const LAN_PORTS: std::ops::Range<u16> = DEFAULT_PORT..DEFAULT_PORT + 8;
/// Servers that are asked at a time, and the time from one question to the next: 80 kB/s.
const ASKED_MAX: usize = 32;
const APART: Micros = Micros::from_ms(15);
/// Time for an answer, and times that a server is asked.
const PATIENCE: Micros = Micros::from_ms(900);
const TIMES: u8 = 3;
/// Bytes before a nonce.
const NONCE_AT: usize = 11;

/// Ways by which a server became known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Via {
    /// The player named it.
    pub named: bool,
    /// The server is on the local network.
    pub lan: bool,
    /// A directory lists it.
    pub directory: bool,
}

/// Knowledge of a server's status.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// The server is being asked.
    Asking,
    /// Its answer, and the time that it took.
    Told(Box<Info>, Micros),
    /// The server does not answer.
    Silent,
}

/// A server that is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Its address.
    pub address: Address,
    /// Ways by which it became known.
    pub via: Via,
    /// Fingerprint of its certificate, by a directory that had it proven.
    pub listed: Option<Fingerprint>,
    /// Its status.
    pub reply: Reply,
}

/// Knowledge of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    /// The directory is being asked.
    Asking,
    /// The directory has told its list of so many.
    Told(usize),
    /// The directory does not answer.
    Silent,
    /// Its name leads nowhere.
    Unknown,
}

#[derive(Debug)]
struct Target {
    found: Found,
    remote: Option<SocketAddr>,
    nonce: Nonce,
    times: u8,
    asked: LocalTime,
}

#[derive(Debug)]
struct Directory {
    address: Address,
    remote: Option<SocketAddr>,
    listing: Listing,
    nonce: Nonce,
    after: u32,
    count: usize,
    times: u8,
    due: LocalTime,
}

/// Servers, and who is asked next.
#[derive(Debug)]
pub struct Survey {
    random: Random,
    targets: BTreeMap<Address, Target>,
    /// Servers to ask, in this order.
    queue: VecDeque<Address>,
    /// Questions that have no answer yet.
    asked: HashMap<Nonce, Address>,
    directories: Vec<Directory>,
    /// Questions to the local network that wait, and the nonce and the time of the last one.
    lan: VecDeque<SocketAddr>,
    lan_nonce: Nonce,
    lan_asked: LocalTime,
    next_send: LocalTime,
}

impl Survey {
    /// Nothing known yet.
    pub fn new(seed: u64) -> Self {
        Self {
            random: Random::new(seed),
            targets: BTreeMap::new(),
            queue: VecDeque::new(),
            asked: HashMap::new(),
            directories: Vec::new(),
            lan: VecDeque::new(),
            lan_nonce: Nonce::default(),
            lan_asked: LocalTime(0),
            next_send: LocalTime(0),
        }
    }

    /// All servers that are known.
    pub fn found(&self) -> impl Iterator<Item = &Found> {
        self.targets.values().map(|target| &target.found)
    }

    /// All directories that were given.
    pub fn listings(&self) -> impl Iterator<Item = (&Address, Listing)> {
        self.directories.iter().map(|it| (&it.address, it.listing))
    }

    /// Asks a server that the player named. Without a remote its name leads nowhere.
    pub fn ask(&mut self, address: Address, remote: Option<SocketAddr>) {
        let via = Via { named: true, ..Via::default() };
        self.add(address, remote, via, None);
    }

    /// Asks a directory for its list.
    pub fn browse(&mut self, address: Address, remote: Option<SocketAddr>, now: LocalTime) {
        if self.directories.len() >= DIRECTORIES_MAX
            || self.directories.iter().any(|it| it.address == address)
        {
            return;
        }
        let listing = if remote.is_some() { Listing::Asking } else { Listing::Unknown };
        let nonce = self.random.bits().to_le_bytes();
        let (after, count, times, due) = (0, 0, 0, now);
        let directory = Directory { address, remote, listing, nonce, after, count, times, due };
        self.directories.push(directory);
    }

    /// Asks everybody at these addresses, among them those of whole networks.
    pub fn search(&mut self, remotes: impl IntoIterator<Item = SocketAddr>) {
        self.lan_nonce = self.random.bits().to_le_bytes();
        self.lan.extend(remotes);
    }

    /// Asks every directory and every server that is known again.
    pub fn refresh(&mut self, now: LocalTime) {
        for directory in self.directories.iter_mut().filter(|it| it.remote.is_some()) {
            directory.nonce = self.random.bits().to_le_bytes();
            (directory.listing, directory.due) = (Listing::Asking, now);
            (directory.after, directory.count, directory.times) = (0, 0, 0);
        }
        self.queue = self.targets.keys().cloned().collect();
        self.asked.clear();
        for target in self.targets.values_mut() {
            target.times = 0;
        }
    }

    fn add(
        &mut self,
        address: Address,
        remote: Option<SocketAddr>,
        via: Via,
        listed: Option<Fingerprint>,
    ) {
        let is_full = self.targets.len() >= SERVERS_MAX;
        if let Some(Target { found, remote: known, .. }) = self.targets.get_mut(&address) {
            found.via.named |= via.named;
            found.via.lan |= via.lan;
            found.via.directory |= via.directory;
            found.listed = listed.or(found.listed);
            *known = remote.or(*known);
            return;
        }
        if is_full {
            return;
        }
        let reply = if remote.is_some() { Reply::Asking } else { Reply::Silent };
        let found = Found { address: address.clone(), via, listed, reply };
        let (nonce, times, asked) = (Nonce::default(), 0, LocalTime(0));
        self.targets.insert(address.clone(), Target { found, remote, nonce, times, asked });
        self.queue.push_back(address);
    }

    /// The next packet to send, if one may be sent.
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
            let Some(remote) = directory.remote else { continue };
            if directory.listing != Listing::Asking || directory.due > now {
                continue;
            }
            if directory.times >= TIMES {
                directory.listing = Listing::Silent;
                continue;
            }
            (directory.times, directory.due) = (directory.times + 1, now + PATIENCE);
            let question = Question::List { after: directory.after };
            return Some((remote, question.encode(directory.nonce)));
        }
        while self.asked.len() < ASKED_MAX {
            let address = self.queue.pop_front()?;
            let Some(target) = self.targets.get_mut(&address) else { continue };
            let Some(remote) = target.remote else { continue };
            target.nonce = self.random.bits().to_le_bytes();
            (target.times, target.asked) = (target.times + 1, now);
            self.asked.insert(target.nonce, address);
            return Some((remote, question(target.nonce)));
        }
        None
    }

    /// Asks those again whose answer has not come, or gives them up.
    fn give_up(&mut self, now: LocalTime) {
        let Self { targets, queue, asked, .. } = self;
        asked.retain(|_, address| {
            let Some(target) = targets.get_mut(address) else { return false };
            if now < target.asked + PATIENCE {
                return true;
            }
            if target.times < TIMES {
                queue.push_back(address.clone());
            } else {
                target.found.reply = Reply::Silent;
            }
            false
        });
    }

    /// Time of the next [`poll_transmit`](Self::poll_transmit); none if nothing is under way.
    pub fn next_timeout(&self) -> Option<LocalTime> {
        let asked = self.asked.values().filter_map(|it| self.targets.get(it));
        let directories =
            self.directories.iter().filter(|it| it.listing == Listing::Asking).map(|it| it.due);
        let may_ask = !self.queue.is_empty() && self.asked.len() < ASKED_MAX;
        let sends = (may_ask || !self.lan.is_empty()).then_some(self.next_send);
        let due = asked.map(|target| target.asked + PATIENCE).chain(directories);
        due.map(|due| due.max(self.next_send)).chain(sends).min()
    }

    /// Takes in a packet.
    pub fn handle_packet(&mut self, now: LocalTime, from: SocketAddr, bytes: &[u8]) {
        let from = SocketAddr::new(from.ip().to_canonical(), from.port());
        if let Some(nonce) = nonce_of_answer(bytes) {
            return self.handle_page(now, from, nonce, bytes);
        }
        let Some(nonce) = bytes.get(NONCE_AT..).and_then(|rest| rest.first_chunk()) else { return };
        let Ok(info) = Info::parse(bytes, *nonce) else { return };
        if *nonce == self.lan_nonce && self.lan_asked != LocalTime(0) {
            return self.handle_neighbour(now, from, info);
        }
        let Some(target) = self.asked.get(nonce).and_then(|it| self.targets.get_mut(it)) else {
            return;
        };
        if target.remote != Some(from) {
            return;
        }
        target.found.reply = Reply::Told(Box::new(info), now - target.asked);
        self.asked.remove(nonce);
    }

    fn handle_page(&mut self, now: LocalTime, from: SocketAddr, nonce: Nonce, bytes: &[u8]) {
        let found = self.directories.iter_mut().find(|it| {
            it.nonce == nonce && it.remote == Some(from) && it.listing == Listing::Asking
        });
        let Some(directory) = found else { return };
        let Ok(Answer::Page { servers, next, .. }) = Answer::parse(bytes, nonce) else { return };
        directory.count += servers.len();
        directory.nonce = self.random.bits().to_le_bytes();
        (directory.times, directory.due) = (0, now);
        // A list that does not go on, or that nobody could read, ends here.
        match next.filter(|next| *next > directory.after && directory.count < SERVERS_MAX) {
            Some(next) => directory.after = next,
            None => directory.listing = Listing::Told(directory.count),
        }
        for Listed { ip, port, fingerprint } in servers {
            let remote = SocketAddr::new(IpAddr::from(ip).to_canonical(), port);
            let via = Via { directory: true, ..Via::default() };
            self.add(remote.into(), Some(remote), via, Some(fingerprint));
        }
    }

    /// A server of the local network. One with several addresses is known by one of them, and that
    /// is one that others can use too.
    fn handle_neighbour(&mut self, now: LocalTime, from: SocketAddr, info: Info) {
        let is_same = |target: &&Target| {
            let Reply::Told(known, _) = &target.found.reply else { return false };
            let same_port = target.remote.is_some_and(|it| it.port() == from.port());
            let other = target.remote != Some(from);
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
        self.add(from.into(), Some(from), via, None);
        if let Some(target) = self.targets.get_mut(&from.into()) {
            target.found.reply = Reply::Told(Box::new(info), round_trip);
        }
        let known = Address::from(from);
        self.queue.retain(|address| *address != known);
    }
}

/// Addresses at which servers of the local network are looked for: everybody's, and this machine's
/// own, which nobody else hears.
pub fn neighbours() -> impl Iterator<Item = SocketAddr> {
    let everybody = [Ipv4Addr::BROADCAST, Ipv4Addr::LOCALHOST];
    LAN_PORTS.flat_map(move |port| everybody.map(|ip| SocketAddr::from((ip, port))))
}
