//! Skirmish in the window: what its players see and which keys they press.

mod arena;
mod effects;
mod events;
mod hud;
mod icons;
mod players;
mod shade;
mod things;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use egui_macroquad::egui::{Color32, Painter, Rect};
use glam::Vec2;
use phaselock::game::Slot;
use phaselock::ids::PlayerId;
use phaselock::physics::turns;
use phaselock_games::rounds::{Phase, round};
use phaselock_games::skirmish::arena::HALF;
use phaselock_games::skirmish::{
    BLAST_REACH, Command, Goods, Player, Score, Skirmish, Weapon, player, players, scores,
};

use effects::Effects;
use events::{Event, Watch};
use hud::{Hud, Who};
use players::{Bodies, Tag};
use things::Things;

use super::rounds::{Announcer, draw_clock, draw_hint, draw_results};
use phaselock_client::camera::Camera;
use phaselock_client::controls::{Controls, KeyCode};
use phaselock_client::palette;
use phaselock_client::rig::{Rig, Shot};
use phaselock_client::scoreboard::{self, Board};
use phaselock_client::view::{GameView, Scene};

/// Visible metres from left to right on most screens, and from top to bottom at most.
const SEEN_WIDTH: f32 = 26.0;
const SEEN_HEIGHT: f32 = 19.5;
/// Lean of the camera towards the mouse, as a share of the way.
const LOOK_AHEAD: f32 = 0.16;
/// Half-life of the camera's distance to its target, in seconds.
const EASE_SECS: f32 = 0.07;
/// Visible metres beyond the arena's inside, so that nobody by a wall stands beneath the texts
/// along the window's edges.
const MARGIN: f32 = 3.0;
/// Metres beyond which the camera jumps: another place in the world, not a walk.
const CUT: f32 = 9.0;

#[derive(Debug, Default)]
pub(crate) struct SkirmishScreen {
    /// Camera of the last frame, before any shake: the one that the mouse points into.
    camera: Option<Camera>,
    /// What was drawn with.
    drawn: Option<Camera>,
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
    /// Everybody's scores, those included who are out of sight.
    scores: BTreeMap<PlayerId, Score>,
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
        let aim = self.camera.map_or(Vec2::X, |camera| {
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

    fn camera(&self) -> Option<Camera> {
        self.drawn
    }

    fn draw(&mut self, scene: &Scene<'_, Skirmish>, painter: &Painter) {
        self.take_note(scene);
        let own = self.own;
        let camera = self.aim_camera(scene, own.as_ref());
        self.drawn = Some(camera);
        self.draw_world(scene, camera, painter);
        self.draw_over(scene, own.as_ref(), painter);
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
        let (entities, own) = (&scene.view.entities, scene.view.own);
        self.scores = scores(entities).collect();
        self.bodies.advance(players(entities), scene.secs);
        self.effects.advance(scene.secs);
        let own_player = own.and_then(|id| player(entities, id));
        self.own = own_player;
        self.announcer.advance(&round(entities), scene.secs);
        self.things.advance(entities, scene.secs, self.effects.particles());
        self.hud.advance(scene.secs, own_player.as_ref());
        if own_player.is_some_and(|own| own.health > 0) {
            self.deaths_alive = self.score(scene.player).deaths;
        }

        for event in self.watch.observe(&scene.game.arena, entities, own, scene.secs) {
            self.bodies.handle(&event);
            let color = |id| if own == Some(id) { palette::OWN } else { palette::FOE };
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
                    let own = by == Some(scene.player);
                    self.effects.blast(at, if own { palette::OWN } else { palette::FOE });
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
                    let who = |player: PlayerId| Who {
                        name: scene.name_of(player).to_owned(),
                        own: player == scene.player,
                    };
                    self.hud.kill(killer.map(who), who(victim), means);
                }
                Event::Spawned { id, at } => self.effects.spawn(at, color(id)),
            }
        }
    }

    fn aim_camera(&mut self, scene: &Scene<'_, Skirmish>, own: Option<&Player>) -> Camera {
        if let Some(own) = own {
            self.own_at = Some(own.position());
        }
        let lean = if scene.active {
            let away = scene.pointer - scene.screen.center();
            let scale = Camera::new(scene.screen, Vec2::ZERO, SEEN_WIDTH, SEEN_HEIGHT).scale;
            Vec2::new(away.x, away.y) / scale * LOOK_AHEAD
        } else {
            Vec2::ZERO
        };
        let shot = Shot {
            target: self.own_at.unwrap_or(Vec2::ZERO) + lean.clamp_length_max(2.5),
            width: SEEN_WIDTH,
            height: SEEN_HEIGHT,
            ease_secs: EASE_SECS,
            cut: CUT,
            bounds: Some((HALF, MARGIN)),
        };
        let camera = self.rig.follow(scene.screen, scene.secs, &shot);
        self.camera = Some(camera);
        self.rig.shaken(camera, scene.age_secs)
    }

