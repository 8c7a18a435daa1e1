//! Places for connections: a limited number in total, few of them for connections without a hello,
//! and limited seats for each address and network.
//!
//! Early connections never lock out later ones: if there are too many newcomers, the oldest one of
//! the network with the most has to go.

mod moves;

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use phaselock::server::ClientId;
use phaselock::wire::disconnect::{Code, Disconnect};

use super::buckets::{Bucket, Buckets, Crowd, Kind, crowds, own};
use super::doorkeeper::moment;
use super::tally::{Refusal, Tally};
use crate::doorkeeping::{Doorkeeping, HOST_LIMIT, is_host};

/// Number of places reserved for this machine, in addition to the others.
const HOST_PLACES: usize = 64;
/// Number of connections that have said hello and are not in a game yet, or are being sent away:
/// half of the spare places.
const GREETED_MAX: usize = 128;
/// Age up to which a newcomer is not evicted, unless its network has more than its share: two round
/// trips to the other side of the world.
const YOUNG: Duration = Duration::from_millis(400);
/// A network's share is the number of newcomers' places divided by this.
const SHARES: usize = 8;

/// A connection without a hello.
#[derive(Debug)]
struct Newcomer {
    client: ClientId,
    /// Address or network of the connection.
    own: IpAddr,
    is_host: bool,
    /// Whether its address is proven, so that the packets cannot be forged.
    is_proven: bool,
    since: Instant,
}

/// Places in use.
#[derive(Debug)]
pub(super) struct Places {
    doorkeeping: Doorkeeping,
    max: usize,
    taken: usize,
    /// Oldest first.
    newcomers: Vec<Newcomer>,
    greeted: usize,
    /// Number of connections that play or watch.
    seated: HashMap<Crowd, u16>,
    /// The start of its time.
    start: Instant,
    hellos: Buckets,
    total: Bucket,
    host: Bucket,
    tally: Tally,
    /// Proven addresses of strangers whose connections said nothing, since the last check.
    silent: Vec<IpAddr>,
}

/// The places of a server, shared by its threads.
#[derive(Clone, Debug)]
pub(super) struct SharedPlaces(Arc<Mutex<Places>>);

impl SharedPlaces {
    /// Creates `max` places; `secret` keeps strangers from choosing addresses that share a bucket.
    pub(super) fn new(max: usize, doorkeeping: Doorkeeping, secret: u64, start: Instant) -> Self {
        let newcomers = Vec::with_capacity(2 * usize::from(doorkeeping.newcomers_max));
        Self(Arc::new(Mutex::new(Places {
            doorkeeping,
            max,
            taken: 0,
            newcomers,
            greeted: 0,
            seated: HashMap::new(),
            start,
            hellos: Buckets::new(secret),
            total: Bucket::default(),
            host: Bucket::default(),
            tally: Tally::default(),
            silent: Vec::new(),
        })))
    }

    /// Increases the number of places to at least `max`.
    pub(super) fn widen(&self, max: usize) {
        let mut places = self.lock();
        places.max = places.max.max(max);
    }

    /// Limits the number of connections from one address that may play. No one is disconnected.
    pub(super) fn limit_seats(&self, per_address: u16) {
        self.lock().doorkeeping.seats_per_address = per_address;
    }

    /// Locks the places for a moment.
    pub(super) fn lock(&self) -> MutexGuard<'_, Places> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a place for a newcomer, whose address is proven or may be forged.
    pub(super) fn enter(
        &self,
        client: ClientId,
        address: IpAddr,
        is_proven: bool,
        now: Instant,
    ) -> Entry {
        let mut places = self.lock();
        let is_host = is_host(address);
        let max = places.max + if is_host { HOST_PLACES } else { 0 };
        let is_full = places.taken >= max;
        let mut evicted = None;
        if is_full || places.newcomers(is_host) >= usize::from(places.doorkeeping.newcomers_max) {
            evicted = places.evict(is_host, now);
            if evicted.is_none() {
                return if is_full { Entry::Full } else { Entry::Later };
            }
        }
        let until = now + places.patience(is_host);
        let own = own(address);
        places.taken += 1;
        places.newcomers.push(Newcomer { client, own, is_host, is_proven, since: now });
        drop(places);
        let (places, stage) = (self.clone(), Stage::Knocking);
        let place = Place { places, client, own, is_host, stage, seat: None };
        Entry::Place { place, until, evicted }
    }
}

