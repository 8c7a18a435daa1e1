//! Skirmish in the window: picture and controls.

mod arena;
mod effects;
mod events;
mod hud;
mod icons;
mod players;
mod shade;
mod things;

use std::cmp::Reverse;

use egui_macroquad::egui::{Color32, Painter};
use glam::Vec2;
use phaselock::game::Slot;
use phaselock::physics::turns;
use phaselock_games::rounds::{Phase, round};
use phaselock_games::skirmish::arena::HALF;
use phaselock_games::skirmish::{
    BLAST_REACH, Command, Goods, Player, Score, Skirmish, Weapon, players,
};

use effects::Effects;
use events::{Event, Watch};
use hud::Hud;
use players::Bodies;
use things::Things;

use super::rounds::{Announcer, draw_clock, draw_hint, draw_table};
use phaselock_client::camera::Camera;
use phaselock_client::controls::{Controls, KeyCode};
use phaselock_client::palette;
use phaselock_client::rig::{Rig, Shot};
use phaselock_client::scoreboard::Board;
use phaselock_client::view::{GameView, Scene};

/// The camera stays within the arena and a margin, so that nobody by a wall stands beneath the
/// texts along the window's edges; it cuts to another place in the world.
const SHOT: Shot = Shot {
    target: Vec2::ZERO,
    width: 26.0,
    height: 19.5,
    ease_secs: 0.07,
    cut: 9.0,
    bounds: Some((HALF, 3.0)),
};
/// Lean of the camera towards the mouse, as a share of the way.
const LOOK_AHEAD: f32 = 0.16;

#[derive(Debug, Default)]
pub(crate) struct SkirmishScreen {
    rig: Rig,
    /// Last position of the own player.
    own_at: Option<Vec2>,
    watch: Watch,
    effects: Effects,
    bodies: Bodies,
    things: Things,
    hud: Hud,
    announcer: Announcer,
    /// The own player as drawn: the wheel turns on from its weapon.
    own: Option<Player>,
    /// Deaths in the own score while the player was alive: a death is seen before its score names
    /// the killer.
    deaths_alive: u16,
}

impl GameView for SkirmishScreen {
    type Game = Skirmish;
    const TITLE: &'static str = "Skirmish";
    const KEYS: &'static [(&'static str, &'static str)] = &[
        ("WASD, arrows", "move"),
        ("Mouse", "aim"),
        ("Left button, Space", "fire"),
        ("1-4, wheel", "weapon"),
        ("Right button, E", "lift, let go to throw"),
        ("Tab", "scores"),
        ("F3, F4, F6", "details, graph, others"),
        ("Esc", "pause"),
    ];
    const BACKDROP: Color32 = palette::FLOOR;

    fn input(&self, controls: &Controls) -> Command {
        let aim = self.rig.at_rest().map_or(Vec2::X, |camera| {
            camera.to_world(controls.pointer) - self.own_at.unwrap_or(camera.middle)
        });
        Command {
            right: controls.axis(&[KeyCode::A, KeyCode::Left], &[KeyCode::D, KeyCode::Right]),
            down: controls.axis(&[KeyCode::W, KeyCode::Up], &[KeyCode::S, KeyCode::Down]),
            aim: turns(aim),
            fire: controls.button() || controls.key(&[KeyCode::Space]),
            grab: controls.second_button() || controls.key(&[KeyCode::E]),
            weapon: self.weapon(controls),
        }
    }

    fn draw(&mut self, scene: &Scene<'_, Skirmish>, painter: &Painter) -> Camera {
        self.own = scene.own();
        self.take_note(scene);
        let camera = self.aim_camera(scene);
        self.draw_world(scene, camera, painter);
        self.draw_over(scene, painter);
        camera
    }
}

