//! How many bytes a client's next snapshot may use: a rate that adapts to the path, and a token
//! bucket that enforces it.
//!
//! A game's traffic is limited by how much there is to send, and worthless when it comes late. So
//! the aim is not to fill the path, but to avoid queueing behind the stream's own packets, and to
//! send nothing that a narrow path drops. There are two signs:
//!
//! - The round trip exceeds its recent minimum: a queue (LEDBAT, RFC 6817). A queue on the way
//!   back, measured with both clocks, is subtracted: sending less would not shorten it.
//! - Packets are lost. Wireless links lose a fraction at any rate, so a fraction is tolerated (as
//!   in GCC, draft-ietf-rmcat-gcc-02, 6, and NADA, RFC 8698), and more is tested in a trial.
//!
//! A sign does not say whether this stream, others, or the path caused it. So each starts a
//! *trial*: the rate drops below what arrived recently. If the queue shrinks or the losses end, the
//! rate stays below what the path carried and grows again, slowly at first and ever faster, so that
//! it soon exceeds a limit that no longer exists (the shape of CUBIC, RFC 9438). If nothing
//! changes, the rate is restored, and the sign counts as the path's own round trip or loss. Such
//! experiments are PCC's idea (Dong et al., NSDI 2015). Decreases are multiplicative, so that
//! streams converge to fair shares (Chiu and Jain, 1989).
//!
//! A newcomer's path starts with one packet in flight, plus a little per second until the first
//! answer. From then on each acknowledged byte allows another, as long as the window is used and no
//! queue appears, until it holds the initial rate. So a burst that a game sends later finds no more
//! than twice what the path has carried before. Any path that is used for games should carry the
//! initial rate, so from then on the rate drops below it only on evidence. A path whose queue has
//! shown that it carries less, or has closed the window, is *narrow*, until it has carried twice as
//! much. There the rate grows only as it is used, so that it is never a guess after a quiet time;
//! what passed while packets were queued shows what the path carries; and no snapshot is sent while
//! more is in flight than the path carries in a round trip plus a short queue. There are then fewer
//! snapshots.
//!
//! All this needs acknowledgements. While none arrive, more and more snapshots are skipped
//! ([`Quiet`]).
//!
//! Tests on simulated paths enforce this: in 15 of 16 runs, 5 to 10 % of random or bursty loss
//! leave 80 % of the wanted rate, since a trial can meet a burst of losses by chance. Behind a
//! narrow path 70 % of it is used, the queue settles at no more than two intervals on top of the
//! snapshot's own transmission (three above 400 kbit/s and if packets are lost), and without a
//! queue less than 5 % is lost. A path that opens is used fully within 20 s. On 64 kbit/s that just
//! carry the game, 99 of 100 snapshots wait for at most two intervals, also right after quiet
//! times. Bursty losses of about 15 % with wide jitter cost up to a third. Figures without a source
//! are arbitrary, and tuned on these paths.
//!
//! *Invariants:* over any second at most the maximum rate plus [`SNAPSHOT_BURST_BYTES`] is spent,
//! if no caller sends more than what is available; and each snapshot that is sent may use
//! [`SNAPSHOT_BYTES_MIN`].

mod bounds;
#[cfg(test)]
mod tests;

use super::bucket::Bucket;
use super::flight::Flight;
use super::measure::{Best, Busy, Excess, Meter, RoundTrips, Ways};
use super::quiet::Quiet;
use super::trial::{PathWindow, Sign, Trial};
use crate::limits::{
    DATAGRAM_BYTES_MAX, SNAPSHOT_BURST_BYTES, SNAPSHOT_BYTES_MIN, SNAPSHOT_FIRST_BYTES,
};
use crate::time::{LocalTime, Micros};

