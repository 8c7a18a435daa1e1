//! Lag compensation: a shot hits if the target was there on the shooter's screen.
//!
//! The model is Neil Toronto's *Unlagged* for Quake III ("backward reconciliation"): the server
//! records all positions, and tests a shot against the moment that the shooter saw. [`Past::at`]
//! builds a separate scene of that moment, so nothing has to be restored. A client claims its view
//! time; the room limits the claim by its own measurements ([`ViewTime`]).
//!
//! *Invariants:*
//! - Nothing here changes the present.
//! - The recorded past is bounded by the policy and by [`REWIND_MAX`], and reuses its memory.

mod ruling;

use std::collections::VecDeque;

use glam::Vec2;

use crate::fields::{Entities, Entity, Motion, Slot};
use crate::ids::{EntityId, PlayerId};
use crate::limits::{REWIND_MAX, REWOUND_MAX};
use crate::motion::interpolate::{TickTime, blend_values, cut_between};
use crate::time::{Micros, Rates, Tick};

pub use ruling::{Adjusted, Outcome, Ruling, Tested};

/// A game's policy for lag compensation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rewind {
    /// The maximum rewind, 0 for none. Players with more lag must aim ahead.
    pub most: Micros,
    /// Who wins a close call.
    pub favour: Favour,
}

impl Rewind {
    /// A quarter of a second, in the shooter's favour. Arbitrary; enough for a round trip of 200
    /// ms, and the default of Unreal Tournament.
    pub const DEFAULT: Self = Self { most: Micros::from_ms(250), favour: Favour::Shooter };
}

/// Who wins when shooter and target saw different moments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Favour {
    /// What the shooter saw counts, even if the target has reached cover since.
    #[default]
    Shooter,
    /// Reaching cover saves the target: in addition, nothing may stand between the shooter and the
    /// centre of the target's present position.
    Defender,
}

/// A client's claim about the view time of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Time from the view time to the input's tick, as the client claims.
    pub claimed: Micros,
    /// The claimed time, limited by what the server measured when the input arrived.
    pub plausible: Micros,
}

/// The view time of an input, as accepted by the server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ViewTime {
    /// The time that the player saw.
    pub at: TickTime,
    /// Time from the view time to the input's tick as the client claimed it; `None` if the input
    /// did not arrive.
    pub claimed: Option<Micros>,
    /// Time from the view time to the input's tick as the server accepted it; `at` follows from it.
    pub accepted: Micros,
    /// Why the claimed and the accepted time differ.
    pub adjusted: Adjusted,
}

impl ViewTime {
    /// The present of a tick, for shots that are not rewound.
    pub fn present(tick: Tick) -> Self {
        let at = TickTime { tick, fraction: 0.0 };
        Self { at, claimed: None, accepted: Micros::ZERO, adjusted: Adjusted::No }
    }
}

/// A shot that was tested against the past.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rewound {
    /// The player who shot.
    pub shooter: PlayerId,
    /// Tick of the shot.
    pub tick: Tick,
    /// Where it started.
    pub from: Vec2,
    /// Its direction, as a unit vector.
    pub along: Vec2,
    /// View time of the shooter.
    pub view: ViewTime,
    /// The maximum rewind.
    pub most: Micros,
    /// The hit, if there was one.
    pub hit: Option<RewoundHit>,
    /// The hit box of the player that was hit. For a shot that hit no player, the nearest one to
    /// its line, but only if [every shot is explained](Past::explains_all).
    pub tested: Option<Tested>,
}

impl Rewound {
    /// Returns what the target may know.
    pub fn ruling(&self) -> Ruling {
        let Self { shooter, tick, view, most, tested, .. } = *self;
        let ViewTime { claimed, accepted, adjusted, .. } = view;
        Ruling { shooter, tick, claimed, accepted, adjusted, most, tested }
    }
}

/// A hit in the past.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RewoundHit {
    /// Entity that was hit.
    pub target: EntityId,
    /// Position of the target as the shooter saw it.
    pub then: Vec2,
    /// Present position of the target.
    pub now: Vec2,
}

/// Motion of all moving entities in the last ticks.
#[derive(Debug)]
pub struct Past<E> {
    policy: Rewind,
    ticks_max: usize,
    /// Oldest first.
    ticks: VecDeque<(Tick, Entities<E>)>,
    rewound: VecDeque<Rewound>,
    tells_victims: bool,
    explains_all: bool,
}

impl<E> Default for Past<E> {
    /// Records nothing.
    fn default() -> Self {
        Self {
            policy: Rewind { most: Micros::ZERO, favour: Favour::Shooter },
            ticks_max: 0,
            ticks: VecDeque::new(),
            rewound: VecDeque::new(),
            tells_victims: false,
            explains_all: false,
        }
    }
}

