//! The status of a server without a login: one datagram asks, one answers.
//!
//! ```text
//! question   "?phaselock"  u8 version  8 bytes of the asker's choice  zeros
//! answer     "!phaselock"  u8 version  these 8 bytes                  fields
//! field      u8 kind       u16 length (little-endian)                 that many bytes
//! ```
//!
//! An answer is never longer than its question, so a server cannot be used to flood others. Fields
//! that do not fit are left out, the last ones first. No QUIC packet begins like this: the second
//! bit of each is 1.
//!
//! *Invariant:* all of this never changes, so that any version can query any server. Kinds are only
//! added, and unknown ones are ignored.

use serde::{Deserialize, Serialize};

use super::error::WireError;
use super::rooms::{RoomCode, RoomStatus};
use super::text::{clip, printable};
use crate::fingerprint::Fingerprint;
use crate::limits::{
    GAMES_MAX, NAME_BYTES_MAX, QUESTION_BYTES, REGION_BYTES_MAX, ROOMS_LISTED_MAX, TEXT_BYTES_MAX,
    WEB_HASHES_MAX, WEB_HOST_BYTES_MAX,
};

const QUESTION: &[u8; 10] = b"?phaselock";
const ANSWER: &[u8; 10] = b"!phaselock";
/// Version of questions and answers. A new version may add what fields cannot express.
const VERSION: u8 = 1;
/// Number of bytes before the fields.
const HEAD_BYTES: usize = QUESTION.len() + 1 + size_of::<Nonce>();

const _: () = assert!(QUESTION.len() == ANSWER.len() && HEAD_BYTES < QUESTION_BYTES);

/// Kinds of fields.
mod kind {
    super::super::field_kinds! {
        NAME = 1;
        VERSION = 2;
        GAME = 3;
        PLAYERS = 4;
        SEATS = 5;
        BOTS = 6;
        ROUND = 7;
        ROOMS = 8;
        FLAGS = 9;
        ROOM = 10;
        FINGERPRINT = 11;
        WATCHERS = 12;
        REGION = 13;
        FREE = 14;
        WEB = 15;
        HOST = 16;
    }
}

#[cfg(test)]
pub(super) use kind::KINDS;

/// Flag of a server that requires a password.
const NEEDS_PASSWORD: u32 = 1;

/// Bytes chosen by the asker, which the answer repeats.
pub type Nonce = [u8; 8];

/// How browsers recognize a server. Empty if no browser can connect to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebIdentity {
    /// SHA-256 digests of the certificates that it presents to browsers, the one in force first; at
    /// most [`WEB_HASHES_MAX`]. Empty if an authority has signed its certificate.
    pub hashes: Vec<Fingerprint>,
    /// Host for which an authority has signed its certificate: letters, digits, `.` and `-`, at
    /// most [`WEB_HOST_BYTES_MAX`] bytes.
    pub host: String,
}

impl WebIdentity {
    /// Whether no browser can connect to the server, as far as is known.
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty() && self.host.is_empty()
    }

    /// Whether it is within the limits.
    pub(super) fn is_valid(&self) -> bool {
        let is_known = self.host.is_empty() || is_host(self.host.as_bytes());
        self.hashes.len() <= WEB_HASHES_MAX && is_known
    }

    /// Writes its fields, with the kinds of a hash and of the host.
    pub(super) fn put(&self, fields: &mut Fields, [hash, host]: [u8; 2]) {
        for Fingerprint(digest) in self.hashes.iter().take(WEB_HASHES_MAX) {
            fields.put(hash, digest);
        }
        if is_host(self.host.as_bytes()) {
            fields.put(host, self.host.as_bytes());
        }
    }

    /// Reads the field of a hash.
    pub(super) fn read_hash(&mut self, field: &[u8]) -> Result<(), WireError> {
        let digest = field.try_into().map_err(|_| WireError::Range("fingerprint"))?;
        if self.hashes.len() < WEB_HASHES_MAX {
            self.hashes.push(Fingerprint(digest));
        }
        Ok(())
    }

    /// Reads the field of the host, which becomes part of a URL.
    pub(super) fn read_host(&mut self, field: &[u8]) -> Result<(), WireError> {
        if !is_host(field) {
            return Err(WireError::Range("host"));
        }
        self.host = text(field, WEB_HOST_BYTES_MAX)?;
        Ok(())
    }
}