/// Initial rate in bytes per second, to which the rate may always grow: any path that is used for
/// games carries it.
const START_RATE: u64 = 30_000;
/// Time over which a rate is measured.
const MEASURED: Micros = Micros::from_ms(1000);
/// How long a path is new: its jitter is not known yet, and what passes shows little. Arbitrary.
const NEW: Micros = Micros::from_ms(2000);
/// Bytes by which the opening's window grows in each step until the first answer: 36 kbit/s.
const OPENING_STEP: usize = FIRST / 4;
/// Interval of the rate's steps.
const STEP: Micros = Micros::from_ms(50);
const STEPS_PER_SECOND: u64 = 20;
/// Growth in millionths per second after a limit was found.
const GROWTH_MIN: u64 = 5_000;
/// Growth in millionths per second at the start and after a false alarm.
const GROWTH_MAX: u64 = 500_000;
/// Fraction of the growth that each step adds to it: a factor of 1.5 per second.
const GROWTH_GAIN: u64 = 60;
/// Time without any acknowledgement after which the rate halves each second (compare TFRC's timer,
/// RFC 5348, 4.4).
const SILENCE: Micros = Micros::from_ms(1000);
/// How long after a silence longer round trips count as a backlog, before they are the path's own.
const DRAIN_MAX: Micros = Micros::from_ms(3000);
/// Number of snapshots lost in a row that make an outage, which says nothing about any rate.
const OUTAGE_SNAPSHOTS: i64 = 8;
/// Percentage of its use up to which the rate of a narrow path may grow.
const PROVEN_PERCENT: u64 = 115;
/// How long beyond the round trip and its jitter a packet takes before it is overdue.
const OVERDUE: Micros = Micros::from_ms(150);
/// Denominator of fractions.
const ALL: u64 = 1 << 24;
/// Fraction that may be lost, in addition to twice the path's own loss, before a trial: 5 %.
const LOSS_TOLERATED: u64 = ALL * 5 / 100;
/// Fraction of losses at which acknowledgements have the longest gaps, and those gaps in intervals.
const LOSS_GAPS: u64 = ALL / 10;
const GAP_INTERVALS: u64 = 8;
/// Number of packets over which losses are averaged. Fewer cause needless trials, more detect loss
/// later.
const LOSS_PACKETS: i64 = 128;
/// Number of packets over which the path's own loss is forgotten: minutes.
const OWN_LOSS_PACKETS: u64 = 8192;
/// If a trial starts within this time after the rate was restored, less is arriving now than
/// before.
const RETURN: Micros = Micros::from_ms(6000);
/// Length of a trial of a queue, after a round trip.
const QUEUE_TRIAL: Micros = Micros::from_ms(1000);
/// Age of packets that a trial of losses waits for.
const LOSS_TRIAL: Micros = Micros::from_ms(2000);
/// Number of packets that a trial of losses needs to distinguish fractions, and the longest wait
/// for that many.
const LOSS_TRIAL_PACKETS: u64 = 96;
const LOSS_TRIAL_MAX: Micros = Micros::from_ms(4000);

/// Controls the size of one client's snapshots. Rates are in bytes of snapshots per second.
#[derive(Clone, Debug)]
pub struct SendRate {
    interval: Micros,
    least: u64,
    most: u64,
    rate: u64,
    growth: u64,
    stepped: LocalTime,
    bucket: Bucket,
    sent: Meter,
    acked: Meter,
    /// The most that arrived recently, unless a limit was found since.
    best: Best,
    /// When the rate was last restored to what had arrived before.
    returned: LocalTime,
    round_trips: RoundTrips,
    /// Times of answers on their way back, by both clocks.
    back: Excess,
    /// Fraction lost recently.
    loss: u64,
    /// Fraction that the path loses at any rate.
    own_loss: u64,
    /// Packets sent before this time say nothing about the current rate.
    counts_from: LocalTime,
    heard: LocalTime,
    /// Send time of the newest packet that arrived.
    newest_acked: LocalTime,
    silent: Option<Silence>,
    trial: Option<Trial>,
    /// Bytes in flight.
    flight: Flight,
    quiet: Quiet,
    busy: Busy,
    began: LocalTime,
    /// How many bytes may be in flight until the path has shown that it carries the initial rate.
    opening: Option<usize>,
    /// Whether a queue has closed the opening's window, so that the path is narrow once it is not
    /// new.
    closed: bool,
    /// The rate after the last queue of the stream's own, if it is lower than what any path should
    /// carry.
    limit: Option<u64>,
}

