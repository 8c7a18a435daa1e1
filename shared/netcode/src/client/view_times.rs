//! View times of the local player's inputs, which the server uses for lag compensation.

use std::collections::VecDeque;

use crate::game::Timed;
use crate::limits::PREDICTION_TICKS_MAX;
use crate::time::{LocalTime, Micros, Rates, ServerTime, Tick};
use crate::wire::input::{Pressed, VIEW_LAG_MAX, VIEW_PARTS};

/// The maximum time since the last picture for which a frame is taken to show the game.
const FRAME_MAX: Micros = Micros::from_ms(250);

/// The time on screen, now and at each of the recent inputs.
#[derive(Debug, Default)]
pub(super) struct ViewTimes {
    shown: Option<(LocalTime, ServerTime)>,
    /// Lags of the view time at each input, oldest first, and whether the server needs it.
    lags: VecDeque<(Tick, u16, bool)>,
}

impl ViewTimes {
    /// Notes that from now on a frame showing this time is on screen.
    pub(super) fn handle_view(&mut self, now: LocalTime, shown: ServerTime) {
        self.shown = Some((now, shown));
    }

    /// Returns the time on screen; `None` before the first picture.
    pub(super) fn shown(&self) -> Option<ServerTime> {
        self.shown.map(|(_, shown)| shown)
    }

    /// Returns the time shown by the frame that is drawn now, in which the player's crosshair is
    /// where it was just read.
    pub(super) fn showing(&self, now: LocalTime) -> Option<ServerTime> {
        self.shown.map(|(at, shown)| shown + (now - at).clamp(Micros::ZERO, FRAME_MAX))
    }

    /// Discards earlier times after the server's clock was set.
    pub(super) fn restart(&mut self) {
        *self = Self::default();
    }

    /// Notes an input given when `shown` was on screen; `matters` if its effect depends on it.
    pub(super) fn handle_input(
        &mut self,
        rates: Rates,
        tick: Tick,
        (shown, matters): (Option<ServerTime>, bool),
    ) {
        // Ticks repeat after the clock was stepped back.
        while self.lags.back().is_some_and(|(newest, ..)| *newest >= tick) {
            self.lags.pop_back();
        }
        if self.lags.len() as u64 >= PREDICTION_TICKS_MAX {
            self.lags.pop_front();
        }
        // Before the first picture the view time is the present.
        let lag = shown.map_or(0.0, |shown| (rates.time_of(tick) - shown).as_secs());
        let parts = lag * f64::from(rates.tick_hz) * f64::from(VIEW_PARTS);
        self.lags.push_back((tick, (parts.round() as u16).min(VIEW_LAG_MAX), matters));
    }

    /// Returns the inputs of consecutive ticks, newest first, each with its view lag if the server
    /// needs it.
    pub(super) fn press<I>(
        &self,
        newest: Tick,
        inputs: impl Iterator<Item = Timed<I>>,
    ) -> impl Iterator<Item = Pressed<I>> {
        let lag = move |back: u64| {
            let found = self.lags.binary_search_by_key(&newest.minus(back), |(tick, ..)| *tick);
            let (_, lag, matters) = self.lags[found.ok()?];
            (back == 0 || matters).then_some(lag)
        };
        let pressed = move |(timed, back)| {
            let Timed { input, subtick } = timed;
            Pressed { input, lag: lag(back), subtick }
        };
        inputs.zip(0..).map(pressed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn view_lags_go_with_the_newest_input_and_those_that_need_them() {
        let rates = Rates::DEFAULT;
        let mut times = ViewTimes::default();
        for tick in 0..300_u64 {
            if tick >= 200 {
                let shown = rates.time_of(Tick(tick)) - Micros::from_ms(100);
                times.handle_view(LocalTime(0), shown);
            }
            let matters = tick.is_multiple_of(2);
            times.handle_input(rates, Tick(tick), (times.shown(), matters));
        }
        fn lags(times: &ViewTimes, newest: u64) -> [Option<u16>; 4] {
            let pressed: Vec<_> =
                times.press(Tick(newest), [Timed::from(()); 4].into_iter()).collect();
            std::array::from_fn(|at| pressed[at].lag)
        }
        // 100 ms are 6 ticks.
        assert_eq!(lags(&times, 299), [Some(384), Some(384), None, Some(384)]);
        assert_eq!(lags(&times, 202), [Some(384), None, Some(384), None]);
        assert_eq!(lags(&times, 198), [Some(0), None, Some(0), None], "nothing was shown yet");
        assert_eq!(lags(&times, 100), [None; 4], "that is forgotten");
        // A view time is never in the future nor in the distant past.
        times.handle_input(rates, Tick(300), (Some(rates.time_of(Tick(400))), true));
        times.handle_input(rates, Tick(301), (Some(ServerTime(i64::MIN)), true));
        assert_eq!(lags(&times, 301)[..2], [Some(VIEW_LAG_MAX), Some(0)]);
        times.restart();
        assert_eq!(lags(&times, 301), [None; 4]);
    }

    #[test]
    fn a_frame_shows_a_later_time_than_the_one_before() {
        let mut times = ViewTimes::default();
        assert_eq!(times.showing(LocalTime(7)), None);
        times.handle_view(LocalTime(5000), ServerTime(90));
        assert_eq!(times.showing(LocalTime(38_000)), Some(ServerTime(33_090)));
        assert_eq!(times.showing(LocalTime(0)), Some(ServerTime(90)));
        assert_eq!(times.showing(LocalTime(i64::MAX)), Some(ServerTime(250_090)));
    }
}
