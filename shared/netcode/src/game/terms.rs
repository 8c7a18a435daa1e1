//! Small types that rules and netcode exchange.

use glam::Vec2;

use super::subtick::Subtick;
use crate::fields::Entities;
use crate::ids::EntityId;
use crate::limits::PREDICTED_SPAWN_INDEX_MIN;
use crate::time::Tick;

/// The part of the world that a client predicts in a tick.
#[derive(Clone, Copy, Debug)]
pub struct Ahead<'a> {
    /// The predicted tick, in the player's own time if the game uses [`Late::Wait`].
    pub tick: Tick,
    /// Ticks since the newest snapshot: 1 or more.
    pub ticks: u64,
    /// When the player's input was given, if that counts; see
    /// [`Game::SUBTICKS`](super::Game::SUBTICKS).
    pub subtick: Option<Subtick>,
    /// Co-predicted entities, in the order of their ids; see
    /// [`Game::co_predicts`](super::Game::co_predicts).
    pub co_predicted: &'a [EntityId],
}

impl Ahead<'_> {
    /// Whether an entity other than the player's own is co-predicted.
    pub fn covers(&self, id: EntityId) -> bool {
        id.index >= PREDICTED_SPAWN_INDEX_MIN || self.co_predicted.binary_search(&id).is_ok()
    }
}

/// What both sides know of an entity when its present state is extrapolated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Known<'a, E> {
    /// The complete state `ticks` ago, from which to extrapolate.
    pub base: &'a E,
    /// The present steering fields. All other fields are as in `base`, or as extrapolated without
    /// steering. Only useful for records with steering fields.
    pub steering: &'a E,
    /// Ticks from `base` to the present: 1 or more.
    pub ticks: u64,
}

/// A misprediction of a player's own entity, for which the game is asked for the
/// [cause](super::Game::misprediction_cause).
#[derive(Clone, Copy)]
pub struct Misprediction<'a, E> {
    /// The player's own entity.
    pub own: EntityId,
    /// Its predicted state.
    pub predicted: &'a E,
    /// Its true state in the same tick.
    pub truth: &'a E,
    /// Ticks since the last known state; the disturbance happened in one of them.
    pub ticks: u64,
    /// The newest states of all entities.
    pub entities: &'a Entities<E>,
    /// Returns the age of an entity's newest state in ticks.
    pub age: &'a dyn Fn(EntityId) -> u64,
}

/// Cause of a misprediction. Each names evidence; a misprediction without any has no cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MispredictionCause {
    /// A tick ran without the player's input, which came later or not at all. The netcode knows
    /// this from the server.
    LateInput,
    /// Another player blocked or pushed the player.
    Player,
    /// Another player's shot hit.
    Shot,
    /// An object, such as a ball or a crate.
    Prop,
    /// The rules, such as the end of a round.
    Rules,
}

impl MispredictionCause {
    /// All causes.
    pub const ALL: [Self; 5] = [Self::LateInput, Self::Player, Self::Shot, Self::Prop, Self::Rules];

    /// Returns the name that people read.
    pub fn name(self) -> &'static str {
        match self {
            Self::LateInput => "late input",
            Self::Player => "player",
            Self::Shot => "shot",
            Self::Prop => "prop",
            Self::Rules => "rules",
        }
    }
}

/// Treatment of inputs that arrive after their tick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Late {
    /// The tick runs on [`Game::repeat`](super::Game::repeat), and late inputs are dropped. All
    /// players are always in the present, and late players are corrected.
    #[default]
    Repeat,
    /// The player's *own time* stops until the inputs arrive, and then catches up. It never passes
    /// the world's tick, and inputs further behind than
    /// [`OWN_TIME_BEHIND_MAX`](crate::limits::OWN_TIME_BEHIND_MAX) are dropped. So an undisturbed
    /// player is never corrected. Other players see its entities late rather than wrong, so these
    /// need a field that holds the lag ([`Field::age`](crate::fields::Field::age)). The game must
    /// run [`Inputs::steps`](super::Inputs::steps), and change the predicted state of a player's
    /// entities in no other way.
    Wait,
}

/// Point from which a player sees, and how far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Viewpoint {
    /// Position, in the units of the game's plane.
    pub position: Vec2,
    /// How far the player sees, in the same units.
    pub range: f32,
}

/// How much an entity matters to a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relevance {
    /// The player must not learn about it, from this moment on.
    Secret,
    /// The player may see it but hardly needs it. Once sent, it stays for a while.
    Idle,
    /// Relevant, with this weight relative to an entity of weight 1. 0 counts as 1.
    Matters(u16),
}

/// How well a bot plays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strength {
    /// For beginners.
    Easy,
    /// Like an average person.
    #[default]
    Normal,
    /// For players who want to lose.
    Hard,
}

impl Strength {
    /// All strengths, with their names in settings.
    pub const NAMED: [(&'static str, Self); 3] =
        [("easy", Self::Easy), ("normal", Self::Normal), ("hard", Self::Hard)];

    /// Picks the value for this strength from those for easy, normal and hard bots.
    pub fn pick<T>(self, [easy, normal, hard]: [T; 3]) -> T {
        match self {
            Self::Easy => easy,
            Self::Normal => normal,
            Self::Hard => hard,
        }
    }
}

/// Unit of a per-player figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A count.
    Count,
    /// A time in seconds.
    Seconds,
}

impl Unit {
    /// Formats a value of this unit for people.
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

/// Which of two values of a player is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Best {
    /// The smaller one, as for lap times.
    Least,
    /// The larger one, as for points.
    Most,
}

impl Best {
    /// Whether `value` is better than `before`.
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
