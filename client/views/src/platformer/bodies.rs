//! The platformer's players: squashed, stretched, with eyes, feet and a trail.
//!
//! Platforms are drawn at the local player's time. Others are shown at an earlier time, so a rider
//! is moved along with its platform to where that is drawn. A player who is about to land is moved
//! there gradually on the way, and so is one who has just jumped off.

use std::collections::BTreeMap;

use phaselock::time::Rates;
use phaselock_games::platformer::level::{Level, PLATFORMS};
use phaselock_games::platformer::movement::{RUN_SPEED, lands_on};
use phaselock_games::platformer::{HALF_WIDTH, HEIGHT, Platformer, Player};
use phaselock_ui::prelude::*;

/// Seconds of look-ahead for a landing on a platform.
const AHEAD_SECS: f32 = 0.45;
/// Seconds from leaving a platform until the offset is gone.
const BACK_SECS: f32 = 0.25;
/// Half-life in seconds of the missing offset after an unpredicted landing.
const SETTLE_SECS: f32 = 0.04;
/// Metres from a platform beyond which no player lands on it soon.
const NEAR: f32 = 7.0;
const TRAIL_SECS: f32 = 0.35;

/// Offset of a player who moves along with a platform.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lean {
    by: Vec2,
    /// Platform in the last frame, plus 1, and its offset.
    before: Option<(u8, Vec2)>,
}

