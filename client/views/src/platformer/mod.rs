//! The platformer in the window: view and controls.

mod actions;
mod bodies;
mod cues;
mod hud;
mod lesson;
mod scenery;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use macroquad::rand::gen_range;
use phaselock::game::RoundPart;
use phaselock_games::platformer::level::clock_at;
use phaselock_games::platformer::movement::{READY_SECS, RUN_SPEED, ticks};
use phaselock_games::platformer::{Command, HALF_WIDTH, HEIGHT, Piece, Platformer, Player, Score};
use phaselock_games::rounds::{Phase, Round, round};
use phaselock_ui::cues::common;
use phaselock_ui::prelude::*;

use actions::{JUMP, LEFT, RIGHT};
use bodies::{Bodies, Event};

use super::rounds::{
    Aim, Announcer, Start, draw_clock, draw_hint, draw_table, part, shows_figures, winner,
};

/// The camera; it cuts to another place in the level.
const SHOT: Shot = Shot {
    target: Vec2::ZERO,
    width: 24.0,
    height: 17.0,
    ease_secs: 0.11,
    cut: 24.0,
    bounds: None,
};
/// Metres that a player moves without moving the camera.
const DEAD_ZONE: Vec2 = Vec2::new(0.8, 1.7);
/// Metres of look-ahead at full speed, and their share of the visible half's width at most: an
/// upright phone shows no more than 8 m.
const LOOK_AHEAD: f32 = 3.2;
const LOOK_SHARE: f32 = 0.35;
/// Half-life of the missing look-ahead, in seconds.
const LOOK_SECS: f32 = 0.35;

/// The players, the local one, and the local one's point of the platforms' cycle.
type Cast<'a> = (&'a [Slot<Player>], Option<&'a Player>, f32);

/// The view of the platformer.
#[derive(Debug, Default)]
pub struct PlatformerScreen {
    camera_rig: CameraRig,
    /// Point that the camera follows: the local player, except for the dead zone; and the
    /// look-ahead.
    aim: Option<Vec2>,
    ahead: f32,
    bodies: Bodies,
    particles: Particles,
    announcer: Announcer,
    /// Whether the local player waited for the signal.
    waited: bool,
    /// Shown progress of all players: scores change in steps, the picture moves smoothly.
    progress: BTreeMap<PlayerId, f32>,
    /// Seconds since the last coin.
    coin: f32,
}

