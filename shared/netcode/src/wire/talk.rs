//! Talk of players: who hears it, marks on the map, and looks by which players are told apart.

use serde::{Deserialize, Serialize};

use super::hash::fnv1a;
use crate::identity::PublicKey;
use crate::ids::PlayerId;
use crate::limits::{COLORS, MARK_KINDS, MARK_UNITS_MAX, PATTERNS};

/// The people who get what a player says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Audience {
    /// Everybody in the room.
    #[default]
    All,
    /// The players on the speaker's side ([`Kit::sides`](crate::game::Kit::sides)).
    Side,
}

impl Audience {
    /// Its name, for logs and for the host.
    pub fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Side => "side",
        }
    }
}

/// Looks of a player, the same in all games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Look {
    /// Index of a colour, below [`COLORS`]; which one it is, is the window's choice.
    pub color: u8,
    /// Index of a marking, below [`PATTERNS`].
    pub pattern: u8,
}

impl Look {
    /// Looks of a bot in that seat: neighbours have different ones.
    pub fn of_bot(player: PlayerId) -> Self {
        let round = u64::from(player.0) / u64::from(COLORS);
        Self { color: index(player.0.into(), COLORS), pattern: index(round, PATTERNS) }
    }

    /// Looks of a client whose player chose none: the server gives the colour.
    pub const UNCHOSEN: Self = Self { color: COLORS, pattern: 0 };

    /// The looks that a person wears who wishes for these: one who chose no colour has one by the
    /// person's number.
    pub fn worn_by(self, person: u64) -> Self {
        if self.color == COLORS {
            return Self { color: index(person, COLORS), ..self };
        }
        self
    }

    /// True of [valid](Self::is_valid) looks, and of those [without a colour](Self::UNCHOSEN).
    pub fn is_wish(self) -> bool {
        self.worn_by(0).is_valid()
    }

    /// False if an index is of no colour or no marking.
    pub fn is_valid(self) -> bool {
        self.color < COLORS && self.pattern < PATTERNS
    }
}

/// A number as an index below `count`.
fn index(number: u64, count: u8) -> u8 {
    u8::try_from(number % u64::from(count)).expect("a remainder is less than its divisor")
}

/// A mark on the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// Kind, below [`MARK_KINDS`]; its meaning is the clients' own.
    pub kind: u8,
    /// Position in units of 1/[`Mark::PER_METRE`] of the game's unit, within [`MARK_UNITS_MAX`].
    pub x: i32,
    /// The same, downwards or upwards as in the game.
    pub y: i32,
}

impl Mark {
    /// Units of a mark's position in one of the game's, such as a metre.
    pub const PER_METRE: f32 = 64.0;

    /// A mark of a kind at a position of the game; none if that is out of range.
    #[expect(clippy::cast_possible_truncation, reason = "it is checked to be in range")]
    pub fn at(kind: u8, position: glam::Vec2) -> Option<Self> {
        let units = position * Self::PER_METRE;
        let is_near = units.abs().cmple(glam::Vec2::splat(MARK_UNITS_MAX as f32)).all();
        let mark = Self { kind, x: units.x.round() as i32, y: units.y.round() as i32 };
        (is_near && mark.is_valid()).then_some(mark)
    }

    /// Its position in the game.
    pub fn position(self) -> glam::Vec2 {
        glam::Vec2::new(self.x as f32, self.y as f32) / Self::PER_METRE
    }

    /// False if it is of no kind, or too far away.
    pub fn is_valid(self) -> bool {
        let is_near = |units: i32| units.unsigned_abs() <= MARK_UNITS_MAX;
        self.kind < MARK_KINDS && is_near(self.x) && is_near(self.y)
    }
}

/// Beginning of what [`person`] hashes; the key follows it.
const PERSON_CONTEXT: &[u8] = b"phaselock person 1";

/// A number by which others know a player again, on any server: 64-bit FNV-1a of
/// `phaselock person 1` and the player's public key. It is the same everywhere, so that whoever
/// mutes somebody does so for good; the key cannot be told from it, since three quarters of the
/// key's bits are lost.
pub fn person(key: PublicKey) -> u64 {
    fnv1a(&[PERSON_CONTEXT, &key.0].concat())
}

/// One of a server's commands, as players write it into the chat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandHint {
    /// Name, without its slash.
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
    fn whoever_chose_no_colour_wears_one_by_the_key() {
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
