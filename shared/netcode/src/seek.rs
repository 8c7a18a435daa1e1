//! Asks directories where to play.
//!
//! A [`Seeker`] first measures the ping of each region that the directory names, and then asks for
//! a place until it gets one. It asks one directory at a time: the first that knows the game. A
//! browser asks one directory over HTTP, and measures no pings.

use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::collections::{BTreeMap, VecDeque};

use crate::identity::Credentials;
use crate::invitation::Invitation;
use crate::limits::REGIONS_MAX;
use crate::random::Random;
use crate::time::{LocalTime, Micros};
use crate::wire::directory::play::{
    PartyCode, PartyWish, Placed, Play, PlayRefusal, PlayerProof, RegionPing, RequestId, Waiting,
};
use crate::wire::directory::{Answer, Question, Token, nonce_of_answer};
use crate::wire::query::{Info, Nonce, WebIdentity, question_of};
use crate::wire::rooms::RoomCode;

#[cfg(test)]
mod tests;

/// Time to wait for an answer, and number of attempts with one address of a directory.
const PATIENCE: Micros = Micros::from_ms(500);
const TRIES: u8 = 3;
/// Time to wait for an answer over HTTP, which may need a new connection with TLS.
const PATIENCE_HTTP: Micros = Micros::from_ms(5000);
/// Stands for the directory that is asked over HTTP.
pub const OVER_HTTP: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);
/// Silence after which a directory in whose queue the player waited is given up. It may be
/// restarting.
const SILENCE_MAX: Micros = Micros::from_ms(30_000);
/// Time since the last place in the queue for which refusals are asked again that end on their own:
/// a directory that was restarted knows no servers until they announce themselves, every five
/// minutes, and then many players come at once.
const REFUSED_MAX: Micros = Micros::from_ms(330_000);
/// Number of times that waits double: up to 4 s between attempts, up to 8 s after refusals.
const DOUBLINGS_MAX: u32 = 3;
/// Shortest time until the next request after a refusal.
const REFUSED_WAIT_MS: u32 = 500;
/// Time to measure pings. Regions further away count as unmeasured, and so as far.
const PING_TIME: Micros = Micros::from_ms(600);
/// Bytes of the question by which a ping is measured: enough for an answer.
const PING_BYTES: usize = 384;
/// Time for the player's signature, which a page's browser makes.
const SIGN_TIME: Micros = Micros::from_ms(2000);
/// Maximum number of tokens in a row to sign. Arbitrary; usually there is one, and another one
/// every 30 seconds.
const CHALLENGES_MAX: u8 = 4;
/// Shortest and longest time until the next request, whatever the directory says.
const AGAIN_MS: (u32, u32) = (100, 5000);

/// What a player wants to play.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeekWish {
    /// The game.
    pub game: String,
    /// Number of seats, or for a new party of people who are expected.
    pub people: u16,
    /// The party.
    pub party: PartyWish,
}

/// Why no place was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SeekError {
    /// No directory has answered.
    #[error("no directory answers; check their addresses, and your connection")]
    Silent,
    /// The last directory refused.
    #[error(transparent)]
    Refused(#[from] PlayRefusal),
}

/// How far the search is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SeekState {
    /// No directory has answered the request yet.
    Asking,
    /// There is no seat yet.
    Waiting {
        /// Number of requests ahead of this one.
        position: u32,
    },
    /// There is a seat, which is kept for some seconds.
    Placed {
        /// The server, with the fingerprint of its certificate.
        invitation: Invitation,
        /// The room to ask for.
        room: Option<RoomCode>,
        /// How a browser recognizes the server, if a browser asked.
        web: WebIdentity,
        /// The player's ticket for the seat, if the directory has given one.
        ticket: Option<Vec<u8>>,
    },
    /// The search is over.
    Failed(SeekError),
}

/// How far a search is, for the player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeekView {
    /// How far it is.
    pub state: SeekState,
    /// Code of the party, as soon as it is known.
    pub party: Option<PartyCode>,
}

#[derive(Debug)]
enum Step {
    /// Begins with the next directory.
    Next,
    Regions {
        tries: u8,
    },
    Pings,
    /// Waits for the player's signature.
    Sign,
    Ask {
        tries: u8,
    },
    Wait,
    Over,
}

