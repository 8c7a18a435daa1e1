//! The map in the corner: the track, and all players' positions on it.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use phaselock_games::race::track::{GATES, Track};
use phaselock_games::race::{Piece, Score, car_of};
use phaselock_ui::prelude::*;

/// Assumed speed of a distant car since its last gate, in metres per second.
const USUAL: f32 = 22.0;

/// Positions of cars that are too far away to be seen, by the gates in their scores.
#[derive(Debug, Default)]
pub(super) struct Map {
    /// Gates passed, and seconds since the last.
    far: BTreeMap<PlayerId, (u16, f32)>,
}

impl Map {
    pub(super) fn advance(&mut self, entities: &Entities<Piece>, secs: f32) {
        self.far.retain(|player, _| entities.owned_by(*player).next().is_some());
        for slot in entities.records::<Score>() {
            let (Some(player), gates) = (slot.owner, slot.entity.gates) else { continue };
            let entry = self.far.entry(player).or_insert((gates, 0.0));
            *entry = if entry.0 == gates { (gates, entry.1 + secs) } else { (gates, 0.0) };
        }
    }

    /// Position of a player, as far as known.
    fn position(&self, entities: &Entities<Piece>, player: PlayerId) -> Option<Vec2> {
        let track = Track::get();
        if let Some(car) = car_of(entities, player) {
            return Some(car.position());
        }
        let (gates, secs) = *self.far.get(&player)?;
        let gap = track.length / f32::from(GATES);
        let station = track.last_gate(gates).station + (secs * USUAL).min(gap);
        Some(track.position(station, 0.0))
    }

    pub(super) fn draw(&self, frame: &Frame<'_>, entities: &Entities<Piece>, own: PlayerId) {
        let track = Track::get();
        let by_glass = frame.controls.by_glass();
        let wide = match by_glass {
            true => 150.0,
            false => (frame.screen.width() * 0.2).clamp(180.0, 280.0),
        };
        let (low, high) = track
            .samples
            .iter()
            .fold((Vec2::MAX, Vec2::MIN), |(low, high), it| (low.min(it.at), high.max(it.at)));
        let scale = (wide - 28.0) / (high.x - low.x);
        let size = vec2(wide, (high.y - low.y) * scale + 28.0);
        let corner = match by_glass {
            // Below the times: the other corner is for the thumb.
            true => frame.screen.left_top() + vec2(18.0, 154.0),
            false => frame.screen.right_bottom() - size - vec2(18.0, 18.0),
        };
        let rect = Rect::from_min_size(corner, size);
        let ways = [Way::Up, Way::Left];
        let Some(rect) = layout::find(frame.painter, Item::Chart, rect, &ways) else { return };
        panel(frame.painter, rect);
        let middle = (low + high) * 0.5;
        let brush = Brush::new(frame.painter, Camera { middle, scale, screen: rect });
        let points = track.samples.iter().step_by(3).map(|sample| sample.at);
        for stroke in [(7.0, palette::EDGE), (4.0, palette::ASPHALT_LIGHT)] {
            brush.outline(points.clone(), stroke);
        }
        let line = &track.samples[0];
        let across = line.along.perp() * 7.0;
        brush.line([line.at - across, line.at + across], (2.0, palette::TEXT));

        // The leader is above the others, and the local car above all.
        let scores = entities.records::<Score>();
        let scores = scores.filter_map(|slot| Some((slot.owner?, slot.entity.place)));
        let mut order: Vec<_> = scores.filter(|(player, _)| *player != own).collect();
        order.sort_by_key(|(player, place)| (Reverse(*place), *player));
        for (player, place) in order {
            let Some(at) = self.position(entities, player) else { continue };
            let at = brush.point(at);
            frame.painter.circle(at, 3.6, palette::FOE, (1.0, palette::VOID));
            if place == 1 {
                frame.painter.circle_stroke(at, 6.2, (1.5, palette::TEXT));
                let (above, first) = (at - vec2(0.0, 7.0), Align2::CENTER_BOTTOM);
                let grown = 11.0 * letters(frame.painter.ctx());
                text(frame.painter, above, first, "1", (grown, palette::TEXT));
            }
        }
        if let Some(car) = car_of(entities, own) {
            // In points of the window.
            let brush = brush.local(car.position(), car.nose() / scale);
            let edge = (1.5, fade(palette::VOID, 0.9));
            brush.polygon([(9.0, 0.0), (-5.0, 5.5), (-5.0, -5.5)], palette::OWN, edge);
        }
    }
}
