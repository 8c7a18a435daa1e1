//! Send rules of kinds of entities: the bytes and the visual error of each, over one recording of
//! each game.

use std::collections::BTreeMap;

use glam::Vec2;
use phaselock::fields::Entity;
use phaselock::game::{Entities, Game, Slot};
use phaselock::ids::PlayerId;
use phaselock::interest::Relevant;
use phaselock::limits::{CLIENT_BYTES_MAX, DATAGRAM_BYTES_MAX};
use phaselock::motion::interpolate::cut_between;
use phaselock::motion::{Moment, SendRule, Timeline};
use phaselock::path::SendRate;
use phaselock::physics::Torus;
use phaselock::presentation::presenter::{Presenter, StateArrival, is_moving};
use phaselock::random::Random;
use phaselock::snapshot::early::EarlyReach;
use phaselock::snapshot::encodings::Encodings;
use phaselock::snapshot::history::History;
use phaselock::snapshot::sender::{Departure, Sender, Shared};
use phaselock::snapshot::store::Store;
use phaselock::time::{LocalTime, Rates, Tick};
use phaselock::wire::input::Ack;
use phaselock::wire::snapshot::{EarlySteering, SnapshotHeader};
use phaselock::wire::state::Codec;
use phaselock_games::asteroids::Asteroids;
use phaselock_games::platformer::Platformer;
use phaselock_games::puck::ShufflePuck;
use phaselock_games::race::Race;
use phaselock_games::skirmish::Skirmish;
use phaselock_lab::scores::quantile;
use phaselock_testing::bots::BotWorld;

use super::row::{Out, Row, Table};

/// Bots of each game.
const PLAYERS: u16 = 16;
/// The spectator, who owns nothing.
const READER: PlayerId = PlayerId(999);
/// Ticks that a packet takes in each direction: 50 ms.
const WAY_TICKS: u64 = 3;
/// Ticks by which the shown past is behind: the path, a snapshot, a lost one, and a margin.
const DELAY_TICKS: u64 = 8;
/// Share of lost snapshots.
const LOSS: f32 = 0.02;
/// Unmeasured ticks.
const SETTLING: u64 = 180;
/// Ticks around a cut in which frames do not count, since the shown position stands still.
const CUT_TICKS: u64 = 16;
/// Tolerance of a receiver in pixels: just visible if you look for it.
const TOLERANCE_PIXELS: f64 = 5.0;

const RATES: Rates = Rates::DEFAULT;

/// A game as its bots play it: the world at each tick.
struct Recorded<G: Game> {
    game: G,
    worlds: Vec<Entities<G::Entity>>,
}

impl<G: Game> Recorded<G> {
    fn play(seconds: f64) -> Self {
        let mut bots = BotWorld::<G>::new(1, PLAYERS, false);
        let ticks = SETTLING + (seconds * f64::from(RATES.tick_hz)) as u64;
        let mut worlds = vec![bots.world.entities.clone()];
        for _ in 0..ticks {
            bots.think();
            bots.step();
            worlds.push(bots.world.entities.clone());
        }
        Self { game: bots.game, worlds }
    }

    fn at(&self, tick: u64) -> &Entities<G::Entity> {
        &self.worlds[tick as usize]
    }

    /// Kinds that have a position and move.
    fn kinds(&self) -> impl Iterator<Item = u8> {
        let here = |kind: &u8| {
            let mut slots = self.worlds.iter().flat_map(Entities::iter);
            slots.any(|slot| slot.entity.kind() == *kind && self.position(&slot.entity).is_some())
        };
        let moves = |kind: &u8| {
            let fields = G::Entity::KINDS[usize::from(*kind)].fields;
            is_moving(fields)
        };
        (0..G::Entity::KINDS.len() as u8).filter(moves).filter(here)
    }

    fn position(&self, entity: &G::Entity) -> Option<Vec2> {
        self.game.position(entity)
    }

