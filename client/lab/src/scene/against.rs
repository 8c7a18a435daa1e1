//! What a method's error is measured against.

use super::model::Model;
use crate::{OnScreen, ScoredFrame};

/// The reference of a method's error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Against {
    /// The position at the time that the method shows.
    #[default]
    Then,
    /// The present position.
    Now,
}

/// The position that a frame should show; `None` across a teleport, which is not an error.
pub(super) fn truth(frame: &ScoredFrame, against: Against) -> Option<[f64; 2]> {
    let truth = match against {
        Against::Then => frame.then,
        Against::Now => frame.present,
    };
    let OnScreen::Shown(_, segment) = frame.seen else { return None };
    truth.filter(|truth| truth.segment == segment).map(|truth| truth.position)
}

pub(super) fn error(model: &Model, frame: &ScoredFrame, against: Against) -> Option<f64> {
    let (position, truth) = frame.position.zip(truth(frame, against))?;
    let [x, y] = model.path.recording.way(truth, position);
    Some(x.hypot(y))
}
