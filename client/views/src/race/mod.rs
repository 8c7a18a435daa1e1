//! Race in the window: view and controls.

mod actions;
mod cars;
mod cues;
mod ground;
mod hud;
mod lesson;
mod map;
mod marks;
mod sounds;

use std::collections::BTreeMap;

use phaselock::game::RoundPart;
use phaselock_games::race::drive::{RESET_SECS, TOP_SPEED};
use phaselock_games::race::track::{BARRIER, GATES, HALF_WIDTH, LAPS};
use phaselock_games::race::{Car, Command, Piece, Race, Score, lights};
use phaselock_games::rounds::{Phase, round};
use phaselock_ui::cues::common;
use phaselock_ui::prelude::*;

use actions::{BRAKE, HAND_BRAKE, LEFT, RESET, RIGHT, THROTTLE};
use ground::Ground;
use map::Map;
use marks::Marks;
use sounds::CarSounds;

use super::rounds::{
    Aim, Announcer, Start, below_clock, draw_clock, draw_hint, draw_table, part, shows_figures,
    winner,
};

/// Visible metres from left to right on most screens, at rest and at full speed.
const SEEN_WIDTH: [f32; 2] = [56.0, 84.0];
/// Maximum height of the picture, as a share of its width.
const SEEN_SHAPE: f32 = 0.75;
/// Seconds of look-ahead along the velocity, and its maximum as a share of the width.
const LOOK_AHEAD_SECS: f32 = 0.55;
const LOOK_AHEAD_MOST: f32 = 0.22;
/// Maximum look-ahead to the side, as a share of half of the visible width.
const LOOK_AHEAD_NARROW: f32 = 0.5;
/// Maximum look-ahead on touch screens, as a share of the picture's smaller half.
const GLASS_AHEAD: f32 = 0.25;
/// Half-life of the camera's distance to its target, in seconds.
const EASE_SECS: f32 = 0.09;
/// Half-life of the camera's missing width, in seconds.
const ZOOM_SECS: f32 = 0.6;
/// Metres beyond which the camera jumps: another place, not a drive.
const CUT: f32 = 45.0;
/// Maximum number of cars with names over them, the nearest first.
const TAGS_MAX: usize = 24;
/// The wrong way: metres per second backwards along the track, and for how many seconds.
const WRONG: f32 = 2.0;
const WRONG_SECS: f32 = 0.7;
/// Radius kept free around the local car, in metres.
const OWN_RADIUS: f32 = 2.4;
/// Distance of that from the clock, in points.
const CLEAR: f32 = 12.0;
/// Seconds after green for which the start line is kept free.
const START_SECS: f32 = 3.0;

/// The view of the race.
#[derive(Debug, Default)]
pub struct RaceScreen {
    camera_rig: CameraRig,
    width: Option<f32>,
    /// Last position and velocity of the local car.
    own_at: Option<(Vec2, Vec2)>,
    ground: Ground,
    marks: Marks,
    particles: Particles,
    map: Map,
    announcer: Announcer,
    sounds: CarSounds,
    /// Bumps and resets of each car in the last frame.
    seen: BTreeMap<EntityId, (u8, u8)>,
    /// The local car's lap, and its start in seconds after green by the picture's own clock.
    lap: Option<(u16, f32)>,
    was_red: bool,
    wrong_secs: f32,
    lost_secs: f32,
}

