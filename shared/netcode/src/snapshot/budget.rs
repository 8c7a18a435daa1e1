//! How many bytes a client's next snapshot may take: a rate that adapts to the path, and a token bucket
//! that keeps to it.
//!
//! A game's traffic is limited by what there is to tell, not by what a path can carry, and is worth
//! nothing when it comes late. What matters is therefore not to fill the path, but not to wait in a
//! queue of its own, and not to send what a narrow path drops. Two signs tell of it:
//!
//! - The round trip exceeds its recent minimum: a queue (LEDBAT, RFC 6817, whose windowed minimum this
//!   uses, so that a longer route is forgotten).
//! - Packets are lost. On wireless links that is no congestion: sending less would lose the same share.
//!   So a share is tolerated (as in GCC, draft-ietf-rmcat-gcc-02, 6, and NADA, RFC 8698), and more is
//!   put on trial.
//!
//! A sign alone does not tell whose doing it is: of this stream, of others, or of the path. So each
//! one starts a *trial*: the rate falls below what arrived of late. If it was this stream's doing, the
//! queue shrinks, or the losses end; the rate stays below what the path carried, and grows again,
//! slowly at first and ever faster, so that it feels its way to the old limit and soon leaves it
//! behind when that has gone (the shape of CUBIC, RFC 9438). If nothing changes, it was not: the
//! rate is what it was before, and what was seen counts as the path's own round trip or loss. The
//! idea of such experiments is PCC's (Dong et al., NSDI 2015). Decreases are multiplicative, as they
//! must be for streams to come to share a path (Chiu and Jain, 1989).
//!
//! Held to by tests on simulated paths: 5 to 10 % of random or bursty loss leave 80 % or more of what is
//! wanted; behind a narrow path 70 % or more of it are used, and the queue is in the end no longer than
//! two intervals besides the snapshot's own passing; where there is no queue, less than 5 % are lost in the
//! end; a path that opens is used fully within 20 s. Bursty losses of some 15 % together with wide
//! jitter cost up to a third. Figures without a source are arbitrary, and tuned on these paths.
//!
//! *Invariants:* over any second no more than the greatest rate and [`SNAPSHOT_BURST_BYTES`] are spent, if
//! nobody sends more than what is available; and each snapshot may take [`SNAPSHOT_BYTES_MIN`].

mod measure;

use crate::limits::{DATAGRAM_BYTES_MAX, SNAPSHOT_BURST_BYTES, SNAPSHOT_BYTES_MIN};
use crate::time::{LocalTime, Micros};
use measure::{Best, Meter, RoundTrips};

/// Bytes a second to begin with, and what the rate may always grow to: any path that games are
/// played over carries that.
const START_RATE: u64 = 30_000;
/// The rate changes in steps of this.
const STEP: Micros = Micros::from_ms(50);
const STEPS_PER_SECOND: u64 = 20;
/// Growth in millionths a second: after a limit was met; and after a false alarm and at the beginning.
const GROWTH_MIN: u64 = 5_000;
const GROWTH_MAX: u64 = 500_000;
/// Each step growth gains one part of this many: by 1.5 a second.
const GROWTH_GAIN: u64 = 60;
/// Without any acknowledgement for so long nothing is known of the path, and the rate halves each
/// second (cf. TFRC's timer, RFC 5348, 4.4).
const SILENCE: Micros = Micros::from_ms(1000);
/// When so many snapshots in a row were lost altogether, that was an outage, and tells nothing of any
/// rate: of what exceeds a limit a part comes through.
const OUTAGE_SNAPSHOTS: i64 = 8;
/// Shares are in these parts.
const ALL: u64 = 1 << 24;
/// Share that may be lost beyond twice the path's own before it is put on trial: 5 %.
const LOSS_TOLERATED: u64 = ALL * 5 / 100;
/// Packets over which losses are averaged. Fewer make more trials for nothing, more find out later.
const LOSS_PACKETS: i64 = 128;
/// Packets over which the path's own loss is forgotten where less is lost: minutes.
const OWN_LOSS_PACKETS: u64 = 8192;
/// A trial that starts so soon after the rate went back to what had arrived before means that less does now.
const RETURN: Micros = Micros::from_ms(6000);
/// A trial of a queue lasts at most so long after a round trip.
const QUEUE_TRIAL: Micros = Micros::from_ms(1000);
/// A trial of losses lasts until packets that were sent so long after it began are known of ...
const LOSS_TRIAL: Micros = Micros::from_ms(2000);
/// ... and so many, to tell shares apart, or if they do not come, so long.
const LOSS_TRIAL_PACKETS: u64 = 96;
const LOSS_TRIAL_MAX: Micros = Micros::from_ms(4000);