/// A silence of the client, until what was queued meanwhile has drained.
#[derive(Clone, Copy, Debug)]
struct Silence {
    /// The rate before it.
    before: u64,
    /// The excess of round trips that was tolerated before it.
    tolerated: Micros,
    /// When the client was heard again.
    heard: Option<LocalTime>,
}

/// Maximum size in bytes of one snapshot, and of the first; a snapshot may always use the minimum
/// on top.
const BURST: usize = SNAPSHOT_BURST_BYTES - SNAPSHOT_BYTES_MIN;
const FIRST: usize = SNAPSHOT_FIRST_BYTES - SNAPSHOT_BYTES_MIN;

impl SendRate {
    /// Creates the rate for a client that gets a snapshot each `interval`: at most `most` bytes per
    /// second, at least [`SNAPSHOT_BYTES_MIN`] per snapshot.
    pub fn new(now: LocalTime, most: u32, interval: Micros) -> Self {
        let interval = interval.clamp(Micros(1), Micros::from_ms(1000));
        // Rounded up, so that the bucket always holds that much.
        let least = SNAPSHOT_BYTES_MIN as u64 * 1_000_000 / interval.0.unsigned_abs() + 1;
        let most = u64::from(most).max(least);
        Self {
            interval,
            least,
            most,
            rate: START_RATE.clamp(least, most),
            growth: GROWTH_MAX,
            stepped: now,
            bucket: Bucket::new(now, FIRST),
            sent: Meter::new(now),
            acked: Meter::new(now),
            best: Best::new(),
            returned: LocalTime(i64::MIN),
            round_trips: RoundTrips::new(),
            back: Excess::new(),
            loss: 0,
            own_loss: 0,
            counts_from: now,
            heard: now,
            newest_acked: now,
            silent: None,
            trial: None,
            flight: Flight::default(),
            quiet: Quiet::new(interval),
            busy: Busy::default(),
            began: now,
            opening: Some(FIRST),
            closed: false,
            limit: None,
        }
    }

    /// Returns the current rate in bytes per second.
    pub fn bytes_per_second(&self) -> u32 {
        u32::try_from(self.rate).unwrap_or(u32::MAX)
    }

    /// Returns how many bytes the next snapshot may use: at most those of two intervals or a full
    /// datagram, and never more than [`SNAPSHOT_BURST_BYTES`]; at least [`SNAPSHOT_BYTES_MIN`], and
    /// no more than that while the client is silent; 0 while the path is full or snapshots come too
    /// fast, also for the length of the silence.
    pub fn available(&mut self, now: LocalTime) -> usize {
        self.advance(now);
        let most = self.quiet.most(now);
        if most == 0 {
            return 0;
        }
        let round_trips = &self.round_trips;
        if round_trips.is_known() {
            let overdue = round_trips.recent() + Micros(4 * round_trips.spread().0) + OVERDUE;
            self.flight.settle(now - overdue);
        }
        let two = (self.rate * 2 * self.interval.0.unsigned_abs() / 1_000_000) as usize;
        let least = if self.is_narrow() { SNAPSHOT_BYTES_MIN } else { DATAGRAM_BYTES_MAX };
        let tokens = self.bucket.fill(now, self.rate, two.clamp(least, BURST));
        let (window, needed) = match (self.bound(), self.opening) {
            (Some(window), _) => (window, SNAPSHOT_BYTES_MIN),
            // Another one like the last: a game that needs little sends all of them, and the times
            // of small packets say nothing about large ones.
            (None, Some(window)) => (window, self.flight.newest()),
            (None, None) => (usize::MAX, 0),
        };
        let in_flight = usize::try_from(self.flight.bytes()).unwrap_or(usize::MAX);
        let free = window.saturating_sub(in_flight);
        if free < needed && in_flight > 0 {
            return 0;
        }
        match usize::try_from(tokens / 1_000_000).unwrap_or(0).min(free) {
            bytes if bytes >= SNAPSHOT_BYTES_MIN => bytes.min(most),
            _ if tokens > 0 => SNAPSHOT_BYTES_MIN,
            _ => 0,
        }
    }

