//! Finding servers: the protocol between a directory, the servers that want to be listed, and
//! clients that look for one.
//!
//! ```text
//! question   "?directory"  u8 version  8 bytes of the asker's choice  u8 ask     fields  zeros
//! answer     "!directory"  u8 version  these 8 bytes                  u8 answer  fields
//! field      u8 kind       u16 length (little-endian)                 that many bytes
//! ```
//!
//! ```text
//! server -> directory   announce: port
//! directory -> server   challenge: token, which only that address receives
//! server -> directory   announce: port, token, certificate, scheme, signature
//! directory -> port     query for the status, whose answer names that certificate
//! directory -> server   listed: seconds; or refused: reason
//! ```
//!
//! ```text
//! player -> directory   play: request, game, people, party, pings of regions
//! directory -> player   challenge: token
//! player -> directory   play: the same with the token, and the player's key and signature
//! directory -> player   waiting: position, when to ask again; placed: server, room, ticket; or
//!                       denied
//! ```
//!
//! A player asks again until it is placed. A server that drains asks in the same way for places for
//! its players, with the proof of an announcement in place of the bare token. Over HTTP, the same
//! bytes are the bodies of a request and its answer; the connection proves the address, and a token
//! is needed only for a proof of the player's key.
//!
//! An answer is never longer than its question, so a directory cannot be used to flood others. A
//! server signs [`signed_text`].
//!
//! *Invariant:* all of this never changes, as with the [status](super::query): kinds are only
//! added, unknown ones are ignored, and kind 0 ends the fields.

use core::net::{IpAddr, SocketAddr};

pub use self::listed::Listed;
use self::play::{
    Beacon, PartyCode, PartyWish, Placed, Play, PlayRefusal, PlayerProof, RegionPing, RequestId,
    Waiting,
};
use super::error::WireError;
use super::query::{Fields, Nonce, WebIdentity, number, text};
use super::rooms::RoomCode;
use super::text::clip;
use crate::fingerprint::Fingerprint;
use crate::identity::{Credentials, Proof, PublicKey};
use crate::limits::{
    ANNOUNCED_CERTIFICATE_BYTES_MAX, ANNOUNCED_SIGNATURE_BYTES_MAX, ANNOUNCEMENT_BYTES_MAX,
    DIRECTORY_NAME_BYTES_MAX, DIRECTORY_PAGE_MAX, NAME_BYTES_MAX, PLAYERS_MAX, QUESTION_BYTES,
    REGION_BYTES_MAX, REGIONS_MAX, ROOM_CODE_BYTES_MAX, TICKET_BYTES_MAX,
};

mod listed;
pub mod play;
#[cfg(test)]
mod tests;

const QUESTION: &[u8; 10] = b"?directory";
const ANSWER: &[u8; 10] = b"!directory";
/// Version of questions and answers. A new version may add what fields cannot express.
const VERSION: u8 = 1;
/// Number of bytes before the fields.
const HEAD_BYTES: usize = QUESTION.len() + 2 + size_of::<Nonce>();
/// Bytes of the first announcement: those of a challenge, and some for later additions.
const FIRST_BYTES: usize = 96;
/// Minimum bytes of a question for a place: those of the longest answer, and some for later
/// additions.
const PLAY_BYTES: usize = 192;
/// Minimum bytes of such a question with a player's key, since its answer may have a ticket.
const KEYED_BYTES: usize = 384;
/// Bytes of a question for the regions.
const REGIONS_BYTES: usize = 480;
/// Bytes of the field [`kind::NEXT`].
const NEXT_BYTES: usize = 7;

const _: () = assert!(HEAD_BYTES + 3 + size_of::<Token>() <= FIRST_BYTES);
const _: () = assert!(QUESTION.len() == ANSWER.len());
const _: () = assert!(HEAD_BYTES + REGIONS_MAX * (3 + 3 + REGION_BYTES_MAX + 16) <= REGIONS_BYTES);

/// Kinds of questions.
mod ask {
    pub(super) const LIST: u8 = 1;
    pub(super) const ANNOUNCE: u8 = 2;
    pub(super) const PLAY: u8 = 3;
    pub(super) const PLACE: u8 = 4;
    pub(super) const REGIONS: u8 = 5;
}

