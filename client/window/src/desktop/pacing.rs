//! Frame pacing: as many frames as the display shows, few in the background, none while hidden.

use std::time::Duration;

use crate::platform::Presence;
use crate::settings::values::FrameCap;

/// Assumed rate of a display that does not report one, in hertz: that of most displays.
const DISPLAY_HZ: f64 = 60.0;
/// Frames per second while another window has the keyboard.
const BACKGROUND_HZ: f64 = 10.0;
/// Maximum frames per second without a cap: more would only produce heat.
const UNCAPPED_HZ: f64 = 1000.0;
/// Share of a frame that is waited for in addition to the display's own rhythm. Waiting for the
/// whole would miss every other frame, because sleep ends late.
const PART: f64 = 0.96;
/// Interval of session updates in the background, where frames are rare. It sends inputs and
/// receives snapshots as often as a game at 60 frames per second.
pub(crate) const UPDATE_EVERY: Duration = Duration::from_millis(16);

/// Minimum time from the start of a frame to the start of the next, on a display with this rate.
pub(crate) fn frame_least(cap: FrameCap, presence: Presence, display_hz: Option<f64>) -> Duration {
    let hz = match (presence, cap) {
        (Presence::Background | Presence::Hidden, _) => BACKGROUND_HZ,
        (_, FrameCap::Display) => display_hz.unwrap_or(DISPLAY_HZ) / PART,
        (_, FrameCap::None) => UNCAPPED_HZ,
        (_, FrameCap::PerSecond(hz)) => f64::from(hz),
    };
    Duration::from_secs_f64(1.0 / hz)
}

/// Schedules frames.
#[derive(Debug, Default)]
pub(crate) struct Pacer {
    due: Duration,
}

impl Pacer {
    /// Time of the next frame, after one that began at `began`. A frame that was late by less than
    /// its own length is made up for, which keeps the mean rate.
    pub(crate) fn next(&mut self, began: Duration, least: Duration) -> Duration {
        self.due = self.due.max(began.saturating_sub(least)) + least;
        self.due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn frames_keep_their_rate_though_sleep_ends_late() {
        let least = frame_least(FrameCap::PerSecond(100), Presence::Foreground, None);
        let (mut pacer, mut now, mut frames) = (Pacer::default(), Duration::ZERO, 0);
        while now < MS * 1000 {
            // Each sleep ends 2 ms late.
            now = pacer.next(now, least) + MS * 2;
            frames += 1;
        }
        assert!((99..=101).contains(&frames), "{frames}");
    }

    #[test]
    fn long_frame_is_not_followed_by_a_burst() {
        let least = MS * 10;
        let mut pacer = Pacer::default();
        pacer.next(Duration::ZERO, least);
        assert_eq!(pacer.next(MS * 500, least), MS * 500);
        assert_eq!(pacer.next(MS * 500, least), MS * 510);
    }

    #[test]
    fn display_that_tells_its_rate_has_it() {
        let least = |hz| frame_least(FrameCap::Display, Presence::Foreground, hz);
        assert!(least(Some(144.0)) < MS * 7 && least(Some(30.0)) > MS * 31);
    }

    #[test]
    fn background_is_slow_whatever_the_cap() {
        for cap in [FrameCap::Display, FrameCap::None, FrameCap::PerSecond(500)] {
            assert_eq!(frame_least(cap, Presence::Background, Some(144.0)), MS * 100);
            assert_eq!(frame_least(cap, Presence::Hidden, None), MS * 100);
            assert!(frame_least(cap, Presence::Foreground, None) < MS * 17);
        }
    }
}
