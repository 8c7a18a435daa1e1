//! The states that a client has received, by entity and tick, and what to acknowledge.

use std::collections::VecDeque;

use super::EntityState;
use super::recent::Recent;
use crate::game::{Entities, Game};
use crate::ids::PlayerId;
use crate::limits::BASELINE_AGE_TICKS_MAX;
use crate::time::Tick;
use crate::wire::WireError;
use crate::wire::counts::Counts;
use crate::wire::input::Ack;
use crate::wire::snapshot::{
    DecodeContext, EarlyChange, EarlySteering, EntityUpdate, KindSet, SnapshotHeader,
    count_snapshot, read_snapshot,
};
use crate::wire::state::Codec;

/// A state at a tick; `None` if the entity was gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    /// Tick of the state.
    pub tick: Tick,
    /// State at the tick.
    pub state: Option<EntityState>,
}

/// Summary of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// Header with the timing.
    pub header: SnapshotHeader,
    /// Full tick.
    pub tick: Tick,
    /// Full sequence number.
    pub seq: u64,
    /// Size in bytes.
    pub bytes: usize,
    /// Number of entities.
    pub entities: usize,
}

/// Why a packet changed nothing.
#[allow(missing_docs, reason = "the error messages document the variants")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    #[error(transparent)]
    Wire(#[from] WireError),
    #[error("the packet is of another game")]
    OtherGame,
    #[error("the packet is a duplicate or far too late")]
    Duplicate,
    #[error("the packet's tick is too old")]
    FarOff,
}

/// The states that a client has received.
#[derive(Debug)]
pub struct Store<G: Game> {
    codec: Codec<G>,
    updates: Vec<EntityUpdate>,
    early: EarlySteering,
    reader: PlayerId,
    arrivals: Recent,
    newest: Tick,
    /// Versions of each entity, by index.
    versions: Vec<Versions>,
    /// The newest state that follows from an entity's absence from a snapshot, by index.
    unsaid: Vec<Option<Version>>,
    /// Indices of entities whose state follows from the last packet.
    unsaid_now: Vec<u16>,
    /// All present entities in their newest states.
    latest: Entities<G::Entity>,
}

/// An entity's versions, oldest first.
type Versions = VecDeque<Version>;

/// Number of ticks for which states are kept beyond the maximum age of a baseline, for late
/// packets. Arbitrary.
const SLACK_TICKS: u64 = 32;

impl<G: Game> Store<G> {
    /// Creates the empty store of a reader that was welcomed at `tick`.
    pub fn new(codec: Codec<G>, reader: PlayerId, tick: Tick) -> Self {
        Self {
            codec,
            updates: Vec::new(),
            early: EarlySteering::default(),
            reader,
            arrivals: Recent::default(),
            newest: tick,
            versions: Vec::new(),
            unsaid: Vec::new(),
            unsaid_now: Vec::new(),
            latest: Entities::default(),
        }
    }

    /// Returns the newest tick of a packet, or that of the welcome before the first.
    pub fn newest(&self) -> Tick {
        self.newest
    }

    /// Returns the acknowledgement to send.
    pub fn ack(&self) -> Option<Ack> {
        let newest = self.arrivals.newest()?;
        Some(Ack { newest: newest as u16, mask: self.arrivals.mask() })
    }

    /// Decodes and stores a packet. An error changes nothing, and the packet is not acknowledged.
    pub fn handle_packet(&mut self, game: &G, bytes: &[u8]) -> Result<Received, StoreError> {
        let mut updates = std::mem::take(&mut self.updates);
        let mut early = std::mem::take(&mut self.early);
        let read = read_snapshot(bytes, &self.reading(game), (&mut updates, &mut early));
        let received = match read {
            Ok(header) => self.commit(game, header, &updates, bytes.len()),
            Err(error) => Err(error.into()),
        };
        if received.is_err() {
            updates.clear();
            early.clear();
            self.unsaid_now.clear();
        }
        (self.updates, self.early) = (updates, early);
        received
    }

    /// Returns the entities in the last packet; none if it was refused.
    pub fn updates(&self) -> &[EntityUpdate] {
        &self.updates
    }

    /// Returns how the entity in a slot will be steered after its state in the last packet, as far
    /// as the packet tells; nothing if it was refused.
    pub fn early(&self, index: u16) -> &[EarlyChange] {
        self.early.of(index)
    }

    /// Returns the entities whose state follows from their absence in the last packet, as they are
    /// at its tick; none if it was refused.
    pub fn unsaid(&self) -> impl Iterator<Item = (u16, &EntityState)> {
        let states = self.unsaid_now.iter().map(|index| (*index, self.unsaid_version(*index)));
        states.filter_map(|(index, version)| Some((index, version?.state.as_ref()?)))
    }

    fn unsaid_version(&self, index: u16) -> Option<&Version> {
        self.unsaid.get(usize::from(index))?.as_ref()
    }

    /// Adds the decisions of a packet, before it is handled, to `counts`.
    pub fn count(&self, game: &G, bytes: &[u8], counts: &mut Counts) {
        count_snapshot(bytes, &self.reading(game), counts);
    }

