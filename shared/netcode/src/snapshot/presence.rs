//! The server's knowledge of one entity at one client.

use super::State;
use super::encodings::Source;
use super::frames::Frames;
use crate::game::Game;
use crate::limits::BASELINE_AGE_TICKS_MAX;
use crate::wire::state::Codec;

/// Presence of one entity at the client.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Presence {
    /// Snapshots of which the client acknowledged its state.
    pub(super) acked: Frames,
    /// Newest snapshot in which it was sent as present; none if the client knows that it is not.
    pub(super) there: Option<u64>,
    /// The word that it is gone is under way.
    pub(super) leaving: bool,
    /// Newest snapshot in which it was sent as gone or hidden.
    pub(super) away: Option<u64>,
}

/// Ticks after which an unchanged entity is sent again, so that there is always a baseline.
const REPEAT_TICKS: u64 = BASELINE_AGE_TICKS_MAX / 2;

impl Presence {
    /// Tells whether the newest state at the client is the present one, and stays so without
    /// another.
    pub(super) fn knows<G: Game>(
        &self,
        codec: &Codec<G>,
        source: &Source<'_, G>,
        index: u16,
        state: &State,
        own: bool,
    ) -> bool {
        if !codec.is_stepwise(state.kind) || self.there.is_none() || self.leaving {
            return false;
        }
        let (history, frame) = (source.history, source.frame);
        // States from before the client was told that the entity is away do not count.
        let since = history.changed(index, own).max(self.away.map_or(0, |away| away + 1));
        let newest = self.acked.newest().filter(|newest| *newest >= since);
        let then = newest.and_then(|newest| history.numbered(newest));
        then.is_some_and(|then| frame.tick.since(then.tick) < REPEAT_TICKS)
    }
}
