//! Figures over the race: speed, lap times, start lights, signs.

use egui_macroquad::egui;
use phaselock_games::race::drive::TOP_SPEED;
use phaselock_games::race::{COUNTDOWN_SECS, Car, Score};
use phaselock_ui::prelude::*;

/// The gauge's arc: start and length, in turns.
const GAUGE: (f32, f32) = (0.375, 0.75);
/// Kilometres per hour in a metre per second.
const KMH: f32 = 3.6;
/// Letters of the labels of times.
const TIME_LABEL: Lettering = Lettering::new(9.5, palette::TEXT_FAINT).spaced(1.2);
/// Seconds for which the green lights stay.
const GREEN_SECS: f32 = 1.4;

/// Formats a time in hundredths of a second.
pub(super) fn time(hundredths: u32) -> String {
    let (minutes, rest) = (hundredths / 6000, hundredths % 6000);
    format!("{minutes}:{:02}.{:02}", rest / 100, rest % 100)
}

fn time_or_dash(hundredths: u16) -> String {
    if hundredths == 0 { "-:--.--".to_owned() } else { time(u32::from(hundredths)) }
}

/// Formats a place: 1st, 2nd, 3rd.
pub(super) fn ordinal(place: u16) -> String {
    let values = [("place", &*place.to_string())];
    match (place % 10, place % 100) {
        (1, rest) if rest != 11 => fill("{place}st", &values),
        (2, rest) if rest != 12 => fill("{place}nd", &values),
        (3, rest) if rest != 13 => fill("{place}rd", &values),
        _ => fill("{place}th", &values),
    }
}

pub(super) fn draw_speed(frame: &Frame<'_>, car: &Car) {
    let place = (frame.screen.left_bottom() + vec2(16.0, -8.0), Align2::LEFT_BOTTOM);
    let inset = Inset::claim(frame.painter, Item::Figures, place, vec2(152.0, 152.0));
    let (painter, middle) = (frame.painter, inset.at(76.0, 76.0));
    let (radius, far) = (|points: f32| points * inset.zoom(), fade(palette::EDGE, 0.9));
    painter.circle_filled(middle, radius(76.0), fade(palette::PANEL, 0.75));
    painter.circle_stroke(middle, radius(76.0), inset.stroke(1.0, far));
    let speed = car.velocity().length();
    let share = (speed / TOP_SPEED).clamp(0.0, 1.0);
    let (from, turns) = GAUGE;
    let dial = Circle { middle, radius: radius(62.0) };
    arc(painter, dial, from, turns, inset.stroke(7.0, far));
    if share > 0.005 {
        let done = inset.stroke(7.0, palette::OWN);
        arc(painter, dial, from, turns * share, done);
    }
    let spoke = |part: f32, [inner, outer]: [f32; 2], stroke: Stroke| {
        let out = egui::Vec2::angled((from + turns * part) * std::f32::consts::TAU);
        painter.line_segment([middle + out * radius(inner), middle + out * radius(outer)], stroke);
    };
    for kmh in (0..=160).step_by(20) {
        let inner = if kmh % 40 == 0 { 47.0 } else { 51.0 };
        let tick = inset.stroke(1.5, palette::TEXT_FAINT);
        spoke(kmh as f32 / KMH / TOP_SPEED, [inner, 56.0], tick);
    }
    spoke(share, [38.0, 66.0], inset.stroke(2.5, palette::TEXT));
    let kmh = format!("{:.0}", speed * KMH);
    inset.text((76.0, 73.0), Align2::CENTER_CENTER, &kmh, (33.0, palette::TEXT));
    let (unit, center) = (tr("KM/H"), Align2::CENTER_CENTER);
    let lettering = Lettering::new(10.0, palette::TEXT_SOFT).spaced(1.4);
    inset.text((76.0, 97.0), center, unit, lettering);
    let gear = if car.hold > 0 {
        tr("HOLD")
    } else if car.hand {
        tr("HAND BRAKE")
    } else if car.slip().x < -0.5 {
        tr("REVERSE")
    } else if car.pedal < 0 {
        tr("BRAKE")
    } else {
        ""
    };
    let lettering = Lettering::new(9.5, palette::WARN).spaced(1.0);
    inset.text((76.0, 128.0), center, gear, lettering);
}

pub(super) fn draw_times(frame: &Frame<'_>, now: Option<u32>, score: &Score) {
    let now = now.map_or_else(|| "-:--.--".to_owned(), time);
    let large = Lettering::new(19.0, palette::TEXT);
    let small = Lettering::new(15.0, palette::TEXT_SOFT);
    let rows = [
        (tr("LAP"), now, large),
        (tr("LAST"), time_or_dash(score.last), small),
        (tr("BEST"), time_or_dash(score.best), small),
    ];
    let width = |words: &str, letters: Lettering| inset::width(frame.painter, words, letters);
    // As if all times had the maximum length, so that the width stays.
    let widest = rows.iter().map(|(label, ..)| width(label, TIME_LABEL)).fold(0.0, f32::max);
    let size = vec2(widest + width("0:00.00", large) + 44.0, 84.0);
    let place = (frame.screen.left_top() + vec2(18.0, 62.0), Align2::LEFT_TOP);
    let item = (Item::More, [Way::Down, Way::Right]);
    let Some(inset) = Inset::find(frame.painter, (item.0, &item.1), place, size) else { return };
    inset.ground();
    for (n, (label, value, lettering)) in rows.into_iter().enumerate() {
        let y = 19.0 + 24.0 * n as f32;
        inset.text((14.0, y), Align2::LEFT_CENTER, label, TIME_LABEL);
        let right = inset.size().x - 14.0;
        inset.text((right, y), Align2::RIGHT_CENTER, &value, lettering);
    }
}