impl Lean {
    /// Advances by `secs`. `ride` is the platform, plus 1, and the seconds until the landing on
    /// it; `theirs` and `ours` are the player's and the picture's times as points of the cycle.
    pub(super) fn advance(&mut self, ride: Option<(u8, f32)>, theirs: f32, ours: f32, secs: f32) {
        let platform = |(number, _): (u8, f32)| PLATFORMS.get(usize::from(number).checked_sub(1)?);
        let Some((platform, (number, left))) = ride.and_then(platform).zip(ride) else {
            self.before = None;
            self.by *= (1.0 - secs / BACK_SECS).clamp(0.0, 1.0);
            // It ends there.
            if self.by.length() < 0.01 {
                self.by = Vec2::ZERO;
            }
            return;
        };
        let wanted = platform.at(ours) - platform.at(theirs);
        // The offset moves with the platform; a missing part is made up for.
        if let Some((_, before)) = self.before.replace((number, wanted)).filter(|it| it.0 == number)
        {
            self.by += wanted - before;
        }
        let share = if left > 0.0 {
            // In equal steps until the landing.
            (secs / left).min(1.0)
        } else {
            1.0 - (-secs / SETTLE_SECS).exp2()
        };
        let missing = wanted - self.by;
        self.by += missing * share;
        // A step of the quantisation does not matter.
        if missing.length() < 0.004 {
            self.by = wanted;
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Body {
    lean: Lean,
    /// Drawn position of the feet.
    pub(super) at: Vec2,
    velocity: Vec2,
    /// Above 0: wider than high; 0: at rest; below 0: stretched.
    squash: f32,
    squash_speed: f32,
    /// Metres run on the ground, for the feet.
    strides: f32,
    facing: f32,
    trail: Trail,
    stood: bool,
    fell: f32,
    /// Falls, coins and stage already reported, and their race: a correction may take back what
    /// comes again.
    falls: u8,
    coins: u64,
    stage: u8,
    race: u8,
    /// Seconds since a jump and since a landing were reported.
    since_leap: f32,
    since_landing: f32,
    seen: bool,
}

/// Seconds for which the same jump or landing is not reported again.
const AGAIN_SECS: f32 = 0.12;

/// An event of a player.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Event {
    /// A landing, with its speed.
    Landed(f32),
    Leapt,
    Coin,
    /// Another stage was reached: its index.
    Stage(u8),
    /// A return to the checkpoint.
    Hurt,
}

#[derive(Debug, Default)]
pub(super) struct Bodies(BTreeMap<EntityId, Body>);

impl Bodies {
    /// Advances all players by a frame; `ours` is the local player's time. Calls `happened` for
    /// each event.
    pub(super) fn advance(
        &mut self,
        scene: &Scene<'_, Platformer>,
        players: &[Slot<Player>],
        ours: f32,
        mut happened: impl FnMut(EntityId, Event, Vec2),
    ) {
        self.0.retain(|id, _| players.iter().any(|slot| slot.id == *id));
        for slot in players {
            let player = &slot.entity;
            let body = self.0.entry(slot.id).or_default();
            if !scene.is_own(slot.id) {
                let ride = ride_of(scene.game.level, scene.rates, player);
                if body.falls != player.falls || !body.seen {
                    body.lean = Lean::default();
                }
                body.lean.advance(ride, player.clock, ours, scene.secs);
            }
            body.step(slot, scene.secs, &mut happened);
        }
    }

    /// Shown players, each with its body.
    pub(super) fn of<'a>(
        &'a self,
        players: &'a [Slot<Player>],
    ) -> impl Iterator<Item = (&'a Slot<Player>, &'a Body)> {
        players.iter().filter_map(|slot| Some((slot, self.0.get(&slot.id)?)))
    }
}

/// The ghost that the player races: an outline, with its name.
pub(super) fn draw_ghost(brush: &Brush<'_>, player: &Player, name: &str) {
    let (feet, half) = (player.feet(), HALF_WIDTH);
    let corners = [(-half, 0.0), (half, 0.0), (half, -HEIGHT), (-half, -HEIGHT)];
    let corners = corners.map(|(right, down)| feet + Vec2::new(right, down));
    let edge = Stroke::new((0.06 * brush.metre).max(1.0), fade(palette::TEXT, 0.5));
    brush.polygon(corners, fade(palette::TEXT, 0.16), edge);
    let over = brush.point(feet - Vec2::Y * (HEIGHT + 0.3));
    let lettering = (12.0, fade(palette::TEXT, 0.5));
    name_tag(brush.painter, over, Align2::CENTER_BOTTOM, (name, false), lettering);
}

/// Time by which the player is behind the ghost, above the player.
pub(super) fn draw_gap(brush: &Brush<'_>, player: &Player, behind: f64) {
    let over = brush.point(player.feet() - Vec2::Y * (HEIGHT + 0.6));
    ghost_gap(brush.painter, over, behind);
}

/// The platform that a player rides or lands on soon, plus 1, and the seconds until then.
fn ride_of(level: &Level, rates: Rates, player: &Player) -> Option<(u8, f32)> {
    if player.ride > 0 {
        return Some((player.ride, 0.0));
    }
    let near = |at: Vec2| (at - player.feet()).abs().max_element() < NEAR;
    let any = PLATFORMS.iter().any(|platform| near(platform.at(player.clock)));
    (any && !player.stands()).then(|| lands_on(level, rates, player, AHEAD_SECS)).flatten()
}

impl Body {
    fn step(
        &mut self,
        slot: &Slot<Player>,
        secs: f32,
        happened: &mut impl FnMut(EntityId, Event, Vec2),
    ) {
        let player = &slot.entity;
        let before = self.at;
        self.at = player.feet() + self.lean.by;
        let mut report = |event, at| happened(slot.id, event, at);
        let coins = [player.coins_a, player.coins_b, player.coins_c];
        let coins = coins.into_iter().fold(0_u64, |all, word| all << 16 | u64::from(word));
        self.since_leap += secs;
        self.since_landing += secs;
        if !self.seen || self.race != player.race {
            (self.race, self.falls) = (player.race, player.falls);
            (self.coins, self.stage) = (coins, player.stage);
        }
        if self.seen && (1..128).contains(&player.falls.wrapping_sub(self.falls)) {
            report(Event::Hurt, before);
            self.falls = player.falls;
            self.squash = -0.5;
        } else if self.seen {
            if player.stands() && !self.stood && self.since_landing > AGAIN_SECS {
                self.since_landing = 0.0;
                report(Event::Landed(self.fell), self.at);
                self.squash = (self.fell / 40.0).clamp(0.08, 0.38);
                self.squash_speed = 0.0;
            }
            if !player.stands() && player.vy < -6.0 && (self.stood || self.velocity.y > -2.0) {
                if self.since_leap > AGAIN_SECS {
                    report(Event::Leapt, self.at);
                }
                self.since_leap = 0.0;
                self.squash = -0.3;
            }
            if coins & !self.coins != 0 {
                report(Event::Coin, self.at - Vec2::Y * 0.6);
            }
            if player.stage > self.stage {
                report(Event::Stage(player.stage), self.at);
            }
        }
        self.fell = if player.stands() { 0.0 } else { player.vy.max(0.0) };
        self.stood = player.stands();
        (self.coins, self.stage) = (self.coins | coins, self.stage.max(player.stage));
        self.velocity = player.velocity();
        // A damped spring, in steps small enough to be stable.
        let mut left = secs.min(0.1);
        while left > 0.0 {
            let step = left.min(0.008);
            self.squash_speed += (-420.0 * self.squash - 22.0 * self.squash_speed) * step;
            self.squash += self.squash_speed * step;
            left -= step;
        }
        if player.stands() {
            self.strides += player.vx * secs;
        }
        let wanted =
            if player.keys().right != 0 { f32::from(player.keys().right) } else { self.facing };
        let wanted = if wanted == 0.0 { 1.0 } else { wanted.signum() };
        self.facing = ease(self.facing, wanted, secs, 0.04);
        self.trail.advance(secs, TRAIL_SECS);
        self.trail.push(self.at - Vec2::Y * HEIGHT * 0.5, 2.0);
        self.seen = true;
    }

