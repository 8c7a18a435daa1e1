//! Asteroids in the window: what its players see and which keys they press.
//!
//! The field begins anew at its edges; the picture does not. The camera goes on and on with the own ship, and
//! everything is drawn at the image of its place that is nearest to that.

mod events;
mod hud;
mod rocks;
mod ships;
mod space;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use egui_macroquad::egui::{Color32, Painter};
use glam::Vec2;
use macroquad::rand::gen_range;
use phaselock::ids::PlayerId;
use phaselock::physics::direction;
use phaselock_games::asteroids::field::FIELD;
use phaselock_games::asteroids::{
    Asteroids, Bullet, Command, REACH, Rock, SHIELD_SECS, Score, Ship,
};
use phaselock_games::rounds::{Phase, Round, round};

use events::{Event, Watch};
use hud::{Hud, Who};
use ships::{Seen, Ships};
use space::Space;

use super::rounds::{Announcer, draw_clock, draw_hint, draw_results};
use phaselock_client::camera::Camera;
use phaselock_client::controls::{Controls, KeyCode};
use phaselock_client::palette;
use phaselock_client::particles::Particles;
use phaselock_client::rig::{Rig, Shot};
use phaselock_client::scoreboard::{self, Board};
use phaselock_client::view::{GameView, Scene};

/// Visible metres from left to right on most screens, and from top to bottom at most.
const SEEN_WIDTH: f32 = 58.0;
const SEEN_HEIGHT: f32 = 43.0;
/// Half-life of the camera's distance to its target, in seconds.
const EASE_SECS: f32 = 0.1;
/// Seconds of the own ship's flight that the camera looks ahead.
const LOOK_AHEAD_SECS: f32 = 0.32;
/// Metres beyond which the camera jumps: another life, not a flight.
const CUT: f32 = 24.0;

type AsteroidsScene<'a> = Scene<'a, Asteroids>;

#[derive(Debug, Default)]
pub(crate) struct AsteroidsScreen {
    drawn: Option<Camera>,
    rig: Rig,
    /// Last position of the own ship, beyond all edges.
    own_at: Vec2,
    lean: Vec2,
    space: Space,
    watch: Watch,
    particles: Particles,
    ships: Ships,
    hud: Hud,
    announcer: Announcer,
    /// Everybody's scores, those included who are far away.
    scores: BTreeMap<PlayerId, Score>,
    /// Deaths in the own score while the ship was whole: a wreck is seen before its score names
    /// the killer.
    deaths_alive: u16,
}

impl GameView for AsteroidsScreen {
    type Game = Asteroids;
    const TITLE: &'static str = "Asteroids";
    const KEYS: &'static [(&'static str, &'static str)] = &[
        ("A D, left, right", "turn"),
        ("W, up", "thrust"),
        ("Space, left button", "fire"),
        ("Tab", "scores"),
        ("F3, F4, F6", "details, graph, others"),
        ("Esc", "pause"),
    ];
    const BACKDROP: Color32 = palette::VOID;

    fn input(&self, controls: &Controls) -> Command {
        Command {
            turn: controls.axis(&[KeyCode::A, KeyCode::Left], &[KeyCode::D, KeyCode::Right]),
            thrust: controls.key(&[KeyCode::W, KeyCode::Up]),
            fire: controls.key(&[KeyCode::Space]) || controls.button(),
        }
    }

    fn camera(&self) -> Option<Camera> {
        self.drawn
    }

    fn draw(&mut self, scene: &AsteroidsScene<'_>, painter: &Painter) {
        let own = scene.view.own.and_then(|id| scene.view.entities.record::<Ship>(id)).copied();
        if let Some(own) = &own {
            self.own_at = self.image(own.position());
        }
        self.take_note(scene);
        let camera = self.aim_camera(scene, own.as_ref());
        self.drawn = Some(camera);
        self.draw_world(scene, camera, painter);
        self.draw_over(scene, own.as_ref(), painter);
    }
}

impl AsteroidsScreen {
    /// Image of a position in the field that is nearest to the own ship.
    fn image(&self, place: Vec2) -> Vec2 {
        self.own_at + FIELD.way(FIELD.fold(self.own_at), place)
    }

    fn seen(&self, scene: &AsteroidsScene<'_>) -> Vec<Seen> {
        let ships = scene.view.entities.records::<Ship>();
        let seen = ships.map(|slot| Seen {
            id: slot.id,
            ship: slot.entity,
            at: self.image(slot.entity.position()),
            own: scene.view.own == Some(slot.id),
        });
        seen.collect()
    }

