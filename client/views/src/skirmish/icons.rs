//! Signs for weapons and goods, distinguished by their shapes.

use phaselock_games::skirmish::{Goods, Means, Weapon};
use phaselock_ui::prelude::*;

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
    // From -1 to 1 across the square.
    let (scale, screen) = (side / 2.0, Rect::from_center_size(middle, vec2(side, side)));
    let brush = Brush::new(painter, Camera { middle: Vec2::ZERO, scale, screen });
    let line = Stroke::new((side * 0.1).max(1.2), color);
    let area = |points: &[(f32, f32)]| {
        brush.polygon(points.iter().copied(), color, Stroke::NONE);
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
            brush.disc((0.0, 0.25), 0.62, color);
            area(&[(-0.2, -0.75), (0.2, -0.75), (0.2, -0.3), (-0.2, -0.3)]);
            brush.line([(0.2, -0.65), (0.75, -0.15)], line);
        }
        Icon::Mine => {
            brush.disc(Vec2::ZERO, 0.5, color);
            for n in 0_u8..8 {
                let out = Vec2::from_angle(f32::from(n) / 8.0 * std::f32::consts::TAU);
                brush.line([out * 0.4, out * 0.94], line);
            }
        }
        Icon::Barrel => {
            painter.rect_filled(brush.rect((-0.66, -0.92), (0.66, 0.92)), side * 0.12, color);
            let dark = Color32::from_black_alpha(150);
            for y in [-0.45, 0.05, 0.55] {
                brush.line([(-0.66, y + 0.12), (0.66, y - 0.12)], (side * 0.09, dark));
            }
        }
        Icon::Crate => {
            let (a, b, c, d) = ((-0.8, -0.8), (0.8, -0.8), (0.8, 0.8), (-0.8, 0.8));
            for ends in [[a, b], [b, c], [c, d], [d, a], [a, c], [b, d]] {
                brush.line(ends, line);
            }
        }
        Icon::Health => {
            area(&[(-0.28, -0.9), (0.28, -0.9), (0.28, 0.9), (-0.28, 0.9)]);
            area(&[(-0.9, -0.28), (0.9, -0.28), (0.9, 0.28), (-0.9, 0.28)]);
        }
    }
}
