//! The date, advanced by elapsed time: the core of [`Clocks`](super::Clocks), which reads no clock.
//!
//! The calendar advances by elapsed time and follows small corrections of the system clock at once.
//! When the system clock jumps (a boot without an RTC, NTP, a restored virtual machine), the
//! calendar carries on and adopts the new date only after it has lasted for [`SETTLED_MS`]. It
//! adopts a new date at once if its own is a guess: after a boot with a date before the newest it
//! knows.
//!
//! After a jump, the date is unsure until the server has run for [`SURE_MS`] and the date has gone
//! on. Until then, records are deleted by the last sure date. The running time adds up over boots,
//! so a machine that runs for a few hours a week still deletes old records, some weeks late.

/// Largest difference from the system clock that counts as a correction rather than a jump.
/// Arbitrary: far more than NTP slews in a second.
const CORRECTION_MS: i64 = 10_000;
/// Time for which a jump of the system clock must last before the date follows. Arbitrary.
const SETTLED_MS: i64 = 600_000;
/// Time after a jump until records are deleted by the new date: it gives a host a day to notice a
/// wrong one.
const SURE_MS: i64 = 86_400_000;
/// Longest time between runs on different boots that counts as a pause rather than as a jump.
/// Arbitrary: longer than a night.
const PAUSE_MS: i64 = 86_400_000;
/// 2026-01-01. No such server ran before that, so an earlier date means that the clock was never
/// set.
const FIRST_MS: i64 = 1_767_225_600_000;

/// 9999-12-31, the last date with a four-digit year.
const LAST_MS: i64 = 253_402_214_400_000;

/// Identifies a boot of the machine. A server that starts again within the same boot knows how much
/// time has passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BootId(pub u128);

impl BootId {
    /// Returns the current boot; `None` if the system does not say.
    pub(super) fn read() -> Option<Self> {
        let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        Self::parse(&text)
    }

    /// Parses a boot: 32 hexadecimal digits, with or without dashes.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let digits = text.trim().replace('-', "");
        u128::from_str_radix(&digits, 16).ok().map(Self)
    }
}

impl std::fmt::Display for BootId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// The machine's clocks at one moment, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reading {
    /// Unix time, which can be set at will.
    pub wall: i64,
    /// Time that the process has been running, without suspends of the machine.
    pub awake: i64,
    /// Time since the machine booted, including suspends; `None` if the system does not say.
    pub boot: Option<i64>,
}

/// A calendar as the database stores it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CalendarState {
    /// Unix time in milliseconds when this was stored.
    pub unix: i64,
    /// Newest Unix time that the calendar was sure of, in milliseconds.
    pub floor: i64,
    /// Time until the calendar is sure of the date again, in milliseconds; 0 if it is sure.
    pub unsure: i64,
    /// Unix time in milliseconds that will then be sure, minus a day of running: the date at the
    /// jump.
    pub candidate: i64,
    /// Sum of the jumps that the calendar has followed while unsure, in milliseconds.
    pub moved: i64,
    /// Boot of the machine, and time since then in milliseconds, if the system says.
    pub boot: Option<(BootId, i64)>,
}

/// A date of the system clock that the calendar does not follow yet.
#[derive(Clone, Copy, Debug)]
struct Doubt {
    /// System clock minus calendar.
    ahead: i64,
    /// Elapsed time when the date was first seen.
    since: i64,
}

/// The result of comparing the clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClockChange {
    /// No change.
    Same,
    /// The system clock jumped by this many milliseconds; the calendar does not follow yet.
    Jumped(i64),
    /// The system clock is back where it was before it jumped.
    Returned,
    /// The calendar followed the system clock by this many milliseconds.
    Followed(i64),
}

/// The date. All times are in milliseconds.
#[derive(Clone, Debug)]
pub(crate) struct Calendar {
    last: Reading,
    /// Time since the start, including suspends.
    elapsed: i64,
    unix: i64,
    floor: i64,
    unsure: i64,
    /// The date from which `unsure` counts.
    candidate: i64,
    moved: i64,
    /// The machine has not had a believable date since the start, so the first one is adopted at
    /// once.
    is_guess: bool,
    doubt: Option<Doubt>,
}