    /// Returns how many bytes may be in flight at once.
    pub fn window(&mut self, now: LocalTime) -> PathWindow {
        self.advance(now);
        match self.bound() {
            Some(bytes) => PathWindow::Snapshots(bytes),
            None if self.trial.is_none() && self.silent.is_none() => PathWindow::Growing,
            None => PathWindow::Open,
        }
    }

    /// Returns how many bytes of snapshots may be in flight on a narrow path while acknowledgements
    /// come.
    fn bound(&self) -> Option<usize> {
        // A long queue in a trial must drain.
        let is_tried = matches!(self.trial, Some(Trial { sign: Sign::Queue(_), .. }));
        let long = self.queue_tolerated() + self.interval + self.interval;
        let is_long = is_tried && self.queue() > long;
        let is_bound = self.is_narrow() || (is_long && self.rate < START_RATE);
        // While nothing is heard, packets are rare, and one must find out that the path is back.
        // Once it is, what was queued drains first.
        if !is_bound || self.stepped - self.heard > SILENCE {
            return None;
        }
        // What passes in a round trip, and in a queue of less than two intervals.
        let lost = self.loss.min(LOSS_GAPS) * GAP_INTERVALS * 10 / LOSS_GAPS;
        let more = Micros(self.interval.0 * (9 + lost as i64) / 10);
        let span = self.round_trips.base() + self.back_queue() + self.round_trips.spread() + more;
        let bytes = self.rate * span.0.unsigned_abs() / 1_000_000;
        Some(usize::try_from(bytes).unwrap_or(usize::MAX).saturating_add(SNAPSHOT_BYTES_MIN))
    }

    /// Whether the path is known to carry less than any path should. If many packets are lost, a
    /// queue is too uncertain.
    fn is_narrow(&self) -> bool {
        self.limit.is_some() && self.loss.max(self.own_loss) < LOSS_TOLERATED
    }

    /// Notes that a packet was sent.
    pub fn handle_sent(&mut self, now: LocalTime, bytes: usize) {
        if self.flight.sent() == 0 {
            self.began = now;
        }
        self.bucket.spend(bytes);
        self.sent.add(now, bytes as u64);
        let idle = (self.flight.bytes() == 0).then(|| self.round_trips.base());
        self.quiet.handle_sent(now, idle);
        self.flight.handle_sent(now, bytes);
    }

    /// Handles the acknowledgement of a packet sent at `sent`, before the losses that it reveals.
    pub fn handle_acked(&mut self, now: LocalTime, sent: LocalTime, bytes: usize) {
        self.advance(now);
        self.heard = self.heard.max(now);
        if sent - self.newest_acked > Micros(self.interval.0 * OUTAGE_SNAPSHOTS) {
            self.counts_from = self.counts_from.max(sent);
        }
        self.newest_acked = self.newest_acked.max(sent);
        let in_flight = usize::try_from(self.flight.bytes()).unwrap_or(usize::MAX);
        self.flight.settle(sent);
        // A window that is not used proves nothing.
        self.opening = self.opening.map(|window| match in_flight > window / 2 {
            true => window.saturating_add(bytes),
            false => window,
        });
        self.acked.add(now, bytes as u64);
        self.busy.add(now, bytes as u64);
        self.handle_fate(now, sent, false);
    }

    /// Ends the opening once its window holds the initial rate, or closes the window at a queue.
    /// It grows by what has passed, and so doubles in each round trip like that of TCP's slow start
    /// (RFC 5681, 3.1).
    fn open(&mut self) {
        let Some(window) = self.opening else { return };
        let (base, two) = (self.round_trips.base(), self.interval + self.interval);
        let enough = START_RATE * (base + two).0.clamp(0, 1_000_000).unsigned_abs() / 1_000_000;
        let is_new = self.stepped - self.began <= NEW;
        let most = if is_new { two } else { two.max(self.queue_tolerated()) };
        if self.round_trips.excess() - self.back_queue() > most {
            self.opening = Some(FIRST);
            self.closed = true;
        } else if window as u64 >= enough {
            self.opening = None;
        }
    }

    /// Handles the loss of a packet sent at `sent`.
    pub fn handle_lost(&mut self, now: LocalTime, sent: LocalTime) {
        self.advance(now);
        self.handle_fate(now, sent, true);
    }

