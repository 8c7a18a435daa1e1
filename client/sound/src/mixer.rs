//! The mixer: turns orders into samples. It has no clock.

use super::limiter::Limiter;
use super::patch::{Channel, Sound};
use super::place::Placed;
use super::synth::{BLOCK, Noise};
use super::{SAMPLE_RATE, Stereo};

mod slot;

use slot::{ENDED_SECS, Slot};

/// Maximum number of voices: a busy battle has about twenty.
pub const VOICES_MAX: usize = 32;
/// Maximum number of voices that fade out because another one took their place.
pub const TAILS_MAX: usize = 8;
/// Seconds after which a continuous sound ends if it is not ordered again: a few frames.
const UNHEARD_SECS: f32 = 0.15;
/// Fade-out in seconds of a voice that makes way for another, and of a continuous one that ends.
const STOLEN_SECS: f32 = 0.005;
/// Half-life of the change to another volume, in seconds.
const VOLUME_SECS: f32 = 0.02;
/// Overall gain at full volume: a usual sound stays well below the limiter.
const HEADROOM: f32 = 0.5;
/// Maximum delay of a sound, in seconds.
const DELAY_SECS_MAX: f32 = 5.0;

/// An order to the mixer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Order {
    /// Plays a sound once.
    Play {
        /// The sound.
        sound: &'static Sound,
        /// Gain and direction.
        placed: Placed,
        /// Pitch factor.
        pitch: f32,
        /// Seconds until it starts.
        delay: f32,
    },
    /// Starts a continuous sound, or changes it. Repeat this in each frame: the sound fades 150 ms
    /// after the last order.
    Keep {
        /// Key that identifies this sound among all.
        key: u64,
        /// The sound.
        sound: &'static Sound,
        /// Gain and direction.
        placed: Placed,
        /// Pitch factor.
        pitch: f32,
    },
    /// Sets the volumes.
    Volumes(Volumes),
    /// Ends all effects and cues with a short fade.
    Hush,
}

impl Order {
    /// Plays a sound once, now, at its own pitch.
    pub const fn play(sound: &'static Sound, placed: Placed) -> Self {
        Self::Play { sound, placed, pitch: 1.0, delay: 0.0 }
    }
}

/// The player's volumes, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Volumes {
    /// Master volume.
    pub master: f32,
    /// Volume of each [`Channel`].
    pub channels: [f32; Channel::COUNT],
}

impl Volumes {
    /// Full volume everywhere.
    pub const FULL: Self = Self { master: 1.0, channels: [1.0; Channel::COUNT] };
    /// Silence.
    pub const NONE: Self = Self { master: 0.0, ..Self::FULL };

    /// Gain of a channel: squared, because loudness is perceived in powers.
    fn gain(&self, channel: usize) -> f32 {
        let volume = self.master.clamp(0.0, 1.0) * self.channels[channel].clamp(0.0, 1.0);
        volume * volume * HEADROOM
    }
}

/// Voices, channels and the limiter.
#[derive(Clone, Debug)]
pub struct Mixer {
    voices: [Slot; VOICES_MAX],
    tails: [Slot; TAILS_MAX],
    volumes: Volumes,
    /// Gains of the channels, on their way to the volumes.
    gains: [f32; Channel::COUNT],
    limiter: Limiter,
    random: Noise,
    /// Number of sounds started so far: the age of a voice, and the seed of its noise.
    begun: u32,
}

impl Mixer {
    /// Creates a mixer at full volume. The seed varies pitches and noise.
    pub fn new(seed: u32) -> Self {
        Self {
            voices: [Slot::EMPTY; VOICES_MAX],
            tails: [Slot::EMPTY; TAILS_MAX],
            volumes: Volumes::FULL,
            gains: std::array::from_fn(|channel| Volumes::FULL.gain(channel)),
            limiter: Limiter::default(),
            random: Noise::new(seed),
            begun: seed,
        }
    }

    /// Carries out an order.
    pub fn handle(&mut self, order: Order) {
        match order {
            Order::Play { sound, placed, pitch, delay } => self.play(sound, placed, pitch, delay),
            Order::Keep { key, sound, placed, pitch } => self.keep(key, sound, placed, pitch),
            Order::Volumes(volumes) => self.volumes = volumes,
            Order::Hush => {
                let world = |slot: &&mut Slot| {
                    slot.sound.is_some_and(|it| it.channel != Channel::Interface)
                };
                self.voices.iter_mut().filter(world).for_each(|slot| slot.end(ENDED_SECS));
            }
        }
    }

    /// Number of voices playing or waiting; at most [`VOICES_MAX`].
    pub fn voices(&self) -> usize {
        self.voices.iter().filter(|slot| slot.sound.is_some()).count()
    }

