//! Layers that the games' sounds are made of. Sweeps are start, end and half-life in seconds;
//! envelopes are attack and half-life in seconds.

use phaselock_sound::patch::{Envelope, Layer, LayerFilter, Sweep};
use phaselock_ui::cues::{Cue, CueRumble};

type Glide = (f32, f32, f32);
type Struck = (f32, f32);

const fn sweep((from, to, half_secs): Glide) -> Sweep {
    Sweep { from, to, half_secs }
}

/// A gliding sine: thumps, drops, pings.
pub(super) const fn sine(hz: Glide, (attack, half): Struck, gain: f32) -> Layer {
    Layer { hz: sweep(hz), envelope: Envelope::struck(attack, half), gain, ..Layer::SINE }
}

/// A gliding triangle: rounder than a saw, brighter than a sine.
pub(super) const fn triangle(hz: Glide, struck: Struck, gain: f32) -> Layer {
    Layer { wave: Layer::TRIANGLE.wave, ..sine(hz, struck, gain) }
}

/// A saw behind a low-pass filter.
pub(super) const fn saw(hz: Glide, cut_off: Glide, struck: Struck, gain: f32) -> Layer {
    let filter = LayerFilter::Low(sweep(cut_off), 0.2);
    Layer { wave: Layer::SAW.wave, filter, ..sine(hz, struck, gain) }
}

/// Noise behind a gliding low-pass filter: explosions, dust.
pub(super) const fn hiss(cut_off: Glide, (attack, half): Struck, gain: f32) -> Layer {
    let (envelope, filter) =
        (Envelope::struck(attack, half), LayerFilter::Low(sweep(cut_off), 0.1));
    Layer { envelope, filter, gain, ..Layer::NOISE }
}

/// A gliding band of noise: whooshes, clicks, cracks.
pub(super) const fn band(middle: Glide, struck: Struck, gain: f32) -> Layer {
    let filter = LayerFilter::Band(sweep(middle), 0.55);
    Layer { filter, ..hiss((1.0, 1.0, 1.0), struck, gain) }
}

/// The layer, started later.
pub(super) const fn after(delay: f32, layer: Layer) -> Layer {
    Layer { envelope: layer.envelope.after(delay), ..layer }
}

/// The layer without an end, for continuous sounds.
pub(super) const fn steady(layer: Layer) -> Layer {
    Layer { envelope: Envelope::steady(0.06), ..layer }
}

/// A cue with only a name.
pub(super) const fn named(name: &'static str) -> Cue {
    Cue { name, ..Cue::NONE }
}

/// A rumble.
pub(super) const fn rumble(strength: f32, secs: f32) -> CueRumble {
    CueRumble { strength, secs }
}

/// A constant frequency or cut-off.
pub(super) const fn at(hz: f32) -> Glide {
    (hz, hz, 1.0)
}