    /// Distance of a shown entity from its position at a tick; None if it did not exist all the
    /// time, or was teleported.
    fn error(&self, shown: &Slot<G::Entity>, tick: u64) -> Option<f64> {
        let from = tick.saturating_sub(CUT_TICKS);
        let to = (tick + CUT_TICKS).min(self.worlds.len() as u64 - 1);
        let truth = self.at(tick).get(shown.id)?;
        let [before, after] = [from, to].map(|tick| self.at(tick).get(shown.id));
        let fields = truth.entity.fields();
        if cut_between(fields, &before?.entity.values(), &after?.entity.values()) {
            return None;
        }
        let (a, b) = (self.position(&shown.entity)?, self.position(&truth.entity)?);
        let distance = match self.game.wraps() {
            Some(size) => Torus { size }.distance(a, b),
            None => a.distance(b),
        };
        Some(f64::from(distance))
    }
}

/// The cost and the error of a kind by a rule.
#[derive(Debug, Default)]
struct Sent {
    packet_bytes: usize,
    snapshots: f64,
    /// Number of existing entities, and of sent ones.
    entities: f64,
    updates: f64,
    errors: Vec<f64>,
}

/// Packets in flight.
type Way<T> = BTreeMap<u64, Vec<T>>;

/// Sends all entities of a `kind` by a rule; without a kind, nothing.
fn send<G: Game>(recorded: &Recorded<G>, kind: Option<u8>, rule: SendRule) -> Sent {
    let Recorded { game, worlds } = recorded;
    let mut encodings = Encodings::new(Codec::<G>::new(RATES));
    if let Some(kind) = kind {
        encodings.set_rule(kind, rule);
    }
    let mut history = History::default();
    let rate = SendRate::new(LocalTime(0), CLIENT_BYTES_MAX, RATES.snapshot_interval());
    let mut sender = Sender::new(READER, rate).reading_silence(rule != SendRule::Every);
    let mut store = Store::<G>::new(Codec::new(RATES), READER, Tick(0));
    let mut presenter = Presenter::<G>::new(RATES);
    let mut shown = Entities::default();
    let timeline = kind.map_or(Timeline::Past, |kind| presenter.choice(kind).timeline());
    let mut random = Random::new(7);
    let (mut down, mut up): (Way<Vec<u8>>, Way<Ack>) = Default::default();
    let mut sent = Sent::default();
    for (tick, world) in (0_u64..).zip(worlds) {
        let now = LocalTime(RATES.time_of(Tick(tick)).0);
        let secs = |tick: u64| RATES.time_of(Tick(tick)).as_secs();
        for ack in up.remove(&tick).unwrap_or_default() {
            sender.handle_ack(now, ack).expect("it was sent");
        }
        let measured = tick >= SETTLING;
        if tick > 0 && tick.is_multiple_of(RATES.ticks_per_snapshot()) {
            history.push(Tick(tick), world);
            let told = world.iter().filter(|slot| Some(slot.entity.kind()) == kind);
            let told: Vec<_> = told
                .map(|slot| Relevant {
                    index: slot.id.index,
                    generation: slot.id.generation,
                    weight: 1,
                    near: Tick(0),
                })
                .collect();
            let header = SnapshotHeader { sent: now.0 as u32, ..SnapshotHeader::default() };
            let mut packets = Vec::new();
            let begun = sender.begin(&mut encodings, &history);
            let shared = Shared {
                encodings: &encodings,
                game,
                history: &history,
                early: EarlySteering::NONE,
            };
            let packet_bytes = DATAGRAM_BYTES_MAX;
            let departure =
                Departure { relevant: &told, header, now, packet_bytes, early: EarlyReach::NONE };
            sender.pack(&shared, begun, departure, |packet| packets.push(packet));
            if measured {
                sent.snapshots += 1.0;
                sent.entities += told.len() as f64;
                sent.packet_bytes += packets.iter().map(Vec::len).sum::<usize>();
            }
            if !random.chance(LOSS) {
                down.insert(tick + WAY_TICKS, packets);
            }
        }
        for packet in down.remove(&tick).unwrap_or_default() {
            let received = store.handle_packet(game, &packet).expect("a packet can be read");
            if measured {
                sent.updates += received.entities as f64;
            }
            let heard = |index| StateArrival {
                index,
                tick: received.tick,
                arrival: secs(tick),
                early: &[],
            };
            for told in store.updates() {
                let state = told.state.as_ref();
                presenter.handle(game, heard(told.index), state);
            }
            for (index, state) in store.unsaid() {
                presenter.handle_unsaid(game, heard(index), state);
            }
        }
        if let Some(ack) = store.ack() {
            up.entry(tick + WAY_TICKS).or_default().push(ack);
        }
        let past = tick.saturating_sub(DELAY_TICKS);
        let interval = RATES.snapshot_interval().as_secs();
        let moment = Moment { now: secs(tick), past: secs(past), interval };
        presenter.show(game, moment, secs(1), &mut shown);
        let at = if timeline == Timeline::Past { past } else { tick };
        let errors = shown.iter().filter_map(|slot| recorded.error(slot, at));
        sent.errors.extend(errors.filter(|_| measured));
    }
    sent
}

