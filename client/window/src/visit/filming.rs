//! Exports of a recording that a visit shows.

use phaselock_sound::mixer::Order;
use phaselock_ui::screenshot::Picture;
use phaselock_ui::words::{fill, tr};

use super::{End, Next, Visit};
use crate::replay::{Cut, OpenFilm, Player};

impl Visit {
    /// Whether a part of the recording is being exported.
    pub(crate) fn is_filming(&mut self) -> bool {
        self.film_secs().is_some()
    }

    /// Returns the seconds that pass per picture while a part is exported.
    pub(crate) fn film_secs(&mut self) -> Option<f32> {
        self.connection.recording()?.film_secs()
    }

    /// Returns the name of the recording.
    pub(crate) fn title(&self) -> &str {
        &self.title
    }

    /// Lets the player save clips of a recording.
    pub(crate) fn allow_films(&mut self) {
        if let Some(player) = self.connection.recording() {
            player.allow_films();
        }
    }

    /// Takes the clip that the player wants to save.
    pub(crate) fn take_cut(&mut self) -> Option<Cut> {
        self.connection.recording()?.take_cut()
    }

    /// Starts to save a clip, and shows why if it cannot.
    pub(crate) fn save_clip(&mut self, cut: Cut, open: OpenFilm) {
        // What the program has said is not part of the recording.
        self.talk.clear();
        let begun = self.connection.recording().map(|player| player.begin_film(cut, open));
        if let Some(Err(why)) = begun {
            let now = self.now();
            self.talk.add_notice(&why, now);
        }
    }

    /// Starts the export that the command line asked for. The visit ends with it.
    ///
    /// # Errors
    ///
    /// It cannot start, in words for the player.
    #[cfg_attr(target_arch = "wasm32", allow(dead_code, reason = "a page has no command line"))]
    pub(crate) fn begin_export(
        &mut self,
        cut: impl FnOnce(&Player) -> Cut,
        open: OpenFilm,
    ) -> Result<(), String> {
        self.ends_with_film = true;
        match self.connection.recording() {
            Some(player) => player.begin_film(cut(player), open),
            None => Err(tr("Only recordings can be exported.").to_owned()),
        }
    }

    /// Whether the export that the command line asked for has not ended.
    pub(crate) fn is_exporting(&self) -> bool {
        self.ends_with_film
    }

    /// Takes a picture of the export, and the sounds that begin with it.
    pub(crate) fn film(&mut self, picture: Picture, orders: impl Iterator<Item = Order>) -> Next {
        let ended = self.connection.recording().and_then(|player| player.film(picture, orders));
        match ended {
            None => Next::Stay,
            Some(ended) if self.ends_with_film => Next::End(End::Filmed(ended)),
            Some(ended) => {
                let saved = |path: String| fill("Saved {file}.", &[("file", &path)]);
                let now = self.now();
                self.talk.add_notice(&ended.map_or_else(|why| why, saved), now);
                Next::Stay
            }
        }
    }

    /// Gives up the export.
    pub(super) fn cancel_film(&mut self) {
        if let Some(player) = self.connection.recording() {
            player.cancel_film();
        }
        let now = self.now();
        self.talk.add_notice(tr("The export was cancelled."), now);
    }

    /// Ends the visit if the export for which it began was cancelled.
    pub(super) fn cancelled(&mut self) -> Option<End> {
        let is_cancelled = self.ends_with_film && !self.is_filming();
        is_cancelled.then(|| End::Filmed(Err(tr("The export was cancelled.").to_owned())))
    }
}
