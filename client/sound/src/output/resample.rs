//! Converts frames to another rate than the mixer's, for devices that require one.

use crate::{SAMPLE_RATE, Stereo};

/// Interpolates linearly between the mixer's frames.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resampler {
    /// The mixer's frames per frame of the device.
    step: f32,
    /// Share of the way from the previous frame to the next one.
    part: f32,
    between: [Stereo; 2],
}

impl Resampler {
    pub(super) fn to(rate: u32) -> Self {
        let step = SAMPLE_RATE as f32 / rate.max(1) as f32;
        Self { step, part: 0.0, between: [[0.0; 2]; 2] }
    }

    /// The device's next frame; `next` returns the mixer's.
    pub(super) fn frame(&mut self, mut next: impl FnMut() -> Stereo) -> Stereo {
        self.part += self.step;
        while self.part >= 1.0 {
            self.part -= 1.0;
            self.between = [self.between[1], next()];
        }
        let [before, after] = self.between;
        std::array::from_fn(|ear| before[ear] + (after[ear] - before[ear]) * self.part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_at_another_rate_hears_the_same_wave() {
        let mut resampler = Resampler::to(44_100);
        let mut count = 0;
        let wave = |n: u32| (n as f32 * 0.02).sin();
        for n in 0..44_100_u32 {
            let frame = resampler.frame(|| {
                count += 1;
                [wave(count), 0.0]
            });
            // It is a frame late.
            let at = n as f32 * 48_000.0 / 44_100.0 + 48_000.0 / 44_100.0;
            assert!(n < 3 || (frame[0] - (at * 0.02).sin()).abs() < 0.03, "{n}");
        }
        assert!((47_990..=48_001).contains(&count), "{count}");
    }
}
