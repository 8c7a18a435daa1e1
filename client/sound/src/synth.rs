//! A voice: the state of a playing sound.

use std::f32::consts::{PI, TAU};

use super::SAMPLE_RATE;
use super::patch::{Envelope, LAYERS_MAX, Layer, LayerFilter, Sound, Wave};

/// Number of frames between updates of envelopes, sweeps and volumes: two thirds of a millisecond.
pub const BLOCK: usize = 32;

/// Seconds of a sample.
const SAMPLE_SECS: f32 = 1.0 / SAMPLE_RATE as f32;
/// Maximum frequency and cut-off, in hertz.
const HZ_MAX: f32 = 18_000.0;

/// Seeded random numbers: xorshift.
#[derive(Clone, Copy, Debug)]
pub struct Noise(u32);

impl Noise {
    /// Creates a generator; each seed gives other numbers.
    pub fn new(seed: u32) -> Self {
        // The state must not be 0; the factor is Knuth's.
        Self(seed.wrapping_mul(2_654_435_761) | 1)
    }

    /// The next number, from -1 to 1.
    pub fn sample(&mut self) -> f32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        (self.0 >> 8) as f32 * (2.0 / 16_777_216.0) - 1.0
    }
}

/// A playing sound.
#[derive(Clone, Copy, Debug)]
pub struct Voice {
    layers: [Playing; LAYERS_MAX],
    /// Number of samples since it started.
    age: u64,
}

#[derive(Clone, Copy, Debug)]
struct Playing {
    /// Phases of the oscillator, of its modulator, and of the tremolo, in turns.
    phase: f32,
    bend: f32,
    tremble: f32,
    noise: Noise,
    /// State of the filter.
    filter: [f32; 2],
}

impl Voice {
    /// Creates a voice at its start.
    pub fn new(seed: u32) -> Self {
        let playing = |number: usize| Playing {
            phase: 0.0,
            bend: 0.0,
            tremble: 0.0,
            noise: Noise::new(seed ^ (number as u32) << 24),
            filter: [0.0; 2],
        };
        Self { layers: std::array::from_fn(playing), age: 0 }
    }

    /// Adds the next samples, at most [`BLOCK`], at a factor of the sound's pitch. Returns false
    /// when the sound has ended.
    pub fn render(&mut self, sound: &Sound, pitch: f32, out: &mut [f32]) -> bool {
        let begin = self.age as f32 * SAMPLE_SECS;
        let end = (self.age + out.len() as u64) as f32 * SAMPLE_SECS;
        self.age += out.len() as u64;
        let mut goes_on = false;
        for (layer, playing) in sound.layers.iter().zip(&mut self.layers) {
            let levels = [begin, end].map(|secs| layer.envelope.at(secs) * layer.gain);
            goes_on |= end < layer.envelope.secs();
            if levels[0].max(levels[1]) > Envelope::OVER * 0.5 {
                let secs = (begin - layer.envelope.delay).max(0.0);
                playing.render(layer, Stretch { levels, secs, pitch }, out);
            }
        }
        goes_on
    }
}

/// A stretch of a layer.
#[derive(Clone, Copy)]
struct Stretch {
    /// Levels at both ends of the stretch.
    levels: [f32; 2],
    /// Age of the layer where it begins.
    secs: f32,
    /// Multiple of the sound's pitch.
    pitch: f32,
}

impl Playing {
    fn render(&mut self, layer: &Layer, stretch: Stretch, out: &mut [f32]) {
        let Stretch { levels: [from, to], secs, pitch } = stretch;
        let step = (layer.hz.at(secs) * pitch).clamp(0.0, HZ_MAX) * SAMPLE_SECS;
        let depth = layer.bend.depth * (-secs / layer.bend.half_secs.max(1e-4)).exp2();
        let filter = Coefficients::of(layer.filter, secs, pitch);
        let slope = (to - from) / out.len() as f32;
        let (mut level, shake) = (from, layer.tremble.hz * SAMPLE_SECS);
        for sample in out {
            let mut wave = match layer.wave {
                Wave::Sine if depth > 1e-4 => sine(self.phase + depth * sine(self.bend)),
                Wave::Sine => sine(self.phase),
                Wave::Triangle => 4.0 * (self.phase - 0.5).abs() - 1.0,
                Wave::Saw => 2.0 * self.phase - 1.0 - round_edge(self.phase, step),
                Wave::Pulse(width) => {
                    let fall = (self.phase + 1.0 - width).fract();
                    let flat = if self.phase < width { 1.0 } else { -1.0 };
                    flat + round_edge(self.phase, step) - round_edge(fall, step)
                }
                Wave::Noise => self.noise.sample(),
            };
            self.phase = (self.phase + step).fract();
            self.bend = (self.bend + step * layer.bend.ratio).fract();
            if let Some(filter) = &filter {
                wave = filter.pass(wave, &mut self.filter);
            }
            if shake > 0.0 {
                self.tremble = (self.tremble + shake).fract();
                wave *= 1.0 - layer.tremble.depth * (0.5 + 0.5 * sine(self.tremble));
            }
            *sample += wave * level;
            level += slope;
        }
    }
}

/// Sine of a phase in turns; its error is below a thousandth.
fn sine(turns: f32) -> f32 {
    let x = turns - turns.floor();
    // Folded into the quarter turns around 0.
    let x = if x > 0.75 {
        x - 1.0
    } else if x > 0.25 {
        0.5 - x
    } else {
        x
    };
    let y = x * x;
    x * (TAU + y * (-41.341_7 + y * (81.605_25 + y * -76.705_86)))
}

