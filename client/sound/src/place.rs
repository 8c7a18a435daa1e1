//! Gain and direction of a sound from its position.

/// Maximum pan of a sound, 0 to 1: complete silence in one ear is unpleasant with headphones.
const PAN_MAX: f32 = 0.8;
/// Cut-off in hertz of a sound next to the listener, and of one at the edge of hearing: air absorbs
/// high frequencies.
const OPEN_HZ: f32 = 18_000.0;
const FAR_HZ: f32 = 1_800.0;

/// Gain and direction of a sound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placed {
    /// Gain, 0 to 1.
    pub gain: f32,
    /// -1 left, 0 in the middle, 1 right.
    pub pan: f32,
    /// Cut-off of a low-pass filter in hertz.
    pub cut_off: f32,
}

impl Placed {
    /// In the middle, at full gain.
    pub const MIDDLE: Self = Self { gain: 1.0, pan: 0.0, cut_off: OPEN_HZ };

    /// A sound at an offset from the listener: `x` to the right and `y` down, in metres. `half` is
    /// half of the width that the listener sees. At the picture's edge the sound has half its gain,
    /// and beyond three times that distance it is silent. A listener without a position (`half` is
    /// 0) hears it in the middle.
    pub fn at([x, y]: [f32; 2], half: f32) -> Self {
        if half <= 0.0 || !(x.is_finite() && y.is_finite()) {
            return Self::MIDDLE;
        }
        let far = (x * x + y * y).sqrt() / half;
        let fall = 1.0 / (1.0 + far * far);
        let end = ((3.0 - far) / 1.5).clamp(0.0, 1.0);
        let near = (1.0 - far / 3.0).clamp(0.0, 1.0);
        Self {
            gain: fall * end,
            pan: (x / half).clamp(-1.0, 1.0) * PAN_MAX,
            cut_off: FAR_HZ * (OPEN_HZ / FAR_HZ).powf(near),
        }
    }

    /// Multiplies the gain.
    #[must_use]
    pub fn times(self, gain: f32) -> Self {
        Self { gain: self.gain * gain, ..self }
    }

    /// Gains of the left and the right ear, with equal power for each direction.
    pub fn ears(self) -> [f32; 2] {
        let turn = (self.pan.clamp(-1.0, 1.0) + 1.0) * std::f32::consts::FRAC_PI_4;
        [turn.cos() * self.gain, turn.sin() * self.gain]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sound_is_softer_and_duller_afar_and_on_its_side() {
        let (here, edge) = (Placed::at([0.0, 0.0], 10.0), Placed::at([10.0, 0.0], 10.0));
        assert_eq!((here.gain, here.pan), (1.0, 0.0));
        assert!((edge.gain - 0.5).abs() < 1e-6 && edge.cut_off < here.cut_off);
        let [left, right] = edge.ears();
        assert!(right > 3.0 * left && left > 0.0);
        assert_eq!(Placed::at([0.0, -31.0], 10.0).gain, 0.0);
        let [left, right] = Placed::MIDDLE.ears();
        assert!((left * left + right * right - 1.0).abs() < 1e-6);
        assert_eq!(Placed::at([f32::NAN, 0.0], 10.0), Placed::MIDDLE);
    }
}
