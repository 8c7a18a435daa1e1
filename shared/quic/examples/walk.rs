//! A complete game over real QUIC, in one file: two players walk on a line, see each other, and
//! talk.
//!
//! `cargo run -p phaselock-quic --example walk`

use std::time::Duration;

use phaselock::client::{Client, Notice};
use phaselock::game::{Ahead, Entities, Game, Inputs, World};
use phaselock::ids::{EntityId, PlayerId};
use phaselock::record;
use phaselock::time::{Rates, Tick};
use phaselock_quic::client::Pins;
use phaselock_quic::{Player, connect, serve};

record! {
    /// Commands of a player in one tick.
    pub struct Walk {
        /// -1 left, 1 right.
        pub right: i16 = Field::centred(2, 0),
    }
}

record! {
    /// A player's body.
    pub struct Walker {
        /// Metres from the middle, with a resolution of 1/256 m.
        pub x: f32 = Field::centred(16, 8),
    }
}

/// The rules.
#[derive(Debug)]
struct Line {
    step_secs: f32,
}

impl Line {
    /// Moves a walker: the one function that both sides use.
    fn walk(&self, walker: &mut Walker, input: &Walk) {
        walker.x = (walker.x + f32::from(input.right) * 3.0 * self.step_secs).clamp(-20.0, 20.0);
    }
}

impl Game for Line {
    const NAME: &'static str = "line";
    const RULES_VERSION: u32 = 1;
    type Input = Walk;
    type Entity = Walker;
    type Memory = ();

    fn new(rates: Rates, _seed: u64) -> Self {
        Self { step_secs: rates.step_secs() }
    }

    fn join(&self, world: &mut World<Self>, player: PlayerId) {
        world.spawn(Some(player), Walker::default());
    }

    fn step(&self, world: &mut World<Self>, inputs: &Inputs<Walk>) {
        for (_, owner, walker) in world.entities.records_mut::<Walker>() {
            self.walk(walker, &owner.map(|owner| inputs.get(owner)).unwrap_or_default());
        }
    }

    fn predict(&self, all: &mut Entities<Walker>, own: EntityId, input: &Walk, _: Ahead<'_>) {
        if let Some(walker) = all.record_mut(own) {
            self.walk(walker, input);
        }
    }

    fn repeat(last: &Walk, missed: u64) -> Walk {
        if missed <= 6 { *last } else { Walk::default() }
    }
}

fn walkers(player: &mut Player<Line>, press: fn(&Client<Line>, Tick) -> Walk) -> Vec<f32> {
    let picture = player.frame(press);
    picture.map_or(Vec::new(), |it| it.entities.iter().map(|slot| slot.entity.x).collect())
}

#[allow(clippy::print_stdout, reason = "a program to be run by hand")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = serve::<Line>()?;
    let pins = Pins::Fixed(server.fingerprint());
    let mut ada = connect::<Line>(server.address(), pins.clone(), "Ada")?;
    let mut bob = connect::<Line>(server.address(), pins, "Bob")?;
    let right = |_: &Client<Line>, _: Tick| Walk { right: 1 };
    let left = |_: &Client<Line>, _: Tick| Walk { right: -1 };
    for second in 1..=3 {
        // A program with several players plays each in turn.
        for _ in 0..50 {
            ada.play(Duration::from_millis(10), right)?;
            bob.play(Duration::from_millis(10), left)?;
        }
        let seen = walkers(&mut ada, right);
        println!("after {second} s Ada sees {seen:.2?} m");
    }
    ada.session().chat("see you")?;
    ada.play(Duration::from_millis(100), right)?;
    bob.play(Duration::from_millis(300), left)?;
    while let Some(notice) = bob.poll_notice() {
        if let Notice::Chat { from, text, .. } = notice {
            println!("Bob reads: {}: {text}", from.map(|it| it.seat.name).unwrap_or_default());
        }
    }
    ada.leave("home");
    bob.leave("home");
    server.stop("that was all");
    Ok(())
}