    /// Returns what is known before a packet is decoded.
    fn reading<'s>(
        &'s self,
        game: &'s G,
    ) -> DecodeContext<'s, G, impl Fn(u16, Tick) -> Option<&'s EntityState>> {
        let known = |index, tick| self.version(index, tick)?.state.as_ref();
        DecodeContext { codec: &self.codec, game, near: self.newest, reader: self.reader, known }
    }

    fn commit(
        &mut self,
        game: &G,
        header: SnapshotHeader,
        updates: &[EntityUpdate],
        bytes: usize,
    ) -> Result<Received, StoreError> {
        let tick = header.tick;
        let seq = self.arrivals.widen(header.seq);
        if !self.arrivals.is_new(seq) {
            return Err(StoreError::Duplicate);
        }
        if self.newest.since(tick) > BASELINE_AGE_TICKS_MAX {
            return Err(StoreError::FarOff);
        }
        self.arrivals.insert(seq);
        self.newest = self.newest.max(tick);
        for updates in updates {
            self.insert(updates.index, Version { tick, state: updates.state });
        }
        self.hear_silence(game, tick, header.silent);
        for index in updates.iter().map(|updates| updates.index) {
            self.renew(index);
        }
        for at in 0..self.unsaid_now.len() {
            self.renew(self.unsaid_now[at]);
        }
        self.forget();
        Ok(Received { header, tick, seq, entities: updates.len(), bytes })
    }

    /// Extrapolates all present entities of these kinds, except the reader's own and those with a
    /// state at the snapshot's tick or later: that is what their absence from the last packet
    /// means.
    fn hear_silence(&mut self, game: &G, tick: Tick, kinds: KindSet) {
        self.unsaid_now.clear();
        if kinds.is_empty() {
            return;
        }
        self.unsaid.resize(self.versions.len(), None);
        for ((versions, unsaid), index) in self.versions.iter().zip(&mut self.unsaid).zip(0..) {
            let Some(&Version { tick: then, state: Some(state) }) = versions.back() else {
                continue;
            };
            let age = tick.since(then);
            if !kinds.contains(state.kind)
                || state.owner == Some(self.reader)
                || !(1..=BASELINE_AGE_TICKS_MAX).contains(&age)
                || unsaid.is_some_and(|unsaid| unsaid.tick >= tick)
            {
                continue;
            }
            let packed = self.codec.unsaid(game, state.kind, &state.packed, age as u8);
            *unsaid = Some(Version { tick, state: Some(EntityState { packed, ..state }) });
            self.unsaid_now.push(index);
        }
    }

    /// Copies the newest state of an entity to `latest`.
    fn renew(&mut self, index: u16) {
        match self.last(index).and_then(|version| version.state) {
            Some(state) => self.latest.insert(state.to_slot(index)),
            None => {
                let gone = self.latest.at(index).map(|slot| slot.id);
                gone.and_then(|id| self.latest.remove(id));
            }
        }
    }

    fn insert(&mut self, index: u16, version: Version) {
        let at = usize::from(index);
        // It was extrapolated from an older state, or from one that is now the older.
        if let Some(unsaid) = self.unsaid.get_mut(at) {
            *unsaid = None;
        }
        if self.versions.len() <= at {
            self.versions.resize_with(at + 1, Versions::new);
        }
        let versions = &mut self.versions[at];
        if versions.back().is_none_or(|last| last.tick < version.tick) {
            versions.push_back(version);
        } else if let Err(at) = place(versions, version.tick) {
            versions.insert(at, version);
        }
    }

    /// Removes states older than all baselines, except for the newest of a present entity.
    fn forget(&mut self) {
        let newest = self.newest;
        let old =
            |version: &Version| newest.since(version.tick) > BASELINE_AGE_TICKS_MAX + SLACK_TICKS;
        for versions in &mut self.versions {
            while versions.len() > 1 && versions.front().is_some_and(old) {
                versions.pop_front();
            }
            if versions.back().is_some_and(|last| last.state.is_none() && old(last)) {
                versions.clear();
            }
        }
    }

    /// Returns an entity's version at exactly this tick.
    pub fn version(&self, index: u16, tick: Tick) -> Option<&Version> {
        let versions = self.versions.get(usize::from(index))?;
        Some(&versions[place(versions, tick).ok()?])
    }

    /// Returns an entity's version at exactly this tick, either received or following from its
    /// absence in a snapshot.
    pub fn known_at(&self, index: u16, tick: Tick) -> Option<&Version> {
        let unsaid = || self.unsaid_version(index).filter(|unsaid| unsaid.tick == tick);
        self.version(index, tick).or_else(unsaid)
    }

    /// Returns an entity's newest version, either received or following from its absence in a
    /// snapshot.
    pub fn last(&self, index: u16) -> Option<&Version> {
        let received = self.versions.get(usize::from(index))?.back();
        self.unsaid_version(index).or(received)
    }

    /// Iterates over all entities with their versions, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = (u16, &VecDeque<Version>)> {
        let all = (0..).zip(&self.versions);
        all.filter(|(_, versions)| !versions.is_empty())
    }

    /// Returns all present entities in their newest states.
    pub fn latest(&self) -> &Entities<G::Entity> {
        &self.latest
    }
}

/// Returns the position of a tick's version, or where it would be. References are few versions
/// back, and versions are mostly as far apart as the last two.
fn place(versions: &Versions, tick: Tick) -> Result<usize, usize> {
    let len = versions.len();
    if len > 1 {
        let last = versions[len - 1].tick;
        let apart = last.since(versions[len - 2].tick).max(1);
        let back = last.since(tick) / apart;
        if let Some(at) = (len - 1).checked_sub(back as usize)
            && versions[at].tick == tick
        {
            return Ok(at);
        }
    }
    versions.binary_search_by_key(&tick, |version| version.tick)
}
