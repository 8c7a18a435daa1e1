//! Skirmish in the window: view and controls.

mod actions;
mod arena;
mod cues;
mod events;
mod hud;
mod icons;
mod lesson;
mod players;
mod shade;
mod things;

use std::cmp::Reverse;

use phaselock::game::{RoundPart, read_message};
use phaselock::physics::turns;
use phaselock::rewind::Ruling;
use phaselock_games::rounds::{Phase, round};
use phaselock_games::skirmish::arena::HALF;
use phaselock_games::skirmish::movement::RADIUS;
use phaselock_games::skirmish::{
    BLAST_REACH, Command, Goods, Player, RESPAWN_SECS, Score, Shell, Skirmish, SkirmishEvent,
    Weapon, players,
};
use phaselock_ui::prelude::*;

use actions::Stick;
use events::{Event, Watch};
use hud::{Hud, LANDED_SECS};
use icons::Icon;
use players::Bodies;
use things::Things;

use super::rounds::{
    Aim, Announcer, Start, draw_clock, draw_hint, draw_table, part, shows_figures, winner_of,
};

/// The camera stays within the arena and a margin, so that a player by a wall is not beneath the
/// texts along the window's edges. It cuts to another place in the world.
const SHOT: Shot = Shot {
    target: Vec2::ZERO,
    width: 26.0,
    height: 19.5,
    ease_secs: 0.07,
    cut: 9.0,
    bounds: Some(ViewBounds::around(HALF, 3.0)),
};
/// Lean of the camera towards the mouse, as a share of the way.
const LOOK_AHEAD: f32 = 0.16;
/// Reach of a player's hands, in metres, with some margin.
const HANDS: f32 = 1.8;

/// The view of Skirmish.
#[derive(Debug, Default)]
pub struct SkirmishScreen {
    camera_rig: CameraRig,
    /// Last position of the local player.
    own_at: Option<Vec2>,
    watch: Watch,
    particles: Particles,
    bodies: Bodies,
    things: Things,
    hud: Hud,
    announcer: Announcer,
    /// The aim by the gamepad.
    stick: Stick,
    /// The local player as drawn: the wheel continues from its weapon.
    own: Option<Player>,
    /// Weapon of the local player in the previous frame.
    weapon: Option<Weapon>,
    /// Deaths in the local score while the player was alive: a death is seen before its score names
    /// the killer.
    deaths_alive: u16,
    /// How the shot that killed the player was judged, and the number of the life that it ended,
    /// once known.
    death: Option<(Ruling, Option<u8>)>,
}

