//! Sound for games: a synthesiser, a mixer, and a thread that feeds the sound device.
//!
//! ```text
//! patch (values) -> synth (a voice) -> mixer (voices, channels) -> limiter -> output (a device)
//! ```
//!
//! A [`Sound`] is a constant: [`patch::Layer`]s, plus notes if it is a tune. There are no sound
//! files and no samples. [`mixer::Mixer`] is a plain state machine: orders go in, samples come out.
//! [`output::SoundOutput`] plays a mixer on the default device, and is silent if there is none.
//!
//! ```
//! use phaselock_sound::mixer::{Mixer, Order};
//! use phaselock_sound::patch::{Envelope, Layer, Sound, Sweep};
//! use phaselock_sound::place::Placed;
//!
//! const BEEP: Sound = Sound {
//!     layers: &[Layer {
//!         hz: Sweep::still(440.0),
//!         envelope: Envelope::struck(0.005, 0.1),
//!         ..Layer::SINE
//!     }],
//!     ..Sound::EFFECT
//! };
//! let mut mixer = Mixer::new(1);
//! mixer.handle(Order::play(&BEEP, Placed::MIDDLE));
//! let mut frames = [[0.0; 2]; 480];
//! mixer.render(&mut frames);
//! assert!(frames.iter().any(|[left, right]| left.abs().max(right.abs()) > 0.05));
//! ```
//!
//! *Invariant:* rendering allocates nothing and waits for nothing, and all samples are within -1 to
//! 1.

#![cfg_attr(not(test), warn(clippy::too_many_lines, clippy::print_stderr))]

pub mod limiter;
pub mod mixer;
pub mod output;
pub mod patch;
pub mod place;
pub mod synth;
pub mod wav;

pub use patch::Sound;

/// Frames per second, a sample for each ear in each.
pub const SAMPLE_RATE: u32 = 48_000;

/// A sample for the left ear, and one for the right.
pub type Stereo = [f32; 2];
