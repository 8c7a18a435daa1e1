//! Work of drawing a frame of each game: draw calls, vertices, triangles, and painted area.
//!
//! ```sh
//! cargo bench -p phaselock-client --bench frames
//! valgrind --tool=callgrind --toggle-collect='*drawn*' target/release/deps/frames-… --game race
//! ```
//!
//! The figures depend on the seed alone, not on the machine. The painted area is that of all
//! triangles in the window, overlaps counted each time: without a graphics card it decides what a
//! frame costs. Under `valgrind` the instructions of drawing and tessellating are counted too.

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]

mod stage;

#[allow(dead_code, unused_imports, reason = "the program's main uses the rest")]
#[path = "../../src/views/mod.rs"]
mod views;

use std::hint::black_box;

use phaselock::link::LinkConfig;
use phaselock_client::view::GameView;

use stage::{Stage, Work};

const SIZE: (f32, f32) = (1280.0, 720.0);
const SEED: u64 = 7;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| args.iter().skip_while(|arg| *arg != name).nth(1).cloned();
    let number = |name, default| value(name).map_or(default, |it| it.parse().expect("a number"));
    let (secs, bots) = (number("--seconds", 20), number("--bots", 7));
    let wanted = value("--game");
    println!(
        "{:<12} {:>10} {:>10} {:>10} {:>8}",
        "a frame", "draw calls", "vertices", "triangles", "layers"
    );
    let show = |name: &str, measure: fn(u64, u64) -> (Work, u64)| {
        if wanted.as_deref().is_none_or(|it| it == name) {
            let (work, frames) = measure(secs, bots);
            let each = |sum: u64| sum as f64 / frames as f64;
            println!(
                "{name:<12} {:>10.1} {:>10.0} {:>10.0} {:>8.2}",
                each(work.draw_calls),
                each(work.vertices),
                each(work.triangles),
                work.layers / frames as f64
            );
        }
    };
    show("skirmish", measure::<views::SkirmishScreen>);
    show("puck", measure::<views::PuckScreen>);
    show("asteroids", measure::<views::AsteroidsScreen>);
    show("race", measure::<views::RaceScreen>);
    show("platformer", measure::<views::PlatformerScreen>);
}

/// Work of all frames of a game's play, and their number.
fn measure<V: GameView>(secs: u64, bots: u64) -> (Work, u64) {
    let mut stage = Stage::<V>::new(SEED, bots as u16, LinkConfig::delayed(20, 5), SIZE);
    let (mut work, mut frames) = (Work::default(), 0);
    for _ in 0..secs * 60 {
        if let Some(primitives) = drawn(&mut stage) {
            work.add(Work::of(&primitives, f64::from(SIZE.0 * SIZE.1)));
            frames += 1;
        }
    }
    (work, frames)
}

/// A frame, drawn and tessellated: what is counted in instructions.
#[inline(never)]
fn drawn<V: GameView>(
    stage: &mut Stage<V>,
) -> Option<Vec<egui_macroquad::egui::epaint::ClippedPrimitive>> {
    let output = stage.frame()?;
    Some(black_box(stage.tessellate(output)))
}
