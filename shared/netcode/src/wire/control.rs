//! Control messages: postcard on one reliable stream, each behind its length in two bytes.
//!
//! *Invariant:* the first fields of [`ClientMessage::Hello`] and all of [`ServerMessage::Closed`]
//! never change, so that any two builds can tell that they do not match.

use serde::{Deserialize, Serialize};

use super::error::WireError;
use crate::ids::PlayerId;
use crate::limits::{CONTROL_BYTES_MAX, GAMES_MAX, NAME_BYTES_MAX, TEXT_BYTES_MAX};
use crate::time::{LocalTime, Offset, Rates, Tick};

/// From a client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ClientMessage {
    /// The first message.
    Hello(Hello),
    /// The only message of a client that asks for the server's status.
    Query,
}

/// A client's request to play.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// [`wire_hash`](super::protocol::wire_hash) of the client's build.
    pub wire: u64,
    /// The client's version, for people.
    pub version: String,
    /// The player's wished name.
    pub name: String,
    /// The games this build knows, with their [`game_hash`](super::protocol::game_hash)es.
    pub games: Vec<(String, u64)>,
    /// The client's clock when it sent this.
    pub sent: LocalTime,
}

/// From the server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ServerMessage {
    /// The last message: the client is refused or put out.
    Closed {
        /// Reason, for the player to read.
        reason: String,
        /// A later try may succeed.
        retry: bool,
    },
    /// The answer to a hello, and the beginning of the next game of the rotation.
    Welcome(Welcome),
    /// A player is here; sent to a newcomer for each one, and to all for each newcomer.
    Joined {
        /// The seat.
        player: PlayerId,
        /// The player's name.
        name: String,
        /// The server plays it.
        bot: bool,
    },
    /// A player is gone.
    Left {
        /// The seat.
        player: PlayerId,
    },
    /// Tick 0 moved, after a stall too long to catch up.
    Epoch {
        /// The new epoch's number, modulo 256.
        epoch: u8,
        /// Unix time of tick 0 in microseconds by the host's own clock.
        unix_micros: i64,
    },
    /// The answer to a query.
    Status(Status),
}

/// Status of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// The server's name.
    pub server: String,
    /// The server's version, for people.
    pub version: String,
    /// The game that is played.
    pub game: String,
    /// Number of people who play.
    pub players: u16,
    /// Seats for people.
    pub players_max: u16,
    /// Number of bots that play.
    pub bots: u16,
    /// The world's tick.
    pub tick: Tick,
}

/// A client's data for its first packet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Welcome {
    /// The server's name.
    pub server: String,
    /// The game that is played.
    pub game: String,
    /// Index of the game in the server's rotation, modulo 256; datagrams carry its low bits.
    pub number: u8,
    /// The map's and the rules' seed.
    pub seed: u64,
    /// Ticks and snapshots a second.
    pub rates: Rates,
    /// The client's own seat.
    pub player: PlayerId,
    /// The world's tick.
    pub tick: Tick,
    /// First offset, wrong by the way of the hello. Snapshots carry changes to it.
    pub offset: Offset,
    /// Number of the epoch, raised whenever tick 0 moves.
    pub epoch: u8,
    /// Unix time of tick 0 in microseconds by the host's own clock.
    pub unix_micros: i64,
}

/// Puts a message behind its length; refuses one that is too long.
pub fn frame<M: Serialize>(message: &M) -> Result<Vec<u8>, WireError> {
    let body = postcard::to_stdvec(message).map_err(|_| WireError::Unreadable)?;
    let len = u16::try_from(body.len())
        .ok()
        .filter(|len| usize::from(*len) <= CONTROL_BYTES_MAX)
        .ok_or(WireError::Long(CONTROL_BYTES_MAX))?;
    let mut framed = len.to_le_bytes().to_vec();
    framed.extend(body);
    Ok(framed)
}

