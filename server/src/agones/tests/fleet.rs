//! A fleet in virtual time: 200 servers and 5000 players, through growth, a rush, the loss of a
//! node, restarts of the directory, the drain of a node, and an evening's end.
//!
//! The players' searches, the directory, the searches of servers that drain, and each server's
//! dealings with its sidecar are the real state machines. The allocator, the autoscaler and the
//! cluster are models of what Agones documents.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::SocketAddr;
use std::time::Duration;

use phaselock::address::Address;
use phaselock::identity::PublicKey;
use phaselock::time::{LocalTime, Micros};
use phaselock::wire::directory::play::PartyWish;
use phaselock::wire::query::{Info, parse_question};
use phaselock_directory::core::{
    Allocate, AllocatedServer, Allocators, Bounds, NotAllocated, ServerList, Transmit,
};
use phaselock_quic::announce::{Placer, PlacesWish};
use phaselock_quic::fleet::FleetKey;
use phaselock_quic::identity::Identity;
use phaselock_quic::seek::{SeekState, SeekWish, Seeker};

use super::super::core::Order;
use super::World;

/// Seats of a room, and rooms of a server.
const ROOM: u32 = 16;
const ROOMS: u32 = 2;
const SEATS: u32 = ROOM * ROOMS;
/// Servers on a node, and in all.
const PER_NODE: u32 = 10;
const PODS_MAX: usize = 200;
/// Time until a server that was started is up, for an allocation, and for a packet one way.
const START: Micros = Micros::from_ms(4000);
const ALLOCATION: Micros = Micros::from_ms(60);
const TRANSIT: Micros = Micros::from_ms(20);
/// Time in which a player joins a server.
const JOIN: Micros = Micros::from_ms(700);
/// Time after which a player notices that a server is gone.
const NOTICE: Micros = Micros::from_ms(3000);
/// Interval of the autoscaler, and rooms that it keeps free: a fifth, and at least this number.
const SCALE: Micros = Micros::from_ms(10_000);
const ROOMS_MIN: u32 = 80;
/// Time for which a server that drains waits for places, as a room does.
const SEE_OFF_TIMEOUT: Micros = Micros::from_ms(2000);
/// How far the port from which a server asks the directory lies above that of its players.
const ASKERS: u16 = 20_000;
/// Step of the simulation, and of each server's agent.
const STEP: Micros = Micros::from_ms(50);
const AGENT_STEPS: u32 = 5;

fn directory_at() -> SocketAddr {
    SocketAddr::from(([192, 0, 2, 1], 4435))
}

/// Returns the address from which a server asks the directory.
fn asker_of(server: SocketAddr) -> SocketAddr {
    SocketAddr::new(server.ip(), server.port() + ASKERS)
}

/// A server in its pod.
struct Pod {
    node: u32,
    up_at: LocalTime,
    world: World,
    players: BTreeSet<u32>,
    /// Whether it drains.
    drains: Option<Drain>,
    is_ending: bool,
}

/// A server that moves its players.
struct Drain {
    placer: Placer,
    /// Number of places that players were sent to.
    used: usize,
    /// When those who are left lose their seats.
    until: LocalTime,
}

impl Pod {
    fn new(node: u32, up_at: LocalTime, identity: &Identity) -> Self {
        let mut world = World::new();
        let server = &mut world.server;
        (server.is_ticking, server.seats, server.rooms_max) = (false, SEATS, ROOMS);
        server.empty_secs = 15;
        server.labels = [("game", "race".to_owned())].into();
        server.annotations = [("fingerprint", identity.fingerprint.to_string())].into();
        world.model.define(ROOMS.into(), SEATS.into());
        let (players, drains, is_ending) = (BTreeSet::new(), None, false);
        Self { node, up_at, world, players, drains, is_ending }
    }

    fn is_up(&self, now: LocalTime) -> bool {
        now >= self.up_at && !self.is_ending
    }

    fn taken(&self) -> u32 {
        u32::try_from(self.players.len()).expect("few")
    }

    fn free(&self) -> u32 {
        if self.drains.is_some() { 0 } else { SEATS - self.taken() }
    }