    /// Handles how long a packet and its answer took.
    pub fn handle_ways(&mut self, now: LocalTime, ways: Ways) {
        self.advance(now);
        self.heard = self.heard.max(now);
        self.round_trips.update(now, ways.round_trip);
        self.quiet.handle_answer(now, ways.back, ways.held);
        self.back.update(now, ways.back);
        let (queue, excess) = (self.queue(), self.round_trips.excess() - self.back_queue());
        self.open();
        self.end_silence(now);
        self.busy.update(now, excess > Micros(self.queue_tolerated().0 / 2));
        match self.trial {
            Some(trial) if matches!(trial.sign, Sign::Queue(_)) => self.judge_queue(now, trial),
            _ if queue > self.queue_tolerated() => self.try_queue(now, queue),
            _ => {}
        }
    }

    /// Returns the excess of recent round trips over the shortest, without what waits on the way
    /// back.
    fn queue(&self) -> Micros {
        self.round_trips.queue() - self.back_queue()
    }

    /// Returns what waits on the way back, at most what round trips take longer: a client's clock
    /// may say anything.
    fn back_queue(&self) -> Micros {
        self.back.queue().min(self.round_trips.queue())
    }

    /// Returns the longest excess of a round trip that is tolerated as jitter.
    fn queue_tolerated(&self) -> Micros {
        // A snapshot of several entities takes longer to pass a narrow path than a small one.
        let passing = match self.is_narrow() {
            true => Micros(500_000 * SNAPSHOT_BYTES_MIN as i64 / self.rate.max(1) as i64),
            false => Micros::ZERO,
        };
        Micros((self.interval.0 / 2).max(4 * self.round_trips.spread().0)) + passing
    }

    /// Restores the rate once the path is back, and has delivered what was queued meanwhile.
    fn end_silence(&mut self, now: LocalTime) {
        // An answer that waited in a queue is old news about the way there.
        let excess = self.round_trips.excess();
        let Some(silence) = &mut self.silent else { return };
        let heard = *silence.heard.get_or_insert(now);
        if excess <= silence.tolerated {
            // Everything was lost in the meantime: an outage, whatever the rate.
            self.rate = self.rate.max(silence.before / 2);
            self.growth = GROWTH_MAX;
            self.counts_from = now;
            self.silent = None;
        } else if now - heard > DRAIN_MAX {
            // The path has become longer.
            self.silent = None;
        }
    }

    fn advance(&mut self, now: LocalTime) {
        self.stepped = self.stepped.max(now - Micros::from_ms(1000));
        while now - self.stepped >= STEP {
            self.stepped = self.stepped + STEP;
            self.step(self.stepped);
        }
    }

    fn step(&mut self, now: LocalTime) {
        let used = self.sent.per_second(now);
        if self.flight.sent() > 0 {
            let grown = if self.round_trips.is_known() { 0 } else { OPENING_STEP };
            self.opening = self.opening.map(|it| it.saturating_add(grown));
            if now - self.began > NEW && self.opening.is_some() && self.closed {
                self.opening = None;
                self.rate = self.rate.min(self.passing(now)).max(self.least);
                self.limit = Some(self.rate).filter(|rate| *rate < START_RATE);
            }
        }
        if self.trial.is_none() {
            self.best.update(now, self.acked.per_second(now));
        }
        if now - self.heard > SILENCE && used > 0 {
            let before = self.trial.map_or(self.rate, |trial| trial.rate);
            let tolerated = self.queue_tolerated();
            let silence = self.silent.get_or_insert(Silence { before, tolerated, heard: None });
            silence.heard = None;
            self.trial = None;
            self.rate = (self.rate - self.rate / 28).max(self.least.min(self.rate));
        } else if self.trial.is_none() && self.silent.is_none() && self.rate < self.proven(used) {
            // A rate that is not used proves nothing, and so does not grow (compare RFC 7661).
            self.rate += self.rate * self.growth / STEPS_PER_SECOND / 1_000_000;
            self.rate = self.rate.min(self.most);
            self.growth = (self.growth + self.growth / GROWTH_GAIN).min(GROWTH_MAX);
            if self.limit.is_some_and(|limit| self.rate > (2 * limit).min(START_RATE)) {
                self.limit = None;
            }
        }
    }