/// The length of the body behind a two-byte prefix.
pub fn body_len(prefix: [u8; 2]) -> Result<usize, WireError> {
    let len = usize::from(u16::from_le_bytes(prefix));
    if len > CONTROL_BYTES_MAX {
        return Err(WireError::Long(CONTROL_BYTES_MAX));
    }
    Ok(len)
}

fn parse<'a, M: Deserialize<'a>>(body: &'a [u8]) -> Result<M, WireError> {
    if body.len() > CONTROL_BYTES_MAX {
        return Err(WireError::Long(CONTROL_BYTES_MAX));
    }
    match postcard::take_from_bytes(body) {
        Ok((message, [])) => Ok(message),
        Ok(_) => Err(WireError::Trailing),
        Err(_) => Err(WireError::Unreadable),
    }
}

fn check_text(text: &str, max: usize, what: &'static str) -> Result<(), WireError> {
    if text.len() > max { Err(WireError::Range(what)) } else { Ok(()) }
}

impl ClientMessage {
    /// Reads the body of a frame.
    pub fn parse(body: &[u8]) -> Result<Self, WireError> {
        let message: Self = parse(body)?;
        match &message {
            Self::Hello(hello) => {
                check_text(&hello.version, TEXT_BYTES_MAX, "version")?;
                check_text(&hello.name, TEXT_BYTES_MAX, "name")?;
                if hello.games.len() > GAMES_MAX {
                    return Err(WireError::Range("list of games"));
                }
                for (game, _) in &hello.games {
                    check_text(game, NAME_BYTES_MAX, "game's name")?;
                }
            }
            Self::Query => {}
        }
        Ok(message)
    }

    /// The part of a hello that every build can read: wire hash and version.
    pub fn parse_hello_head(body: &[u8]) -> Result<(u64, String), WireError> {
        // A varint has longer spellings too: this must read whatever `parse` takes for a hello.
        let ((variant, wire, version), _) = postcard::take_from_bytes::<(u32, u64, String)>(body)
            .map_err(|_| WireError::Unreadable)?;
        if variant != 0 {
            return Err(WireError::Kind(u8::try_from(variant).unwrap_or(u8::MAX)));
        }
        check_text(&version, TEXT_BYTES_MAX, "version")?;
        Ok((wire, version))
    }
}

impl ServerMessage {
    /// Reads the body of a frame. Texts come out fit to print.
    pub fn parse(body: &[u8]) -> Result<Self, WireError> {
        let mut message: Self = parse(body)?;
        match &mut message {
            Self::Closed { reason, .. } => {
                check_text(reason, TEXT_BYTES_MAX, "reason")?;
                *reason = printable(reason);
            }
            Self::Joined { name, .. } => {
                check_text(name, NAME_BYTES_MAX, "name")?;
                *name = printable(name);
            }
            Self::Welcome(welcome) => {
                check_text(&welcome.server, TEXT_BYTES_MAX, "server's name")?;
                welcome.server = printable(&welcome.server);
                check_text(&welcome.game, NAME_BYTES_MAX, "game's name")?;
                welcome.rates.validate().map_err(|_| WireError::Range("rates"))?;
                if welcome.tick > Tick::MAX_SENT {
                    return Err(WireError::Range("tick"));
                }
            }
            Self::Status(status) => {
                check_text(&status.server, TEXT_BYTES_MAX, "server's name")?;
                check_text(&status.version, TEXT_BYTES_MAX, "version")?;
                check_text(&status.game, NAME_BYTES_MAX, "game's name")?;
                for text in [&mut status.server, &mut status.version, &mut status.game] {
                    *text = printable(text);
                }
            }
            Self::Left { .. } | Self::Epoch { .. } => {}
        }
        Ok(message)
    }
}

/// Shortens a text to at most `max` bytes at a character's boundary.
pub fn clip(text: &str, max: usize) -> &str {
    &text[..text.floor_char_boundary(max)]
}

/// A peer's text for people, safe to print: without control characters and the like.
pub fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() && !is_invisible(*c)).collect()
}

