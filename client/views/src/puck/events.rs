//! Events on the ice, found by comparing two frames, and their sparks.

use std::collections::BTreeMap;

use phaselock_games::puck::rink::{HALF, PUCK, keep_puck};
use phaselock_games::puck::{Board, Puck};
use phaselock_ui::cues::Cues;
use phaselock_ui::prelude::*;

use super::cues;
use super::seen::Seen;

pub(super) const TRAIL_SECS: f32 = 0.32;
/// Metres in a frame that are a jump.
const TRAIL_CUT: f32 = 3.0;
const FLASH_SECS: f32 = 0.25;
const HEAT_SECS: f32 = 0.4;
const LIT_SECS: f32 = 1.6;
/// Seconds for which the same strike is not felt twice, in case the server sees it differently.
const AGAIN_SECS: f32 = 0.12;
/// Seconds for which a strike that a correction took back is remembered: longer than the server's
/// confirmation takes.
const TAKEN_BACK_SECS: f32 = 0.6;
/// Speed of the loudest glide, in metres per second.
const GLIDE_SPEED: f32 = 24.0;
/// Light of a goal above which the same goal is not reported again: for the first second.
const GOAL_AGAIN: f32 = 0.4;
/// Change of speed without a strike that means a wall, in metres per second.
const BOUNCE_SPEED: f32 = 2.5;

#[derive(Debug, Default)]
pub(super) struct Effects {
    pub(super) particles: Particles,
    pub(super) trail: Trail,
    /// Strength of the last strike, 0 to 1, cooling down.
    pub(super) heat: f32,
    /// Light of the goals, the player's own first, 0 to 1.
    pub(super) lit: [f32; 2],
    flashes: BTreeMap<EntityId, f32>,
    last: Option<(u8, bool, Puck, Board)>,
    since_strike: f32,
    /// Count of strikes that a correction took back, and its age in seconds.
    taken_back: Option<(u8, f32)>,
    since_bounce: f32,
}

impl Effects {
    /// Flash of a mallet, 0 to 1.
    pub(super) fn flash_of(&self, id: EntityId) -> f32 {
        self.flashes.get(&id).copied().unwrap_or(0.0)
    }

    /// Advances by `secs`, and compares with the last frame. Returns a newly counted goal: true for
    /// the player's side.
    pub(super) fn observe(
        &mut self,
        seen: &Seen,
        rig: &mut CameraRig,
        cues: &Cues,
        secs: f32,
    ) -> Option<bool> {
        self.particles.advance(secs);
        self.trail.advance(secs, TRAIL_SECS);
        self.heat = (self.heat - secs / HEAT_SECS).max(0.0);
        self.since_strike += secs;
        self.since_bounce += secs;
        self.taken_back.iter_mut().for_each(|(_, age)| *age += secs);
        self.taken_back.take_if(|(_, age)| *age > TAKEN_BACK_SECS);
        for lit in &mut self.lit {
            *lit = (*lit - secs / LIT_SECS).max(0.0);
        }
        self.flashes.retain(|_, flash| {
            *flash -= secs / FLASH_SECS;
            *flash > 0.0
        });
        let puck = seen.puck?;
        let now = (seen.rink, seen.right, puck, seen.board);
        let (rink, right, was, board) = self.last.replace(now)?;
        if (rink, right) != (seen.rink, seen.right) {
            self.particles = Particles::default();
            return None;
        }
        let same = was.placed == puck.placed;
        if puck.is_held() {
            if !same {
                let it = Happening::at(Vec2::ZERO, palette::TEXT_SOFT);
                cues.emit(&cues::FACE_OFF, it, &mut self.particles, rig);
            }
            self.trail = Trail::default();
        } else {
            self.trail.push(puck.position(), TRAIL_CUT);
            let (at, part) = (Some(puck.position()), puck.velocity().length() / GLIDE_SPEED);
            let (loud, pitch) = (part.min(1.0), 0.6 + 0.7 * part.min(1.0));
            cues.sustain(ContinuousSound { key: 0, sound: &cues::GLIDE, at, loud, pitch });
        }
        if same && was.is_in_play() && puck.is_in_play() {
            let change = puck.velocity() - was.velocity();
            let struck = (puck.hits + 16 - was.hits) % 16;
            let is_back = self.taken_back.is_some_and(|(hits, _)| hits == puck.hits);
            if (1..8).contains(&struck) && !is_back {
                self.strike(seen, change, rig, cues);
            } else if struck >= 8 {
                self.taken_back = Some((was.hits, 0.0));
            } else if struck == 0 && change.length() > BOUNCE_SPEED {
                self.bounce(&puck, change, rig, cues);
            }
        }
        if was.scored == 0
            && let Some(own) = seen.scored_on()
        {
            self.light_goal(own, rig, cues);
        }
        let ours = seen.board.goals(right) > board.goals(right);
        let theirs = seen.board.goals(!right) > board.goals(!right);
        (ours || theirs).then_some(ours)
    }

