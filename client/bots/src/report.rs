//! The bots' measurements, and the figures made of them.

use phaselock::client::Stats;
use phaselock::time::{LocalTime, Micros, Rates};
use serde::Serialize;

/// Maximum measurements of a kind: two hours at 128 a second.
const SAMPLES_MAX: usize = 1 << 20;

/// Measures when a clock locks.
#[derive(Clone, Copy, Debug, Default)]
pub struct LockTimer {
    within: Option<LocalTime>,
    locked: Option<LocalTime>,
}

impl LockTimer {
    /// A clock is locked once its error has stayed within this bound for
    /// [`LOCKED_FOR`](Self::LOCKED_FOR).
    pub const WITHIN: Micros = Micros::from_ms(3);
    /// Time within [`WITHIN`](Self::WITHIN) after which a clock is locked.
    pub const LOCKED_FOR: Micros = Micros::from_ms(1000);

    /// Handles a measurement of the clock's error. Returns true once the clock has locked.
    pub fn observe(&mut self, now: LocalTime, error: Micros) -> bool {
        if self.locked.is_none() {
            if error.0.abs() > Self::WITHIN.0 {
                self.within = None;
            } else {
                let since = *self.within.get_or_insert(now);
                self.locked = (now - since >= Self::LOCKED_FOR).then_some(since);
            }
        }
        self.locked.is_some()
    }

    /// Returns the time at which the clock locked.
    pub fn locked(&self) -> Option<LocalTime> {
        self.locked
    }
}

/// Measurements for quantiles.
#[derive(Clone, Debug, Default)]
pub(super) struct Samples(Vec<Micros>);

impl Samples {
    pub(super) fn push(&mut self, value: Micros) {
        if self.0.len() < SAMPLES_MAX {
            self.0.push(value);
        }
    }

    /// Returns a quantile of the magnitudes, in milliseconds; 0 without measurements.
    fn quantile_ms(&self, part: f64) -> f64 {
        let mut sizes: Vec<_> = self.0.iter().map(|value| value.0.unsigned_abs()).collect();
        let Some(last) = sizes.len().checked_sub(1) else { return 0.0 };
        let at = ((last as f64 * part).ceil() as usize).min(last);
        *sizes.select_nth_unstable(at).1 as f64 / 1000.0
    }
}

/// One bot's measurements, summed over all its sessions.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Whether the bot is in the game.
    pub connected: bool,
    /// Number of unwanted disconnections.
    pub disconnects: u32,
    /// Reason of the last disconnection.
    pub last_reason: Option<String>,
    /// Name of the first game.
    pub game: Option<&'static str>,
    pub(super) round_trip: Samples,
    pub(super) clock_error: Samples,
    /// Seconds from the first attempt to join until the clock locked.
    pub(super) lock_secs: Option<f64>,
    /// For each game played: the counters, the game's rates, and the time measured.
    stays: Vec<(Stats, Rates, Micros)>,
}

impl Report {
    pub(super) fn handle_end(&mut self, reason: String) {
        if std::mem::take(&mut self.connected) {
            self.disconnects += 1;
        }
        self.last_reason = Some(reason);
    }

    pub(super) fn add(&mut self, stats: &Stats, rates: Rates, time: Micros) {
        self.stays.push((stats.clone(), rates, time));
    }

