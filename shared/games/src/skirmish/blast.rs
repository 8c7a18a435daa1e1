//! Blasts: splash damage that walls shield from, knock-back, and chain reactions.

use glam::Vec2;
use serde::{Deserialize, Serialize};

use super::bodies::BodyShape;
use super::entities::{PACE_MAX, Piece, Player, Prop};
use super::movement::RADIUS;
use super::weapons::Means;
use phaselock::game::Entities;
use phaselock::ids::{EntityId, PlayerId};
use phaselock::physics::{Aabb, has_line_of_sight};
use phaselock::time::Rates;

/// Range of a blast in metres.
pub const BLAST_REACH: f32 = 3.2;
/// Damage at its centre: less than a new player's health.
const DAMAGE: f32 = 85.0;
/// Speed that it gives at its centre, in metres per second.
const KNOCK: f32 = 11.0;
/// Fraction of the damage for the player who caused it.
const OWN_PART: f32 = 0.5;
/// Maximum number of blasts in a tick; more wait for the next one.
pub(super) const BLASTS_MAX: usize = 16;
/// Seconds from a blast until a barrel in its range explodes. Arbitrary: slow enough to see the
/// chain run.
const CHAIN_SECS: f32 = 0.12;

/// An explosion.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Blast {
    pub(super) at: Vec2,
    /// The player who caused it.
    pub(super) by: Option<PlayerId>,
    pub(super) means: Means,
}

/// Damage to a player.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hurt {
    pub(super) victim: EntityId,
    pub(super) by: Option<PlayerId>,
    pub(super) means: Means,
    pub(super) damage: u8,
}

/// Returns the force of a blast on an object, 0 to 1, which decreases linearly from its centre to
/// its range. A wall in between stops it; a wall that leaves one flank exposed halves it.
fn force(at: Vec2, position: Vec2, shape: BodyShape, walls: &[Aabb]) -> f32 {
    let half = shape.half().min_element();
    let far = (position.distance(at) - half).max(0.0);
    if far >= BLAST_REACH {
        return 0.0;
    }
    let aside = (position - at).perp().normalize_or_zero() * half;
    let shield = if has_line_of_sight(at, position, walls) {
        1.0
    } else if has_line_of_sight(at, position + aside, walls)
        || has_line_of_sight(at, position - aside, walls)
    {
        0.5
    } else {
        return 0.0;
    };
    (1.0 - far / BLAST_REACH) * shield
}

/// Returns the direction in which a blast throws an object.
fn away(at: Vec2, position: Vec2) -> Vec2 {
    (position - at).try_normalize().unwrap_or(Vec2::X)
}

/// Throws everything in range of a blast that `moves` selects; adds damage to `hurts`.
pub(super) fn throw_about(
    blast: &Blast,
    walls: &[Aabb],
    entities: &mut Entities<Piece>,
    moves: impl Fn(EntityId) -> bool,
    mut hurts: impl FnMut(Hurt),
) {
    let at = blast.at;
    for slot in entities.iter_mut().filter(|slot| moves(slot.id)) {
        match &mut slot.entity {
            Piece::Player(player) if player.health > 0 => {
                let force = force(at, player.position(), BodyShape::Circle(RADIUS), walls);
                if force == 0.0 {
                    continue;
                }
                knock(player, away(at, player.position()) * (KNOCK * force));
                let own = slot.owner.is_some() && slot.owner == blast.by;
                let part = if own { OWN_PART } else { 1.0 };
                let damage = (DAMAGE * force * part).ceil() as u8;
                hurts(Hurt { victim: slot.id, by: blast.by, means: blast.means, damage });
            }
            Piece::Prop(prop) if prop.stands() => {
                let force = force(at, prop.position(), prop.shape(), walls);
                if force > 0.0 {
                    let push = away(at, prop.position()) * (KNOCK * force);
                    prop.set_velocity(prop.velocity() + push);
                }
            }
            _ => {}
        }
    }
}

fn knock(player: &mut Player, by: Vec2) {
    let velocity = (player.velocity() + by).clamp_length_max(PACE_MAX);
    (player.vx, player.vy) = velocity.into();
}

/// Sets off barrels in range of a blast, which burn for a moment, and mines, whose blasts are added
/// to `more`.
pub(super) fn chain(
    blast: &Blast,
    rates: Rates,
    walls: &[Aabb],
    entities: &mut Entities<Piece>,
    mut more: impl FnMut(Blast),
) {
    let reached = |position, shape| force(blast.at, position, shape, walls) > 0.0;
    let waits = |prop: &Prop| prop.barrel && !prop.gone && prop.fuse == 0;
    for slot in entities.iter_mut() {
        match &mut slot.entity {
            Piece::Prop(prop) if waits(prop) && reached(prop.position(), prop.shape()) => {
                prop.fuse = (CHAIN_SECS * rates.tick_hz as f32).ceil() as u8;
                let by = blast.by.map_or(0, |by| by.0.saturating_add(1));
                // A carried barrel still belongs to its bearer.
                prop.by = if prop.held { prop.by } else { by };
            }
            Piece::Mine(mine)
                if mine.burst == 0 && reached(mine.position(), BodyShape::Circle(0.1)) =>
            {
                mine.burst = 1;
                more(Blast { at: mine.position(), by: slot.owner, means: Means::Mine });
            }
            _ => {}
        }
    }
}