/// Answer to a newcomer.
#[derive(Debug)]
pub(super) enum Entry {
    /// A place, the time by which it must say hello, and the connection that was evicted for it.
    Place { place: Place, until: Instant, evicted: Option<ClientId> },
    /// No place yet: all newcomers have just come.
    Later,
    /// No place: all are in use, and not by newcomers.
    Full,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// No hello has come, or it was refused.
    Knocking,
    /// The hello has come, and the welcome was not sent yet.
    Greeted,
    /// In a game.
    Welcomed,
}

/// A connection's place, until it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    places: SharedPlaces,
    client: ClientId,
    own: IpAddr,
    is_host: bool,
    stage: Stage,
    /// The address or network that its seat counts for, if it plays or watches.
    seat: Option<IpAddr>,
}

/// What a first message asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    /// The message is not a hello.
    Nothing,
    /// A new seat.
    NewSeat,
    /// The player's own seat, over a connection that may linger for a moment.
    OwnSeat,
}

impl Place {
    /// Whether its client is waiting for a welcome.
    pub(super) fn is_greeted(&self) -> bool {
        self.stage == Stage::Greeted
    }

    /// Handles a first message and what it asks for. Fails with a goodbye if there are too many; a
    /// refused newcomer is the first to be evicted when another needs the place.
    pub(super) fn greet(&mut self, now: Instant, wish: Wish) -> Result<(), Disconnect> {
        let mut places = self.places.lock();
        let moment = moment(places.start, now);
        let has_seat = wish != Wish::Nothing && !self.is_host;
        let busy = |text| Err(Disconnect::new(Code::Full, text));
        if places.greeted >= GREETED_MAX || !places.may_greet(moment, self.own, self.is_host) {
            places.tally.count(Refusal::Joins);
            return busy("too many players are joining at once; try again later".to_owned());
        }
        if has_seat {
            let full = places.full_crowd(self.own).filter(|_| wish == Wish::NewSeat);
            if let Some((whose, max)) = full {
                places.tally.count(Refusal::Seats);
                return busy(format!("{max} of {max} players from your {whose} are already here"));
            }
            places.take_seat(self.own);
        }
        places.newcomers.retain(|newcomer| newcomer.client != self.client);
        places.greeted += 1;
        (self.stage, self.seat) = (Stage::Greeted, has_seat.then_some(self.own));
        Ok(())
    }

    /// Notes that its client has completed the handshake, which proves its address.
    pub(super) fn prove(&self) {
        let mut places = self.places.lock();
        let mut newcomers = places.newcomers.iter_mut();
        if let Some(newcomer) = newcomers.find(|newcomer| newcomer.client == self.client) {
            newcomer.is_proven = true;
        }
    }

    /// Notes that no hello came in time.
    pub(super) fn count_silence(&self) {
        let mut places = self.places.lock();
        places.tally.count(Refusal::Hellos);
        let mut newcomers = places.newcomers.iter();
        let is_proven = newcomers.any(|it| it.client == self.client && it.is_proven);
        if is_proven && !self.is_host {
            places.silent.push(self.own);
        }
    }

    /// Notes that its client is in a game.
    pub(super) fn welcome(&mut self) {
        if self.is_greeted() {
            self.places.lock().greeted -= 1;
            self.stage = Stage::Welcomed;
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.welcome();
        let mut places = self.places.lock();
        places.newcomers.retain(|newcomer| newcomer.client != self.client);
        places.taken -= 1;
        if let Some(seat) = self.seat {
            places.leave_seat(seat);
        }
    }
}

impl Places {
    /// Whether the number of strangers waiting to say hello requires proof of addresses.
    pub(super) fn is_crowded(&self) -> bool {
        self.newcomers(false) >= usize::from(self.doorkeeping.newcomers_max / 4)
    }