    /// Returns the figures of this bot.
    pub fn summary(&self) -> Summary {
        let sum = |of: fn(&Stats) -> u64| {
            self.stays.iter().map(|(stats, ..)| of(stats)).sum::<u64>() as f64
        };
        let seconds: f64 = self.stays.iter().map(|(_, _, time)| time.as_secs()).sum();
        let [ticks, frames] =
            [sum(|stats| stats.ticks), sum(|stats| stats.frames)].map(|count| count.max(1.0));
        let leads = self
            .stays
            .iter()
            .map(|(stats, rates, _)| stats.lead_sum.as_ms() / rates.step().as_ms());
        let delays = self.stays.iter().map(|(stats, ..)| stats.delay_sum.as_ms());
        let per_second = |of| sum(of) / seconds.max(1e-9);
        Summary {
            clients: 1,
            connected: u32::from(self.connected),
            seconds,
            snapshots_per_s: per_second(|stats| stats.snapshots),
            entity_updates_per_s: per_second(|stats| stats.entity_updates),
            rx_bytes_per_s: per_second(|stats| stats.rx_bytes),
            tx_bytes_per_s: per_second(|stats| stats.tx_bytes),
            rx_packets_per_s: per_second(|stats| stats.rx_packets),
            tx_packets_per_s: per_second(|stats| stats.tx_packets),
            rtt_ms_p50: self.round_trip.quantile_ms(0.5),
            rtt_ms_p99: self.round_trip.quantile_ms(0.99),
            clock_error_ms_p50: self.clock_error.quantile_ms(0.5),
            clock_error_ms_p99: self.clock_error.quantile_ms(0.99),
            clock_error_ms_max: self.clock_error.quantile_ms(1.0),
            late_inputs_per_million: sum(|stats| stats.late_inputs) * 1e6 / ticks,
            mispredictions_per_million: sum(|stats| stats.mispredictions) * 1e6 / ticks,
            lock_s: self.lock_secs,
            lead_ticks_mean: leads.sum::<f64>() / ticks,
            delay_ms_mean: delays.sum::<f64>() / frames,
            underruns_per_million: sum(|stats| stats.underruns) * 1e6 / frames,
            disconnects: self.disconnects,
        }
    }
}

/// Figures of one bot, or the means over several (counts are summed).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// Bots that were started.
    pub clients: u32,
    /// Bots in the game at the end.
    pub connected: u32,
    /// Seconds measured: the time in the game, from 2 s after joining.
    pub seconds: f64,
    /// Snapshots per second that were newer than all before.
    pub snapshots_per_s: f64,
    /// Entity states received per second.
    pub entity_updates_per_s: f64,
    /// Bytes of datagrams received per second, without QUIC, UDP and IP headers.
    pub rx_bytes_per_s: f64,
    /// Bytes of datagrams sent per second, without QUIC, UDP and IP headers.
    pub tx_bytes_per_s: f64,
    /// Datagrams received per second.
    pub rx_packets_per_s: f64,
    /// Datagrams sent per second.
    pub tx_packets_per_s: f64,
    /// Median round-trip time, as measured by the datagrams, in milliseconds.
    pub rtt_ms_p50: f64,
    /// 99th percentile of the round-trip time, in milliseconds.
    pub rtt_ms_p99: f64,
    /// Median distance of the client's server time from the host's clock, in milliseconds.
    pub clock_error_ms_p50: f64,
    /// 99th percentile of that distance, in milliseconds.
    pub clock_error_ms_p99: f64,
    /// Maximum of that distance (over all bots, for a mean), in milliseconds.
    pub clock_error_ms_max: f64,
    /// Ticks that the server ran without the client's input, per million ticks played.
    pub late_inputs_per_million: f64,
    /// Predictions that the server contradicted, per million ticks played.
    pub mispredictions_per_million: f64,
    /// Seconds from the first attempt to join until the clock locked ([`LockTimer`]). Of several
    /// bots it is the longest, and `None` if the clock of any never locked.
    pub lock_s: Option<f64>,
    /// Mean lead of the inputs over the server, in ticks.
    pub lead_ticks_mean: f64,
    /// Mean interpolation delay, in milliseconds.
    pub delay_ms_mean: f64,
    /// Pictures without a later state to interpolate towards, per million; there is one picture per
    /// tick.
    pub underruns_per_million: f64,
    /// Number of unwanted disconnections.
    pub disconnects: u32,
}