impl SkirmishScreen {
    /// The weapon that controls ask for, by its number and 1, or 0: by its key, or by the wheel,
    /// past weapons without ammunition.
    fn weapon(&self, controls: &Controls) -> u8 {
        let keys = [KeyCode::Key1, KeyCode::Key2, KeyCode::Key3, KeyCode::Key4];
        if let Some(number) = (1..).zip(keys).find(|(_, key)| controls.key(&[*key])) {
            return number.0;
        }
        let Some(own) = self.own.filter(|_| controls.wheel() != 0) else { return 0 };
        let there = |weapon: &&Weapon| own.ammunition(**weapon) != Some(0);
        let there: Vec<_> = Weapon::ALL.iter().filter(there).collect();
        let now = there.iter().position(|weapon| **weapon == own.weapon()).unwrap_or(0);
        let next = (now as i32 - controls.wheel()).rem_euclid(there.len().max(1) as i32);
        there.get(next as usize).map_or(0, |weapon| **weapon as u8 + 1)
    }

    fn take_note(&mut self, scene: &Scene<'_, Skirmish>) {
        let (entities, own) = (&scene.picture.entities, scene.picture.own);
        self.bodies.advance(players(entities), scene.secs);
        self.effects.advance(scene.secs);
        self.announcer.advance(&round(entities), scene.secs);
        self.things.advance(entities, scene.secs, &mut self.effects.particles);
        self.hud.advance(scene.secs, self.own.as_ref());
        if self.own.is_some_and(|own| own.health > 0) {
            self.deaths_alive = scene.record_of::<Score>(scene.player).deaths;
        }

        for event in self.watch.observe(&scene.game.arena, entities, own, scene.secs) {
            self.bodies.handle(&event);
            let color = |id| palette::side(own == Some(id));
            match event {
                Event::Shot { shooter, along, from, to, hit } => {
                    self.effects.shot(from, to, along, color(shooter), hit);
                }
                Event::Hurt { id, damage } if own == Some(id) => {
                    self.hud.hurt(damage);
                    self.rig.shake(0.5 + f32::from(damage) / 100.0);
                }
                Event::Hurt { .. } => {}
                Event::Landed => self.hud.land(),
                Event::Died { id, at } => self.effects.death(at, color(id)),
                Event::Launched { shooter, along, from, weapon } => {
                    if weapon == Weapon::Rockets {
                        self.effects.launch(from, along, color(shooter));
                    }
                }
                Event::Blast { at, by } => {
                    self.effects.blast(at, palette::side(by == Some(scene.player)));
                    let far = self.own_at.map_or(f32::MAX, |own| own.distance(at));
                    self.rig.shake((0.75 - 0.75 * far / (BLAST_REACH * 4.0)).max(0.0));
                }
                Event::Taken { at, goods } => {
                    let health = goods == Goods::Health;
                    let color = if health { palette::GOOD } else { palette::STEEL };
                    self.effects.twinkle(at, color);
                }
                Event::Put { at } => self.effects.twinkle(at, palette::CRATE_EDGE),
                Event::Killed { victim, killer, means } => {
                    self.hud.kill(scene, killer, means, victim);
                }
                Event::Spawned { id, at } => self.effects.spawn(at, color(id)),
            }
        }
    }

    fn aim_camera(&mut self, scene: &Scene<'_, Skirmish>) -> Camera {
        if let Some(own) = self.own {
            self.own_at = Some(own.position());
        }
        let lean = if scene.active {
            let away = scene.pointer - scene.screen.center();
            let scale = Camera::new(scene.screen, Vec2::ZERO, SHOT.width, SHOT.height).scale;
            Vec2::new(away.x, away.y) / scale * LOOK_AHEAD
        } else {
            Vec2::ZERO
        };
        let target = self.own_at.unwrap_or(Vec2::ZERO) + lean.clamp_length_max(2.5);
        self.rig.follow(scene.screen, scene.secs, &Shot { target, ..SHOT })
    }

