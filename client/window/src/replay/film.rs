//! Export of a part of a recording as pictures and sound, frame by frame in virtual time.

use phaselock::time::{Micros, Tick};
use phaselock_sound::mixer::{Mixer, Order};
use phaselock_sound::{SAMPLE_RATE, Stereo};
use phaselock_ui::screenshot::Picture;
use phaselock_ui::words::{fill, tr};

/// The maximum number of frames of an export: ten minutes at 60 a second. Arbitrary.
const FRAMES_MAX: u64 = 36_000;
/// Seed of the sounds' pitch variations; any will do.
const SEED: u32 = 7;
const SECOND: u64 = 1_000_000;

/// What an export consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FilmFormat {
    /// Number of frames.
    pub(crate) frames: u32,
    /// Frames per second; at least 1.
    pub(crate) fps: u32,
}

impl FilmFormat {
    /// Number of frames of sound until the picture of this number ends.
    pub(crate) fn sound_until(self, frames: u32) -> usize {
        (u64::from(frames) * u64::from(SAMPLE_RATE) / u64::from(self.fps)) as usize
    }

    /// Returns the time of a picture, from the first one.
    fn time_of(self, frame: u32) -> Micros {
        Micros((u64::from(frame) * SECOND / u64::from(self.fps)) as i64)
    }
}

/// Takes the pictures and the sound of an export, in order. If it is dropped before the last one,
/// it removes what it wrote.
pub(crate) trait Film {
    /// Takes a picture, and the sound until the next one. Errors are in words for the player.
    fn add(&mut self, picture: Picture, sound: Vec<Stereo>) -> Result<(), String>;

    /// Ends after the last picture. Returns where the export is.
    fn finish(self: Box<Self>) -> Result<String, String>;
}

/// Opens the place for an export.
pub(crate) type OpenFilm = Box<dyn FnOnce(FilmFormat) -> Result<Box<dyn Film>, String>>;

/// A part of a recording, and how many pictures a second it gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    pub(crate) from: Tick,
    pub(crate) to: Tick,
    /// At least 1.
    pub(crate) fps: u32,
}

impl Cut {
    /// Returns the format of a part of this length.
    ///
    /// # Errors
    ///
    /// It is empty or too long, in words for the player.
    pub(crate) fn format(self, length: Micros) -> Result<FilmFormat, String> {
        let frames = length.0.max(0).unsigned_abs().saturating_mul(u64::from(self.fps));
        let frames = frames.div_ceil(SECOND);
        if frames == 0 {
            return Err(tr("The clip must end after its start.").to_owned());
        }
        if frames > FRAMES_MAX {
            let most = (FRAMES_MAX / u64::from(self.fps)).to_string();
            return Err(fill(
                "Up to {seconds} s can be exported at this rate.",
                &[("seconds", &most)],
            ));
        }
        Ok(FilmFormat { frames: frames as u32, fps: self.fps })
    }
}

/// An export that is under way.
pub(super) struct Filming {
    film: Box<dyn Film>,
    format: FilmFormat,
    mixer: Mixer,
    /// Number of pictures taken.
    frame: u32,
    /// Whether the time of the next picture has been reached.
    is_reached: bool,
}

impl Filming {
    pub(super) fn new(film: Box<dyn Film>, format: FilmFormat) -> Self {
        Self { film, format, mixer: Mixer::new(SEED), frame: 0, is_reached: true }
    }

    /// Returns the virtual time that passes before the next picture, once per picture.
    pub(super) fn step(&mut self) -> Micros {
        if std::mem::replace(&mut self.is_reached, true) {
            return Micros::ZERO;
        }
        self.format.time_of(self.frame) - self.format.time_of(self.frame.saturating_sub(1))
    }

    /// Seconds between two pictures.
    pub(super) fn secs(&self) -> f32 {
        1.0 / self.format.fps as f32
    }

    /// Takes the picture of this frame, and the sounds that begin with it. Returns whether it was
    /// the last one.
    pub(super) fn add(
        &mut self,
        picture: Picture,
        orders: impl Iterator<Item = Order>,
    ) -> Result<bool, String> {
        orders.for_each(|order| self.mixer.handle(order));
        let next = self.frame + 1;
        let length = self.format.sound_until(next) - self.format.sound_until(self.frame);
        let mut sound = vec![Stereo::default(); length];
        self.mixer.render(&mut sound);
        self.film.add(picture, sound)?;
        (self.frame, self.is_reached) = (next, false);
        Ok(next == self.format.frames)
    }

    pub(super) fn finish(self) -> Result<String, String> {
        self.film.finish()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use super::*;

    /// Number of pictures and of frames of sound in a film in memory.
    pub(in crate::replay) type Taken = Rc<RefCell<(u32, usize)>>;

    /// A film that only counts.
    pub(in crate::replay) struct Counter(pub(in crate::replay) Taken);

    impl Film for Counter {
        fn add(&mut self, _: Picture, sound: Vec<Stereo>) -> Result<(), String> {
            let mut taken = self.0.borrow_mut();
            *taken = (taken.0 + 1, taken.1 + sound.len());
            Ok(())
        }

        fn finish(self: Box<Self>) -> Result<String, String> {
            Ok("memory".into())
        }
    }

    pub(in crate::replay) fn picture() -> Picture {
        Picture { width: 1, height: 1, rgb: vec![0; 3] }
    }

    #[test]
    fn pictures_and_sound_are_as_long_as_the_cut_at_any_rate() {
        for fps in [1, 7, 20, 24, 60, 90] {
            let cut = Cut { from: Tick(0), to: Tick(1), fps };
            let format = cut.format(Micros::from_ms(3000)).expect("3 s");
            assert_eq!(format.frames, 3 * fps);
            let taken = Taken::default();
            let mut filming = Filming::new(Box::new(Counter(taken.clone())), format);
            let mut passed = Micros::ZERO;
            loop {
                passed += filming.step();
                assert_eq!(filming.step(), Micros::ZERO, "one step per picture");
                if filming.add(picture(), std::iter::empty()).expect("it counts") {
                    break;
                }
            }
            assert_eq!(*taken.borrow(), (3 * fps, 3 * SAMPLE_RATE as usize));
            assert_eq!(passed, format.time_of(3 * fps - 1), "the last picture has its own time");
        }
    }

    #[test]
    fn empty_and_endless_cuts_are_refused() {
        let cut = Cut { from: Tick(0), to: Tick(0), fps: 60 };
        assert!(cut.format(Micros::ZERO).is_err());
        assert!(cut.format(Micros(-5)).is_err());
        assert!(Cut { fps: 120, ..cut }.format(Micros(i64::MAX)).is_err());
        assert!(cut.format(Micros::from_ms(600_000)).is_ok());
        assert!(cut.format(Micros::from_ms(600_001)).is_err());
    }
}
