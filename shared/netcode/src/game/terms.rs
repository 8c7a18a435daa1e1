//! Small values that rules and netcode tell each other.

use glam::Vec2;

use crate::ids::EntityId;
use crate::limits::PREDICTED_SPAWN_INDEX_MIN;
use crate::time::Tick;

/// The part of the world that a client computes ahead in a tick.
#[derive(Clone, Copy, Debug)]
pub struct Ahead<'a> {
    /// The tick: of the player's own time, where that is waited for ([`Late::Wait`]).
    pub tick: Tick,
    /// Ticks since the newest snapshot: 1 or more.
    pub ticks: u64,
    /// Co-predicted entities, in the order of their ids: see
    /// [`Game::co_predicts`](super::Game::co_predicts).
    pub co_predicted: &'a [EntityId],
}

impl Ahead<'_> {
    /// Tells whether an entity is computed ahead besides the own one.
    pub fn covers(&self, id: EntityId) -> bool {
        id.index >= PREDICTED_SPAWN_INDEX_MIN || self.co_predicted.binary_search(&id).is_ok()
    }
}

/// What is known of an entity when its present state is extrapolated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Known<'a, E> {
    /// The whole state `ticks` ago: start from here.
    pub base: &'a E,
    /// The present state, but only its steering fields are known; the others are as in `base` or as
    /// extrapolated without them. Of no use without steering fields.
    pub steering: &'a E,
    /// Ticks from `base` to the present: 1 or more.
    pub ticks: u64,
}

/// Cause of a misprediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MispredictionCause {
    /// An input came after its tick had run.
    LateInput,
    /// Another player was in the way, or pushed.
    Player,
    /// Somebody's shot.
    Shot,
    /// A thing that is nobody's: a ball, a crate.
    Prop,
    /// None of these, as far as is known.
    Unknown,
}

impl MispredictionCause {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::LateInput, Self::Player, Self::Shot, Self::Prop, Self::Unknown];

    /// Name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::LateInput => "late input",
            Self::Player => "player",
            Self::Shot => "shot",
            Self::Prop => "prop",
            Self::Unknown => "unknown",
        }
    }
}

/// Treatment of inputs that come after their tick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Late {
    /// The tick runs on [`Game::repeat`](super::Game::repeat), and they are dropped: everybody is
    /// always at the present, and late players are corrected.
    #[default]
    Repeat,
    /// The player's *own time* stands still until they come, and then catches up: never past the
    /// world's tick, and without what is further behind than
    /// [`OWN_TIME_BEHIND_MAX`](crate::limits::OWN_TIME_BEHIND_MAX). So an undisturbed player is
    /// never corrected. Others see it late rather than wrong: its entities need a field that says
    /// by how much ([`Field::age`](crate::fields::Field::age)). The game runs
    /// [`Inputs::steps`](super::Inputs::steps), and changes the predicted state of a player's
    /// entities by nothing else.
    Wait,
}

/// Where a player sees from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Viewpoint {
    /// Position, in the units of the game's plane.
    pub position: Vec2,
    /// Distance up to which it sees, in the same units.
    pub range: f32,
}

/// Relevance of an entity to a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relevance {
    /// The player may not know of it, from this moment on.
    Secret,
    /// The player may know of it but has little use for it: once told, it lingers for a while.
    Idle,
    /// Matters, so much more than an entity that matters 1; 0 counts as 1.
    Matters(u16),
}

/// Strength of a bot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strength {
    /// For beginners.
    Easy,
    /// As people play.
    #[default]
    Normal,
    /// For those who want to be beaten.
    Hard,
}

impl Strength {
    /// All of them, with their names in settings.
    pub const NAMED: [(&'static str, Self); 3] =
        [("easy", Self::Easy), ("normal", Self::Normal), ("hard", Self::Hard)];

    /// The value for it, of those for easy, normal and hard bots.
    pub fn pick<T>(self, [easy, normal, hard]: [T; 3]) -> T {
        match self {
            Self::Easy => easy,
            Self::Normal => normal,
            Self::Hard => hard,
        }
    }
}

/// Unit of a number of a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A whole number of things.
    Count,
    /// A time in seconds.
    Seconds,
}

impl Unit {
    /// A number of this unit as people read it.
    pub fn text(self, value: f64) -> String {
        match self {
            Self::Count => format!("{value:.0}"),
            Self::Seconds if value >= 60.0 => {
                format!("{}:{:05.2}", (value / 60.0).floor(), value % 60.0)
            }
            Self::Seconds => format!("{value:.2} s"),
        }
    }
}

/// The better of two numbers of a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Best {
    /// The smaller one, as of a lap's time.
    Least,
    /// The greater one, as of points.
    Most,
}

impl Best {
    /// True if `value` is better than `before`.
    pub fn prefers(self, value: f64, before: f64) -> bool {
        match self {
            Self::Least => value < before,
            Self::Most => value > before,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_clocks_show_them() {
        assert_eq!(Unit::Seconds.text(59.5), "59.50 s");
        assert_eq!(Unit::Seconds.text(123.456), "2:03.46");
        assert_eq!(Unit::Count.text(20.0), "20");
    }
}
