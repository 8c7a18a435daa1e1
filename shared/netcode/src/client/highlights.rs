//! Which highlight a client shows, and when.

use super::game::Client;
use crate::game::{Game, Highlight};
use crate::ids::PlayerId;
use crate::time::{Rates, ServerTime, Tick};

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
    /// Looks for a highlight in what `client` has received. Call it once per frame.
    pub fn find<G: Game>(&mut self, client: &Client<G>, viewer: PlayerId) -> Option<Highlight> {
        let before = self.found.filter(|found| found.viewer == viewer);
        let at = (client.newest_tick(), viewer);
        let find = G::KIT.highlight?;
        self.found = find(client.game(), client.store().latest(), at, before);
        self.found
    }

    /// Returns the server time to show of a highlight at a point of the player's own time. It never
    /// goes backwards. `None` if there is none to show now, or if it was skipped.
    pub fn time(
        &mut self,
        rates: Rates,
        highlight: Option<Highlight>,
        own_time: ServerTime,
    ) -> Option<ServerTime> {
        let key = |it: &Highlight| (it.viewer, it.tick);
        let before = self.shown.take();
        let highlight = highlight.filter(|it| self.skipped != Some(key(it)))?;
        let time = highlight.time(rates, own_time)?;
        let reached = before.filter(|(it, _)| key(it) == key(&highlight)).map(|(_, at)| at);
        let time = reached.map_or(time, |reached| time.max(reached));
        self.shown = Some((highlight, time));
        Some(time)
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
