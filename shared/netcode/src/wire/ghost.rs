//! Ghosts: what a client asks for, and what it gets.

use serde::{Deserialize, Serialize};

use super::error::WireError;
use super::text::printable;
use crate::limits::{GHOSTS_MAX, NAME_BYTES_MAX, RUN_BYTES_MAX, RUN_PART_BYTES};

/// A request for ghosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GhostRequest {
    /// Which ghosts there are on this course.
    List,
    /// The run with this hash, from the list. It replaces one that is still being sent.
    Fetch {
        /// The hash.
        hash: u64,
    },
}

/// A run that a client may fetch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GhostOffer {
    /// Name of the player who made it; at most [`NAME_BYTES_MAX`] bytes.
    pub name: String,
    /// The record that it set, in hundredths of a second.
    pub hundredths: u32,
    /// Hash of its bytes.
    pub hash: u64,
    /// Number of its bytes; at most [`RUN_BYTES_MAX`].
    pub bytes: u32,
    /// Whether it is the client's own.
    pub own: bool,
}

/// An answer to a [`GhostRequest`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GhostNotice {
    /// The ghosts on this course, best first; at most [`GHOSTS_MAX`].
    Offers(Vec<GhostOffer>),
    /// A part of a run.
    Part {
        /// Hash of the run.
        hash: u64,
        /// Number of bytes before this part.
        from: u32,
        /// The bytes; at most [`RUN_PART_BYTES`].
        bytes: Vec<u8>,
    },
}

impl GhostNotice {
    /// Checks a server's answer, and makes names printable.
    pub(super) fn check(&mut self) -> Result<(), WireError> {
        match self {
            Self::Offers(offers) => {
                if offers.len() > GHOSTS_MAX {
                    return Err(WireError::Range("list of ghosts"));
                }
                for offer in offers {
                    let is_valid = offer.name.len() <= NAME_BYTES_MAX
                        && (1..=RUN_BYTES_MAX).contains(&(offer.bytes as usize));
                    if !is_valid {
                        return Err(WireError::Range("ghost"));
                    }
                    offer.name = printable(&offer.name);
                }
            }
            Self::Part { bytes, .. } if bytes.len() > RUN_PART_BYTES => {
                return Err(WireError::Range("part of a run"));
            }
            Self::Part { .. } => {}
        }
        Ok(())
    }
}