    fn draw_world(&self, scene: &Scene<'_, Skirmish>, camera: Camera, painter: &Painter) {
        // A dead player still sees from its last position.
        let viewpoint = scene.picture.own.and(self.own_at);
        arena::draw(painter, camera, &scene.game.arena, viewpoint);
        self.things.draw_floor(painter, camera, scene.player, scene.age_secs);
        self.effects.particles.draw_below(painter, camera);
        self.things.draw_props(painter, camera, false);
        let is_own = |slot: &Slot<Player>| scene.is_own(slot.id);
        let is_dead = |slot: &Slot<Player>| slot.entity.health == 0;
        // The dead lie beneath the living, and the own player above everybody.
        let mut shown: Vec<_> = self.bodies.shown().collect();
        shown.sort_by_key(|(slot, _)| (is_own(slot), !is_dead(slot)));
        for (slot, _) in &shown {
            self.bodies.draw(painter, camera, slot, is_own(slot));
        }
        self.things.draw_props(painter, camera, true);
        let entities = &scene.picture.entities;
        things::draw_shells(painter, camera, entities, scene.player, scene.rates);
        self.effects.draw_above(painter, camera);
        for (slot, sight) in shown.into_iter().filter(|(slot, _)| !is_own(slot) && !is_dead(slot)) {
            if let Some(tag) = scene.owner_tag(slot.owner) {
                players::draw_tag(painter, camera, &slot.entity, tag, sight);
            }
        }
    }

    fn draw_over(&self, scene: &Scene<'_, Skirmish>, painter: &Painter) {
        let (screen, own) = (scene.screen, self.own.as_ref());
        let board = Self::board(scene);
        self.hud.draw_wound(painter, screen, own);
        self.hud.draw_feed(painter, screen);
        let round = round(&scene.picture.entities);
        let time = (&round, scene.own_tick().tick);
        let score: Score = scene.record_of(scene.player);
        let figures = [(&*score.frags.to_string(), "FRAGS"), (&*board.place(), "PLACE")];
        draw_clock(painter, scene, time, figures);
        if let Some(own) = own {
            self.hud.draw_health(painter, screen, own);
            self.hud.draw_weapons(painter, screen, own);
            if own.health == 0 && !scene.scores && round.phase() != Phase::Results {
                let secs = f32::from(own.respawn) * scene.rates.step_secs();
                let killer = score.killed_by().filter(|_| score.deaths != self.deaths_alive);
                let killer = killer.map(|killer| scene.name_of(killer));
                self.hud.draw_death(painter, screen, killer, secs);
            }
        }
        // Beside the health, or above it where there is no room beside.
        let above = if screen.width() < 1700.0 { 96.0 } else { 26.0 };
        // In a narrow window only the most important keys.
        let told = if screen.width() < 1200.0 { 6 } else { Self::KEYS.len() };
        draw_hint(painter, scene, &Self::KEYS[..told], above);
        let verdict = match board.rows.first() {
            Some(row) if row.own => "You win the round".to_owned(),
            Some(row) => format!("{} wins the round", row.name),
            None => String::new(),
        };
        draw_table(painter, scene, time, &verdict, &board);
        self.announcer.draw(painter, screen);
        if let Some(own) = own.filter(|own| scene.active && own.health > 0) {
            let reload = f32::from(own.weapon().reload_ticks(scene.rates));
            let slow = own.weapon() != Weapon::Rifle && own.cooldown > 0;
            let wait = if slow { f32::from(own.cooldown) / reload.max(1.0) } else { 0.0 };
            self.hud.draw_crosshair(painter, scene.pointer, own, wait.min(1.0));
        } else if scene.active {
            self.hud.draw_crosshair(painter, scene.pointer, &Player::default(), 0.0);
        }
    }

    fn board(scene: &Scene<'_, Skirmish>) -> Board {
        let score = |player| scene.record_of::<Score>(player);
        let key = |player| (Reverse(score(player).frags), score(player).deaths);
        let values = |player| {
            let Score { frags, deaths, .. } = score(player);
            vec![frags.to_string(), deaths.to_string()]
        };
        Board::new(scene, &["FRAGS", "DEATHS"], key, values)
    }
}
