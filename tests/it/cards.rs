//! Entities that never change, and are therefore sent only once.

use phaselock::game::{Entities, Game, Slot};
use phaselock::ids::{EntityId, PlayerId};
use phaselock::interest::Relevant;
use phaselock::path::SendRate;
use phaselock::record;
use phaselock::snapshot::early::EarlyReach;
use phaselock::snapshot::encodings::Encodings;
use phaselock::snapshot::history::History;
use phaselock::snapshot::sender::{Departure, Sender, Shared};
use phaselock::snapshot::store::Store;
use phaselock::time::{LocalTime, Micros, Rates, Tick};
use phaselock::wire::snapshot::{EarlySteering, SnapshotHeader};
use phaselock::wire::state::Codec;

record! {
    /// A card on the table.
    struct Card {
        colour: u8 = Field::count(2),
        value: u8 = Field::count(4).owner_only(),
    }
}
#[derive(Debug)]
struct Cards;

impl Game for Cards {
    const NAME: &'static str = "cards";
    const RULES_VERSION: u32 = 1;
    type Entity = Card;

    fn new(_rates: Rates, _seed: u64) -> Self {
        Self
    }

    phaselock_tests::unplayed!();
}

const RATES: Rates = Rates { tick_hz: 60, snapshot_hz: 30 };
/// The players: the onlooker, and the holder of the card.
const READER: PlayerId = PlayerId(1);
const OWNER: PlayerId = PlayerId(2);

/// A card, the server, and one client.
struct Table {
    card: Card,
    tick: Tick,
    history: History,
    encodings: Encodings<Cards>,
    sender: Sender,
    store: Store<Cards>,
}

impl Table {
    fn new() -> Self {
        let sender = Sender::new(READER, SendRate::new(LocalTime(0), 64_000, Micros::from_ms(33)));
        Self {
            card: Card { colour: 1, value: 7 },
            tick: Tick(0),
            history: History::default(),
            encodings: Encodings::new(Codec::new(RATES)),
            sender,
            store: Store::new(Codec::new(RATES), READER, Tick(0)),
        }
    }

    /// Sends one snapshot, which arrives and is acknowledged or not. Returns whether the card was
    /// in a packet that arrived.
    fn snapshot(&mut self, visible: bool, arrives: bool) -> bool {
        self.tick = self.tick.plus(RATES.ticks_per_snapshot());
        let mut entities = Entities::default();
        let id = EntityId { index: 0, generation: 0 };
        entities.insert(Slot { id, owner: Some(OWNER), entity: self.card });
        self.history.push(self.tick, &entities);
        let now = LocalTime(RATES.time_of(self.tick).0);
        let relevant = [Relevant { index: 0, generation: 0, weight: 1, near: Tick(0) }];
        let relevant = if visible { &relevant[..] } else { &[] };
        let (header, mut packets) = (SnapshotHeader::default(), Vec::new());
        let begun = self.sender.begin(&mut self.encodings, &self.history);
        let Self { encodings, history, .. } = self;
        let shared = Shared { encodings, game: &Cards, history, early: EarlySteering::NONE };
        let (packet_bytes, early) = (1150, EarlyReach::NONE);
        let departure = Departure { relevant, header, now, packet_bytes, early };
        self.sender.pack(&shared, begun, departure, |packet| packets.push(packet));
        let mut told = false;
        for packet in packets {
            if arrives {
                let received = self.store.handle_packet(&Cards, &packet).expect("it is fine");
                told |= received.entities > 0;
            }
        }
        if arrives && let Some(ack) = self.store.ack() {
            self.sender.handle_ack(now, ack).expect("it was sent");
        }
        told
    }

    fn is_there(&self) -> bool {
        self.store.latest().len() == 1
    }
}

#[test]
fn cards_shown_again_unchanged_are_sent_again_however_often_they_are_lost() {
    let mut table = Table::new();
    for _ in 0..5 {
        table.snapshot(true, true);
    }
    assert!(table.is_there());
    for _ in 0..5 {
        table.snapshot(false, true);
    }
    assert!(!table.is_there());
    // The first packet with the returned card is lost.
    table.snapshot(true, false);
    for _ in 0..8 {
        table.snapshot(true, true);
    }
    assert!(table.is_there(), "the client was not informed of the return");
}

#[test]
fn resting_cards_are_sent_once_and_hidden_changes_are_not_sent() {
    let mut table = Table::new();
    for _ in 0..5 {
        table.snapshot(true, true);
    }
    assert!(!(0..20).any(|_| table.snapshot(true, true)), "nothing new is sent");
    table.card.value = 9;
    assert!(
        !(0..20).any(|_| table.snapshot(true, true)),
        "only the owner is informed of the change"
    );
    table.card.colour = 2;
    assert!(table.snapshot(true, true), "public changes are sent at once");
}
