//! A third game: paddles on a line strike a puck, push each other and throw darts. It has what the
//! others lack: entities that several players move, and entities that a player spawns.

use phaselock::fields::KindOf;
use phaselock::game::{
    Ahead, Entities, Game, Inputs, Kit, Misprediction, MispredictionCause, Slot, World,
};
use phaselock::ids::{EntityId, PlayerId};
use phaselock::motion::choice::Choice;
use phaselock::random::Random;
use phaselock::time::{Rates, Tick};
use phaselock::{entities, record};

record! {
    /// A player's input.
    pub(crate) struct Push {
        /// -1 left, 1 right.
        pub(crate) right: i16 = Field::centred(2, 0),
        /// Throws a dart.
        pub(crate) throw: bool = Field::count(1),
    }
}

record! {
    /// A player.
    pub(crate) struct Paddle {
        /// The key that is held.
        pub(crate) right: i16 = Field::centred(2, 0).steering(),
        /// Metres from the middle.
        pub(crate) x: f32 = Field::centred(16, 9).moved_by("vx"),
        /// Metres a second.
        pub(crate) vx: f32 = Field::centred(14, 8),
        /// Darts thrown so far, modulo 256.
        pub(crate) thrown: u8 = Field::count(8),
        /// Ticks until the next one.
        pub(crate) wait: u8 = Field::count(6),
    }
}

record! {
    /// The puck.
    pub(crate) struct Puck {
        /// Metres from the middle.
        pub(crate) x: f32 = Field::centred(16, 9).moved_by("vx"),
        /// Metres a second.
        pub(crate) vx: f32 = Field::centred(14, 8),
    }
}

record! {
    /// A thrown dart; it flies for [`DART_TICKS`].
    pub(crate) struct Dart {
        /// Metres from the middle.
        pub(crate) x: f32 = Field::centred(16, 9).moved_by("vx"),
        /// Metres a second.
        pub(crate) vx: f32 = Field::centred(14, 8),
        /// Number of the dart among its thrower's, modulo 256.
        pub(crate) number: u8 = Field::count(8),
        /// Ticks that it still flies.
        pub(crate) left: u8 = Field::count(7),
    }
}

entities! {
    /// Everything on the line.
    pub(crate) enum Body { Paddle, Puck, Dart }
}

impl Body {
    /// Metres from the middle.
    pub(crate) fn x(&self) -> f32 {
        match self {
            Self::Paddle(paddle) => paddle.x,
            Self::Puck(puck) => puck.x,
            Self::Dart(dart) => dart.x,
        }
    }
}

/// Metres from a paddle's middle to its side, and from a puck's.
pub(crate) const HALF: f32 = 0.5;
/// Metres from the middle to the walls.
pub(crate) const WALL: f32 = 30.0;
/// A paddle's speed in metres a second.
pub(crate) const SPEED: f32 = 4.0;
/// A struck puck's speed.
pub(crate) const STRUCK: f32 = 9.0;
/// A dart's speed.
pub(crate) const DART_SPEED: f32 = 12.0;
/// Ticks that a dart flies.
pub(crate) const DART_TICKS: u8 = 60;
/// Distance within which an entity is co-predicted, in metres: what a paddle and a puck cover in
/// half a second.
const REACH: f32 = 7.0;

/// The rules.
#[derive(Debug)]
pub(crate) struct Air {
    rates: Rates,
    /// Where paddles begin.
    starts: [f32; 2],
}

impl Air {
    /// A paddle's tick; returns the dart that it throws.
    fn move_paddle(&self, paddle: &mut Paddle, push: &Push) -> Option<Dart> {
        paddle.right = push.right;
        paddle.vx = f32::from(push.right) * SPEED;
        paddle.x = (paddle.x + paddle.vx * self.rates.step_secs()).clamp(-WALL, WALL);
        paddle.wait = paddle.wait.saturating_sub(1);
        if !push.throw || paddle.wait > 0 {
            return None;
        }
        paddle.wait = 30;
        paddle.thrown = paddle.thrown.wrapping_add(1);
        Some(Dart { x: paddle.x, vx: DART_SPEED, number: paddle.thrown, left: DART_TICKS })
    }

    fn move_puck(&self, puck: &mut Puck, paddles: &[(EntityId, f32)]) {
        puck.vx *= 0.995;
        puck.x += puck.vx * self.rates.step_secs();
        if puck.x.abs() > WALL {
            puck.x = puck.x.clamp(-WALL, WALL);
            puck.vx = -puck.vx;
        }
        for (_, x) in paddles {
            if (puck.x - x).abs() < 2.0 * HALF {
                let away = if puck.x < *x { -1.0 } else { 1.0 };
                puck.x = x + away * 2.0 * HALF;
                puck.vx = away * STRUCK;
            }
        }
    }