/// The last answers of a directory in whose queue the player waits.
#[derive(Clone, Copy, Debug)]
struct Queued {
    /// When it last named a place in the queue.
    at: LocalTime,
    /// When it last answered.
    heard: LocalTime,
    /// Number of refusals since the last place.
    refusals: u32,
}

/// Looks for a place for one player.
#[derive(Debug)]
pub struct Seeker {
    play: Play,
    random: Random,
    /// Addresses of directories that were not asked yet.
    directories: VecDeque<SocketAddr>,
    directory: Option<SocketAddr>,
    /// Time to wait for an answer of a directory.
    patience: Micros,
    nonce: Nonce,
    token: Option<Token>,
    /// Names of the directories to which the player's key is proven.
    names: BTreeMap<SocketAddr, String>,
    /// Name of this directory while the key is to be proven to it, the proof, and the text to sign
    /// for it.
    name: Option<String>,
    player: PlayerProof,
    to_sign: Option<Vec<u8>>,
    /// Number of tokens that the directory has sent.
    challenges: u8,
    /// Servers that were asked for their status, with the region of each.
    asked: BTreeMap<Nonce, (SocketAddr, String, LocalTime)>,
    step: Step,
    due: LocalTime,
    /// `None` until the directory has named a place in its queue.
    queued: Option<Queued>,
    state: SeekState,
    party: Option<PartyCode>,
    refusal: Option<PlayRefusal>,
    transmits: VecDeque<(SocketAddr, Vec<u8>)>,
}

impl Seeker {
    /// Creates a search with directories at these addresses, which are asked in this order.
    pub fn new(wish: SeekWish, directories: Vec<SocketAddr>, seed: u64, now: LocalTime) -> Self {
        let mut random = Random::new(seed);
        let SeekWish { game, people, party } = wish;
        // Each directory gets one of its own.
        let request = RequestId(random.bits().to_le_bytes());
        Self {
            play: Play { request, game, people, party, pings: Vec::new() },
            random,
            directories: directories.into(),
            directory: None,
            patience: PATIENCE,
            nonce: Nonce::default(),
            token: None,
            names: BTreeMap::new(),
            name: None,
            player: PlayerProof::None,
            to_sign: None,
            challenges: 0,
            asked: BTreeMap::new(),
            step: Step::Next,
            due: now,
            queued: None,
            state: SeekState::Asking,
            party: match party {
                PartyWish::Join(code) => Some(code),
                PartyWish::None | PartyWish::New => None,
            },
            refusal: None,
            transmits: VecDeque::new(),
        }
    }

    /// Creates a search with one directory, which is asked over HTTP: fetch questions with
    /// [`poll_question`](Self::poll_question).
    pub fn over_http(wish: SeekWish, seed: u64, now: LocalTime) -> Self {
        Self { patience: PATIENCE_HTTP, ..Self::new(wish, vec![OVER_HTTP], seed, now) }
    }

    /// Proves the player's key to directories, so that they can give a ticket for the seat: fetch
    /// texts to sign with [`poll_text`](Self::poll_text). `names` are those by which the player
    /// knows the directories: `host:port`, or for [`OVER_HTTP`] the host of its URL. One without a
    /// name gets no proof.
    #[must_use]
    pub fn proving(self, names: BTreeMap<SocketAddr, String>) -> Self {
        Self { names, ..self }
    }

    /// Returns the next text to sign with the player's key.
    pub fn poll_text(&mut self) -> Option<Vec<u8>> {
        self.to_sign.take()
    }

    /// Handles the player's key and the signature of the last text.
    pub fn handle_signature(&mut self, now: LocalTime, made: Credentials) {
        if let (Step::Sign, Some(name)) = (&self.step, &self.name) {
            self.player = PlayerProof::Made(made, name.clone());
            self.ask(now, 1);
        }
    }

    /// Returns the next question to send over HTTP.
    pub fn poll_question(&mut self) -> Option<Vec<u8>> {
        self.poll_transmit().map(|(_, bytes)| bytes)
    }

    /// Handles the answer to a question over HTTP: its status, and its body. Without an answer, the
    /// status is 0.
    pub fn handle_answer(&mut self, now: LocalTime, status: u16, body: &[u8]) {
        match status {
            200 => self.handle_packet(now, OVER_HTTP, body),
            429 if matches!(self.step, Step::Ask { .. }) => {
                self.handle_refusal(now, PlayRefusal::Often);
            }
            // Waiting longer is pointless.
            _ if matches!(self.step, Step::Ask { .. }) => self.due = self.due.min(now + PATIENCE),
            _ => {}
        }
    }