/// Kinds of answers.
mod answer {
    pub(super) const PAGE: u8 = 1;
    pub(super) const CHALLENGE: u8 = 2;
    pub(super) const LISTED: u8 = 3;
    pub(super) const REFUSED: u8 = 4;
    pub(super) const PLACED: u8 = 5;
    pub(super) const WAITING: u8 = 6;
    pub(super) const DENIED: u8 = 7;
    pub(super) const REGIONS: u8 = 8;
}

/// Kinds of fields.
mod kind {
    super::super::field_kinds! {
        END = 0;
        AFTER = 1;
        PORT = 2;
        TOKEN = 3;
        CERTIFICATE = 4;
        SCHEME = 5;
        SIGNATURE = 6;
        SERVER = 7;
        NEXT = 8;
        TOTAL = 9;
        SECONDS = 10;
        REASON = 11;
        REQUEST = 12;
        GAME = 13;
        PEOPLE = 14;
        PARTY = 15;
        PING = 16;
        ROOM = 17;
        POSITION = 18;
        AGAIN = 19;
        REGION = 20;
        WEB = 21;
        HOST = 22;
        OWN = 23;
        DIRECTORY = 24;
        FLEET = 25;
        PLAYER = 26;
        TICKET = 27;
    }
}

#[cfg(test)]
pub(super) use kind::KINDS;

/// Proof to a directory that an address belongs to the asker.
pub type Token = [u8; 24];

/// Proof to a directory that a server has the secret of the directory's fleet.
pub type FleetProof = [u8; 32];

/// Why a server proves that it has the private key of its certificate. A proof for one purpose is
/// invalid for the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProofPurpose {
    /// To be listed.
    Announcement,
    /// To get places for its players. The address is the one at which players reach the server, if
    /// it knows.
    Places(Option<SocketAddr>),
}

/// What a server signs.
#[derive(Clone, Copy, Debug)]
pub struct SignedFacts<'a> {
    /// What for.
    pub purpose: ProofPurpose,
    /// The directory, as the server's host has named it. So a directory cannot pass a proof on to
    /// another one.
    pub directory: &'a str,
    /// The directory's token.
    pub token: &'a Token,
    /// UDP port of the server.
    pub port: u16,
    /// SHA-256 digest of the server's certificate.
    pub certificate: Fingerprint,
}

/// Returns the text that a server signs.
pub fn signed_text(facts: SignedFacts<'_>) -> Vec<u8> {
    let SignedFacts { purpose, directory, token, port, certificate } = facts;
    let (label, own) = match purpose {
        ProofPurpose::Announcement => (&b"phaselock directory announcement"[..], Vec::new()),
        ProofPurpose::Places(own) => {
            (&b"phaselock directory places"[..], own.map(own_field).unwrap_or_default())
        }
    };
    let mut signed = [label, token, &port.to_le_bytes(), &certificate.0].concat();
    // Announcements of older servers name none. The length keeps the name apart from what follows.
    if !directory.is_empty() || purpose != ProofPurpose::Announcement {
        let directory = clip(directory, DIRECTORY_NAME_BYTES_MAX).as_bytes();
        signed.extend(u16::try_from(directory.len()).unwrap_or(u16::MAX).to_le_bytes());
        signed.extend(directory);
    }
    signed.extend(own);
    signed
}

/// Proof that a server has the key of its certificate, and is at its address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnnouncementProof {
    /// The directory's token.
    pub token: Token,
    /// The server's certificate in DER.
    pub certificate: Vec<u8>,
    /// The signature scheme, numbered as in TLS 1.3.
    pub scheme: u16,
    /// Signature of [`signed_text`] with the certificate's key.
    pub signature: Vec<u8>,
    /// The directory that the proof is for, as the server's host has named it: `host:port`. Empty
    /// in announcements of older servers.
    pub directory: String,
}

