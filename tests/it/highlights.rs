//! Highlights: a goal and a finish are shown again as they were, to players and spectators, and are
//! over before play goes on.

use phaselock::client::{Highlights, Hindsight, Part};
use phaselock::game::{Entities, Game, Highlight};
use phaselock::ids::PlayerId;
use phaselock::link::LinkConfig;
use phaselock::time::{LocalTime, Micros, Rates, ServerTime, Tick};
use phaselock_games::puck::{Puck, ShufflePuck};
use phaselock_games::race::{Car, Race, car_of};
use phaselock_games::rounds::{Phase, round};
use phaselock_testing::{Sim, room_config};

use glam::Vec2;

const RATES: Rates = Rates::DEFAULT;

/// A frame in which a highlight is shown.
#[derive(Debug)]
struct Shown<G: Game> {
    highlight: Highlight,
    /// The player's own time, and the time that is shown.
    own: ServerTime,
    at: ServerTime,
    entities: Entities<G::Entity>,
}

/// Draws highlights, as the window does.
struct Screen<G: Game> {
    client: usize,
    viewer: PlayerId,
    highlights: Highlights,
    hindsight: Option<(Tick, Hindsight<G>)>,
    drawn: LocalTime,
    shown: Vec<Shown<G>>,
}

impl<G: Game> Screen<G> {
    fn new(sim: &mut Sim<G>, client: usize, viewer: PlayerId) -> Self {
        sim.clients[client].core_mut().remember();
        let (highlights, drawn) = (Highlights::default(), LocalTime(0));
        Self { client, viewer, highlights, hindsight: None, drawn, shown: Vec::new() }
    }

    /// Draws a frame, if one is due at 60 Hz.
    fn draw(&mut self, sim: &mut Sim<G>) {
        let now = sim.now;
        if now - self.drawn < Micros(16_667) {
            return;
        }
        self.drawn = now;
        let client = sim.clients[self.client].core_mut();
        let picture = client.picture(now);
        let own = picture.viewer_time(client.watching().is_some());
        let found = self.highlights.poll(client, &picture, (self.viewer, None));
        let Some((highlight, at)) = found else { return };
        let known = self.hindsight.take().filter(|(tick, _)| *tick == highlight.tick);
        let fresh = || (highlight.tick, Hindsight::again(RATES, &highlight));
        let (_, hindsight) = self.hindsight.insert(known.unwrap_or_else(fresh));
        let picture = hindsight.picture(client, at, Micros::ZERO);
        let entities = picture.entities.as_ref().clone();
        self.shown.push(Shown { highlight, own, at, entities });
    }
}

fn puck(entities: &Entities<<ShufflePuck as Game>::Entity>) -> Option<Puck> {
    ShufflePuck::puck_of(entities, 0).map(|slot| slot.entity)
}

fn puck_at(entities: &Entities<<ShufflePuck as Game>::Entity>) -> Option<Vec2> {
    puck(entities).map(|puck| puck.position())
}

/// Mean distance of something shown from where it was.
fn error<G: Game>(
    sim: &Sim<G>,
    shown: &[Shown<G>],
    of: impl Fn(&Entities<G::Entity>) -> Option<Vec2>,
) -> f32 {
    let off = shown.iter().map(|it| {
        let tick = RATES.tick_at(it.at);
        let part = (it.at - RATES.time_of(tick)).as_secs() as f32 * RATES.tick_hz as f32;
        let [a, b] = [tick, tick.plus(1)].map(|tick| of(&sim.truth[&tick]).expect("it is there"));
        a.lerp(b, part).distance(of(&it.entities).expect("it is shown"))
    });
    off.sum::<f32>() / shown.len() as f32
}

/// Two bots who play, and a spectator: screens of the first bot and of the spectator, and that bot.
fn watched<G: Game>(seed: u64, delay_ms: i64) -> (Sim<G>, [Screen<G>; 2], PlayerId) {
    let mut sim = Sim::with(room_config(seed, 0).with(|it| it.watchers_max = 1));
    let link = LinkConfig::delayed(delay_ms, 4);
    let player = sim.join_bot(link);
    sim.join_bot(link);
    sim.part = Part::Watch;
    let watcher = sim.join_bot(link);
    sim.run(2.0);
    let viewer = sim.clients[player].core().player();
    let screens = [player, watcher].map(|client| Screen::new(&mut sim, client, viewer));
    (sim, screens, viewer)
}

