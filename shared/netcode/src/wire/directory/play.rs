//! Requests for a place to play, and what a directory answers.

use std::fmt;
use std::str::FromStr;

use super::listed::Listed;
use crate::identity::Credentials;
use crate::limits::{DIRECTORY_NAME_BYTES_MAX, PARTY_CODE_LETTERS};
use crate::random::Random;
use crate::wire::query::WebIdentity;
use crate::wire::rooms::RoomCode;
use crate::wire::text::clip;

/// Letters of a party's code: none that look or sound like a digit or like each other at a glance,
/// and no vowels, so that they spell nothing.
const LETTERS: &[u8; 19] = b"BCDFGHJKMNPQRSTVWXZ";

/// Random bytes that name one request for a place. The asker chooses them, and repeats them until
/// it is placed. Anyone who knows them can ask in its place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub [u8; 8]);

impl fmt::Debug for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RequestId(..)")
    }
}

/// Code by which friends find each other: [`PARTY_CODE_LETTERS`] letters that are easy to read out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartyCode([u8; PARTY_CODE_LETTERS]);

/// The text is not a party's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a party's code has {PARTY_CODE_LETTERS} letters, such as {}", PartyCode::EXAMPLE)]
pub struct BadPartyCode;

impl PartyCode {
    /// An example for people.
    pub const EXAMPLE: Self = Self(*b"KMTZRW");

    /// Creates a code.
    pub fn random(random: &mut Random) -> Self {
        let count = u32::try_from(LETTERS.len()).unwrap_or(1);
        let mut letter = || LETTERS.get(random.below(count) as usize).copied().unwrap_or(b'B');
        Self(std::array::from_fn(|_| letter()))
    }

    /// Returns the code as text, in capital letters.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl fmt::Display for PartyCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for PartyCode {
    type Err = BadPartyCode;

    /// Reads a code that a person typed: in capital or small letters.
    fn from_str(text: &str) -> Result<Self, BadPartyCode> {
        let letters: [u8; PARTY_CODE_LETTERS] =
            text.as_bytes().try_into().map_err(|_| BadPartyCode)?;
        let letters = letters.map(|letter| letter.to_ascii_uppercase());
        let is_code = letters.iter().all(|letter| LETTERS.contains(letter));
        if is_code { Ok(Self(letters)) } else { Err(BadPartyCode) }
    }
}

/// Whether to play with friends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PartyWish {
    /// Alone, among strangers.
    #[default]
    None,
    /// In a new party, whose code the answer names.
    New,
    /// In the party with this code.
    Join(PartyCode),
}

/// Round trip to a region, as the player measured it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegionPing {
    /// Round trip in milliseconds.
    pub ms: u16,
    /// The region's name.
    pub region: String,
}

/// A server or directory by which players measure their ping of its region: it answers questions
/// for its status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beacon {
    /// The region's name.
    pub region: String,
    /// IPv6 address, or an IPv4 address mapped into `::ffff:0:0/96`.
    pub ip: [u8; 16],
    /// UDP port.
    pub port: u16,
}

/// A request for a place to play.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Play {
    /// Names the request, in all its repetitions.
    pub request: RequestId,
    /// The game.
    pub game: String,
    /// Number of seats: 1 or more. For a new party, the number of people who are expected; seats
    /// are kept for them for a while.
    pub people: u16,
    /// The party.
    pub party: PartyWish,
    /// Pings of regions, at most [`REGIONS_MAX`](crate::limits::REGIONS_MAX). Regions that are not
    /// named count as far away, unless there are none at all.
    pub pings: Vec<RegionPing>,
}

/// Prefix of what a player signs for a directory.
const PLAY_CONTEXT: &[u8] = b"phaselock directory play 1";

impl Play {
    /// Returns the text that a player signs to prove a key: the request without its pings, the
    /// directory's token, and its name, so that it cannot pass the signature on to another one.
    pub fn signed_text(&self, token: &[u8], directory: &str) -> Vec<u8> {
        let party = match &self.party {
            PartyWish::None => [0; PARTY_CODE_LETTERS],
            PartyWish::New => [1; PARTY_CODE_LETTERS],
            PartyWish::Join(code) => code.0,
        };
        let people = self.people.to_le_bytes();
        let name = clip(directory, DIRECTORY_NAME_BYTES_MAX).as_bytes();
        let length = u16::try_from(name.len()).unwrap_or(u16::MAX).to_le_bytes();
        let request = [&self.request.0[..], &people, &party].concat();
        [PLAY_CONTEXT, token, &request, &length, name, self.game.as_bytes()].concat()
    }
}

/// The player's key in a request for a place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PlayerProof {
    /// The request names none.
    #[default]
    None,
    /// The player asks over HTTP for a token, to prove a key with it.
    Wanted,
    /// The key, its signature of [`Play::signed_text`], and the directory that the signature is
    /// for, as the player knows it: `host:port`, or over HTTP the host of its URL.
    Made(Credentials, String),
}

/// Where to play.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The server, and the fingerprint of the certificate that it must present.
    pub server: Listed,
    /// Number of people for whom there are seats, which are kept for some seconds.
    pub people: u16,
    /// The room to ask for.
    pub room: Option<RoomCode>,
    /// The party's code.
    pub party: Option<PartyCode>,
    /// How browsers recognize the server. Empty for players who ask over UDP, as no browser does.
    pub web: WebIdentity,
    /// Ticket for the seat, if the request proved the player's key and the directory has the
    /// secret of the server's fleet.
    pub ticket: Option<Vec<u8>>,
}

/// A place in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Number of requests for the same game that are ahead of this one. 0 for the next one, for
    /// which the directory may be starting a server.
    pub position: u32,
    /// Milliseconds until the asker should ask again. One that stays silent loses its place.
    pub again_ms: u32,
    /// The party's code.
    pub party: Option<PartyCode>,
}

/// Why a directory does not place a player.
#[allow(missing_docs, reason = "the error messages document the variants")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlayRefusal {
    #[error("the directory refused, for a reason that this version does not know")]
    Unknown,
    #[error("no server of this directory plays that game; choose another game or directory")]
    Game,
    #[error("there is no party with that code; check the code, or make a new party")]
    Party,
    #[error("the party plays another game; choose the party's game")]
    OtherGame,
    #[error("too many people are waiting already; try again later")]
    Full,
    #[error("too many requests from your address; try again in a minute")]
    Often,
    #[error("the directory does not know this server")]
    Stranger,
    #[error("no server has seats for that many people; make a smaller party")]
    People,
    #[error("the signature does not belong to the player's key, or is for another directory")]
    Key,
    #[error("another program with your key is searching for a game now, so this search has ended")]
    Replaced,
}

impl PlayRefusal {
    const ALL: [Self; 9] = [
        Self::Game,
        Self::Party,
        Self::OtherGame,
        Self::Full,
        Self::Often,
        Self::Stranger,
        Self::People,
        Self::Key,
        Self::Replaced,
    ];

    /// Returns its number on the wire; 0 for none of these.
    pub(super) fn code(self) -> u8 {
        let place = Self::ALL.iter().position(|it| *it == self);
        place.and_then(|place| u8::try_from(place + 1).ok()).unwrap_or_default()
    }

    pub(super) fn of(code: u32) -> Self {
        let place = usize::try_from(code).unwrap_or_default().checked_sub(1);
        place.and_then(|place| Self::ALL.get(place)).copied().unwrap_or(Self::Unknown)
    }
}
