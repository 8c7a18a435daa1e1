//! Asteroids in the window: view and controls.
//!
//! The field repeats beyond its edges. The camera follows the local ship across them, and
//! everything is drawn at the image of its position that is nearest to the ship.

mod actions;
mod cues;
mod events;
mod hud;
mod lesson;
mod rocks;
mod ships;
mod space;

use std::cmp::Reverse;

use macroquad::rand::gen_range;
use phaselock::game::RoundPart;
use phaselock::physics::direction;
use phaselock_games::asteroids::field::FIELD;
use phaselock_games::asteroids::{Asteroids, Bullet, Command, REACH, Rock, Score, Ship};
use phaselock_games::rounds::{Phase, Round, round};
use phaselock_ui::prelude::*;

use actions::{FIRE, LEFT, RIGHT, THRUST};
use events::{Event, Watch};
use hud::{Hud, WOUND_SECS};
use ships::{Seen, Ships};
use space::Space;

use super::rounds::{
    Aim, Announcer, Start, draw_clock, draw_hint, draw_table, part, shows_figures, winner_of,
};

/// The camera; it cuts to another life.
const SHOT: Shot =
    Shot { target: Vec2::ZERO, width: 58.0, height: 43.0, ease_secs: 0.1, cut: 24.0, bounds: None };
/// Radius kept free around the local ship, in metres: its hull and its shield.
const OWN_RADIUS: f32 = 1.6;
/// Seconds of the local ship's flight that the camera looks ahead.
const LOOK_AHEAD_SECS: f32 = 0.32;

type AsteroidsScene<'a> = Scene<'a, Asteroids>;

/// The view of Asteroids.
#[derive(Debug, Default)]
pub struct AsteroidsScreen {
    camera_rig: CameraRig,
    /// Last position of the local ship, beyond all edges.
    own_at: Vec2,
    lean: Vec2,
    space: Space,
    watch: Watch,
    particles: Particles,
    ships: Ships,
    hud: Hud,
    announcer: Announcer,
    /// Deaths in the local score while the ship was whole: a wreck is seen before its score names
    /// the killer.
    deaths_alive: u16,
}

