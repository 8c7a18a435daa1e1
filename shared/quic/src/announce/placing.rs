//! Asks a directory where the players of a server that drains can go on: the state machine, and the
//! task that drives it.

use std::net::SocketAddr;

use phaselock::limits::QUESTION_BYTES;
use phaselock::random::Random;
use phaselock::time::{LocalTime, Micros};
use phaselock::wire::directory::play::{PartyWish, Placed, Play, PlayRefusal, Ticket};
use phaselock::wire::directory::{Answer, Question, Token};
use phaselock::wire::query::Nonce;
use tokio::net::UdpSocket;
use tokio::time::sleep_until;

use super::driver::{Announcement, own};
use crate::attempts::lookup;
use crate::clock::Clock;
use crate::identity::Signer;

/// Time until a question is repeated. Short: players wait for the answer.
const AGAIN: Micros = Micros::from_ms(300);
/// Maximum number of servers among which the players of a server are divided. Arbitrary.
const SERVERS_MAX: usize = 64;

/// Maximum number of tokens to sign. Arbitrary; usually there is one.
const CHALLENGES_MAX: u8 = 8;

/// Asks a directory for seats until each player has one, or until it has no more.
#[derive(Debug)]
pub struct Placer {
    game: String,
    people: u16,
    port: u16,
    random: Random,
    nonce: Nonce,
    ticket: Ticket,
    token: Option<Token>,
    challenges: u8,
    due: LocalTime,
    found: Vec<Placed>,
    refusal: Option<PlayRefusal>,
    is_over: bool,
}

impl Placer {
    /// Creates one that asks for seats for this number of people who play a game, for a server at
    /// this port.
    pub fn new(game: &str, people: u16, port: u16, seed: u64, now: LocalTime) -> Self {
        let mut random = Random::new(seed);
        let (nonce, ticket) = (random.bits().to_le_bytes(), Ticket(random.bits().to_le_bytes()));
        Self {
            game: game.to_owned(),
            people,
            port,
            random,
            nonce,
            ticket,
            token: None,
            challenges: 0,
            due: now,
            found: Vec::new(),
            refusal: None,
            is_over: people == 0,
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
        let port = self.port;
        let proof = match self.token.map(|token| signer.prove(token, port)) {
            None => None,
            Some(Ok(proof)) => Some(proof),
            Some(Err(_)) => {
                // The server cannot be listed either.
                self.is_over = true;
                return None;
            }
        };
        let play = Play {
            ticket: self.ticket,
            game: self.game.clone(),
            people: self.people,
            party: PartyWish::None,
            pings: Vec::new(),
        };
        Some(Question::Place { play, port, proof }.encode(self.nonce))
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
        match Answer::parse(bytes, self.nonce).ok()? {
            Answer::Challenge(token) if self.challenges < CHALLENGES_MAX => {
                self.challenges += 1;
                self.token = Some(token);
                self.question(now, signer)
            }
            Answer::Placed(placed) => {
                let people = placed.people.min(self.people);
                self.people -= people;
                self.found.push(Placed { people, ..placed });
                self.is_over = people == 0 || self.people == 0 || self.found.len() >= SERVERS_MAX;
                // Another question, for the others.
                self.nonce = self.random.bits().to_le_bytes();
                self.ticket = Ticket(self.random.bits().to_le_bytes());
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

/// Asks a directory for seats for these people, until it has answered for all of them. Sends each
/// server with seats to `found` at once, so that none is lost if the caller's time is up. Returns
/// why the directory refused, if it did.
pub async fn place(
    announcement: &Announcement,
    game: &str,
    people: u16,
    mut found: impl FnMut(Placed, SocketAddr),
) -> std::io::Result<Option<PlayRefusal>> {
    let Announcement { directory, listen, signer, port } = announcement;
    let addresses =
        lookup(directory).await.map_err(|error| std::io::Error::other(error.to_string()))?;
    // The one from which the server announces itself.
    let best = addresses.iter().min_by_key(|address| !address.is_ipv4());
    let Some(remote) = best.copied() else { return Ok(None) };
    let socket = UdpSocket::bind(own(listen, remote)).await?;
    socket.connect(remote).await?;
    let clock = Clock::start();
    let mut placer = Placer::new(game, people, *port, Clock::seed(), clock.now());
    let mut told = 0;
    while !placer.is_over() {
        let mut bytes = [0; QUESTION_BYTES];
        let send = tokio::select! {
            () = sleep_until(clock.instant(placer.next_timeout())) => {
                placer.handle_timeout(clock.now(), signer)
            }
            received = socket.recv(&mut bytes) => {
                placer.handle_packet(clock.now(), &bytes[..received?], signer)
            }
        };
        for placed in &placer.found()[told..] {
            found(placed.clone(), remote);
        }
        told = placer.found().len();
        if let Some(send) = send {
            // A packet that cannot be sent gets no answer.
            let _ = socket.send(&send).await;
        }
    }
    Ok(placer.refusal())
}
