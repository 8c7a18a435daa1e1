//! The limiter at the end: nothing clips, and quiet sounds pass unchanged.

use super::{SAMPLE_RATE, Stereo};

/// Level from which the sum is turned down.
const THRESHOLD: f32 = 0.7;
/// Half-life of the recovery from a lower gain, in seconds.
const RELEASE_SECS: f32 = 0.12;
/// Half-life of the change to a lower gain, in seconds: as fast as possible without crackling.
const ATTACK_SECS: f32 = 0.0015;

/// Turns the sum down when it is too loud, and bends the rest of a peak.
#[derive(Clone, Copy, Debug)]
pub struct Limiter {
    gain: f32,
    attack: f32,
    release: f32,
}

impl Default for Limiter {
    fn default() -> Self {
        let share = |half_secs: f32| 1.0 - (-1.0 / (half_secs * SAMPLE_RATE as f32)).exp2();
        Self { gain: 1.0, attack: share(ATTACK_SECS), release: share(RELEASE_SECS) }
    }
}

impl Limiter {
    /// Limits a frame.
    pub fn limit(&mut self, [left, right]: Stereo) -> Stereo {
        let peak = left.abs().max(right.abs());
        let wanted = if peak > THRESHOLD { THRESHOLD / peak } else { 1.0 };
        let share = if wanted < self.gain { self.attack } else { self.release };
        self.gain += (wanted - self.gain) * share;
        [bend(left * self.gain), bend(right * self.gain)]
    }
}

/// The sample itself up to the threshold, bent towards 1 beyond.
fn bend(sample: f32) -> f32 {
    let over = sample.abs() - THRESHOLD;
    if over <= 0.0 {
        return sample;
    }
    let room = 1.0 - THRESHOLD;
    (THRESHOLD + room * (over / room).tanh()).min(1.0).copysign(sample)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quiet_passes_as_it_is_and_loud_stays_within_one() {
        let mut limiter = Limiter::default();
        assert_eq!(limiter.limit([0.3, -0.6]), [0.3, -0.6]);
        let wave = |n: i32| 40.0 * (n as f32 * 0.05).sin();
        let loud: Vec<_> = (0..9600).map(|n| limiter.limit([wave(n), -wave(n)])).collect();
        assert!(loud.iter().flatten().all(|sample| sample.abs() <= 1.0));
        // Turned down, not cut off: at its end, it is about as loud as the threshold.
        let peak = loud[8000..].iter().flatten().fold(0.0_f32, |peak, it| peak.max(it.abs()));
        assert!((0.6..0.95).contains(&peak), "{peak}");
    }
}
