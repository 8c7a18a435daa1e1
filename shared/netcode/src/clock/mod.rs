//! The three clocks, as state machines that take the time as an argument.
//!
//! The server measures each client's clock ([`offset`]) and reports it in each snapshot. The client
//! locks an oscillator to that ([`pll`]): *server time*. *Prediction time* runs ahead by a lead
//! that makes inputs arrive just in time ([`lead`]); *presentation time* runs behind by a delay
//! that makes snapshots arrive just in time ([`delay`]).

pub mod delay;
pub mod lateness;
pub mod lead;
pub mod margin;
pub mod offset;
mod outage;
pub mod pll;

use std::collections::VecDeque;

use crate::time::{LocalTime, Micros};

/// Recent measurements, at most [`Window::LEN_MAX`].
#[derive(Clone, Debug)]
struct Window {
    span: Micros,
    /// The longest time without a measurement that counts.
    pause: Micros,
    /// Time of the measurements, which pauses when there are none, and of the last one.
    time: LocalTime,
    last: Option<LocalTime>,
    samples: VecDeque<(LocalTime, Micros)>,
    /// The values in ascending order.
    sorted: Vec<Micros>,
}

impl Window {
    /// Four seconds of the most frequent measurement, one per tick at 128 Hz.
    const LEN_MAX: usize = 512;

    /// Creates an empty window of length `span`.
    fn new(span: Micros) -> Self {
        Self::pausing(span, Micros(i64::MAX))
    }

    /// Creates an empty window whose time passes only while there are measurements: a longer time
    /// without one counts as `pause`. Otherwise the first ones after a silence would be a large
    /// part of all.
    fn pausing(span: Micros, pause: Micros) -> Self {
        let (time, last) = (LocalTime(0), None);
        Self { span, pause, time, last, samples: VecDeque::new(), sorted: Vec::new() }
    }

    /// Adds a measurement and removes those older than the span.
    fn push(&mut self, now: LocalTime, value: Micros) {
        let passed = now - self.last.replace(now).unwrap_or(now);
        self.time = self.time + passed.clamp(Micros::ZERO, self.pause);
        let now = self.time;
        while self.samples.len() >= Self::LEN_MAX
            || self.samples.front().is_some_and(|(at, _)| now - *at > self.span)
        {
            if let Some((_, gone)) = self.samples.pop_front()
                && let Ok(at) = self.sorted.binary_search(&gone)
            {
                self.sorted.remove(at);
            }
        }
        self.samples.push_back((now, value));
        self.sorted.insert(self.sorted.partition_point(|other| *other < value), value);
    }

    /// Returns the value that the fraction `part` of the measurements, 0 to 1, does not exceed.
    fn quantile(&self, part: f64) -> Option<Micros> {
        let last = self.sorted.len().checked_sub(1)?;
        let at = ((last as f64 * part).ceil() as usize).min(last);
        Some(self.sorted[at])
    }
}

/// Moves `value` towards `target`, by at most `up` or `down`.
fn slew(value: Micros, target: Micros, up: Micros, down: Micros) -> Micros {
    value + Micros((target - value).0.clamp(-down.0.max(0), up.0.max(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_forgets() {
        let mut window = Window::new(Micros(10));
        assert_eq!(window.quantile(1.0), None);
        for at in 0..30 {
            window.push(LocalTime(at), Micros(-at));
        }
        assert_eq!(window.samples.len(), 11);
        assert_eq!(window.quantile(1.0), Some(Micros(-19)));
        assert_eq!(window.quantile(0.0), Some(Micros(-29)));
        assert_eq!(window.quantile(0.5), Some(Micros(-24)));
        for _ in 0..10_000 {
            window.push(LocalTime(30), Micros(0));
        }
        assert_eq!(window.samples.len(), Window::LEN_MAX);
    }
}
