//! Linear interpolation: on a straight line from one known state to the next.
//!
//! Source: "Multiplayer Platformer Log #5"; the same as Valve's for the Source engine. With `a` the last
//! state at or before the time shown and `b` the next one, it is `a + (b - a) (t - a.time) / (b.time -
//! a.time)`. Continuous, with a kink at every state. Past the newest state it stands, and jumps when the
//! next one comes: that is what the interpolation delay is there to prevent.

use super::between;
use super::method::{Method, Moment, Rules, Shown, Timeline};
use super::path::Path;

/// See the module.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Linear;

impl Method for Linear {
    fn timeline(&self) -> Timeline {
        Timeline::Past
    }

    fn show(&mut self, path: &Path, at: Moment, _rules: &dyn Rules) -> Shown {
        let mut place = between::raw(path, at.past, |segment, place| {
            let part = segment.elapsed / segment.span;
            for at in path.shape().moving() {
                let (from, to) = (segment.from.place[at], segment.to.place[at]);
                place[at] = from + (to - from) * part;
            }
        });
        between::finish(path, at.past, &mut place)
    }
}

#[cfg(test)]
mod tests {
    use super::super::method::{Method, NoRules};
    use super::super::testing::{Body, moment, path_of};
    use super::*;

    #[test]
    fn halfway_is_halfway_and_beyond_is_starved() {
        let path = path_of(&[(1.0, Body::at(2.0)), (1.5, Body::at(4.0))], 0.1);
        let x = |past: f64| {
            let shown = Linear.show(&path, moment(past), &NoRules);
            (shown.place[0], shown.starved)
        };
        assert_eq!(x(0.2), (2.0, false), "not yet");
        assert_eq!(x(1.0), (2.0, false));
        assert_eq!(x(1.125), (2.5, false));
        assert_eq!(x(1.5), (4.0, false));
        assert_eq!(x(1.6), (4.0, true));
    }
}
