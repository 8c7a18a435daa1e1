//! Background of the menu, and the program's icon: two waves that fall into step.

use crate::prelude::*;
use macroquad::miniquad::conf::Icon;

/// Seconds from one loss of phase to the next.
const PERIOD: f32 = 9.0;
/// Wave lengths across the window.
const WAVES: f32 = 3.0;

/// Paints faint lines, `step` points apart.
pub(crate) fn grid(painter: &Painter, rect: Rect, step: f32) {
    let line = (1.0, palette::VOID_GRID);
    for n in 0..(rect.width() / step) as u32 + 1 {
        painter.vline(rect.left() + n as f32 * step, rect.y_range(), line);
    }
    for n in 0..(rect.height() / step) as u32 + 1 {
        painter.hline(rect.x_range(), rect.top() + n as f32 * step, line);
    }
}

/// Paints the waves at the height `y` in points, as of `time` in seconds.
pub(crate) fn draw(painter: &Painter, screen: Rect, y: f32, time: f64) {
    grid(painter, screen, 48.0);
    let middle = pos2(screen.center().x, y);
    glow(painter, middle, screen.width() * 0.55, light(palette::OWN, 0.16));

    rim(painter, screen, screen.height() * 0.45, fade(palette::VOID, 0.85));

    // Behind by most of a turn at first, then pulled in with some overshoot, as a loop with a
    // proportional and an integral part does it.
    let age = (time % f64::from(PERIOD)) as f32;
    let behind = 0.42 * (-0.9 * age).exp() * (1.7 * age).cos();
    let travel = (time * 0.22).fract() as f32;
    let height = screen.height() * 0.055;
    let wave = |turns: f32| -> Vec<Pos2> {
        (0..=160)
            .map(|n| {
                let x = n as f32 / 160.0;
                let angle = (x * WAVES - travel - turns) * std::f32::consts::TAU;
                // Quieter at both ends, which are the window's edges. The sine of pi, rounded, is
                // below zero.
                let swell = 0.3 + 0.7 * (x * std::f32::consts::PI).sin().max(0.0).powf(0.7);
                pos2(screen.left() + x * screen.width(), middle.y + angle.sin() * swell * height)
            })
            .collect()
    };
    let locked = 1.0 - (behind.abs() * 6.0).min(1.0);
    for (turns, color) in [(0.0, palette::OWN), (behind, palette::FOE)] {
        let points = wave(turns);
        for (width, strength) in [(7.0, 0.05 + 0.05 * locked), (1.8, 0.5)] {
            let stroke = PathStroke::new(width, fade(color, strength));
            painter.add(Shape::line(points.clone(), stroke));
        }
    }
}

pub(crate) fn icon() -> Icon {
    Icon { small: pixels::<1024, 16>(), medium: pixels::<4096, 32>(), big: pixels::<16384, 64>() }
}

/// A square of `SIDE` by `SIDE` pixels of four bytes: a ring, a wave through it, nothing around.
fn pixels<const BYTES: usize, const SIDE: usize>() -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    let pixel = 2.0 / SIDE as f32;
    // Share of a pixel within `half` of a line at the distance `away`.
    let cover = |away: f32, half: f32| ((half - away) / pixel + 0.5).clamp(0.0, 1.0);
    for (n, rgba) in bytes.chunks_exact_mut(4).enumerate() {
        let x = ((n % SIDE) as f32 + 0.5) * pixel - 1.0;
        let y = ((n / SIDE) as f32 + 0.5) * pixel - 1.0;
        let from_middle = x.hypot(y);
        let ring = cover((from_middle - 0.84).abs(), 0.1);
        let slope = (x * std::f32::consts::PI).cos();
        let wave =
            (y + 0.36 * (x * std::f32::consts::PI).sin()).abs() / (1.0 + slope * slope).sqrt();
        let wave = cover(wave, 0.1) * cover(from_middle, 0.84);
        let disc = cover(from_middle, 0.9);
        let color = [(palette::CARD, 1.0_f32), (palette::FOE, wave), (palette::OWN, ring)];
        for (part, byte) in rgba.iter_mut().take(3).enumerate() {
            let over = |below: f32, (color, cover): (Color32, f32)| {
                below + (f32::from(color.to_array()[part]) - below) * cover
            };
            *byte = color.into_iter().fold(0.0, over) as u8;
        }
        rgba[3] = (disc.max(ring) * 255.0) as u8;
    }
    bytes
}
