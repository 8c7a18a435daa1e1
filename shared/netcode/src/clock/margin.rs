//! A margin on top of a measured requirement, for cases too rare to measure, controlled by its
//! failures.
//!
//! A few seconds of samples say nothing about the longest bursts and queues. So each episode of
//! failures raises the margin by its shortage, at least by a step, and time lowers it by a step per
//! period. In the long run there is at most one episode per period below the maximum margin,
//! whatever the network does (adaptive conformal inference: Gibbs and Candès, "Adaptive Conformal
//! Inference Under Distribution Shift", 2021). After some seconds the margin is at most a step
//! above the worst requirement of four periods, so that it shrinks when the network calms down.

use std::collections::VecDeque;

use crate::time::{LocalTime, Micros};

/// Limits of a margin.
#[derive(Clone, Copy, Debug)]
pub struct MarginBounds {
    /// The minimum margin.
    pub least: Micros,
    /// The maximum margin, beyond which failures are not prevented.
    pub most: Micros,
    /// Cost of one more lost packet, the unit of the steps.
    pub unit: Micros,
    /// Target mean time between episodes of failures.
    pub every: Micros,
}

impl MarginBounds {
    /// Returns the minimum that an episode adds.
    fn step(&self) -> Micros {
        Micros(self.unit.0 * 3 / 4)
    }

    /// Returns the maximum that an episode adds: worse failures are not the network's, or too rare.
    fn step_max(&self) -> Micros {
        Micros(self.unit.0 * 5)
    }

    /// Returns the time within which failures belong to one episode.
    fn gap(&self) -> Micros {
        Micros(self.unit.0 * 9)
    }

    /// Returns the longest duration of an episode, after which another one begins.
    fn episode_max(&self) -> Micros {
        Micros(self.unit.0 * 60)
    }
}

/// A margin, controlled by its failures.
#[derive(Clone, Debug)]
pub struct Margin {
    margin: Micros,
    bounds: MarginBounds,
    begun: LocalTime,
    moved: LocalTime,
    episode: Option<Episode>,
    episodes: u64,
    /// The largest excess of requirements over their base, by the start of each part of the
    /// remembered time.
    peaks: VecDeque<(LocalTime, Micros)>,
}

/// Failures with a common cause.
#[derive(Clone, Copy, Debug)]
struct Episode {
    begun: LocalTime,
    last: LocalTime,
    /// The largest requirement.
    worst: Micros,
}

impl Margin {
    /// Number of parts of the remembered time, which is four periods.
    const PARTS: i64 = 10;
    /// Age from which the worst requirement is meaningful.
    const MATURE: Micros = Micros::from_ms(10_000);
    /// The longest silence that lowers the margin: nothing could fail during it.
    const SILENCE: Micros = Micros::from_ms(1000);

    /// Creates a margin that starts at `first`.
    pub fn new(now: LocalTime, bounds: MarginBounds, first: Micros) -> Self {
        Self {
            margin: first.clamp(bounds.least, bounds.most),
            bounds,
            begun: now,
            moved: now,
            episode: None,
            episodes: 0,
            peaks: VecDeque::new(),
        }
    }

    /// Handles a measured requirement. `base` is what was planned for before the margin, and
    /// `failed` says whether the requirement was not met.
    ///
    /// The shortage of an episode is measured at its end: a base that has risen for good needs no
    /// margin.
    pub fn observe(&mut self, now: LocalTime, base: Micros, need: Micros, failed: bool) {
        let bounds = self.bounds;
        let passed = (now - self.moved).clamp(Micros::ZERO, Self::SILENCE);
        self.moved = now.max(self.moved);
        let paid = passed.as_secs() / bounds.every.as_secs() * bounds.step().0 as f64;
        self.margin = (self.margin - Micros::from_f64(paid)).max(bounds.least);
        if failed {
            let begins = Episode { begun: now, last: now, worst: need };
            self.episodes += u64::from(self.episode.is_none());
            let episode = self.episode.get_or_insert(begins);
            (episode.last, episode.worst) = (now, episode.worst.max(need));
        }
        let over = |episode: &mut Episode| {
            now - episode.last > bounds.gap() || now - episode.begun > bounds.episode_max()
        };
        if let Some(episode) = self.episode.take_if(over) {
            let short = episode.worst - (base + self.margin);
            self.margin += short.clamp(bounds.step(), bounds.step_max());
            self.margin = self.margin.min(bounds.most);
        }
        let worst = self.remember(now, need - base) + bounds.step();
        if now - self.begun > Self::MATURE {
            self.margin = self.margin.min(worst).max(bounds.least);
        }
    }

    /// Adds the excess of a requirement. Returns the largest recent one.
    fn remember(&mut self, now: LocalTime, excess: Micros) -> Micros {
        let part = Micros(4 * self.bounds.every.0 / Self::PARTS);
        match self.peaks.back_mut() {
            Some((begun, peak)) if now - *begun < part => *peak = excess.max(*peak),
            _ => self.peaks.push_back((now, excess)),
        }
        // Old peaks count until there are new ones.
        while self.peaks.len() as i64 > Self::PARTS {
            self.peaks.pop_front();
        }
        self.peaks.iter().map(|(_, peak)| *peak).max().unwrap_or(excess)
    }