    pub(super) fn draw_trail(&self, brush: &Brush<'_>, own: bool, dress: Dress) {
        let color = fade(dress.color, if own { 0.4 } else { 0.2 });
        self.trail.draw(brush, color, 0.7, TRAIL_SECS);
    }

    pub(super) fn draw_tag(&self, brush: &Brush<'_>, (name, bot): (&str, bool), in_goal: bool) {
        let over = brush.point(self.at - Vec2::Y * (HEIGHT + 0.3));
        let words = if in_goal { format!("{name} ✔") } else { name.to_owned() };
        name_tag(
            brush.painter,
            over,
            Align2::CENTER_BOTTOM,
            (&words, bot),
            (12.0, fade(palette::TEXT, 0.85)),
        );
    }

    pub(super) fn draw(&self, brush: &Brush<'_>, own: bool, dress: Dress) {
        // Measured from the feet, up being negative.
        let brush = &brush.local(self.at, Vec2::X);
        let flight = (self.velocity.y.abs() / 60.0).min(0.16);
        let squash = (self.squash - if self.stood { 0.0 } else { flight }).clamp(-0.4, 0.4);
        let wide = 2.0 * HALF_WIDTH * (1.0 + squash * 0.8);
        let high = HEIGHT * (1.0 - squash);
        let lean = (self.velocity.x / RUN_SPEED).clamp(-1.0, 1.0) * 0.09;
        let (edge, inside) = (dress.color, dress.dark);
        if own {
            brush.glow((0.0, -0.5), 1.9, light(palette::OWN, 0.13));
        }
        // Feet first, behind the body; in the air they hang.
        for (side, phase) in [(-1.0, 0.0), (1.0, std::f32::consts::PI)] {
            let swing = self.strides * 3.4 + phase;
            let (dx, dy) = if self.stood {
                let moves = (self.velocity.x.abs() / 3.0).min(1.0);
                (swing.sin() * 0.2 * moves + side * 0.15, -(swing.cos().max(0.0)) * 0.14 * moves)
            } else {
                (side * 0.17 - lean, 0.06 + 0.05 * side * self.facing)
            };
            brush.ellipse((dx, dy - 0.07), vec2(0.15, 0.09), mix(edge, palette::VOID, 0.45));
        }
        let stand = 0.1;
        // The head leans into the run.
        let corner = |x: f32, y: f32| Vec2::new(x + lean * (y - stand) / (high - stand) * 1.6, -y);
        // The local player has corners, the others are round.
        let round = if own { 0.16 } else { wide * 0.5 };
        let mut points = Vec::new();
        let half = wide / 2.0;
        let corners = [
            (half - round, high - round, 0.0_f32),
            (-half + round, high - round, 0.25),
            (-half + round, stand + round.min(0.2), 0.5),
            (half - round, stand + round.min(0.2), 0.75),
        ];
        for (x, y, turn) in corners {
            let (rx, ry) = (round, if turn < 0.5 { round } else { round.min(0.2) });
            for n in 0..=4 {
                let angle = (turn + n as f32 / 16.0) * std::f32::consts::TAU;
                points.push(corner(x + angle.cos() * rx, y + angle.sin() * ry));
            }
        }
        let dark = mix(inside, edge, if own { 0.35 } else { 0.25 });
        brush.polygon(points, dark, brush.stroke(0.08, edge));
        let belly = brush.local(corner(0.0, high * 0.28), Vec2::X);
        dress.mark(&belly, wide * 0.42, 0.9);
        self.draw_face(brush, &corner, (wide, high), (own, edge));
    }