/// A column of the table: title, width, decimals and figure.
type Column = (&'static str, usize, usize, fn(&mut Summary) -> &mut f64);

const COLUMNS: [Column; 14] = [
    ("snap/s", 8, 1, |it| &mut it.snapshots_per_s),
    ("upd/s", 6, 0, |it| &mut it.entity_updates_per_s),
    ("rx B/s", 8, 0, |it| &mut it.rx_bytes_per_s),
    ("tx B/s", 8, 0, |it| &mut it.tx_bytes_per_s),
    ("rtt p50", 9, 2, |it| &mut it.rtt_ms_p50),
    ("p99 ms", 9, 2, |it| &mut it.rtt_ms_p99),
    ("clock p50", 11, 3, |it| &mut it.clock_error_ms_p50),
    ("p99", 6, 3, |it| &mut it.clock_error_ms_p99),
    ("max ms", 9, 3, |it| &mut it.clock_error_ms_max),
    ("late/M", 8, 0, |it| &mut it.late_inputs_per_million),
    ("mispred/M", 10, 0, |it| &mut it.mispredictions_per_million),
    ("lead", 6, 2, |it| &mut it.lead_ticks_mean),
    ("delay ms", 9, 1, |it| &mut it.delay_ms_mean),
    ("underr./M", 10, 0, |it| &mut it.underruns_per_million),
];

impl Summary {
    /// Returns the means over several bots' figures.
    pub fn mean(all: &[Self]) -> Self {
        let mean = |figure: fn(&mut Self) -> &mut f64| {
            let sum: f64 = all.iter().map(|one| *figure(&mut { *one })).sum();
            sum / all.len().max(1) as f64
        };
        let mut means = Self {
            clients: all.iter().map(|one| one.clients).sum(),
            connected: all.iter().map(|one| one.connected).sum(),
            seconds: mean(|one| &mut one.seconds),
            rx_packets_per_s: mean(|one| &mut one.rx_packets_per_s),
            tx_packets_per_s: mean(|one| &mut one.tx_packets_per_s),
            lock_s: all.iter().try_fold(0.0_f64, |most, one| Some(most.max(one.lock_s?))),
            disconnects: all.iter().map(|one| one.disconnects).sum(),
            ..Self::default()
        };
        for (.., figure) in COLUMNS {
            *figure(&mut means) = mean(figure);
        }
        means.clock_error_ms_max = all.iter().map(|one| one.clock_error_ms_max).fold(0.0, f64::max);
        means
    }

    /// Returns the heading of a table of [`row`](Self::row)s.
    pub fn heading() -> String {
        let titles = COLUMNS.map(|(title, width, ..)| format!("{title:>width$} "));
        titles.concat() + " disconnects"
    }

    /// Returns the figures as a row of a table.
    pub fn row(mut self) -> String {
        let cells = COLUMNS
            .map(|(_, width, decimals, figure)| format!("{:width$.decimals$} ", figure(&mut self)));
        cells.concat() + &format!("{:12}", self.disconnects)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_use_magnitudes() {
        let samples = Samples([-3000, 1000, 2000].map(Micros).to_vec());
        assert_eq!(samples.quantile_ms(0.5), 2.0);
        assert_eq!(samples.quantile_ms(1.0), 3.0);
        assert_eq!(Samples::default().quantile_ms(0.5), 0.0);
    }

    #[test]
    fn rates_use_the_time_in_the_game_and_means_all_bots() {
        let mut report = Report::default();
        let stats = Stats { snapshots: 60, ticks: 1000, late_inputs: 1, ..Stats::default() };
        report.add(&stats, Rates::DEFAULT, Micros::from_ms(1000));
        report.add(&stats, Rates::DEFAULT, Micros::from_ms(1000));
        let one = report.summary();
        assert_eq!((one.snapshots_per_s, one.late_inputs_per_million), (60.0, 1000.0));
        let mean = Summary::mean(&[one, Summary { clients: 1, ..Summary::default() }]);
        assert_eq!((mean.clients, mean.snapshots_per_s), (2, 30.0));
        assert_eq!(Summary::mean(&[]).clients, 0);
    }

    #[test]
    fn a_clock_locks_once_its_error_stays_small() {
        let mut timer = LockTimer::default();
        for ms in 0..3000 {
            // A glitch after 1.2 s restarts the second.
            let error = if ms < 500 || ms == 1200 { 4 } else { -2 };
            let locked = timer.observe(LocalTime(ms * 1000), Micros::from_ms(error));
            assert_eq!(locked, ms >= 2201, "{ms} ms");
        }
        assert_eq!(timer.locked(), Some(LocalTime(1_201_000)));
    }
}