    /// Returns how far the search is.
    pub fn state(&self) -> &SeekState {
        &self.state
    }

    /// Returns the code of the party, as soon as it is known.
    pub fn party(&self) -> Option<PartyCode> {
        self.party
    }

    /// Returns how far the search is, for the player.
    pub fn view(&self) -> SeekView {
        SeekView { state: self.state.clone(), party: self.party }
    }

    /// Returns the next packet to send.
    pub fn poll_transmit(&mut self) -> Option<(SocketAddr, Vec<u8>)> {
        self.transmits.pop_front()
    }

    /// Returns when to call [`handle_timeout`](Self::handle_timeout) next; `None` when the search
    /// is over.
    pub fn next_timeout(&self) -> Option<LocalTime> {
        (!matches!(self.step, Step::Over)).then_some(self.due)
    }

    /// Handles a timeout.
    pub fn handle_timeout(&mut self, now: LocalTime) {
        if self.next_timeout().is_none_or(|due| now < due) {
            return;
        }
        match self.step {
            Step::Next => self.begin(now),
            Step::Ask { tries } if self.queued.is_some_and(|it| now - it.heard < SILENCE_MAX) => {
                self.ask(now, tries.saturating_add(1));
            }
            Step::Regions { tries } | Step::Ask { tries } if tries >= TRIES => self.begin(now),
            Step::Regions { tries } => self.ask_regions(now, tries + 1),
            Step::Pings | Step::Wait => self.ask(now, 1),
            // The seat matters more than the ticket.
            Step::Sign => self.ask_without_key(now),
            Step::Ask { tries } => self.ask(now, tries + 1),
            Step::Over => {}
        }
    }

    /// Begins with the next directory.
    fn begin(&mut self, now: LocalTime) {
        (self.token, self.queued, self.challenges) = (None, None, 0);
        (self.player, self.to_sign) = (PlayerProof::None, None);
        // Anyone who knows the id can ask in the player's place, in any other directory.
        self.play.request = RequestId(self.random.bits().to_le_bytes());
        self.play.pings.clear();
        self.asked.clear();
        self.directory = self.directories.pop_front();
        self.name = self.directory.and_then(|it| self.names.get(&it).cloned());
        match self.directory {
            // Browsers cannot measure pings.
            Some(OVER_HTTP) => {
                if self.name.is_some() {
                    self.player = PlayerProof::Wanted;
                }
                self.ask(now, 1);
            }
            Some(_) => self.ask_regions(now, 1),
            None => {
                let why = self.refusal.map_or(SeekError::Silent, SeekError::Refused);
                self.end(SeekState::Failed(why));
            }
        }
    }

    fn end(&mut self, state: SeekState) {
        (self.step, self.state) = (Step::Over, state);
    }

    fn ask_regions(&mut self, now: LocalTime, tries: u8) {
        (self.step, self.due) = (Step::Regions { tries }, now + self.patience);
        self.send(&Question::Regions);
    }

    fn ask(&mut self, now: LocalTime, tries: u8) {
        // Longer only in a queue; otherwise there are no more attempts.
        let doublings = u32::from(tries.saturating_sub(TRIES)).min(DOUBLINGS_MAX);
        let patience = Micros(self.patience.0 << doublings);
        (self.step, self.due) = (Step::Ask { tries }, now + patience);
        let (play, token, player) = (self.play.clone(), self.token, self.player.clone());
        self.send(&Question::Play { play, token, player });
    }

    fn ask_without_key(&mut self, now: LocalTime) {
        (self.name, self.to_sign, self.player) = (None, None, PlayerProof::None);
        self.ask(now, 1);
    }

    /// Continues with a directory's token.
    fn handle_challenge(&mut self, now: LocalTime, token: Token) {
        self.token = Some(token);
        self.challenges = self.challenges.saturating_add(1);
        let Some(name) = &self.name else { return self.ask(now, 1) };
        if self.challenges > CHALLENGES_MAX {
            return self.ask_without_key(now);
        }
        self.to_sign = Some(self.play.signed_text(&token, name));
        (self.step, self.due) = (Step::Sign, now + SIGN_TIME);
    }