    /// Returns the rate that the path's use allows.
    fn proven(&self, used: u64) -> u64 {
        match self.is_narrow() {
            true => used * PROVEN_PERCENT / 100,
            false => START_RATE.max(2 * used),
        }
    }

    /// Returns the bytes sent per second, at most the rate.
    fn used(&mut self, now: LocalTime) -> u64 {
        self.sent.per_second(now).min(self.rate)
    }

    fn lower(&mut self, now: LocalTime, rate: u64, floor: u64) {
        self.rate = rate.max(floor);
        self.growth = GROWTH_MIN;
        self.loss = self.own_loss;
        self.counts_from = now;
    }

    fn try_lower(&mut self, now: LocalTime, lower: u64, sign: Sign, delivered: u64) {
        if !matches!(sign, Sign::Queue(_)) {
            self.opening = None;
        }
        let (rate, growth, sent) = (self.rate, self.growth, self.flight.sent());
        self.lower(now, lower, self.floor());
        self.trial = Some(Trial { sign, since: now, rate, growth, delivered, sent });
    }

    /// Returns the minimum rate of a path that is narrower than the minimum of each snapshot: some
    /// are skipped.
    fn floor(&self) -> u64 {
        self.least / 2
    }

    fn handle_fate(&mut self, now: LocalTime, sent: LocalTime, lost: bool) {
        if sent < self.counts_from {
            return;
        }
        if let Some(mut trial) = self.trial {
            if let Sign::Loss { acked, lost: losses, .. } = &mut trial.sign {
                *(if lost { losses } else { acked }) += 1;
                self.trial = Some(trial);
                self.judge_loss(now, sent, trial);
            }
            return;
        }
        let goal = if lost { ALL as i64 } else { 0 };
        self.loss = (self.loss as i64 + (goal - self.loss as i64) / LOSS_PACKETS) as u64;
        // The path's own loss is forgotten slowly.
        self.own_loss -= self.own_loss.saturating_sub(self.loss) / OWN_LOSS_PACKETS;
        // What arrives is known after a second.
        let is_known = now - self.began > MEASURED;
        if is_known && self.loss > LOSS_TOLERATED + 2 * self.own_loss {
            self.try_loss(now);
        }
    }

    fn try_loss(&mut self, now: LocalTime) {
        let (used, delivered) = (self.used(now), self.acked.per_second(now));
        // When much is lost, acknowledgements come in bursts, which looks like a queue.
        self.limit = None;
        if used <= self.floor() {
            if self.rate <= self.floor() {
                // So little fills no path: the loss is its own.
                self.own_loss = self.own_loss.max(self.loss).min(ALL / 4);
            }
            self.growth = GROWTH_MIN;
            return;
        }
        // The first second may have passed a burst that no later one does.
        let is_first = now - self.began < MEASURED + MEASURED;
        if delivered < used / 2 || now - self.returned < RETURN || is_first {
            self.best = Best::new();
        }
        if delivered < used / 2 {
            // No one can play when half is lost at any rate, so this needs no trial.
            self.lower(now, used / 2, self.least);
            return;
        }
        // What arrived, and what the path itself loses of that.
        let passing = delivered * ALL / (ALL - self.own_loss);
        let sign = Sign::Loss { share: self.loss, acked: 0, lost: 0 };
        let parts = if is_first { 15 } else { 19 };
        self.try_lower(now, passing.min(used) / 20 * parts, sign, delivered);
    }

    fn judge_loss(&mut self, now: LocalTime, sent: LocalTime, trial: Trial) {
        let Sign::Loss { share, acked, lost } = trial.sign else { return };
        let long = sent - trial.since;
        if long < LOSS_TRIAL || (acked + lost < LOSS_TRIAL_PACKETS && long < LOSS_TRIAL_MAX) {
            return;
        }
        let after = lost * ALL / (acked + lost);
        // Losses at a rate below what arrives are the path's own.
        self.own_loss = self.own_loss.max(after).min(ALL / 4);
        if after < share / 2 {
            // The rate was too high, and becomes what arrived. If much is lost anyway, that is less
            // certain.
            let doubt = if self.own_loss > LOSS_TOLERATED { 8 } else { 1 };
            // More may have arrived recently: the last second then lost a burst.
            let best = (self.best.get() / 20 * 19).min(trial.rate);
            if best > self.rate {
                self.returned = now;
            }
            self.end_trial(now, best.max(self.rate), GROWTH_MIN * doubt);
        } else {
            self.own_loss = self.own_loss.max(share).min(ALL / 4);
            self.end_trial(now, trial.rate, GROWTH_MAX);
        }
        self.counts_from = trial.since;
        self.loss = self.own_loss;
    }