    fn draw_face(
        &self,
        brush: &Brush<'_>,
        corner: &impl Fn(f32, f32) -> Vec2,
        (wide, high): (f32, f32),
        (own, edge): (bool, Color32),
    ) {
        let look = self.facing * wide * 0.17;
        for side in [-1.0, 1.0] {
            let at = corner(look + side * wide * 0.17, high * 0.68);
            brush.ellipse(at, vec2(0.085, 0.12), palette::TEXT);
            let gaze = Vec2::new(self.facing * 0.03, self.velocity.y / 200.0);
            brush.disc(at + gaze.clamp(Vec2::splat(-0.05), Vec2::splat(0.05)), 0.05, palette::VOID);
        }
        if own {
            // A scarf in the wind, and an arrow over the head.
            let neck = corner(-self.facing * wide * 0.42, high * 0.45);
            let wind = -(self.velocity.x * 0.045 + self.facing * 0.22).clamp(-0.55, 0.55);
            let drop = (0.16 - self.velocity.y * 0.018).clamp(-0.3, 0.45);
            let band = [-0.44, 0.44].map(|side| corner(side * wide, high * 0.45));
            brush.line(band, brush.stroke(0.11, palette::WARN));
            brush.line([neck, neck + Vec2::new(wind, drop)], brush.stroke(0.1, palette::WARN));
            let arrow = brush.local(corner(0.0, high + 0.42), Vec2::X);
            arrow.polygon([(-0.15, -0.12), (0.15, -0.12), (0.0, 0.1)], edge, Stroke::NONE);
        } else {
            // A visor.
            let (middle, half) = (corner(look, high * 0.68), Vec2::new(wide * 0.36, high * 0.15));
            let (rect, stroke) = (brush.rect(middle - half, middle + half), fade(edge, 0.8));
            let stroke = brush.stroke(0.04, stroke);
            brush.painter.rect_stroke(rect, 0.12 * brush.metre, stroke, StrokeKind::Middle);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offset_is_whole_at_a_landing_and_gone_after_a_leap() {
        let (mut lean, secs) = (Lean::default(), 1.0 / 60.0);
        let ours = |theirs: f32| theirs + 0.01;
        let mut clock = 0.05;
        let mut last = lean.by;
        let mut step = |lean: &mut Lean, ride| {
            clock += secs / 24.0;
            lean.advance(ride, clock, ours(clock), secs);
            let wanted = PLATFORMS[0].at(ours(clock)) - PLATFORMS[0].at(clock);
            let moved = (lean.by - last).length();
            last = lean.by;
            assert!(moved < 0.1, "{moved} m in a frame");
            (wanted - lean.by).length()
        };
        for n in (0..24).rev() {
            step(&mut lean, Some((1, n as f32 * secs)));
        }
        for _ in 0..60 {
            assert!(step(&mut lean, Some((1, 0.0))) < 0.005, "it stands on it");
        }
        assert!(lean.by.length() > 0.1, "the platform has moved in the meantime");
        for _ in 0..90 {
            step(&mut lean, None);
        }
        assert_eq!(lean.by, Vec2::ZERO);
    }
}
