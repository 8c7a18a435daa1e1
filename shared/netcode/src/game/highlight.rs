//! Moments that a client shows again while play rests.

use crate::ids::PlayerId;
use crate::time::{Micros, Rates, ServerTime, Tick};

/// A moment of the last seconds, to be shown again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Highlight {
    /// The player through whose eyes it is shown.
    pub viewer: PlayerId,
    /// The tick that it is about.
    pub tick: Tick,
    /// What is shown of the time around it.
    pub excerpt: Excerpt,
    /// The tick of the player's own time at which it begins.
    pub starts: Tick,
    /// The tick of the player's own time at which the present is shown again.
    pub ends: Tick,
}

/// The time around a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The part before the tick. With everything up to the end, less than
    /// [`RECOLLECTION`](crate::limits::RECOLLECTION).
    pub before: Micros,
    /// The part after it, at whose end the picture stands still.
    pub after: Micros,
    /// How many times slower than the world it is; at least 1.
    pub slowness: u8,
}

impl Highlight {
    /// Returns the server time that is shown at a point of the player's own time, or `None` before
    /// and after the highlight.
    pub fn time(&self, rates: Rates, own_time: ServerTime) -> Option<ServerTime> {
        let Self { tick, excerpt, starts, ends, .. } = *self;
        let passed = own_time - rates.time_of(starts);
        let is_shown = passed >= Micros::ZERO && own_time < rates.time_of(ends);
        let moment = rates.time_of(tick);
        let slow = Micros(passed.0 / i64::from(excerpt.slowness.max(1)));
        is_shown.then(|| (moment + excerpt.after).min(moment - excerpt.before + slow))
    }
}

impl Excerpt {
    /// Returns the highlight of a tick that begins after `wait` and lasts until all is shown, with
    /// everyone at the same time.
    pub fn of(self, rates: Rates, viewer: PlayerId, tick: Tick, wait: Micros) -> Highlight {
        let ticks = |span: Micros| rates.tick_at(ServerTime(span.0)).0;
        let starts = tick.plus(ticks(wait));
        let length = (self.before + self.after).0.saturating_mul(i64::from(self.slowness));
        let ends = starts.plus(ticks(Micros(length)));
        Highlight { viewer, tick, excerpt: self, starts, ends }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATES: Rates = Rates::DEFAULT;

    #[test]
    fn a_highlight_runs_slowly_and_stands_still_at_its_end() {
        let ms = Micros::from_ms;
        let excerpt = Excerpt { before: ms(600), after: ms(150), slowness: 2 };
        let goal = excerpt.of(RATES, PlayerId(3), Tick(600), ms(500));
        assert_eq!((goal.starts, goal.ends), (Tick(630), Tick(720)));
        let shown = |at: i64| goal.time(RATES, ServerTime(10_000_000) + ms(at));
        let at = |ms: i64| Some(ServerTime(10_000_000) + Micros::from_ms(ms));
        assert_eq!([shown(499), shown(500), shown(700)], [None, at(-600), at(-500)]);
        assert_eq!([shown(1998), shown(2000)], [at(149), None]);
        let longer = Highlight { ends: Tick(900), ..goal };
        assert_eq!(longer.time(RATES, ServerTime(14_000_000)), at(150));
    }
}
