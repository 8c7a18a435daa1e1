//! Rooms of a server, as clients name them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::limits::ROOM_CODE_BYTES_MAX;

/// Code with which players find a room: 1 to [`ROOM_CODE_BYTES_MAX`] lower-case letters, digits and
/// dashes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RoomCode(Box<str>);

/// The text is not a room code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a room's code has 1 to {ROOM_CODE_BYTES_MAX} lower-case letters, digits and dashes")]
pub struct BadRoomCode;

impl RoomCode {
    /// Returns the code of a room that is identified by number.
    pub fn numbered(number: u32) -> Self {
        Self(number.to_string().into())
    }

    /// Returns the code as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for RoomCode {
    type Error = BadRoomCode;

    fn try_from(text: String) -> Result<Self, BadRoomCode> {
        let plain = |byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
        let fits = (1..=ROOM_CODE_BYTES_MAX).contains(&text.len());
        if fits && text.bytes().all(plain) { Ok(Self(text.into())) } else { Err(BadRoomCode) }
    }
}

impl FromStr for RoomCode {
    type Err = BadRoomCode;

    fn from_str(text: &str) -> Result<Self, BadRoomCode> {
        text.to_owned().try_into()
    }
}

impl From<RoomCode> for String {
    fn from(code: RoomCode) -> Self {
        code.0.into()
    }
}

impl fmt::Display for RoomCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Status of one room of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoomStatus {
    /// The room's code.
    pub code: RoomCode,
    /// The game that is played there.
    pub game: String,
    /// Number of people who play there.
    pub players: u16,
    /// Number of seats for people.
    pub players_max: u16,
    /// Number of bots that play there.
    pub bots: u16,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_short_and_plain() {
        for good in ["1", "friday-night", &"x".repeat(ROOM_CODE_BYTES_MAX)] {
            assert_eq!(good.parse::<RoomCode>().map(String::from), Ok(good.to_owned()));
        }
        for bad in ["", "Friday", "a b", "ä", "a_b", &"x".repeat(ROOM_CODE_BYTES_MAX + 1)] {
            assert_eq!(bad.parse::<RoomCode>(), Err(BadRoomCode), "{bad}");
        }
        assert_eq!(RoomCode::numbered(16).as_str(), "16");
    }
}