    fn info(&self, identity: &Identity) -> Info {
        Info {
            games: vec!["race".into()],
            players: self.taken(),
            players_max: SEATS,
            free: Some(self.free()),
            fingerprint: Some(identity.fingerprint),
            region: "europe".into(),
            ..Info::default()
        }
    }

    /// Lets the server look at itself, and its agent act.
    fn step(&mut self, now: LocalTime) {
        let (taken, is_up) = (self.taken(), self.is_up(now));
        let server = &mut self.world.server;
        server.is_ticking = is_up;
        server.is_draining = self.drains.is_some();
        (server.present, server.rooms) = (taken, taken.div_ceil(ROOM));
        server.keys = self.players.iter().map(|id| key(*id)).collect();
        self.world.now = Duration::from_micros(now.0.unsigned_abs());
        self.world.step();
        self.world.calls.clear();
        self.world.notes.clear();
        let stops = std::mem::take(&mut self.world.orders).contains(&Order::Stop);
        if stops && self.players.is_empty() {
            self.end();
        }
    }

    fn end(&mut self) {
        self.is_ending = true;
        self.world.agent.end(self.world.now);
    }
}

fn key(id: u32) -> PublicKey {
    let mut key = [7; 32];
    key[..4].copy_from_slice(&id.to_le_bytes());
    PublicKey(key)
}

enum Player {
    Away,
    /// Looks for a place, since when, and for how long there was a seat meanwhile.
    Seeking {
        seeker: Box<Seeker>,
        since: LocalTime,
        held: Micros,
    },
    Travels {
        to: SocketAddr,
        at: LocalTime,
    },
    Plays {
        at: SocketAddr,
    },
    /// The server is gone, which the player notices later.
    Lost {
        at: LocalTime,
    },
}

/// What happened.
#[derive(Default)]
struct Figures {
    waits: Vec<i64>,
    /// Longest time of a player without a place while there was a seat, whether or not the player
    /// got one later, in milliseconds.
    held_most: i64,
    turned_away: u32,
    moved: u32,
    lost_by_node: u32,
    lost_otherwise: u32,
    allocations: u32,
    pods_most: usize,
}

struct Fleet {
    now: LocalTime,
    tick: u32,
    identity: Identity,
    directory: ServerList,
    pods: BTreeMap<SocketAddr, Pod>,
    /// Nodes that are lost or drained.
    closed: BTreeSet<u32>,
    players: BTreeMap<u32, Player>,
    /// Packets under way: when, from, to, bytes.
    packets: VecDeque<(LocalTime, SocketAddr, SocketAddr, Vec<u8>)>,
    allocates: VecDeque<(LocalTime, Allocate)>,
    scale_at: LocalTime,
    figures: Figures,
}

/// The directory's name.
const NAME: &str = "directory.example.org:4435";

/// The secret that the directory and the servers share.
fn secret() -> FleetKey {
    FleetKey::new(&[9; 32])
}

fn directory(seed: u64) -> ServerList {
    let allocators = Allocators { regions: vec![String::new()], games: vec!["race".into()] };
    let key = [u8::try_from(seed).expect("small"); 32];
    let mut list = ServerList::with_allocators(Bounds::default(), &key, seed, allocators);
    list.set_fleet(Some(secret()));
    list.named(vec![Address::parse_directory(NAME).expect("an address")])
}

fn home(player: u32) -> SocketAddr {
    let [_, _, high, low] = player.to_be_bytes();
    SocketAddr::from(([20, high, low, 1], 50_000))
}

impl Fleet {
    fn new() -> Self {
        let mut fleet = Self {
            now: LocalTime(1_000_000),
            tick: 0,
            identity: Identity::ephemeral().expect("an identity"),
            directory: directory(1),
            pods: BTreeMap::new(),
            closed: BTreeSet::new(),
            players: BTreeMap::new(),
            packets: VecDeque::new(),
            allocates: VecDeque::new(),
            scale_at: LocalTime(0),
            figures: Figures::default(),
        };
        fleet.scale();
        fleet.run(20_000, |_| {});
        fleet
    }

