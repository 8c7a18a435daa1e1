//! Bytes that a client's next snapshot may take: a rate that adapts to the path, and a token
//! bucket that keeps to it.
//!
//! A game's traffic is limited by what there is to tell, and is worthless when it comes late. So
//! the aim is not to fill the path, but to wait in no queue of the stream's own and to send nothing
//! that a narrow path drops. Two signs tell of these:
//!
//! - The round trip exceeds its recent minimum: a queue (LEDBAT, RFC 6817).
//! - Packets are lost. Wireless links lose a share at any rate, so a share is tolerated (as in GCC,
//!   draft-ietf-rmcat-gcc-02, 6, and NADA, RFC 8698), and more is put on trial.
//!
//! A sign does not tell whether this stream, others, or the path caused it. So each starts a
//! *trial*: the rate falls below what arrived lately. If the queue shrinks or the losses end, the
//! rate stays below what the path carried and grows again, slowly at first and ever faster, so that
//! it soon passes a limit that has gone (the shape of CUBIC, RFC 9438). If nothing changes, the
//! rate returns, and the sign counts as the path's own round trip or loss. Such experiments are
//! PCC's idea (Dong et al., NSDI 2015). Decreases are multiplicative, so that streams come to share
//! a path (Chiu and Jain, 1989).
//!
//! Tests on simulated paths hold it to this: 5 to 10 % of random or bursty loss leave 80 % of what
//! is wanted. Behind a narrow path 70 % of it are used, the queue ends no longer than two intervals
//! besides the snapshot's own passing, and without a queue less than 5 % are lost. A path that
//! opens is used fully within 20 s. Bursty losses of some 15 % with wide jitter cost up to a third.
//! Figures without a source are arbitrary, and tuned on these paths.
//!
//! *Invariants:* over any second at most the greatest rate and [`SNAPSHOT_BURST_BYTES`] are spent,
//! if nobody sends more than what is available; and each snapshot may take [`SNAPSHOT_BYTES_MIN`].

#[cfg(test)]
mod tests;

use super::measure::{Best, Meter, RoundTrips};
use crate::limits::{
    DATAGRAM_BYTES_MAX, SNAPSHOT_BURST_BYTES, SNAPSHOT_BYTES_MIN, SNAPSHOT_FIRST_BYTES,
};
use crate::time::{LocalTime, Micros};

/// Bytes a second at the start, to which the rate may always grow: any path of games carries them.
const START_RATE: u64 = 30_000;
/// Interval of the rate's steps.
const STEP: Micros = Micros::from_ms(50);
const STEPS_PER_SECOND: u64 = 20;
/// Growth in millionths a second, after a limit was met.
const GROWTH_MIN: u64 = 5_000;
/// The same after a false alarm and at the start.
const GROWTH_MAX: u64 = 500_000;
/// Part of the growth that each step adds to it: 1.5 times a second.
const GROWTH_GAIN: u64 = 60;
/// Time without any acknowledgement after which the rate halves each second (cf. TFRC's timer, RFC
/// 5348, 4.4).
const SILENCE: Micros = Micros::from_ms(1000);
/// Snapshots lost in a row that make an outage, which tells nothing of any rate.
const OUTAGE_SNAPSHOTS: i64 = 8;
/// Denominator of shares.
const ALL: u64 = 1 << 24;
/// Share that may be lost beyond twice the path's own before a trial: 5 %.
const LOSS_TOLERATED: u64 = ALL * 5 / 100;
/// Packets over which losses are averaged. Fewer make needless trials, more find out later.
const LOSS_PACKETS: i64 = 128;
/// Packets over which the path's own loss is forgotten: minutes.
const OWN_LOSS_PACKETS: u64 = 8192;
/// Time after a return to an older rate within which a trial means that less arrives now.
const RETURN: Micros = Micros::from_ms(6000);
/// Length of a trial of a queue, after a round trip.
const QUEUE_TRIAL: Micros = Micros::from_ms(1000);
/// Age of packets that a trial of losses waits for ...
const LOSS_TRIAL: Micros = Micros::from_ms(2000);
/// ... their number, to tell shares apart, and its longest wait for that many.
const LOSS_TRIAL_PACKETS: u64 = 96;
const LOSS_TRIAL_MAX: Micros = Micros::from_ms(4000);

/// Sign that started a trial.
#[derive(Clone, Copy, Debug)]
enum Sign {
    /// A share was lost; with the packets sent since whose fate is known.
    Loss { share: u64, acked: u64, lost: u64 },
    /// The round trip became longer by this.
    Queue(Micros),
}

/// State before a lower rate was tried.
#[derive(Clone, Copy, Debug)]
struct Trial {
    sign: Sign,
    since: LocalTime,
    rate: u64,
    growth: u64,
    /// Bytes that arrived in the second before.
    delivered: u64,
}

