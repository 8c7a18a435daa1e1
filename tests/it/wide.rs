//! Fields of 32 bits, vectors, rotations, enums and ranges: every client has exactly the values
//! that one player sets.

use std::cell::RefCell;
use std::rc::Rc;

use glam::{Quat, Vec2};
use phaselock::client::Client;
use phaselock::fields::{FieldEnum, Record};
use phaselock::game::{Ahead, Entities, Game, Inputs, Kit, World};
use phaselock::ids::{EntityId, PlayerId};
use phaselock::link::LinkConfig;
use phaselock::physics::direction;
use phaselock::time::{Rates, Tick};
use phaselock_testing::{Press, Sim, Skew};

phaselock::field_enum! {
    /// Mood of a craft.
    pub(crate) enum Mood { Calm, Cross, Keen, Sad, Wild }
}

phaselock::record! {
    /// A pilot's command.
    pub(crate) struct Steer {
        pub(crate) push: Vec2 = Field::centred(8, 6),
        pub(crate) word: u32 = Field::count(32),
    }
}

phaselock::record! {
    /// A player.
    pub(crate) struct Craft {
        pub(crate) position: Vec2 = Field::centred(20, 8).moved_by("velocity"),
        pub(crate) velocity: Vec2 = Field::centred(14, 8),
        pub(crate) rotation: Quat = Field::unit(12, 10).trending(),
        pub(crate) turned: f32 = Field::angle(12),
        pub(crate) word: u32 = Field::count(32),
        pub(crate) sum: i32 = Field::centred(32, 0).stepwise(),
        /// Millimetres from the sun, moved by 65 m a second.
        pub(crate) far: f64 = Field::wrapping(32, 10).moved_by("speed"),
        pub(crate) speed: f64 = Field::centred(28, 10),
        pub(crate) mood: Mood = Field::variants::<Mood>(),
        pub(crate) fuel: f32 = Field::range(0, 100, 2).stepwise(),
    }
}

/// Extreme values of 32 bits, and others.
const WORDS: [u32; 8] =
    [u32::MAX, 0, 1 << 31, (1 << 31) - 1, 1, u32::MAX - 1, 1 << 24, 123_456_789];

impl Craft {
    fn follow(&mut self, word: u32) {
        self.word = word;
        self.sum = word.cast_signed();
        self.mood = Mood::VARIANTS[word as usize % Mood::VARIANTS.len()];
        self.fuel = (word % 401) as f32 / 4.0;
    }

    /// Whether all fields follow from the same word.
    fn agrees(&self) -> bool {
        let mut other = *self;
        other.follow(self.word);
        other == *self && WORDS.contains(&self.word)
    }
}

/// The rules.
#[derive(Debug)]
pub(crate) struct Wide(Rates);

impl Wide {
    fn fly(&self, craft: &mut Craft, steer: &Steer) {
        let secs = self.0.step_secs();
        craft.velocity = steer.push * 8.0;
        craft.position += craft.velocity * secs;
        craft.turned = (craft.turned + 0.2 * secs) % 1.0;
        let half = direction(steer.push.y / 32.0);
        craft.rotation = Quat::from_xyzw(0.0, 0.0, half.y, half.x);
        craft.speed = 65_536.0 * f64::from(steer.push.x);
        craft.far = (craft.far + craft.speed * f64::from(secs)).rem_euclid(4_194_304.0);
        craft.follow(steer.word);
    }
}

impl Game for Wide {
    const NAME: &'static str = "wide";
    const RULES_VERSION: u32 = 1;
    const KIT: Kit<Self> = Kit::NONE;
    type Input = Steer;
    type Entity = Craft;
    type Memory = ();

    fn new(rates: Rates, _seed: u64) -> Self {
        Self(rates)
    }

    fn join(&self, world: &mut World<Self>, player: PlayerId) {
        let mut craft = Craft { far: 4_194_300.0, ..Craft::default() };
        craft.follow(0);
        world.spawn(Some(player), craft);
    }

    fn step(&self, world: &mut World<Self>, inputs: &Inputs<Steer>) {
        for slot in world.entities.iter_mut() {
            if let Some(owner) = slot.owner {
                self.fly(&mut slot.entity, &inputs.get(owner));
            }
        }
    }

    fn predict(
        &self,
        entities: &mut Entities<Craft>,
        own: EntityId,
        steer: &Steer,
        _ahead: Ahead<'_>,
    ) {
        if let Some(craft) = entities.record_mut(own) {
            self.fly(craft, steer);
        }
    }

    fn repeat(last: &Steer, _missed: u64) -> Steer {
        *last
    }
}

fn pilot(offset: u64) -> Press<Wide> {
    Box::new(move |_: &Client<Wide>, tick: Tick| {
        let number = tick.0 / 9 + offset;
        let push = Vec2::new(f32::from(number.is_multiple_of(3)), (number % 5) as f32 / 4.0 - 0.5);
        Steer { push, word: WORDS[number as usize % WORDS.len()] }
    })
}

#[test]
fn all_32_bits_arrive_in_stores_predictions_and_pictures() {
    for (link, seed) in [(LinkConfig::PERFECT, 1), (LinkConfig::delayed(60, 10).losing(0.1), 2)] {
        let mut sim = Sim::<Wide>::new(seed, 0);
        let screens = [0, 3].map(|offset| {
            let screen = Rc::new(RefCell::new(None));
            let client = sim.join_with(link, link, Skew::default(), pilot(offset));
            sim.clients[client].screen = Some(Rc::clone(&screen));
            screen
        });
        sim.run(3.0);
        let before = sim.clients[0].core().stats().mispredictions;
        let mut seen = [[[false; WORDS.len()]; 2]; 2];
        sim.run_each(6.0, |_| {
            for (screen, seen) in screens.iter().zip(&mut seen) {
                let screen = screen.borrow();
                let Some(picture) = screen.as_ref() else { continue };
                for slot in picture.entities.iter() {
                    let craft = slot.entity;
                    assert!(craft.agrees(), "{craft:?}");
                    assert!((craft.rotation.length() - 1.0).abs() < 1e-2, "{craft:?}");
                    let player = usize::from(slot.owner.expect("a craft has a pilot").0 % 2);
                    let word = WORDS.iter().position(|word| *word == craft.word);
                    seen[player][word.expect("it is one of these")] = true;
                }
            }
        });
        assert!(seen.as_flattened().as_flattened().iter().all(|seen| *seen), "{seen:?}");
        for client in 0..2 {
            assert!(sim.check_store(client) > 100);
        }
        if link == LinkConfig::PERFECT {
            assert_eq!(sim.clients[0].core().stats().mispredictions, before);
        }
    }
}

#[test]
fn a_table_has_a_column_for_each_component() {
    let labels: Vec<_> = Craft::FIELDS.iter().map(|field| field.label().into_owned()).collect();
    let text = "position.x position.y velocity.x velocity.y rotation.x rotation.y rotation.z \
                rotation.w turned word sum far speed mood fuel";
    assert_eq!(labels.join(" "), text);
    let text = phaselock::wire::protocol::game_text::<Wide>();
    for line in [
        "position.y -2048 20 8 linear all predicted steered still velocity 0 value 1048575",
        "sum -2147483648 32 0 step all predicted steered still nothing 0 value 4294967295",
        "mood 0 3 0 step all predicted steered still nothing 0 value 4",
        "fuel 0 9 2 step all predicted steered still nothing 0 value 400",
    ] {
        assert!(text.contains(&format!("\n{line}\n")), "{text}");
    }
}