    /// Handles a strike by the nearest mallet.
    fn strike(&mut self, seen: &Seen, change: Vec2, rig: &mut CameraRig, cues: &Cues) {
        let Some(puck) = seen.puck.filter(|_| self.since_strike >= AGAIN_SECS) else { return };
        self.since_strike = 0.0;
        let far = |at: Vec2| at.distance_squared(puck.position());
        let by = seen
            .mallets
            .iter()
            .min_by(|a, b| far(a.entity.position()).total_cmp(&far(b.entity.position())));
        let Some(by) = by else { return };
        let hard = (change.length() / 26.0).clamp(0.1, 1.0);
        let away = (puck.position() - by.entity.position()).normalize_or(Vec2::X);
        let at = puck.position() - away * PUCK;
        let color = palette::side(seen.is_mate(&by.entity));
        let count = 4 + (hard * 22.0) as usize;
        self.particles.spray(
            at,
            away,
            Sparks { count, speed: 3.0 + 11.0 * hard, life: 0.35, color },
        );
        self.particles.spray(
            at,
            away,
            Sparks { count: count / 3, speed: 2.0 + 7.0 * hard, life: 0.25, color: Color32::WHITE },
        );
        self.particles.flash(
            at,
            Vec2::ZERO,
            Flash { size: 0.25 + 0.55 * hard, longer: 0.06, color },
        );
        if hard > 0.45 {
            self.particles.ring(at, (0.2, 0.5 + 1.2 * hard), color, 0.3);
        }
        self.flashes.insert(by.id, hard);
        self.heat = self.heat.max(hard);
        let own = seen.own == Some(by.id);
        let felt = if own { hard } else { 0.0 };
        let (loud, pitch) = (0.25 + 0.75 * hard, 0.9 + 0.25 * hard);
        let it = Happening { loud, pitch, felt, ..Happening::at(at, color) };
        cues.emit(&cues::STRIKE, it, &mut self.particles, rig);
        if !own {
            rig.shake(0.18 * hard);
        }
    }

    /// Handles a bounce off a wall.
    fn bounce(&mut self, puck: &Puck, change: Vec2, rig: &mut CameraRig, cues: &Cues) {
        let normal = change.normalize_or(Vec2::X);
        let at = puck.position() - normal * PUCK;
        // Only at a wall: a correction also changes the velocity.
        let further = puck.position() - normal * 0.5;
        if keep_puck(further).distance(further) < 0.05 || self.since_bounce < AGAIN_SECS {
            return;
        }
        self.since_bounce = 0.0;
        let hard = (change.length() / 30.0).min(1.0);
        let count = 3 + (hard * 12.0) as usize;
        self.particles.spray(
            at,
            normal,
            Sparks { count, speed: 2.0 + 7.0 * hard, life: 0.3, color: palette::STEEL },
        );
        self.particles.flash(
            at,
            Vec2::ZERO,
            Flash { size: 0.15 + 0.3 * hard, longer: 0.02, color: palette::STEEL },
        );
        let it = Happening { loud: 0.2 + 0.8 * hard, ..Happening::at(at, palette::STEEL) };
        cues.emit(&cues::BOUNCE, it, &mut self.particles, rig);
    }

    fn light_goal(&mut self, own: bool, rig: &mut CameraRig, cues: &Cues) {
        let side = if own { -1.0 } else { 1.0 };
        let lit = &mut self.lit[usize::from(!own)];
        if *lit > GOAL_AGAIN {
            return;
        }
        *lit = 1.0;
        let at = Vec2::new(side * (HALF.x + 0.2), 0.0);
        let color = palette::side(!own);
        self.particles.spray(
            at,
            Vec2::new(-side, 0.0),
            Sparks { count: 60, speed: 16.0, life: 0.9, color },
        );
        self.particles.spray(
            at,
            Vec2::new(-side, 0.0),
            Sparks { count: 20, speed: 10.0, life: 0.7, color: Color32::WHITE },
        );
        self.particles.ring(at, (0.4, 4.0), color, 0.6);
        self.particles.flash(at, Vec2::ZERO, Flash { size: 1.6, longer: 0.3, color });
        let cue = if own { &cues::CONCEDED } else { &cues::SCORED };
        cues.emit(cue, Happening::at(at, color).felt_if(true), &mut self.particles, rig);
    }
}