/// Size of one client's snapshots. Rates are in bytes of snapshots a second.
#[derive(Clone, Debug)]
pub struct SendRate {
    interval: Micros,
    least: u64,
    most: u64,
    rate: u64,
    growth: u64,
    stepped: LocalTime,
    /// Content of the bucket in millionths of a byte.
    tokens: i64,
    filled: LocalTime,
    sent: Meter,
    acked: Meter,
    /// The most that arrived of late, unless a limit was met since.
    best: Best,
    /// Time when the rate last returned to what had arrived before.
    returned: LocalTime,
    round_trips: RoundTrips,
    /// Share lost of late.
    loss: u64,
    /// Share that the path loses at any rate.
    own_loss: u64,
    /// Packets sent before this time tell nothing of the present rate.
    counts_from: LocalTime,
    heard: LocalTime,
    /// Send time of the newest packet that arrived.
    newest_acked: LocalTime,
    /// The rate before the client fell silent.
    silent: Option<u64>,
    trial: Option<Trial>,
}

/// Most bytes of one snapshot, and of the first; a snapshot may always take the least on top.
const BURST: usize = SNAPSHOT_BURST_BYTES - SNAPSHOT_BYTES_MIN;
const FIRST: usize = SNAPSHOT_FIRST_BYTES - SNAPSHOT_BYTES_MIN;

