//! Figures over space: hull, gun, and the radar.

use phaselock_games::asteroids::field::{FIELD, SIZE};
use phaselock_games::asteroids::flight::{RELOAD_SECS, SPEED_MAX};
use phaselock_games::asteroids::rocks::radius;
use phaselock_games::asteroids::{Asteroids, HULL, REACH, Rock, SHIELD_SECS, Ship};
use phaselock_ui::prelude::*;

use super::space::seams;

/// Seconds for which a wound is shown.
pub(super) const WOUND_SECS: f32 = 0.7;

/// Letters of the figures' labels, and width of a gauge in points.
const LABEL: Lettering = Lettering::new(10.0, palette::TEXT_SOFT).spaced(1.5);
const GAUGE: f32 = 148.0;

#[derive(Debug, Default)]
pub(super) struct Hud {
    pub(super) feed: Feed<()>,
    /// Seconds for which the last wound is still shown.
    pub(super) wound: f32,
}

impl Hud {
    pub(super) fn advance(&mut self, secs: f32) {
        self.wound = (self.wound - secs).max(0.0);
        self.feed.advance(secs);
    }

    pub(super) fn draw_wound(&self, frame: &Frame<'_>, own: Option<&Ship>) {
        let low = own.is_some_and(|own| own.hull == 1);
        let strength = (self.wound / WOUND_SECS * 0.34).max(if low { 0.1 } else { 0.0 });
        if strength > 0.0 {
            let depth = frame.screen.height() * 0.22;
            rim(frame.painter, frame.screen, depth, fade(palette::BAD, strength));
        }
    }

    pub(super) fn draw_loss(&self, frame: &Frame<'_>, to: Option<&str>, secs: f32) {
        let at = frame.screen.center() + vec2(0.0, frame.screen.height() * 0.12);
        let words = fill("Destroyed by {name}", &[("name", to.unwrap_or(tr("a rock")))]);
        let next = fill("Next ship in {secs} s", &[("secs", &format!("{secs:.1}"))]);
        let lines = [(&*words, 30.0, palette::TEXT), (&*next, 15.0, palette::TEXT_SOFT)];
        let place = (at, Align2::CENTER_TOP);
        text_block(frame.painter, (Item::PlayerNotice, &[Way::Down, Way::Up]), place, &lines);
    }
}

pub(super) fn draw_state(frame: &Frame<'_>, own: &Ship, step_secs: f32) {
    let shielded = own.shield > 0;
    let labels = [tr("HULL"), if shielded { tr("SHIELD") } else { tr("GUN") }, tr("SPEED")];
    // Wide enough for both words, so that the width stays when one replaces the other.
    let widths = labels.into_iter().chain([tr("SHIELD"), tr("GUN")]);
    let widths = widths.map(|words| inset::width(frame.painter, words, LABEL));
    let left = widths.fold(50.0, f32::max) + 24.0;
    let place = (frame.screen.left_bottom() + vec2(18.0, -18.0), Align2::LEFT_BOTTOM);
    let size = vec2(left + GAUGE + 14.0, 68.0);
    let inset = Inset::claim(frame.painter, Item::Figures, place, size);
    inset.ground();
    let row = |n: usize| 16.0 + n as f32 * 18.0;
    for (n, words) in labels.into_iter().enumerate() {
        inset.text((12.0, row(n)), Align2::LEFT_CENTER, words, LABEL);
    }
    let cell = (GAUGE - 6.0) / f32::from(HULL);
    for n in 0..HULL {
        let at = (left + f32::from(n) * (cell + 3.0), row(0) - 5.0);
        let color = if own.hull == 1 { palette::BAD } else { palette::OWN };
        inset.bar(at, (cell, 10.0), if n < own.hull { 1.0 } else { 0.0 }, color);
    }
    let gauge = |n: usize, share: f32, color: Color32| {
        inset.bar((left, row(n) - 3.0), (GAUGE, 6.0), share, color);
    };
    if shielded {
        let secs = f32::from(own.shield) * step_secs;
        gauge(1, secs / SHIELD_SECS, palette::GOOD);
    } else {
        let loading = f32::from(own.cooldown) * step_secs / RELOAD_SECS;
        gauge(1, 1.0 - loading, palette::STEEL);
    }
    gauge(2, own.velocity().length() / SPEED_MAX, palette::TEXT_SOFT);
}

/// Paints the radar: rocks as dots of their size, ships as arrows, the edges of the field as faint
/// lines.
pub(super) fn draw_radar(scene: &Scene<'_, Asteroids>, own: &Ship) {
    let size = (scene.screen.height() * 0.1).clamp(58.0, 92.0);
    let middle = match scene.controls.by_glass() {
        // Below the names: the other corner is for the thumb.
        true => scene.screen.left_top() + vec2(size + 20.0, size + 60.0),
        false => scene.screen.right_bottom() - vec2(size + 20.0, size + 20.0),
    };
    let chart = Rect::from_center_size(middle, vec2(2.0 * size, 2.0 * size));
    let Some(chart) = layout::find(scene.painter, Item::Chart, chart, &[Way::Up, Way::Left]) else {
        return;
    };
    let edge = |strength: f32| Stroke::new(1.0, fade(palette::EDGE, strength));
    let camera = Camera { middle: Vec2::ZERO, scale: size / REACH, screen: chart };
    let brush = Brush::new(scene.painter, camera);
    brush.circle(Vec2::ZERO, REACH, fade(palette::PANEL, 0.8), edge(0.9));
    for share in [0.33, 0.66] {
        brush.ring(Vec2::ZERO, REACH * share, edge(0.45));
    }
    let from = own.position();
    let line = Stroke::new(1.0, fade(palette::TEXT_FAINT, 0.5));
    for ends in seams(from, REACH, SIZE) {
        let ends = ends.map(|end| brush.point(end));
        scene.painter.extend(Shape::dashed_line(&ends, line, 3.0, 4.0));
    }
    let spot =
        |position: Vec2| Some(FIELD.way(from, position)).filter(|way| way.length() < REACH - 1.0);
    let entities = &scene.picture.entities;
    for rock in entities.records::<Rock>() {
        let Some(at) = spot(rock.entity.position()) else { continue };
        let radius = (radius(&rock.entity) * 0.8).max(1.4 / brush.metre);
        if rock.entity.forming > 0 && rock.entity.size == 0 {
            brush.ring(at, radius + 1.0 / brush.metre, (1.0, fade(palette::WARN, 0.7)));
        } else {
            brush.disc(at, radius, fade(palette::WALL_RIM, 0.8));
        }
    }
    let arrow = |at: Vec2, facing: Vec2, size: f32, fill: Color32, edge: Color32| {
        let corners = [(1.0, 0.0), (-0.7, -0.7), (-0.7, 0.7)];
        brush.local(at, facing * (size / brush.metre)).polygon(corners, fill, (1.2, edge));
    };
    for ship in entities.records::<Ship>().filter(|ship| ship.entity.is_alive()) {
        let other = ship.owner != Some(scene.player);
        if let Some(at) = spot(ship.entity.position()).filter(|_| other) {
            arrow(at, ship.entity.facing(), 5.5, Color32::TRANSPARENT, palette::FOE);
        }
    }
    if own.is_alive() {
        arrow(Vec2::ZERO, own.facing(), 6.0, palette::OWN, palette::OWN);
    }
}