fn is_host(bytes: &[u8]) -> bool {
    let is_good = |byte: &u8| byte.is_ascii_alphanumeric() || b".-".contains(byte);
    (1..=WEB_HOST_BYTES_MAX).contains(&bytes.len()) && bytes.iter().all(is_good)
}

/// Public status of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Info {
    /// The server's name.
    pub server: String,
    /// The server's version, for people.
    pub version: String,
    /// Games that are played in turn, in the order of the rotation; at most [`GAMES_MAX`].
    pub games: Vec<String>,
    /// Number of people who play.
    pub players: u32,
    /// Number of seats for people.
    pub players_max: u32,
    /// Number of seats that newcomers without a room's code can have, including those of rooms that
    /// the server would open for them; 0 while it drains. `None` if it does not say.
    pub free: Option<u32>,
    /// Region in which the server is, as its host calls it; empty if unknown.
    pub region: String,
    /// Number of bots that play.
    pub bots: u32,
    /// Number of spectators.
    pub watchers: u32,
    /// Rounds of the current game that have been played, in the room that has played most.
    pub round: u32,
    /// Number of rooms, including those that are not listed.
    pub rooms_count: u32,
    /// Whether joining requires a password.
    pub needs_password: bool,
    /// Fingerprint of the certificate that the server claims to present: a hint for people, not a
    /// proof.
    pub fingerprint: Option<Fingerprint>,
    /// How browsers recognize the server: like the fingerprint, a hint.
    pub web: WebIdentity,
    /// Public rooms, at most [`ROOMS_LISTED_MAX`].
    pub rooms: Vec<RoomStatus>,
}

/// Encodes a question of [`QUESTION_BYTES`].
pub fn question(nonce: Nonce) -> Vec<u8> {
    question_of(nonce, QUESTION_BYTES)
}

/// Encodes a question of `bytes` bytes, or of the minimum length. The answer is never longer.
pub fn question_of(nonce: Nonce, bytes: usize) -> Vec<u8> {
    let mut question = [&QUESTION[..], &[VERSION], &nonce].concat();
    question.resize(bytes.clamp(HEAD_BYTES, QUESTION_BYTES), 0);
    question
}

/// Returns the nonce of a question; `None` if it is no question.
pub fn parse_question(bytes: &[u8]) -> Option<Nonce> {
    let rest = bytes.strip_prefix(QUESTION)?;
    let (version, rest) = rest.split_first()?;
    // Later versions are answered like this one.
    (*version >= VERSION).then_some(rest.first_chunk()).flatten().copied()
}

impl Info {
    /// Encodes the answer to a question of `bytes_max` bytes, which is at most as long.
    pub fn answer(&self, nonce: Nonce, bytes_max: usize) -> Vec<u8> {
        let mut fields = Fields { bytes: Vec::with_capacity(bytes_max.min(2048)), bytes_max };
        fields.bytes.extend(ANSWER);
        fields.bytes.push(VERSION);
        fields.bytes.extend(nonce);
        fields.text(kind::NAME, &self.server, TEXT_BYTES_MAX);
        for (kind, number) in [
            (kind::PLAYERS, self.players),
            (kind::SEATS, self.players_max),
            (kind::BOTS, self.bots),
            (kind::ROUND, self.round),
            (kind::ROOMS, self.rooms_count),
            (kind::FLAGS, u32::from(self.needs_password) * NEEDS_PASSWORD),
            (kind::WATCHERS, self.watchers),
        ] {
            fields.put(kind, &number.to_le_bytes());
        }
        if let Some(Fingerprint(digest)) = &self.fingerprint {
            fields.put(kind::FINGERPRINT, digest);
        }
        if let Some(free) = self.free {
            fields.put(kind::FREE, &free.to_le_bytes());
        }
        if !self.region.is_empty() {
            fields.text(kind::REGION, &self.region, REGION_BYTES_MAX);
        }
        fields.text(kind::VERSION, &self.version, TEXT_BYTES_MAX);
        for game in self.games.iter().take(GAMES_MAX) {
            fields.text(kind::GAME, game, NAME_BYTES_MAX);
        }
        self.web.put(&mut fields, [kind::WEB, kind::HOST]);
        for room in self.rooms.iter().take(ROOMS_LISTED_MAX) {
            fields.put(kind::ROOM, &room_field(room));
        }
        fields.bytes
    }