/// A question to a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// Asks for the servers after a position in the list; 0 for the first ones.
    List {
        /// Position of the last server that is known.
        after: u32,
    },
    /// Announces a server at this port of the asker's address. Without a proof, the answer is a
    /// challenge.
    Announce {
        /// UDP port of the server.
        port: u16,
        /// The server's proof.
        proof: Option<AnnouncementProof>,
    },
    /// Asks where to play. Over UDP, the answer is a challenge if the token is missing or invalid.
    Play {
        /// The request.
        play: Play,
        /// The directory's token.
        token: Option<Token>,
        /// The player's key.
        player: PlayerProof,
    },
    /// Asks, for a server at this port of the asker's address that drains, where its players can
    /// go on. Without a proof, the answer is a challenge.
    Place {
        /// The request: the number of people who leave together, and their game. It may be granted
        /// in part, and its party is ignored.
        play: Play,
        /// UDP port of the server that drains.
        port: u16,
        /// Address at which players reach that server, if it knows and it is another one than the
        /// asker's: in a cluster, servers ask from the addresses of their pods.
        own: Option<SocketAddr>,
        /// The server's proof.
        proof: Option<AnnouncementProof>,
        /// Proof that the server is of the directory's fleet, if it has the fleet's secret.
        fleet: Option<FleetProof>,
    },
    /// Asks for the regions, so that the asker can measure its pings.
    Regions,
}

/// Why a directory does not list a server.
#[allow(missing_docs, reason = "the error messages document the variants")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnnouncementRefusal {
    #[error("the directory refused, for a reason that this version does not know")]
    Unknown,
    #[error("the proof is too old or was made for another address; retrying")]
    Token,
    #[error("the signature does not match the certificate")]
    Signature,
    #[error(
        "the directory got no answer from the announced UDP port; open the port in the firewall \
         and forward it in the router, or announce the port that is open"
    )]
    Silent,
    #[error(
        "another server answers at the announced port, or one that does not send its \
         certificate's digest; announce the port of this server"
    )]
    Another,
    #[error("the directory is full; use another one, or ask its host")]
    Full,
    #[error(
        "the directory lists the maximum number of servers of this network; use another directory"
    )]
    Network,
    #[error(
        "the same certificate is listed at another address; give each server a certificate of its \
         own, or wait some minutes after a move"
    )]
    Taken,
    #[error(
        "the server signed for another directory; in `directories`, use an address that the \
         directory has as its `--name`"
    )]
    Directory,
}

impl AnnouncementRefusal {
    const ALL: [Self; 8] = [
        Self::Token,
        Self::Signature,
        Self::Silent,
        Self::Another,
        Self::Full,
        Self::Network,
        Self::Taken,
        Self::Directory,
    ];

    /// Returns its number on the wire; 0 for none of these.
    fn code(self) -> u8 {
        let place = Self::ALL.iter().position(|it| *it == self);
        place.and_then(|place| u8::try_from(place + 1).ok()).unwrap_or_default()
    }

    fn of(code: u32) -> Self {
        let place = usize::try_from(code).unwrap_or_default().checked_sub(1);
        place.and_then(|place| Self::ALL.get(place)).copied().unwrap_or(Self::Unknown)
    }
}

/// A directory's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A page of the list.
    Page {
        /// Number of servers in the whole list.
        total: u32,
        /// Servers of this page, at most [`DIRECTORY_PAGE_MAX`].
        servers: Vec<Listed>,
        /// Position to continue from; `None` at the end of the list.
        next: Option<u32>,
    },
    /// A token to sign.
    Challenge(Token),
    /// The server is listed.
    Listed {
        /// Seconds until the server must announce itself again.
        seconds: u32,
    },
    /// The server is not listed.
    Refused(AnnouncementRefusal),
    /// There are seats.
    Placed(Placed),
    /// There are none yet.
    Waiting(Waiting),
    /// The request for a place is refused.
    Denied(PlayRefusal),
    /// Regions, at most [`REGIONS_MAX`].
    Regions(Vec<Beacon>),
}

