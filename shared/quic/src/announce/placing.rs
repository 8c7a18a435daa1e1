//! Asks a directory where the players of a server that drains can go on: the state machine, and the
//! task that drives it.

use std::io;
use std::net::SocketAddr;

use phaselock::limits::QUESTION_BYTES;
use phaselock::random::Random;
use phaselock::time::{LocalTime, Micros};
use phaselock::wire::directory::play::{
    PartyWish, Placed, Play, PlayRefusal, RegionPing, RequestId,
};
use phaselock::wire::directory::{Answer, ProofPurpose, Question, Token};
use phaselock::wire::query::Nonce;
use tokio::net::UdpSocket;
use tokio::time::sleep_until;

use super::driver::{Announcement, own};
use crate::attempts::lookup;
use crate::clock::Clock;
use crate::fleet::FleetKey;
use crate::identity::{Signer, facts_of};

/// Time until a question is repeated. Short: players wait for the answer.
const AGAIN: Micros = Micros::from_ms(300);
/// Time for the first answer at one address of a directory, after which the next one is tried.
const FIRST_ANSWER: Micros = Micros::from_ms(600);
/// Maximum number of servers among which the players of a server are divided. Arbitrary.
const SERVERS_MAX: usize = 64;

/// Maximum number of tokens to sign in a row. Arbitrary; usually there is one.
const CHALLENGES_MAX: u8 = 8;

/// The seats that a draining server asks for.
#[derive(Clone, Debug)]
pub struct PlacesWish {
    /// Name of the directory, `host:port`.
    pub directory: String,
    /// The game.
    pub game: String,
    /// Number of people who play it.
    pub people: u16,
    /// The server's port.
    pub port: u16,
    /// Address at which players reach the server, if it knows.
    pub own: Option<SocketAddr>,
    /// The server's region, in which its players should stay; empty if it has none.
    pub region: String,
    /// Key of the server's fleet, by which a directory of the same fleet trusts the server.
    pub fleet: Option<FleetKey>,
}

/// Asks a directory for seats until each player has one, or until it has no more.
#[derive(Debug)]
pub struct Placer {
    wish: PlacesWish,
    random: Random,
    nonce: Nonce,
    request: RequestId,
    token: Option<Token>,
    challenges: u8,
    due: LocalTime,
    found: Vec<Placed>,
    refusal: Option<PlayRefusal>,
    is_over: bool,
}

impl Placer {
    /// Creates a search for seats.
    pub fn new(wish: PlacesWish, seed: u64, now: LocalTime) -> Self {
        let mut random = Random::new(seed);
        let (nonce, request) =
            (random.bits().to_le_bytes(), RequestId(random.bits().to_le_bytes()));
        Self {
            is_over: wish.people == 0,
            wish,
            random,
            nonce,
            request,
            token: None,
            challenges: 0,
            due: now,
            found: Vec::new(),
            refusal: None,
        }
    }

    /// Whether there is nothing more to ask.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Returns the seats found so far.
    pub fn found(&self) -> &[Placed] {
        &self.found
    }

    /// Returns why the directory refused, if it did.
    pub fn refusal(&self) -> Option<PlayRefusal> {
        self.refusal
    }

    /// Returns when to call [`handle_timeout`](Self::handle_timeout) next.
    pub fn next_timeout(&self) -> LocalTime {
        self.due
    }

    /// Returns the packet to send, if one is due. `signer` is that of the server's certificate.
    pub fn handle_timeout(&mut self, now: LocalTime, signer: &Signer) -> Option<Vec<u8>> {
        (now >= self.due && !self.is_over).then(|| self.question(now, signer)).flatten()
    }

    fn question(&mut self, now: LocalTime, signer: &Signer) -> Option<Vec<u8>> {
        self.due = now + AGAIN;
        let PlacesWish { ref directory, port, own, ref region, .. } = self.wish;
        // Its players are near their server, as far as it knows.
        let near = || RegionPing { ms: 0, region: region.clone() };
        let purpose = ProofPurpose::Places(own);
        let proof = match self.token.map(|token| signer.prove(purpose, directory, token, port)) {
            None => None,
            Some(Ok(proof)) => Some(proof),
            Some(Err(_)) => {
                // The server cannot be listed either.
                self.is_over = true;
                return None;
            }
        };
        let play = Play {
            request: self.request,
            game: self.wish.game.clone(),
            people: self.wish.people,
            party: PartyWish::None,
            pings: (!region.is_empty()).then(near).into_iter().collect(),
        };
        let fleet = self.wish.fleet.as_ref().zip(proof.as_ref());
        let fleet = fleet.map(|(key, it)| key.prove_places(facts_of(purpose, it, port), &play));
        Some(Question::Place { play, port, own, proof, fleet }.encode(self.nonce))
    }

