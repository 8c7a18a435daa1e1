//! Properties of one direction of a link.

use crate::random::Random;
use crate::time::Micros;

/// Distribution of the transit time of packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spread {
    /// Uniform from `delay - jitter` to `delay + jitter`.
    #[default]
    Uniform,
    /// Normal around `delay`, with `jitter` as the standard deviation; cut off at four of them.
    Normal,
    /// At least `delay`; the excess has mean `jitter` and a heavy tail (Lomax, the shifted Pareto
    /// distribution, of shape 3), cut off at thirty times the mean.
    Heavy,
}

/// Which packets are dropped where the rate is limited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Drops {
    /// Only packets that do not fit into the queue.
    #[default]
    Tail,
    /// Also some of those that would wait for long, so that senders slow down (CoDel, RFC 8289).
    CoDel,
}

/// Properties of one direction of a link.
///
/// Losses follow the model of Gilbert and Elliott (E. O. Elliott, "Estimates of Error Rates for
/// Codes on Burst-Noise Channels", 1963): the link is in a good or a bad state, which may change at
/// each packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkConfig {
    /// Transit time of packets, at most [`LinkConfig::TIME_MAX`].
    pub delay: Micros,
    /// Variation of the delay, at most [`LinkConfig::TIME_MAX`]. A transit time is never negative.
    pub jitter: Micros,
    /// Distribution of the variation.
    pub spread: Spread,
    /// Whether packets keep their order, as in one queue; otherwise jitter reorders them.
    pub ordered: bool,
    /// Fraction of all packets that is lost, 0 to 1. At 1 all are lost, whatever the bursts.
    pub loss: f32,
    /// Mean length of a bad state in packets. At 1 or less, losses are independent of each other.
    pub burst: f32,
    /// Fraction of packets that is lost in a bad state; greater than `loss`. Without bursts 1.
    pub burst_loss: f32,
    /// Fraction of packets that is lost in a good state; at most `loss`. Without bursts 0.
    pub stray_loss: f32,
    /// Fraction of packets that is duplicated: 0 to 1.
    pub duplication: f32,
    /// The maximum rate in bits per second, if it is limited. At 0 nothing passes.
    pub rate: Option<u64>,
    /// Maximum number of bytes queued where the rate is limited; more are dropped.
    pub queue_bytes: u32,
    /// Which packets the queue drops.
    pub drops: Drops,
}

/// Why properties are invalid.
#[allow(missing_docs, reason = "the error messages document the variants")]
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LinkError {
    #[error("{what} of a link must be {allowed}")]
    Range { what: &'static str, allowed: &'static str },
    #[error(
        "losses do not add up: loss must lie between stray-loss and burst-loss, and bursts must be \
         long enough for that loss"
    )]
    Losses,
    #[error(
        "stray-loss and burst-loss need burst=..., the mean length of a bad period in packets, \
         above 1: burst=3"
    )]
    NoBursts,
}

impl LinkConfig {
    /// The longest delay and the widest jitter.
    pub const TIME_MAX: Micros = Micros::from_ms(10_000);
    /// Bytes that IPv4 and UDP add to a packet on a link with a limited rate.
    pub const HEADER_BYTES: usize = 28;
    /// Default size of the queue in bytes, that of a plain router.
    pub const QUEUE_BYTES: u32 = 64 * 1024;
    /// The maximum size of a queue in bytes.
    pub const QUEUE_BYTES_MAX: u32 = 16 << 20;
    /// The maximum of a limited rate, in bits per second.
    pub const RATE_MAX: u64 = 100_000_000_000;
    /// The longest mean burst in packets.
    pub const BURST_MAX: f32 = 10_000.0;

    /// No delay, no loss.
    pub const PERFECT: Self = Self {
        delay: Micros::ZERO,
        jitter: Micros::ZERO,
        spread: Spread::Uniform,
        ordered: false,
        loss: 0.0,
        burst: 1.0,
        burst_loss: 1.0,
        stray_loss: 0.0,
        duplication: 0.0,
        rate: None,
        queue_bytes: Self::QUEUE_BYTES,
        drops: Drops::Tail,
    };

    /// A link whose packets take from `least_ms` to `least_ms + more_ms`, uniformly.
    pub const fn delayed(least_ms: i64, more_ms: i64) -> Self {
        let half = more_ms * 500;
        Self { delay: Micros(least_ms * 1000 + half), jitter: Micros(half), ..Self::PERFECT }
    }