impl Calendar {
    /// Creates a calendar that continues a stored one, on the given boot of the machine.
    pub(crate) fn begin(kept: Option<&CalendarState>, boot: Option<BootId>, now: Reading) -> Self {
        let (unix, (unsure, candidate)) = match kept {
            None if now.wall < FIRST_MS => (FIRST_MS, (SURE_MS, FIRST_MS)),
            None => (now.wall, (0, 0)),
            Some(kept) => match kept.time_since(boot, now) {
                // The time since the boot cannot be set.
                Some(since) => (kept.unix + since, (kept.unsure, kept.candidate)),
                None if now.wall < kept.floor - CORRECTION_MS => {
                    (kept.floor, (SURE_MS, kept.floor))
                }
                None => (now.wall, kept.doubts_on_boot(now.wall)),
            },
        };
        let moved = kept.map_or(0, |kept| kept.moved_at(unix, kept.time_since(boot, now)));
        let floor = kept.map_or(FIRST_MS, |kept| kept.floor);
        let is_guess = unsure > 0 && now.wall < floor - CORRECTION_MS;
        let (elapsed, doubt) = (0, None);
        let last = now;
        let mut begun =
            Self { last, elapsed, unix, floor, unsure, candidate, moved, is_guess, doubt };
        begun.raise_floor();
        begun
    }

    /// Returns the state to store.
    pub(crate) fn state(&self, boot: Option<BootId>) -> CalendarState {
        let Self { unix, floor, unsure, candidate, moved, .. } = *self;
        let boot = boot.zip(self.last.boot);
        CalendarState { unix, floor, unsure, candidate, moved, boot }
    }

    /// Returns the Unix time in milliseconds.
    pub(crate) fn unix(&self) -> i64 {
        self.unix
    }

    /// Whether the date is sure, so that records may be deleted by it.
    pub(crate) fn is_sure(&self) -> bool {
        self.unsure == 0 && self.doubt.is_none()
    }

    /// Returns the newest Unix time in milliseconds that the calendar has been sure of. Records are
    /// deleted by it.
    pub(crate) fn sure_unix(&self) -> i64 {
        self.floor
    }

    /// Returns system clock minus calendar, while the calendar does not follow it.
    pub(crate) fn doubt(&self) -> Option<i64> {
        self.doubt.map(|doubt| doubt.ahead)
    }

    /// Advances by the elapsed time, whatever the system clock says.
    pub(crate) fn advance(&mut self, now: Reading) {
        let passed = now.since(&self.last);
        self.last = now;
        self.elapsed += passed;
        self.unix += passed;
        if self.doubt.is_none() {
            if self.unsure > 0 {
                self.unsure = (self.unsure - passed).max(0);
                if self.unsure == 0 {
                    self.confirm();
                }
            }
            self.raise_floor();
        }
    }

    /// Whether the date has gone on from the candidate for long enough. Pauses since then, of a
    /// machine that is mostly off, remain to be confirmed.
    fn confirm(&mut self) {
        self.moved = 0;
        let confirmed = self.candidate.saturating_add(SURE_MS);
        if self.unix - confirmed > PAUSE_MS {
            self.floor = self.floor.max(confirmed);
            (self.unsure, self.candidate) = (SURE_MS, self.unix);
        }
    }

    /// Advances, then compares the calendar with the system clock.
    pub(crate) fn look(&mut self, now: Reading) -> ClockChange {
        self.advance(now);
        let ahead = now.wall - self.unix;
        if ahead.abs() <= CORRECTION_MS {
            self.unix = now.wall;
            self.is_guess = false;
            let was_in_doubt = self.doubt.take().is_some();
            return if was_in_doubt { ClockChange::Returned } else { ClockChange::Same };
        }
        let elapsed = self.elapsed;
        let known = self.doubt.filter(|it| (it.ahead - ahead).abs() <= CORRECTION_MS);
        let is_new = known.is_none();
        let Doubt { since, .. } = known.unwrap_or(Doubt { ahead, since: elapsed });
        self.doubt = Some(Doubt { ahead, since });
        let is_first = self.is_guess && now.wall >= self.floor;
        let is_settled = elapsed - since >= SETTLED_MS;
        if now.wall >= FIRST_MS && (is_first || is_settled) {
            self.doubt = None;
            self.is_guess = false;
            self.unix = now.wall;
            (self.unsure, self.candidate) = (SURE_MS, now.wall);
            self.moved += ahead;
            self.floor = self.floor.min(now.wall);
            return ClockChange::Followed(ahead);
        }
        if is_new { ClockChange::Jumped(ahead) } else { ClockChange::Same }
    }

    fn raise_floor(&mut self) {
        if self.is_sure() {
            self.floor = self.floor.max(self.unix);
        }
    }
}