impl GameView for PlatformerScreen {
    type Game = Platformer;
    const TITLE: &'static str = "Platformer";
    const ACTIONS: &'static [Action] = &[LEFT, RIGHT, JUMP];
    const CUES: &'static [&'static Cue] = cues::ALL;
    const LESSON: &'static [LessonStep<Platformer>] = lesson::STEPS;

    fn input(&self, controls: &Controls) -> Command {
        Command { right: controls.direction(&LEFT, &RIGHT), jump: controls.held(&JUMP) }
    }

    fn measure_words(name: &'static str) -> &'static str {
        match name {
            "time" => tr("time to the goal"),
            _ => tr("points"),
        }
    }

    fn kind_words(record: &'static str) -> &'static str {
        match record {
            "Player" => tr("Players"),
            other => other,
        }
    }

    fn part(&self, scene: &Scene<'_, Platformer>) -> Option<RoundPart> {
        part(scene)
    }

    fn draw(&mut self, scene: &Scene<'_, Platformer>) -> Camera {
        let entities = &scene.picture.entities;
        let own: Option<Player> = scene.own();
        let players: Vec<_> = entities.records::<Player>().collect();
        let at = scene.own_tick();
        let ours = own.map_or(clock_at(scene.rates, at.tick, at.fraction), |own| own.clock);
        let round = round(entities);
        let cast = (&*players, own.as_ref(), ours);
        self.take_note(scene, cast, &round);
        let camera = self.aim_camera(scene, own.as_ref());
        scene.cues.listen(&camera);
        let brush = Brush::new(scene.painter, camera);
        if let Some(own) = &own {
            let body = Vec2::new(HALF_WIDTH, HEIGHT);
            let feet = own.feet();
            let own = brush.rect(feet - body, feet + Vec2::new(HALF_WIDTH, 0.0));
            layout::keep_free(scene.painter, own);
        }
        self.draw_world(scene, &brush, cast);
        self.draw_over(scene, own.as_ref(), &round);
        camera
    }
}

impl PlatformerScreen {
    fn take_note(&mut self, scene: &Scene<'_, Platformer>, cast: Cast<'_>, round: &Round) {
        let (players, own, ours) = cast;
        self.coin += scene.secs;
        self.particles.advance(scene.secs);
        match self.announcer.advance(scene, round, Start::BySignal) {
            Some(Phase::Play) => self.announcer.say(tr("Ready…")),
            Some(Phase::Results) => {
                let own: Score = scene.record_of(scene.player);
                let scores = scene.picture.entities.records::<Score>();
                let most = scores.map(|slot| slot.entity.points).max().unwrap_or(0);
                Announcer::end(scene.cues, own.points == most && most > 0);
            }
            Some(Phase::WarmUp) | None => {}
        }
        let waits = own.is_some_and(|own| u64::from(own.ran) <= ticks(scene.rates, READY_SECS))
            && round.phase() == Phase::Play;
        if let Some(own) = own.filter(|_| waits) {
            let left = ticks(scene.rates, READY_SECS).saturating_sub(u64::from(own.ran));
            self.announcer.count(scene.cues, left as f32 * scene.rates.step_secs());
        }
        if self.waited && !waits && round.phase() == Phase::Play {
            scene.cues.play(&common::GO);
            self.announcer.say(tr("Go!"));
        }
        self.waited = waits;
        let level = scene.game.level;
        let entities = &scene.picture.entities;
        for slot in entities.records::<Score>() {
            let Some(player) = slot.owner else { continue };
            let told = f32::from(slot.entity.progress) / 63.0;
            let own = own.filter(|_| player == scene.player);
            let wanted = own.map_or(told, |own| level.progress(own.x));
            let shown = self.progress.entry(player).or_insert(wanted);
            *shown = ease(*shown, wanted, scene.secs, 0.15);
        }
        self.progress.retain(|player, _| entities.owned_by(*player).next().is_some());

        let (particles, rig, coin) = (&mut self.particles, &mut self.camera_rig, &mut self.coin);
        let own_id = scene.picture.own;
        let happened = |id: EntityId, event: Event, at: Vec2| {
            let is_own = own_id == Some(id);
            let others = if is_own { 1.0 } else { 0.45 };
            let it = Happening::at(at, palette::side(is_own)).felt_if(is_own);
            let it = Happening { loud: others, ..it };
            let mut emit = |cue, it| scene.cues.emit(cue, it, particles, rig);
            match event {
                Event::Landed(speed) => {
                    let strength = (speed / 20.0).clamp(0.1, 1.0);
                    let felt = it.felt * (strength - 0.3).max(0.0);
                    let loud = others * (0.2 + 0.8 * strength);
                    emit(&cues::LANDED, Happening { loud, felt, ..it });
                    dust(particles, at, strength);
                }
                Event::Leapt => {
                    emit(&cues::LEAPT, it);
                    dust(particles, at, 0.25);
                }
                Event::Coin if is_own => {
                    *coin = 0.0;
                    emit(&cues::COIN, it);
                }
                Event::Coin => emit(&cues::THEIR_COIN, it),
                Event::Stage(stage) if is_own => {
                    let goal = stage == scene.game.level.goal();
                    scene.cues.play(if goal { &cues::GOAL } else { &cues::STAGE });
                }
                Event::Stage(_) => {}
                Event::Hurt => emit(&cues::HURT, Happening { at: at - Vec2::Y * 0.5, ..it }),
            }
        };
        self.bodies.advance(scene, players, ours, happened);
    }

    fn aim_camera(&mut self, scene: &Scene<'_, Platformer>, own: Option<&Player>) -> Camera {
        let level = scene.game.level;
        let at = own.map_or(level.start, Player::feet) - Vec2::Y * 1.2;
        let aim = self.aim.filter(|aim| aim.distance(at) < SHOT.cut).unwrap_or(at);
        let aim = aim.clamp(at - DEAD_ZONE, at + DEAD_ZONE);
        self.aim = Some(aim);
        let half = Camera::new(scene.screen, aim, SHOT.width, SHOT.height).half();
        let ahead = LOOK_AHEAD.min(LOOK_SHARE * half.x);
        let wanted = own.map_or(0.0, |own| (own.vx / RUN_SPEED).clamp(-1.0, 1.0) * ahead);
        self.ahead = ease(self.ahead, wanted, scene.secs, LOOK_SECS);
        let target = aim + Vec2::new(self.ahead, -0.8);
        // Neither beyond the level's ends nor far below its floor.
        let bounds = ViewBounds {
            min: Vec2::new(0.0, f32::NEG_INFINITY),
            max: Vec2::new(level.width as f32, level.height as f32 + 1.2),
        };
        scene.aim(&mut self.camera_rig, &Shot { target, bounds: Some(bounds), ..SHOT })
    }

    fn draw_world(&self, scene: &Scene<'_, Platformer>, brush: &Brush<'_>, cast: Cast<'_>) {
        let (players, own, ours) = cast;
        let level = scene.game.level;
        scenery::draw_sky(brush, scene.age_secs);
        scenery::draw_platforms(brush, ours);
        scenery::draw_tiles(brush, level, scene.age_secs);
        scenery::draw_things(brush, level, own, scene.age_secs);
        self.particles.draw_below(brush);
        if let Some(ghost) = scene.ghost
            && let Piece::Player(player) = &ghost.entity
        {
            bodies::draw_ghost(brush, player, &ghost.name);
        }
        // The local player is above everyone.
        let shown = self.bodies.of(players).filter(|(_, body)| brush.camera.sees(body.at, 2.0));
        let mut shown: Vec<_> = shown.collect();
        shown.sort_by_key(|(slot, _)| scene.is_own(slot.id));
        for (slot, body) in &shown {
            body.draw_trail(brush, scene.is_own(slot.id), scene.dress_of(slot.owner));
        }
        for (slot, body) in &shown {
            body.draw(brush, scene.is_own(slot.id), scene.dress_of(slot.owner));
        }
        self.particles.draw_above(brush);
        if let Some((player, ghost)) = own.zip(scene.ghost) {
            bodies::draw_gap(brush, player, ghost.behind);
        }
        for (slot, body) in shown.into_iter().filter(|(slot, _)| !scene.is_own(slot.id)) {
            if let Some((tag, owner)) = scene.owner_tag(slot.owner).zip(slot.owner) {
                body.draw_tag(brush, tag, scene.record_of::<Score>(owner).place > 0);
            }
        }
    }

    fn draw_over(&self, scene: &Scene<'_, Platformer>, own: Option<&Player>, round: &Round) {
        let level = scene.game.level;
        let board = Self::board(scene);
        let time = (round, scene.own_tick().tick);
        let coins = format!("{}/{}", own.map_or(0, Player::coins), level.coins.len());
        let figures = [(&*coins, tr("COINS")), (&*board.place(), tr("PLACE"))];
        let words = tr("Most points win: take coins, and reach the goal early.");
        let aim = Aim { label: String::new(), words: words.to_owned() };
        let clock = draw_clock(scene, time, figures, &aim);
        hud::draw_coin(scene.painter, clock, self.coin);
        let figures = shows_figures(scene, round);
        if let Some(own) = own.filter(|_| figures) {
            hud::draw_time(scene.painter, clock, own, scene.rates, own.stage == level.goal());
            if u64::from(own.ran) <= ticks(scene.rates, READY_SECS) && self.waited {
                hud::draw_signal(scene, own, scene.rates);
            }
        }
        let marks = self.progress.iter().map(|(player, progress)| hud::Mark {
            progress: *progress,
            own: *player == scene.player,
            in_goal: scene.record_of::<Score>(*player).place > 0,
        });
        let stages = level.stages.iter().map(|stage| level.progress(stage.x));
        if figures {
            hud::draw_progress(scene, stages, marks.collect());
            self.announcer.draw(scene);
        }
        draw_hint(scene, usize::MAX, 62.0);
        draw_table(scene, time, &verdict(scene), &board);
    }

    fn board(scene: &Scene<'_, Platformer>) -> Scoreboard {
        let key = |score: &Score| Reverse((score.points, score.progress));
        let values = |score: &Score| {
            let goal = match score.place {
                0 => "·".into(),
                place => format!("{place}. {:.1} s", f32::from(score.time) / 100.0),
            };
            vec![score.points.to_string(), score.coins.to_string(), goal]
        };
        Scoreboard::new(scene, &["POINTS", "COINS", "GOAL"], key, values)
    }
}

fn verdict(scene: &Scene<'_, Platformer>) -> String {
    let scores = scene.picture.entities.records::<Score>();
    let most = scores.clone().map(|slot| slot.entity.points).max().unwrap_or(0);
    let best = scores.filter(|slot| slot.entity.points == most && most > 0);
    let best: Vec<_> = best.filter_map(|slot| slot.owner).collect();
    winner(scene, &best)
}

/// Dust to both sides of feet that hit the ground; `strength` is 0 to 1.
fn dust(particles: &mut Particles, at: Vec2, strength: f32) {
    let count = (3.0 + 7.0 * strength) as usize;
    for n in 0..count {
        let side = if n % 2 == 0 { -1.0 } else { 1.0 };
        let out = Vec2::new(side * gen_range(0.6, 2.6) * strength.max(0.4), gen_range(-0.9, -0.1));
        let from = at + Vec2::new(side * gen_range(0.0, 0.3), -0.08);
        particles.puff(Mote {
            at: from,
            velocity: out,
            size: 0.13 + 0.1 * strength,
            life: gen_range(0.25, 0.5),
            color: palette::TEXT_SOFT,
        });
    }
}