    fn run(&mut self, ms: i64, mut each: impl FnMut(&mut Self)) {
        let end = self.now + Micros::from_ms(ms);
        while self.now < end {
            (self.now, self.tick) = (self.now + STEP, self.tick + 1);
            each(self);
            self.step();
        }
    }

    fn step(&mut self) {
        let now = self.now;
        self.deliver();
        self.directory.handle_timeout(now);
        self.send();
        while self.allocates.front().is_some_and(|(at, _)| *at <= now) {
            let Some((_, request)) = self.allocates.pop_front() else { break };
            let answer = self.allocate(&request);
            self.directory.handle_allocated(now, request.number, answer);
        }
        self.step_players();
        self.step_pods();
        self.send();
        if now >= self.scale_at {
            self.scale_at = now + SCALE;
            self.scale();
        }
    }

    fn post(&mut self, from: SocketAddr, to: SocketAddr, bytes: Vec<u8>) {
        self.packets.push_back((self.now + TRANSIT, from, to, bytes));
    }

    /// Sends what the directory has to send, and passes its requests to the allocator.
    fn send(&mut self) {
        while let Some(Transmit { to, bytes }) = self.directory.poll_transmit() {
            self.post(directory_at(), to.remote, bytes);
        }
        while let Some(request) = self.directory.poll_allocate() {
            self.allocates.push_back((self.now + ALLOCATION, request));
        }
    }

    fn deliver(&mut self) {
        while self.packets.front().is_some_and(|(at, ..)| *at <= self.now) {
            let Some((_, from, to, bytes)) = self.packets.pop_front() else { break };
            if to == directory_at() {
                self.directory.handle_packet(self.now, from, &bytes);
            } else if let Some(pod) = self.pods.get(&to).filter(|pod| pod.is_up(self.now)) {
                if let Some(nonce) = parse_question(&bytes) {
                    let answer = pod.info(&self.identity).answer(nonce, bytes.len());
                    self.post(to, from, answer);
                }
            } else if to.port() == 50_000 && to.ip().to_string().starts_with("20.") {
                let SocketAddr::V4(v4) = to else { continue };
                let [_, high, low, _] = v4.ip().octets();
                let player = self.players.get_mut(&u32::from_be_bytes([0, 0, high, low]));
                if let Some(Player::Seeking { seeker, .. }) = player {
                    seeker.handle_packet(self.now, from, &bytes);
                }
            } else {
                self.answer_drain(to, &bytes);
            }
        }
    }