/// Paints the start lights, `left` seconds before green: one more for each second, and all green
/// at once.
pub(super) fn draw_lights(frame: &Frame<'_>, left: f32) {
    if left <= -GREEN_SECS || left > COUNTDOWN_SECS {
        return;
    }
    let strength = ((left + GREEN_SECS) / 0.4).clamp(0.0, 1.0);
    let size = vec2(292.0, 78.0);
    // Beneath the clock, where no car stands.
    let at = frame.screen.center_top() + vec2(0.0, 114.0);
    let rect = Rect::from_center_size(at, size);
    let found = layout::find(frame.painter, Item::Sign, rect, &[Way::Down]);
    let Some(rect) = found else { return };
    frame.painter.rect_filled(rect, 14.0, fade(palette::VOID, 0.92 * strength));
    let edge = Stroke::new(2.0, fade(palette::EDGE, strength));
    frame.painter.rect_stroke(rect, 14.0, edge, StrokeKind::Inside);
    let green = left <= 0.0;
    let lit = (COUNTDOWN_SECS - left).floor() as usize;
    for n in 0..4 {
        let lamp = pos2(rect.left() + 44.0 + 68.0 * n as f32, rect.center().y);
        let shines = green || n < lit;
        let color = if green { palette::GOOD } else { palette::BAD };
        if shines {
            glow(frame.painter, lamp, 52.0, light(color, 0.55 * strength));
            frame.painter.circle_filled(lamp, 23.0, fade(color, strength));
            // Red ones are full, and green ones have a dark ring, to be distinguishable without
            // colour.
            if green {
                frame.painter.circle_stroke(lamp, 14.0, (4.0, fade(palette::VOID, strength)));
            }
        } else {
            frame.painter.circle_filled(lamp, 23.0, fade(palette::FIELD, strength));
            frame.painter.circle_stroke(lamp, 23.0, (2.0, fade(palette::EDGE, strength)));
        }
    }
}

/// Paints a blinking sign with a triangle in the middle of the picture.
pub(super) fn draw_sign(frame: &Frame<'_>, words: &str, more: &str, age_secs: f32) {
    let middle = frame.screen.center() - vec2(0.0, frame.screen.height() * 0.26);
    let blink = if age_secs.fract() < 0.65 { 1.0 } else { 0.45 };
    let large = Lettering::new(25.0, palette::TEXT);
    let small = Lettering::new(13.0, palette::TEXT_SOFT);
    let width = |words: &str, letters: Lettering| inset::width(frame.painter, words, letters);
    let wide = width(words, large).max(width(more, small)).max(230.0);
    let (size, place) = (vec2(wide + 100.0, 64.0), (middle, Align2::CENTER_CENTER));
    let found = Inset::find(frame.painter, (Item::Sign, &[Way::Down]), place, size);
    let Some(inset) = found else { return };
    frame.painter.rect_filled(inset.rect(), 8.0, fade(palette::VOID, 0.86));
    let edge = inset.stroke(3.0, fade(palette::BAD, blink));
    frame.painter.rect_stroke(inset.rect(), 8.0, edge, StrokeKind::Inside);
    let corners = [(0.0, -23.0), (24.0, 18.0), (-24.0, 18.0)];
    let corners = corners.map(|(x, y)| (x * inset.zoom(), y * inset.zoom()));
    let warn = fade(palette::WARN, blink);
    polygon(frame.painter, inset.at(38.0, 34.0), &corners, warn, Stroke::NONE);
    inset.text((38.0, 38.0), Align2::CENTER_CENTER, "!", (28.0, palette::VOID));
    let x = size.x / 2.0 + 22.0;
    inset.text((x, 23.0), Align2::CENTER_CENTER, words, large);
    inset.text((x, 49.0), Align2::CENTER_CENTER, more, small);
}

/// Paints the result of a driver who has finished while others race.
pub(super) fn draw_finished(frame: &Frame<'_>, score: &Score) {
    let middle = frame.screen.center() - vec2(0.0, frame.screen.height() * 0.27);
    let words = fill("Finished {place}", &[("place", &ordinal(score.place))]);
    let took = time(u32::from(score.time));
    let lines = [(&*words, 38.0, palette::TEXT), (&*took, 20.0, palette::TEXT_SOFT)];
    let place = (middle, Align2::CENTER_CENTER);
    text_block(frame.painter, (Item::PlayerNotice, &[Way::Down]), place, &lines);
}

/// Paints the rest of the wait after a reset as a ring around the car.
pub(super) fn draw_hold(brush: &Brush<'_>, at: Vec2, share: f32) {
    let radius = 34.0 / brush.metre;
    brush.ring(at, radius, (4.0, fade(palette::EDGE, 0.7)));
    brush.arc(at, radius, (-0.25, share), (4.0, palette::WARN));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_places_are_written_as_people_do() {
        assert_eq!([time(4634), time(14_211), time(5)], ["0:46.34", "2:22.11", "0:00.05"]);
        let places = [1, 2, 3, 4, 11, 12, 13, 21, 22, 103, 111].map(ordinal);
        let written = "1st 2nd 3rd 4th 11th 12th 13th 21st 22nd 103rd 111th";
        assert_eq!(places.join(" "), written);
    }
}