    /// Takes the proven addresses of strangers whose connections said nothing since the last call.
    /// There are no more of them than newcomers. A forged address's silence is not its owner's.
    pub(super) fn take_silent(&mut self) -> Vec<IpAddr> {
        std::mem::take(&mut self.silent)
    }

    /// Takes the refusals since the last call.
    pub(super) fn take_tally(&mut self) -> Tally {
        std::mem::take(&mut self.tally)
    }

    /// Returns the first of an address's crowds whose seats are all taken, by name, and their
    /// number.
    fn full_crowd(&self, own: IpAddr) -> Option<(&'static str, u16)> {
        let (names, limits) = (["address", "network", "network"], self.doorkeeping.seats());
        let seated = |crowd: &Crowd| self.seated.get(crowd).copied().unwrap_or_default();
        let mut crowds = crowds(own);
        let full = crowds.find(|crowd| seated(crowd) >= limits[crowd.0]);
        full.map(|(level, _)| (names[level], limits[level]))
    }

    fn newcomers(&self, is_host: bool) -> usize {
        self.newcomers.iter().filter(|newcomer| newcomer.is_host == is_host).count()
    }

    /// Returns the time for a hello.
    fn patience(&self, is_host: bool) -> Duration {
        let half = usize::from(self.doorkeeping.newcomers_max / 2);
        match self.newcomers(is_host) < half {
            true => self.doorkeeping.hello_timeout,
            false => self.doorkeeping.hello_timeout_crowded,
        }
    }

    fn may_greet(&mut self, now: u64, address: IpAddr, is_host: bool) -> bool {
        if is_host {
            return self.host.take(now, HOST_LIMIT, 0);
        }
        let limits = self.doorkeeping.hellos;
        let used = self.hellos.take(now, Kind::Hello, address, &limits);
        used.is_some_and(|used| self.total.take(now, limits.total, used))
    }

    /// Returns the newcomer to evict: the oldest one of the network with the most. `None` if it has
    /// just come, from a network with no more than its share.
    fn evict(&mut self, is_host: bool, now: Instant) -> Option<ClientId> {
        let alike = || self.newcomers.iter().filter(|newcomer| newcomer.is_host == is_host);
        let crowd = |of: &Newcomer| alike().filter(|other| other.own == of.own).count();
        // Among equals, `max_by_key` takes the last one: the oldest, in reverse.
        let (count, newcomer) = alike().rev().map(|it| (crowd(it), it)).max_by_key(|it| it.0)?;
        let share = usize::from(self.doorkeeping.newcomers_max).div_ceil(SHARES);
        let is_young = now.saturating_duration_since(newcomer.since) < YOUNG;
        if is_young && count <= share {
            return None;
        }
        let (client, own, is_proven) = (newcomer.client, newcomer.own, newcomer.is_proven);
        if is_proven && !is_host {
            self.silent.push(own);
        }
        self.newcomers.retain(|newcomer| newcomer.client != client);
        self.tally.count(Refusal::Places);
        Some(client)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STRANGER: [u8; 3] = [192, 0, 2];

    fn address(last: u8) -> IpAddr {
        IpAddr::from([STRANGER[0], STRANGER[1], STRANGER[2], last])
    }

    /// The places of a server, and those in use.
    struct Held {
        places: SharedPlaces,
        start: Instant,
        next: u64,
        held: Vec<Place>,
    }

    impl Held {
        fn new(max: usize) -> Self {
            let doorkeeping =
                Doorkeeping { newcomers_max: 8, seats_per_address: 2, ..Doorkeeping::default() };
            let start = Instant::now();
            let places = SharedPlaces::new(max, doorkeeping, 1, start);
            Self { places, start, next: 0, held: Vec::new() }
        }

        fn at(&self, ms: u64) -> Instant {
            self.start + Duration::from_millis(ms)
        }

        /// Returns the evicted connection, or an error if there is no place.
        fn enter(&mut self, address: IpAddr, ms: u64) -> Result<Option<u64>, &'static str> {
            self.next += 1;
            match self.places.enter(ClientId(self.next), address, true, self.at(ms)) {
                Entry::Place { place, evicted, .. } => {
                    self.held.retain(|held| Some(held.client) != evicted);
                    self.held.push(place);
                    Ok(evicted.map(|client| client.0))
                }
                Entry::Later => Err("later"),
                Entry::Full => Err("full"),
            }
        }
    }