impl CalendarState {
    /// Whether these are possible times of a calendar: another program may have written them.
    pub(crate) fn is_plausible(&self) -> bool {
        let since_boot = self.boot.map_or(0, |(_, since)| since);
        let times = [self.unix, self.floor, self.unsure, self.candidate, since_boot];
        times.iter().all(|time| (0..=LAST_MS).contains(time))
            && (-LAST_MS..=LAST_MS).contains(&self.moved)
    }

    /// Returns how long a calendar that continues this one on another boot is unsure, at a date
    /// that is not before any known one; and its candidate.
    fn doubts_on_boot(&self, unix: i64) -> (i64, i64) {
        let is_pause = unix - self.floor <= PAUSE_MS;
        let goes_on = unix >= self.candidate - CORRECTION_MS;
        match self.unsure {
            0 if is_pause => (0, 0),
            // Pauses that follow a long one count like it.
            unsure if unsure > 0 && goes_on => (unsure, self.candidate),
            _ => (SURE_MS, unix),
        }
    }

    /// Returns the sum of the jumps followed by a calendar that continues this one at a date. On
    /// another boot, the date may be the one from before the jumps.
    fn moved_at(&self, unix: i64, since: Option<i64>) -> i64 {
        if since.is_some() {
            return self.moved;
        }
        if self.unsure == 0 {
            // A jump while the server was off, or an unknown one.
            let pause = unix - self.unix;
            return if pause > PAUSE_MS { pause } else { 0 };
        }
        // Time has passed meanwhile, so of the two dates the later one that is in the past counts.
        let before_jumps = self.unix - self.moved;
        let is_after_both = unix >= self.unix.max(before_jumps) - CORRECTION_MS;
        let is_undone = is_after_both == (self.moved < 0);
        if is_undone { 0 } else { self.moved }
    }

    /// Returns the time since this was stored, if the machine has not booted since.
    fn time_since(&self, boot: Option<BootId>, now: Reading) -> Option<i64> {
        let ((kept_boot, kept), now) = self.boot.zip(now.boot)?;
        (Some(kept_boot) == boot && now >= kept).then_some(now - kept)
    }
}