impl<E: Entity> Past<E> {
    /// Creates a history for the maximum rewind, at most [`REWIND_MAX`], plus two ticks to
    /// interpolate between.
    pub fn new(rates: Rates, policy: Rewind) -> Self {
        let most = policy.most.clamp(Micros::ZERO, REWIND_MAX);
        let steps = (most.as_secs() * f64::from(rates.tick_hz)).ceil() as usize;
        let ticks_max = if most > Micros::ZERO { steps + 2 } else { 0 };
        Self { policy: Rewind { most, ..policy }, ticks_max, ..Self::default() }
    }

    /// Changes the policy and keeps what has been recorded.
    pub fn configure(&mut self, rates: Rates, policy: Rewind) {
        let Self { policy, ticks_max, .. } = Self::new(rates, policy);
        (self.policy, self.ticks_max) = (policy, ticks_max);
        while self.ticks.len() > ticks_max {
            self.ticks.pop_front();
        }
    }

    /// Returns the policy in force.
    pub fn policy(&self) -> Rewind {
        self.policy
    }

    /// Whether the rules should tell players how the shots that killed them were judged.
    pub fn tells_victims(&self) -> bool {
        self.tells_victims
    }

    /// Sets whether the rules should tell players how the shots that killed them were judged.
    pub fn tell_victims(&mut self, on: bool) {
        self.tells_victims = on;
    }

    /// Whether the rules should [note](Self::note) and explain every shot, including those that are
    /// judged in the present or hit no player.
    pub fn explains_all(&self) -> bool {
        self.explains_all
    }

    /// Sets whether the rules should note and explain every shot.
    pub fn explain_all(&mut self, on: bool) {
        self.explains_all = on;
    }

    /// Records the moving entities of a tick that has run.
    pub fn push(&mut self, tick: Tick, entities: &Entities<E>) {
        if self.ticks_max == 0 {
            return;
        }
        let full = self.ticks.len() >= self.ticks_max;
        let oldest = self.ticks.pop_front_if(|_| full);
        let mut kept = oldest.map_or_else(Entities::default, |(_, entities)| entities);
        kept.refill(entities.iter().filter(|slot| moves(&slot.entity)));
        self.ticks.push_back((tick, kept));
    }

    /// Replaces what has been recorded by the moving entities of other ticks, oldest first.
    pub(crate) fn refill(&mut self, ticks: impl Iterator<Item = (Tick, Entities<E>)>) {
        self.ticks.clear();
        for (tick, entities) in ticks.take(self.ticks_max) {
            self.push(tick, &entities);
        }
    }

