//! Feel, measured in pictures: where the window draws players, and when a key is seen.
//!
//! ```sh
//! cargo bench -p phaselock-views --bench feel
//! ```
//!
//! Each game is played by bots over each network, and drawn by its own view without a window. A
//! *jump* is a frame whose step differs from the previous one by more than 3 points of a window of
//! 1280 by 720, and by more than a quarter beyond what the game itself does without a network. A
//! *reversal* is a frame that goes back by more than 1.5 points and is followed by one that goes
//! on. Positions are those of the frame's picture. *Drawn there* is the share of frames in which a
//! shape of an avatar's size was painted at the local player's place under that frame's camera.
//! *Camera* counts the jumps of the camera itself, which does not shake here. *Key* is the number
//! of frames from a key to the first frame that differs from the one without it, where the first
//! frame after the key is 1; it is the worst of several moments. `--moments` prints when each flaw
//! occurred and what had happened. With `--strict`, the bench fails if the local player jumps, is
//! not painted at its place, or sees a key later than in the first frame.

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]

#[path = "../frames/stage.rs"]
#[allow(dead_code, reason = "the other bench uses the rest")]
mod stage;
mod track;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::process::ExitCode;
use std::rc::Rc;

use egui_macroquad::egui::epaint::Primitive;
use egui_macroquad::egui::{FullOutput, Pos2, Rect, Shape};
use glam::Vec2;
use phaselock::client::Client;
use phaselock::fields::{Entity, Values};
use phaselock::game::{Entities, Game};
use phaselock::ids::{EntityId, PlayerId};
use phaselock::link::{Conditions, PROFILES};
use phaselock::motion::interpolate::cut_between;
use phaselock::time::Micros;
use phaselock_games::{asteroids, platformer, puck, race, skirmish};
use phaselock_testing::{Press, Sim, Skew, bot};
use phaselock_ui::camera_rig::set_reduced_motion;
use phaselock_ui::view::GameView;

use stage::{Drawn, Stage};
use track::{Counts, Flaw, Measure, Track};

const SIZE: (f32, f32) = (1280.0, 720.0);
const SEED: u64 = 7;
/// Number of bots besides the two players.
const BOTS: u16 = 4;
/// Seconds that are not scored: clocks and delays settle.
const WARM_UP_SECS: f64 = 8.0;
/// No network at all.
const FLOOR: &str = "delay=0ms";
/// Number of plays without a network that show what the game itself does.
const FLOORS: u64 = 8;
/// Seconds of each of them.
const FLOOR_SECS: f64 = 60.0;
/// Factor by which a jump exceeds what the game itself does, and metres added to it.
const BEYOND: (f32, f32) = (1.25, 0.01);
/// Time between two frames of a usual display.
const FRAME: Micros = Micros(16_667);
/// Sizes of shapes that can be an avatar, in points.
const AVATAR: std::ops::RangeInclusive<f32> = 4.0..=140.0;
/// Minimum percentage of frames in which the player's avatar is painted at its place.
const DRAWN_LEAST: f64 = 98.0;
/// Distance of an avatar's shape from its place, in points.
const NEAR: f32 = 8.0;
/// Seconds before the key is pressed, frames between the moments at which it is, and number of
/// moments.
const KEY_AFTER_SECS: f64 = 14.0;
const KEY_EVERY: usize = 7;
const KEYS: usize = 6;
/// Frames in which a key must show.
const KEY_WITHIN: usize = 30;

/// A game's avatars in pictures.
#[derive(Clone, Copy)]
struct Avatar<G: Game> {
    /// Whether it is painted.
    is_painted: fn(&G::Entity) -> bool,
    /// Middle of what is painted, from the position, in metres.
    middle: Vec2,
    /// A command that moves it.
    pressed: G::Input,
}

/// Figures of a game over a network.
#[derive(Clone, Copy, Debug, Default)]
struct Feel {
    own: Counts,
    camera: Counts,
    others: Counts,
    /// Frames in which the player's avatar should be visible, and those with a shape at its place.
    seen: u64,
    drawn: u64,
}

/// Maximum steps of a game, in metres; larger ones are jumps.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    own: f32,
    camera: f32,
    others: f32,
}

/// A play to look at.
#[derive(Clone, Debug)]
struct Plan {
    seed: u64,
    conditions: Conditions,
    secs: f64,
    bounds: Bounds,
    prints_flaws: bool,
}

