//! Skirmish in the window: what its players see and which keys they press.

mod arena;
mod effects;
mod events;
mod hud;
mod players;
mod shade;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use egui_macroquad::egui::{Color32, Painter, Rect};
use glam::Vec2;
use phaselock_shared::game::Slot;
use phaselock_shared::games::skirmish::arena::HALF;
use phaselock_shared::games::skirmish::{
    Command, Player, Score, Skirmish, player, players, scores,
};
use phaselock_shared::ids::PlayerId;
use phaselock_shared::physics::turns;

use effects::Effects;
use events::{Event, Watch};
use hud::{Hud, Who};
use players::{Bodies, Tag};

use super::camera::Camera;
use super::hands::{Hands, KeyCode};
use super::palette;
use super::rig::{Rig, Shot};
use super::rounds::draw_hint;
use super::scoreboard::{self, Board};
use super::view::{GameView, Scene};

/// Metres that are seen from left to right on most screens.
const SEEN_WIDTH: f32 = 26.0;
/// Metres that are seen from top to bottom at most.
const SEEN_HEIGHT: f32 = 19.5;
/// How far the camera leans towards the mouse, as a share of the way there.
const LOOK_AHEAD: f32 = 0.16;
/// Seconds in which half of the camera's way to where it should be is done.
const EASE_SECS: f32 = 0.07;
/// Metres beyond the arena's inside that may be seen, so that nobody by a wall stands beneath what
/// is written along the window's edges.
const MARGIN: f32 = 3.0;
/// The camera jumps further than this: a new place in the world, not a walk.
const CUT: f32 = 9.0;

/// What the picture of Skirmish keeps in mind.
#[derive(Debug, Default)]
pub(crate) struct SkirmishScreen {
    /// The camera of the last frame, before any shaking: what the mouse points into.
    camera: Option<Camera>,
    /// What was drawn with.
    drawn: Option<Camera>,
    rig: Rig,
    /// Where the own player was drawn last.
    own_at: Option<Vec2>,
    watch: Watch,
    effects: Effects,
    bodies: Bodies,
    hud: Hud,
    /// Everybody's scores, those included who are out of sight.
    scores: BTreeMap<PlayerId, Score>,
    /// How often the own player had been killed when it was last alive: it is seen dead sooner than
    /// its score is, which then names who killed it the time before.
    deaths_alive: u16,
}

impl GameView for Skirmish {
    const TITLE: &'static str = "Skirmish";
    const CONTROLS: &'static [(&'static str, &'static str)] = &[
        ("WASD, arrows", "move"),
        ("Mouse", "aim"),
        ("Left button, Space", "fire"),
        ("Tab", "scores"),
        ("F3, F4, F6", "details, graph, others"),
        ("Esc", "pause"),
    ];
    const BACKDROP: Color32 = palette::FLOOR;
    type Screen = SkirmishScreen;

    fn input(screen: &SkirmishScreen, hands: &Hands) -> Command {
        let aim = screen.camera.map_or(Vec2::X, |camera| {
            camera.to_world(hands.pointer) - screen.own_at.unwrap_or(camera.middle)
        });
        Command {
            right: hands.axis(&[KeyCode::A, KeyCode::Left], &[KeyCode::D, KeyCode::Right]),
            down: hands.axis(&[KeyCode::W, KeyCode::Up], &[KeyCode::S, KeyCode::Down]),
            aim: turns(aim),
            fire: hands.button() || hands.key(&[KeyCode::Space]),
        }
    }

    fn camera(screen: &SkirmishScreen) -> Option<Camera> {
        screen.drawn
    }

    fn draw(screen: &mut SkirmishScreen, scene: &Scene<'_, Self>, painter: &Painter) {
        screen.take_note(scene);
        let own = scene.view.own.and_then(|id| player(&scene.view.entities, id));
        let camera = screen.aim_camera(scene, own.as_ref());
        screen.drawn = Some(camera);
        screen.draw_world(scene, camera, painter);
        screen.draw_over(scene, own.as_ref(), painter);
    }
}

impl SkirmishScreen {
    fn take_note(&mut self, scene: &Scene<'_, Skirmish>) {
        let (entities, own) = (&scene.view.entities, scene.view.own);
        self.scores = scores(entities).collect();
        self.bodies.advance(players(entities), scene.secs);
        self.effects.advance(scene.secs);
        let own_player = own.and_then(|id| player(entities, id));
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
                Event::Killed { victim, killer } => {
                    let who = |player: PlayerId| Who {
                        name: scene.name_of(player).to_owned(),
                        own: player == scene.player,
                    };
                    self.hud.kill(killer.map(who), who(victim));
                }
                Event::Spawned { id, at } => self.effects.spawn(at, color(id)),
            }
        }
    }

    /// Moves the camera along and returns the one to draw with.
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
        self.effects.draw_below(painter, camera);
        let is_own = |slot: &Slot<Player>| scene.view.own == Some(slot.id);
        let is_dead = |slot: &Slot<Player>| slot.entity.health == 0;
        // The dead lie beneath the living, and oneself is above everybody.
        let mut shown: Vec<_> = self.bodies.shown().collect();
        shown.sort_by_key(|(slot, _)| (is_own(slot), !is_dead(slot)));
        for (slot, _) in &shown {
            self.bodies.draw(painter, camera, slot, is_own(slot));
        }
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
        self.hud.draw_score(painter, screen, self.score(scene.player).frags, &board);
        if let Some(own) = own {
            self.hud.draw_health(painter, screen, own);
            if own.health == 0 && !scene.scores {
                let secs = f32::from(own.respawn) * scene.rates.step_secs();
                let score = self.score(scene.player);
                let killer = score.killed_by().filter(|_| score.deaths != self.deaths_alive);
                let killer = killer.map(|killer| scene.name_of(killer));
                self.hud.draw_death(painter, screen, killer, secs);
            }
        }
        if !scene.crowded {
            // Beside the health, or above it where there is no room beside.
            let above = if screen.width() < 1200.0 { 88.0 } else { 26.0 };
            draw_hint(painter, screen, Skirmish::CONTROLS, scene.age_secs, above);
        }
        if scene.scores {
            scoreboard::draw(painter, screen, &board);
        }
        if scene.active {
            self.hud.draw_crosshair(painter, scene.pointer);
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