    /// Iterates over the recorded ticks with their moving entities, oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Tick, &Entities<E>)> {
        self.ticks.iter().map(|(tick, entities)| (*tick, entities))
    }

    /// Fills `scene` with the moving entities of a past time. `present` is the unfinished state of
    /// the tick after the newest recorded one. Entities that did not exist at that time are absent.
    /// Positions are not interpolated across teleports or between different lives, and before the
    /// oldest recorded tick everything stands still.
    pub fn at(&self, at: TickTime, present: &Entities<E>, scene: &mut Entities<E>) {
        match self.around(at, present) {
            Around::Exactly(entities) => {
                scene.refill(entities.iter().filter(|slot| moves(&slot.entity)));
            }
            Around::Between(between) => {
                scene.clear();
                for slot in between.before.iter() {
                    scene.insert(self.blended(slot, &between, at, present));
                }
            }
        }
    }

    /// Returns an entity at a past time, as [`at`](Self::at) has it. `None` if it did not exist at
    /// that time.
    pub fn entity_at(&self, id: EntityId, at: TickTime, present: &Entities<E>) -> Option<Slot<E>> {
        match self.around(at, present) {
            Around::Exactly(entities) => entities.get(id).copied(),
            Around::Between(between) => {
                Some(self.blended(between.before.get(id)?, &between, at, present))
            }
        }
    }

    /// Returns the states around a past time.
    fn around<'a>(&'a self, at: TickTime, present: &'a Entities<E>) -> Around<'a, E> {
        let next = self.ticks.partition_point(|(tick, _)| *tick <= at.tick).max(1);
        let Some((tick, before)) = self.ticks.get(next - 1) else {
            return Around::Exactly(present);
        };
        let (later, after) = match self.ticks.get(next) {
            Some((later, after)) => (*later, after),
            None => (tick.plus(1), present),
        };
        let passed = if at.tick < *tick { 0.0 } else { at.since(*tick) };
        let part = passed / later.since(*tick) as f32;
        if part >= 1.0 {
            return Around::Exactly(after);
        }
        Around::Between(Between { index: next - 1, before, after, part })
    }

    /// Returns an entity of an earlier state, interpolated to a time.
    fn blended(
        &self,
        slot: &Slot<E>,
        between: &Between<'_, E>,
        at: TickTime,
        present: &Entities<E>,
    ) -> Slot<E> {
        let Between { index, after, part, .. } = *between;
        match age_field(&slot.entity) {
            Some(field) => self.in_own_time(index, Aged { slot, field }, at, present),
            None => after.get(slot.id).map_or(*slot, |later| blend(slot, later, part)),
        }
    }

    /// Returns an entity with an age field at a time of its own. In the present tick, its state
    /// counts as old as in the previous tick.
    fn in_own_time(
        &self,
        index: usize,
        aged: Aged<'_, E>,
        at: TickTime,
        present: &Entities<E>,
    ) -> Slot<E> {
        let Aged { slot, field } = aged;
        let moment =
            |tick: Tick, slot: &Slot<E>| tick.minus(slot.entity.values()[field].max(0.0) as u64);
        let newest = self.ticks.back().map_or(at.tick, |(tick, _)| *tick);
        let mut states = self.ticks.range(index..).map(|(tick, entities)| (*tick, entities));
        let mut from =
            states.next().map_or((at.tick, *slot), |(tick, _)| (moment(tick, slot), *slot));
        for (tick, entities) in states.chain(std::iter::once((newest.plus(1), present))) {
            let same = |later: &&Slot<E>| later.entity.kind() == slot.entity.kind();
            let Some(later) = entities.get(slot.id).filter(same) else { break };
            let then = moment(tick, later);
            if then > at.tick {
                let passed = if at.tick < from.0 { 0.0 } else { at.since(from.0) };
                return blend(&from.1, later, passed / then.since(from.0).max(1) as f32);
            }
            from = (then, *later);
        }
        from.1
    }

    /// Records a shot that was tested against the past. If too many are waiting, the oldest are
    /// dropped.
    pub fn note(&mut self, rewound: Rewound) {
        if self.rewound.len() >= REWOUND_MAX {
            self.rewound.pop_front();
        }
        self.rewound.push_back(rewound);
    }

    /// Takes the oldest recorded shot.
    pub fn poll_rewound(&mut self) -> Option<Rewound> {
        self.rewound.pop_front()
    }
}

/// The states around a past time.
enum Around<'a, E> {
    /// The state at exactly that time, or the nearest one.
    Exactly(&'a Entities<E>),
    Between(Between<'a, E>),
}

/// Two states with a time between them.
struct Between<'a, E> {
    /// Index of the earlier one.
    index: usize,
    before: &'a Entities<E>,
    after: &'a Entities<E>,
    /// The elapsed fraction of the time between the two.
    part: f32,
}

/// An entity, with the index of its age field.
struct Aged<'a, E> {
    slot: &'a Slot<E>,
    field: usize,
}

/// Returns the index of an entity's age field, if it has one.
fn age_field<E: Entity>(entity: &E) -> Option<usize> {
    entity.fields().iter().position(|field| field.age)
}

/// Whether an entity has a field that moves continuously.
fn moves<E: Entity>(entity: &E) -> bool {
    entity.fields().iter().any(|field| field.motion != Motion::Step)
}

