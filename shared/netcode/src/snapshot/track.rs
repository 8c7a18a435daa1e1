//! What the server knows of one entity at one client.

use super::State;
use super::frames::Frames;
use super::history::{Frame, History};
use crate::game::Game;
use crate::limits::BASELINE_AGE_TICKS_MAX;
use crate::wire::state::Codec;

/// What is known of one entity's presence at the client.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Track {
    /// Of which snapshots the client has its state, as far as it acknowledged them.
    pub(super) acked: Frames,
    /// The newest snapshot in which it was sent as being there; none if the client knows that it is
    /// not.
    pub(super) there: Option<u64>,
    /// Whether word that it is gone is on its way.
    pub(super) leaving: bool,
    /// The newest snapshot in which it was sent as being away.
    pub(super) away: Option<u64>,
}

/// Ticks after which what has not changed is sent again all the same, so that there is always a
/// baseline.
const REPEAT_TICKS: u64 = BASELINE_AGE_TICKS_MAX / 2;

impl Track {
    /// Whether the client knows all that there is to know: the newest state that it has is the present
    /// one, and for want of another it stays so.
    pub(super) fn knows<G: Game>(
        &self,
        codec: &Codec<G>,
        history: &History,
        frame: &Frame,
        index: u16,
        state: &State,
        own: bool,
    ) -> bool {
        if !codec.is_stepwise(state.kind) || self.there.is_none() || self.leaving {
            return false;
        }
        // What it had before it was told that the entity is away is not what it has now.
        let since = history.changed(index, own).max(self.away.map_or(0, |away| away + 1));
        let newest = self.acked.newest().filter(|newest| *newest >= since);
        let then = newest.and_then(|newest| history.numbered(newest));
        then.is_some_and(|then| frame.tick.since(then.tick) < REPEAT_TICKS)
    }
}
