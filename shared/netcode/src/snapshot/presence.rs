//! The server's knowledge of one entity at one client.

use super::EntityState;
use super::encodings::{Encodings, ReferenceSet};
use super::history::Source;
use super::recent::Recent;
use crate::game::Game;
use crate::limits::BASELINE_AGE_TICKS_MAX;
use crate::wire::snapshot::Change;
use crate::wire::state::Codec;

/// Presence of one entity at the client.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Presence {
    /// Snapshots of which the client acknowledged its state.
    pub(super) acked: Recent,
    /// Newest snapshot in which it was sent as present; none if the client knows that it is away.
    pub(super) there: Option<u64>,
    /// Snapshots in which it was sent as present.
    pub(super) sent: Recent,
    /// The word that it is gone is under way.
    pub(super) leaving: bool,
    /// Newest snapshot in which it was sent as gone or hidden.
    pub(super) away: Option<u64>,
}

/// Ticks after which an unchanged entity is sent again, so that there is always a baseline.
const REPEAT_TICKS: u64 = BASELINE_AGE_TICKS_MAX / 2;

impl Presence {
    /// Tells whether the client's newest state is the present one, and stays so.
    pub(super) fn knows<G: Game>(
        &self,
        codec: &Codec<G>,
        source: &Source<'_, G>,
        index: u16,
        state: &EntityState,
        own: bool,
    ) -> bool {
        if !codec.is_stepwise(state.kind) || self.there.is_none() || self.leaving {
            return false;
        }
        let (history, frame) = (source.history, source.frame);
        // States from before the last word that it is away do not count.
        let since = history.changed(index, own).max(self.away.map_or(0, |away| away + 1));
        let newest = self.acked.newest().filter(|newest| *newest >= since);
        let then = newest.and_then(|newest| history.numbered(newest));
        then.is_some_and(|then| frame.tick.since(then.tick) < REPEAT_TICKS)
    }

    /// Tells whether the entity, which the reader does not own, may be left out by its kind's rule:
    /// whichever of its states the client has, it extrapolates that well enough.
    pub(super) fn is_unsaid<G: Game>(
        &self,
        encodings: &Encodings<G>,
        source: &Source<'_, G>,
        index: u16,
        kind: u8,
    ) -> bool {
        let silence = encodings.silence();
        let Some(there) = self.there.filter(|_| !self.leaving) else { return false };
        let (history, frame) = (source.history, source.frame);
        let since = history.since(index).max(self.away.map_or(0, |away| away + 1));
        let Some(acked) = self.acked.newest().filter(|acked| *acked >= since) else { return false };
        let is_younger = |number, ticks| {
            history.numbered(number).is_some_and(|then| frame.tick.since(then.tick) < ticks)
        };
        is_younger(acked, REPEAT_TICKS)
            && is_younger(there, REPEAT_TICKS * 3 / 4)
            && silence.may_last(kind, frame.number - there)
            // Whatever of the later ones arrived, the client may have it already.
            && std::iter::once(acked)
                .chain(self.sent.after(acked))
                .all(|number| silence.is_near(encodings.codec(), source, index, number))
    }

    /// Tells whether the client has the entity, there since the frame `since`, in all frames of a
    /// packet's set, and in none newer.
    #[inline]
    pub(super) fn is_usual(&self, set: &ReferenceSet, since: u64) -> bool {
        set.span()
            .is_some_and(|(newest, oldest, mask)| self.acked.has(newest, mask) && since <= oldest)
    }

    /// References of the entity: the newest state that the client has, and those of the `packet`
    /// before it that the client has too.
    pub(super) fn references<G: Game>(
        &self,
        source: &Source<'_, G>,
        packet: &ReferenceSet,
        index: u16,
    ) -> ReferenceSet {
        let mut own = ReferenceSet::default();
        let Some(newest) = self.acked.newest() else { return own };
        let since = source.history.since(index);
        let older = packet.numbers().filter(|number| *number < newest);
        let older = older.filter(|number| self.acked.contains(*number));
        for number in std::iter::once(newest).chain(older).take_while(|number| *number >= since) {
            let then = source.history.numbered(number);
            if !then.is_some_and(|then| own.push(source.frame, then)) {
                break;
            }
        }
        own
    }

    /// The word that takes the entity back: only a client that saw it to its end is told that it
    /// is gone.
    pub(super) fn away<G: Game>(&self, source: &Source<'_, G>, index: u16) -> Change {
        let (history, frame) = (source.history, source.frame);
        let told = self.there.and_then(|number| history.numbered(number)?.get(index));
        let lives = frame.get(index).zip(told).is_some_and(|(now, told)| now.same_entity(told));
        let to_the_end = self.there.is_some_and(|number| number + 1 == frame.number);
        if to_the_end && !lives { Change::Gone } else { Change::Hidden }
    }
}
