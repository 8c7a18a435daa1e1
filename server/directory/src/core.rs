//! The directory as a state machine: packets and the time in, packets and events out.
//!
//! A server is listed once it has proven that it has its certificate's key and receives packets at
//! its address, and has answered at the port that it announced. It stays listed for
//! [`LISTED_SECS`]. The matchmaker (`core/play.rs`) decides who plays on which server.
//!
//! Call [`handle_packet`](ServerList::handle_packet), and
//! [`handle_timeout`](ServerList::handle_timeout) when
//! [`next_timeout`](ServerList::next_timeout) is due; then fetch all of
//! [`poll_transmit`](ServerList::poll_transmit), [`poll_allocate`](ServerList::poll_allocate) and
//! [`poll_event`](ServerList::poll_event).

mod bounds;
mod entries;
mod play;
#[cfg(test)]
mod tests;
mod tokens;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::net::{IpAddr, SocketAddr};

use phaselock::address::Address;
use phaselock::fingerprint::Fingerprint;
use phaselock::limits::{ANNOUNCEMENT_BYTES_MAX, QUESTION_BYTES};
use phaselock::random::Random;
use phaselock::time::{LocalTime, Micros};
use phaselock::wire::directory::play::{PartyWish, Play, PlayRefusal, PlayerProof};
use phaselock::wire::directory::{
    AnnouncementProof, AnnouncementRefusal, Answer, FleetProof, ProofPurpose, Question, Token, page,
};
use phaselock::wire::query::{Info, Nonce, parse_question, question_of};
use phaselock_quic::doorkeeping::Limits;
use phaselock_quic::fleet::FleetKey;
use phaselock_quic::identity::{facts_of, verified};
use phaselock_quic::packets::Route;
use phaselock_quic::player::is_signed;
use phaselock_quic::server::buckets::{Bucket, BucketTime, Buckets, Kind};

pub use self::bounds::{Bounds, PlayBounds};
use self::entries::{Entries, is_local};
pub use self::play::{Allocate, AllocatedServer, Allocators, NotAllocated};
use self::play::{Matchmaker, PlayerAsks};
use self::tokens::{Secrets, TokenMint};

/// Seconds for which a server stays listed without announcing itself again.
pub const LISTED_SECS: u32 = 600;
/// Bytes of the question that the directory asks a server: enough for an answer with the longest
/// name and the fingerprint, and no more than the announcement had.
const ASK_BYTES: usize = 384;
/// Number of times that a server is asked, and the time to wait for each answer.
const ASK_TIMES: u8 = 3;
const ASK_EVERY: Micros = Micros::from_ms(1000);
/// Maximum answers, and events, that wait to be fetched. A packet makes one of each, a timeout one
/// for each server that is being asked.
const WAITING_MAX: usize = 4096;

/// A packet to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// Receiver, and the local address to send from: the one that the peer contacted.
    pub to: Route,
    /// Payload.
    pub bytes: Vec<u8>,
}

/// An event for the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListEvent {
    /// A server was added to the list.
    Listed(SocketAddr, Fingerprint),
    /// A server was removed because it has not announced itself again.
    Expired(SocketAddr, Fingerprint),
    /// An announcement was refused.
    Refused(SocketAddr, AnnouncementRefusal),
}

/// A server that announced itself and is being asked for its status.
#[derive(Debug)]
struct PendingServer {
    fingerprint: Fingerprint,
    nonce: Nonce,
    /// Address and nonce of the announcement, and the maximum bytes of its answer.
    announced: (Route, Nonce, usize),
    times: u8,
    due: LocalTime,
}

/// A server's request for places, with its proof.
struct PlaceAsks {
    /// Address and nonce of the request, and the maximum bytes of its answer.
    asked: (Route, Nonce, usize),
    port: u16,
    /// Address at which players reach the server, as it says itself.
    own: Option<SocketAddr>,
    proof: AnnouncementProof,
    /// Proof that the server is of the fleet.
    fleet: Option<FleetProof>,
}

