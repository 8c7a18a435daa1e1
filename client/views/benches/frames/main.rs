//! Work of drawing a frame of each game: draw calls, vertices, triangles, and painted area.
//!
//! ```sh
//! cargo bench -p phaselock-views --bench frames
//! cargo bench --profile dev -p phaselock-views --bench frames -- --seconds 2 --check
//! .ci/frames
//! ```
//!
//! The figures depend on the seed alone, not on the machine. The painted area is that of all
//! triangles in the window, overlaps counted each time: without a graphics card it decides what a
//! frame costs. With `--check` the bench fails where a figure is beyond `bounds.txt`. `.ci/frames`
//! does that, and counts the instructions of drawing and tessellating too, under valgrind.

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]

mod bounds;
mod stage;

use std::hint::black_box;
use std::process::ExitCode;

use egui_macroquad::egui::epaint::ClippedPrimitive;
use phaselock::link::LinkConfig;
use phaselock_ui::view::GameView;

use bounds::{Bounds, Figures};
use stage::{Stage, Work};

const SIZE: (f32, f32) = (1280.0, 720.0);
const SEED: u64 = 7;
/// Frames before instructions are counted: the first ones draw letters for the first time.
const WARM_FRAMES: u64 = 20;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| args.iter().skip_while(|arg| *arg != name).nth(1).cloned();
    let number = |name, default| value(name).map_or(default, |it| it.parse().expect("a number"));
    let (secs, bots) = (number("--seconds", 20), number("--bots", 7));
    let wanted = value("--game");
    let bounds = args.iter().any(|arg| arg == "--check").then(Bounds::checked_in);
    let mut beyond = Vec::new();
    println!(
        "{:<12} {:>10} {:>10} {:>10} {:>8} {:>8}",
        "a frame", "draw calls", "vertices", "triangles", "layers", "frames"
    );
    let mut show = |name: &str, measure: fn(u64, u64) -> (Work, u64)| {
        if wanted.as_deref().is_none_or(|it| it == name) {
            let (work, frames) = measure(secs, bots);
            let it = Figures::of(work, frames);
            println!(
                "{name:<12} {:>10.1} {:>10.0} {:>10.0} {:>8.2} {frames:>8}",
                it.draw_calls, it.vertices, it.triangles, it.layers
            );
            if let Some(bounds) = &bounds {
                beyond.extend(bounds.exceeded(name, it));
            }
        }
    };
    show("skirmish", measure::<phaselock_views::SkirmishScreen>);
    show("puck", measure::<phaselock_views::PuckScreen>);
    show("asteroids", measure::<phaselock_views::AsteroidsScreen>);
    show("race", measure::<phaselock_views::RaceScreen>);
    show("platformer", measure::<phaselock_views::PlatformerScreen>);
    for sentence in &beyond {
        eprintln!("frames: {sentence}");
    }
    if beyond.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Work of all frames of a game's play, and the number of frames.
fn measure<V: GameView>(secs: u64, bots: u64) -> (Work, u64) {
    let mut stage = Stage::<V>::new(SEED, bots as u16, LinkConfig::delayed(20, 5), SIZE);
    let (mut work, mut frames) = (Work::default(), 0);
    for n in 0..secs * 60 {
        stage.advance();
        let primitives = if n < WARM_FRAMES { drawn(&mut stage) } else { counted(&mut stage) };
        if let Some(primitives) = primitives {
            work.add(Work::of(&primitives, f64::from(SIZE.0 * SIZE.1)));
            frames += 1;
        }
    }
    (work, frames)
}

/// A frame whose instructions are counted: `.ci/frames` knows this function by name.
#[inline(never)]
fn counted<V: GameView>(stage: &mut Stage<V>) -> Option<Vec<ClippedPrimitive>> {
    black_box(drawn(stage))
}

/// A frame, drawn and tessellated.
fn drawn<V: GameView>(stage: &mut Stage<V>) -> Option<Vec<ClippedPrimitive>> {
    let output = stage.frame()?;
    Some(black_box(stage.tessellate(output)))
}