/// Interpolates from one state of an entity to a later one, with `t` from 0 to 1; returns the
/// earlier one across a discontinuity.
fn blend<E: Entity>(from: &Slot<E>, to: &Slot<E>, t: f32) -> Slot<E> {
    let (kind, fields) = (from.entity.kind(), from.entity.fields());
    if t == 0.0 || from.owner != to.owner || kind != to.entity.kind() {
        return *from;
    }
    let (a, b) = (from.entity.values(), to.entity.values());
    if cut_between(fields, &a, &b) {
        return *from;
    }
    Slot { entity: E::from_values(kind, &blend_values(fields, &a, &b, t.into())), ..*from }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::{Kind, Record, Values};
    use proptest::prelude::*;

    crate::record! {
        struct Ball {
            x: f32 = Field::centred(16, 6),
            heading: f32 = Field::angle(8),
            score: u8 = Field::count(8),
            jumps: u8 = Field::cut(8),
        }
    }

    crate::record! {
        struct Sign { text: u8 = Field::count(8) }
    }

    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Thing {
        Ball(Ball),
        Sign(Sign),
    }

    impl Entity for Thing {
        const KINDS: &'static [Kind] = &[
            Kind { name: Ball::NAME, fields: Ball::FIELDS },
            Kind { name: Sign::NAME, fields: Sign::FIELDS },
        ];
        fn kind(&self) -> u8 {
            u8::from(matches!(self, Self::Sign(_)))
        }
        fn values(&self) -> Values {
            match self {
                Self::Ball(ball) => Record::values(ball),
                Self::Sign(sign) => Record::values(sign),
            }
        }
        fn from_values(kind: u8, values: &Values) -> Self {
            match kind {
                0 => Self::Ball(Record::from_values(values)),
                _ => Self::Sign(Record::from_values(values)),
            }
        }
    }

    const RATES: Rates = Rates::DEFAULT;

    fn id(index: u16, generation: u8) -> EntityId {
        EntityId { index, generation }
    }

    fn ball(x: f32) -> Ball {
        Ball { x, ..Ball::default() }
    }

    fn world(balls: &[(EntityId, Ball)]) -> Entities<Thing> {
        let mut entities = Entities::default();
        for (id, ball) in balls {
            entities.insert(Slot { id: *id, owner: None, entity: Thing::Ball(*ball) });
        }
        entities
    }

    fn at(tick: u64, fraction: f32) -> TickTime {
        TickTime { tick: Tick(tick), fraction }
    }

    fn seen(past: &Past<Thing>, at: TickTime, present: &Entities<Thing>) -> Vec<(u16, f32)> {
        // The previous content is irrelevant.
        let mut scene = world(&[(id(77, 0), ball(9.0))]);
        past.at(at, present, &mut scene);
        for slot in scene.iter() {
            assert_eq!(past.entity_at(slot.id, at, present), Some(*slot));
        }
        assert_eq!(past.entity_at(id(77, 0), at, present), None);
        let ball = |slot: &Slot<Thing>| match slot.entity {
            Thing::Ball(ball) => (slot.id.index, ball.x),
            Thing::Sign(_) => panic!("signs do not move"),
        };
        scene.iter().map(ball).collect()
    }

    #[test]
    fn past_shows_what_was_there_and_nothing_else() {
        let mut past = Past::new(RATES, Rewind::DEFAULT);
        let jumped = Ball { jumps: 1, ..ball(50.0) };
        past.push(Tick(1), &world(&[(id(0, 0), ball(1.0)), (id(2, 0), ball(-1.0))]));
        past.push(Tick(2), &world(&[(id(0, 0), ball(2.0)), (id(2, 1), ball(-9.0))]));
        past.push(Tick(3), &world(&[(id(0, 0), jumped), (id(1, 0), ball(7.0))]));
        let mut present = world(&[(id(0, 0), Ball { x: 51.0, ..jumped })]);
        let sign = Slot { id: id(5, 0), owner: None, entity: Thing::Sign(Sign { text: 4 }) };
        present.insert(sign);
        let seen = |tick, fraction| seen(&past, at(tick, fraction), &present);
        assert_eq!(seen(0, 0.5), [(0, 1.0), (2, -1.0)], "nothing older is known");
        assert_eq!(
            seen(1, 0.25),
            [(0, 1.25), (2, -1.0)],
            "nothing is blended into another entity in the slot"
        );
        assert_eq!(
            seen(2, 0.75),
            [(0, 2.0), (2, -9.0)],
            "a teleport does not count either, and one entity does not exist yet"
        );
        assert_eq!(seen(3, 0.5), [(0, 50.5), (1, 7.0)], "towards the present");
        assert_eq!(seen(4, 0.0), [(0, 51.0)], "the present itself");
        assert_eq!(seen(900, 0.5), [(0, 51.0)]);
    }

    #[test]
    fn what_is_late_is_found_where_it_was_in_its_own_time() {
        crate::record! {
            struct Runner { x: f32 = Field::centred(16, 6), age: u8 = Field::count(6).age() }
        }
        let world = |x: f32, age: u8| {
            let mut entities = Entities::default();
            entities.insert(Slot { id: id(0, 0), owner: None, entity: Runner { x, age } });
            entities
        };
        // One metre per tick; from 11 to 14 the inputs are late.
        let mut past = Past::new(RATES, Rewind::DEFAULT);
        for tick in 5..20_u8 {
            let age = if (11..15).contains(&tick) { tick - 10 } else { 0 };
            past.push(Tick(tick.into()), &world(f32::from(tick - age), age));
        }
        let mut scene = Entities::default();
        for tick in 5..20_u8 {
            past.at(at(tick.into(), 0.25), &world(20.0, 0), &mut scene);
            let shown = scene.iter().next().expect("it is there").entity.x;
            assert_eq!(shown, f32::from(tick) + 0.25);
        }
        past.at(at(2, 0.5), &world(20.0, 0), &mut scene);
        assert_eq!(scene.iter().next().map(|slot| slot.entity.x), Some(5.0));
    }

    #[test]
    fn empty_past_shows_the_present() {
        let off = Rewind { most: Micros::ZERO, ..Rewind::DEFAULT };
        let mut past = Past::new(RATES, off);
        for tick in 0..9 {
            past.push(Tick(tick), &world(&[(id(0, 0), ball(1.0))]));
        }
        assert!(past.ticks.is_empty());
        assert_eq!(seen(&past, at(3, 0.5), &world(&[(id(0, 0), ball(5.0))])), [(0, 5.0)]);
    }

    #[test]
    fn past_keeps_as_much_as_is_rewound() {
        for (tick_hz, most_ms, ticks) in [(60, 250, 17), (128, 250, 34), (10, 1, 3), (60, 9000, 32)]
        {
            let policy = Rewind { most: Micros::from_ms(most_ms), ..Rewind::DEFAULT };
            let mut past = Past::new(Rates { tick_hz, snapshot_hz: tick_hz }, policy);
            for tick in 0..500 {
                past.push(Tick(tick), &world(&[(id(0, 0), ball(tick as f32))]));
            }
            assert_eq!(past.ticks.len(), ticks, "{most_ms} ms at {tick_hz} Hz");
            // The oldest time that is accepted, in the tick after the newest.
            let span = past.policy().most.as_secs() * f64::from(tick_hz);
            let (whole, part) = ((500.0 - span).floor(), (500.0 - span).fract());
            let present = world(&[(id(0, 0), ball(500.0))]);
            let scene = seen(&past, at(whole as u64, part as f32), &present);
            assert!((f64::from(scene[0].1) - whole - part).abs() < 0.05, "{scene:?}");
        }
    }

    #[test]
    fn oldest_shots_are_forgotten() {
        let mut past = Past::<Thing>::new(RATES, Rewind::DEFAULT);
        let view = ViewTime {
            at: at(1, 0.0),
            claimed: None,
            accepted: Micros::ZERO,
            adjusted: Adjusted::Missing,
        };
        for tick in 0..10_000 {
            past.note(Rewound {
                shooter: PlayerId(1),
                tick: Tick(tick),
                from: Vec2::ZERO,
                along: Vec2::X,
                view,
                most: Micros::ZERO,
                tested: None,
                hit: None,
            });
        }
        let first = past.poll_rewound().expect("there are some");
        assert_eq!(first.tick, Tick(10_000 - REWOUND_MAX as u64));
        assert_eq!(std::iter::from_fn(|| past.poll_rewound()).count(), REWOUND_MAX - 1);
    }

    proptest! {
        #[test]
        fn rewinding_gives_the_interpolated_truth_and_leaves_the_present_alone(
            path in prop::collection::vec((-500.0_f32..500.0, 0.0_f32..1.0, 0_u8..2), 2..40),
            back in 0.0_f32..40.0,
        ) {
            let state = |&(x, heading, jumps): &(f32, f32, u8)| {
                Ball { x, heading, score: jumps * 3, jumps }.snapped()
            };
            let states: Vec<_> = path.iter().map(state).collect();
            let mut past = Past::new(RATES, Rewind::DEFAULT);
            let newest = states.len() - 1;
            for (tick, ball) in states[..newest].iter().enumerate() {
                past.push(Tick(tick as u64), &world(&[(id(3, 1), *ball)]));
            }
            let present = world(&[(id(3, 1), states[newest])]);
            let (before, kept) = (present.clone(), past.ticks.clone());
            let time = (newest as f32 - back).max((newest - past.ticks.len()) as f32);
            let (whole, part) = (time.floor(), time.fract());
            let mut scene = Entities::default();
            past.at(at(whole as u64, part), &present, &mut scene);
            prop_assert_eq!(&present, &before);
            prop_assert_eq!(&past.ticks, &kept);
            let from = states[whole as usize];
            let to = states.get(whole as usize + 1).copied().unwrap_or(from);
            let expected = if from.jumps == to.jumps {
                let mut values = Record::values(&from);
                let later = Record::values(&to);
                for (at, field) in Ball::FIELDS.iter().enumerate() {
                    values[at] = field.blend(values[at], later[at], part.into());
                }
                Record::from_values(&values)
            } else {
                from
            };
            let slot = scene.get(id(3, 1)).expect("it was there");
            prop_assert_eq!(slot.entity, Thing::Ball(expected));
        }
    }
}
