//! The schedule of restarts: the core of [`restarts`](crate::host), which reads no clock.
//!
//! Times of the day and the week follow the calendar of [`Clocks`](crate::clocks::Clocks),
//! intervals the time that the server has been running. A time that a jump of the date, a suspend
//! or a start has passed over is skipped and never made up for. So no jump restarts a server, and
//! no restart causes another.

use crate::clocks::Now;
use crate::config::RestartTime;

/// Seconds before a restart at which players are warned.
const WARNINGS: [i64; 3] = [900, 300, 60];
/// After a start or a jump of the date, times less than this many seconds away are skipped. The
/// date may still be corrected by some seconds, and the time would come again.
const SOON: i64 = 60;
/// Seconds by which the date may differ from elapsed time between two calls; more is a jump or a
/// suspend.
const JUMP: i64 = 60;

/// What to do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Warn players that the server restarts in about this many seconds.
    Warn(i64),
    /// Tell players that the announced restart was cancelled.
    CallOff,
    /// Restart the server.
    Restart,
}

/// An entry of the schedule.
#[derive(Clone, Copy, Debug)]
struct Entry {
    time: RestartTime,
    /// When it is due next, in seconds: Unix time, or the server's uptime for an interval.
    due: i64,
}

impl Entry {
    fn new(time: RestartTime, now: Now) -> Self {
        let due = match time {
            RestartTime::Every(hours) => now.awake + seconds(hours),
            _ => date_after(time, now),
        };
        Self { time, due }
    }

    /// Moves on to the time after the next one.
    fn skip(&mut self) {
        self.due = match self.time {
            RestartTime::Every(hours) => self.due + seconds(hours),
            time => time.next_after(self.due).unwrap_or(i64::MAX),
        };
    }

    /// Skips times that a new date has passed over.
    fn follow_date(&mut self, now: Now) {
        if !matches!(self.time, RestartTime::Every(_)) {
            self.due = date_after(self.time, now);
        }
    }

    /// Returns the seconds until it is due.
    fn left(&self, now: Now) -> i64 {
        match self.time {
            RestartTime::Every(_) => self.due.saturating_sub(now.awake),
            _ => self.due.saturating_sub(now.unix),
        }
    }
}

fn seconds(hours: u16) -> i64 {
    3600 * i64::from(hours)
}

/// Returns the first date of a time that is not too soon.
fn date_after(time: RestartTime, now: Now) -> i64 {
    time.next_after(now.unix + SOON).unwrap_or(i64::MAX)
}

/// The schedule of restarts.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    entries: Vec<Entry>,
    last: Now,
    /// Number of warnings that players have had of the next restart.
    warned: usize,
}

impl Schedule {
    /// Creates an empty schedule.
    pub(crate) fn new(now: Now) -> Self {
        Self { entries: Vec::new(), last: now, warned: 0 }
    }

    /// Replaces the times. Intervals count from now, except those that were in the schedule
    /// already.
    pub(crate) fn set(&mut self, times: &[RestartTime], now: Now) -> Option<Step> {
        let known = |time: RestartTime| self.entries.iter().find(|it| it.time == time).copied();
        let entries = times.iter().map(|it| known(*it).unwrap_or_else(|| Entry::new(*it, now)));
        let entries: Vec<_> = entries.collect();
        self.change(now, now, |schedule| schedule.entries = entries)
    }

    /// Skips the next restart. Returns `None` if there is none to come, otherwise what to do about
    /// the players.
    pub(crate) fn skip(&mut self, now: Now) -> Option<Option<Step>> {
        let next = self.left(now)?;
        Some(self.change(now, now, |schedule| {
            // Two entries may fall on the same time: a daily and a weekly one.
            let same = schedule.entries.iter_mut().filter(|it| it.left(now) == next);
            same.for_each(Entry::skip);
        }))
    }

    /// Advances the schedule. Call it once a second.
    pub(crate) fn look(&mut self, now: Now) -> Option<Step> {
        let last = std::mem::replace(&mut self.last, now);
        let ahead = (now.unix - last.unix) - (now.awake - last.awake);
        if ahead.abs() > JUMP {
            let follow = |schedule: &mut Self| {
                schedule.entries.iter_mut().for_each(|entry| entry.follow_date(now));
            };
            if let Some(step) = self.change(last, now, follow) {
                return Some(step);
            }
        }
        let left = self.left(now)?;
        if left <= 0 {
            let due = self.entries.iter_mut().filter(|it| it.left(now) <= 0);
            due.for_each(|entry| *entry = Entry::new(entry.time, now));
            self.warned = 0;
            return Some(Step::Restart);
        }
        let due = WARNINGS.iter().filter(|secs| left <= **secs).count();
        let is_new = due > std::mem::replace(&mut self.warned, due);
        is_new.then_some(Step::Warn(left))
    }

