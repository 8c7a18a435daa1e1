//! A slot for a voice in the mixer.

use crate::patch::Sound;
use crate::place::Placed;
use crate::synth::{BLOCK, Voice};
use crate::{SAMPLE_RATE, Stereo};

pub(super) const ENDED_SECS: f32 = 0.08;

/// Share of the change to another gain, direction and pitch that is made per block: about 10 ms in
/// all.
const GUIDE_SHARE: f32 = 0.15;

/// A voice with its placement, or nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub(super) sound: Option<&'static Sound>,
    /// Key of a continuous sound.
    pub(super) key: Option<u64>,
    /// Number of the sound, in order of their starts.
    pub(super) born: u32,
    voice: Option<Voice>,
    pitch: f32,
    pitch_wanted: f32,
    ears: Stereo,
    ears_wanted: Stereo,
    /// Frames until it starts.
    wait: u32,
    /// Frames until a continuous sound ends, unless it is ordered again.
    unheard: Option<u32>,
    /// Level of the fade, 1 to 0, and its decrease per frame.
    level: f32,
    fade: f32,
    /// Low-pass filter for distance: its share, and its state.
    dull: (f32, f32),
    /// Peak sample of the last block; 1 before it started.
    peak: f32,
}

impl Slot {
    pub(super) const EMPTY: Self = Self {
        sound: None,
        key: None,
        born: 0,
        voice: None,
        pitch: 1.0,
        pitch_wanted: 1.0,
        ears: [0.0; 2],
        ears_wanted: [0.0; 2],
        wait: 0,
        unheard: None,
        level: 1.0,
        fade: 0.0,
        dull: (1.0, 0.0),
        peak: 1.0,
    };

    pub(super) fn new(sound: &'static Sound, placed: Placed, pitch: f32, born: u32) -> Self {
        let ears = placed.times(sound.gain).ears();
        Self {
            sound: Some(sound),
            voice: Some(Voice::new(born)),
            born,
            pitch,
            pitch_wanted: pitch,
            ears,
            ears_wanted: ears,
            dull: (dull(placed), 0.0),
            ..Self::EMPTY
        }
    }

    /// Starts it this many frames later.
    pub(super) fn after(self, wait: u32) -> Self {
        Self { wait, ..self }
    }

    /// Moves a continuous sound towards another placement and pitch.
    pub(super) fn guide(&mut self, placed: Placed, pitch: f32, unheard: u32) {
        let gain = self.sound.map_or(0.0, |sound| sound.gain);
        (self.ears_wanted, self.pitch_wanted) = (placed.times(gain).ears(), pitch);
        self.dull.0 = dull(placed);
        self.unheard = Some(unheard);
    }

    /// Starts a fade to silence.
    pub(super) fn end(&mut self, secs: f32) {
        if self.wait > 0 {
            *self = Self::EMPTY;
        } else {
            self.fade = self.fade.max(1.0 / (secs * SAMPLE_RATE as f32));
        }
    }

    pub(super) fn is_ending(&self) -> bool {
        self.fade > 0.0
    }

    pub(super) fn lives(&self) -> bool {
        self.sound.is_some() && !self.is_ending()
    }

    pub(super) fn is_like(&self, sound: &'static Sound) -> bool {
        self.sound.is_some_and(|own| std::ptr::eq(own, sound) || own == sound)
    }

    /// Remaining level of the fade; 0 for an empty slot.
    pub(super) fn left(&self) -> f32 {
        if self.sound.is_some() { self.level } else { 0.0 }
    }

    /// Requested gain.
    pub(super) fn gain(&self) -> f32 {
        let [left, right] = self.ears_wanted;
        left.hypot(right)
    }

    /// Importance: the sound's rank first, then its current gain.
    pub(super) fn weight(&self) -> f32 {
        let rank = self.sound.map_or(0.0, |sound| f32::from(sound.rank));
        let loud = (self.gain() * self.peak).min(1.0) * self.level;
        if self.is_ending() { loud } else { rank + loud }
    }

    /// Adds its next frames, at most a block, with its channel's gain at the start and at the end.
    pub(super) fn render(&mut self, sound: &Sound, gains: [f32; 2], block: &mut [Stereo]) {
        let count = block.len().min(BLOCK);
        let wait = (self.wait as usize).min(count);
        self.wait -= wait as u32;
        let block = &mut block[wait..count];
        let Some(voice) = self.voice.as_mut().filter(|_| !block.is_empty()) else { return };
        let mut mono = [0.0; BLOCK];
        let mono = &mut mono[..block.len()];
        let goes_on = voice.render(sound, self.pitch, mono);
        self.pitch += (self.pitch_wanted - self.pitch) * GUIDE_SHARE;
        let before = self.ears;
        for (ear, wanted) in self.ears.iter_mut().zip(self.ears_wanted) {
            *ear += (wanted - *ear) * GUIDE_SHARE;
        }
        let step = 1.0 / block.len() as f32;
        let (share, memory) = (self.dull.0, &mut self.dull.1);
        self.peak = 0.0;
        for (n, (sample, frame)) in mono.iter().zip(block).enumerate() {
            let part = n as f32 * step;
            *memory += (*sample - *memory) * share;
            self.peak = self.peak.max(memory.abs());
            let gain = gains[0] + (gains[1] - gains[0]) * part;
            let sample = *memory * gain * self.level;
            self.level = (self.level - self.fade).max(0.0);
            for (ear, out) in frame.iter_mut().enumerate() {
                *out += sample * (before[ear] + (self.ears[ear] - before[ear]) * part);
            }
        }
        if let Some(unheard) = &mut self.unheard {
            *unheard = unheard.saturating_sub(count as u32);
            if *unheard == 0 {
                self.end(ENDED_SECS);
            }
        }
        if !goes_on || self.level == 0.0 {
            *self = Self::EMPTY;
        }
    }
}

/// Share of a low pass of the first order.
fn dull(placed: Placed) -> f32 {
    let turn = std::f32::consts::TAU * placed.cut_off.clamp(20.0, 20_000.0) / SAMPLE_RATE as f32;
    1.0 - (-turn).exp()
}