/// The list of servers.
#[derive(Debug)]
pub struct ServerList {
    /// Addresses under which servers and players know this directory; empty if it does not know
    /// them.
    names: Vec<Address>,
    /// Key of the fleet, if the directory has its secret.
    fleet: Option<FleetKey>,
    bounds: Bounds,
    mint: TokenMint,
    buckets: Buckets,
    questions: Bucket,
    announcements: Bucket,
    signatures: Bucket,
    plays: Bucket,
    requests: Bucket,
    guesses: Bucket,
    guessers: Buckets,
    secrets: Secrets,
    play: Matchmaker,
    entries: Entries,
    /// Servers that are being asked, by the address that is asked.
    pending: HashMap<SocketAddr, PendingServer>,
    transmits: VecDeque<Transmit>,
    events: VecDeque<ListEvent>,
}

impl ServerList {
    /// Creates an empty list. Tokens can be forged only with the secret.
    pub fn new(bounds: Bounds, secret: &[u8; 32], seed: u64) -> Self {
        Self::with_allocators(bounds, secret, seed, Allocators::default())
    }

    /// Creates an empty list with allocators that start servers for players.
    pub fn with_allocators(
        bounds: Bounds,
        secret: &[u8; 32],
        seed: u64,
        allocators: Allocators,
    ) -> Self {
        let mut random = Random::new(seed);
        Self {
            names: Vec::new(),
            fleet: None,
            plays: Bucket::default(),
            requests: Bucket::default(),
            guesses: Bucket::default(),
            guessers: Buckets::new(random.bits()),
            secrets: Secrets::new(secret, seed, "list"),
            play: Matchmaker::new(
                bounds.play,
                allocators,
                random.fork(),
                ["play", "tickets"].map(|purpose| Secrets::new(secret, seed, purpose)),
            ),
            bounds,
            mint: TokenMint::new(secret),
            buckets: Buckets::new(random.bits()),
            questions: Bucket::default(),
            announcements: Bucket::default(),
            signatures: Bucket::default(),
            entries: Entries::default(),
            pending: HashMap::new(),
            transmits: VecDeque::new(),
            events: VecDeque::new(),
        }
    }

    /// Returns the number of listed servers.
    pub fn listed(&self) -> usize {
        self.entries.len()
    }

    /// Returns the number of requests for a place that wait.
    pub fn waiting(&self) -> usize {
        self.play.waiting()
    }

    /// Handles a packet.
    pub fn handle_packet(&mut self, now: LocalTime, route: impl Into<Route>, bytes: &[u8]) {
        let route = route.into();
        let from = route.remote;
        match Question::parse(bytes) {
            Ok((Question::List { after }, nonce)) => {
                self.handle_list(now, route, (nonce, bytes.len()), after);
            }
            Ok((Question::Announce { port, proof }, nonce)) => {
                let announced = (route, nonce, bytes.len());
                let (bucket, limits) = (&mut self.announcements, self.bounds.announcements);
                if !pass(bucket, &mut self.buckets, now, (Kind::Hello, from), &limits) {
                    return;
                }
                match proof {
                    None => {
                        let token = self.mint.token(now, from, port);
                        self.answer(announced, &Answer::Challenge(token));
                    }
                    Some(proof) => self.handle_proof(now, announced, port, &proof),
                }
            }
            Ok((Question::Play { play, token, player }, nonce)) => {
                self.handle_play(now, (route, nonce, bytes.len()), play, (token, player));
            }
            Ok((Question::Place { play, port, own, proof, fleet }, nonce)) => {
                let asked = (route, nonce, bytes.len());
                match proof {
                    None => self.challenge(now, asked, port),
                    Some(proof) => {
                        let from = PlaceAsks { asked, port, own, proof, fleet };
                        self.handle_place(now, from, play);
                    }
                }
            }
            Ok((Question::Regions, nonce)) => {
                let (bucket, limits) = (&mut self.questions, self.bounds.questions);
                if pass(bucket, &mut self.buckets, now, (Kind::Query, from), &limits) {
                    let regions = Answer::Regions(self.play.beacons(is_local(from.ip())));
                    self.answer((route, nonce, bytes.len()), &regions);
                }
            }
            Err(_) => match parse_question(bytes) {
                Some(nonce) => self.handle_ping(now, route, (nonce, bytes.len())),
                None => self.handle_status(now, from, bytes),
            },
        }
    }