    /// Decodes the answer to a question with this nonce. Missing fields are empty.
    pub fn parse(bytes: &[u8], nonce: Nonce) -> Result<Self, WireError> {
        let head = [&ANSWER[..], &[VERSION], &nonce].concat();
        let mut rest = bytes.strip_prefix(&head[..]).ok_or(WireError::Unreadable)?;
        if bytes.len() > QUESTION_BYTES {
            return Err(WireError::Long(QUESTION_BYTES));
        }
        let mut info = Self::default();
        while let Some((kind, after)) = rest.split_first() {
            let (len, after) = after.split_first_chunk().ok_or(WireError::Short)?;
            let len = usize::from(u16::from_le_bytes(*len));
            let (field, after) = after.split_at_checked(len).ok_or(WireError::Short)?;
            info.read(*kind, field)?;
            rest = after;
        }
        Ok(info)
    }

    fn read(&mut self, kind: u8, field: &[u8]) -> Result<(), WireError> {
        let text = |bytes_max| text(field, bytes_max);
        match kind {
            kind::NAME => self.server = text(TEXT_BYTES_MAX)?,
            kind::VERSION => self.version = text(TEXT_BYTES_MAX)?,
            kind::GAME if self.games.len() < GAMES_MAX => self.games.push(text(NAME_BYTES_MAX)?),
            kind::PLAYERS => self.players = number(field)?,
            kind::SEATS => self.players_max = number(field)?,
            kind::BOTS => self.bots = number(field)?,
            kind::WATCHERS => self.watchers = number(field)?,
            kind::FREE => self.free = Some(number(field)?),
            kind::REGION => self.region = text(REGION_BYTES_MAX)?,
            kind::ROUND => self.round = number(field)?,
            kind::ROOMS => self.rooms_count = number(field)?,
            kind::FLAGS => self.needs_password = number(field)? & NEEDS_PASSWORD != 0,
            kind::FINGERPRINT => {
                let digest = field.try_into().map_err(|_| WireError::Range("fingerprint"))?;
                self.fingerprint = Some(Fingerprint(digest));
            }
            kind::WEB => self.web.read_hash(field)?,
            kind::HOST => self.web.read_host(field)?,
            kind::ROOM if self.rooms.len() < ROOMS_LISTED_MAX => self.rooms.push(room(field)?),
            _ => {}
        }
        Ok(())
    }
}

/// The fields of an answer, as many as fit.
pub(super) struct Fields {
    pub(super) bytes: Vec<u8>,
    pub(super) bytes_max: usize,
}

impl Fields {
    pub(super) fn put(&mut self, kind: u8, field: &[u8]) {
        let Ok(len) = u16::try_from(field.len()) else { return };
        if self.bytes.len() + 3 + field.len() <= self.bytes_max {
            self.bytes.push(kind);
            self.bytes.extend(len.to_le_bytes());
            self.bytes.extend(field);
        } else {
            // Nothing after it is written either, so only the last fields are missing.
            self.bytes_max = 0;
        }
    }

    pub(super) fn text(&mut self, kind: u8, text: &str, bytes_max: usize) {
        self.put(kind, clip(text, bytes_max).as_bytes());
    }
}

/// Players, seats and bots (u16 each), the length of the code (u8), the code, and the game.
fn room_field(room: &RoomStatus) -> Vec<u8> {
    let mut field = Vec::with_capacity(64);
    for count in [room.players, room.players_max, room.bots] {
        field.extend(count.to_le_bytes());
    }
    let code = room.code.as_str();
    field.push(u8::try_from(code.len()).unwrap_or_default());
    field.extend(code.as_bytes());
    field.extend(clip(&room.game, NAME_BYTES_MAX).as_bytes());
    field
}

fn room(field: &[u8]) -> Result<RoomStatus, WireError> {
    let (counts, rest) = field.split_first_chunk::<6>().ok_or(WireError::Short)?;
    let [players, players_max, bots] =
        [0, 2, 4].map(|at| u16::from_le_bytes([counts[at], counts[at + 1]]));
    let (len, rest) = rest.split_first().ok_or(WireError::Short)?;
    let (code, game) = rest.split_at_checked((*len).into()).ok_or(WireError::Short)?;
    let code = std::str::from_utf8(code).map_err(|_| WireError::Unreadable)?;
    let code: RoomCode = code.parse().map_err(|_| WireError::Range("room"))?;
    Ok(RoomStatus { code, game: text(game, NAME_BYTES_MAX)?, players, players_max, bots })
}

