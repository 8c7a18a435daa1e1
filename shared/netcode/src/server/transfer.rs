//! What a player takes along to another server of a fleet: name, side, score, and what else a
//! resumed session keeps that is not about one room.
//!
//! A room makes a [`Transfer`] for each player whom it sends away, and takes one with a newcomer's
//! [`Pass`](super::Pass). Between the two it travels as part of a ticket, which the drivers sign
//! and check. Its fields are on the wire's grid, like those of a checkpoint. They are the player's
//! own and may be read by the player, so only [transferred](crate::fields::Field::transferred) ones
//! are in it.

use serde::{Deserialize, Serialize};

use super::mute::Mute;
use crate::fingerprint::Fingerprint;
use crate::identity::PublicKey;
use crate::limits::{FIELDS_MAX, NAME_BYTES_MAX, TRANSFER_KINDS_MAX};
use crate::time::Micros;
use crate::wire::rooms::RoomCode;
use crate::wire::text::clip;

/// Longest time for which a player may have played before. Arbitrary.
const PLAYED_MAX: Micros = Micros::from_ms(365 * 86_400_000);
/// Maximum bytes of a mute's reason; longer ones are clipped. Arbitrary, so that a ticket is short.
const REASON_BYTES_MAX: usize = 80;

/// What a player takes along to another server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transfer {
    /// The player's key.
    pub key: PublicKey,
    /// The player's name.
    pub name: String,
    /// The game that the player was in.
    pub game: String,
    /// Hash of its rules.
    pub rules: u64,
    /// Time since the player joined the first server.
    pub played: Micros,
    /// The player's side, if there was one.
    pub side: Option<u8>,
    /// The mute in force, if there is one.
    pub mute: Option<Mute>,
    /// Fields of the player's entities, at most [`TRANSFER_KINDS_MAX`] kinds.
    pub kinds: Vec<TransferredKind>,
    /// The room in which a seat is kept, if the host knows.
    pub room: Option<RoomCode>,
}

/// The [transferred](crate::fields::Field::transferred) fields of a player's first entity of a
/// kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TransferredKind {
    /// Index of the kind.
    pub kind: u8,
    /// Values on the wire's grid, in the order of the table.
    pub fields: Vec<u32>,
}

impl Transfer {
    /// Clips what has no limit of its own.
    #[must_use]
    pub(super) fn clipped(mut self) -> Self {
        if let Some(Mute { reason, .. }) = &mut self.mute {
            reason.truncate(clip(reason, REASON_BYTES_MAX).len());
        }
        self.kinds.truncate(TRANSFER_KINDS_MAX);
        self.played = self.played.clamp(Micros::ZERO, PLAYED_MAX);
        self
    }

    /// Whether everything is within its limits. What the room's game needs to know of it is checked
    /// by the room.
    fn is_valid(&self) -> bool {
        let reason = self.mute.as_ref().map_or("", |mute| &mute.reason);
        let within = self.mute.as_ref().and_then(|mute| mute.within).unwrap_or_default();
        self.name.len() <= NAME_BYTES_MAX
            && self.game.len() <= NAME_BYTES_MAX
            && reason.len() <= REASON_BYTES_MAX
            && within >= Micros::ZERO
            && (Micros::ZERO..=PLAYED_MAX).contains(&self.played)
            && self.kinds.len() <= TRANSFER_KINDS_MAX
            && self.kinds.iter().all(|kind| kind.fields.len() <= FIELDS_MAX)
    }
}

/// Content of a ticket for a seat that a directory has reserved. Its bearer takes nothing along.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeatBody {
    /// Random number, so that a ticket is used once.
    pub id: [u8; 16],
    /// Fingerprint of the server that it is for.
    pub target: Fingerprint,
    /// Address of that server: several may share a certificate.
    pub address: String,
    /// Unix time of issue in seconds.
    pub issued: i64,
    /// The player's key.
    pub key: PublicKey,
    /// Game of the seat.
    pub game: String,
    /// Room of the seat, unless the server chooses.
    pub room: Option<RoomCode>,
}

impl SeatBody {
    /// Encodes it in at most `bytes_max` bytes.
    pub fn encode(&self, bytes_max: usize) -> Option<Vec<u8>> {
        postcard::to_stdvec(self).ok().filter(|bytes| bytes.len() <= bytes_max)
    }

    /// Decodes it. `None` if it is damaged.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let (body, rest) = postcard::take_from_bytes::<Self>(bytes).ok()?;
        (rest.is_empty() && body.game.len() <= NAME_BYTES_MAX).then_some(body)
    }
}

/// Content of a ticket: what its bearer takes along, and for which server it is valid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TicketBody {
    /// Random number, so that a ticket is used once.
    pub id: [u8; 16],
    /// Fingerprint of the server that issued it.
    pub issuer: Fingerprint,
    /// Fingerprint of the server that it is for.
    pub target: Fingerprint,
    /// Address of that server, as `host:port`: several may share a certificate.
    pub address: String,
    /// Unix time of issue in seconds.
    pub issued: i64,
    /// What the player takes along.
    pub transfer: Transfer,
}

impl TicketBody {
    /// Encodes it in at most `bytes_max` bytes, if necessary without the score.
    pub fn encode(mut self, bytes_max: usize) -> Option<Vec<u8>> {
        let whole = postcard::to_stdvec(&self).ok()?;
        if whole.len() <= bytes_max {
            return Some(whole);
        }
        self.transfer.kinds.clear();
        postcard::to_stdvec(&self).ok().filter(|bytes| bytes.len() <= bytes_max)
    }

    /// Decodes it. `None` if it is damaged or out of its limits.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let (body, rest) = postcard::take_from_bytes::<Self>(bytes).ok()?;
        (rest.is_empty() && body.transfer.is_valid()).then_some(body)
    }
}