/// A name for others: printable, trimmed, at most [`NAME_BYTES_MAX`] bytes; `None` if empty.
pub fn clean_name(name: &str) -> Option<String> {
    let visible = printable(name);
    let name = clip(visible.trim(), NAME_BYTES_MAX).trim_end();
    (!name.is_empty()).then(|| name.to_owned())
}

/// Invisible characters and those that turn the writing direction, by which names could be forged.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::documented;
    use proptest::prelude::*;

    fn hello() -> Hello {
        Hello {
            wire: 0x0102_0304_0506_0708,
            version: "0.1.0".into(),
            name: "Ada".into(),
            games: vec![("chess".into(), 5)],
            sent: LocalTime(-1),
        }
    }

    #[test]
    fn frames_are_as_documented() {
        let framed = frame(&ClientMessage::Hello(hello())).unwrap();
        #[rustfmt::skip]
        assert_eq!(framed, [
            29, 0, // length
            0, // Hello
            0x88, 0x8e, 0x98, 0xa8, 0xc0, 0xe0, 0x80, 0x81, 0x01, // wire, as a varint
            5, b'0', b'.', b'1', b'.', b'0',
            3, b'A', b'd', b'a',
            1, 5, b'c', b'h', b'e', b's', b's', 5,
            1, // -1, zigzag
        ]);
        let closed = ServerMessage::Closed { reason: "full".into(), retry: true };
        assert_eq!(frame(&closed).unwrap(), documented("example-closed"));
        assert_eq!(ServerMessage::parse(&frame(&closed).unwrap()[2..]), Ok(closed));
    }

    #[test]
    fn the_head_of_a_longer_hello_from_the_future_is_read() {
        let mut body = frame(&ClientMessage::Hello(hello())).unwrap()[2..].to_vec();
        body.extend([9; 50]);
        assert_eq!(ClientMessage::parse(&body), Err(WireError::Trailing));
        assert_eq!(
            ClientMessage::parse_hello_head(&body),
            Ok((0x0102_0304_0506_0708, "0.1.0".into()))
        );
    }

    #[test]
    fn a_hello_that_is_oddly_spelled_has_a_head_too() {
        // The variant as a varint of two bytes; found by fuzzing.
        let body = &frame(&ClientMessage::Hello(hello())).unwrap()[2..];
        let odd = [&[0x80, 0], &body[1..]].concat();
        assert_eq!(ClientMessage::parse(&odd), Ok(ClientMessage::Hello(hello())));
        assert_eq!(ClientMessage::parse_hello_head(&odd), ClientMessage::parse_hello_head(body));
    }

    #[test]
    fn too_long_is_refused() {
        let name = "x".repeat(TEXT_BYTES_MAX + 1);
        let body = frame(&ClientMessage::Hello(Hello { name, ..hello() })).unwrap();
        assert_eq!(ClientMessage::parse(&body[2..]), Err(WireError::Range("name")));
        let reason = "x".repeat(CONTROL_BYTES_MAX);
        assert!(frame(&ServerMessage::Closed { reason, retry: false }).is_err());
        assert!(body_len([255, 255]).is_err());
    }

    #[test]
    fn names_are_cleaned() {
        assert_eq!(clean_name("  Ada\n\u{202e} Lovelace "), Some("Ada Lovelace".into()));
        assert_eq!(clean_name(" \t\u{200b}\u{3164}"), None);
        assert_eq!(clean_name(&"é".repeat(40)).unwrap().len(), NAME_BYTES_MAX);
    }

    proptest! {
        #[test]
        fn garbage_is_refused_without_a_panic(body in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = ClientMessage::parse(&body);
            let _ = ClientMessage::parse_hello_head(&body);
            let _ = ServerMessage::parse(&body);
        }

        #[test]
        fn a_truncated_hello_is_refused(cut in 0..29_usize) {
            let body = &frame(&ClientMessage::Hello(hello())).unwrap()[2..];
            prop_assert!(ClientMessage::parse(&body[..cut.min(body.len() - 1)]).is_err());
        }
    }
}