    /// Renders the next frames.
    pub fn render(&mut self, frames: &mut [Stereo]) {
        for block in frames.chunks_mut(BLOCK) {
            block.fill([0.0; 2]);
            let secs = block.len() as f32 / SAMPLE_RATE as f32;
            let share = 1.0 - (-secs / VOLUME_SECS).exp2();
            let before = self.gains;
            for (channel, gain) in self.gains.iter_mut().enumerate() {
                *gain += (self.volumes.gain(channel) - *gain) * share;
            }
            for slot in self.voices.iter_mut().chain(&mut self.tails) {
                let Some(sound) = slot.sound else { continue };
                let channel = sound.channel as usize;
                slot.render(sound, [before[channel], self.gains[channel]], block);
            }
            for frame in block {
                *frame = self.limiter.limit(*frame);
            }
        }
    }

    fn play(&mut self, sound: &'static Sound, placed: Placed, pitch: f32, delay: f32) {
        let pitch = pitch * (sound.vary * self.random.sample() / 12.0).exp2();
        let valid = placed.gain.is_finite() && pitch.is_finite() && delay.is_finite();
        if !valid || placed.gain * sound.gain < 0.002 || sound.layers.is_empty() {
            return;
        }
        let once = [super::patch::note(0.0, 0.0)];
        let notes = if sound.notes.is_empty() { &once[..] } else { sound.notes };
        self.make_place_among_its_like(sound, notes.len());
        for note in notes {
            let secs = (delay + note.at).clamp(0.0, DELAY_SECS_MAX);
            let pitch = pitch * (note.semitones / 12.0).exp2();
            self.begun = self.begun.wrapping_add(1);
            let slot = Slot::new(sound, placed.times(note.gain), pitch, self.begun);
            self.begin(slot.after((secs * SAMPLE_RATE as f32) as u32));
        }
    }

    fn keep(&mut self, key: u64, sound: &'static Sound, placed: Placed, pitch: f32) {
        if !(placed.gain.is_finite() && pitch.is_finite()) {
            return;
        }
        let unheard = (UNHEARD_SECS * SAMPLE_RATE as f32) as u32;
        let known = |slot: &&mut Slot| slot.key == Some(key) && slot.is_like(sound) && slot.lives();
        if let Some(slot) = self.voices.iter_mut().find(known) {
            return slot.guide(placed, pitch, unheard);
        }
        let like = || self.voices.iter().filter(|slot| slot.is_like(sound) && slot.lives());
        let softest = like().map(Slot::gain).fold(f32::MAX, f32::min);
        let is_full = like().count() >= usize::from(sound.at_most);
        if placed.gain * sound.gain < 0.002 || (is_full && placed.gain * sound.gain <= softest) {
            return;
        }
        if is_full {
            let softest =
                |slot: &&mut Slot| slot.lives() && slot.is_like(sound) && slot.gain() <= softest;
            self.voices.iter_mut().filter(softest).take(1).for_each(|it| it.end(ENDED_SECS));
        }
        self.begun = self.begun.wrapping_add(1);
        let mut slot = Slot::new(sound, placed, pitch, self.begun);
        slot.key = Some(key);
        slot.guide(placed, pitch, unheard);
        self.begin(slot);
    }

    /// Ends the oldest voices of a sound until there is space for `count` more.
    fn make_place_among_its_like(&mut self, sound: &'static Sound, count: usize) {
        let most = usize::from(sound.at_most) * count;
        loop {
            let like =
                self.voices.iter_mut().filter(|slot| slot.is_like(sound) && !slot.is_ending());
            let (mut number, mut oldest) = (0, None::<&mut Slot>);
            for slot in like {
                number += 1;
                let younger = |it: &&mut Slot| it.born.wrapping_sub(slot.born) > u32::MAX / 2;
                if !oldest.as_ref().is_some_and(younger) {
                    oldest = Some(slot);
                }
            }
            match oldest.filter(|_| number + count > most) {
                Some(oldest) => oldest.end(STOLEN_SECS * 4.0),
                None => return,
            }
        }
    }

    /// Puts a voice into a free slot, or into that of the least important one.
    fn begin(&mut self, slot: Slot) {
        if let Some(free) = self.voices.iter_mut().find(|slot| slot.sound.is_none()) {
            *free = slot;
            return;
        }
        let least = self.voices.iter_mut().min_by(|a, b| a.weight().total_cmp(&b.weight()));
        let Some(least) = least.filter(|least| least.weight() <= slot.weight()) else { return };
        let mut tail = std::mem::replace(least, slot);
        tail.end(STOLEN_SECS);
        // The tail that is nearest to its end is the softest.
        let place = self.tails.iter_mut().min_by(|a, b| a.left().total_cmp(&b.left()));
        if let Some(place) = place {
            *place = tail;
        }
    }
}

#[cfg(test)]
mod tests;