    fn take_note(&mut self, scene: &AsteroidsScene<'_>) {
        let (entities, own) = (&scene.view.entities, scene.view.own);
        let scores = entities.records::<Score>();
        self.scores = scores.filter_map(|slot| Some((slot.owner?, slot.entity))).collect();
        self.particles.advance(scene.secs);
        self.hud.advance(scene.secs);
        let ships = self.seen(scene);
        self.ships.advance(&ships, scene.secs);
        if let Some(round) = entities.records::<Round>().next() {
            self.announcer.advance(&round.entity, scene.secs);
        }
        if own.and_then(|id| entities.record::<Ship>(id)).is_some_and(Ship::is_alive) {
            self.deaths_alive = self.score(scene.player).deaths;
        }
        let from = FIELD.fold(self.own_at);
        let is_near = |place| FIELD.distance(from, place) < REACH - 6.0;
        for event in self.watch.observe(entities, own, is_near) {
            self.show(scene, event);
        }
    }

    fn show(&mut self, scene: &AsteroidsScene<'_>, event: Event) {
        let own = scene.view.own;
        let color = |mine: bool| if mine { palette::OWN } else { palette::FOE };
        match event {
            Event::Fired { id, at, along } => {
                let at = self.image(at) + along * 1.3;
                self.particles.flash(at, along, 0.55, color(own == Some(id)), 0.0);
            }
            Event::Hurt { id, at } => {
                self.ships.hurt(id);
                self.particles.burst(self.image(at), 14, 9.0, palette::WARN, 0.4);
                if own == Some(id) {
                    self.hud.hurt();
                    self.rig.shake(0.55);
                }
            }
            Event::Wrecked { id, at, velocity } => {
                let at = self.image(at);
                self.particles.explosion(at, 3.6, color(own == Some(id)));
                for n in 0..9 {
                    let out = direction(n as f32 * 0.38) * gen_range(2.0, 7.0);
                    self.particles.splinter(at, velocity + out, 0.34, color(own == Some(id)), 1.3);
                }
                let far = at.distance(self.own_at);
                self.rig.shake(if own == Some(id) { 1.0 } else { (0.5 - far / 60.0).max(0.0) });
            }
            Event::Came { id, at } => {
                let at = self.image(at);
                self.particles.ring(at, (5.0, 1.0), color(own == Some(id)), 0.5);
                self.particles.ring(at, (0.5, 3.0), Color32::WHITE, 0.35);
            }
            Event::Broke { at, velocity, radius } => {
                let at = self.image(at);
                let count = (radius * 6.0) as usize;
                self.particles.ring(at, (radius * 0.4, radius * 1.5), palette::STEEL, 0.35);
                self.particles.burst(at, count, radius * 5.0, palette::STEEL, 0.55);
                for n in 0..count {
                    let out = direction(n as f32 * 0.38 + gen_range(-0.1, 0.1));
                    let speed = radius * gen_range(0.4, 2.0);
                    let place = at + out * radius * gen_range(0.1, 0.8);
                    self.particles.splinter(
                        place,
                        velocity + out * speed,
                        gen_range(0.12, 0.4),
                        palette::WALL_RIM,
                        1.0,
                    );
                    if n % 3 == 0 {
                        let dust = palette::WALL_SIDE;
                        self.particles.puff(place, velocity + out, radius * 0.45, dust, 0.9);
                    }
                }
            }
            Event::Struck { at, along, owner } => {
                let at = self.image(at);
                let color = color(owner == Some(scene.player));
                self.particles.flash(at, Vec2::ZERO, 0.7, color, 0.03);
                self.particles.spray(at, -along, 8, 10.0, color, 0.35);
            }
            Event::Lost { victim, killer } => {
                let who = |player: PlayerId| Who {
                    name: scene.name_of(player).to_owned(),
                    own: player == scene.player,
                };
                self.hud.lost(killer.map(who), who(victim));
            }
        }
    }

    fn aim_camera(&mut self, scene: &AsteroidsScene<'_>, own: Option<&Ship>) -> Camera {
        let ahead = own.map_or(Vec2::ZERO, |own| own.velocity() * LOOK_AHEAD_SECS);
        self.lean += (ahead - self.lean) * (1.0 - (-scene.secs / 0.4).exp2());
        let shot = Shot {
            target: self.own_at + self.lean,
            width: SEEN_WIDTH,
            height: SEEN_HEIGHT,
            ease_secs: EASE_SECS,
            cut: CUT,
            bounds: None,
        };
        let camera = self.rig.follow(scene.screen, scene.secs, &shot);
        self.rig.shaken(camera, scene.age_secs)
    }

