//! Which highlight a client shows, and when.

use super::game::Client;
use super::picture::Picture;
use crate::game::{Game, Highlight};
use crate::ids::PlayerId;
use crate::time::{ServerTime, Tick};

/// The highlights of a client: each is shown once, and the player can skip it. A
/// [`Hindsight`](super::Hindsight) draws the picture.
#[derive(Debug, Default)]
pub struct Highlights {
    /// The game's highlight, as last found.
    found: Option<Highlight>,
    /// The highlight that was last shown, and the time that it has reached.
    shown: Option<(Highlight, ServerTime)>,
    /// Viewer and tick of the one that was skipped.
    skipped: Option<(PlayerId, Tick)>,
}

impl Highlights {
    /// Returns the highlight to show instead of `picture`, and the server time that it has reached,
    /// which never goes backwards. That is `first` if given, or else the one that the game's rules
    /// find in what `client` has received. Returns `None` if there is nothing to show now, or if
    /// the player skipped it. Call this once per frame.
    pub fn poll<G: Game>(
        &mut self,
        client: &Client<G>,
        picture: &Picture<G>,
        (viewer, first): (PlayerId, Option<Highlight>),
    ) -> Option<(Highlight, ServerTime)> {
        let found = self.find(client, viewer);
        let key = |it: &Highlight| (it.viewer, it.tick);
        let before = self.shown.take();
        let highlight = first.or(found).filter(|it| self.skipped != Some(key(it)))?;
        let time =
            highlight.time(client.rates(), picture.viewer_time(client.watching().is_some()))?;
        let reached = before.filter(|(it, _)| key(it) == key(&highlight)).map(|(_, at)| at);
        let time = reached.map_or(time, |reached| time.max(reached));
        self.shown = Some((highlight, time));
        self.shown
    }

    /// Looks for a highlight of the game.
    fn find<G: Game>(&mut self, client: &Client<G>, viewer: PlayerId) -> Option<Highlight> {
        let before = self.found.filter(|found| found.viewer == viewer);
        let at = (client.newest_tick(), viewer);
        let find = G::KIT.highlight?;
        self.found = find(client.game(), client.store().latest(), at, before);
        self.found
    }

    /// Whether a highlight was shown in the last frame.
    pub fn is_shown(&self) -> bool {
        self.shown.is_some()
    }

    /// Skips the highlight that is shown.
    pub fn skip(&mut self) {
        let shown = self.shown.take().map(|(it, _)| (it.viewer, it.tick));
        self.skipped = shown.or(self.skipped);
    }
}