    /// The allocator: the fullest server in use that has the seats by its counter, otherwise a
    /// ready one.
    fn allocate(&mut self, request: &Allocate) -> Result<AllocatedServer, NotAllocated> {
        self.figures.allocations += 1;
        let (seats, now) = (i64::from(request.seats), self.now);
        let available = |pod: &Pod| {
            let (count, capacity) = pod.world.model.counter("players");
            capacity - count
        };
        let of = |state: &'static str| {
            move |pod: &&Pod| pod.is_up(now) && pod.world.model.state() == state
        };
        let in_use =
            self.pods.iter().filter(|(_, pod)| of("Allocated")(pod) && !request.ready_only);
        let in_use = in_use.filter(|(_, pod)| available(pod) >= seats);
        let in_use = in_use.min_by_key(|(at, pod)| (available(pod), **at)).map(|(at, _)| *at);
        let ready = || self.pods.iter().find(|(_, pod)| of("Ready")(pod)).map(|(at, _)| *at);
        let address = in_use.or_else(ready).ok_or(NotAllocated::NoneFree)?;
        let pod = self.pods.get_mut(&address).expect("it is there");
        let free = u32::try_from(available(pod)).expect("not negative");
        let all = u32::try_from(pod.world.model.counter("players").1).ok();
        pod.world.model.allocate(&[("game", &request.game)]);
        pod.world.model.raise("players", seats);
        let fingerprint = pod.world.model.told("annotations", "fingerprint");
        let fingerprint = fingerprint.and_then(|text| text.parse().ok());
        let fingerprint = fingerprint.expect("a server that is ready has told it");
        Ok(AllocatedServer { address, fingerprint, free: Some(free), seats: all })
    }

    /// The autoscaler: a fifth of the rooms is free. Only servers that are ready are removed.
    fn scale(&mut self) {
        let living = self.pods.values().filter(|pod| !pod.is_ending && pod.drains.is_none());
        let used: u32 = living.clone().map(|pod| pod.taken().div_ceil(ROOM)).sum();
        let wanted = (used + (used / 4).max(ROOMS_MIN)).div_ceil(ROOMS) as usize;
        let wanted = wanted.min(PODS_MAX);
        let count = living.count();
        for _ in count..wanted {
            let node = (0..).find(|node| {
                let of = self.pods.values().filter(|pod| pod.node == *node);
                !self.closed.contains(node) && of.count() < PER_NODE as usize
            });
            let node = node.expect("there are always more");
            let port = (7000..).find(|port| !self.pods.contains_key(&at(node, *port)));
            let up_at = self.now + START;
            let pod = Pod::new(node, up_at, &self.identity);
            self.pods.insert(at(node, port.expect("a port")), pod);
        }
        let surplus = count.saturating_sub(wanted);
        let ready = self.pods.values_mut().filter(|pod| {
            !pod.is_ending && pod.world.model.state() == "Ready" && pod.players.is_empty()
        });
        ready.take(surplus).for_each(Pod::end);
        self.figures.pods_most = self.figures.pods_most.max(self.pods.len());
    }

    fn step_pods(&mut self) {
        let now = self.now;
        let addresses: Vec<_> = self.pods.keys().copied().collect();
        for (number, address) in (0..).zip(addresses) {
            self.ask_drain(address);
            let Some(pod) = self.pods.get_mut(&address) else { continue };
            if (self.tick + number).is_multiple_of(AGENT_STEPS) && now >= pod.up_at {
                pod.step(now);
            }
            let until = pod.drains.as_ref().map(|drain| drain.until);
            if until.is_some_and(|until| pod.players.is_empty() || now >= until) && !pod.is_ending {
                pod.end();
            }
            if pod.is_ending && pod.world.agent.has_ended(pod.world.now) {
                let gone = self.pods.remove(&address);
                let lost = gone.map_or(0, |pod| pod.players.len());
                self.figures.lost_otherwise += u32::try_from(lost).expect("few");
            }
        }
    }

    /// A server that drains asks the directory for places for its players.
    fn ask_drain(&mut self, address: SocketAddr) {
        let (now, signer) = (self.now, self.identity.signer());
        let drain = self.pods.get_mut(&address).and_then(|pod| pod.drains.as_mut());
        let question = drain.and_then(|drain| drain.placer.handle_timeout(now, &signer));
        if let Some(question) = question {
            self.post(asker_of(address), directory_at(), question);
        }
    }

    /// A server that drains redirects as many players as there are seats.
    fn answer_drain(&mut self, to: SocketAddr, bytes: &[u8]) {
        let address = SocketAddr::new(to.ip(), to.port().wrapping_sub(ASKERS));
        let Some(pod) = self.pods.get_mut(&address) else { return };
        let Some(drain) = &mut pod.drains else { return };
        let signer = self.identity.signer();
        let question = drain.placer.handle_packet(self.now, bytes, &signer);
        for placed in &drain.placer.found()[drain.used..] {
            let to = placed.server.address(directory_at());
            for _ in 0..placed.people {
                let Some(player) = pod.players.pop_first() else { break };
                self.figures.moved += 1;
                self.players.insert(player, Player::Travels { to, at: self.now + JOIN });
            }
        }
        drain.used = drain.placer.found().len();
        if let Some(question) = question {
            self.post(to, directory_at(), question);
        }
    }

    fn seek(&mut self, player: u32) {
        let wish = SeekWish { game: "race".into(), people: 1, party: PartyWish::None };
        let seeker = Seeker::new(
            wish,
            vec![directory_at()],
            u64::from(player) << 32 | u64::from(self.tick),
            self.now,
        );
        let (seeker, held) = (Box::new(seeker), Micros(0));
        self.players.insert(player, Player::Seeking { seeker, since: self.now, held });
    }

    /// Seats that are free, without those of players who are on their way.
    fn seats_left(&self) -> i64 {
        let of_state = |pod: &&Pod| ["Ready", "Allocated"].contains(&pod.world.model.state());
        let pods = self.pods.values().filter(|pod| pod.is_up(self.now)).filter(of_state);
        let free: u32 = pods.map(Pod::free).sum();
        let travels = self.players.values().filter(|it| matches!(it, Player::Travels { .. }));
        i64::from(free) - i64::try_from(travels.count()).expect("few")
    }

    /// Returns those who look for a place and could have one: as many as there are free seats, of
    /// those who have waited longest.
    fn entitled(&self) -> BTreeSet<u32> {
        let since = |(id, player): (&u32, &Player)| match player {
            Player::Seeking { since, .. } => Some((*since, *id)),
            _ => None,
        };
        let mut seeking: Vec<_> = self.players.iter().filter_map(since).collect();
        seeking.sort_unstable();
        let seats = usize::try_from(self.seats_left()).unwrap_or_default();
        seeking.into_iter().take(seats).map(|(_, id)| id).collect()
    }

    fn step_players(&mut self) {
        let now = self.now;
        let entitled = self.entitled();
        let mut again = Vec::new();
        let mut sent = Vec::new();
        for (id, player) in &mut self.players {
            match player {
                Player::Seeking { seeker, since, held } => {
                    if entitled.contains(id) {
                        *held += STEP;
                        self.figures.held_most = self.figures.held_most.max(held.0 / 1000);
                    }
                    seeker.handle_timeout(now);
                    while let Some((to, bytes)) = seeker.poll_transmit() {
                        sent.push((home(*id), to, bytes));
                    }
                    match seeker.state() {
                        SeekState::Placed { invitation, .. } => {
                            let address = &invitation.address;
                            let text = format!("{}:{}", address.host(), address.port());
                            let to = text.parse().expect("an address");
                            self.figures.waits.push((now - *since).0 / 1000);
                            *player = Player::Travels { to, at: now + JOIN };
                        }
                        SeekState::Failed(why) => panic!("player {id}: {why}"),
                        SeekState::Asking | SeekState::Waiting { .. } => {}
                    }
                }
                Player::Travels { to, at } if now >= *at => {
                    let pod = self.pods.get_mut(to).filter(|pod| pod.is_up(now));
                    match pod.filter(|pod| pod.free() > 0) {
                        Some(pod) => {
                            pod.players.insert(*id);
                            *player = Player::Plays { at: *to };
                        }
                        None => {
                            self.figures.turned_away += 1;
                            again.push(*id);
                        }
                    }
                }
                Player::Lost { at } if now >= *at => again.push(*id),
                _ => {}
            }
        }
        for (from, to, bytes) in sent {
            self.post(from, to, bytes);
        }
        for id in again {
            self.seek(id);
        }
    }

    /// Loses a node with all of its servers.
    fn lose(&mut self, node: u32) {
        self.closed.insert(node);
        let gone: Vec<_> = self.pods.extract_if(.., |_, pod| pod.node == node).collect();
        for (_, pod) in gone {
            for id in pod.players {
                self.figures.lost_by_node += 1;
                self.players.insert(id, Player::Lost { at: self.now + NOTICE });
            }
        }
    }

    /// Ends all servers of a node, which move their players.
    fn drain(&mut self, node: u32) {
        self.closed.insert(node);
        let now = self.now;
        for (number, (address, pod)) in (1..).zip(&mut self.pods) {
            if pod.node == node {
                let people = u16::try_from(pod.players.len()).expect("few");
                let (game, port) = ("race".to_owned(), address.port());
                let wish = PlacesWish {
                    directory: NAME.to_owned(),
                    game,
                    people,
                    port,
                    own: Some(*address),
                    region: String::new(),
                    fleet: Some(secret()),
                };
                let placer = Placer::new(wish, number, now);
                pod.drains = Some(Drain { placer, used: 0, until: now + SEE_OFF_TIMEOUT });
            }
        }
    }

    fn playing(&self) -> usize {
        self.players.values().filter(|it| matches!(it, Player::Plays { .. })).count()
    }

    /// Lets a player leave.
    fn leave(&mut self, id: u32) {
        if let Some(Player::Plays { at }) = self.players.insert(id, Player::Away)
            && let Some(pod) = self.pods.get_mut(&at)
        {
            pod.players.remove(&id);
        }
    }

    /// Lets up to `per_step` more players come, until there are `most`.
    fn arrive(&mut self, per_step: u32, most: u32) {
        for _ in 0..per_step {
            let id = u32::try_from(self.players.len()).expect("few");
            if id < most {
                self.seek(id);
            }
        }
    }
}

