//! Cues: each game has one list, from which sound, particles, screen shake and rumble follow.
//!
//! A view reports that something happened at a place, with a cue of its list ([`Cues::emit`]), or
//! that something goes on ([`Cues::sustain`]). Views find events by comparing states, so a view
//! must also make sure that a predicted event is not reported again when the server confirms it.

use std::cell::{Cell, RefCell};

use egui_macroquad::egui::Color32;
use glam::Vec2;
use phaselock_sound::mixer::Order;
use phaselock_sound::patch::Sound;
use phaselock_sound::place::Placed;

use super::camera::Camera;
use super::camera_rig::CameraRig;
use super::particles::{Flash, Particles, Sparks};

pub mod common;

/// Maximum number of cues per frame, and of continuous sounds: more than a player could tell apart.
const EACH_MAX: usize = 64;

/// What follows from an event: sound, particles, shake and rumble.
#[derive(Clone, Copy, Debug)]
pub struct Cue {
    /// Name: lower-case words with hyphens.
    pub name: &'static str,
    /// The sound.
    pub sound: Option<&'static Sound>,
    /// Particles at the event's place, besides those that only the view can describe.
    pub sparks: &'static [Spark],
    /// Shake of the camera, 0 to 1, for a player who feels it.
    pub shake: f32,
    /// Rumble of the gamepad, for a player who feels it.
    pub rumble: CueRumble,
}

impl Cue {
    /// An empty cue to start from.
    pub const NONE: Self =
        Self { name: "", sound: None, sparks: &[], shake: 0.0, rumble: CueRumble::NONE };
}

/// Rumble of the player's gamepad.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CueRumble {
    /// Strength, 0 to 1.
    pub strength: f32,
    /// Length in seconds.
    pub secs: f32,
}

impl CueRumble {
    /// No rumble.
    pub const NONE: Self = Self { strength: 0.0, secs: 0.0 };
}

/// Particles of a cue: sizes in metres, speeds in metres per second, lifetimes in seconds. Without
/// a colour of their own, they take the event's.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "named as the arguments in `Particles`")]
pub enum Spark {
    /// See [`Particles::ring`].
    Ring { from: f32, to: f32, secs: f32, color: Option<Color32> },
    /// See [`Particles::burst`].
    Burst { count: usize, speed: f32, secs: f32, color: Option<Color32> },
    /// See [`Particles::spray`]; along the event's direction.
    Spray { count: usize, speed: f32, secs: f32, color: Option<Color32> },
    /// See [`Particles::flash`]; all around.
    Flash { size: f32, longer: f32, color: Option<Color32> },
    /// See [`Particles::explosion`].
    Explosion { radius: f32 },
}

/// An event at a place in the picture.
#[derive(Clone, Copy, Debug)]
pub struct Happening {
    /// Place in the picture, in metres.
    pub at: Vec2,
    /// Direction of sprays; zero for all around.
    pub along: Vec2,
    /// Colour of particles.
    pub color: Color32,
    /// Volume, 0 to 1.
    pub loud: f32,
    /// Multiple of the sound's pitch.
    pub pitch: f32,
    /// Share of the shake and rumble that the player feels, 0 to 1.
    pub felt: f32,
}

impl Happening {
    /// Creates an event at full volume that is not felt.
    pub fn at(at: Vec2, color: Color32) -> Self {
        Self { at, along: Vec2::ZERO, color, loud: 1.0, pitch: 1.0, felt: 0.0 }
    }

    /// Makes the event felt if it is the player's own.
    #[must_use]
    pub fn felt_if(self, own: bool) -> Self {
        Self { felt: if own { 1.0 } else { 0.0 }, ..self }
    }
}

/// A cue that was emitted.
#[derive(Clone, Copy, Debug)]
pub struct Emitted {
    /// The cue.
    pub cue: &'static Cue,
    /// Place in the picture; `None` for a sound heard in the middle.
    pub at: Option<Vec2>,
    /// Volume, 0 to 1.
    pub loud: f32,
    /// Multiple of the sound's pitch.
    pub pitch: f32,
}

/// A continuous sound of this frame.
#[derive(Clone, Copy, Debug)]
pub struct ContinuousSound {
    /// Key that identifies this sound among those of the picture.
    pub key: u64,
    /// The sound.
    pub sound: &'static Sound,
    /// Place in the picture; `None` for a sound heard in the middle.
    pub at: Option<Vec2>,
    /// Volume, 0 to 1.
    pub loud: f32,
    /// Multiple of the sound's pitch.
    pub pitch: f32,
}

/// Cues of a frame, on their way to sound and rumble.
#[derive(Debug, Default)]
pub struct Cues {
    emitted: RefCell<Vec<Emitted>>,
    continuous: RefCell<Vec<ContinuousSound>>,
    rumbles: RefCell<Vec<CueRumble>>,
    /// Point of the picture in the middle, and half of the visible width, in metres.
    ears: Cell<(Vec2, f32)>,
}

impl Cues {
    /// Puts the listener in the middle of the camera's picture.
    pub fn listen(&self, camera: &Camera) {
        self.ears.set((camera.middle, camera.half().x.abs()));
    }