impl Question {
    /// Encodes the question, padded to the maximum length of its answer.
    pub fn encode(&self, nonce: Nonce) -> Vec<u8> {
        let (ask, least) = match self {
            Self::List { .. } => (ask::LIST, QUESTION_BYTES),
            Self::Announce { .. } => (ask::ANNOUNCE, FIRST_BYTES),
            Self::Play { player: PlayerProof::Made(..), .. } => (ask::PLAY, KEYED_BYTES),
            Self::Play { .. } => (ask::PLAY, PLAY_BYTES),
            Self::Place { .. } => (ask::PLACE, PLAY_BYTES),
            Self::Regions => (ask::REGIONS, REGIONS_BYTES),
        };
        let mut fields = head(QUESTION, nonce, ask, ANNOUNCEMENT_BYTES_MAX);
        match self {
            Self::List { after } => fields.put(kind::AFTER, &after.to_le_bytes()),
            Self::Announce { port, proof } => put_proof(&mut fields, *port, proof.as_ref()),
            Self::Play { play, token, player } => {
                put_play(&mut fields, play);
                if let Some(token) = token {
                    fields.put(kind::TOKEN, token);
                }
                match player {
                    PlayerProof::None => {}
                    PlayerProof::Wanted => fields.put(kind::PLAYER, &[]),
                    PlayerProof::Made(made, directory) => {
                        fields.put(kind::PLAYER, &player_field(made));
                        fields.text(kind::DIRECTORY, directory, DIRECTORY_NAME_BYTES_MAX);
                    }
                }
            }
            Self::Regions => {}
            Self::Place { play, port, own, proof, fleet } => {
                put_play(&mut fields, play);
                if let Some(own) = own {
                    fields.put(kind::OWN, &own_field(*own));
                }
                if let Some(fleet) = fleet {
                    fields.put(kind::FLEET, fleet);
                }
                put_proof(&mut fields, *port, proof.as_ref());
            }
        }
        let mut bytes = fields.bytes;
        bytes.resize(bytes.len().max(least), 0);
        bytes
    }

    /// Decodes a question and its nonce.
    pub fn parse(bytes: &[u8]) -> Result<(Self, Nonce), WireError> {
        let (nonce, ask, rest) = parse_head(QUESTION, bytes)?;
        let mut asked = Asked::default();
        asked.read(rest)?;
        let question = match ask {
            ask::LIST => Self::List { after: asked.after },
            ask::ANNOUNCE => Self::Announce { port: asked.port()?, proof: asked.proof() },
            ask::PLAY => {
                let (token, player) = (asked.token, asked.player());
                Self::Play { token, player, play: asked.play()? }
            }
            ask::PLACE => {
                let (port, own, proof) = (asked.port()?, asked.own, asked.proof());
                let fleet = asked.fleet;
                Self::Place { port, own, proof, fleet, play: asked.play()? }
            }
            ask::REGIONS => Self::Regions,
            other => return Err(WireError::Kind(other)),
        };
        Ok((question, nonce))
    }
}

/// The fields of a question.
#[derive(Default)]
struct Asked<'a> {
    after: u32,
    port: Option<u16>,
    token: Option<Token>,
    scheme: Option<u16>,
    certificate: Option<&'a [u8]>,
    signature: Option<&'a [u8]>,
    directory: String,
    request: Option<RequestId>,
    game: Option<String>,
    people: Option<u16>,
    party: PartyWish,
    pings: Vec<RegionPing>,
    own: Option<SocketAddr>,
    fleet: Option<FleetProof>,
    /// The player's key and its signature; empty to ask for a token.
    player: Option<Option<Credentials>>,
}