fn at(node: u32, port: u16) -> SocketAddr {
    let [_, _, high, low] = node.to_be_bytes();
    SocketAddr::from(([30, high, low, 1], port))
}

fn percentile(sorted: &[i64], share: f64) -> i64 {
    sorted[((sorted.len() - 1) as f64 * share) as usize]
}

#[test]
fn a_fleet_of_200_servers_seats_5000_players_and_loses_none_who_need_not_be_lost() {
    let mut fleet = Fleet::new();
    // A minute of growth, and a rush of a thousand within a second.
    fleet.run(80_000, |fleet| fleet.arrive(3, 4000));
    fleet.run(1000, |fleet| fleet.arrive(50, 5000));
    fleet.run(30_000, |_| {});
    assert_eq!(fleet.playing(), 5000);
    let grown = fleet.pods.len();
    // A node is lost, and the directory restarts while its players look for new places.
    let busiest = fleet.pods.values().find(|pod| pod.players.len() as u32 == SEATS);
    let node = busiest.expect("a full one").node;
    fleet.lose(node);
    fleet.run(3100, |_| {});
    fleet.directory = directory(2);
    fleet.run(20_000, |_| {});
    assert_eq!(fleet.playing(), 5000);
    // Another node is drained, and its players are moved. The directory has restarted a moment ago,
    // and knows none of the servers.
    let of = |fleet: &Fleet, node| -> usize {
        let pods = fleet.pods.values().filter(|pod| pod.node == node);
        pods.map(|pod| pod.players.len()).sum()
    };
    let node = (0..40).max_by_key(|node| of(&fleet, *node)).expect("a node");
    let on_it = of(&fleet, node);
    fleet.directory = directory(3);
    fleet.drain(node);
    fleet.run(15_000, |_| {});
    assert_eq!((of(&fleet, node), fleet.playing()), (0, 5000));
    // The evening ends: those who came first leave first, and servers follow.
    let mut leaving = 0..4000;
    fleet.run(80_000, |fleet| leaving.by_ref().take(3).for_each(|id| fleet.leave(id)));
    fleet.run(60_000, |_| {});

    fleet.figures.waits.sort_unstable();
    let Figures { waits, held_most, turned_away, moved, lost_by_node, .. } = &fleet.figures;
    let (p50, p99, most) =
        (percentile(waits, 0.5), percentile(waits, 0.99), percentile(waits, 1.0));
    eprintln!(
        "searches {}: median {p50} ms, 99 % {p99} ms, most {most} ms, while there were seats \
         {held_most} ms; turned away {turned_away}; moved {moved} of {on_it}; lost with a node \
         {lost_by_node}, otherwise {}; allocations {}; servers {grown}, most {}, at the end {}; \
         playing {}",
        waits.len(),
        fleet.figures.lost_otherwise,
        fleet.figures.allocations,
        fleet.figures.pods_most,
        fleet.pods.len(),
        fleet.playing(),
    );
    assert_eq!(*turned_away, 0);
    assert_eq!((*moved as usize, fleet.figures.lost_otherwise), (on_it, 0));
    assert!(*lost_by_node > 0 && *held_most <= 5000, "{held_most} ms");
    assert!(fleet.pods.len() < grown * 2 / 3, "servers end with the evening");
    assert_eq!(fleet.playing(), 1000);
}