    /// Returns this link with independent losses.
    pub const fn losing(self, loss: f32) -> Self {
        Self { loss, ..self }
    }

    /// Returns this link with losses in bursts of `burst` packets on average.
    pub const fn bursting(self, loss: f32, burst: f32) -> Self {
        Self { loss, burst, ..self }
    }

    /// Returns this link with duplicates.
    pub const fn duplicating(self, duplication: f32) -> Self {
        Self { duplication, ..self }
    }

    /// Checks the ranges stated at the fields.
    pub fn validate(self) -> Result<Self, LinkError> {
        let range = |what, allowed, good: bool| {
            if good { Ok(()) } else { Err(LinkError::Range { what, allowed }) }
        };
        let time = |span: Micros| (Micros::ZERO..=Self::TIME_MAX).contains(&span);
        let share = |value: f32| (0.0..=1.0).contains(&value);
        range("delay", "0 to 10 s", time(self.delay))?;
        range("jitter", "0 to 10 s", time(self.jitter))?;
        range("loss", "0 to 100 %", share(self.loss))?;
        range("burst-loss", "0 to 100 %", share(self.burst_loss))?;
        range("stray-loss", "0 to 100 %", share(self.stray_loss))?;
        range("duplicate", "0 to 100 %", share(self.duplication))?;
        range("burst", "1 to 10000 packets", (1.0..=Self::BURST_MAX).contains(&self.burst))?;
        range("rate", "0bit to 100Gbit", self.rate.is_none_or(|rate| rate <= Self::RATE_MAX))?;
        let queue = (1500..=Self::QUEUE_BYTES_MAX).contains(&self.queue_bytes);
        range("queue", "1500B to 16MB", queue)?;
        if self.burst <= 1.0 && (self.burst_loss, self.stray_loss) != (1.0, 0.0) {
            return Err(LinkError::NoBursts);
        }
        // Without bursts there is no chain, but stray losses must not exceed the total.
        if self.loss < self.stray_loss {
            return Err(LinkError::Losses);
        }
        self.chain().ok_or(LinkError::Losses)?;
        Ok(self)
    }

    /// Whether losses are independent of each other. Bursts mean nothing if no packet or each is
    /// lost.
    pub(super) fn independent(&self) -> bool {
        self.burst <= 1.0 || self.loss <= 0.0 || self.loss >= 1.0
    }

    /// Millionths of a bit that pass in a microsecond, which is the number of bits per second.
    pub(super) fn speed(&self) -> u128 {
        // Without a limit: more than any queue holds, and small enough to sum.
        self.rate.map_or(i64::MAX as u128, u128::from)
    }

    /// Returns the probabilities, at each packet, that a good link turns bad and a bad one good.
    pub(super) fn chain(&self) -> Option<(f32, f32)> {
        if self.independent() {
            return Some((0.0, 1.0));
        }
        let bad = (self.loss - self.stray_loss) / (self.burst_loss - self.stray_loss);
        let leave = 1.0 / self.burst;
        let enter = leave * bad / (1.0 - bad);
        ((0.0..1.0).contains(&bad) && enter <= 1.0).then_some((enter, leave))
    }

    /// Returns the longest usual transit time, without queues and heavy tails.
    pub fn slowest(&self) -> Micros {
        self.delay + self.jitter
    }

    /// Draws the transit time of a packet. Uses the same number of random numbers for all
    /// distributions.
    pub(super) fn draw_delay(&self, random: &mut Random) -> Micros {
        let (a, b) = (f64::from(random.unit()), f64::from(random.unit()));
        let parts = match self.spread {
            Spread::Uniform => 2.0 * a - 1.0,
            Spread::Normal => {
                // The Box-Muller transform; 1 - a is never 0.
                let normal =
                    libm::sqrt(-2.0 * libm::log(1.0 - a)) * libm::cos(std::f64::consts::TAU * b);
                normal.clamp(-4.0, 4.0)
            }
            // Lomax of shape 3 and scale 2, whose mean is 1.
            Spread::Heavy => (2.0 * (libm::pow(1.0 - a, -1.0 / 3.0) - 1.0)).min(30.0),
        };
        (self.delay + Micros::from_f64(parts * self.jitter.0 as f64)).max(Micros::ZERO)
    }
}
