//! Every screen, laid out in windows of all sizes, in both languages, with letters of the usual and
//! of the largest size: nothing overlaps, nothing leaves the window, and each text over the world
//! has a ground.

mod checker;
mod menus;
mod stage;

use std::collections::BTreeSet;

use crate::look::pixels_per_point_of;
use crate::prelude::*;
use crate::words::{INCLUDED, Language, speak};
use phaselock_games::asteroids::{self, Ship};
use phaselock_games::puck::{self, Mallet, ShufflePuck};
use phaselock_games::skirmish::{self, Player};

use stage::{Hooks, Layers, Stage, State, Table};

/// Windows in pixels, and the sizes of everything that a player can choose.
const WINDOWS: [(f32, f32); 6] = [
    (640.0, 480.0),
    (800.0, 600.0),
    (1280.0, 720.0),
    (1920.0, 1080.0),
    (2560.0, 1440.0),
    (3840.0, 2160.0),
];
const SCALES: [f32; 4] = [0.75, 1.0, 1.5, 2.0];

/// The windows in points, each size once: a larger one with the same points looks the same.
fn sizes() -> Vec<(f32, f32)> {
    let all = WINDOWS.into_iter().flat_map(|(width, height)| {
        SCALES.into_iter().map(move |scale| {
            let pixels = pixels_per_point_of((width, height), 1.0, scale);
            ((width / pixels).round() as u32, (height / pixels).round() as u32)
        })
    });
    let unique: BTreeSet<_> = all.collect();
    unique.into_iter().map(|(width, height)| (width as f32, height as f32)).collect()
}

/// Languages and sizes of letters, a name for each; each is spoken while it is used.
fn variants() -> impl Iterator<Item = (&'static str, f32)> {
    let (_, german) = INCLUDED[0];
    let german: &Language = Box::leak(Box::new(Language::parse(german).expect("a language")));
    let all = [
        ("English", None, 1.0),
        ("English with large letters", None, 1.5),
        ("German", Some(german), 1.0),
        ("German with large letters", Some(german), 1.5),
    ];
    all.into_iter().map(|(name, language, letters)| {
        speak(language);
        (name, letters)
    })
}

/// Panics with everything that was found, or returns if nothing was.
fn report(problems: Vec<(String, String)>) {
    let mut seen = BTreeSet::new();
    let mut lines = Vec::new();
    for (state, problem) in problems {
        // The same words in another window are the same problem.
        let kind = problem.split(": [[").next().unwrap_or_default().to_owned();
        if seen.insert((state.split(" at ").next().map(str::to_owned), kind)) {
            lines.push(format!("{state}: {problem}"));
        }
    }
    assert!(lines.is_empty(), "{} problems:\n{}", lines.len(), lines.join("\n"));
}

/// The states of one game.
fn states() -> Vec<State> {
    let (warm_up, play) = (State::new("warm-up", 0), State::new("play", 1));
    let mut states = vec![
        State { begun: true, ..warm_up },
        State { begun: true, ..play },
        State { name: "last seconds", secs: 8, ..play },
        State { name: "death", dead: true, ..play },
        State { name: "death in warm-up", dead: true, begun: true, ..warm_up },
        State { name: "talk", layers: Layers { talk: true, ..Layers::NONE }, ..play },
        State { name: "quick list", layers: Layers { quick: true, ..Layers::NONE }, ..play },
        State { name: "graph", layers: Layers { graph: true, ..Layers::NONE }, ..play },
        State { name: "details", layers: Layers { details: true, ..Layers::NONE }, ..play },
        State {
            name: "graph, details, vote, talk",
            layers: Layers { graph: true, details: true, vote: true, talk: true, ..Layers::NONE },
            begun: true,
            ..warm_up
        },
        State { name: "vote", layers: Layers { vote: true, ..Layers::NONE }, dead: true, ..play },
        State { name: "bad link", layers: Layers { bad: true, ..Layers::NONE }, ..play },
        State { name: "watching", layers: Layers { watching: true, ..Layers::NONE }, ..play },
        State { name: "pause", layers: Layers { pause: true, ..Layers::NONE }, ..play },
        State { name: "people", layers: Layers { people: true, ..Layers::NONE }, ..play },
        State {
            name: "people during a vote",
            layers: Layers { people: true, vote: true, ..Layers::NONE },
            ..play
        },
        State { name: "lost", layers: Layers { lost: true, ..Layers::NONE }, ..play },
        State { name: "first visit", layers: Layers { pinned: true, ..Layers::NONE }, ..play },
        State { name: "lesson", layers: Layers { lesson: true, ..Layers::NONE }, ..play },
        State {
            name: "lesson in warm-up",
            layers: Layers { lesson: true, ..Layers::NONE },
            begun: true,
            ..warm_up
        },
        State { name: "methods", layers: Layers { methods: true, ..Layers::NONE }, ..play },
    ];
    for (players, table) in [(2, Table::Held), (20, Table::Held), (64, Table::Held)] {
        states.push(State { name: "table held", table, players, begun: true, ..play });
        states.push(State { name: "results", part: 2, players, begun: true, ..play });
    }
    states.push(State {
        name: "table over everything",
        table: Table::Held,
        players: 64,
        layers: Layers { graph: true, details: true, vote: true, bad: true, ..Layers::NONE },
        begun: true,
        ..warm_up
    });
    states
}

