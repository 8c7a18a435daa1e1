//! What players say to each other: recipients, marks on the map, and the appearance that
//! distinguishes players.

use serde::{Deserialize, Serialize};

use super::hash::fnv1a;
use crate::identity::PublicKey;
use crate::ids::PlayerId;
use crate::limits::{COLORS, MARK_KINDS, MARK_UNITS_MAX, PATTERNS};

/// Who receives what a player says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Audience {
    /// All people in the room.
    #[default]
    All,
    /// The players on the speaker's side ([`Kit::sides`](crate::game::Kit::sides)).
    Side,
}

impl Audience {
    /// Returns its name, for logs and for the host.
    pub fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Side => "side",
        }
    }
}

/// Appearance of a player, the same in all games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Look {
    /// Index of a colour, less than [`COLORS`]; the client chooses the actual colour.
    pub color: u8,
    /// Index of a pattern, less than [`PATTERNS`].
    pub pattern: u8,
}

impl Look {
    /// Returns the appearance of a bot in this seat; neighbours differ.
    pub fn of_bot(player: PlayerId) -> Self {
        let round = u64::from(player.0) / u64::from(COLORS);
        Self { color: index(player.0.into(), COLORS), pattern: index(round, PATTERNS) }
    }

    /// Appearance of a client whose player chose none: the server assigns the colour.
    pub const UNCHOSEN: Self = Self { color: COLORS, pattern: 0 };

    /// Returns the appearance of a person who asks for this one. Without a chosen colour, it
    /// follows from the person's number.
    pub fn worn_by(self, person: u64) -> Self {
        if self.color == COLORS {
            return Self { color: index(person, COLORS), ..self };
        }
        self
    }

    /// Whether the appearance is [valid](Self::is_valid), or has [no colour](Self::UNCHOSEN).
    pub fn is_wish(self) -> bool {
        self.worn_by(0).is_valid()
    }

    /// Whether both indices are valid.
    pub fn is_valid(self) -> bool {
        self.color < COLORS && self.pattern < PATTERNS
    }
}

/// Reduces a number to an index less than `count`.
fn index(number: u64, count: u8) -> u8 {
    u8::try_from(number % u64::from(count)).expect("a remainder is less than its divisor")
}

/// A mark on the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// Kind, less than [`MARK_KINDS`]; each client chooses its meaning.
    pub kind: u8,
    /// X coordinate in 1/[`Mark::PER_METRE`] of the game's unit, within [`MARK_UNITS_MAX`].
    pub x: i32,
    /// Y coordinate in the same units, upwards or downwards as in the game.
    pub y: i32,
}

impl Mark {
    /// Units of a mark's position per unit of the game, such as a metre.
    pub const PER_METRE: f32 = 64.0;

    /// Creates a mark of a kind at a position in the game; `None` if that is out of range.
    #[expect(clippy::cast_possible_truncation, reason = "it is checked to be in range")]
    pub fn at(kind: u8, position: glam::Vec2) -> Option<Self> {
        let units = position * Self::PER_METRE;
        let is_near = units.abs().cmple(glam::Vec2::splat(MARK_UNITS_MAX as f32)).all();
        let mark = Self { kind, x: units.x.round() as i32, y: units.y.round() as i32 };
        (is_near && mark.is_valid()).then_some(mark)
    }

    /// Returns its position in the game.
    pub fn position(self) -> glam::Vec2 {
        glam::Vec2::new(self.x as f32, self.y as f32) / Self::PER_METRE
    }

    /// Whether the kind and the position are valid.
    pub fn is_valid(self) -> bool {
        let is_near = |units: i32| units.unsigned_abs() <= MARK_UNITS_MAX;
        self.kind < MARK_KINDS && is_near(self.x) && is_near(self.y)
    }
}

/// Prefix of what [`person`] hashes, followed by the key.
const PERSON_CONTEXT: &[u8] = b"phaselock person 1";

/// Returns the number by which others recognise a player on any server: 64-bit FNV-1a of `phaselock
/// person 1` and the player's public key. It is equal everywhere, so that muting a player is
/// permanent. It does not reveal the key, since three quarters of the key's bits are lost.
pub fn person(key: PublicKey) -> u64 {
    fnv1a(&[PERSON_CONTEXT, &key.0].concat())
}

/// A command of a server, as players write it into the chat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandHint {
    /// Name, without the slash.
    pub name: String,
    /// Arguments, for people; may be empty.
    pub usage: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec2;

    #[test]
    fn persons_are_told_apart_and_do_not_change() {
        assert_eq!(person(PublicKey([7; 32])), person(PublicKey([7; 32])));
        assert_ne!(person(PublicKey([7; 32])), person(PublicKey([8; 32])));
    }

    #[test]
    fn marks_are_on_the_map_or_nowhere() {
        let mark = Mark::at(1, Vec2::new(-2.5, 3.25)).expect("near");
        assert_eq!((mark.x, mark.y, mark.position()), (-160, 208, Vec2::new(-2.5, 3.25)));
        let edge = MARK_UNITS_MAX as f32 / Mark::PER_METRE;
        assert!(Mark::at(0, Vec2::new(edge, -edge)).is_some());
        for far in [edge + 1.0, f32::INFINITY, f32::NAN] {
            assert_eq!(Mark::at(0, Vec2::new(far, 0.0)), None, "{far}");
            assert_eq!(Mark::at(0, Vec2::new(0.0, -far)), None, "{far}");
        }
        assert_eq!(Mark::at(MARK_KINDS, Vec2::ZERO), None);
        assert!(!Mark { kind: 0, x: i32::MIN, y: 0 }.is_valid());
    }

    #[test]
    fn players_without_a_chosen_colour_get_one_by_their_key() {
        assert!(Look::UNCHOSEN.is_wish() && !Look::UNCHOSEN.is_valid());
        let worn: Vec<_> = (0..12).map(|person| Look::UNCHOSEN.worn_by(person)).collect();
        assert!(worn.iter().all(|look| look.is_valid()));
        assert!((1..12).all(|n| !worn[..n].contains(&worn[n])));
        let chosen = Look { color: 3, pattern: 7 };
        assert_eq!(chosen.worn_by(8), chosen);
        assert!(!Look { color: COLORS + 1, pattern: 0 }.is_wish());
    }

    #[test]
    fn looks_of_bots_are_valid_and_differ() {
        let looks: Vec<_> = (0..96).map(|seat| Look::of_bot(PlayerId(seat))).collect();
        assert!(looks.iter().all(|look| look.is_valid()));
        assert!((1..96).all(|n| !looks[..n].contains(&looks[n])));
        assert!(Look::of_bot(PlayerId(u16::MAX)).is_valid());
    }
}