    /// Answers a question for the status, by which players measure their ping of the region in
    /// which this directory is.
    fn handle_ping(&mut self, now: LocalTime, route: Route, (nonce, bytes): (Nonce, usize)) {
        let (bucket, limits) = (&mut self.questions, self.bounds.questions);
        if pass(bucket, &mut self.buckets, now, (Kind::Query, route.remote), &limits) {
            let version = env!("CARGO_PKG_VERSION").to_owned();
            let own = Info { server: "directory".to_owned(), version, ..Info::default() };
            self.transmit(route, own.answer(nonce, bytes));
        }
    }

    /// Handles a question over a connection that proves the address. Returns the answer; `None` if
    /// it is not such a question, or if the address asks too often.
    pub fn handle_request(
        &mut self,
        now: LocalTime,
        from: IpAddr,
        bytes: &[u8],
    ) -> Option<Vec<u8>> {
        let from_any_port = SocketAddr::new(from, 0);
        let (question, nonce) = Question::parse(bytes).ok()?;
        let (bucket, limits) = match question {
            Question::Play { .. } => (&mut self.plays, self.bounds.plays),
            Question::Regions => (&mut self.questions, self.bounds.questions),
            _ => return None,
        };
        let kind =
            if matches!(question, Question::Play { .. }) { Kind::Knock } else { Kind::Query };
        if !pass(bucket, &mut self.buckets, now, (kind, from_any_port), &limits) {
            return None;
        }
        let answer = match question {
            Question::Play { play, token, player } => {
                self.play_over_http(now, from_any_port, play, (token, player))
            }
            _ => Answer::Regions(self.play.beacons(is_local(from))),
        };
        answer.encode(nonce, ANNOUNCEMENT_BYTES_MAX)
    }

    /// Whether a browser may ask whether it may ask, with a request that has no question yet.
    pub fn handle_preflight(&mut self, now: LocalTime, from: IpAddr) -> bool {
        let (bucket, limits) = (&mut self.questions, self.bounds.questions);
        let from = SocketAddr::new(from, 0);
        pass(bucket, &mut self.buckets, now, (Kind::Query, from), &limits)
    }

    /// Answers with a token, which proves the address.
    fn challenge(&mut self, now: LocalTime, asked: (Route, Nonce, usize), port: u16) {
        let from = asked.0.remote;
        let (bucket, limits) = (&mut self.questions, self.bounds.questions);
        if pass(bucket, &mut self.buckets, now, (Kind::Query, from), &limits) {
            let token = self.mint.token(now, from, port);
            self.answer(asked, &Answer::Challenge(token));
        }
    }

    fn handle_play(
        &mut self,
        now: LocalTime,
        asked: (Route, Nonce, usize),
        play: Play,
        (token, player): (Option<Token>, PlayerProof),
    ) {
        let from = asked.0.remote;
        // No server announces port 0, so a token is good for one or the other.
        let Some(token) = token.filter(|token| self.mint.is_valid(now, from, 0, token)) else {
            return self.challenge(now, asked, 0);
        };
        let (bucket, limits) = (&mut self.plays, self.bounds.plays);
        if pass(bucket, &mut self.buckets, now, (Kind::Knock, from), &limits) {
            let asks = PlayerAsks { ip: from.ip(), is_browser: false, key: None };
            let answer = self.play(now, from, (play, asks), (token, player));
            self.answer(asked, &answer);
        }
    }

    /// Handles a request over HTTP. Only those who want to prove a key need a token.
    fn play_over_http(
        &mut self,
        now: LocalTime,
        from: SocketAddr,
        play: Play,
        (token, player): (Option<Token>, PlayerProof),
    ) -> Answer {
        let token = token.filter(|token| self.mint.is_valid(now, from, 0, token));
        let wants_token = player != PlayerProof::None && token.is_none();
        if wants_token && !self.play.knows(play.request) {
            return Answer::Challenge(self.mint.token(now, from, 0));
        }
        let asks = PlayerAsks { ip: from.ip(), is_browser: true, key: None };
        self.play(now, from, (play, asks), (token.unwrap_or_default(), player))
    }

