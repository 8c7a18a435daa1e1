//! A correction of a predicted entity, while the picture still hides it.

use crate::fields::{Field, Values};
use crate::motion::interpolate::cut_between;
use crate::motion::smoothing::RenderError;
use crate::motion::spring::{ErrorSpring, Moving};

/// A correction in progress. The player's own entity keeps its velocity; entities that it touches
/// must soon be drawn where they are predicted, or they would be hit from a distance.
#[derive(Clone, Copy, Debug)]
pub(super) enum Hidden {
    Own(ErrorSpring),
    Other(RenderError),
}

impl Hidden {
    /// Creates an empty correction, of the player's own entity or of another.
    pub(super) fn none(is_own: bool) -> Self {
        if is_own { Self::Own(ErrorSpring::default()) } else { Self::Other(RenderError::default()) }
    }

    /// Adds a correction from `before` to `after`. A teleport is shown at once.
    pub(super) fn correct(&mut self, fields: &[Field], before: &Moving, after: &Moving) {
        let cut = cut_between(fields, &before.values, &after.values);
        match self {
            Self::Own(spring) if cut => spring.clear(),
            Self::Other(error) if cut => error.clear(),
            Self::Own(spring) => spring.correct(fields, before, after),
            Self::Other(error) => error.correct(fields, &before.values, &after.values),
        }
    }

    /// Advances by `secs` and returns the values to draw.
    pub(super) fn advance(&mut self, fields: &[Field], secs: f32, predicted: &Values) -> Values {
        match self {
            Self::Own(spring) => {
                spring.advance(fields, secs);
                spring.apply(fields, predicted)
            }
            Self::Other(error) => {
                error.decay(fields, secs);
                error.apply(fields, predicted)
            }
        }
    }

    /// Whether the correction is over.
    pub(super) fn is_zero(&self) -> bool {
        match self {
            Self::Own(spring) => spring.is_zero(),
            Self::Other(error) => error.is_zero(),
        }
    }
}
