//! The cars' picture: bodies, wheels, lights, numbers, and each car's pattern.

use phaselock_games::race::Car;
use phaselock_ui::prelude::*;

/// Right half of the body from above, from the nose back: metres ahead of the middle and to the
/// right.
const BODY: [(f32, f32); 8] = [
    (2.15, 0.42),
    (2.0, 0.78),
    (1.3, 0.93),
    (0.4, 0.9),
    (-0.6, 0.95),
    (-1.6, 0.98),
    (-2.05, 0.86),
    (-2.15, 0.6),
];

/// Adds a rectangle between two distances ahead of a car's middle and two to its right.
fn block(brush: &Brush<'_>, mesh: &mut Mesh, ahead: [f32; 2], right: [f32; 2], color: Color32) {
    let ([back, front], [left, right]) = (ahead, right);
    brush.quad(mesh, [(back, left), (front, left), (front, right), (back, right)], color);
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    pub(super) own: bool,
    /// Place in the race; 0 if the race does not count.
    pub(super) place: u16,
    pub(super) solid: bool,
    pub(super) dress: Dress,
}

pub(super) fn draw(world: &Brush<'_>, car: &Car, look: Look) {
    let brush = &world.local(car.position(), car.nose());
    let there = if look.solid { 1.0 } else { 0.45 };
    let dye = |color: Color32| fade(color, there);
    let paint = mix(look.dress.color, look.dress.dark, 0.15);
    let trim = if look.own { palette::TEXT } else { look.dress.dark };

    if look.solid {
        for (ahead, radius) in [(1.0, 1.5), (-1.0, 1.6)] {
            let at = car.position() + car.nose() * ahead + Vec2::new(0.18, 0.3);
            world.glow(at, radius, Color32::from_black_alpha(150));
        }
    }
    headlights(brush, there);

    let mut mesh = Mesh::default();
    let rubber = dye(palette::VOID);
    for side in [-1.0, 1.0] {
        block(brush, &mut mesh, [-1.65, -0.9], [side * 0.78, side * 1.06], rubber);
        // The front wheels turn by up to a twelfth of a circle.
        let wheel = brush.local((1.25, side * 0.9), Vec2::from_angle(car.wheel * 0.5));
        block(&wheel, &mut mesh, [-0.36, 0.36], [-0.15, 0.15], rubber);
    }
    brush.painter.add(Shape::mesh(mesh));

    let left = BODY.into_iter().rev().map(|(ahead, right)| (ahead, -right));
    let edge = Stroke::new((0.1 * brush.metre).max(1.0), dye(trim));
    brush.polygon(BODY.into_iter().chain(left), dye(paint), edge);
    let mut mesh = Mesh::default();
    pattern(&mut mesh, brush, look.dress.pattern, dye(trim));
    // Wing and windows.
    block(brush, &mut mesh, [-2.3, -2.0], [-0.95, 0.95], dye(trim));
    let glass = dye(mix(palette::VOID, palette::STEEL, 0.12));
    brush.quad(&mut mesh, [(0.95, -0.62), (0.95, 0.62), (0.5, 0.7), (0.5, -0.7)], glass);
    brush.quad(&mut mesh, [(-0.95, -0.6), (-0.95, 0.6), (-0.65, 0.68), (-0.65, -0.68)], glass);
    brush.painter.add(Shape::mesh(mesh));
    tail_lights(brush, car, there);

    draw_place(brush, look.place, there);
    if look.own {
        // An arrowhead in front of the nose marks the local car without colour.
        let tip = [(3.3, 0.0), (2.7, 0.5), (2.85, 0.0), (2.7, -0.5)];
        let mut mesh = Mesh::default();
        brush.quad(&mut mesh, tip, fade(palette::OWN, 0.85));
        brush.painter.add(Shape::mesh(mesh));
    }
}

/// The place in the race, the only number on a car. It stands upright, whichever way the car goes.
fn draw_place(brush: &Brush<'_>, place: u16, there: f32) {
    if place == 0 {
        return;
    }
    let (at, radius) = (brush.point((-0.07, 0.0)), 0.56 * brush.metre);
    if !layout::label(brush.painter, Rect::from_center_size(at, vec2(2.0, 2.0) * radius)) {
        return;
    }
    let number = place.to_string();
    let size = radius * if number.len() > 2 { 1.05 } else { 1.4 };
    brush.painter.circle_filled(at, radius, fade(palette::TEXT, there));
    let ink = fade(palette::VOID, there);
    text(brush.painter, at, Align2::CENTER_CENTER, &number, (size, ink));
}

