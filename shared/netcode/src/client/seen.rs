//! What the player saw when it pressed what it did: told to the server with each input, so that a shot
//! counts where the target was on the screen.

use std::collections::VecDeque;

use crate::limits::PREDICTION_TICKS_MAX;
use crate::time::{Rates, ServerTime, Tick};
use crate::wire::input::{Pressed, VIEW_PARTS};

/// The time on the screen, and what it was when recent inputs were given.
#[derive(Debug, Default)]
pub(super) struct Seen {
    shown: Option<ServerTime>,
    /// View lags of inputs, oldest first, and whether they matter.
    lags: VecDeque<(Tick, u16, bool)>,
}

impl Seen {
    /// A frame that shows this time is on the screen from now on.
    pub(super) fn handle_view(&mut self, shown: ServerTime) {
        self.shown = Some(shown);
    }

    /// The server's clock was set back: what was shown was another time.
    pub(super) fn restart(&mut self) {
        *self = Self::default();
    }

    /// The input of a tick was given now; `matters` if what it does depends on what was seen.
    pub(super) fn handle_input(&mut self, rates: Rates, tick: Tick, matters: bool) {
        // After the clock was stepped back, ticks come again.
        while self.lags.back().is_some_and(|(newest, ..)| *newest >= tick) {
            self.lags.pop_back();
        }
        if self.lags.len() as u64 >= PREDICTION_TICKS_MAX {
            self.lags.pop_front();
        }
        // Who has seen nothing yet (or has no eyes) goes by the present.
        let lag = self.shown.map_or(0.0, |shown| (rates.time_of(tick) - shown).as_secs());
        let parts = lag * f64::from(rates.tick_hz) * f64::from(VIEW_PARTS);
        self.lags.push_back((tick, parts.round() as u16, matters));
    }

    /// Inputs of consecutive ticks, newest first, each with what was seen as far as that must be told.
    pub(super) fn press<I>(&self, newest: Tick, inputs: Vec<I>) -> Vec<Pressed<I>> {
        let lag = |back: u64| {
            let found = self.lags.binary_search_by_key(&newest.minus(back), |(tick, ..)| *tick);
            let (_, lag, matters) = self.lags[found.ok()?];
            (back == 0 || matters).then_some(lag)
        };
        inputs.into_iter().zip(0..).map(|(input, back)| Pressed { input, lag: lag(back) }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Micros;

    #[test]
    fn the_newest_input_and_those_that_look_carry_what_was_seen() {
        let rates = Rates::DEFAULT;
        let mut seen = Seen::default();
        for tick in 0..300_u64 {
            if tick >= 200 {
                seen.handle_view(rates.time_of(Tick(tick)) - Micros::from_ms(100));
            }
            seen.handle_input(rates, Tick(tick), tick.is_multiple_of(2));
        }
        fn lags(seen: &Seen, newest: u64) -> [Option<u16>; 4] {
            let pressed = seen.press(Tick(newest), vec![(); 4]);
            std::array::from_fn(|at| pressed[at].lag)
        }
        // 100 ms are 6 ticks.
        assert_eq!(lags(&seen, 299), [Some(384), Some(384), None, Some(384)]);
        assert_eq!(lags(&seen, 202), [Some(384), None, Some(384), None]);
        assert_eq!(lags(&seen, 198), [Some(0), None, Some(0), None], "nothing was shown yet");
        assert_eq!(lags(&seen, 100), [None; 4], "that is forgotten");
        // Nobody sees the future, nor what was long ago.
        seen.handle_view(rates.time_of(Tick(400)));
        seen.handle_input(rates, Tick(300), true);
        seen.handle_view(ServerTime(i64::MIN));
        seen.handle_input(rates, Tick(301), true);
        assert_eq!(lags(&seen, 301)[..2], [Some(u16::MAX), Some(0)]);
        seen.restart();
        assert_eq!(lags(&seen, 301), [None; 4]);
    }
}