impl SendRate {
    /// The rate towards a client with a snapshot each `interval`: at most `most` bytes a second, at
    /// least [`SNAPSHOT_BYTES_MIN`] a snapshot.
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
            tokens: millionths(FIRST),
            filled: now,
            sent: Meter::new(now),
            acked: Meter::new(now),
            best: Best::new(),
            returned: LocalTime(i64::MIN),
            round_trips: RoundTrips::new(),
            loss: 0,
            own_loss: 0,
            counts_from: now,
            heard: now,
            newest_acked: now,
            silent: None,
            trial: None,
        }
    }

    /// Present rate in bytes a second.
    pub fn bytes_per_second(&self) -> u32 {
        u32::try_from(self.rate).unwrap_or(u32::MAX)
    }

    /// Bytes that the next snapshot may take: at most those of two intervals or a full datagram,
    /// and not more than [`SNAPSHOT_BURST_BYTES`]; at least [`SNAPSHOT_BYTES_MIN`] unless snapshots
    /// come too fast. Call it once a snapshot.
    pub fn available(&mut self, now: LocalTime) -> usize {
        self.advance(now);
        let span = (now - self.filled).0.clamp(0, 1_000_000);
        self.filled = self.filled.max(now);
        let two = (self.rate * 2 * self.interval.0.unsigned_abs() / 1_000_000) as usize;
        let full = millionths(two.clamp(DATAGRAM_BYTES_MAX, BURST));
        // The bucket's first content stays until it is spent.
        let filled = (self.tokens + self.rate as i64 * span).min(full);
        self.tokens = self.tokens.max(filled);
        match usize::try_from(self.tokens / 1_000_000).unwrap_or(0) {
            bytes if bytes >= SNAPSHOT_BYTES_MIN => bytes,
            _ if self.tokens > 0 => SNAPSHOT_BYTES_MIN,
            _ => 0,
        }
    }

    /// Takes in that a packet was sent.
    pub fn handle_sent(&mut self, now: LocalTime, bytes: usize) {
        self.tokens = self.tokens.saturating_sub(millionths(bytes));
        self.sent.add(now, bytes as u64);
    }

    /// Takes in the acknowledgement of a packet sent at `sent`, before the losses that it shows.
    pub fn handle_acked(&mut self, now: LocalTime, sent: LocalTime, bytes: usize) {
        self.advance(now);
        self.hear(now);
        if sent - self.newest_acked > Micros(self.interval.0 * OUTAGE_SNAPSHOTS) {
            self.counts_from = self.counts_from.max(sent);
        }
        self.newest_acked = self.newest_acked.max(sent);
        self.acked.add(now, bytes as u64);
        self.handle_fate(now, sent, false);
    }

    /// Takes in that a packet sent at `sent` counts as lost.
    pub fn handle_lost(&mut self, now: LocalTime, sent: LocalTime) {
        self.advance(now);
        self.handle_fate(now, sent, true);
    }

    /// Takes in a round trip, without the time that the client held it.
    pub fn handle_round_trip(&mut self, now: LocalTime, round_trip: Micros) {
        self.advance(now);
        self.hear(now);
        self.round_trips.update(now, round_trip);
        let queue = self.round_trips.queue();
        match self.trial {
            Some(trial) if matches!(trial.sign, Sign::Queue(_)) => self.judge_queue(now, trial),
            _ if queue > self.queue_tolerated() => self.try_queue(now, queue),
            _ => {}
        }
    }

    /// Longest excess of a round trip that is tolerated as jitter.
    fn queue_tolerated(&self) -> Micros {
        Micros((self.interval.0 / 2).max(4 * self.round_trips.spread().0))
    }

    fn hear(&mut self, now: LocalTime) {
        self.heard = self.heard.max(now);
        if let Some(before) = self.silent.take() {
            // All was lost meanwhile: an outage, whatever the rate.
            self.rate = self.rate.max(before / 2);
            self.growth = GROWTH_MAX;
            self.counts_from = now;
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
        if self.trial.is_none() {
            self.best.update(now, self.acked.per_second(now));
        }
        if now - self.heard > SILENCE && used > 0 {
            self.silent.get_or_insert(self.trial.map_or(self.rate, |trial| trial.rate));
            self.trial = None;
            self.rate = (self.rate - self.rate / 28).max(self.least);
        } else if self.trial.is_none() && self.rate < START_RATE.max(2 * used) {
            // A rate that is not used proves nothing, and so does not grow (cf. RFC 7661).
            self.rate += self.rate * self.growth / STEPS_PER_SECOND / 1_000_000;
            self.rate = self.rate.min(self.most);
            self.growth = (self.growth + self.growth / GROWTH_GAIN).min(GROWTH_MAX);
        }
    }

    /// Bytes sent a second, at most the rate.
    fn used(&mut self, now: LocalTime) -> u64 {
        self.sent.per_second(now).min(self.rate)
    }

    fn lower(&mut self, now: LocalTime, rate: u64) {
        self.rate = rate.max(self.least);
        self.growth = GROWTH_MIN;
        self.loss = self.own_loss;
        self.counts_from = now;
    }

    fn try_lower(&mut self, now: LocalTime, lower: u64, sign: Sign, delivered: u64) {
        let (rate, growth) = (self.rate, self.growth);
        self.lower(now, lower);
        self.trial = Some(Trial { sign, since: now, rate, growth, delivered });
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
        if self.loss > LOSS_TOLERATED + 2 * self.own_loss {
            self.try_loss(now);
        }
    }

    fn try_loss(&mut self, now: LocalTime) {
        let (used, delivered) = (self.used(now), self.acked.per_second(now));
        if used <= self.least {
            self.growth = GROWTH_MIN;
            return;
        }
        if delivered < used / 2 || now - self.returned < RETURN {
            self.best = Best::new();
        }
        if delivered < used / 2 {
            // Nobody can play where half is lost at any rate; so this needs no trial.
            self.lower(now, used / 2);
            return;
        }
        // What arrived, and what the path itself loses of that.
        let passing = delivered * ALL / (ALL - self.own_loss);
        let sign = Sign::Loss { share: self.loss, acked: 0, lost: 0 };
        self.try_lower(now, passing.min(used) / 20 * 19, sign, delivered);
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
            // The rate was too high, and becomes what arrived. Where much is lost anyway, that is
            // less certain.
            let doubt = if self.own_loss > LOSS_TOLERATED { 8 } else { 1 };
            // More may have arrived lately: the last second then lost a burst.
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
        let (used, delivered) = (self.used(now), self.acked.per_second(now));
        if used <= self.least {
            self.growth = GROWTH_MIN;
            return;
        }
        // As much less as empties the queue in two seconds, within bounds.
        let less = (queue.0 / 2).clamp(150_000, 500_000).unsigned_abs();
        let passing = delivered - delivered * less / 1_000_000;
        self.try_lower(now, passing.min(used), Sign::Queue(queue), delivered);
    }

    fn judge_queue(&mut self, now: LocalTime, trial: Trial) {
        let Sign::Queue(before) = trial.sign else { return };
        let (queue, tolerated) = (self.round_trips.queue(), self.queue_tolerated());
        let grew = queue > before + tolerated;
        if grew && self.acked.per_second(now) < trial.delivered / 4 * 3 {
            // The path has just become narrow: the bytes that arrived before say nothing of it.
            self.try_queue(now, queue);
            return;
        }
        // A lower rate shows after a round trip; then the stream's own queue shrinks by what is
        // sent less.
        let shown = now - trial.since - self.round_trips.recent();
        let less = trial.delivered.saturating_sub(self.rate);
        let expected = less as i64 * shown.0.clamp(0, 10_000_000) / trial.delivered.max(1) as i64;
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
            let rate = if queue <= tolerated { trial.delivered / 20 * 19 } else { self.rate };
            self.end_trial(now, rate, GROWTH_MIN);
            return; // While the queue is still long, the next round trip tries again.
        }
        self.round_trips.rebase(now);
        self.end_trial(now, trial.rate, GROWTH_MAX);
    }

    fn end_trial(&mut self, now: LocalTime, rate: u64, growth: u64) {
        self.trial = None;
        self.counts_from = now;
        self.rate = rate.clamp(self.least, self.most);
        self.growth = growth;
    }
}

fn millionths(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX).saturating_mul(1_000_000)
}
