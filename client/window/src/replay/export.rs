//! The player's part in exports: which clip, and when each picture is taken.

use phaselock::time::{Micros, Tick};
use phaselock_sound::mixer::Order;
use phaselock_ui::screenshot::Picture;

use super::film::{Cut, Filming, OpenFilm};
use super::player::Player;

/// Pictures per second of a clip: smooth enough for a chat, and a third of the bytes of 60.
pub(crate) const CLIP_FPS: u32 = 20;

impl Player {
    /// Notes that clips can be saved on this machine.
    pub(crate) fn allow_films(&mut self) {
        self.can_film = true;
    }

    /// Begins a clip at the current tick; the second time, ends it, so that it will be saved.
    pub(super) fn mark_clip(&mut self) {
        if !self.can_film {
            return;
        }
        let now = self.playback.tick();
        match self.clip.take() {
            None => self.clip = Some(now),
            Some(before) => {
                self.cut = Some(Cut { from: before.min(now), to: before.max(now), fps: CLIP_FPS });
            }
        }
    }

    /// Takes the clip that the player wants to save.
    pub(crate) fn take_cut(&mut self) -> Option<Cut> {
        self.cut.take()
    }

    /// Returns the part between two times since the start. By default, it begins at the start and
    /// ends at the end.
    #[cfg_attr(target_arch = "wasm32", allow(dead_code, reason = "a page has no command line"))]
    pub(crate) fn cut(&self, from: Option<Micros>, to: Option<Micros>, fps: u32) -> Cut {
        let (first, last) = self.playback.span();
        let at = |time| first.plus(self.ticks(time)).min(last);
        Cut { from: from.map_or(first, at), to: to.map_or(last, at), fps }
    }

    /// Starts to export a part.
    ///
    /// # Errors
    ///
    /// The part is empty, too long or damaged, or its file cannot be opened. The text is for the
    /// player.
    pub(crate) fn begin_film(&mut self, cut: Cut, open: OpenFilm) -> Result<(), String> {
        let before = self.playback.tick();
        self.move_to(cut.from);
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        // The first picture may be a bit later, and playback takes no time for what was not
        // recorded.
        let ticks = self.playback.replay().ticks_between(self.playback.tick(), cut.to);
        let length = self.rates().time_of(Tick(ticks));
        let opened = cut.format(Micros(length.0)).and_then(|format| Ok((open(format)?, format)));
        match opened {
            Ok((film, format)) => self.filming = Some(Filming::new(film, format)),
            Err(why) => {
                self.move_to(before);
                return Err(why);
            }
        }
        self.paused = true;
        Ok(())
    }

    /// Returns the seconds between two pictures while a part is exported.
    pub(crate) fn film_secs(&self) -> Option<f32> {
        self.filming.as_ref().map(Filming::secs)
    }

    /// Takes a picture of the export, and the sounds that begin with it. Returns how the export
    /// ended, if it did.
    pub(crate) fn film(
        &mut self,
        picture: Picture,
        orders: impl Iterator<Item = Order>,
    ) -> Option<Result<String, String>> {
        let added = self.filming.as_mut()?.add(picture, orders);
        match added {
            Ok(false) => None,
            Ok(true) => Some(self.filming.take()?.finish()),
            Err(why) => {
                self.filming = None;
                Some(Err(why))
            }
        }
    }

    /// Cancels the export and removes what it wrote.
    pub(crate) fn cancel_film(&mut self) {
        self.filming = None;
    }
}