    /// Asks the matchmaker, unless the address has too many requests.
    fn play(
        &mut self,
        now: LocalTime,
        from: SocketAddr,
        (play, asks): (Play, PlayerAsks),
        (token, player): (Token, PlayerProof),
    ) -> Answer {
        // Its id is the player's secret.
        if self.play.knows(play.request) {
            return self.play.handle_play(now, asks, play);
        }
        let is_guess = matches!(play.party, PartyWish::Join(_));
        if is_guess && !self.may_guess(now, from) || !self.takes_request(now, from) {
            return Answer::Denied(PlayRefusal::Often);
        }
        let key = match player {
            PlayerProof::Made(made, directory) if !self.names.is_empty() => {
                let text = play.signed_text(&token, &directory);
                let is_named = self.is_known_as(&directory, asks.is_browser);
                if !is_named || !is_signed(&text, &made) {
                    return Answer::Denied(PlayRefusal::Key);
                }
                Some(made.key)
            }
            // Another directory may have passed on a proof to one that does not know its names.
            _ => None,
        };
        let answer = self.play.handle_play(now, PlayerAsks { key, ..asks }, play);
        if let Answer::Denied(PlayRefusal::Party | PlayRefusal::OtherGame) = answer {
            let (bucket, limits) = (&mut self.guesses, self.bounds.guesses);
            pass(bucket, &mut self.guessers, now, (Kind::Query, from), &limits);
        }
        answer
    }

    /// Whether an address may try the code of a party: not after too many wrong ones.
    fn may_guess(&mut self, now: LocalTime, from: SocketAddr) -> bool {
        let (now, limits) = (moment(now), self.bounds.guesses);
        // A copy, from which nothing is taken.
        let mut all = self.guesses;
        self.guessers.has(now, Kind::Query, from.ip(), &limits) && all.take(now, limits.total, 0)
    }

    fn takes_request(&mut self, now: LocalTime, from: SocketAddr) -> bool {
        let (bucket, limits) = (&mut self.requests, self.bounds.requests);
        pass(bucket, &mut self.buckets, now, (Kind::Handshake, from), &limits)
    }

    fn handle_place(&mut self, now: LocalTime, server: PlaceAsks, play: Play) {
        let PlaceAsks { asked, port, own, proof, fleet } = server;
        let from = asked.0.remote;
        if !self.mint.is_valid(now, from, port, &proof.token) {
            return self.challenge(now, asked, port);
        }
        let (bucket, limits) = (&mut self.plays, self.bounds.plays);
        if !pass(bucket, &mut self.buckets, now, (Kind::Knock, from), &limits)
            || !self.signatures.take(moment(now), self.bounds.signatures, 0)
        {
            return;
        }
        let (is_named, purpose) = (self.is_named(&proof), ProofPurpose::Places(own));
        let verify = || verified(purpose, &proof, port);
        let answer = match is_named.then(verify).flatten() {
            None if !is_named => Answer::Refused(AnnouncementRefusal::Directory),
            None => Answer::Refused(AnnouncementRefusal::Signature),
            Some(fingerprint) => {
                let mut server = from;
                server.set_port(port);
                // Without the secret, or with another one, it is a server like any other. Another
                // directory may have passed on a proof to one that does not know its names.
                let known = self.fleet.as_ref().filter(|_| !self.names.is_empty());
                let is_member = known.zip(fleet).is_some_and(|(key, fleet)| {
                    key.proves_places(facts_of(purpose, &proof, port), &play, &fleet)
                });
                let leaving = self.play.leaving((server, own), fingerprint, is_member);
                let is_free = self.play.knows(play.request) || self.play.trusts(leaving);
                if is_free || self.takes_request(now, from) {
                    self.play.handle_place(now, leaving, play)
                } else {
                    Answer::Denied(PlayRefusal::Often)
                }
            }
        };
        self.answer(asked, &answer);
    }

    /// Handles the answer to a request of [`poll_allocate`](Self::poll_allocate).
    pub fn handle_allocated(
        &mut self,
        now: LocalTime,
        number: u64,
        answer: Result<AllocatedServer, NotAllocated>,
    ) {
        self.play.handle_allocated(now, number, answer);
    }

    /// Returns the next request to an allocator.
    pub fn poll_allocate(&mut self) -> Option<Allocate> {
        self.play.poll_allocate()
    }

