//! Signs for weapons and goods, told apart by their shapes.

use egui_macroquad::egui::{Color32, Painter, Pos2, Rect, Shape, Stroke, Vec2, vec2};
use phaselock_games::skirmish::{Goods, Means, Weapon};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Icon {
    Rifle,
    Rocket,
    Grenade,
    Mine,
    Barrel,
    Crate,
    Health,
}

impl Icon {
    pub(super) fn of_weapon(weapon: Weapon) -> Self {
        match weapon {
            Weapon::Rifle => Self::Rifle,
            Weapon::Rockets => Self::Rocket,
            Weapon::Grenades => Self::Grenade,
            Weapon::Mines => Self::Mine,
        }
    }

    pub(super) fn of_means(means: Means) -> Self {
        match means {
            Means::Rifle => Self::Rifle,
            Means::Rocket => Self::Rocket,
            Means::Grenade => Self::Grenade,
            Means::Mine => Self::Mine,
            Means::Barrel => Self::Barrel,
            Means::Thrown => Self::Crate,
        }
    }

    pub(super) fn of_goods(goods: Goods) -> Self {
        match goods {
            Goods::Health => Self::Health,
            Goods::Rockets => Self::Rocket,
            Goods::Grenades => Self::Grenade,
            Goods::Mines => Self::Mine,
        }
    }
}

/// Paints an icon in a square with sides of `side` points.
pub(super) fn icon(painter: &Painter, middle: Pos2, side: f32, icon: Icon, color: Color32) {
    let at = |x: f32, y: f32| middle + vec2(x, y) * (side / 2.0);
    let line = Stroke::new((side * 0.1).max(1.2), color);
    let area = |points: &[(f32, f32)]| {
        let points = points.iter().map(|(x, y)| at(*x, *y)).collect();
        painter.add(Shape::convex_polygon(points, color, Stroke::NONE));
    };
    match icon {
        Icon::Rifle => {
            area(&[(-1.0, -0.1), (1.0, -0.1), (1.0, 0.1), (-1.0, 0.1)]);
            area(&[(-1.0, -0.22), (-0.1, -0.22), (-0.1, 0.22), (-1.0, 0.22)]);
            area(&[(-0.45, 0.2), (-0.2, 0.2), (-0.3, 0.65), (-0.55, 0.65)]);
            area(&[(-1.0, 0.1), (-0.75, 0.1), (-0.85, 0.55), (-1.0, 0.55)]);
        }
        Icon::Rocket => {
            area(&[(-0.6, -0.24), (0.45, -0.24), (0.95, 0.0), (0.45, 0.24), (-0.6, 0.24)]);
            area(&[(-0.95, -0.6), (-0.6, -0.6), (-0.25, -0.24), (-0.6, -0.24)]);
            area(&[(-0.6, 0.24), (-0.25, 0.24), (-0.6, 0.6), (-0.95, 0.6)]);
        }
        Icon::Grenade => {
            painter.circle_filled(at(0.0, 0.25), side * 0.31, color);
            area(&[(-0.2, -0.75), (0.2, -0.75), (0.2, -0.3), (-0.2, -0.3)]);
            painter.line_segment([at(0.2, -0.65), at(0.75, -0.15)], line);
        }
        Icon::Mine => {
            painter.circle_filled(middle, side * 0.25, color);
            for n in 0_u8..8 {
                let out = Vec2::angled(f32::from(n) / 8.0 * std::f32::consts::TAU);
                let ends = [middle + out * side * 0.2, middle + out * side * 0.47];
                painter.line_segment(ends, line);
            }
        }
        Icon::Barrel => {
            let rect = Rect::from_center_size(middle, vec2(side * 0.66, side * 0.92));
            painter.rect_filled(rect, side * 0.12, color);
            let dark = Color32::from_black_alpha(150);
            for y in [-0.45, 0.05, 0.55] {
                let band = Stroke::new(side * 0.09, dark);
                painter.line_segment([at(-0.66, y + 0.12), at(0.66, y - 0.12)], band);
            }
        }
        Icon::Crate => {
            let (a, b, c, d) = (at(-0.8, -0.8), at(0.8, -0.8), at(0.8, 0.8), at(-0.8, 0.8));
            for ends in [[a, b], [b, c], [c, d], [d, a], [a, c], [b, d]] {
                painter.line_segment(ends, line);
            }
        }
        Icon::Health => {
            area(&[(-0.28, -0.9), (0.28, -0.9), (0.28, 0.9), (-0.28, 0.9)]);
            area(&[(-0.9, -0.28), (0.9, -0.28), (0.9, 0.28), (-0.9, 0.28)]);
        }
    }
}