    /// Sends a question to the directory.
    fn send(&mut self, question: &Question) {
        self.nonce = self.random.bits().to_le_bytes();
        if let Some(directory) = self.directory {
            self.transmits.push_back((directory, question.encode(self.nonce)));
        }
    }

    /// Handles a packet.
    pub fn handle_packet(&mut self, now: LocalTime, from: SocketAddr, bytes: &[u8]) {
        if nonce_of_answer(bytes).is_none() {
            return self.handle_status(now, from, bytes);
        }
        if self.directory != Some(from) {
            return;
        }
        let Ok(answer) = Answer::parse(bytes, self.nonce) else { return };
        if let Some(queued) = &mut self.queued {
            queued.heard = now;
        }
        match (&self.step, answer) {
            (Step::Regions { .. }, Answer::Regions(beacons)) => {
                (self.step, self.due) = (Step::Pings, now);
                for beacon in beacons.into_iter().take(REGIONS_MAX) {
                    let server =
                        SocketAddr::new(IpAddr::from(beacon.ip).to_canonical(), beacon.port);
                    let nonce: Nonce = self.random.bits().to_le_bytes();
                    self.asked.insert(nonce, (server, beacon.region, now));
                    self.transmits.push_back((server, question_of(nonce, PING_BYTES)));
                    self.due = now + PING_TIME;
                }
            }
            (Step::Ask { .. }, Answer::Challenge(token)) => self.handle_challenge(now, token),
            (Step::Ask { .. }, Answer::Waiting(Waiting { position, again_ms, party })) => {
                let (least, most) = AGAIN_MS;
                let again = Micros::from_ms(again_ms.clamp(least, most).into());
                (self.step, self.due) = (Step::Wait, now + again);
                self.queued = Some(Queued { at: now, heard: now, refusals: 0 });
                self.challenges = 0;
                self.state = SeekState::Waiting { position };
                self.party = party.or(self.party);
            }
            (Step::Ask { .. }, Answer::Placed(placed)) => self.place(placed, from),
            (Step::Ask { .. }, Answer::Denied(refusal)) => self.handle_refusal(now, refusal),
            _ => {}
        }
    }

    fn handle_refusal(&mut self, now: LocalTime, refusal: PlayRefusal) {
        if refusal == PlayRefusal::Key && self.player != PlayerProof::None {
            return self.ask_without_key(now);
        }
        self.refusal = Some(refusal);
        let passes = matches!(refusal, PlayRefusal::Game | PlayRefusal::Full | PlayRefusal::Often);
        if let Some(queued) = self.queued.as_mut().filter(|it| passes && now - it.at < REFUSED_MAX)
        {
            let wait = REFUSED_WAIT_MS << queued.refusals.min(DOUBLINGS_MAX);
            queued.refusals += 1;
            // All players who waited come back at the same time.
            let wait = Micros::from_ms((wait + self.random.below(wait)).into());
            (self.step, self.due) = (Step::Wait, now + wait);
            return;
        }
        // Another directory may know the game or the party.
        let is_elsewhere = matches!(refusal, PlayRefusal::Game | PlayRefusal::Party);
        if is_elsewhere && !self.directories.is_empty() {
            (self.step, self.due) = (Step::Next, now);
        } else {
            self.end(SeekState::Failed(refusal.into()));
        }
    }

    fn place(&mut self, placed: Placed, directory: SocketAddr) {
        let address = placed.server.address(directory).into();
        let fingerprint = Some(placed.server.fingerprint);
        self.party = placed.party.or(self.party);
        let invitation = Invitation { address, fingerprint };
        let Placed { room, web, ticket, .. } = placed;
        self.end(SeekState::Placed { invitation, room, web, ticket });
    }

    /// Handles the status of a server, by which a region's ping is measured.
    fn handle_status(&mut self, now: LocalTime, from: SocketAddr, bytes: &[u8]) {
        let known = self
            .asked
            .iter()
            .find(|(nonce, (server, ..))| *server == from && Info::parse(bytes, **nonce).is_ok());
        let Some(nonce) = known.map(|(nonce, _)| *nonce) else { return };
        let Some((_, region, at)) = self.asked.remove(&nonce) else { return };
        let ms = u16::try_from((now - at).0 / 1000).unwrap_or(u16::MAX);
        self.play.pings.push(RegionPing { ms, region });
        if self.asked.is_empty() && matches!(self.step, Step::Pings) {
            self.due = now;
        }
    }
}