/// Plays on until a goal during play, and a second longer than until the next face-off. Returns the
/// ticks of goal and face-off.
fn goal(sim: &mut Sim<ShufflePuck>, screens: &mut [Screen<ShufflePuck>]) -> [Tick; 2] {
    let (mut goal, mut served) = (None, None);
    for _ in 0..200 {
        sim.run_each(1.0, |sim| {
            let world = sim.room.world();
            let puck = puck(&world.entities).expect("there is a puck");
            let is_play = round(&world.entities).phase() == Phase::Play;
            match (goal, served) {
                (None, _) if is_play && puck.scored != 0 => goal = Some(world.tick),
                (Some(_), None) if puck.is_in_play() => served = Some(world.tick),
                _ => {}
            }
            screens.iter_mut().for_each(|screen| screen.draw(sim));
        });
        if let Some(served) = served.filter(|at| sim.room.world().tick > at.plus(60)) {
            return [goal.expect("it came before"), served];
        }
    }
    panic!("nobody scores");
}

#[test]
fn a_goal_is_shown_as_it_was_and_ends_before_the_face_off() {
    for delay_ms in [20, 100, 200] {
        let (mut sim, mut screens, _) = watched::<ShufflePuck>(11, delay_ms);
        let [goal, served] = goal(&mut sim, &mut screens);
        for screen in &screens {
            let shown = &screen.shown;
            let (first, last) = (&shown[0], &shown[shown.len() - 1]);
            let secs = (last.own - first.own).as_secs();
            let off = error(&sim, shown, puck_at);
            let who = if screen.client == 0 { "player" } else { "spectator" };
            eprintln!("{who} at {delay_ms} ms: {secs:.2} s, {off:.3} m off");
            assert!(shown.iter().all(|it| it.highlight.tick == goal), "the goal at {goal}");
            assert!((1.2..1.6).contains(&secs), "{secs} s");
            assert!(last.own < RATES.time_of(served) - Micros::from_ms(250));
            assert!(first.own > RATES.time_of(goal) + Micros::from_ms(490));
            let [before, after] = [&first.at, &last.at].map(|at| *at - RATES.time_of(goal));
            assert!(before < Micros::from_ms(-450) && after > Micros::from_ms(100));
            assert!(puck(&first.entities).is_some_and(|puck| puck.scored == 0));
            assert!(puck(&last.entities).is_some_and(|puck| puck.scored != 0));
            assert!(off < 0.1, "the puck is {off} m off");
        }
    }
}

#[test]
fn a_skipped_goal_stays_away_and_the_next_one_is_shown() {
    let (mut sim, [mut screen, _], _) = watched::<ShufflePuck>(11, 50);
    let mut frames = 0;
    let mut skipped = None;
    sim.run_each(60.0, |sim| {
        screen.draw(sim);
        if screen.shown.len() == 20 && skipped.is_none() {
            assert!(screen.highlights.is_shown());
            screen.highlights.skip();
            skipped = Some(screen.shown[0].highlight.tick);
        }
        frames += 1;
    });
    let skipped = skipped.expect("a goal is shown");
    let of_it = screen.shown.iter().filter(|it| it.highlight.tick == skipped).count();
    assert_eq!(of_it, 20);
    let next = screen.shown.iter().filter(|it| it.highlight.tick != skipped).count();
    assert!(next > 70, "{next} frames of the next goal in {frames}");
}

#[test]
fn a_finish_is_shown_to_its_driver_and_to_who_watches() {
    let (mut sim, mut screens, viewer) = watched::<Race>(5, 60);
    let mut home = None;
    for _ in 0..320 {
        sim.run_each(1.0, |sim| {
            let world = sim.room.world();
            let car = car_of(&world.entities, viewer).expect("it drives");
            if car.has_finished() && home.is_none() {
                home = Some(world.tick);
            }
            screens.iter_mut().for_each(|screen| screen.draw(sim));
        });
        let oldest = sim.room.world().tick.minus(900);
        sim.truth.retain(|tick, _| *tick > oldest);
        if home.is_some_and(|home| sim.room.world().tick > home.plus(360)) {
            break;
        }
    }
    let home = home.expect("the bot finishes");
    for screen in &screens {
        let shown = &screen.shown;
        let (first, last) = (&shown[0], &shown[shown.len() - 1]);
        let secs = (last.own - first.own).as_secs();
        let off = error(&sim, shown, |it| car_of(it, viewer).map(Car::position));
        eprintln!("{secs:.2} s, {off:.3} m off");
        let apart = |it: &Shown<Race>| it.highlight.tick.0.abs_diff(home.0);
        assert!(shown.iter().all(|it| apart(it) <= 1), "{:?}, not {home}", first.highlight);
        assert!((2.2..2.5).contains(&secs), "{secs} s");
        let car = |it: &Shown<Race>| car_of(&it.entities, viewer).map(Car::has_finished);
        assert_eq!((car(first), car(last)), (Some(false), Some(true)));
        assert!(off < 0.3, "the car is {off} m off");
    }
}