    /// Reports an event: its sound, particles, shake and rumble follow.
    pub fn emit(
        &self,
        cue: &'static Cue,
        it: Happening,
        particles: &mut Particles,
        rig: &mut CameraRig,
    ) {
        for spark in cue.sparks {
            spark.add(particles, &it);
        }
        rig.shake(cue.shake * it.felt);
        self.feel(cue, it.felt);
        self.push(Emitted { cue, at: Some(it.at), loud: it.loud, pitch: it.pitch });
    }

    /// Reports an event that has only a sound, heard in the middle.
    pub fn play(&self, cue: &'static Cue) {
        self.feel(cue, 1.0);
        self.push(Emitted { cue, at: None, loud: 1.0, pitch: 1.0 });
    }

    /// Plays a continuous sound for as long as it is reported in every frame.
    pub fn sustain(&self, sound: ContinuousSound) {
        let mut list = self.continuous.borrow_mut();
        if list.len() < EACH_MAX {
            list.push(sound);
        }
    }

    /// Takes the player's rumbles since the last call.
    pub fn take_rumbles(&self) -> Vec<CueRumble> {
        self.rumbles.take()
    }

    /// Takes the cues since the last call.
    pub fn take(&self) -> Vec<Emitted> {
        self.emitted.take()
    }

    /// Returns the cues that have not been taken yet.
    pub fn waiting(&self) -> Vec<Emitted> {
        self.emitted.borrow().clone()
    }

    /// Takes the cues and continuous sounds since the last call as orders to a mixer.
    pub fn take_orders(&self) -> impl Iterator<Item = Order> {
        let (middle, half) = self.ears.get();
        let place = move |at: Option<Vec2>| {
            at.map_or(Placed::MIDDLE, |at| Placed::at((at - middle).to_array(), half))
        };
        let played = self.take().into_iter().filter_map(move |it| {
            let (sound, placed) = (it.cue.sound?, place(it.at).times(it.loud));
            Some(Order::Play { sound, placed, pitch: it.pitch, delay: 0.0 })
        });
        let kept = self.continuous.take().into_iter().map(
            move |ContinuousSound { key, sound, at, loud, pitch }| Order::Keep {
                key,
                sound,
                placed: place(at).times(loud),
                pitch,
            },
        );
        played.chain(kept)
    }

    fn feel(&self, cue: &Cue, felt: f32) {
        let CueRumble { strength, secs } = cue.rumble;
        let mut rumbles = self.rumbles.borrow_mut();
        if strength * felt > 0.0 && rumbles.len() < EACH_MAX {
            rumbles.push(CueRumble { strength: (strength * felt).min(1.0), secs });
        }
    }

    fn push(&self, emitted: Emitted) {
        let mut list = self.emitted.borrow_mut();
        if list.len() < EACH_MAX {
            list.push(emitted);
        }
    }
}

impl Spark {
    fn add(self, particles: &mut Particles, it: &Happening) {
        let ink = |color: Option<Color32>| color.unwrap_or(it.color);
        match self {
            Self::Ring { from, to, secs, color } => {
                particles.ring(it.at, (from, to), ink(color), secs);
            }
            Self::Burst { count, speed, secs, color } => {
                particles.burst(it.at, Sparks { count, speed, life: secs, color: ink(color) });
            }
            Self::Spray { count, speed, secs, color } => {
                particles.spray(
                    it.at,
                    it.along,
                    Sparks { count, speed, life: secs, color: ink(color) },
                );
            }
            Self::Flash { size, longer, color } => {
                particles.flash(it.at, Vec2::ZERO, Flash { size, longer, color: ink(color) });
            }
            Self::Explosion { radius } => particles.explosion(it.at, radius, it.color),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cues::common::{CHAT, GO};

    const BLOW: Cue = Cue {
        name: "blow",
        shake: 0.5,
        rumble: CueRumble { strength: 0.8, secs: 0.2 },
        sound: GO.sound,
        ..Cue::NONE
    };

    #[test]
    fn one_event_is_heard_and_felt_and_no_more() {
        static CUE: Cue = BLOW;
        let cues = Cues::default();
        cues.ears.set((Vec2::ZERO, 10.0));
        let (mut particles, mut rig) = (Particles::default(), CameraRig::default());
        let it = Happening::at(Vec2::new(5.0, 0.0), Color32::WHITE);
        cues.emit(&CUE, it, &mut particles, &mut rig);
        assert_eq!(cues.take_rumbles(), [], "it belongs to another player");
        cues.emit(&CUE, Happening { felt: 0.5, ..it }, &mut particles, &mut rig);
        assert_eq!(cues.take_rumbles(), [CueRumble { strength: 0.4, secs: 0.2 }]);
        let orders: Vec<_> = cues.take_orders().collect();
        let Order::Play { placed, .. } = orders[0] else { panic!("{orders:?}") };
        assert!(orders.len() == 2 && placed.pan > 0.3 && placed.gain < 1.0);
        assert_eq!(cues.take_orders().count(), 0);
    }

    #[test]
    fn cues_of_a_frame_are_bounded() {
        let cues = Cues::default();
        for _ in 0..1000 {
            cues.play(&CHAT);
            let kept =
                ContinuousSound { key: 1, sound: &Sound::DRONE, at: None, loud: 1.0, pitch: 1.0 };
            cues.sustain(kept);
        }
        assert_eq!(cues.take_orders().count(), 2 * EACH_MAX);
    }
}