impl GameView for SkirmishScreen {
    type Game = Skirmish;
    const TITLE: &'static str = "Skirmish";
    const ACTIONS: &'static [Action] = actions::ACTIONS;
    const BACKDROP: Color32 = palette::FLOOR;
    const CUES: &'static [&'static Cue] = cues::ALL;
    const LESSON: &'static [LessonStep<Skirmish>] = lesson::STEPS;
    const EXPLAINS: bool = true;

    fn input(&self, controls: &Controls) -> Command {
        let by_mouse =
            self.camera_rig.without_shake().zip(controls.pointer).map(|(camera, pointer)| {
                camera.to_world(pointer) - self.own_at.unwrap_or(camera.middle)
            });
        let aim = self.stick.aim(controls).or(by_mouse).map(turns);
        Command {
            right: controls.direction(&actions::LEFT, &actions::RIGHT),
            down: controls.direction(&actions::UP, &actions::DOWN),
            // Before the mouse has moved, the player keeps its direction.
            aim: aim.unwrap_or_else(|| self.own.map_or(0.0, |own| own.aim)),
            fire: controls.held(&actions::FIRE),
            grab: controls.held(&actions::GRAB),
            weapon: self.weapon(controls),
        }
    }

    fn measure_words(_name: &'static str) -> &'static str {
        tr("frags")
    }

    fn kind_words(record: &'static str) -> &'static str {
        match record {
            "Player" => tr("Players"),
            "Shell" => tr("Rockets and grenades"),
            "Mine" => tr("Mines"),
            "Prop" => tr("Crates and barrels"),
            "Pickup" => tr("Supplies"),
            other => other,
        }
    }

    fn handle_event(&mut self, event: &[u8]) {
        if let Ok(SkirmishEvent::Killed(ruling)) = read_message(event)
            && ruling.is_sane()
        {
            self.death = Some((ruling, None));
        }
    }

    fn death(&mut self, scene: &Scene<'_, Skirmish>) -> Option<Ruling> {
        let (ruling, life) = self.death.as_mut()?;
        let own = scene.own::<Player>()?;
        // The news may come before the picture shows the death, or long after it.
        let is_back = own.spawns != *life.get_or_insert(own.spawns);
        let (now, second) = (scene.own_tick().tick, u64::from(scene.rates.tick_hz));
        let out = (RESPAWN_SECS * second as f32) as u64;
        let is_over = is_back || now > ruling.tick.plus(out) || ruling.tick > now.plus(second);
        self.death = self.death.filter(|_| !is_over);
        self.death.map(|(ruling, _)| ruling)
    }

    fn part(&self, scene: &Scene<'_, Skirmish>) -> Option<RoundPart> {
        part(scene)
    }

    fn draw(&mut self, scene: &Scene<'_, Skirmish>) -> Camera {
        self.own = scene.own();
        let at = self
            .camera_rig
            .without_shake()
            .zip(self.own_at)
            .map(|(camera, at)| camera.to_screen(at));
        let pointer = at.and_then(|at| self.stick.pointer(at)).or(scene.pointer);
        let scene = &Scene { frame: Frame { pointer, ..scene.frame }, ..*scene };
        self.take_note(scene);
        let camera = self.aim_camera(scene);
        scene.cues.listen(&camera);
        let brush = Brush::new(scene.painter, camera);
        if let Some(own) = self.own.filter(|own| own.health > 0) {
            layout::keep_free(scene.painter, brush.around(own.position(), RADIUS));
        }
        self.draw_world(scene, &brush);
        self.draw_over(scene);
        camera
    }
}

impl SkirmishScreen {
    /// The weapon that the controls ask for, by its number plus 1, or 0: by its key, or by the
    /// wheel, which skips weapons without ammunition.
    fn weapon(&self, controls: &Controls) -> u8 {
        if let Some(number) = (1..).zip(&actions::WEAPONS).find(|(_, it)| controls.held(it)) {
            return number.0;
        }
        let turned = |action| i32::try_from(controls.count(action)).unwrap_or(0);
        let turned = turned(&actions::NEXT) - turned(&actions::PREVIOUS);
        let Some(own) = self.own.filter(|_| turned != 0) else { return 0 };
        let there = |weapon: &&Weapon| own.ammunition(**weapon) != Some(0);
        let there: Vec<_> = Weapon::ALL.iter().filter(there).collect();
        let now = there.iter().position(|weapon| **weapon == own.weapon()).unwrap_or(0);
        let next = (now as i32 + turned).rem_euclid(there.len().max(1) as i32);
        there.get(next as usize).map_or(0, |weapon| **weapon as u8 + 1)
    }

    fn take_note(&mut self, scene: &Scene<'_, Skirmish>) {
        let (entities, own) = (&scene.picture.entities, scene.picture.own);
        self.bodies.advance(players(entities), scene.secs);
        self.particles.advance(scene.secs);
        let begun = self.announcer.advance(scene, &round(entities), Start::AtOnce);
        if begun == Some(Phase::Results) {
            let won = Self::board(scene).rows.first().is_some_and(|row| row.own);
            Announcer::end(scene.cues, won);
        }
        self.things.advance(entities, scene.secs, &mut self.particles);
        self.hud.advance(scene.secs, self.own.as_ref());
        if self.own.is_some_and(|own| own.health > 0) {
            self.deaths_alive = scene.record_of::<Score>(scene.player).deaths;
        }

        let events = self.watch.observe(&scene.game.arena, entities, own, scene.secs);
        for event in events {
            self.bodies.handle(&event);
            self.show(scene, event);
        }
        self.keep_sounds(scene);
    }

    fn show(&mut self, scene: &Scene<'_, Skirmish>, event: Event) {
        let own = scene.picture.own;
        let color = |id| palette::side(own == Some(id));
        let (particles, rig) = (&mut self.particles, &mut self.camera_rig);
        let mut emit =
            |cue, it, particles: &mut Particles| scene.cues.emit(cue, it, particles, rig);
        match event {
            Event::Shot { shooter, along, from, to, hit } => {
                let color = color(shooter);
                draw_shot(particles, [from, to], along, color, hit);
                let fired = Happening::at(from, color).felt_if(own == Some(shooter));
                emit(&cues::SHOT, fired, particles);
                let end = if hit { &cues::STRUCK } else { &cues::RICOCHET };
                emit(end, Happening::at(to, color), particles);
            }
            Event::Hurt { id, damage } if own == Some(id) => {
                self.hud.hurt(damage);
                let at = self.own_at.unwrap_or_default();
                let felt = (0.5 + f32::from(damage) / 100.0).min(1.0);
                emit(&cues::HURT, Happening { felt, ..Happening::at(at, color(id)) }, particles);
            }
            Event::Hurt { .. } => {}
            Event::Landed => {
                self.hud.landed = LANDED_SECS;
                scene.cues.play(&cues::LANDED);
            }
            Event::Died { id, at } => {
                let it = Happening::at(at, color(id)).felt_if(own == Some(id));
                emit(&cues::DIED, it, particles);
            }
            Event::Launched { shooter, along, from, weapon } => {
                if weapon == Weapon::Rockets {
                    draw_launch(particles, from, along, color(shooter));
                }
                let it = Happening::at(from, color(shooter)).felt_if(own == Some(shooter));
                emit(cues::of_weapon(weapon), it, particles);
            }
            Event::Blast { at, by } => {
                let color = palette::side(by == Some(scene.player));
                let far = self.own_at.map_or(f32::MAX, |own| own.distance(at));
                let felt = (1.0 - far / (BLAST_REACH * 4.0)).max(0.0);
                emit(&cues::BLAST, Happening { felt, ..Happening::at(at, color) }, particles);
            }
            Event::Taken { at, goods, back } => {
                let health = goods == Goods::Health;
                let color = if health { palette::GOOD } else { palette::STEEL };
                let cue = if back { &cues::BACK } else { cues::of_goods(goods) };
                emit(cue, Happening::at(at, color), particles);
            }
            Event::Put { at } => {
                emit(&cues::BACK, Happening::at(at, palette::CRATE_EDGE), particles);
            }
            Event::Lifted { at } | Event::Thrown { at } => {
                let cue = if matches!(event, Event::Lifted { .. }) {
                    &cues::LIFTED
                } else {
                    &cues::THROWN
                };
                // A player standing there did it.
                let near = self.own_at.is_some_and(|own| own.distance(at) < HANDS);
                emit(cue, Happening::at(at, palette::CRATE_EDGE).felt_if(near), particles);
            }
            Event::Knocked { at, speed } => {
                let it = Happening::at(at, palette::CRATE_EDGE);
                emit(&cues::KNOCK, Happening { loud: (speed / 14.0).min(1.0), ..it }, particles);
            }
            Event::Killed { victim, killer, means } => {
                if killer == Some(scene.player) && victim != scene.player {
                    self.hud.killed = LANDED_SECS * 2.0;
                    scene.cues.play(&cues::FRAG);
                }
                self.hud.feed.push(scene, (killer, Icon::of_means(means), victim));
            }
            Event::Spawned { id, at } => {
                emit(&cues::SPAWNED, Happening::at(at, color(id)), particles);
            }
        }
    }

    /// Plays continuous sounds, and those of the player's own hands.
    fn keep_sounds(&mut self, scene: &Scene<'_, Skirmish>) {
        for slot in scene.picture.entities.records::<Shell>() {
            let shell = slot.entity;
            if !shell.grenade && shell.burst == 0 {
                let (key, at) = (u64::from(slot.id.index), Some(shell.position()));
                scene.cues.sustain(ContinuousSound {
                    key,
                    sound: &cues::FLIGHT,
                    at,
                    loud: 1.0,
                    pitch: 1.0,
                });
            }
        }
        let weapon = self.own.filter(|own| own.health > 0).map(|own| own.weapon());
        let before = std::mem::replace(&mut self.weapon, weapon);
        if before.is_some() && weapon.is_some() && before != weapon {
            scene.cues.play(&cues::SWITCHED);
        }
    }

    fn aim_camera(&mut self, scene: &Scene<'_, Skirmish>) -> Camera {
        if let Some(own) = self.own {
            self.own_at = Some(own.position());
        }
        let lean = scene.pointer.filter(|_| scene.active).map_or(Vec2::ZERO, |pointer| {
            let away = pointer - scene.screen.center();
            let scale = Camera::new(scene.screen, Vec2::ZERO, SHOT.width, SHOT.height).scale;
            Vec2::new(away.x, away.y) / scale * LOOK_AHEAD
        });
        let target = self.own_at.unwrap_or(Vec2::ZERO) + lean.clamp_length_max(2.5);
        scene.aim(&mut self.camera_rig, &Shot { target, ..SHOT })
    }

    fn draw_world(&self, scene: &Scene<'_, Skirmish>, brush: &Brush<'_>) {
        // A dead player still sees from its last position.
        let viewpoint = scene.picture.own.and(self.own_at);
        arena::draw(brush, &scene.game.arena, viewpoint);
        self.things.draw_floor(brush, scene.player, scene.age_secs);
        self.particles.draw_below(brush);
        self.things.draw_props(brush, false);
        let is_own = |slot: &Slot<Player>| scene.is_own(slot.id);
        let is_dead = |slot: &Slot<Player>| slot.entity.health == 0;
        // The dead are beneath the living, and the local player is above everyone.
        let mut shown: Vec<_> = self.bodies.shown().collect();
        shown.sort_by_key(|(slot, _)| (is_own(slot), !is_dead(slot)));
        for (slot, _) in &shown {
            self.bodies.draw(brush, slot, is_own(slot), scene.dress_of(slot.owner));
        }
        self.things.draw_props(brush, true);
        things::draw_shells(brush, scene);
        self.particles.draw_above(brush);
        for (slot, visibility) in
            shown.into_iter().filter(|(slot, _)| !is_own(slot) && !is_dead(slot))
        {
            if let Some(tag) = scene.owner_tag(slot.owner) {
                players::draw_tag(brush, &slot.entity, tag, visibility);
            }
        }
    }

    fn draw_over(&self, scene: &Scene<'_, Skirmish>) {
        let (screen, own) = (scene.screen, self.own.as_ref());
        let board = Self::board(scene);
        self.hud.draw_wound(scene, own);
        let round = round(&scene.picture.entities);
        let figures = shows_figures(scene, &round);
        if round.phase() != Phase::Results {
            self.hud.draw_feed(scene);
        }
        let time = (&round, scene.own_tick().tick);
        let score: Score = scene.record_of(scene.player);
        let counts = [(&*score.frags.to_string(), tr("FRAGS")), (&*board.place(), tr("PLACE"))];
        let words = tr("First to {limit} frags wins, or the most at the end.");
        draw_clock(scene, time, counts, &Aim::first_to(phaselock_games::skirmish::FRAGS, words));
        if let Some(own) = own.filter(|_| figures) {
            self.hud.draw_figures(scene, own, scene.watched.is_some());
            if scene.watched.is_none() && own.health == 0 {
                let secs = f32::from(own.respawn) * scene.rates.step_secs();
                let killer = score.killed_by().filter(|_| score.deaths != self.deaths_alive);
                let killer = killer.map(|killer| scene.name_of(killer));
                self.hud.draw_death(scene, killer, secs);
            }
        }
        let above = 26.0;
        // A narrow window shows only the most important keys.
        let told = if screen.width() < 1200.0 { 6 } else { usize::MAX };
        draw_hint(scene, told, above);
        if round.phase() != Phase::Results {
            self.announcer.draw(scene);
        }
        draw_table(scene, time, &winner_of(scene, &board), &board);
        if let Some(own) = own.filter(|own| scene.active && own.health > 0) {
            let reload = f32::from(own.weapon().reload_ticks(scene.rates));
            let slow = own.weapon() != Weapon::Rifle && own.cooldown > 0;
            let wait = if slow { f32::from(own.cooldown) / reload.max(1.0) } else { 0.0 };
            self.hud.draw_crosshair(scene, own, wait.min(1.0));
        } else if scene.active {
            self.hud.draw_crosshair(scene, &Player::default(), 0.0);
        }
    }

    fn board(scene: &Scene<'_, Skirmish>) -> Scoreboard {
        let key = |score: &Score| (Reverse(score.frags), score.deaths);
        let values = |score: &Score| vec![score.frags.to_string(), score.deaths.to_string()];
        Scoreboard::new(scene, &["FRAGS", "DEATHS"], key, values)
    }
}

/// The light of a shot, and sparks where it ends: more of them if it hits someone.
fn draw_shot(
    particles: &mut Particles,
    [from, to]: [Vec2; 2],
    along: Vec2,
    color: Color32,
    hits: bool,
) {
    particles.tracer([from, to], color);
    particles.flash(from, along, Flash { size: 0.42, longer: 0.0, color });
    particles.flash(to, Vec2::ZERO, Flash { size: 0.3, longer: 0.0, color });
    let (count, speed) = if hits { (9, 5.0) } else { (6, 4.0) };
    particles.spray(to, -along, Sparks { count, speed, life: 0.32, color });
}

/// Fire and smoke of a rocket that is launched.
fn draw_launch(particles: &mut Particles, from: Vec2, along: Vec2, color: Color32) {
    particles.flash(from, along, Flash { size: 0.4, longer: 0.04, color });
    for n in 0_u8..3 {
        let (at, velocity) = (from - along * 0.5, -along * (1.0 + f32::from(n)));
        let color = Color32::from_gray(110);
        particles.puff(Mote { at, velocity, size: 0.16, life: 0.5, color });
    }
}