    #[test]
    fn oldest_newcomer_of_the_fullest_network_makes_place() {
        let mut held = Held::new(99);
        for (ms, last) in (0..).zip([1, 2, 2, 3, 3, 3, 4, 4]) {
            assert_eq!(held.enter(address(last), ms), Ok(None));
        }
        // 4 is the oldest of the three from one address, though 1 has been here longer.
        assert_eq!(held.enter(address(5), 10), Ok(Some(4)));
        let held_clients: Vec<_> = held.held.iter().map(|place| place.client.0).collect();
        assert_eq!(held_clients, [1, 2, 3, 5, 6, 7, 8, 9]);
    }

    #[test]
    fn newcomers_who_have_just_come_are_not_put_out_by_others_of_their_time() {
        let mut held = Held::new(99);
        for last in 1..=8 {
            assert_eq!(held.enter(address(last), 100), Ok(None));
        }
        assert_eq!(held.enter(address(9), 499), Err("later"));
        assert_eq!(held.enter(address(9), 500), Ok(Some(1)), "the oldest");
        assert_eq!(held.enter(address(2), 500), Ok(Some(2)), "next");
    }

    #[test]
    fn places_are_kept_for_this_machine() {
        let mut held = Held::new(8);
        for last in 1..=8 {
            held.enter(address(last), 0).expect("a place");
            held.held.last_mut().expect("one").greet(held.start, Wish::Nothing).expect("welcome");
        }
        assert_eq!(held.enter(address(9), 9000), Err("full"));
        let host = IpAddr::from([127, 0, 0, 1]);
        assert_eq!(held.enter(host, 9000), Ok(None));
        held.held.clear();
        let places = held.places.lock();
        assert_eq!((places.taken, places.greeted, places.newcomers.len()), (0, 0, 0));
    }

    #[test]
    fn addresses_have_limited_seats_and_get_them_back() {
        let mut held = Held::new(99);
        let now = held.start;
        let greet = |held: &mut Held, wish| {
            held.enter(address(1), 0).expect("a place");
            held.held.last_mut().expect("one").greet(now, wish).map_err(|it| it.code)
        };
        assert_eq!(greet(&mut held, Wish::NewSeat), Ok(()));
        assert_eq!(greet(&mut held, Wish::NewSeat), Ok(()));
        assert_eq!(greet(&mut held, Wish::NewSeat), Err(Code::Full), "two may play");
        assert_eq!(greet(&mut held, Wish::Nothing), Ok(()), "and others ask for no seat");
        assert_eq!(greet(&mut held, Wish::OwnSeat), Ok(()), "and one is back");
        held.held.truncate(1);
        assert_eq!(greet(&mut held, Wish::NewSeat), Ok(()), "one has left");
        held.held.clear();
        assert_eq!(held.places.lock().seated.len(), 0);
    }

    #[test]
    fn seats_count_where_their_players_are_now() {
        let mut held = Held::new(99);
        assert_eq!(seats(&mut held, address(1), 3), 2);
        let elsewhere = IpAddr::from([198, 51, 100, 1]);
        held.held[0].relocate(elsewhere);
        assert_eq!(seats(&mut held, address(1), 3), 1, "one has moved away");
        assert_eq!(seats(&mut held, elsewhere, 3), 1, "and has a seat there");
        held.held[0].relocate(address(1));
        assert_eq!(seats(&mut held, address(1), 1), 0, "no one is evicted, and no one gets in");
        assert_eq!(
            seats(&mut held, elsewhere, 1),
            0,
            "an address with all seats taken cannot take over a seat"
        );
        held.held.remove(1);
        assert_eq!(seats(&mut held, address(1), 2), 1, "one has left");
        held.held[0].relocate(IpAddr::from([203, 0, 113, 1]));
        assert_eq!(seats(&mut held, elsewhere, 2), 1, "there is finally space for the seat");
        held.held.clear();
        assert_eq!(held.places.lock().seated.len(), 0);
    }