/// Lays out a game in all states and sizes.
fn lay_out<V: GameView>(hooks: Hooks<V>)
where
    <V::Game as phaselock::game::Game>::Entity:
        phaselock::fields::Holds<phaselock_games::rounds::Round>,
{
    let mut stage = Stage::<V>::new(hooks);
    let mut found = Vec::new();
    for (variant, letters) in variants() {
        for size in sizes() {
            for state in states() {
                for problem in stage.problems(size, letters, state) {
                    let words = state.words();
                    found.push((format!("{words}, {variant} at {size:?}"), problem));
                }
            }
        }
    }
    report(found);
}

#[test]
fn layout_of_skirmish_is_clear() {
    lay_out::<crate::views::SkirmishScreen>(Hooks {
        kill: |entities, own| {
            for (id, _, player) in entities.records_mut::<Player>() {
                player.health = if id == own { 0 } else { player.health };
            }
        },
        fall: |entities, deaths| {
            for (_, _, score) in entities.records_mut::<skirmish::Score>() {
                score.deaths = deaths;
            }
        },
        ..Hooks::default()
    });
}

#[test]
fn layout_of_asteroids_is_clear() {
    lay_out::<crate::views::AsteroidsScreen>(Hooks {
        kill: |entities, own| {
            for (id, _, ship) in entities.records_mut::<Ship>() {
                ship.hull = if id == own { 0 } else { ship.hull };
            }
        },
        fall: |entities, deaths| {
            for (_, _, score) in entities.records_mut::<asteroids::Score>() {
                score.deaths = deaths;
            }
        },
        // Some have just been wrecked.
        put: |entities, _| {
            for (_, _, ship) in entities.records_mut::<Ship>() {
                ship.hull = ship.hull.max(1);
            }
        },
        ..Hooks::default()
    });
}

#[test]
fn layout_of_puck_is_clear() {
    lay_out::<crate::views::PuckScreen>(Hooks {
        put: |entities, place| {
            let share = |place: u16, steps: u16| f32::from(place % steps) / f32::from(steps);
            let at = Vec2::new(share(place, 7), share(place / 7, 5)) * 2.0 - 1.0;
            for (_, _, puck) in entities.records_mut::<puck::Puck>() {
                (puck.x, puck.y) = puck::rink::keep_puck(at * puck::rink::HALF).into();
            }
            for (_, _, mallet) in entities.records_mut::<Mallet>() {
                let there = Vec2::new(mallet.side() * at.y.abs(), at.x) * puck::rink::HALF;
                let there = puck::rink::keep_mallet(mallet.side(), there);
                (mallet.x, mallet.y) = there.into();
            }
        },
        watched: |game, entities| {
            let puck = ShufflePuck::puck_of(entities, 0);
            puck.map(|slot| game.on_rink(0, slot.entity.position())).into_iter().collect()
        },
        ..Hooks::default()
    });
}

#[test]
fn layout_of_race_is_clear() {
    lay_out::<crate::views::RaceScreen>(Hooks::default());
}

#[test]
fn layout_of_platformer_is_clear() {
    lay_out::<crate::views::PlatformerScreen>(Hooks::default());
}
