//! Sounds as constants: oscillators, envelopes, sweeps, filters, and notes.

/// Maximum number of layers of a sound.
pub const LAYERS_MAX: usize = 5;
/// Maximum number of notes of a tune.
pub const NOTES_MAX: usize = 16;

/// A sound: up to [`LAYERS_MAX`] layers that start together, once or for each note.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sound {
    /// Layers of the sound.
    pub layers: &'static [Layer],
    /// Notes of a tune; empty for a sound that is played once.
    pub notes: &'static [Note],
    /// Channel that sets its volume.
    pub channel: Channel,
    /// Gain, 0 to 1.
    pub gain: f32,
    /// Random change of pitch at each play, in semitones up or down.
    pub vary: f32,
    /// Maximum number that play at once; the oldest makes way.
    pub at_most: u8,
    /// Rank: when there are too many voices, those of a lower rank go first.
    pub rank: u8,
}

/// An oscillator or noise, with envelope and filter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layer {
    /// Waveform.
    pub wave: Wave,
    /// Frequency in hertz; noise has none.
    pub hz: Sweep,
    /// Level over time.
    pub envelope: Envelope,
    /// Filter.
    pub filter: LayerFilter,
    /// Gain, 0 to 1.
    pub gain: f32,
    /// Second oscillator, which modulates the phase of a sine.
    pub bend: Bend,
    /// Tremolo of the level.
    pub tremble: Tremble,
}

/// Waveform of an oscillator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wave {
    /// Sine.
    Sine,
    /// Triangle.
    Triangle,
    /// Sawtooth.
    Saw,
    /// Pulse that is high for this share of its period.
    Pulse(f32),
    /// White noise.
    Noise,
}

/// A value that glides from one to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sweep {
    /// Value at the beginning.
    pub from: f32,
    /// Value at the end.
    pub to: f32,
    /// Half-life of the remaining way, in seconds.
    pub half_secs: f32,
}

/// Level over time: a soft attack, a hold, and an exponential decay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Envelope {
    /// Seconds of silence before the attack.
    pub delay: f32,
    /// Seconds of the attack.
    pub attack: f32,
    /// Seconds at full level; infinite for a continuous sound.
    pub hold: f32,
    /// Half-life of the level after that, in seconds.
    pub half_secs: f32,
}

/// A second-order filter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LayerFilter {
    /// None.
    Open,
    /// Low-pass: cut-off in hertz, and resonance from 0 to 1.
    Low(Sweep, f32),
    /// High-pass: cut-off in hertz, and resonance from 0 to 1.
    High(Sweep, f32),
    /// Band-pass: centre in hertz, and resonance from 0 to 1.
    Band(Sweep, f32),
}

/// Phase modulation of a sine, for bells and metal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bend {
    /// Frequency as a multiple of the sine's.
    pub ratio: f32,
    /// Depth in turns at the start; 0 for none.
    pub depth: f32,
    /// Half-life of the depth, in seconds.
    pub half_secs: f32,
}

/// Tremolo: a periodic change of the level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tremble {
    /// Frequency in hertz.
    pub hz: f32,
    /// Depth, 0 to 1.
    pub depth: f32,
}

/// A note of a tune.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Note {
    /// Seconds after the start.
    pub at: f32,
    /// Semitones above the sound's own pitch.
    pub semitones: f32,
    /// Gain, 0 to 1.
    pub gain: f32,
}

/// Kinds of sounds, each with its own volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// The world.
    Effects,
    /// Short musical cues.
    Music,
    /// The window's own clicks.
    Interface,
}

impl Channel {
    /// Number of channels.
    pub const COUNT: usize = 3;
}

impl Sound {
    /// An effect without layers to start from.
    pub const EFFECT: Self = Self {
        layers: &[],
        notes: &[],
        channel: Channel::Effects,
        gain: 1.0,
        vary: 0.6,
        at_most: 6,
        rank: 1,
    };
    /// A musical cue without layers to start from.
    pub const CUE: Self =
        Self { channel: Channel::Music, vary: 0.0, at_most: 1, rank: 3, ..Self::EFFECT };
    /// An interface sound without layers to start from.
    pub const INTERFACE: Self =
        Self { channel: Channel::Interface, vary: 0.0, at_most: 2, rank: 2, ..Self::EFFECT };
    /// A continuous sound without layers to start from.
    pub const DRONE: Self = Self { vary: 0.0, rank: 2, ..Self::EFFECT };