    /// Returns the Unix time of the next restart, in seconds.
    pub(crate) fn next(&self, now: Now) -> Option<i64> {
        self.left(now).map(|left| now.unix.saturating_add(left))
    }

    /// Returns the seconds until the next restart.
    fn left(&self, now: Now) -> Option<i64> {
        self.entries.iter().map(|entry| entry.left(now)).min()
    }

    /// Returns the uptime at which the next restart is expected, in seconds.
    fn expected(&self, now: Now) -> Option<i64> {
        self.left(now).map(|left| now.awake.saturating_add(left))
    }

    /// Changes the entries. This may cancel the restart that was announced.
    fn change(&mut self, last: Now, now: Now, change: impl FnOnce(&mut Self)) -> Option<Step> {
        let before = self.expected(last);
        change(self);
        if self.expected(now) == before {
            return None;
        }
        let was_told = std::mem::take(&mut self.warned) > 0;
        was_told.then_some(Step::CallOff)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use RestartTime::{Daily, Every, Weekly};

    const MINUTE: i64 = 60;
    const HOUR: i64 = 3600;
    const DAY: i64 = 24 * HOUR;
    /// 2026-11-26 00:00, a Thursday.
    const MIDNIGHT: i64 = 1_795_651_200;
    const FOUR: RestartTime = Daily(240);

    struct Machine {
        now: Now,
        schedule: Schedule,
    }

    impl Machine {
        /// Creates a server that starts at a time.
        fn start(unix: i64, times: &[RestartTime]) -> Self {
            let now = Now { unix, awake: 0 };
            let mut schedule = Schedule::new(now);
            assert_eq!(schedule.set(times, now), None);
            Self { now, schedule }
        }

        /// Looks once a second for the given time. Returns what was to be done, with the times.
        fn run(&mut self, secs: i64) -> Vec<(i64, Step)> {
            let mut steps = Vec::new();
            for _ in 0..secs {
                self.now.unix += 1;
                self.now.awake += 1;
                steps.extend(self.schedule.look(self.now).map(|step| (self.now.unix, step)));
            }
            steps
        }

        /// Returns the Unix times of restarts within a time; the server starts again a second after
        /// each.
        fn restarts(&mut self, secs: i64) -> Vec<i64> {
            let times: Vec<_> = self.schedule.entries.iter().map(|it| it.time).collect();
            let (mut all, end) = (Vec::new(), self.now.unix + secs);
            while self.now.unix < end {
                if self.run(1).iter().any(|(_, step)| *step == Step::Restart) {
                    all.push(self.now.unix);
                    *self = Self::start(self.now.unix, &times);
                }
            }
            all
        }

        fn next(&self) -> Option<i64> {
            self.schedule.next(self.now)
        }
    }

    #[test]
    fn players_are_warned_15_5_and_1_minutes_before() {
        let mut machine = Machine::start(MIDNIGHT, &[FOUR]);
        let at = MIDNIGHT + 4 * HOUR;
        assert_eq!(machine.next(), Some(at));
        let steps = [
            (at - 900, Step::Warn(900)),
            (at - 300, Step::Warn(300)),
            (at - 60, Step::Warn(60)),
            (at, Step::Restart),
        ];
        assert_eq!(machine.run(12 * HOUR), steps);
        assert_eq!(machine.next(), Some(at + DAY), "a restart that is not carried out is dropped");
        // With less time left they are warned at once, with the time that is left.
        let mut late = Machine::start(at - 10 * MINUTE, &[FOUR]);
        assert_eq!(late.run(2)[..], [(at - 599, Step::Warn(599))]);
    }

    #[test]
    fn a_server_restarts_once_a_day_or_a_week() {
        let day = Machine::start(MIDNIGHT, &[FOUR]).restarts(3 * DAY);
        assert_eq!(day, [4, 28, 52].map(|hours| MIDNIGHT + hours * HOUR));
        let week = Machine::start(MIDNIGHT, &[Weekly(0, 240)]).restarts(15 * DAY);
        assert_eq!(week, [4, 11].map(|days| MIDNIGHT + days * DAY + 4 * HOUR));
        let both = Machine::start(MIDNIGHT, &[FOUR, Weekly(3, 240)]).restarts(DAY);
        assert_eq!(both, [MIDNIGHT + 4 * HOUR], "the same moment counts once");
        let hours = Machine::start(MIDNIGHT + 7, &[Every(6)]).restarts(13 * HOUR);
        assert_eq!(hours, [6, 12].map(|hours| MIDNIGHT + 7 + hours * HOUR));
    }

    #[test]
    fn a_start_at_the_time_of_a_restart_causes_no_other() {
        let at = MIDNIGHT + 4 * HOUR;
        // The date may be corrected by seconds in both directions.
        for start in [at - 59, at - 1, at, at + 1, at + 59] {
            for correction in [-10, -1, 0, 1, 10] {
                let mut machine = Machine::start(start, &[FOUR]);
                machine.now.unix += correction;
                assert_eq!(machine.run(HOUR), [], "{start} {correction}");
                assert_eq!(machine.next(), Some(at + DAY));
            }
        }
    }

    #[test]
    fn no_jump_of_the_date_restarts_a_server() {
        for jump in [DAY, -DAY, 400 * DAY, -400 * DAY, HOUR, -HOUR, 3 * HOUR, 5 * MINUTE] {
            for start in [3 * HOUR, 4 * HOUR + 1, 4 * HOUR - 2, 4 * HOUR - 3 * MINUTE, 5 * HOUR] {
                let mut machine = Machine::start(MIDNIGHT + start - HOUR, &[FOUR]);
                machine.restarts(HOUR);
                machine.now.unix += jump;
                let jumped = machine.now.unix;
                assert!(!machine.run(1).iter().any(|(_, step)| *step == Step::Restart));
                let restarts = machine.restarts(DAY + HOUR);
                let first = restarts.first().copied().unwrap_or_default();
                let of_day = (first - MIDNIGHT).rem_euclid(DAY);
                assert_eq!(of_day, 4 * HOUR, "{start} {jump}: at the right time of the new date");
                assert!(restarts.windows(2).all(|pair| pair[1] - pair[0] == DAY), "{restarts:?}");
                assert!(first > jumped && restarts.len() <= 2);
            }
        }
    }

    #[test]
    fn times_during_a_suspend_are_skipped() {
        let mut machine = Machine::start(MIDNIGHT, &[FOUR, Every(6)]);
        machine.run(HOUR);
        machine.now.unix += 9 * HOUR;
        // The interval follows the time that the server has been running.
        assert_eq!(machine.run(5 * HOUR - 1).len(), 3, "warnings");
        assert_eq!(machine.run(1), [(MIDNIGHT + 15 * HOUR, Step::Restart)]);
        let mut daily = Machine::start(MIDNIGHT, &[FOUR]);
        daily.now.unix += 9 * HOUR;
        assert_eq!((daily.run(HOUR), daily.next()), (vec![], Some(MIDNIGHT + 28 * HOUR)));
    }

    #[test]
    fn warned_players_are_told_of_a_jump_that_moves_a_restart() {
        let at = MIDNIGHT + 4 * HOUR;
        let mut machine = Machine::start(at - HOUR, &[FOUR]);
        assert_eq!(machine.run(50 * MINUTE).len(), 1);
        machine.now.unix += 2 * HOUR;
        let steps: Vec<_> = machine.run(HOUR).into_iter().map(|(_, step)| step).collect();
        assert_eq!(steps, [Step::CallOff]);
        assert_eq!(machine.next(), Some(at + DAY));
    }

    #[test]
    fn the_next_restart_can_be_skipped() {
        let at = MIDNIGHT + 4 * HOUR;
        let mut machine = Machine::start(MIDNIGHT, &[FOUR, Weekly(3, 240), Every(100)]);
        assert_eq!(machine.schedule.skip(machine.now), Some(None));
        assert_eq!(machine.next(), Some(at + DAY));
        assert_eq!(machine.run(5 * HOUR), []);
        machine.run(at + DAY - MINUTE - machine.now.unix);
        assert_eq!(machine.schedule.skip(machine.now), Some(Some(Step::CallOff)));
        assert_eq!(machine.next(), Some(at + 2 * DAY));
        let mut hourly = Machine::start(MIDNIGHT, &[Every(1)]);
        assert_eq!(hourly.schedule.skip(hourly.now), Some(None));
        assert_eq!(hourly.next(), Some(MIDNIGHT + 2 * HOUR));
        assert_eq!(Machine::start(MIDNIGHT, &[]).schedule.skip(hourly.now), None);
    }

    #[test]
    fn new_times_keep_the_unchanged_entries() {
        let mut machine = Machine::start(MIDNIGHT, &[Every(6)]);
        machine.run(5 * HOUR + 50 * MINUTE);
        let now = machine.now;
        // The interval goes on, and players were not warned of anything that changes.
        assert_eq!(machine.schedule.set(&[Every(6), Daily(0)], now), None);
        assert_eq!(machine.next(), Some(MIDNIGHT + 6 * HOUR));
        assert_eq!(machine.schedule.set(&[Every(2)], now), Some(Step::CallOff));
        assert_eq!(machine.next(), Some(now.unix + 2 * HOUR));
        assert_eq!(machine.schedule.set(&[], now), None);
        assert_eq!((machine.next(), machine.run(DAY)), (None, vec![]));
    }

    #[test]
    fn dates_at_the_ends_of_the_range_are_safe() {
        for unix in [i64::MIN / 1000, 0, 253_402_214_400] {
            let mut machine = Machine::start(unix, &[FOUR, Weekly(6, 0), Every(1000)]);
            machine.run(2);
            machine.schedule.skip(machine.now);
        }
    }
}