    /// Returns how many attempts from an address get a seat; these are kept.
    fn seats(held: &mut Held, address: IpAddr, attempts: usize) -> usize {
        let now = held.start;
        let sit = |_: &usize| {
            held.enter(address, 0).expect("a place");
            let is_in = held.held.last_mut().expect("one").greet(now, Wish::NewSeat).is_ok();
            if !is_in {
                held.held.pop();
            }
            is_in
        };
        (0..attempts).filter(sit).count()
    }

    fn v6(network: u128) -> IpAddr {
        std::net::Ipv6Addr::from_bits((0x2001_0db8 << 96) | network << 64 | 1).into()
    }

    #[test]
    fn networks_have_limited_seats_for_any_number_of_addresses() {
        let mut held = Held::new(99);
        // The first eight networks of a /56, then others of its /48.
        let of_56 = (0..8).map(|it| seats(&mut held, v6(0x1_00_00 + it), 3)).collect::<Vec<_>>();
        assert_eq!(of_56, [2, 2, 0, 0, 0, 0, 0, 0]);
        assert_eq!(seats(&mut held, v6(0x1_01_00), 3), 2, "another /56");
        assert_eq!(seats(&mut held, v6(0x1_02_00), 3), 2);
        assert_eq!(seats(&mut held, v6(0x1_03_00), 3), 0, "the /48 has 8");
        assert_eq!(seats(&mut held, v6(0x2_00_00), 3), 2, "another /48");
        let of_24 = (1..5).map(|last| seats(&mut held, address(last), 3)).sum::<usize>();
        assert_eq!(of_24, 4);
        held.held.remove(0);
        assert_eq!(seats(&mut held, v6(0x1_00_07), 3), 1, "one has left");
        held.held.clear();
        assert_eq!(held.places.lock().seated.len(), 0);
    }

    #[test]
    fn seats_of_this_machine_and_of_a_local_network_are_not_counted_together() {
        let mut held = Held::new(99);
        for local in ["192.168.1.", "10.0.0.", "169.254.7.", "fe80::", "fd91::"] {
            let addresses = (1..5).map(|last| format!("{local}{last}").parse().expect("one"));
            let seated: usize = addresses.map(|address| seats(&mut held, address, 3)).sum();
            assert_eq!(seated, 8, "{local}: two each");
        }
        for host in ["127.0.0.1", "::1", "::ffff:127.0.0.1"] {
            assert_eq!(seats(&mut held, host.parse().expect("an address"), 9), 9);
        }
        assert!(held.places.lock().seated.keys().all(|(level, _)| *level == 0));
    }

    #[test]
    fn hellos_of_an_address_are_bounded_and_this_machines_are_its_own() {
        let mut held = Held::new(9999);
        let greet = |held: &mut Held, address| {
            held.enter(address, 0).expect("a place");
            let mut place = held.held.pop().expect("one");
            place.greet(held.start, Wish::Nothing).is_ok()
        };
        let of_one = (0..99).filter(|_| greet(&mut held, address(1))).count();
        assert!((20..=32).contains(&of_one), "{of_one}: the burst, or what all have of it");
        assert!(greet(&mut held, address(2)), "another client's hello");
        for last in 3..=255 {
            for _ in 0..99 {
                greet(&mut held, address(last));
            }
        }
        assert!(!greet(&mut held, address(1)));
        assert!(greet(&mut held, [127, 0, 0, 1].into()));
        assert_eq!(held.places.lock().take_tally().of(Refusal::Places), 0);
    }
}