/// Stripes, bands and squares.
fn pattern(mesh: &mut Mesh, brush: &Brush<'_>, which: u8, color: Color32) {
    let mut block = |ahead, right| block(brush, mesh, ahead, right, color);
    let both = [-1.0, 1.0];
    match which {
        // Two stripes from nose to tail.
        0 => both.iter().for_each(|side| block([-2.0, 2.05], [side * 0.15, side * 0.4])),
        // A broad band across the bonnet.
        1 => block([1.15, 1.65], [-0.88, 0.88]),
        // A chevron.
        2 => {
            for side in both {
                let corners = [(1.95, 0.0), (1.55, 0.0), (1.05, side * 0.88), (1.4, side * 0.88)];
                brush.quad(mesh, corners, color);
            }
        }
        // One half.
        3 => block([-2.0, 1.9], [0.0, 0.72]),
        // Squares on the bonnet.
        4 => {
            for n in (0..6).step_by(2) {
                let (ahead, right) = (1.05 + (n / 3) as f32 * 0.4, -0.66 + (n % 3) as f32 * 0.44);
                block([ahead, ahead + 0.4], [right, right + 0.44]);
            }
        }
        // A stripe along the middle.
        5 => block([-2.0, 2.05], [-0.2, 0.2]),
        // Two bands across the bonnet.
        6 => [1.0, 1.5].iter().for_each(|at| block([*at, at + 0.22], [-0.85, 0.85])),
        // Sills along both sides.
        _ => both.iter().for_each(|side| block([-1.9, 1.3], [side * 0.68, side * 0.9])),
    }
}

fn headlights(brush: &Brush<'_>, there: f32) {
    for side in [-0.62, 0.62] {
        let far = ((9.0, side * 2.2), light(palette::TEXT, 0.0));
        brush.beam([((2.0, side), light(palette::TEXT, 0.2 * there)), far], 2.2);
        brush.disc((1.95, side), 0.16, fade(palette::TEXT, there));
    }
}

fn tail_lights(brush: &Brush<'_>, car: &Car, there: f32) {
    let along = car.slip().x;
    let brakes = car.hand || (car.pedal < 0 && along > 0.5);
    let reverses = car.pedal < 0 && along < -0.3;
    for side in [-0.66, 0.66] {
        brush.disc((-2.1, side), if brakes { 0.26 } else { 0.16 }, fade(palette::BAD, there));
        if brakes {
            brush.glow((-2.1, side), 1.3, light(palette::BAD, 0.5 * there));
        }
        if reverses {
            brush.disc((-2.1, side * 0.5), 0.15, fade(palette::TEXT, there));
        }
    }
}

/// The ghost that the player races: an outline, with its name.
pub(super) fn draw_ghost(world: &Brush<'_>, car: &Car, name: &str) {
    let brush = &world.local(car.position(), car.nose());
    let left = BODY.into_iter().rev().map(|(ahead, right)| (ahead, -right));
    let edge = Stroke::new((0.12 * brush.metre).max(1.0), fade(palette::TEXT, 0.5));
    brush.polygon(BODY.into_iter().chain(left), fade(palette::TEXT, 0.16), edge);
    let over = world.point(car.position() - Vec2::Y * 2.2);
    let lettering = (12.0, fade(palette::TEXT, 0.5));
    name_tag(world.painter, over, Align2::CENTER_BOTTOM, (name, false), lettering);
}

/// Time by which the player is behind the ghost, above the player's car.
pub(super) fn draw_gap(brush: &Brush<'_>, car: &Car, behind: f64) {
    let over = brush.point(car.position() - Vec2::Y * 3.0);
    ghost_gap(brush.painter, over, behind);
}

/// Name above a car.
pub(super) fn draw_tag(brush: &Brush<'_>, car: &Car, tag: (&str, bool)) {
    let over = brush.point(car.position() - Vec2::Y * 2.2);
    name_tag(brush.painter, over, Align2::CENTER_BOTTOM, tag, (12.5, fade(palette::TEXT, 0.92)));
}