    /// Sets the addresses by which players measure the ping of regions that have an allocator.
    /// Without one, a region is measured by its servers, as soon as there are any.
    pub fn set_beacons(&mut self, beacons: BTreeMap<String, SocketAddr>) {
        self.play.set_beacons(beacons);
    }

    /// Sets the addresses under which servers and players know this directory. It refuses proofs
    /// for others, which another directory may have passed on. Without names, no server counts as
    /// one of the fleet, and no player proves a key.
    #[must_use]
    pub fn named(self, names: Vec<Address>) -> Self {
        Self { names, ..self }
    }

    /// Sets the key of the fleet, by which the directory knows its servers, and with which it signs
    /// tickets for them.
    pub fn set_fleet(&mut self, fleet: Option<FleetKey>) {
        self.play.set_fleet(fleet.clone());
        self.fleet = fleet;
    }

    /// Sets the Unix time in seconds, by which tickets are valid.
    pub fn set_unix(&mut self, unix: i64) {
        self.play.set_unix(unix);
    }

    /// Whether a server's proof is for this directory, as far as it knows its names.
    fn is_named(&self, proof: &AnnouncementProof) -> bool {
        self.names.is_empty() || self.is_known_as(&proof.directory, false)
    }

    /// Whether a name is one of the directory's. Over HTTP only the host counts.
    fn is_known_as(&self, name: &str, over_http: bool) -> bool {
        let Ok(name) = Address::parse_directory(name) else { return false };
        self.names.iter().any(|own| *own == name || over_http && own.host() == name.host())
    }

    fn handle_list(
        &mut self,
        now: LocalTime,
        route: Route,
        (nonce, bytes): (Nonce, usize),
        after: u32,
    ) {
        let from = route.remote;
        let (bucket, limits) = (&mut self.questions, self.bounds.questions);
        if !pass(bucket, &mut self.buckets, now, (Kind::Query, from), &limits) {
            return;
        }
        let (shown, is_local) = (bytes.min(QUESTION_BYTES), is_local(from.ip()));
        let total = u32::try_from(self.entries.len()).unwrap_or(u32::MAX);
        let servers = self.entries.after(after, now, is_local);
        if let Some(bytes) = page(nonce, shown, total, servers) {
            self.transmit(route, bytes);
        }
    }

    fn handle_proof(
        &mut self,
        now: LocalTime,
        announced: (Route, Nonce, usize),
        port: u16,
        proof: &AnnouncementProof,
    ) {
        let from = announced.0.remote;
        if !self.mint.is_valid(now, from, port, &proof.token) {
            return self.refuse(announced, AnnouncementRefusal::Token);
        }
        // With the zone of a link-local address.
        let mut server = from;
        server.set_port(port);
        // No answer is needed: the server announces itself again.
        let is_asked = self.pending.contains_key(&server);
        let is_busy = self.pending.len() >= self.bounds.pending;
        if is_asked || is_busy || !self.signatures.take(moment(now), self.bounds.signatures, 0) {
            return;
        }
        if !self.is_named(proof) {
            return self.refuse(announced, AnnouncementRefusal::Directory);
        }
        let Some(fingerprint) = verified(ProofPurpose::Announcement, proof, port) else {
            return self.refuse(announced, AnnouncementRefusal::Signature);
        };
        if let Err(refusal) = self.entries.check(now, server, fingerprint, &self.bounds) {
            return self.refuse(announced, refusal);
        }
        let nonce = self.secrets.bits().to_le_bytes();
        let pending =
            PendingServer { fingerprint, nonce, announced, times: 1, due: now + ASK_EVERY };
        self.query_server(server, &pending);
        self.pending.insert(server, pending);
    }

