//! Snapshots for all clients that see the world at the same time: players, or spectators.

use std::collections::VecDeque;

use crate::fields::{Entities, Entity};
use crate::game::Game;
use crate::interest::Relevant;
use crate::motion::send_rule::SendRule;
use crate::snapshot::early::add_early;
use crate::snapshot::encodings::Encodings;
use crate::snapshot::history::History;
use crate::snapshot::sender::Begun;
use crate::time::{LocalTime, Rates, ServerTime, Tick};
use crate::wire::snapshot::{EarlySteering, KindSet};
use crate::wire::state::Codec;

use super::mailbox::Mailbox;
use super::output::{ClientId, Output};
use super::seated::{Scene, Seated};
use super::seats::Occupants;
use super::workers::{Workers, flat_map};

/// Creates the encodings for clients with the game's coding.
fn encodings_for<G: Game>(rates: Rates, rules: &[(u8, SendRule)]) -> Encodings<G> {
    let mut encodings = Encodings::new(Codec::new(rates));
    for (kind, rule) in rules {
        encodings.set_rule(*kind, *rule);
    }
    encodings
}

/// Number of clients for which each worker packs at a time: a fraction of a millisecond, so that
/// the driver can handle packets and ticks in between. Arbitrary.
const PACKED_TOGETHER: usize = 16;

/// When a snapshot leaves, and for which clients.
#[derive(Clone, Copy)]
pub(super) struct Leaving<'a> {
    pub(super) now: LocalTime,
    /// The server's time as these clients see it.
    pub(super) server_time: ServerTime,
    /// Whether a client is behind.
    pub(super) behind: &'a dyn Fn(ClientId) -> bool,
    /// Entities that are sent to all; `None` if each client is sent what it sees.
    pub(super) sent_to_all: Option<&'a [Relevant]>,
}

/// Snapshots, their encodings, and the clients that still need the newest.
#[derive(Debug)]
pub(super) struct SnapshotFeed<G: Game> {
    rates: Rates,
    history: History,
    early: EarlySteering,
    /// Scratch space: by index, the kinds as which clients want early steering of the entity.
    shown: Vec<KindSet>,
    /// Created for the first client with the game's coding, whose tables may take a megabyte.
    encodings: Option<Encodings<G>>,
    /// Rules by which kinds are sent, besides the game's.
    rules: Vec<(u8, SendRule)>,
    /// Encodings for clients with plain coding; created for the first such client.
    plain_encodings: Option<Encodings<G>>,
    /// Clients that still need the newest snapshot.
    due: VecDeque<ClientId>,
    /// Scratch space: clients whose snapshots are being packed.
    begun: Vec<(ClientId, Begun)>,
}

impl<G: Game> SnapshotFeed<G> {
    pub(super) fn new(rates: Rates) -> Self {
        Self {
            rates,
            history: History::default(),
            early: EarlySteering::default(),
            shown: Vec::new(),
            encodings: None,
            rules: Vec::new(),
            plain_encodings: None,
            due: VecDeque::new(),
            begun: Vec::new(),
        }
    }

    /// Sets the rule by which a kind is sent.
    pub(super) fn set_rule(&mut self, kind: u8, rule: SendRule) {
        self.rules.retain(|(other, _)| *other != kind);
        self.rules.push((kind, rule));
        if let Some(encodings) = &mut self.encodings {
            encodings.set_rule(kind, rule);
        }
    }

    /// Records the world for the next snapshot.
    pub(super) fn record(&mut self, tick: Tick, entities: &Entities<G::Entity>) {
        self.history.push(tick, entities);
    }

    /// Records how the snapshot's entities will be steered, as far as `players` have said so and
    /// the game lets others know. Their interest must be that of the snapshot.
    pub(super) fn record_early<'s>(
        &mut self,
        tick: Tick,
        entities: &Entities<G::Entity>,
        players: impl Iterator<Item = &'s Seated<G::Input>> + Clone,
    ) {
        let Self { early, shown, .. } = self;
        early.clear();
        shown.clear();
        // Computed only for entities that are sent to a client that asks for it.
        let here = players.filter(|seated| seated.member().is_here());
        for seated in here.clone().filter(|seated| !seated.early().is_empty()) {
            for index in seated.sent().iter().map(|relevant| usize::from(relevant.index)) {
                shown.resize(shown.len().max(index + 1), KindSet::NONE);
                shown[index] = shown[index].union(seated.early());
            }
        }
        if shown.is_empty() {
            return;
        }
        for seated in here {
            let player = seated.member().person().player();
            let slots = entities.owned_by(player).filter(|slot| {
                let kinds = shown.get(usize::from(slot.id.index));
                kinds.is_some_and(|kinds| kinds.contains(slot.entity.kind()))
            });
            add_early::<G>(early, slots, seated.ahead(tick));
        }
        early.sort();
    }

    /// Queues the newest snapshot for these clients, in the order of their numbers.
    pub(super) fn address(&mut self, clients: impl Iterator<Item = ClientId>) {
        self.due.clear();
        self.due.extend(clients);
    }

    /// Whether the newest snapshot has been sent to all clients.
    pub(super) fn is_sent(&self) -> bool {
        self.due.is_empty()
    }

    /// Stops sending to a client.
    pub(super) fn forget(&mut self, client: ClientId) {
        self.due.retain(|due| *due != client);
    }

    /// Returns the tick of the newest snapshot.
    pub(super) fn newest(&self) -> Option<Tick> {
        self.history.newest().map(|frame| frame.tick)
    }

    /// Packs the newest snapshot for the next clients that need it, are not behind, and have space
    /// on their path.
    pub(super) fn pack(
        &mut self,
        game: &G,
        members: &mut Occupants<G::Input>,
        leaving: Leaving<'_>,
        (workers, mailbox): (&dyn Workers, &mut Mailbox),
    ) {
        let Self { rates, history, early, encodings, rules, plain_encodings, due, begun, .. } =
            self;
        let encodings = encodings.get_or_insert_with(|| encodings_for(*rates, rules));
        let Leaving { now, server_time, behind, sent_to_all } = leaving;
        let now_due = due.len().min(PACKED_TOGETHER * workers.count());
        let mut due = due.drain(..now_due).filter(|client| !behind(*client)).peekable();
        begun.clear();
        // Both are in the order of clients.
        for (client, seated) in members.seated_mut() {
            if due.next_if_eq(&client).is_none() || seated.is_path_full(now) {
                continue;
            }
            let encodings = if seated.member().delivery().is_plain() {
                plain_encodings.get_or_insert_with(|| Encodings::new(Codec::plain(*rates)))
            } else {
                &mut *encodings
            };
            begun.push((client, seated.begin_snapshot(encodings, history)));
        }
        drop(due);
        let plain = plain_encodings.as_ref();
        let scene = Scene {
            game,
            history,
            early,
            rates: *rates,
            trained: encodings,
            plain,
            sent_to_all,
            now,
            server_time,
        };
        let mut begun = begun.iter().peekable();
        let items = members.seated_mut().filter_map(|(client, seated)| {
            let (_, snapshot) = *begun.next_if(|(begun, _)| *begun == client)?;
            Some((client, seated, snapshot))
        });
        let pack = |(client, seated, snapshot): (_, &mut Seated<_>, _),
                    take: &mut dyn FnMut(Output)| {
            seated
                .pack_snapshot(&scene, snapshot, |bytes| take(Output::Datagram { client, bytes }));
        };
        flat_map(workers, items, pack, |output| mailbox.push(output));
    }
}