    fn draw_world(&self, scene: &Scene<'_, Skirmish>, camera: Camera, painter: &Painter) {
        // The dead see on from where they lie.
        let eye = scene.view.own.and(self.own_at);
        arena::draw(painter, camera, &scene.game.arena, eye);
        self.things.draw_floor(painter, camera, scene.player, scene.age_secs);
        self.effects.draw_below(painter, camera);
        self.things.draw_props(painter, camera, false);
        let is_own = |slot: &Slot<Player>| scene.view.own == Some(slot.id);
        let is_dead = |slot: &Slot<Player>| slot.entity.health == 0;
        // The dead lie beneath the living, and oneself is above everybody.
        let mut shown: Vec<_> = self.bodies.shown().collect();
        shown.sort_by_key(|(slot, _)| (is_own(slot), !is_dead(slot)));
        for (slot, _) in &shown {
            self.bodies.draw(painter, camera, slot, is_own(slot));
        }
        self.things.draw_props(painter, camera, true);
        let entities = &scene.view.entities;
        things::draw_shells(painter, camera, entities, scene.player, scene.rates);
        self.effects.draw_above(painter, camera);
        for (slot, sight) in shown.into_iter().filter(|(slot, _)| !is_own(slot) && !is_dead(slot)) {
            // Somebody who has just left is shown a moment longer than named.
            if let Some(owner) = slot.owner.filter(|owner| scene.roster.contains_key(owner)) {
                let tag = Tag { name: scene.name_of(owner), bot: scene.is_bot(owner), sight };
                players::draw_tag(painter, camera, &slot.entity, tag);
            }
        }
    }

    fn draw_over(&self, scene: &Scene<'_, Skirmish>, own: Option<&Player>, painter: &Painter) {
        let screen: Rect = scene.screen;
        let board = self.board(scene);
        self.hud.draw_wound(painter, screen, own);
        self.hud.draw_feed(painter, screen);
        let round = round(&scene.view.entities);
        let now = scene.own_tick().tick;
        let frags = self.score(scene.player).frags.to_string();
        let place = board.place().map_or("-".into(), |(place, of)| format!("{place} / {of}"));
        let figures = [(frags.as_str(), "FRAGS"), (place.as_str(), "PLACE")];
        draw_clock(painter, screen, &round, (now, scene.rates), figures);
        let results = round.phase() == Phase::Results;
        if let Some(own) = own {
            self.hud.draw_health(painter, screen, own);
            self.hud.draw_weapons(painter, screen, own);
            if own.health == 0 && !scene.scores && !results {
                let secs = f32::from(own.respawn) * scene.rates.step_secs();
                let score = self.score(scene.player);
                let killer = score.killed_by().filter(|_| score.deaths != self.deaths_alive);
                let killer = killer.map(|killer| scene.name_of(killer));
                self.hud.draw_death(painter, screen, killer, secs);
            }
        }
        if !scene.crowded {
            // Beside the health, or above it where there is no room beside.
            let above = if screen.width() < 1700.0 { 96.0 } else { 26.0 };
            // Where there is little room, those that one needs first.
            let told = if screen.width() < 1200.0 { 6 } else { Self::KEYS.len() };
            let controls = &Self::KEYS[..told.min(Self::KEYS.len())];
            draw_hint(painter, screen, controls, scene.age_secs, above);
        }
        if results {
            let best = board.rows.first();
            let verdict = best.map_or(String::new(), |row| {
                if row.own {
                    "You win the round".into()
                } else {
                    format!("{} wins the round", row.name)
                }
            });
            let left = round.secs_left(now, scene.rates);
            draw_results(painter, screen, &verdict, &board, left);
        } else if scene.scores {
            scoreboard::draw(painter, screen, &board);
        }
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

    fn score(&self, player: PlayerId) -> Score {
        self.scores.get(&player).copied().unwrap_or_default()
    }

    fn board(&self, scene: &Scene<'_, Skirmish>) -> Board {
        let key = |player| {
            let Score { frags, deaths, .. } = self.score(player);
            (Reverse(frags), deaths)
        };
        let values = |player| {
            let Score { frags, deaths, .. } = self.score(player);
            vec![frags.to_string(), deaths.to_string()]
        };
        Board::new(scene, &["FRAGS", "DEATHS"], key, values)
    }
}