    /// Completes a tick for the entities of `moves` after the paddles' own movement: paddles push
    /// each other apart, and the puck and darts move on.
    fn settle(&self, entities: &mut Entities<Body>, moves: impl Fn(EntityId) -> bool) {
        let paddles = |entities: &Entities<Body>| -> Vec<(EntityId, f32)> {
            let only = entities.iter().filter(|slot| matches!(slot.entity, Body::Paddle(_)));
            only.map(|slot| (slot.id, slot.entity.x())).collect()
        };
        let before = paddles(entities);
        for (id, x) in &before {
            let overlap = |(other, at): &(EntityId, f32)| {
                let short = 2.0 * HALF - (x - at).abs();
                let away = if x < at || (x == at && id < other) { -0.5 } else { 0.5 };
                if other == id { 0.0 } else { short.max(0.0) * away }
            };
            let by: f32 = before.iter().map(overlap).sum();
            if let Some(Body::Paddle(paddle)) =
                entities.get_mut(*id).map(|slot| &mut slot.entity).filter(|_| moves(*id))
            {
                paddle.x += by;
            }
        }
        let paddles = paddles(entities);
        let mut over = Vec::new();
        for slot in entities.iter_mut().filter(|slot| moves(slot.id)) {
            match &mut slot.entity {
                Body::Paddle(_) => {}
                Body::Puck(puck) => self.move_puck(puck, &paddles),
                Body::Dart(dart) => {
                    dart.x += dart.vx * self.rates.step_secs();
                    dart.left = dart.left.saturating_sub(1);
                    if dart.left == 0 {
                        over.push(slot.id);
                    }
                }
            }
        }
        for id in over {
            entities.remove(id);
        }
    }
}

impl Air {
    /// Presentation method of a kind of entity: see [`Kit::presentation`].
    pub(crate) fn presentation(_kind: KindOf<Body>) -> Choice {
        Choice::Linear
    }
}

impl Game for Air {
    const NAME: &'static str = "air";
    const RULES_VERSION: u32 = 1;
    const KIT: Kit<Self> =
        Kit { bot: Some(|| Box::new(Wanderer)), presentation: Self::presentation, ..Kit::NONE };
    type Input = Push;
    type Entity = Body;
    type Memory = ();

    fn new(rates: Rates, _seed: u64) -> Self {
        Self { rates, starts: [-5.0, 5.0] }
    }

    fn populate(&self, world: &mut World<Self>) {
        world.spawn(None, Body::Puck(Puck { x: 0.0, vx: 0.0 }));
    }

    fn join(&self, world: &mut World<Self>, player: PlayerId) {
        let x = self.starts[usize::from(player.0) % self.starts.len()];
        world.spawn(Some(player), Body::Paddle(Paddle { x, ..Paddle::default() }));
    }

    fn step(&self, world: &mut World<Self>, inputs: &Inputs<Push>) {
        let mut thrown = Vec::new();
        for slot in world.entities.iter_mut() {
            if let (Body::Paddle(paddle), Some(owner)) = (&mut slot.entity, slot.owner)
                && let Some(dart) = self.move_paddle(paddle, &inputs.get(owner))
            {
                thrown.push((owner, dart));
            }
        }
        for (owner, dart) in thrown {
            world.spawn(Some(owner), Body::Dart(dart));
        }
        self.settle(&mut world.entities, |_| true);
    }

    fn predict(&self, entities: &mut Entities<Body>, own: EntityId, push: &Push, ahead: Ahead<'_>) {
        let moves = |id| id == own || ahead.covers(id);
        let mut thrown = None;
        for slot in entities.iter_mut().filter(|slot| moves(slot.id)) {
            let Body::Paddle(paddle) = &mut slot.entity else { continue };
            if slot.id == own {
                thrown = slot.owner.zip(self.move_paddle(paddle, push));
            } else {
                // Other players are assumed to hold their keys for another sixth of a second.
                let right = if ahead.ticks <= 10 { paddle.right } else { 0 };
                self.move_paddle(paddle, &Push { right, throw: false });
            }
        }
        if let Some((owner, dart)) = thrown {
            entities.predict_spawn(u16::from(dart.number), Some(owner), Body::Dart(dart));
        }
        self.settle(entities, moves);
    }

    fn co_predicts(&self, entities: &Entities<Body>, own: EntityId, other: &Slot<Body>) -> bool {
        let Some(me) = entities.get(own) else { return false };
        match other.entity {
            // Own darts; other players' darts are shown as the server has them.
            Body::Dart(_) => other.owner == me.owner,
            _ => (other.entity.x() - me.entity.x()).abs() < REACH,
        }
    }

    fn predicted_spawn(entity: &Body) -> Option<u16> {
        match entity {
            Body::Dart(dart) => Some(u16::from(dart.number)),
            _ => None,
        }
    }

    fn misprediction_cause(&self, missed: &Misprediction<'_, Body>) -> Option<MispredictionCause> {
        let near = |slot: &Slot<Body>| {
            let far = (slot.entity.x() - missed.truth.x()).abs();
            matches!(slot.entity, Body::Paddle(_)) && far < 2.0 * HALF + 0.2
        };
        let mut others = missed.entities.iter().filter(|slot| slot.id != missed.own);
        others.any(near).then_some(MispredictionCause::Player)
    }

    fn repeat(last: &Push, missed: u64) -> Push {
        Push { right: if missed <= 10 { last.right } else { 0 }, throw: false }
    }
}

/// Moves randomly.
#[derive(Debug)]
struct Wanderer;

impl phaselock::game::Bot<Air> for Wanderer {
    fn input(
        &mut self,
        _: &Air,
        _: Tick,
        _: &Entities<Body>,
        _: PlayerId,
        random: &mut Random,
    ) -> Push {
        Push { right: random.below(3) as i16 - 1, throw: random.chance(0.02) }
    }
}
