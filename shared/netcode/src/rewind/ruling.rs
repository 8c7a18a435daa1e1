//! How the server judged a shot, in a form that its target may know and people can read.

use glam::Vec2;
use serde::{Deserialize, Serialize};

use crate::ids::{EntityId, PlayerId};
use crate::time::{Micros, Tick};

/// How the server judged a shot.
///
/// It holds no position but the target's, and no direction, so that the rules may send it to the
/// target: the target knows where it was itself.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ruling {
    /// The player who shot.
    pub shooter: PlayerId,
    /// Tick of the shot.
    pub tick: Tick,
    /// Time from the view time to the tick, as the client claimed it; `None` if there was no claim.
    pub claimed: Option<Micros>,
    /// Time by which the server rewound the world.
    pub accepted: Micros,
    /// Why the claimed and the accepted time differ.
    pub adjusted: Adjusted,
    /// The maximum rewind at that time.
    pub most: Micros,
    /// The player whose hit box was tested; `None` if no player was ahead of the shooter.
    pub tested: Option<Tested>,
}

impl Ruling {
    /// Whether all numbers can be worked with. A program that received the ruling must check this.
    pub fn is_sane(&self) -> bool {
        let span = Micros::ZERO..=Micros::from_ms(10_000);
        let is_finite = |tested: Tested| {
            let sizes = [tested.radius, tested.inside, tested.at.x, tested.at.y];
            sizes.iter().all(|it| it.is_finite() && it.abs() < 1e5) && tested.radius > 0.0
        };
        [self.accepted, self.most, self.claimed.unwrap_or_default()]
            .iter()
            .all(|time| span.contains(time))
            && self.tested.is_none_or(is_finite)
    }
}

/// Why a claim was adjusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Adjusted {
    /// The claim was accepted unchanged.
    No,
    /// According to the server's measurements the client cannot have seen that moment.
    Implausible,
    /// The claims changed faster than an honest client's clocks would.
    Unsteady,
    /// The claim exceeds the maximum rewind.
    Limit,
    /// The input and its claim came too late; the previous claim still applies.
    Missing,
}

/// A hit box that a shot was tested against.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tested {
    /// The target.
    pub target: EntityId,
    /// Middle of its hit box at the view time, in metres.
    pub at: Vec2,
    /// Radius of the hit box, in metres.
    pub radius: f32,
    /// How far inside the edge of the hit box the line of the shot ran, in metres; negative beside
    /// it.
    pub inside: f32,
    /// The result.
    pub outcome: Outcome,
}

impl Tested {
    /// Tests the line of a shot against a round hit box. The caller knows the outcome.
    pub fn circle(
        (from, along): (Vec2, Vec2),
        (target, at): (EntityId, Vec2),
        radius: f32,
        outcome: Outcome,
    ) -> Self {
        let inside = radius - (at - from).perp_dot(along).abs();
        Self { target, at, radius, inside, outcome }
    }
}

/// The result of testing a shot against a hit box.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// The shot hit.
    Hit,
    /// The line of the shot ran beside the hit box.
    Missed,
    /// Something else stood in the way.
    Blocked,
    /// The target has reached cover since, which counts where the defender is favoured.
    Covered,
    /// The target has died since.
    Gone,
}

#[cfg(test)]
mod tests {
    use super::*;

    const TARGET: EntityId = EntityId { index: 1, generation: 0 };

    fn tested(at: Vec2) -> Tested {
        Tested::circle((Vec2::new(1.0, 1.0), Vec2::X), (TARGET, at), 0.5, Outcome::Hit)
    }

    #[test]
    fn distance_is_measured_from_the_line_to_the_edge() {
        assert_eq!(tested(Vec2::new(9.0, 1.0)).inside, 0.5);
        assert_eq!(tested(Vec2::new(9.0, 1.25)).inside, 0.25);
        assert_eq!(tested(Vec2::new(9.0, 0.0)).inside, -0.5);
    }

    #[test]
    fn rulings_that_cannot_be_worked_with_are_recognised() {
        let ruling = Ruling {
            shooter: PlayerId(0),
            tick: Tick(9),
            claimed: Some(Micros::from_ms(182)),
            accepted: Micros::from_ms(150),
            adjusted: Adjusted::Limit,
            most: Micros::from_ms(150),
            tested: Some(tested(Vec2::ZERO)),
        };
        assert!(ruling.is_sane());
        let times = [Micros(-1), Micros(i64::MAX)];
        assert!(times.iter().all(|time| !Ruling { accepted: *time, ..ruling }.is_sane()));
        assert!(times.iter().all(|time| !Ruling { claimed: Some(*time), ..ruling }.is_sane()));
        for number in [f32::NAN, f32::INFINITY, f32::MAX] {
            let broken = Tested { inside: number, ..tested(Vec2::ZERO) };
            assert!(!Ruling { tested: Some(broken), ..ruling }.is_sane());
            assert!(!Ruling { tested: Some(tested(Vec2::splat(number))), ..ruling }.is_sane());
        }
    }
}