/// Decodes a text and makes it printable.
pub(super) fn text(field: &[u8], bytes_max: usize) -> Result<String, WireError> {
    if field.len() > bytes_max {
        return Err(WireError::Long(bytes_max));
    }
    let text = std::str::from_utf8(field).map_err(|_| WireError::Unreadable)?;
    Ok(printable(text))
}

/// Decodes a little-endian number of 1 to 4 bytes.
pub(super) fn number(field: &[u8]) -> Result<u32, WireError> {
    let mut bytes = [0; 4];
    let fits = (1..=4).contains(&field.len());
    bytes
        .get_mut(..field.len())
        .filter(|_| fits)
        .ok_or(WireError::Range("number"))?
        .copy_from_slice(field);
    Ok(u32::from_le_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NONCE: Nonce = *b"12345678";

    fn full() -> Info {
        let room = |number| RoomStatus {
            code: RoomCode::numbered(number),
            game: "chess".into(),
            players: 16,
            players_max: 64,
            bots: 2,
        };
        Info {
            free: Some(80),
            region: "europe".into(),
            watchers: 9,
            server: "Friday night".into(),
            version: "0.1.0".into(),
            games: vec!["chess".into(), "go".into()],
            players: 48,
            players_max: 192,
            bots: 6,
            round: 3,
            rooms_count: 4,
            needs_password: true,
            fingerprint: Some(Fingerprint([9; 32])),
            web: WebIdentity {
                hashes: vec![Fingerprint([4; 32]), Fingerprint([5; 32])],
                host: "play.example.org".into(),
            },
            rooms: (1..=3).map(room).collect(),
        }
    }

    #[test]
    fn answers_tell_what_was_put_in() {
        let asked = question(NONCE);
        assert_eq!((asked.len(), asked[0] & 0x40), (QUESTION_BYTES, 0));
        assert_eq!(parse_question(&asked), Some(NONCE));
        let answer = full().answer(NONCE, asked.len());
        assert_eq!(Info::parse(&answer, NONCE), Ok(full()));
        assert_eq!(Info::parse(&answer, [0; 8]), Err(WireError::Unreadable), "another question's");
        assert_eq!(Info::parse(&asked, NONCE), Err(WireError::Unreadable));
    }

    #[test]
    fn fields_of_later_versions_are_passed_over() {
        let mut answer = full().answer(NONCE, QUESTION_BYTES);
        let more = [200, 2, 0, 1, 2, 99, 0, 0];
        answer.splice(HEAD_BYTES..HEAD_BYTES, more);
        assert_eq!(Info::parse(&answer, NONCE), Ok(full()));
    }

    #[test]
    fn answer_to_a_short_question_is_short_and_begins_alike() {
        let whole = full().answer(NONCE, QUESTION_BYTES);
        for bytes_max in HEAD_BYTES..whole.len() + 9 {
            let answer = full().answer(NONCE, bytes_max);
            assert!(answer.len() <= bytes_max && whole.starts_with(&answer), "{bytes_max}");
            assert!(Info::parse(&answer, NONCE).is_ok(), "{bytes_max}");
        }
    }

    #[test]
    fn fullest_answer_fits_a_question() {
        let room = RoomStatus {
            code: "x".repeat(crate::limits::ROOM_CODE_BYTES_MAX).parse().expect("a code"),
            game: "g".repeat(NAME_BYTES_MAX),
            players: 1,
            players_max: 1,
            bots: 1,
        };
        let info = Info { server: "s".repeat(TEXT_BYTES_MAX), rooms: vec![room; 3], ..full() };
        let answer = info.answer(NONCE, QUESTION_BYTES);
        assert_eq!(Info::parse(&answer, NONCE), Ok(info));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = parse_question(&bytes);
            let mut answer = full().answer(NONCE, HEAD_BYTES);
            answer.extend(bytes);
            if let Ok(info) = Info::parse(&answer, NONCE) {
                let again = info.answer(NONCE, QUESTION_BYTES);
                prop_assert!(Info::parse(&again, NONCE).is_ok());
            }
        }

        #[test]
        fn changed_bytes_are_read_or_refused(at in 0_usize..200, byte in any::<u8>()) {
            let mut answer = full().answer(NONCE, QUESTION_BYTES);
            let at = at % answer.len();
            answer[at] = byte;
            let _ = Info::parse(&answer, NONCE);
        }
    }
}