    /// Handles the status of a server that was asked.
    fn handle_status(&mut self, now: LocalTime, from: SocketAddr, bytes: &[u8]) {
        let pending = self.pending.get(&from);
        let Some(info) = pending.and_then(|it| Info::parse(bytes, it.nonce).ok()) else {
            return self.play.handle_status(now, from, bytes);
        };
        let Some(PendingServer { fingerprint, announced, .. }) = self.pending.remove(&from) else {
            return;
        };
        if info.fingerprint != Some(fingerprint) {
            return self.refuse(announced, AnnouncementRefusal::Another);
        }
        // Another server may have taken the place meanwhile.
        match self.entries.check(now, from, fingerprint, &self.bounds) {
            Err(refusal) => self.refuse(announced, refusal),
            Ok(()) => {
                let until = now + Micros::from_ms(1000 * i64::from(LISTED_SECS));
                // The matchmaker alone sends players to servers that were allocated.
                let is_public = !self.play.is_allocated(from, fingerprint);
                if is_public && self.entries.list(from, fingerprint, until) {
                    self.push_event(ListEvent::Listed(from, fingerprint));
                }
                let route = Route { remote: from, ..announced.0 };
                self.play.list(now, route, fingerprint, &info);
                self.answer(announced, &Answer::Listed { seconds: LISTED_SECS });
            }
        }
    }

    /// Handles everything that is due.
    pub fn handle_timeout(&mut self, now: LocalTime) {
        for (address, fingerprint) in self.entries.take_expired(now) {
            self.push_event(ListEvent::Expired(address, fingerprint));
            self.play.unlist(address);
        }
        self.play.handle_timeout(now);
        let is_due = |pending: &PendingServer| pending.due <= now;
        let due = self.pending.iter().filter(|(_, it)| is_due(it)).map(|(server, _)| *server);
        let mut due: Vec<_> = due.collect();
        due.sort_unstable();
        for server in due {
            let Some(mut pending) = self.pending.remove(&server) else { continue };
            if pending.times >= ASK_TIMES {
                self.refuse(pending.announced, AnnouncementRefusal::Silent);
                continue;
            }
            (pending.times, pending.due) = (pending.times + 1, now + ASK_EVERY);
            self.query_server(server, &pending);
            self.pending.insert(server, pending);
        }
    }

    /// Returns the time at which [`handle_timeout`](Self::handle_timeout) is due next.
    pub fn next_timeout(&self) -> Option<LocalTime> {
        let pending = self.pending.values().map(|pending| pending.due).min();
        let others = self.entries.first_expiry().into_iter().chain(self.play.next_timeout());
        pending.into_iter().chain(others).min()
    }

    /// Returns the next packet to send.
    pub fn poll_transmit(&mut self) -> Option<Transmit> {
        self.transmits.pop_front().or_else(|| {
            let (to, bytes) = self.play.poll_question()?;
            Some(Transmit { to, bytes })
        })
    }

    /// Returns the next event.
    pub fn poll_event(&mut self) -> Option<ListEvent> {
        self.events.pop_front()
    }

    fn query_server(&mut self, server: SocketAddr, pending: &PendingServer) {
        let bytes = question_of(pending.nonce, ASK_BYTES.min(pending.announced.2));
        // Sent from the address that the announcement came to, as the server expects.
        self.transmit(Route { remote: server, ..pending.announced.0 }, bytes);
    }

    fn refuse(&mut self, announced: (Route, Nonce, usize), refusal: AnnouncementRefusal) {
        self.push_event(ListEvent::Refused(announced.0.remote, refusal));
        self.answer(announced, &Answer::Refused(refusal));
    }

    fn answer(&mut self, (to, nonce, bytes_max): (Route, Nonce, usize), answer: &Answer) {
        if let Some(bytes) = answer.encode(nonce, bytes_max) {
            self.transmit(to, bytes);
        }
    }

    fn transmit(&mut self, to: Route, bytes: Vec<u8>) {
        if self.transmits.len() < WAITING_MAX {
            self.transmits.push_back(Transmit { to, bytes });
        }
    }

    fn push_event(&mut self, event: ListEvent) {
        if self.events.len() < WAITING_MAX {
            self.events.push_back(event);
        }
    }
}

/// Takes a token from the bucket of the address, and one from the common bucket.
fn pass(
    all: &mut Bucket,
    buckets: &mut Buckets,
    now: LocalTime,
    (kind, from): (Kind, SocketAddr),
    limits: &Limits,
) -> bool {
    let now = moment(now);
    // The less an address asks, the more of the common bucket it may use.
    let used = buckets.take(now, kind, from.ip(), limits);
    used.is_some_and(|used| all.take(now, limits.total, used / 2))
}

/// Converts a time for the buckets.
fn moment(now: LocalTime) -> BucketTime {
    u64::try_from(now.0).unwrap_or_default()
}
