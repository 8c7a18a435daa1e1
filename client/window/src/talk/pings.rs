//! Marks that players set on the map: in the picture, or at its edge if they are beyond it.

use std::collections::VecDeque;

use phaselock::time::{LocalTime, Micros};
use phaselock::wire::talk::Mark;

use phaselock_ui::prelude::*;

/// Maximum number of marks; the oldest are removed. Arbitrary.
const MARKS_MAX: usize = 12;
/// Time for which a mark is shown, and its last part in which it fades.
const SHOWN: Micros = Micros::from_ms(6_000);
const FADE_SECS: f32 = 1.0;
/// Distance from the window's edge of a mark beyond the picture, and radius of the ring, in points.
const EDGE: f32 = 46.0;
const RING: f32 = 15.0;
/// Width of a name, in points.
const NAME: f32 = 150.0;

#[derive(Clone, Debug, PartialEq)]
struct Ping {
    name: String,
    color: u8,
    at: Vec2,
    came: LocalTime,
}

/// The marks of a session.
#[derive(Debug, Default)]
pub(super) struct Pings(VecDeque<Ping>);

impl Pings {
    /// Adds a mark; each player has at most one.
    pub(super) fn add(&mut self, (name, color): (&str, u8), mark: Mark, now: LocalTime) {
        self.0.retain(|ping| ping.name != name);
        self.0.push_back(Ping { name: name.to_owned(), color, at: mark.position(), came: now });
        if self.0.len() > MARKS_MAX {
            self.0.pop_front();
        }
    }

    /// Removes all marks, when another game begins.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Paints the marks. `wraps` is the world's period, if it has one.
    pub(super) fn draw(
        &mut self,
        painter: &Painter,
        camera: Camera,
        wraps: Option<Vec2>,
        now: LocalTime,
    ) {
        self.0.retain(|ping| now - ping.came < SHOWN);
        for ping in &self.0 {
            let (secs, left) = ((now - ping.came).as_secs(), (SHOWN - (now - ping.came)).as_secs());
            let strength = (left as f32 / FADE_SECS).clamp(0.0, 1.0);
            draw_ping(painter, camera, ping, wraps, (secs as f32, strength));
        }
    }
}

/// The image of a point nearest to the camera, in a world that wraps.
fn nearest(at: Vec2, middle: Vec2, wraps: Option<Vec2>) -> Vec2 {
    wraps.map_or(at, |period| at + ((middle - at) / period).round() * period)
}

fn draw_ping(
    painter: &Painter,
    camera: Camera,
    ping: &Ping,
    wraps: Option<Vec2>,
    (secs, strength): (f32, f32),
) {
    let color = fade(palette::player_color(ping.color), strength);
    let dark = fade(palette::VOID, 0.8 * strength);
    let at = camera.to_screen(nearest(ping.at, camera.middle, wraps));
    let inside = camera.screen.shrink(EDGE);
    let shown = inside.clamp(at);
    if shown == at {
        // A ring that closes in, twice.
        let wave = 1.0 - (secs * 1.6).fract();
        if secs < 1.25 {
            painter.circle_stroke(at, RING + 40.0 * wave, Stroke::new(2.0, fade(color, 0.7)));
        }
        painter.circle_stroke(at, RING, Stroke::new(5.0, dark));
        painter.circle_stroke(at, RING, Stroke::new(2.5, color));
        painter.circle(at, 3.5, color, Stroke::new(1.0, dark));
    } else {
        let way = (at - shown).normalized();
        let tip = shown + way * 14.0;
        let corners = vec![tip, shown + way.rot90() * 8.0, shown - way.rot90() * 8.0];
        painter.add(Shape::convex_polygon(corners, color, Stroke::new(1.5, dark)));
    }
    let under = shown + vec2(0.0, RING + 5.0);
    let lettering = Lettering::new(13.0, color).within(NAME);
    // Its position depends on its width, which is known once it is laid out.
    let width = painter
        .layout_no_wrap(ping.name.clone(), egui_macroquad::egui::FontId::proportional(13.0), color)
        .size()
        .x
        .min(NAME);
    let left = (under.x - width / 2.0).clamp(
        camera.screen.left() + 8.0,
        (camera.screen.right() - width - 8.0).max(camera.screen.left() + 8.0),
    );
    let back = Rect::from_min_size(pos2(left, under.y), vec2(width, 17.0)).expand2(vec2(5.0, 1.0));
    if !layout::label(painter, back) {
        return;
    }
    text_over(painter, pos2(left, under.y), Align2::LEFT_TOP, &ping.name, lettering);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_bounded_and_one_for_each_player() {
        let mut pings = Pings::default();
        let mark = |x| Mark { kind: 0, x, y: 0 };
        for number in 0..100 {
            pings.add((&format!("p{}", number % 30), 0), mark(number), LocalTime(0));
        }
        assert_eq!(pings.0.len(), MARKS_MAX);
        pings.add(("p9", 0), mark(640), LocalTime(0));
        let of_nine: Vec<_> = pings.0.iter().filter(|it| it.name == "p9").collect();
        assert_eq!((of_nine.len(), of_nine[0].at), (1, Vec2::new(10.0, 0.0)));
    }

    #[test]
    fn marks_are_shown_where_they_are_nearest() {
        let (at, middle) = (Vec2::new(1.0, 99.0), Vec2::new(98.0, 50.0));
        assert_eq!(nearest(at, middle, Some(Vec2::splat(100.0))), Vec2::new(101.0, 99.0));
        assert_eq!(nearest(at, middle, None), at);
    }
}