    fn try_queue(&mut self, now: LocalTime, queue: Micros) {
        let (used, delivered) = (self.used(now), self.passing(now));
        if used <= self.floor() {
            self.growth = GROWTH_MIN;
            if self.rate <= self.floor() {
                // So little fills no path: the round trip is the path's own.
                self.limit = None;
                self.rate = self.least;
                self.growth = GROWTH_MAX;
                self.rebase(now);
            }
            return;
        }
        // Reduced by what empties the queue in two seconds, within limits.
        let less = (queue.0 / 2).clamp(150_000, 500_000).unsigned_abs();
        let passing = delivered.min(self.rate);
        let passing = passing - passing * less / 1_000_000;
        self.try_lower(now, passing, Sign::Queue(queue), delivered);
    }

    /// Returns the bytes per second that pass while packets are queued. On a wide path a second of
    /// use shows what it carries; on a narrow one most seconds show little.
    fn passing(&mut self, now: LocalTime) -> u64 {
        let delivered = self.acked.per_second(now);
        let passing = self.busy.per_second().unwrap_or_default().max(delivered);
        if passing < START_RATE { passing * ALL / (ALL - self.own_loss) } else { delivered }
    }

    fn judge_queue(&mut self, now: LocalTime, trial: Trial) {
        let Sign::Queue(before) = trial.sign else { return };
        let (queue, tolerated) = (self.queue(), self.queue_tolerated());
        let grew = queue > before + tolerated;
        if grew && self.passing(now) < trial.delivered / 4 * 3 {
            // The path has just become narrow: the bytes that arrived before say nothing about it.
            self.try_queue(now, queue);
            return;
        }
        // A lower rate shows after a round trip; then the stream's own queue shrinks by what is not
        // sent.
        let shown = now - trial.since - self.round_trips.recent();
        let sent = self.flight.settled().saturating_sub(trial.sent);
        let passed = sent.saturating_mul(1_000_000) / trial.delivered.max(1);
        let passed = i64::try_from(passed).unwrap_or(i64::MAX);
        let expected = (shown.0.clamp(0, 10_000_000) - passed).max(0);
        let fell = (before - queue).0;
        if fell > 2 * expected + before.0.max(tolerated.0) / 2 {
            // The queue vanished too soon: the path had only paused.
            self.end_trial(now, trial.rate, trial.growth);
            return;
        }
        let empty = queue.0 < tolerated.0 / 4;
        if shown < Micros::ZERO || (!empty && shown < QUEUE_TRIAL) {
            return;
        }
        if empty || grew || fell >= before.0.min(expected) / 2 {
            self.best = Best::new();
            let rate = if queue <= tolerated {
                (trial.delivered / 20 * 19).min(trial.rate)
            } else {
                self.rate
            };
            if empty || !grew {
                self.limit = Some(rate).filter(|rate| *rate < START_RATE);
            }
            self.end_trial(now, rate, GROWTH_MIN);
            return; // While the queue is still long, the next round trip retries.
        }
        self.rebase(now);
        let growth = if self.is_narrow() { trial.growth } else { GROWTH_MAX };
        self.end_trial(now, trial.rate, growth);
    }

    /// Takes the current times for those of the empty path.
    fn rebase(&mut self, now: LocalTime) {
        self.round_trips.rebase(now);
        self.back.rebase(now);
    }

    fn end_trial(&mut self, now: LocalTime, rate: u64, growth: u64) {
        self.trial = None;
        self.counts_from = now;
        self.rate = rate.clamp(self.floor(), self.most);
        self.growth = growth;
    }
}