impl<'a> Asked<'a> {
    fn read(&mut self, mut rest: &'a [u8]) -> Result<(), WireError> {
        while let Some((kind, field)) = next_field(&mut rest)? {
            match kind {
                kind::AFTER => self.after = number(field)?,
                kind::PORT => self.port = Some(short(field)?),
                kind::TOKEN => self.token = Some(fixed(field, "token")?),
                kind::SCHEME => self.scheme = Some(short(field)?),
                kind::CERTIFICATE => {
                    self.certificate = Some(within(field, ANNOUNCED_CERTIFICATE_BYTES_MAX)?);
                }
                kind::SIGNATURE => {
                    self.signature = Some(within(field, ANNOUNCED_SIGNATURE_BYTES_MAX)?);
                }
                kind::DIRECTORY => self.directory = text(field, DIRECTORY_NAME_BYTES_MAX)?,
                kind::REQUEST => self.request = Some(RequestId(fixed(field, "request")?)),
                kind::GAME => self.game = Some(text(field, NAME_BYTES_MAX)?),
                kind::PEOPLE => self.people = Some(short(field)?),
                kind::PARTY => self.party = party_wish(field)?,
                kind::OWN => {
                    let (ip, port) = address(field)?;
                    self.own = Some(SocketAddr::new(IpAddr::from(ip).to_canonical(), port));
                }
                kind::FLEET => self.fleet = Some(fixed(field, "proof")?),
                kind::PLAYER => self.player = Some(player(field)?),
                kind::PING if self.pings.len() < REGIONS_MAX => {
                    let (ms, region) = field.split_first_chunk().ok_or(WireError::Short)?;
                    let region = text(region, REGION_BYTES_MAX)?;
                    self.pings.push(RegionPing { ms: u16::from_le_bytes(*ms), region });
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn port(&self) -> Result<u16, WireError> {
        self.port.filter(|port| *port != 0).ok_or(WireError::Range("port"))
    }

    fn proof(&self) -> Option<AnnouncementProof> {
        Some(AnnouncementProof {
            token: self.token?,
            certificate: self.certificate?.to_vec(),
            scheme: self.scheme?,
            signature: self.signature?.to_vec(),
            directory: self.directory.clone(),
        })
    }

    fn player(&self) -> PlayerProof {
        match self.player {
            None => PlayerProof::None,
            Some(None) => PlayerProof::Wanted,
            Some(Some(made)) => PlayerProof::Made(made, self.directory.clone()),
        }
    }

    fn play(self) -> Result<Play, WireError> {
        let game = self.game.filter(|game| !game.is_empty()).ok_or(WireError::Range("game"))?;
        let people = self.people.unwrap_or(1);
        if !(1..=PLAYERS_MAX).contains(&people) {
            return Err(WireError::Range("people"));
        }
        let request = self.request.ok_or(WireError::Range("request"))?;
        Ok(Play { request, game, people, party: self.party, pings: self.pings })
    }
}

fn put_play(fields: &mut Fields, play: &Play) {
    fields.put(kind::REQUEST, &play.request.0);
    fields.text(kind::GAME, &play.game, NAME_BYTES_MAX);
    fields.put(kind::PEOPLE, &play.people.to_le_bytes());
    match &play.party {
        PartyWish::None => {}
        PartyWish::New => fields.put(kind::PARTY, &[]),
        PartyWish::Join(code) => fields.put(kind::PARTY, code.as_str().as_bytes()),
    }
    for ping in play.pings.iter().take(REGIONS_MAX) {
        let region = clip(&ping.region, REGION_BYTES_MAX);
        fields.put(kind::PING, &[&ping.ms.to_le_bytes(), region.as_bytes()].concat());
    }
}

fn put_proof(fields: &mut Fields, port: u16, proof: Option<&AnnouncementProof>) {
    fields.put(kind::PORT, &port.to_le_bytes());
    if let Some(AnnouncementProof { token, certificate, scheme, signature, directory }) = proof {
        fields.put(kind::TOKEN, token);
        fields.put(kind::SCHEME, &scheme.to_le_bytes());
        fields.put(kind::SIGNATURE, signature);
        fields.put(kind::CERTIFICATE, certificate);
        if !directory.is_empty() {
            fields.text(kind::DIRECTORY, directory, DIRECTORY_NAME_BYTES_MAX);
        }
    }
}

/// The key, and the signature.
fn player_field(made: &Credentials) -> Vec<u8> {
    [&made.key.0[..], made.proof.0.as_flattened()].concat()
}

fn player(field: &[u8]) -> Result<Option<Credentials>, WireError> {
    if field.is_empty() {
        return Ok(None);
    }
    let [key, first, second] = field.as_chunks().0 else { return Err(WireError::Range("player")) };
    if field.len() != size_of::<Credentials>() {
        return Err(WireError::Range("player"));
    }
    let proof = Proof([*first, *second]);
    Ok(Some(Credentials { key: PublicKey(*key), proof }))
}

/// Decodes a party's code; an empty field stands for a new party.
fn party_wish(field: &[u8]) -> Result<PartyWish, WireError> {
    if field.is_empty() { Ok(PartyWish::New) } else { party(field).map(PartyWish::Join) }
}

fn party(field: &[u8]) -> Result<PartyCode, WireError> {
    let code = std::str::from_utf8(field).map_err(|_| WireError::Unreadable)?;
    code.parse().map_err(|_| WireError::Range("party"))
}

impl Answer {
    /// Encodes the answer to a question of `bytes_max` bytes; `None` if it does not fit.
    pub fn encode(&self, nonce: Nonce, bytes_max: usize) -> Option<Vec<u8>> {
        let mut fields = match self {
            Self::Page { total, servers, next } => {
                let last = next.unwrap_or_default();
                let places = servers.iter().map(|server| (last, *server));
                let mut bytes = page(nonce, bytes_max, *total, places)?;
                if let Some(next) = next {
                    let mut fields = Fields { bytes, bytes_max };
                    fields.put(kind::NEXT, &next.to_le_bytes());
                    bytes = fields.bytes;
                }
                return Some(bytes);
            }
            Self::Challenge(_) => head(ANSWER, nonce, answer::CHALLENGE, bytes_max),
            Self::Listed { .. } => head(ANSWER, nonce, answer::LISTED, bytes_max),
            Self::Refused(_) => head(ANSWER, nonce, answer::REFUSED, bytes_max),
            Self::Placed(_) => head(ANSWER, nonce, answer::PLACED, bytes_max),
            Self::Waiting(_) => head(ANSWER, nonce, answer::WAITING, bytes_max),
            Self::Denied(_) => head(ANSWER, nonce, answer::DENIED, bytes_max),
            Self::Regions(_) => head(ANSWER, nonce, answer::REGIONS, bytes_max),
        };
        match self {
            Self::Page { .. } => {}
            Self::Challenge(token) => fields.put(kind::TOKEN, token),
            Self::Listed { seconds } => fields.put(kind::SECONDS, &seconds.to_le_bytes()),
            Self::Refused(refusal) => fields.put(kind::REASON, &[refusal.code()]),
            Self::Placed(placed) => put_placed(&mut fields, placed),
            Self::Waiting(Waiting { position, again_ms, party }) => {
                fields.put(kind::POSITION, &position.to_le_bytes());
                fields.put(kind::AGAIN, &again_ms.to_le_bytes());
                if let Some(party) = party {
                    fields.put(kind::PARTY, party.as_str().as_bytes());
                }
            }
            Self::Denied(refusal) => fields.put(kind::REASON, &[refusal.code()]),
            Self::Regions(beacons) => {
                for beacon in beacons.iter().take(REGIONS_MAX) {
                    fields.put(kind::REGION, &beacon_field(beacon));
                }
            }
        }
        // A field that did not fit was left out, and the answer is useless without it.
        (fields.bytes_max > 0 && fields.bytes.len() <= bytes_max).then_some(fields.bytes)
    }

    /// Decodes the answer to a question with this nonce.
    pub fn parse(bytes: &[u8], nonce: Nonce) -> Result<Self, WireError> {
        let (found, answer, mut rest) = parse_head(ANSWER, bytes)?;
        if found != nonce {
            return Err(WireError::Unreadable);
        }
        let mut told = Told::default();
        while let Some((kind, field)) = next_field(&mut rest)? {
            told.read(kind, field)?;
        }
        Ok(match answer {
            answer::PAGE => {
                Self::Page { total: told.total, servers: told.servers, next: told.next }
            }
            answer::CHALLENGE => Self::Challenge(told.token.ok_or(WireError::Short)?),
            answer::LISTED => Self::Listed { seconds: told.seconds.ok_or(WireError::Short)? },
            answer::REFUSED => Self::Refused(AnnouncementRefusal::of(told.reason)),
            answer::PLACED => Self::Placed(Placed {
                server: *told.servers.first().ok_or(WireError::Short)?,
                people: told.people.unwrap_or(1),
                room: told.room,
                party: told.party,
                web: told.web,
                ticket: told.ticket,
            }),
            answer::WAITING => Self::Waiting(Waiting {
                position: told.position,
                again_ms: told.again_ms.ok_or(WireError::Short)?,
                party: told.party,
            }),
            answer::DENIED => Self::Denied(PlayRefusal::of(told.reason)),
            answer::REGIONS => Self::Regions(told.regions),
            other => return Err(WireError::Kind(other)),
        })
    }
}

/// The fields of an answer.
#[derive(Default)]
struct Told {
    token: Option<Token>,
    seconds: Option<u32>,
    reason: u32,
    total: u32,
    servers: Vec<Listed>,
    next: Option<u32>,
    people: Option<u16>,
    room: Option<RoomCode>,
    party: Option<PartyCode>,
    position: u32,
    again_ms: Option<u32>,
    regions: Vec<Beacon>,
    web: WebIdentity,
    ticket: Option<Vec<u8>>,
}

impl Told {
    fn read(&mut self, kind: u8, field: &[u8]) -> Result<(), WireError> {
        match kind {
            kind::TOKEN => self.token = Some(fixed(field, "token")?),
            kind::SECONDS => self.seconds = Some(number(field)?),
            kind::REASON => self.reason = number(field)?,
            kind::TOTAL => self.total = number(field)?,
            kind::NEXT => self.next = Some(number(field)?),
            kind::SERVER if self.servers.len() < DIRECTORY_PAGE_MAX => {
                self.servers.push(server(field)?);
            }
            kind::PEOPLE => self.people = Some(short(field)?),
            kind::ROOM => {
                let code = within(field, ROOM_CODE_BYTES_MAX)?;
                let code = std::str::from_utf8(code).map_err(|_| WireError::Unreadable)?;
                self.room = Some(code.parse().map_err(|_| WireError::Range("room"))?);
            }
            kind::PARTY => self.party = Some(party(field)?),
            kind::POSITION => self.position = number(field)?,
            kind::AGAIN => self.again_ms = Some(number(field)?),
            kind::WEB => self.web.read_hash(field)?,
            kind::HOST => self.web.read_host(field)?,
            kind::TICKET => self.ticket = Some(within(field, TICKET_BYTES_MAX)?.to_vec()),
            kind::REGION if self.regions.len() < REGIONS_MAX => self.regions.push(beacon(field)?),
            _ => {}
        }
        Ok(())
    }
}

fn put_placed(fields: &mut Fields, placed: &Placed) {
    fields.put(kind::SERVER, &server_field(&placed.server));
    fields.put(kind::PEOPLE, &placed.people.to_le_bytes());
    if let Some(room) = &placed.room {
        fields.put(kind::ROOM, room.as_str().as_bytes());
    }
    if let Some(party) = &placed.party {
        fields.put(kind::PARTY, party.as_str().as_bytes());
    }
    placed.web.put(fields, [kind::WEB, kind::HOST]);
    // Without it the answer still says where to play.
    let fits = |ticket: &&Vec<u8>| fields.bytes.len() + 3 + ticket.len() <= fields.bytes_max;
    if let Some(ticket) = placed.ticket.as_ref().filter(fits) {
        fields.put(kind::TICKET, ticket);
    }
}

/// Returns the nonce of an answer, by which the asker finds its question; `None` if it is no
/// answer.
pub fn nonce_of_answer(bytes: &[u8]) -> Option<Nonce> {
    parse_head(ANSWER, bytes).ok().map(|(nonce, ..)| nonce)
}

/// Encodes a page with as many of these servers as fit, each with its position in the list; `None`
/// if not even the head fits.
pub fn page(
    nonce: Nonce,
    bytes_max: usize,
    total: u32,
    servers: impl IntoIterator<Item = (u32, Listed)>,
) -> Option<Vec<u8>> {
    let mut fields = head(ANSWER, nonce, answer::PAGE, bytes_max);
    fields.put(kind::TOTAL, &total.to_le_bytes());
    if fields.bytes_max == 0 {
        return None;
    }
    let mut last = None;
    for (count, (place, server)) in servers.into_iter().enumerate() {
        let field = server_field(&server);
        let is_full = fields.bytes.len() + 3 + field.len() + NEXT_BYTES > bytes_max;
        if is_full || count >= DIRECTORY_PAGE_MAX {
            // Space was reserved for it; before the first server there is no position to continue
            // from.
            if let Some(last) = last {
                let last: u32 = last;
                fields.put(kind::NEXT, &last.to_le_bytes());
            }
            break;
        }
        fields.put(kind::SERVER, &field);
        last = Some(place);
    }
    Some(fields.bytes)
}

fn head(mark: &[u8; 10], nonce: Nonce, what: u8, bytes_max: usize) -> Fields {
    let bytes = [&mark[..], &[VERSION], &nonce, &[what]].concat();
    let bytes_max = if bytes.len() <= bytes_max { bytes_max } else { 0 };
    Fields { bytes, bytes_max }
}

fn parse_head<'a>(mark: &[u8; 10], bytes: &'a [u8]) -> Result<(Nonce, u8, &'a [u8]), WireError> {
    if bytes.len() > ANNOUNCEMENT_BYTES_MAX {
        return Err(WireError::Long(ANNOUNCEMENT_BYTES_MAX));
    }
    let rest = bytes.strip_prefix(mark).ok_or(WireError::Unreadable)?;
    let (version, rest) = rest.split_first().ok_or(WireError::Short)?;
    let (nonce, rest) = rest.split_first_chunk().ok_or(WireError::Short)?;
    let (what, rest) = rest.split_first().ok_or(WireError::Short)?;
    // Later versions are decoded like this one.
    if *version < VERSION { Err(WireError::Unreadable) } else { Ok((*nonce, *what, rest)) }
}

/// Returns the next field and its kind; `None` at the end.
fn next_field<'a>(rest: &mut &'a [u8]) -> Result<Option<(u8, &'a [u8])>, WireError> {
    let Some((kind, after)) = rest.split_first() else { return Ok(None) };
    if *kind == kind::END {
        return Ok(None);
    }
    let (len, after) = after.split_first_chunk().ok_or(WireError::Short)?;
    let len = usize::from(u16::from_le_bytes(*len));
    let (field, after) = after.split_at_checked(len).ok_or(WireError::Short)?;
    *rest = after;
    Ok(Some((*kind, field)))
}

fn short(field: &[u8]) -> Result<u16, WireError> {
    field.try_into().map(u16::from_le_bytes).map_err(|_| WireError::Range("number"))
}

fn fixed<const N: usize>(field: &[u8], what: &'static str) -> Result<[u8; N], WireError> {
    field.try_into().map_err(|_| WireError::Range(what))
}

fn within(field: &[u8], bytes_max: usize) -> Result<&[u8], WireError> {
    if field.len() > bytes_max { Err(WireError::Long(bytes_max)) } else { Ok(field) }
}

/// Prefix of IPv4 addresses mapped to IPv6.
const MAPPED: [u8; 12] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

/// Fingerprint, port (u16), and the address: 4 or 16 bytes.
fn server_field(server: &Listed) -> Vec<u8> {
    [&server.fingerprint.0[..], &server.port.to_le_bytes(), address_bytes(&server.ip)].concat()
}

/// Port (u16), and the address: 4 or 16 bytes.
fn own_field(own: SocketAddr) -> Vec<u8> {
    let Listed { ip, port, .. } = Listed::new(own, Fingerprint([0; 32]));
    [&port.to_le_bytes()[..], address_bytes(&ip)].concat()
}

fn server(field: &[u8]) -> Result<Listed, WireError> {
    let (digest, rest) = field.split_first_chunk().ok_or(WireError::Short)?;
    let (ip, port) = address(rest)?;
    Ok(Listed { ip, port, fingerprint: Fingerprint(*digest) })
}

/// Length of the region's name (u8), the name, port (u16), and the address: 4 or 16 bytes.
fn beacon_field(beacon: &Beacon) -> Vec<u8> {
    let name = clip(&beacon.region, REGION_BYTES_MAX).as_bytes();
    let len = u8::try_from(name.len()).unwrap_or_default();
    [&[len], name, &beacon.port.to_le_bytes(), address_bytes(&beacon.ip)].concat()
}

fn beacon(field: &[u8]) -> Result<Beacon, WireError> {
    let (len, rest) = field.split_first().ok_or(WireError::Short)?;
    let (name, rest) = rest.split_at_checked((*len).into()).ok_or(WireError::Short)?;
    let (ip, port) = address(rest)?;
    Ok(Beacon { region: text(name, REGION_BYTES_MAX)?, ip, port })
}

fn address_bytes(ip: &[u8; 16]) -> &[u8] {
    ip.strip_prefix(&MAPPED).unwrap_or(ip)
}

/// Decodes a port and an address.
fn address(field: &[u8]) -> Result<([u8; 16], u16), WireError> {
    let (port, rest) = field.split_first_chunk().ok_or(WireError::Short)?;
    let ip = match rest.len() {
        4 => [&MAPPED[..], rest].concat(),
        _ => rest.to_vec(),
    };
    let ip = ip.try_into().map_err(|_| WireError::Range("address"))?;
    let port = u16::from_le_bytes(*port);
    if port == 0 { Err(WireError::Range("port")) } else { Ok((ip, port)) }
}