impl Reading {
    /// Returns the time that has passed since an earlier reading. A suspend counts if the system
    /// reports it.
    fn since(&self, before: &Self) -> i64 {
        let awake = self.awake - before.awake;
        let booted = self.boot.zip(before.boot).map_or(0, |(now, before)| now - before);
        awake.max(booted).max(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1000;
    const HOUR: i64 = 3600 * SECOND;
    const DAY: i64 = 24 * HOUR;
    const YEARS: i64 = 10 * 365 * DAY;
    /// 2026-11-26.
    const START: i64 = 1_795_651_200_000;
    const BOOT: BootId = BootId(7);

    /// A machine whose clocks are set by a test.
    struct Machine {
        now: Reading,
        boot: BootId,
        calendar: Calendar,
    }

    impl Machine {
        fn start(kept: Option<&CalendarState>, boot: BootId, wall: i64, up: i64) -> Self {
            let now = Reading { wall, awake: 0, boot: Some(up) };
            Self { now, boot, calendar: Calendar::begin(kept, Some(boot), now) }
        }

        /// Creates a server that has been running for a while with the right date.
        fn running() -> Self {
            let mut machine = Self::start(None, BOOT, START, HOUR);
            machine.run(HOUR);
            machine
        }

        /// Compares the clocks every second for the given time. Returns what was found.
        fn run(&mut self, time: i64) -> Vec<ClockChange> {
            let mut found = Vec::new();
            for _ in 0..time / SECOND {
                self.pass(SECOND);
                found.push(self.calendar.look(self.now));
            }
            found.retain(|look| *look != ClockChange::Same);
            found
        }

        fn pass(&mut self, time: i64) {
            self.now.wall += time;
            self.now.awake += time;
            self.now.boot = self.now.boot.map(|boot| boot + time);
        }

        fn restart(&self, boot: BootId, wall: i64, up: i64) -> Self {
            Self::start(Some(&self.calendar.state(Some(self.boot))), boot, wall, up)
        }
    }

    #[test]
    fn a_reverted_jump_leaves_no_trace() {
        for jump in [YEARS, -YEARS, DAY, -DAY, 8 * HOUR, -8 * HOUR, 60 * SECOND] {
            let mut machine = Machine::running();
            let before = machine.calendar.unix();
            machine.now.wall += jump;
            assert_eq!(machine.run(SETTLED_MS - SECOND), [ClockChange::Jumped(jump)]);
            assert_eq!(machine.calendar.unix(), before + SETTLED_MS - SECOND);
            assert!(!machine.calendar.is_sure(), "nothing is deleted by a clock that jumped");
            machine.now.wall -= jump;
            assert_eq!(machine.run(SECOND), [ClockChange::Returned]);
            assert_eq!(machine.calendar.unix(), before + SETTLED_MS);
            assert!(machine.calendar.is_sure());
        }
    }

    #[test]
    fn a_jump_that_lasts_is_followed_and_deletes_nothing_for_a_day() {
        for jump in [YEARS, -100 * DAY, 8 * HOUR] {
            let mut machine = Machine::running();
            machine.now.wall += jump;
            let found = machine.run(2 * SETTLED_MS);
            assert_eq!(found, [ClockChange::Jumped(jump), ClockChange::Followed(jump)]);
            assert_eq!(machine.calendar.unix(), machine.now.wall);
            machine.run(SURE_MS - SETTLED_MS - HOUR);
            assert!(!machine.calendar.is_sure());
            // The next jump must last as long, although the date is not sure.
            let mut again = Machine { calendar: machine.calendar.clone(), ..machine };
            again.now.wall -= jump;
            assert_eq!(again.run(SETTLED_MS), [ClockChange::Jumped(-jump)]);
            assert_eq!(again.run(SECOND), [ClockChange::Followed(-jump)]);
            machine.run(2 * HOUR);
            assert!(machine.calendar.is_sure());
        }
    }

    #[test]
    fn a_boot_without_a_date_continues_from_the_newest_known() {
        let machine = Machine::running();
        let known = machine.calendar.unix();
        // 1970, and no network for two days.
        let mut booted = machine.restart(BootId(8), 5 * SECOND, 10 * SECOND);
        assert_eq!(booted.calendar.unix(), known);
        let found = booted.run(2 * DAY);
        assert_eq!(found, [ClockChange::Jumped(5 * SECOND - known)]);
        assert_eq!(booted.calendar.unix(), known + 2 * DAY, "bans end as time passes");
        assert!(!booted.calendar.is_sure());
        // The network provides the date.
        booted.now.wall = known + 9 * DAY;
        assert_eq!(booted.run(SECOND).len(), 1);
        assert_eq!(booted.calendar.unix(), booted.now.wall);
        assert!(!booted.calendar.is_sure());
        // That was the first believable date, and only the first is followed at once.
        booted.now.wall += YEARS;
        assert_eq!(booted.run(SECOND), [ClockChange::Jumped(YEARS)]);
        booted.now.wall -= YEARS;
        assert_eq!(booted.run(SECOND), [ClockChange::Returned]);
        booted.run(SURE_MS);
        assert!(booted.calendar.is_sure());
    }

    #[test]
    fn a_restart_on_one_boot_counts_elapsed_time_whatever_the_system_clock_says() {
        for jump in [YEARS, -YEARS, DAY, -DAY, 0] {
            let machine = Machine::running();
            let (known, up) = (machine.calendar.unix(), machine.now.boot.unwrap_or(0));
            let wall = machine.now.wall + 30 * SECOND + jump;
            let mut restarted = machine.restart(BOOT, wall, up + 30 * SECOND);
            assert_eq!(restarted.calendar.unix(), known + 30 * SECOND);
            restarted.run(SECOND);
            assert_eq!(restarted.calendar.unix(), known + 31 * SECOND);
            assert_eq!(restarted.calendar.is_sure(), jump == 0);
        }
    }

    #[test]
    fn a_boot_after_a_night_is_believed_and_one_after_a_year_is_doubted() {
        let machine = Machine::running();
        for (pause, is_sure) in [(8 * HOUR, true), (YEARS, false)] {
            let wall = machine.now.wall + pause;
            let mut booted = machine.restart(BootId(9), wall, SECOND);
            assert_eq!((booted.calendar.unix(), booted.calendar.is_sure()), (wall, is_sure));
            booted.now.wall += DAY;
            assert_eq!(
                booted.run(SECOND),
                [ClockChange::Jumped(DAY)],
                "a pause does not make the date a guess"
            );
            booted.now.wall -= DAY;
            booted.run(SURE_MS);
            assert!(booted.calendar.is_sure());
        }
        // The date of a wrong year is forgotten: it was never sure.
        let mut wrong = machine.restart(BootId(9), machine.now.wall + YEARS, SECOND);
        wrong.run(HOUR);
        let mut right = wrong.restart(BootId(10), machine.now.wall + DAY, SECOND);
        assert_eq!(right.calendar.unix(), machine.now.wall + DAY);
        assert_eq!(right.run(SECOND), []);
    }

    /// Returns the dates by which a machine that runs for three hours a week deletes, at the end of
    /// each run, with its own date. `wrong` is the error of its clock in a week.
    fn weekly(weeks: i64, wrong: impl Fn(i64) -> i64) -> Vec<(i64, i64)> {
        let mut machine = Machine::start(None, BOOT, START, SECOND);
        let mut dates = Vec::new();
        for week in 0..weeks {
            if week > 0 {
                let wall = START + 7 * week * DAY + wrong(week);
                machine = machine.restart(BootId(7 + week as u128), wall, SECOND);
            }
            for _ in 0..3 * 60 {
                machine.pass(60 * SECOND);
                machine.calendar.look(machine.now);
            }
            dates.push((machine.calendar.sure_unix(), START + 7 * week * DAY + 3 * HOUR));
        }
        dates
    }

    #[test]
    fn a_machine_that_runs_for_a_few_hours_a_week_deletes_some_weeks_late() {
        let dates = weekly(60, |_| 0);
        for (sure, now) in &dates {
            assert!(sure <= now && now - sure < 18 * 7 * DAY, "{} days late", (now - sure) / DAY);
        }
        let days = dates.windows(2).filter(|pair| pair[1].0 > pair[0].0).count();
        assert!(days >= 6, "it moved {days} times only");
    }

    #[test]
    fn a_wrong_date_of_such_a_machine_deletes_nothing_before_it_has_run_for_a_day() {
        // Wrong in any one week, and for up to seven weeks on end: 21 hours.
        for first in 1..12 {
            for last in [first, first + 6] {
                for by in [YEARS, 30 * DAY] {
                    let is_wrong = |week| (first..=last).contains(&week);
                    let dates = weekly(40, |week| if is_wrong(week) { by } else { 0 });
                    for (week, (sure, now)) in dates.iter().enumerate() {
                        assert!(sure <= now, "week {week}, wrong in {first} to {last} by {by}");
                    }
                    let (sure, now) = dates.last().expect("the last week");
                    assert!(now - sure < 26 * 7 * DAY, "it continues afterwards");
                }
            }
        }
    }

    #[test]
    fn a_boot_with_the_date_from_before_a_jump_undoes_it() {
        for jump in [YEARS, -100 * DAY, 8 * HOUR] {
            let mut machine = Machine::running();
            machine.now.wall += jump;
            machine.run(2 * SETTLED_MS);
            let wall = machine.now.wall;
            let moved = |boot, wall| {
                let booted = machine.restart(boot, wall, 2 * HOUR);
                booted.calendar.state(None).moved
            };
            assert_eq!(moved(BOOT, wall), jump, "the date stays within a boot");
            assert_eq!(moved(BootId(8), wall + HOUR), jump);
            assert_eq!(moved(BootId(8), wall + HOUR - jump), 0);
            machine.run(SURE_MS);
            assert_eq!(machine.calendar.state(None).moved, 0, "the date is sure");
        }
    }

    #[test]
    fn a_suspend_counts_and_is_not_a_jump() {
        let mut machine = Machine::running();
        let before = machine.calendar.unix();
        machine.now.wall += 3 * DAY;
        machine.now.boot = machine.now.boot.map(|boot| boot + 3 * DAY);
        assert_eq!(machine.run(SECOND), []);
        assert_eq!(machine.calendar.unix(), before + 3 * DAY + SECOND);
        assert!(machine.calendar.is_sure());
    }

    #[test]
    fn a_monotonic_clock_going_back_subtracts_nothing() {
        let mut machine = Machine::running();
        let before = machine.calendar.unix();
        machine.now.awake -= 10 * DAY;
        machine.now.boot = None;
        machine.run(2 * SECOND);
        assert!((before..=before + 2 * SECOND).contains(&machine.calendar.unix()));
    }

    #[test]
    fn small_corrections_are_followed_at_once() {
        let mut machine = Machine::running();
        for correction in [9 * SECOND, -9 * SECOND] {
            machine.now.wall += correction;
            assert_eq!(machine.run(SECOND), []);
            assert_eq!(machine.calendar.unix(), machine.now.wall);
        }
    }

    #[test]
    fn a_first_start_in_1970_waits_for_a_date() {
        let mut machine = Machine::start(None, BOOT, 0, 0);
        machine.run(SECOND);
        assert_eq!(machine.calendar.unix(), FIRST_MS + SECOND);
        machine.now.wall = START;
        assert!(matches!(machine.run(SECOND)[..], [ClockChange::Followed(_)]));
        assert_eq!(machine.calendar.unix(), machine.now.wall);
    }
}