/// Measures one game, whose window has this width in its units.
fn game<G: Game>(out: &Out, width: f64, seconds: f64) {
    let recorded = Recorded::<G>::play(seconds);
    let empty = send(&recorded, None, SendRule::Every);
    let empty = empty.packet_bytes as f64 / empty.snapshots;
    let distance = TOLERANCE_PIXELS * width / 1920.0;
    for kind in recorded.kinds() {
        let name = G::Entity::KINDS[usize::from(kind)].name;
        out.progress(&format!("{} {name}", G::NAME));
        for rule in [
            "every".to_owned(),
            "predictable".to_owned(),
            format!("threshold:{distance:.3}"),
            format!("adaptive:{distance:.3}"),
        ] {
            let parsed = rule.parse().expect("it is a rule");
            let mut sent = send(&recorded, Some(kind), parsed);
            let bytes = sent.packet_bytes as f64 / sent.snapshots - empty;
            let entities = sent.entities / sent.snapshots;
            let hz = f64::from(RATES.snapshot_hz);
            let samples = sent.errors.len().max(1) as f64;
            let row = Row {
                entities: Some(entities),
                bytes_per_entity_s: Some(bytes * hz / entities),
                sent_share: Some(sent.updates / sent.entities),
                error_shown_mean: Some(sent.errors.iter().sum::<f64>() / samples),
                error_shown_p99: Some(quantile(&mut sent.errors, 0.99)),
                error_shown_max: Some(quantile(&mut sent.errors, 1.0)),
                pixel: Some(width / 1920.0),
                ..Row::of(format!("{} {name}, {rule}", G::NAME), bytes, entities, hz)
            };
            out.row(Table::Senders, &row);
        }
    }
}

/// Measures the moving kinds of all five games.
pub(crate) fn run(out: &Out, seconds: f64) {
    out.say(&format!(
        "senders: {seconds} seconds of {PLAYERS} bots of each game, to an onlooker at a round trip \
         of 100 ms who is told of all of one kind, and loses {} % of the snapshots. Bytes are \
         those beyond empty snapshots. Errors are those of the position drawn, in the game's unit, \
         by the kind's own presentation.",
        LOSS * 100.0
    ));
    out.head(Table::Senders);
    game::<Skirmish>(out, 30.0, seconds);
    game::<ShufflePuck>(out, 18.0, seconds);
    game::<Asteroids>(out, 58.0, seconds);
    game::<Race>(out, 70.0, seconds);
    game::<Platformer>(out, 24.0, seconds);
}