/// Why the rate is lower for a while.
#[derive(Clone, Copy, Debug)]
enum MispredictionCause {
    /// A share was lost.
    Loss {
        share: u64,
        /// Packets sent since, and known of.
        acked: u64,
        lost: u64,
    },
    /// The round trip is longer by this.
    Queue(Micros),
}

#[derive(Clone, Copy, Debug)]
struct Trial {
    cause: MispredictionCause,
    since: LocalTime,
    /// The rate before.
    before: u64,
    /// Its growth before.
    growth: u64,
    /// What arrived in the second before.
    delivered: u64,
}

/// Decides the size of one client's snapshots. All rates are in bytes of snapshots a second.
#[derive(Clone, Debug)]
pub struct Budget {
    interval: Micros,
    least: u64,
    most: u64,
    rate: u64,
    growth: u64,
    stepped: LocalTime,
    /// Millionths of a byte.
    tokens: i64,
    filled: LocalTime,
    sent: Meter,
    acked: Meter,
    /// The most that arrived of late, unless a limit was met since.
    best: Best,
    /// When the rate last went back to what had arrived before.
    returned: LocalTime,
    round_trips: RoundTrips,
    /// Share lost of late, and the share that the path loses whatever the rate.
    loss: u64,
    own_loss: u64,
    /// What was sent before tells nothing of the present rate.
    counts_from: LocalTime,
    heard: LocalTime,
    /// When the newest packet that arrived was sent.
    newest_acked: LocalTime,
    /// The rate before nothing was heard any more.
    silent: Option<u64>,
    trial: Option<Trial>,
}