    /// Returns the margin.
    pub fn margin(&self) -> Micros {
        self.margin
    }

    /// Returns the number of episodes of failures.
    pub fn episodes(&self) -> u64 {
        self.episodes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    const BOUNDS: MarginBounds = MarginBounds {
        least: Micros(3000),
        most: Micros::from_ms(120),
        unit: Micros::from_ms(16),
        every: Micros::from_ms(10_000),
    };

    #[test]
    fn failures_are_as_rare_as_promised_whatever_the_need() {
        // Requirements that cannot be predicted: heavy tails, steps, and sometimes none at all.
        for seed in 0..20 {
            let mut random = Random::new(seed);
            let mut margin = Margin::new(LocalTime(0), BOUNDS, Micros::ZERO);
            let secs = 3000;
            for n in 0..secs * 30 {
                let scale = [0.2, 1.0, 3.5][n / 30 / 250 % 3] * 1000.0;
                let need = Micros((scale / (random.unit() + 0.001).sqrt()) as i64);
                let now = LocalTime(n as i64 * 33_333);
                margin.observe(now, Micros::ZERO, need, need > margin.margin());
            }
            let most = secs as u64 / 10 + (BOUNDS.most.0 / BOUNDS.step().0) as u64 + 1;
            assert!(margin.episodes() <= most, "{} episodes, seed {seed}", margin.episodes());
        }
    }

    /// Returns the margin after one requirement every 33 ms, following a while without failures.
    fn after(needs_ms: &[i64], base_ms: i64) -> Margin {
        let mut margin = Margin::new(LocalTime(0), BOUNDS, Micros::ZERO);
        for (n, need) in needs_ms.iter().map(|ms| Micros::from_ms(*ms)).enumerate() {
            let now = LocalTime(n as i64 * 33_333);
            margin.observe(now, Micros::from_ms(base_ms), need, need > Micros::from_ms(40));
        }
        margin
    }

    #[test]
    fn an_episode_counts_once_and_raises_by_its_worst() {
        let margin = after(&[9, 60, 70, 41, 9, 9, 9, 9, 9, 9], 37);
        let near = |margin: &Margin, wanted: Micros| (margin.margin() - wanted).0.abs() < 100;
        assert!(margin.episodes() == 1 && near(&margin, Micros::from_ms(70 - 37)), "{margin:?}");
        let margin = after(&[9, 900, 9, 9, 9, 9, 9, 9], 37);
        assert!(near(&margin, Micros(3000) + BOUNDS.step_max()), "{margin:?}");
        // What the base has absorbed by the end needs no margin, but counts.
        let margin = after(&[9, 100, 100, 100, 9, 9, 9, 9, 9, 9], 100);
        assert!(margin.episodes() == 1 && near(&margin, Micros(15_000)), "{margin:?}");
        // A long failure is several episodes.
        assert_eq!(after(&[60; 100], 37).episodes(), 4);
    }

    #[test]
    fn what_was_learnt_of_the_rare_outlives_changes_of_the_usual() {
        // The base rises and falls every ten seconds; every six seconds a requirement exceeds it by
        // 70 ms.
        let mut margin = Margin::new(LocalTime(0), BOUNDS, Micros::ZERO);
        let mut failed = 0;
        for n in 0..30 * 3600 {
            let now = LocalTime(n * 33_333);
            let base = Micros::from_ms(if n / 300 % 2 == 0 { 20 } else { 120 });
            let need = base + Micros::from_ms(if n % 180 == 90 { 70 } else { 0 });
            let fails = need > base + margin.margin();
            failed += u64::from(fails && n > 30 * 600);
            margin.observe(now, base, need, fails);
        }
        // Of the 500 in 50 minutes, one in ten seconds may fail.
        assert!(failed <= 310, "{failed} of 500 needs were not met");
    }

    #[test]
    fn a_margin_that_is_not_needed_goes_but_not_in_a_silence() {
        let mut margin = after(&[60, 9, 9, 9, 9, 9, 9, 9], 10);
        let before = margin.margin();
        let needs_ms = |ms: i64| Micros::from_ms(ms);
        margin.observe(LocalTime(3_600_000_000), needs_ms(10), needs_ms(10), false);
        assert_eq!(before - margin.margin(), Micros(1200));
        for n in 0..1230 {
            let now = LocalTime(3_600_000_000 + n * 33_333);
            margin.observe(now, needs_ms(10), needs_ms(9), false);
            // Time lowers it slowly, until the worst remembered requirement is forgotten.
            let ms = margin.margin().as_ms();
            assert!(n > 700 || ms > 20.0, "{ms} ms after {n}");
        }
        assert!(margin.margin() < BOUNDS.step(), "{}", margin.margin());
    }
}
