//! Every screen, laid out in windows of all sizes, in both languages, with letters of the usual and
//! of the largest size: nothing overlaps, nothing leaves the window, and each text over the world
//! has a ground.

mod checker;
mod menus;
mod stage;

use std::collections::{BTreeMap, BTreeSet};

use phaselock_games::asteroids::{self, Ship};
use phaselock_games::puck::{self, Mallet, ShufflePuck};
use phaselock_games::skirmish::{self, Player};
use phaselock_games::{platformer, race};
use phaselock_ui::look::{pixels_per_point_of, pixels_per_point_of_page};
use phaselock_ui::prelude::*;
use phaselock_ui::words::{INCLUDED, Language, set_language};

use stage::{Hooks, Layers, Moment, Stage, State, Table};

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

/// Phones in pixels of CSS: the first is held upright, and the last one's browser shows its bars.
pub(crate) const PHONES: [(f32, f32); 4] =
    [(390.0, 844.0), (844.0, 390.0), (640.0, 360.0), (568.0, 256.0)];

/// The phones in points before a game, with the points of a pixel of CSS.
fn phones() -> impl Iterator<Item = ((f32, f32), f32)> + Clone {
    PHONES.into_iter().map(|size| in_points(size, pixels_per_point_of_page(size, 1.0, 1.0)))
}

/// The phones in points during a game, with the points of a pixel of CSS.
fn phones_in_game() -> impl Iterator<Item = ((f32, f32), f32)> {
    PHONES.into_iter().map(|size| in_points(size, pixels_per_point_of(size, 1.0, 1.0)))
}

fn in_points((width, height): (f32, f32), pixels: f32) -> ((f32, f32), f32) {
    ((width / pixels, height / pixels), 1.0 / pixels)
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
        set_language(language);
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

/// True for problems of what must be seen, of buttons on the glass, and of lessons.
fn concerns_glass(problem: &str) -> bool {
    let begins = ["Glass ", "Lesson", "Figures and Lesson", "nothing is watched"];
    let within = ["covers a subject", "covers what must be seen", " and Glass overlap"];
    begins.iter().any(|it| problem.starts_with(it)) || within.iter().any(|it| problem.contains(it))
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
        stage.phone = None;
        for size in sizes() {
            for state in states() {
                for problem in stage.problems(size, letters, state) {
                    let words = state.words();
                    found.push((format!("{words}, {variant} at {size:?}"), problem));
                }
            }
        }
        for (size, unit) in phones_in_game() {
            stage.phone = Some(unit);
            for state in states().into_iter().filter(|it| !it.layers.need_keys()) {
                let mut problems = stage.problems(size, letters, state);
                // Thumbs and the table cover what they must; nothing else may cover the player.
                if std::env::var("ALL").is_err() {
                    problems.retain(|it| concerns_glass(it));
                }
                for problem in problems {
                    let words = state.words();
                    found.push((format!("{words} on glass, {variant} at {size:?}"), problem));
                }
            }
        }
    }
    report(found);
}