impl Budget {
    /// For a client that gets a snapshot each `interval` and no more than `most` bytes of them a second;
    /// if that is less than [`SNAPSHOT_BYTES_MIN`] a snapshot, then these.
    pub fn new(now: LocalTime, most: u32, interval: Micros) -> Self {
        let interval = interval.clamp(Micros(1), Micros::from_ms(1000));
        // Rounded up, so that the bucket always has it.
        let least = SNAPSHOT_BYTES_MIN as u64 * 1_000_000 / interval.0.unsigned_abs() + 1;
        let most = u64::from(most).max(least);
        Self {
            interval,
            least,
            most,
            rate: START_RATE.clamp(least, most),
            growth: GROWTH_MAX,
            stepped: now,
            tokens: millionths(SNAPSHOT_BURST_BYTES - SNAPSHOT_BYTES_MIN),
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

    /// Bytes a second at present.
    pub fn rate(&self) -> u32 {
        u32::try_from(self.rate).unwrap_or(u32::MAX)
    }

    /// Share of packets that the path loses whatever the rate, in per cent, as far as is known.
    pub fn own_loss_percent(&self) -> u32 {
        (self.own_loss * 100 / ALL) as u32
    }

    /// Bytes that the next snapshot may take: what two intervals bring, or a full datagram if that is
    /// more, at most. To be asked once a snapshot. At least [`SNAPSHOT_BYTES_MIN`], unless snapshots come
    /// faster than stated.
    pub fn available(&mut self, now: LocalTime) -> usize {
        self.advance(now);
        let span = (now - self.filled).0.clamp(0, 1_000_000);
        self.filled = self.filled.max(now);
        let two = (self.rate * 2 * self.interval.0.unsigned_abs() / 1_000_000) as usize;
        let room = SNAPSHOT_BURST_BYTES - SNAPSHOT_BYTES_MIN;
        let full = millionths(two.clamp(DATAGRAM_BYTES_MAX, room));
        // What is in it from the beginning stays until it is spent.
        let filled = (self.tokens + self.rate as i64 * span).min(full);
        self.tokens = self.tokens.max(filled);
        match usize::try_from(self.tokens / 1_000_000).unwrap_or(0) {
            bytes if bytes >= SNAPSHOT_BYTES_MIN => bytes,
            _ if self.tokens > 0 => SNAPSHOT_BYTES_MIN,
            _ => 0,
        }
    }

    /// A packet of so many bytes was sent.
    pub fn handle_sent(&mut self, now: LocalTime, bytes: usize) {
        self.tokens = self.tokens.saturating_sub(millionths(bytes));
        self.sent.add(now, bytes as u64);
    }

    /// A packet of so many bytes, sent at `sent`, is acknowledged. To be called before what the same
    /// acknowledgement shows to be lost.
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

    /// A packet that was sent at `sent` is taken for lost.
    pub fn handle_lost(&mut self, now: LocalTime, sent: LocalTime) {
        self.advance(now);
        self.handle_fate(now, sent, true);
    }

    /// A round trip, without the time that the client held it.
    pub fn handle_round_trip(&mut self, now: LocalTime, round_trip: Micros) {
        self.advance(now);
        self.hear(now);
        self.round_trips.update(now, round_trip);
        let queue = self.round_trips.queue();
        match self.trial {
            Some(trial) if matches!(trial.cause, MispredictionCause::Queue(_)) => {
                self.judge_queue(now, trial)
            }
            _ if queue > self.queue_tolerated() => self.try_queue(now, queue),
            _ => {}
        }
    }

    /// What is shorter is no queue to do anything about, and so is what may be jitter.
    fn queue_tolerated(&self) -> Micros {
        Micros((self.interval.0 / 2).max(4 * self.round_trips.spread().0))
    }

    fn hear(&mut self, now: LocalTime) {
        self.heard = self.heard.max(now);
        if let Some(before) = self.silent.take() {
            // That all was lost meanwhile was an outage, and nothing that a rate had to do with.
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
            self.silent.get_or_insert(self.trial.map_or(self.rate, |trial| trial.before));
            self.trial = None;
            self.rate = (self.rate - self.rate / 28).max(self.least);
        } else if self.trial.is_none() && self.rate < START_RATE.max(2 * used) {
            // What is not used proves nothing, and so does not grow (cf. RFC 7661).
            self.rate += self.rate * self.growth / STEPS_PER_SECOND / 1_000_000;
            self.rate = self.rate.min(self.most);
            self.growth = (self.growth + self.growth / GROWTH_GAIN).min(GROWTH_MAX);
        }
    }

    /// What is being sent, at most the rate.
    fn used(&mut self, now: LocalTime) -> u64 {
        self.sent.per_second(now).min(self.rate)
    }

    fn lower(&mut self, now: LocalTime, rate: u64) {
        self.rate = rate.max(self.least);
        self.growth = GROWTH_MIN;
        self.loss = self.own_loss;
        self.counts_from = now;
    }

    fn handle_fate(&mut self, now: LocalTime, sent: LocalTime, lost: bool) {
        if sent < self.counts_from {
            return;
        }
        if let Some(mut trial) = self.trial {
            if let MispredictionCause::Loss { acked, lost: losses, .. } = &mut trial.cause {
                *(if lost { losses } else { acked }) += 1;
                self.trial = Some(trial);
                self.judge_loss(now, sent, trial);
            }
            return;
        }
        let goal = if lost { ALL as i64 } else { 0 };
        self.loss = (self.loss as i64 + (goal - self.loss as i64) / LOSS_PACKETS) as u64;
        // A path that has become better is known to be in time.
        self.own_loss -= self.own_loss.saturating_sub(self.loss) / OWN_LOSS_PACKETS;
        if self.loss > LOSS_TOLERATED + 2 * self.own_loss {
            self.try_loss(now);
        }
    }

    fn try_loss(&mut self, now: LocalTime) {
        let (used, delivered) = (self.used(now), self.acked.per_second(now));
        let (before, growth, share) = (self.rate, self.growth, self.loss);
        if used <= self.least {
            self.growth = GROWTH_MIN;
            return;
        }
        if delivered < used / 2 || now - self.returned < RETURN {
            self.best = Best::new();
        }
        if delivered < used / 2 {
            // Nobody can play where half is lost whatever is sent; so this needs no trial.
            self.lower(now, used / 2);
            return;
        }
        // What arrived, and what the path loses of that by itself.
        let passing = delivered * ALL / (ALL - self.own_loss);
        self.lower(now, passing.min(used) / 20 * 19);
        let cause = MispredictionCause::Loss { share, acked: 0, lost: 0 };
        self.trial = Some(Trial { cause, since: now, before, growth, delivered });
    }

    fn judge_loss(&mut self, now: LocalTime, sent: LocalTime, trial: Trial) {
        let MispredictionCause::Loss { share, acked, lost } = trial.cause else { return };
        let long = sent - trial.since;
        if long < LOSS_TRIAL || (acked + lost < LOSS_TRIAL_PACKETS && long < LOSS_TRIAL_MAX) {
            return;
        }
        let after = lost * ALL / (acked + lost);
        // What is lost of less than arrives is the path's own.
        self.own_loss = self.own_loss.max(after).min(ALL / 4);
        if after < share / 2 {
            // It was too much; and the rate is what arrived. Where much is lost anyway, that is less
            // certain.
            let doubt = if self.own_loss > LOSS_TOLERATED { 8 } else { 1 };
            // More may have arrived of late: what the last second lost was then a burst.
            let best = (self.best.get() / 20 * 19).min(trial.before);
            if best > self.rate {
                self.returned = now;
            }
            self.end_trial(now, best.max(self.rate), GROWTH_MIN * doubt);
        } else {
            self.own_loss = self.own_loss.max(share).min(ALL / 4);
            self.end_trial(now, trial.before, GROWTH_MAX);
        }
        self.counts_from = trial.since;
        self.loss = self.own_loss;
    }

    fn try_queue(&mut self, now: LocalTime, queue: Micros) {
        let (used, delivered) = (self.used(now), self.acked.per_second(now));
        let (before, growth) = (self.rate, self.growth);
        if used <= self.least {
            self.growth = GROWTH_MIN;
            return;
        }
        // As much less as empties the queue in two seconds, within bounds.
        let less = (queue.0 / 2).clamp(150_000, 500_000).unsigned_abs();
        let passing = delivered - delivered * less / 1_000_000;
        self.lower(now, passing.min(used));
        let cause = MispredictionCause::Queue(queue);
        self.trial = Some(Trial { cause, since: now, before, growth, delivered });
    }

    fn judge_queue(&mut self, now: LocalTime, trial: Trial) {
        let MispredictionCause::Queue(before) = trial.cause else { return };
        let (queue, tolerated) = (self.round_trips.queue(), self.queue_tolerated());
        let grew = queue > before + tolerated;
        if grew && self.acked.per_second(now) < trial.delivered / 4 * 3 {
            // The path has just become narrow: what had arrived before was no measure of it.
            self.try_queue(now, queue);
            return;
        }
        // What is sent less shows after a round trip; from then on a queue of this stream shrinks by as
        // much time as is sent less into it.
        let shown = now - trial.since - self.round_trips.recent();
        let less = trial.delivered.saturating_sub(self.rate);
        let expected = less as i64 * shown.0.clamp(0, 10_000_000) / trial.delivered.max(1) as i64;
        let fell = (before - queue).0;
        if fell > 2 * expected + before.0.max(tolerated.0) / 2 {
            // Too soon: the path had only paused.
            self.end_trial(now, trial.before, trial.growth);
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
            return; // If the queue is still long, the next round trip tries again.
        }
        self.round_trips.rebase(now);
        self.end_trial(now, trial.before, GROWTH_MAX);
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

#[cfg(test)]
mod tests;