/// Rounds the edge of a saw or a pulse, which would otherwise alias (polyBLEP).
fn round_edge(phase: f32, step: f32) -> f32 {
    if step <= 0.0 {
        0.0
    } else if phase < step {
        let t = phase / step;
        t + t - t * t - 1.0
    } else if phase > 1.0 - step {
        let t = (phase - 1.0) / step;
        t * t + t + t + 1.0
    } else {
        0.0
    }
}

/// A state variable filter, stable at any cut-off (Zavalishin, The Art of VA Filter Design).
struct Coefficients {
    damping: f32,
    a: [f32; 3],
    /// Shares of the input, of the band, and of the low frequencies.
    mix: [f32; 3],
}

impl Coefficients {
    fn of(filter: LayerFilter, secs: f32, pitch: f32) -> Option<Self> {
        let (sweep, resonance) = match filter {
            LayerFilter::Open => return None,
            LayerFilter::Low(sweep, it)
            | LayerFilter::High(sweep, it)
            | LayerFilter::Band(sweep, it) => (sweep, it),
        };
        let hz = (sweep.at(secs) * pitch).clamp(20.0, HZ_MAX);
        let g = (PI * hz * SAMPLE_SECS).tan();
        let damping = 2.0 - 1.92 * resonance.clamp(0.0, 1.0);
        let first = 1.0 / (1.0 + g * (g + damping));
        let mix = match filter {
            LayerFilter::High(..) => [1.0, -damping, -1.0],
            LayerFilter::Band(..) => [0.0, damping, 0.0],
            LayerFilter::Low(..) | LayerFilter::Open => [0.0, 0.0, 1.0],
        };
        Some(Self { damping, a: [first, g * first, g * g * first], mix })
    }

    fn pass(&self, input: f32, memory: &mut [f32; 2]) -> f32 {
        debug_assert!(self.damping > 0.0, "the filter would ring for ever");
        let rest = input - memory[1];
        let band = self.a[0] * memory[0] + self.a[1] * rest;
        let low = memory[1] + self.a[1] * memory[0] + self.a[2] * rest;
        *memory = [2.0 * band - memory[0], 2.0 * low - memory[1]];
        self.mix[0] * input + self.mix[1] * band + self.mix[2] * low
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patch::{Bend, Sweep};

    fn rendered(layer: Layer, secs: f32) -> Vec<f32> {
        let layers: &'static [Layer] = Box::leak(Box::new([layer]));
        let sound = Sound { layers, ..Sound::EFFECT };
        let mut voice = Voice::new(3);
        let mut all = Vec::new();
        while (all.len() as f32) < secs * SAMPLE_RATE as f32 {
            let mut block = [0.0; BLOCK];
            let goes_on = voice.render(&sound, 1.0, &mut block);
            all.extend(block);
            if !goes_on {
                break;
            }
        }
        all
    }

    fn steady(layer: Layer) -> Layer {
        Layer { envelope: Envelope::steady(0.01), ..layer }
    }

    /// Mean square.
    fn power(samples: &[f32]) -> f32 {
        samples.iter().map(|it| it * it).sum::<f32>() / samples.len() as f32
    }

    #[test]
    fn sine_is_a_sine_and_repeats_at_its_frequency() {
        let worst = (0..1000).map(|n| n as f32 / 500.0 - 1.0);
        let worst = worst.map(|x| (sine(x) - (x * 2.0 * PI).sin()).abs()).fold(0.0, f32::max);
        assert!(worst < 1e-3, "{worst}");
        let tone = rendered(steady(Layer { hz: Sweep::still(480.0), ..Layer::SINE }), 0.5);
        let rises = tone.windows(2).filter(|two| two[0] <= 0.0 && two[1] > 0.0).count();
        assert!((238..=242).contains(&rises), "{rises} periods in half a second");
        assert!((power(&tone[4800..]) - 0.5).abs() < 0.01);
    }

    #[test]
    fn filters_keep_what_they_are_named_for() {
        let noise = |filter| power(&rendered(steady(Layer { filter, ..Layer::NOISE }), 0.5));
        let cut = Sweep::still(2000.0);
        let (open, low) = (noise(LayerFilter::Open), noise(LayerFilter::Low(cut, 0.0)));
        let (high, band) = (noise(LayerFilter::High(cut, 0.0)), noise(LayerFilter::Band(cut, 0.8)));
        assert!(low < 0.2 * open && high > 0.6 * open && band < low, "{low} {high} {band} {open}");
    }

    #[test]
    fn voices_end_and_every_wave_is_bounded() {
        for wave in [Wave::Sine, Wave::Triangle, Wave::Saw, Wave::Pulse(0.2), Wave::Noise] {
            let bend = Bend { ratio: 1.5, depth: 0.4, half_secs: 0.1 };
            let layer = Layer { wave, bend, hz: Sweep::glide(9000.0, 60.0, 0.05), ..Layer::SINE };
            let samples = rendered(layer, 9.0);
            let secs = samples.len() as f32 * SAMPLE_SECS;
            assert!((secs - layer.envelope.secs()).abs() < 0.01, "{wave:?}: {secs}");
            assert!(samples.iter().all(|sample| sample.abs() < 1.3), "{wave:?}");
            assert!(samples.last().is_some_and(|last| last.abs() < 0.002), "{wave:?} clicks");
        }
    }

    #[test]
    fn noise_is_seeded_and_without_a_mean() {
        let first = |seed| Noise::new(seed).sample();
        assert_eq!(first(5).to_bits(), first(5).to_bits());
        assert_ne!(first(5).to_bits(), first(6).to_bits());
        let mut noise = Noise::new(1);
        let mean = (0..20_000).map(|_| noise.sample()).sum::<f32>() / 20_000.0;
        assert!(mean.abs() < 0.02, "{mean}");
    }
}