impl GameView for RaceScreen {
    type Game = Race;
    const TITLE: &'static str = "Race";
    const ACTIONS: &'static [Action] = &[THROTTLE, BRAKE, LEFT, RIGHT, HAND_BRAKE, RESET];
    const BACKDROP: Color32 = palette::GRASS;
    const CUES: &'static [&'static Cue] = cues::ALL;
    const LESSON: &'static [LessonStep<Race>] = lesson::STEPS;

    fn input(&self, controls: &Controls) -> Command {
        Command {
            pedal: (3.0 * controls.axis(&BRAKE, &THROTTLE)).round() as i16,
            turn: (7.0 * controls.axis(&LEFT, &RIGHT)).round() as i16,
            hand: controls.held(&HAND_BRAKE),
            reset: controls.held(&RESET),
        }
    }

    fn measure_words(name: &'static str) -> &'static str {
        match name {
            "lap" => tr("best lap"),
            _ => tr("race time"),
        }
    }

    fn kind_words(record: &'static str) -> &'static str {
        match record {
            "Car" => tr("Cars"),
            other => other,
        }
    }

    fn part(&self, scene: &Scene<'_, Race>) -> Option<RoundPart> {
        part(scene)
    }

    fn draw(&mut self, scene: &Scene<'_, Race>) -> Camera {
        let own: Option<Car> = scene.own();
        self.take_note(scene, own.as_ref());
        let camera = self.aim_camera(scene, own.as_ref());
        scene.cues.listen(&camera);
        let brush = Brush::new(scene.painter, camera);
        if let Some(own) = &own {
            layout::keep_free(scene.painter, brush.around(own.position(), OWN_RADIUS));
        }
        let waits = round(&scene.picture.entities).phase() == Phase::WarmUp;
        if waits || race_secs(scene) < START_SECS {
            let start = &scene.game.track.samples[0];
            let across = start.along.perp() * HALF_WIDTH;
            let line = brush.rect(start.at - across, start.at + across);
            layout::keep_free(scene.painter, line.expand(brush.metre));
        }
        self.draw_world(scene, &brush, own.as_ref());
        self.draw_over(scene, &brush, own.as_ref());
        camera
    }
}

/// Seconds after green at which the local car is drawn; negative before green.
fn race_secs(scene: &Scene<'_, Race>) -> f32 {
    let now = scene.own_tick();
    let green = lights(&scene.picture.entities).green;
    (now.tick.span_24(green) as f32 + now.fraction) * scene.rates.step_secs()
}

impl RaceScreen {
    fn take_note(&mut self, scene: &Scene<'_, Race>, own: Option<&Car>) {
        let entities = &scene.picture.entities;
        let secs = scene.secs;
        self.particles.advance(secs);
        self.map.advance(entities, secs);
        let cars: Vec<_> = entities.records::<Car>().collect();
        let shown = cars.iter().map(|slot| (slot.id, &slot.entity));
        self.marks.advance(scene.game.track, shown, &mut self.particles, secs);
        self.sounds.advance(scene, &cars);
        self.notice_bumps(scene, &cars);
        self.notice_round(scene, own);
        self.notice_way(scene, own);
    }

    fn notice_bumps(&mut self, scene: &Scene<'_, Race>, cars: &[Slot<Car>]) {
        self.seen.retain(|id, _| cars.iter().any(|slot| slot.id == *id));
        for slot in cars {
            let car = &slot.entity;
            let before = self.seen.insert(slot.id, (car.bumps, car.puts));
            let Some((bumps, puts)) = before else { continue };
            if puts != car.puts {
                let it = Happening::at(car.position(), palette::STEEL);
                scene.cues.emit(&cues::PUT, it, &mut self.particles, &mut self.camera_rig);
            } else if bumps != car.bumps {
                // Towards the nearest car.
                let others = cars.iter().filter(|other| other.id != slot.id);
                let near = others.map(|other| other.entity.position() - car.position());
                let near = near.min_by(|a, b| a.length_squared().total_cmp(&b.length_squared()));
                let to = near.unwrap_or(Vec2::X).normalize_or(Vec2::X);
                let at = car.position() + to * 1.1;
                self.particles.spray(
                    at,
                    to.perp(),
                    Sparks { count: 7, speed: 9.0, life: 0.4, color: palette::WARN },
                );
                self.particles.spray(
                    at,
                    -to.perp(),
                    Sparks { count: 7, speed: 9.0, life: 0.4, color: palette::WARN },
                );
                let it = Happening::at(at, palette::WARN).felt_if(scene.is_own(slot.id));
                scene.cues.emit(&cues::BUMP, it, &mut self.particles, &mut self.camera_rig);
            }
        }
    }

    fn notice_round(&mut self, scene: &Scene<'_, Race>, own: Option<&Car>) {
        let round = round(&scene.picture.entities);
        let red = round.phase() == Phase::Play && race_secs(scene) < 0.0;
        match self.announcer.advance(scene, &round, Start::BySignal) {
            Some(Phase::Play) => {
                self.announcer.say("");
                self.marks = Marks::default();
                self.particles = Particles::default();
                self.lap = None;
            }
            Some(Phase::Results) => {
                let score: Score = scene.record_of(scene.player);
                Announcer::end(scene.cues, score.place == 1 && score.time > 0);
            }
            Some(Phase::WarmUp) | None => {}
        }
        if red {
            self.announcer.count(scene.cues, -race_secs(scene));
        }
        if std::mem::replace(&mut self.was_red, red) && !red && round.phase() == Phase::Play {
            scene.cues.play(&common::GO);
            self.announcer.say(tr("Go!"));
        }
        let Some(car) = own.filter(|_| round.phase() == Phase::Play && !red) else { return };
        let lap = car.lap();
        if self.lap.is_none_or(|(before, _)| before != lap) {
            // The first lap begins with the green lights, not with the line.
            let passed = self.lap.is_some_and(|(before, _)| before > 0 && lap > before);
            let begun = if passed { race_secs(scene) } else { 0.0 };
            if passed && lap <= LAPS {
                scene.cues.play(if lap == LAPS { &cues::LAST_LAP } else { &cues::LAP });
                let words = match lap {
                    LAPS => tr("Last lap").to_owned(),
                    _ => fill("Lap {lap}", &[("lap", &lap.to_string())]),
                };
                self.announcer.say(&words);
            }
            self.lap = Some((lap, begun));
        }
    }

    /// Detects a local car that goes the wrong way or has missed a gate.
    fn notice_way(&mut self, scene: &Scene<'_, Race>, own: Option<&Car>) {
        let Some(car) = own.filter(|car| !car.has_finished()) else {
            (self.wrong_secs, self.lost_secs) = (0.0, 0.0);
            return;
        };
        let track = scene.game.track;
        let spot = track.spot(car.position());
        let looks_back = car.nose().dot(spot.along) < -0.2;
        let wrong = looks_back && car.velocity().dot(spot.along) < -WRONG;
        let before = [self.wrong_secs > WRONG_SECS, self.lost_secs > 2.0 * WRONG_SECS];
        self.wrong_secs = if wrong { self.wrong_secs + scene.secs } else { 0.0 };
        let way = track.ahead(spot.station, track.next_gate(car.gates).station);
        let gap = track.length / f32::from(GATES);
        let lost = !(-3.0..gap + 8.0).contains(&way);
        self.lost_secs = if lost { self.lost_secs + scene.secs } else { 0.0 };
        let now = [self.wrong_secs > WRONG_SECS, self.lost_secs > 2.0 * WRONG_SECS];
        if before.iter().zip(now).any(|(before, now)| now && !before) {
            scene.cues.play(&cues::WRONG);
        }
    }

    fn aim_camera(&mut self, scene: &Scene<'_, Race>, own: Option<&Car>) -> Camera {
        if let Some(car) = own {
            self.own_at = Some((car.position(), car.velocity()));
        }
        let (at, velocity) =
            self.own_at.unwrap_or((scene.game.track.position(0.0, 0.0), Vec2::ZERO));
        let share = (velocity.length() / TOP_SPEED).clamp(0.0, 1.0);
        let wanted = SEEN_WIDTH[0] + (SEEN_WIDTH[1] - SEEN_WIDTH[0]) * share;
        let width = ease(self.width.unwrap_or(wanted), wanted, scene.secs, ZOOM_SECS);
        self.width = Some(width);
        let mut lead = (velocity * LOOK_AHEAD_SECS).clamp_length_max(width * LOOK_AHEAD_MOST);
        let height = width * SEEN_SHAPE;
        let camera = Camera::new(scene.screen, Vec2::ZERO, width, height);
        // A screen that is held upright shows less of the width.
        let most = LOOK_AHEAD_NARROW * camera.half().x;
        lead.x = lead.x.clamp(-most, most);
        // Makes up for half of the lag that the ease costs.
        let mut ahead = lead + velocity * (EASE_SECS * 0.7);
        // A car that drives down the picture is seen below the clock.
        let clock = (below_clock(scene.painter) + CLEAR) / camera.scale + OWN_RADIUS;
        ahead.y = ahead.y.min(camera.half().y - clock);
        if scene.controls.by_glass() {
            // The buttons are in the corners.
            ahead = ahead.clamp_length_max(GLASS_AHEAD * camera.half().min_element());
        }
        let shot = Shot {
            target: at + ahead,
            width,
            height,
            ease_secs: EASE_SECS,
            cut: CUT,
            bounds: None,
        };
        scene.aim(&mut self.camera_rig, &shot)
    }

    fn draw_world(&self, scene: &Scene<'_, Race>, brush: &Brush<'_>, own: Option<&Car>) {
        self.ground.draw(brush);
        self.marks.draw(brush);
        self.particles.draw_below(brush);
        if let Some(car) = own.filter(|_| self.lost_secs > WRONG_SECS) {
            // The missed gate.
            let ends = scene.game.track.next_gate(car.gates).ends();
            let stroke = Stroke::new(0.5 * brush.metre, fade(palette::WARN, 0.7));
            brush.painter.line_segment(ends.map(|end| brush.point(end)), stroke);
        }
        if let Some(ghost) = scene.ghost
            && let Piece::Car(car) = &ghost.entity
        {
            cars::draw_ghost(brush, car, &ghost.name);
        }
        let cars = scene.picture.entities.records::<Car>();
        let mut cars: Vec<_> =
            cars.filter(|slot| brush.camera.sees(slot.entity.position(), BARRIER)).collect();
        // Cars that are not solid are beneath the others, and the local one is above all.
        cars.sort_by_key(|slot| (scene.is_own(slot.id), slot.entity.is_solid(), slot.id));
        for slot in &cars {
            let Some(player) = slot.owner else { continue };
            let place = scene.record_of::<Score>(player).place;
            let own = scene.is_own(slot.id);
            let solid = slot.entity.is_solid() || (own && slot.entity.has_finished());
            cars::draw(
                brush,
                &slot.entity,
                cars::Look { own, place, solid, dress: scene.dress_of(slot.owner) },
            );
        }
        self.ground.draw_barriers(brush);
        self.particles.draw_above(brush);

        if let Some((car, ghost)) = own.zip(scene.ghost) {
            cars::draw_gap(brush, car, ghost.behind);
        }
        let here = own.map_or(brush.camera.middle, Car::position);
        cars.retain(|slot| !scene.is_own(slot.id));
        cars.sort_by(|a, b| {
            let far = |car: &Car| car.position().distance_squared(here);
            far(&a.entity).total_cmp(&far(&b.entity))
        });
        for slot in cars.iter().take(TAGS_MAX) {
            if let Some(tag) = scene.owner_tag(slot.owner) {
                cars::draw_tag(brush, &slot.entity, tag);
            }
        }
    }

    fn draw_over(&self, scene: &Scene<'_, Race>, brush: &Brush<'_>, own: Option<&Car>) {
        let entities = &scene.picture.entities;
        let round = round(entities);
        let time = (&round, scene.own_tick().tick);
        let score: Score = scene.record_of(scene.player);
        let racing = round.phase() == Phase::Play;
        let players = entities.records::<Score>().count();
        let place = written(score.place, |place| format!("{place} / {players}"));
        let lap = own.map_or(0, |car| car.lap().clamp(1, LAPS));
        let lap = if racing { format!("{lap} / {LAPS}") } else { "-".to_owned() };
        let laps = LAPS.to_string();
        let words = fill("{laps} laps; first to finish wins.", &[("laps", &laps)]);
        let aim = Aim { label: String::new(), words };
        draw_clock(scene, time, [(&place, tr("PLACE")), (&lap, tr("LAP"))], &aim);
        let figures = shows_figures(scene, &round);
        if figures {
            self.map.draw(scene, entities, scene.player);
        }
        if let Some(car) = own.filter(|_| figures) {
            hud::draw_speed(scene, car);
            let race = race_secs(scene);
            let now = self.lap.filter(|_| racing && race > 0.0 && !car.has_finished());
            let now = now.map(|(_, begun)| ((race - begun).max(0.0) * 100.0) as u32);
            hud::draw_times(scene, now, &score);
            if car.hold > 0 && (!racing || race > 0.0) {
                let left = f32::from(car.hold) * scene.rates.step_secs() / RESET_SECS;
                hud::draw_hold(brush, car.position(), left);
            }
        }
        if racing && figures {
            hud::draw_lights(scene, -race_secs(scene));
        }
        if racing && score.time > 0 && figures {
            hud::draw_finished(scene, &score);
        } else if figures {
            if self.wrong_secs > WRONG_SECS {
                hud::draw_sign(scene, tr("WRONG WAY"), tr("Turn round"), scene.age_secs);
            } else if self.lost_secs > 2.0 * WRONG_SECS {
                let key = scene.controls.words(&RESET);
                let more = fill("Go back, or press {key}", &[("key", &key)]);
                hud::draw_sign(scene, tr("GATE MISSED"), &more, scene.age_secs);
            }
        }
        if figures {
            self.announcer.draw(scene);
        }
        draw_hint(scene, Self::ACTIONS.len() - 1, 26.0);
        draw_table(scene, time, &verdict(scene), &board(scene));
    }
}

/// Formats a number with `words`, or as a dash if it is 0.
fn written(number: u16, words: impl Fn(u16) -> String) -> String {
    if number == 0 { "-".to_owned() } else { words(number) }
}

fn verdict(scene: &Scene<'_, Race>) -> String {
    let mut scores = scene.picture.entities.records::<Score>();
    let first = scores.find(|slot| slot.entity.place == 1).filter(|slot| slot.entity.time > 0);
    winner(scene, first.and_then(|slot| slot.owner).as_slice())
}

/// Sorted by place, with the winner's time and the others' gaps.
fn board(scene: &Scene<'_, Race>) -> Scoreboard {
    let scores = scene.picture.entities.records::<Score>().map(|slot| slot.entity.time);
    let first = scores.filter(|time| *time > 0).min();
    // Cars without a place come last.
    let key = |score: &Score| score.place.wrapping_sub(1);
    let values = |&Score { place, time, best, gates, .. }: &Score| {
        let home = match (time, first) {
            (0, _) | (_, None) => {
                let lap = (gates.saturating_sub(1) / GATES).clamp(1, LAPS);
                fill("lap {lap}", &[("lap", &lap.to_string())])
            }
            (time, Some(first)) if time == first => hud::time(u32::from(time)),
            (time, Some(first)) => format!("+{:.2}", f32::from(time - first) / 100.0),
        };
        let best = written(best, |best| hud::time(u32::from(best)));
        vec![written(place, hud::ordinal), home, best]
    };
    Scoreboard::new(scene, &["PLACE", "TIME", "BEST LAP"], key, values)
}