    fn draw_world(&self, scene: &AsteroidsScene<'_>, camera: Camera, painter: &Painter) {
        self.space.draw(painter, camera, scene.age_secs);
        let half = camera.half();
        let in_sight = |at: Vec2, margin: f32| {
            let away = (at - camera.middle).abs();
            away.x < half.x + margin && away.y < half.y + margin
        };
        let ships = self.seen(scene);
        self.ships.draw_trails(painter, camera, &ships);
        self.particles.draw_below(painter, camera);
        let now = scene.own_tick();
        let step = f64::from(scene.rates.step_secs());
        let secs = (now.tick.0 as f64 + f64::from(now.fraction)) * step;
        let entities = &scene.view.entities;
        for slot in entities.records::<Rock>() {
            let at = self.image(slot.entity.position());
            if in_sight(at, 9.0) {
                rocks::draw(painter, camera, &slot.entity, at, secs);
            }
        }
        for slot in entities.records::<Bullet>() {
            let at = self.image(slot.entity.position());
            if in_sight(at, 2.0) {
                let own = slot.owner == Some(scene.player);
                ships::draw_bullet(painter, camera, &slot.entity, at, own);
            }
        }
        // Oneself above the others.
        let alive = || ships.iter().filter(|seen| seen.ship.is_alive() && in_sight(seen.at, 4.0));
        for seen in alive().filter(|seen| !seen.own).chain(alive().filter(|seen| seen.own)) {
            self.ships.draw(painter, camera, seen, scene.age_secs);
        }
        self.particles.draw_above(painter, camera);
        for seen in alive().filter(|seen| !seen.own) {
            let owner = entities.get(seen.id).and_then(|slot| slot.owner);
            if let Some(owner) = owner.filter(|owner| scene.roster.contains_key(owner)) {
                ships::draw_tag(painter, camera, seen, scene.name_of(owner), scene.is_bot(owner));
            }
        }
    }

    fn draw_over(&self, scene: &AsteroidsScene<'_>, own: Option<&Ship>, painter: &Painter) {
        let screen = scene.screen;
        let board = self.board(scene);
        let round = round(&scene.view.entities);
        let now = scene.own_tick().tick;
        let results = round.phase() == Phase::Results;
        self.hud.draw_wound(painter, screen, own);
        self.hud.draw_feed(painter, screen);
        let points = self.score(scene.player).points.to_string();
        let place = board.place().map_or("-".into(), |(place, of)| format!("{place}/{of}"));
        let clock = draw_clock(
            painter,
            screen,
            &round,
            (now, scene.rates),
            [(&points, "POINTS"), (&place, "PLACE")],
        );
        hud::draw_phase(painter, clock, round.phase());
        self.announcer.draw(painter, screen);
        if let Some(own) = own {
            hud::draw_state(painter, screen, own, scene.rates.step_secs());
            hud::draw_radar(painter, scene, own);
            if !own.is_alive() && !scene.scores && !results {
                let secs = f32::from(own.respawn) * scene.rates.step_secs();
                let score = self.score(scene.player);
                let killer = (score.deaths != self.deaths_alive).then_some(score.killer);
                let killer = killer.and_then(|killer| killer.checked_sub(2)).map(PlayerId);
                let killer = killer.map(|killer| scene.name_of(killer));
                self.hud.draw_loss(painter, screen, killer, secs);
            }
        }
        if results {
            let best = board.rows.first();
            let verdict = match best {
                Some(row) if row.own => "You have won".to_owned(),
                Some(row) => format!("{} has won", row.name),
                None => String::new(),
            };
            let secs = round.secs_left(now, scene.rates);
            draw_results(painter, screen, &verdict, &board, secs);
        } else if scene.scores {
            scoreboard::draw(painter, screen, &board);
        }
        if !scene.crowded && !results {
            // Between what is written in the corners, or above it.
            let above = if screen.width() < 1500.0 { 112.0 } else { 26.0 };
            draw_hint(painter, screen, Self::KEYS, scene.age_secs, above);
        }
    }

    fn score(&self, player: PlayerId) -> Score {
        self.scores.get(&player).copied().unwrap_or_default()
    }

    fn board(&self, scene: &AsteroidsScene<'_>) -> Board {
        let key = |player| {
            let Score { points, deaths, .. } = self.score(player);
            (Reverse(points), deaths)
        };
        let values = |player| {
            let Score { points, rocks, ships, .. } = self.score(player);
            vec![points.to_string(), rocks.to_string(), ships.to_string()]
        };
        Board::new(scene, &["POINTS", "ROCKS", "SHIPS"], key, values)
    }
}