    /// Seconds until the sound ends; infinite for a continuous one.
    pub fn secs(&self) -> f32 {
        let layer = self.layers.iter().map(|layer| layer.envelope.secs()).fold(0.0, f32::max);
        self.notes.iter().map(|note| note.at).fold(0.0, f32::max) + layer
    }
}

impl Layer {
    /// A sine of 440 Hz.
    pub const SINE: Self = Self {
        wave: Wave::Sine,
        hz: Sweep::still(440.0),
        envelope: Envelope::struck(0.003, 0.08),
        filter: LayerFilter::Open,
        gain: 1.0,
        bend: Bend { ratio: 1.0, depth: 0.0, half_secs: 1.0 },
        tremble: Tremble { hz: 0.0, depth: 0.0 },
    };
    /// White noise.
    pub const NOISE: Self = Self { wave: Wave::Noise, ..Self::SINE };
    /// A triangle.
    pub const TRIANGLE: Self = Self { wave: Wave::Triangle, ..Self::SINE };
    /// A sawtooth.
    pub const SAW: Self = Self { wave: Wave::Saw, ..Self::SINE };
    /// A square.
    pub const SQUARE: Self = Self { wave: Wave::Pulse(0.5), ..Self::SINE };
}

impl Sweep {
    /// A constant value.
    pub const fn still(value: f32) -> Self {
        Self { from: value, to: value, half_secs: 1.0 }
    }

    /// A glide, with its half-life in seconds.
    pub const fn glide(from: f32, to: f32, half_secs: f32) -> Self {
        Self { from, to, half_secs }
    }

    /// The value after `secs` seconds.
    pub fn at(self, secs: f32) -> f32 {
        self.to + (self.from - self.to) * (-secs / self.half_secs.max(1e-4)).exp2()
    }
}

impl Envelope {
    /// Share of the level at which a sound has ended: 66 dB below its peak.
    pub const OVER: f32 = 0.0005;

    /// An attack and a decay, with the seconds of the attack and the half-life of the decay.
    pub const fn struck(attack: f32, half_secs: f32) -> Self {
        Self { delay: 0.0, attack, hold: 0.0, half_secs }
    }

    /// An attack, a hold and a decay.
    pub const fn held(attack: f32, hold: f32, half_secs: f32) -> Self {
        Self { delay: 0.0, attack, hold, half_secs }
    }

    /// A level that stays until the voice is released.
    pub const fn steady(attack: f32) -> Self {
        Self { delay: 0.0, attack, hold: f32::INFINITY, half_secs: 1.0 }
    }

    /// Delays it by a number of seconds.
    #[must_use]
    pub const fn after(self, delay: f32) -> Self {
        Self { delay, ..self }
    }

    /// Level after `secs` seconds.
    pub fn at(self, secs: f32) -> f32 {
        let secs = secs - self.delay;
        if secs < 0.0 {
            return 0.0;
        }
        if secs < self.attack {
            let part = secs / self.attack;
            return part * part * (3.0 - 2.0 * part);
        }
        let fall = secs - self.attack - self.hold;
        if fall <= 0.0 { 1.0 } else { (-fall / self.half_secs.max(1e-4)).exp2() }
    }

    /// Seconds until it has ended.
    pub fn secs(self) -> f32 {
        let halves = -Self::OVER.log2();
        self.delay + self.attack + self.hold + halves * self.half_secs.max(1e-4)
    }
}

/// A note at a time in seconds, `semitones` higher, at full gain.
pub const fn note(at: f32, semitones: f32) -> Note {
    Note { at, semitones, gain: 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn envelope_rises_holds_and_falls_by_halves() {
        let envelope = Envelope::held(0.1, 0.2, 0.05).after(0.5);
        let levels = [0.4, 0.55, 0.6, 0.79, 0.85].map(|secs| envelope.at(secs));
        let wanted = [0.0, 0.5, 1.0, 1.0, 0.5];
        for (level, wanted) in levels.into_iter().zip(wanted) {
            assert!((level - wanted).abs() < 1e-3, "{levels:?}");
        }
        assert!(envelope.at(envelope.secs()) <= Envelope::OVER * 1.01);
        assert_eq!(Envelope::steady(0.1).secs(), f32::INFINITY);
    }

    #[test]
    fn sweep_goes_half_the_way_in_its_half_life() {
        let sweep = Sweep::glide(100.0, 300.0, 0.2);
        assert_eq!([sweep.at(0.0), sweep.at(0.2)], [100.0, 200.0]);
        assert_eq!(Sweep::still(5.0).at(9.0), 5.0);
    }
}