#[test]
fn layout_of_skirmish_is_clear() {
    lay_out::<phaselock_views::SkirmishScreen>(Hooks {
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
    lay_out::<phaselock_views::AsteroidsScreen>(Hooks {
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
        radius: 0.8,
        ..Hooks::default()
    });
}

#[test]
fn layout_of_puck_is_clear() {
    lay_out::<phaselock_views::PuckScreen>(Hooks {
        put: |entities, moment| {
            let row = Moment { place: moment.place / 7, ..moment };
            let at = Vec2::new(moment.share(7), row.share(5)) * 2.0 - 1.0;
            for (_, _, puck) in entities.records_mut::<puck::Puck>() {
                (puck.x, puck.y) = puck::rink::keep_puck(at * puck::rink::HALF).into();
            }
            for (_, _, mallet) in entities.records_mut::<Mallet>() {
                let there = Vec2::new(mallet.side() * at.y.abs(), at.x) * puck::rink::HALF;
                let there = puck::rink::keep_mallet(mallet.side(), there);
                (mallet.x, mallet.y) = there.into();
            }
        },
        radius: puck::rink::MALLET,
        watched: |game, entities, _| {
            let puck = ShufflePuck::puck_of(entities, 0);
            puck.map(|slot| game.on_rink(0, slot.entity.position())).into_iter().collect()
        },
        ..Hooks::default()
    });
}

#[test]
fn layout_of_race_is_clear() {
    lay_out::<phaselock_views::RaceScreen>(Hooks {
        // All around the track, at all speeds in all directions, and in each third place at rest
        // at the start.
        put: |entities, moment| {
            let track = race::track::Track::get();
            let (share, speed) = match moment.place % 3 {
                0 => (0.0, 0.0),
                _ => (0.1 + 0.8 * moment.share(17), moment.share(4) / 0.75),
            };
            let at = track.position(share * track.length, 0.0);
            let speed = race::drive::TOP_SPEED * speed;
            let way = Vec2::from_angle(moment.share(11) * std::f32::consts::TAU);
            for (id, _, car) in entities.records_mut::<race::Car>() {
                if Some(id) == moment.own {
                    (car.x, car.y) = at.into();
                    (car.vx, car.vy) = (way * speed).into();
                }
            }
            for (_, _, lights) in entities.records_mut::<race::Lights>() {
                lights.green = moment.tick.plus(60);
            }
        },
        radius: 1.5,
        // The line across the track, for those who are at it, before the start and until they
        // have left it.
        watched: |game, _, own| {
            let line = &game.track.samples[0];
            if own.distance(line.at) > 5.0 {
                return Vec::new();
            }
            let across = line.along.perp() * race::track::HALF_WIDTH;
            (-4_i8..=4).map(|n| line.at + across * (f32::from(n) / 4.0)).collect()
        },
        ..Hooks::default()
    });
}

#[test]
fn layout_of_platformer_is_clear() {
    lay_out::<phaselock_views::PlatformerScreen>(Hooks {
        // At the start, at each of the stages, and at the goal.
        put: |entities, moment| {
            let level = platformer::level::Level::the();
            let places: Vec<_> = std::iter::once(level.start).chain(level.stages.clone()).collect();
            let at = places[usize::from(moment.place) % places.len()];
            for (id, _, player) in entities.records_mut::<platformer::Player>() {
                if Some(id) == moment.own {
                    (player.x, player.y) = at.into();
                }
            }
        },
        // Its position is that of its feet.
        radius: 0.0,
        ..Hooks::default()
    });
}

/// Texts over the world, by their words, with the heights of their letters.
fn heights<V: GameView>(letters: f32) -> BTreeMap<String, f32>
where
    <V::Game as phaselock::game::Game>::Entity:
        phaselock::fields::Holds<phaselock_games::rounds::Round>,
{
    let mut stage = Stage::<V>::new(Hooks::default());
    let all = Layers { graph: true, details: true, vote: true, bad: true, ..Layers::NONE };
    let shown = [
        State { layers: all, ..State::new("play", 1) },
        State { layers: Layers { quick: true, ..Layers::NONE }, ..State::new("quick", 1) },
        State { layers: Layers { lesson: true, ..Layers::NONE }, ..State::new("lesson", 1) },
        State { table: Table::Held, players: 12, ..State::new("table", 1) },
        State { part: 2, players: 12, ..State::new("results", 2) },
    ];
    let texts = shown.into_iter().flat_map(|state| stage.texts((2560.0, 1440.0), letters, state));
    texts.collect()
}

fn check_letters<V: GameView>()
where
    <V::Game as phaselock::game::Game>::Entity:
        phaselock::fields::Holds<phaselock_games::rounds::Round>,
{
    set_language(None);
    let (usual, large) = (heights::<V>(1.0), heights::<V>(1.5));
    let both = usual.iter().filter_map(|(words, high)| Some((words, large.get(words)? / high)));
    let (mut count, mut small) = (0, Vec::new());
    for (words, grown) in both {
        count += 1;
        // Letters are as high as whole pixels.
        if !(1.3..1.7).contains(&grown) {
            small.push(format!("{words:?} is {grown:.2} times as high"));
        }
    }
    assert!(small.is_empty(), "{}: {small:#?}", V::TITLE);
    assert!(count > 40, "{}: only {count} texts are there in both sizes", V::TITLE);
}

#[test]
fn texts_over_the_world_grow_with_letters() {
    check_letters::<phaselock_views::SkirmishScreen>();
    check_letters::<phaselock_views::AsteroidsScreen>();
    check_letters::<phaselock_views::PuckScreen>();
    check_letters::<phaselock_views::RaceScreen>();
    check_letters::<phaselock_views::PlatformerScreen>();
}
