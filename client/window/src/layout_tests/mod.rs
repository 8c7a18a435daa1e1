//! Every screen, laid out in windows of all sizes, in both languages, with letters of the usual and
//! of the largest size: nothing overlaps, nothing leaves the window, and each text over the world
//! has a ground.

mod checker;
mod menus;
mod stage;

use std::collections::{BTreeMap, BTreeSet};

use egui_macroquad::egui::Context;
use phaselock_games::asteroids::{self, Ship};
use phaselock_games::puck::{self, Mallet, ShufflePuck};
use phaselock_games::skirmish::{self, Player};
use phaselock_games::{platformer, race};
use phaselock_ui::look::{self, Extent, Needs};
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

/// A window as a screen sees it.
#[derive(Clone, Copy, Debug)]
struct Pane {
    /// Width and height in points.
    size: (f32, f32),
    /// Points of a pixel of CSS.
    unit: f32,
}

impl Pane {
    /// A window of that size in pixels of CSS, in the player's size of everything.
    fn of(size: (f32, f32), needs: Needs, scale: f32) -> Self {
        let pixels = needs.pixels_per_point(Extent { pixels: size, density: 1.0 }, scale);
        Self { size: (size.0 / pixels, size.1 / pixels), unit: 1.0 / pixels }
    }

    fn screen(self) -> Rect {
        Rect::from_min_size(pos2(0.0, 0.0), self.size.into())
    }

    /// A context for it.
    fn context(self) -> Context {
        let context = Context::default();
        look::style(&context);
        note_css(&context, self.unit);
        context
    }
}

/// The windows, each size in points once: a larger one with the same points looks the same, but
/// for letters that would be too small to read. So the one with the smallest pixels counts.
fn windows() -> Vec<Pane> {
    let mut panes = BTreeMap::<_, Pane>::new();
    for window in WINDOWS {
        for scale in SCALES {
            let pane = Pane::of(window, Needs::Menu, scale);
            let size = (pane.size.0.round() as u32, pane.size.1.round() as u32);
            let kept = panes.entry(size).or_insert(pane);
            kept.unit = kept.unit.max(pane.unit);
        }
    }
    panes.into_values().collect()
}

/// Phones in pixels of CSS: the first is held upright, and the last one's browser shows its bars.
pub(crate) const PHONES: [(f32, f32); 4] =
    [(390.0, 844.0), (844.0, 390.0), (640.0, 360.0), (568.0, 256.0)];

/// The phones, before a game or during one.
fn phones(needs: Needs) -> impl Iterator<Item = Pane> + Clone {
    PHONES.into_iter().map(move |size| Pane::of(size, needs, 1.0))
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
        State { name: "explained death", dead: true, explained: true, ..play },
        // Nothing is watched in it that is in the present.
        State { name: "replay", dead: true, replayed: true, ..play },
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

/// True for problems of buttons on the glass with what must be seen, and of lessons.
fn concerns_glass(problem: &str) -> bool {
    let begins =
        ["Glass covers", "Glass leaves", "Lesson", "Figures and Lesson", "Glass and Lesson"];
    begins.iter().any(|it| problem.starts_with(it)) || problem.contains("covers a subject")
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
        let phones = phones(Needs::Menu).map(|pane| (pane, true));
        for (pane, has_glass) in windows().into_iter().map(|pane| (pane, false)).chain(phones) {
            stage.has_glass = has_glass;
            let on = if has_glass { " on glass" } else { "" };
            let is_there = |it: &State| !has_glass || !it.layers.need_keys();
            for state in states().into_iter().filter(is_there) {
                let mut problems = stage.problems(pane, letters, state);
                // Thumbs and the table cover what they must; nothing else may cover the player.
                problems.retain(|it| !has_glass || concerns_glass(it));
                for problem in problems {
                    let (words, size) = (state.words(), pane.size);
                    found.push((format!("{words}{on}, {variant} at {size:?}"), problem));
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
    let pane = Pane { size: (2560.0, 1440.0), unit: 1.0 };
    let texts = shown.into_iter().flat_map(|state| stage.texts(pane, letters, state));
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