    /// Handles a packet from the directory. Returns the packet to send, if any.
    pub fn handle_packet(
        &mut self,
        now: LocalTime,
        bytes: &[u8],
        signer: &Signer,
    ) -> Option<Vec<u8>> {
        if self.is_over {
            return None;
        }
        let answer = Answer::parse(bytes, self.nonce).ok()?;
        if !matches!(answer, Answer::Challenge(_)) {
            // In a long search, tokens expire.
            self.challenges = 0;
        }
        match answer {
            Answer::Challenge(token) if self.challenges < CHALLENGES_MAX => {
                self.challenges += 1;
                self.token = Some(token);
                self.question(now, signer)
            }
            Answer::Placed(placed) => {
                let people = placed.people.min(self.wish.people);
                self.wish.people -= people;
                self.found.push(Placed { people, ..placed });
                self.is_over =
                    people == 0 || self.wish.people == 0 || self.found.len() >= SERVERS_MAX;
                // Another question, for the others.
                self.nonce = self.random.bits().to_le_bytes();
                self.request = RequestId(self.random.bits().to_le_bytes());
                if self.is_over { None } else { self.question(now, signer) }
            }
            // A server may be starting.
            Answer::Waiting(waiting) => {
                let wait = Micros::from_ms(i64::from(waiting.again_ms)).min(AGAIN);
                self.due = now + wait;
                None
            }
            Answer::Denied(refusal) => {
                (self.refusal, self.is_over) = (Some(refusal), true);
                None
            }
            _ => None,
        }
    }
}

/// Asks a directory for seats until it has answered for all people. Sends each server with seats to
/// `found` at once, so that none is lost if the caller's time is up. Returns why the directory
/// refused, if it did.
pub async fn place(
    announcement: &Announcement,
    wish: &PlacesWish,
    mut found: impl FnMut(Placed, SocketAddr),
) -> io::Result<Option<PlayRefusal>> {
    let addresses = lookup(&announcement.directory).await;
    let mut addresses = addresses.map_err(|error| io::Error::other(error.to_string()))?;
    // The server announces itself from an IPv4 address if it can.
    addresses.sort_by_key(|address| !address.is_ipv4());
    place_at(announcement, wish, addresses, &mut found).await
}

/// Asks at the directory's addresses until one answers for all people. After an error, the next one
/// is asked for those who have no seats yet.
pub(super) async fn place_at(
    announcement: &Announcement,
    wish: &PlacesWish,
    addresses: Vec<SocketAddr>,
    found: &mut impl FnMut(Placed, SocketAddr),
) -> io::Result<Option<PlayRefusal>> {
    let (mut last, mut people) = (Ok(None), wish.people);
    for remote in addresses {
        let left = PlacesWish { people, ..wish.clone() };
        let note = |placed: Placed| {
            people = people.saturating_sub(placed.people);
            found(placed, remote);
        };
        match ask(announcement, left, remote, note).await {
            Ok(Some(placer)) => return Ok(placer.refusal()),
            Ok(None) => last = Err(io::ErrorKind::TimedOut.into()),
            // Perhaps this machine has no route to it.
            Err(error) => last = Err(error),
        }
    }
    last
}

/// Asks at one of the directory's addresses. Returns `None` if it does not answer at all.
async fn ask(
    announcement: &Announcement,
    wish: PlacesWish,
    remote: SocketAddr,
    mut found: impl FnMut(Placed),
) -> io::Result<Option<Placer>> {
    let Announcement { listen, signer, .. } = announcement;
    let socket = UdpSocket::bind(own(listen, remote)).await?;
    socket.connect(remote).await?;
    let clock = Clock::start();
    let begun = clock.now();
    let mut placer = Placer::new(wish, Clock::seed(), begun);
    let (mut told, mut is_answered) = (0, false);
    while !placer.is_over() {
        if !is_answered && clock.now() - begun >= FIRST_ANSWER {
            return Ok(None);
        }
        let mut bytes = [0; QUESTION_BYTES];
        let send = tokio::select! {
            () = sleep_until(clock.instant(placer.next_timeout())) => {
                placer.handle_timeout(clock.now(), signer)
            }
            received = socket.recv(&mut bytes) => {
                let received = received?;
                is_answered = true;
                placer.handle_packet(clock.now(), &bytes[..received], signer)
            }
        };
        for placed in &placer.found()[told..] {
            found(placed.clone());
        }
        told = placer.found().len();
        if let Some(send) = send {
            // A packet that cannot be sent gets no answer.
            let _ = socket.send(&send).await;
        }
    }
    Ok(Some(placer))
}