impl GameView for AsteroidsScreen {
    type Game = Asteroids;
    const TITLE: &'static str = "Asteroids";
    const ACTIONS: &'static [Action] = &[LEFT, RIGHT, THRUST, FIRE];
    const CUES: &'static [&'static Cue] = cues::ALL;
    const LESSON: &'static [LessonStep<Asteroids>] = lesson::STEPS;

    fn input(&self, controls: &Controls) -> Command {
        Command {
            turn: controls.direction(&LEFT, &RIGHT),
            thrust: controls.held(&THRUST),
            fire: controls.held(&FIRE),
        }
    }

    fn measure_words(_name: &'static str) -> &'static str {
        tr("points")
    }

    fn kind_words(record: &'static str) -> &'static str {
        match record {
            "Ship" => tr("Ships"),
            "Rock" => tr("Rocks"),
            "Bullet" => tr("Bullets"),
            other => other,
        }
    }

    fn part(&self, scene: &Scene<'_, Asteroids>) -> Option<RoundPart> {
        part(scene)
    }

    fn draw(&mut self, scene: &AsteroidsScene<'_>) -> Camera {
        let own: Option<Ship> = scene.own();
        if let Some(own) = &own {
            self.own_at = self.image(own.position());
        }
        self.take_note(scene, own.as_ref());
        let ahead = own.map_or(Vec2::ZERO, |own| own.velocity() * LOOK_AHEAD_SECS);
        self.lean = ease(self.lean, ahead, scene.secs, 0.4);
        let target = self.own_at + self.lean;
        let camera = scene.aim(&mut self.camera_rig, &Shot { target, ..SHOT });
        scene.cues.listen(&camera);
        let brush = Brush::new(scene.painter, camera);
        if own.is_some_and(|own| own.is_alive()) {
            layout::keep_free(scene.painter, brush.around(self.own_at, OWN_RADIUS));
        }
        self.draw_world(scene, &brush);
        self.draw_over(scene, own.as_ref());
        camera
    }
}

impl AsteroidsScreen {
    /// Image of a position in the field that is nearest to the local ship.
    fn image(&self, position: Vec2) -> Vec2 {
        self.own_at + FIELD.way(FIELD.fold(self.own_at), position)
    }

    fn seen(&self, scene: &AsteroidsScene<'_>) -> Vec<Seen> {
        let ships = scene.picture.entities.records::<Ship>();
        let seen = ships.map(|slot| Seen {
            id: slot.id,
            ship: slot.entity,
            at: self.image(slot.entity.position()),
            own: scene.is_own(slot.id),
            dress: scene.dress_of(slot.owner),
        });
        seen.collect()
    }

    fn take_note(&mut self, scene: &AsteroidsScene<'_>, own: Option<&Ship>) {
        let entities = &scene.picture.entities;
        self.particles.advance(scene.secs);
        self.hud.advance(scene.secs);
        let ships = self.seen(scene);
        self.ships.advance(&ships, scene.secs);
        for seen in ships.iter().filter(|seen| seen.ship.is_alive() && seen.ship.thrust) {
            let (key, at) = (u64::from(seen.id.index), Some(seen.at));
            let loud = if seen.own { 1.0 } else { 0.7 };
            let pitch = 0.9 + seen.ship.velocity().length() / 90.0;
            scene.cues.sustain(ContinuousSound { key, sound: &cues::THRUST, at, loud, pitch });
        }
        if let Some(round) = entities.records::<Round>().next() {
            let begun = self.announcer.advance(scene, &round.entity, Start::AtOnce);
            if begun == Some(Phase::Results) {
                let won = Self::board(scene).rows.first().is_some_and(|row| row.own);
                Announcer::end(scene.cues, won);
            }
        }
        if own.is_some_and(Ship::is_alive) {
            self.deaths_alive = scene.record_of::<Score>(scene.player).deaths;
        }
        let from = FIELD.fold(self.own_at);
        let is_near = |position| FIELD.distance(from, position) < REACH - 6.0;
        for event in self.watch.observe(entities, scene.picture.own, is_near) {
            self.show(scene, event);
        }
    }

    fn show(&mut self, scene: &AsteroidsScene<'_>, event: Event) {
        let own = scene.picture.own;
        let color = |id| palette::side(own == Some(id));
        let image = |position| self.own_at + FIELD.way(FIELD.fold(self.own_at), position);
        let (particles, rig) = (&mut self.particles, &mut self.camera_rig);
        let mut emit =
            |cue, it, particles: &mut Particles| scene.cues.emit(cue, it, particles, rig);
        match event {
            Event::Fired { id, at, along } => {
                let at = image(at) + along * 1.3;
                particles.flash(at, along, Flash { size: 0.55, longer: 0.0, color: color(id) });
                let it = Happening::at(at, color(id)).felt_if(own == Some(id));
                emit(&cues::FIRED, it, particles);
            }
            Event::Hurt { id, at } => {
                self.ships.hurt(id);
                let is_own = own == Some(id);
                emit(&cues::HURT, Happening::at(image(at), color(id)).felt_if(is_own), particles);
                if is_own {
                    self.hud.wound = WOUND_SECS;
                }
            }
            Event::Wrecked { id, at, velocity } => {
                let at = image(at);
                draw_wreck(particles, at, velocity, color(id));
                let far = at.distance(self.own_at);
                let felt = if own == Some(id) { 1.0 } else { (0.5 - far / 60.0).max(0.0) };
                emit(&cues::WRECKED, Happening { felt, ..Happening::at(at, color(id)) }, particles);
            }
            Event::Came { id, at } => {
                emit(&cues::CAME, Happening::at(image(at), color(id)), particles);
            }
            Event::Broke { at, velocity: drift, radius } => {
                let at = image(at);
                draw_broken(particles, at, drift, radius);
                // A small rock breaks higher and softer.
                let (pitch, loud) =
                    ((2.0 / radius).clamp(0.6, 1.8), (radius / 3.0).clamp(0.4, 1.0));
                let it = Happening::at(at, palette::STEEL);
                emit(&cues::BROKE, Happening { pitch, loud, ..it }, particles);
            }
            Event::Struck { at, along, owner } => {
                let at = image(at);
                let color = palette::side(owner == Some(scene.player));
                particles.flash(at, Vec2::ZERO, Flash { size: 0.7, longer: 0.03, color });
                particles.spray(at, -along, Sparks { count: 8, speed: 10.0, life: 0.35, color });
                emit(&cues::STRUCK, Happening::at(at, color), particles);
            }
            Event::Lost { victim, killer } => {
                if killer == Some(scene.player) && victim != scene.player {
                    scene.cues.play(&cues::FRAG);
                }
                self.hud.feed.push(scene, (killer, (), victim));
            }
        }
    }

    fn draw_world(&self, scene: &AsteroidsScene<'_>, brush: &Brush<'_>) {
        self.space.draw(brush, scene.age_secs);
        let ships = self.seen(scene);
        self.ships.draw_trails(brush, &ships);
        self.particles.draw_below(brush);
        let now = scene.own_tick();
        let step = f64::from(scene.rates.step_secs());
        let secs = (now.tick.0 as f64 + f64::from(now.fraction)) * step;
        let entities = &scene.picture.entities;
        for slot in entities.records::<Rock>() {
            let at = self.image(slot.entity.position());
            if brush.camera.sees(at, 9.0) {
                rocks::draw(brush, &slot.entity, at, secs);
            }
        }
        for slot in entities.records::<Bullet>() {
            let at = self.image(slot.entity.position());
            if brush.camera.sees(at, 2.0) {
                let own = slot.owner == Some(scene.player);
                let color = scene.dress_of(slot.owner).color;
                ships::draw_bullet(brush, (&slot.entity, own), at, color);
            }
        }
        // The local ship is above the others.
        let alive =
            || ships.iter().filter(|seen| seen.ship.is_alive() && brush.camera.sees(seen.at, 4.0));
        for seen in alive().filter(|seen| !seen.own).chain(alive().filter(|seen| seen.own)) {
            self.ships.draw(brush, seen, scene.age_secs);
        }
        self.particles.draw_above(brush);
        for seen in alive().filter(|seen| !seen.own) {
            let owner = entities.get(seen.id).and_then(|slot| slot.owner);
            if let Some(tag) = scene.owner_tag(owner) {
                ships::draw_tag(brush, seen, tag);
            }
        }
    }

    fn draw_over(&self, scene: &AsteroidsScene<'_>, own: Option<&Ship>) {
        let screen = scene.screen;
        let board = Self::board(scene);
        let round = round(&scene.picture.entities);
        let time = (&round, scene.own_tick().tick);
        let results = round.phase() == Phase::Results;
        self.hud.draw_wound(scene, own);
        if !results {
            self.hud.feed.draw(scene, tr("a rock"), |_, right_top, strength| {
                let color = fade(palette::TEXT_FAINT, strength);
                text(scene.painter, right_top, Align2::RIGHT_TOP, "➡", (14.0, color)).width()
            });
        }
        let score: Score = scene.record_of(scene.player);
        let figures = [(&*score.points.to_string(), tr("POINTS")), (&*board.place(), tr("PLACE"))];
        let words = tr("First to {limit} points wins, or the most at the end.");
        draw_clock(
            scene,
            time,
            figures,
            &Aim::first_to(phaselock_games::asteroids::POINTS_MAX, words),
        );
        if let Some(own) = own.filter(|_| shows_figures(scene, &round)) {
            hud::draw_state(scene, own, scene.rates.step_secs());
            hud::draw_radar(scene, own);
            if scene.watched.is_none() && !own.is_alive() {
                let secs = f32::from(own.respawn) * scene.rates.step_secs();
                let killer = (score.deaths != self.deaths_alive).then_some(score.killer);
                let killer = killer.and_then(|killer| killer.checked_sub(2)).map(PlayerId);
                let killer = killer.map(|killer| scene.name_of(killer));
                self.hud.draw_loss(scene, killer, secs);
            }
        }
        let verdict = winner_of(scene, &board);
        draw_table(scene, time, &verdict, &board);
        if !results {
            self.announcer.draw(scene);
            // Between the texts in the corners, or above them.
            let above = if screen.width() < 1500.0 { 112.0 } else { 26.0 };
            draw_hint(scene, usize::MAX, above);
        }
    }

    fn board(scene: &AsteroidsScene<'_>) -> Scoreboard {
        let key = |score: &Score| (Reverse(score.points), score.deaths);
        let values = |Score { points, rocks, ships, .. }: &Score| {
            vec![points.to_string(), rocks.to_string(), ships.to_string()]
        };
        Scoreboard::new(scene, &["POINTS", "ROCKS", "SHIPS"], key, values)
    }
}

/// Splinters of a ship.
fn draw_wreck(particles: &mut Particles, at: Vec2, drift: Vec2, color: Color32) {
    for n in 0..9 {
        let velocity = drift + direction(n as f32 * 0.38) * gen_range(2.0, 7.0);
        particles.splinter(Mote { at, velocity, size: 0.34, life: 1.3, color });
    }
}

/// Sparks, splinters and dust of a rock.
fn draw_broken(particles: &mut Particles, middle: Vec2, drift: Vec2, radius: f32) {
    let (count, color) = ((radius * 6.0) as usize, palette::STEEL);
    particles.ring(middle, (radius * 0.4, radius * 1.5), color, 0.35);
    particles.burst(middle, Sparks { count, speed: radius * 5.0, life: 0.55, color });
    for n in 0..count {
        let out = direction(n as f32 * 0.38 + gen_range(-0.1, 0.1));
        let speed = radius * gen_range(0.4, 2.0);
        let at = middle + out * radius * gen_range(0.1, 0.8);
        let (velocity, size) = (drift + out * speed, gen_range(0.12, 0.4));
        particles.splinter(Mote { at, velocity, size, life: 1.0, color: palette::WALL_RIM });
        if n % 3 == 0 {
            let (velocity, size) = (drift + out, radius * 0.45);
            particles.puff(Mote { at, velocity, size, life: 0.9, color: palette::WALL_SIDE });
        }
    }
}