fn main() -> ExitCode {
    set_reduced_motion(true);
    let args: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| args.iter().skip_while(|arg| *arg != name).nth(1).cloned();
    let secs = value("--seconds").map_or(60.0, |it| it.parse().expect("a number"));
    let prints_flaws = args.iter().any(|arg| arg == "--moments");
    let wanted = value("--game");
    println!(
        "| game | network | own: jumps | reversals | camera | others, a minute: jumps | \
         reversals | drawn there | key, frames |"
    );
    println!("|---|---|---:|---:|---:|---:|---:|---:|---:|");
    let mut faults = 0;
    let is_wanted = |name: &str| wanted.as_deref().is_none_or(|it| it == name);
    if is_wanted("skirmish") {
        let alive = |entity: &_| matches!(entity, skirmish::Piece::Player(it) if it.health > 0);
        let pressed = skirmish::Command { right: 1, ..Default::default() };
        let avatar = Avatar { is_painted: alive, middle: Vec2::ZERO, pressed };
        faults += show::<phaselock_views::SkirmishScreen>((secs, prints_flaws), avatar);
    }
    if is_wanted("puck") {
        let pressed = puck::Command { x: -0.8, y: 0.3 };
        let avatar = Avatar { is_painted: |_| true, middle: Vec2::ZERO, pressed };
        faults += show::<phaselock_views::PuckScreen>((secs, prints_flaws), avatar);
    }
    if is_wanted("asteroids") {
        let alive = |entity: &_| matches!(entity, asteroids::Piece::Ship(it) if it.is_alive());
        let pressed = asteroids::Command { turn: 1, ..Default::default() };
        let avatar = Avatar { is_painted: alive, middle: Vec2::ZERO, pressed };
        faults += show::<phaselock_views::AsteroidsScreen>((secs, prints_flaws), avatar);
    }
    if is_wanted("race") {
        let pressed = race::Command { pedal: 3, ..Default::default() };
        let avatar = Avatar { is_painted: |_| true, middle: Vec2::ZERO, pressed };
        faults += show::<phaselock_views::RaceScreen>((secs, prints_flaws), avatar);
    }
    if is_wanted("platformer") {
        let pressed = platformer::Command { right: 1, jump: true };
        // The position is that of the feet.
        let middle = Vec2::NEG_Y * platformer::HEIGHT / 2.0;
        let avatar = Avatar { is_painted: |_| true, middle, pressed };
        faults += show::<phaselock_views::PlatformerScreen>((secs, prints_flaws), avatar);
    }
    if faults > 0 && args.iter().any(|arg| arg == "--strict") {
        eprintln!(
            "feel: {faults} faults in what the local player sees: see the table, and --moments"
        );
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Prints a game's rows. Returns the number of the player's jumps, and of networks over which a key
/// is seen late or the player is not painted at its place.
fn show<V: GameView>((secs, prints_flaws): (f64, bool), avatar: Avatar<V::Game>) -> u64 {
    let name = V::Game::NAME;
    let mut plan = Plan {
        seed: SEED,
        conditions: conditions(FLOOR),
        secs: FLOOR_SECS,
        bounds: Bounds { own: f32::MAX, camera: f32::MAX, others: f32::MAX },
        prints_flaws: false,
    };
    let floors: Vec<_> = (0..FLOORS)
        .map(|n| play::<V>(&Plan { seed: SEED + 100 * n, ..plan.clone() }, &avatar))
        .collect();
    let bound = |of: fn(&Feel) -> Counts| {
        let most = floors.iter().map(|it| of(it).most).fold(0.0, f32::max);
        most * BEYOND.0 + BEYOND.1
    };
    plan.bounds = Bounds {
        own: bound(|it| it.own),
        camera: bound(|it| it.camera),
        others: bound(|it| it.others),
    };
    (plan.secs, plan.prints_flaws) = (secs, prints_flaws);
    let mut faults = 0;
    for (network, words) in [("none", FLOOR)].into_iter().chain(PROFILES) {
        plan.conditions = conditions(words);
        let Feel { own, camera, others, seen, drawn } = play::<V>(&plan, &avatar);
        let a_minute = |count: u64| count as f64 * 3600.0 / others.frames.max(1) as f64;
        let drawn = drawn as f64 * 100.0 / seen.max(1) as f64;
        let key = frames_to_picture::<V>(&plan.conditions, &avatar.pressed);
        let key = key.map_or("-".to_owned(), |frames| frames.to_string());
        println!(
            "| {name} | {network} | {} | {} | {} | {:.2} | {:.2} | {drawn:.1} % | {key} |",
            own.jumps,
            own.reversals,
            camera.jumps,
            a_minute(others.jumps),
            a_minute(others.reversals),
        );
        faults += own.jumps + u64::from(key != "1") + u64::from(drawn < DRAWN_LEAST);
    }
    faults
}

fn conditions(words: &str) -> Conditions {
    words.parse().expect("a network")
}

/// Plays for the given time, and counts.
fn play<V: GameView>(plan: &Plan, avatar: &Avatar<V::Game>) -> Feel {
    let Plan { seed, conditions, secs, bounds, prints_flaws } = plan;
    let mut sim = Sim::<V::Game>::new(*seed, BOTS);
    sim.frame = FRAME;
    let client = sim.join_over(conditions, Skew::default(), bot::<V::Game>(*seed));
    sim.join_over(conditions, Skew::default(), bot::<V::Game>(seed + 1));
    let mut stage = Stage::<V>::watch(*seed, sim, client, SIZE);
    let (mut own, mut camera) = (Track::default(), Track::default());
    let mut others = BTreeMap::<PlayerId, Track>::new();
    let mut were = BTreeMap::new();
    let mut feel = Feel::default();
    let frame = stage.sim.frame.as_secs();
    let frames = |secs: f64| (secs / frame) as u64;
    for n in 0..frames(WARM_UP_SECS + secs) {
        let Some(drawn) = stage.next_frame() else { continue };
        if n < frames(WARM_UP_SECS) {
            continue;
        }
        let core = stage.sim.clients[client].core();
        let (game, me) = (core.game(), core.player());
        let wraps = game.wraps();
        let entities = &drawn.picture.entities;
        let print_flaw = |who: &str, flaw: Option<Flaw>| {
            if let Some(flaw) = flaw.filter(|_| *prints_flaws) {
                println!("  {:.2} s, {who}: {flaw:?}; {}", n as f64 * frame, state_of(core));
            }
        };
        let measure = |bound| Measure { scale: drawn.camera.scale, wraps, bound };
        let at = position(avatar, game, entities, me);
        if is_cut::<V::Game>(&mut were, entities, me) {
            own.cut();
            camera.cut();
        }
        print_flaw("own", own.advance(at, measure(bounds.own)));
        // Where the player is put elsewhere, the camera goes along.
        let middle = at.map(|_| drawn.camera.middle);
        print_flaw("camera", camera.advance(middle, measure(bounds.camera)));
        if let Some(at) = at {
            let places = copies(at + avatar.middle, wraps).map(|at| drawn.camera.to_screen(at));
            let screen = Rect::from_min_size(Pos2::ZERO, SIZE.into());
            let near = places.filter(|place| screen.contains(*place));
            let near = near.map(|place| nearest(&drawn.output, place)).reduce(f32::min);
            feel.seen += u64::from(near.is_some());
            feel.drawn += u64::from(near.is_some_and(|near| near <= NEAR));
        }
        for player in core.roster().keys().filter(|player| **player != me) {
            let at = position(avatar, game, entities, *player);
            let track = others.entry(*player).or_default();
            if is_cut::<V::Game>(&mut were, entities, *player) {
                track.cut();
            }
            let flaw = track.advance(at, measure(bounds.others));
            print_flaw(&format!("{player:?}"), flaw);
        }
    }
    (feel.own, feel.camera) = (own.counts, camera.counts);
    others.values().for_each(|track| feel.others.add(track.counts));
    feel
}

/// State of a client in words: mispredictions, lead, delay.
fn state_of<G: Game>(core: &Client<G>) -> String {
    let (stats, common) = (core.stats(), core.common());
    let last = stats.last_correction.map(|last| {
        let ago = (core.newest_tick().0.saturating_sub(last.tick.0)) * 1_000_000
            / u64::from(common.rates().tick_hz);
        let ago = Micros(ago as i64);
        format!("the last, {ago} ago, by {:.2}: {:?}", last.size, last.cause)
    });
    let (lead, delay) = (common.lead(), common.delay().delay());
    format!(
        "{} mispredictions{}; lead {}, drawn {}, delay {delay}",
        stats.mispredictions,
        last.map_or(String::new(), |last| format!(", {last}")),
        lead.lead(),
        lead.drawn()
    )
}

/// Position of a player's avatar, while it is painted.
fn position<G: Game>(
    avatar: &Avatar<G>,
    game: &G,
    entities: &Entities<G::Entity>,
    player: PlayerId,
) -> Option<Vec2> {
    let slot = entities.get(G::avatar(entities, player)?)?;
    game.position(&slot.entity).filter(|_| (avatar.is_painted)(&slot.entity))
}

/// Whether the rules have moved a player's avatar elsewhere since the last frame, as one of its
/// fields shows, or whether it is another avatar.
fn is_cut<G: Game>(
    were: &mut BTreeMap<PlayerId, (EntityId, Values)>,
    entities: &Entities<G::Entity>,
    player: PlayerId,
) -> bool {
    let id = G::avatar(entities, player);
    let Some(slot) = id.and_then(|id| entities.get(id)) else {
        return were.remove(&player).is_some();
    };
    let now = (slot.id, slot.entity.values());
    let before = were.insert(player, now);
    before.is_some_and(|(id, values)| {
        id != now.0 || cut_between(slot.entity.fields(), &values, &now.1)
    })
}

/// Distance in points from a place to the middle of the nearest shape that can be an avatar.
fn nearest(output: &FullOutput, at: Pos2) -> f32 {
    fn walk(shape: &Shape, at: Pos2, least: &mut f32) {
        match shape {
            Shape::Vec(shapes) => shapes.iter().for_each(|shape| walk(shape, at, least)),
            Shape::Noop | Shape::Text(_) => {}
            shape => {
                let rect = shape.visual_bounding_rect();
                if AVATAR.contains(&rect.width()) && AVATAR.contains(&rect.height()) {
                    *least = least.min(rect.center().distance(at));
                }
            }
        }
    }
    let mut least = f32::MAX;
    output.shapes.iter().for_each(|clipped| walk(&clipped.shape, at, &mut least));
    least
}

/// A position, and its copies in a world that wraps.
fn copies(at: Vec2, wraps: Option<Vec2>) -> impl Iterator<Item = Vec2> {
    let by = move |x: f32, y: f32| wraps.map_or(at, |period| at + period * Vec2::new(x, y));
    let count = if wraps.is_some() { 9 } else { 1 };
    let steps = [0.0, 1.0, -1.0];
    (0..count).map(move |n| by(steps[n % 3], steps[n / 3]))
}

/// Frames from a key to the first picture that differs from the one without it, for the worst of
/// several moments. `None` if no picture differs.
fn frames_to_picture<V: GameView>(
    conditions: &Conditions,
    pressed: &<V::Game as Game>::Input,
) -> Option<usize> {
    let without = pictures::<V>(conditions, pressed, usize::MAX);
    let mut worst = 0;
    for n in 0..KEYS {
        let after = KEY_WITHIN + n * KEY_EVERY;
        let with = pictures::<V>(conditions, pressed, after);
        let first = without.iter().zip(&with).position(|(one, other)| one != other)?;
        // Before the key, both are the same.
        worst = worst.max((first + 1).checked_sub(after)?);
    }
    Some(worst)
}

/// Pictures of a player who presses nothing, and of one who presses a key from a frame on.
fn pictures<V: GameView>(
    conditions: &Conditions,
    pressed: &<V::Game as Game>::Input,
    after: usize,
) -> Vec<u64> {
    let mut sim = Sim::<V::Game>::new(SEED, 1);
    sim.frame = FRAME;
    let (input, is_down) = (*pressed, Rc::new(Cell::new(false)));
    let down = is_down.clone();
    let press: Press<V::Game> =
        Box::new(move |_, _| if down.get() { input } else { Default::default() });
    let client = sim.join_over(conditions, Skew::default(), press);
    sim.run(KEY_AFTER_SECS);
    let mut stage = Stage::<V>::watch(SEED, sim, client, SIZE);
    let mut seen = Vec::new();
    for n in 0..2 * KEY_WITHIN + KEYS * KEY_EVERY {
        is_down.set(n >= after);
        if let Some(Drawn { output, .. }) = stage.next_frame() {
            seen.push(hash(&stage, output));
        }
    }
    seen
}

/// A picture's vertices as a number.
fn hash<V: GameView>(stage: &Stage<V>, output: FullOutput) -> u64 {
    let mut hasher = DefaultHasher::new();
    for clipped in stage.tessellate(output) {
        let Primitive::Mesh(mesh) = clipped.primitive else { continue };
        for vertex in &mesh.vertices {
            let [x, y] = [vertex.pos.x, vertex.pos.y].map(f32::to_bits);
            (x, y, vertex.color.to_array()).hash(&mut hasher);
        }
    }
    hasher.finish()
}
