//! Looks of players: their colours, and markings that identify them without colour.

use egui_macroquad::egui::Color32;
use glam::Vec2;
use phaselock::wire::talk::Look;

use super::brush::Brush;
use super::paint::fade;
use super::palette;

/// Colours and marking of a player.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dress {
    /// Colour of outlines and names.
    pub color: Color32,
    /// Colour inside of an outline.
    pub dark: Color32,
    /// Index of the marking, from 0 to 7; 0 is no marking.
    pub pattern: u8,
}

impl Dress {
    /// Colours and marking of a look.
    pub fn of(look: Look) -> Self {
        let (color, dark) = (palette::player_color(look.color), palette::player_dark(look.color));
        Self { color, dark, pattern: look.pattern }
    }

    /// Paints the marking on a round body of this radius around the brush's origin, in metres. The
    /// body faces along the x axis.
    pub fn mark(&self, brush: &Brush<'_>, radius: f32, strength: f32) {
        let stroke = brush.stroke(radius * 0.2, fade(self.color, strength));
        let line = |ends: [(f32, f32); 2]| {
            brush.line(ends.map(|(x, y)| (x * radius, y * radius)), stroke);
        };
        match self.pattern {
            0 => {}
            1 => line([(-0.85, 0.0), (-0.3, 0.0)]),
            2 => [-0.35, 0.35].into_iter().for_each(|y| line([(-0.75, y), (0.45, y)])),
            3 => [-0.6, -0.25].into_iter().for_each(|x| line([(x, -0.6), (x, 0.6)])),
            4 => {
                line([(-0.8, -0.4), (-0.4, 0.4)]);
                line([(-0.8, 0.4), (-0.4, -0.4)]);
            }
            5 => {
                let color = fade(self.color, strength);
                for at in [(-0.6, -0.4), (-0.6, 0.4), (-0.25, 0.0)] {
                    brush.disc((at.0 * radius, at.1 * radius), radius * 0.16, color);
                }
            }
            6 => {
                line([(-0.8, -0.5), (-0.4, 0.0)]);
                line([(-0.4, 0.0), (-0.8, 0.5)]);
            }
            _ => brush.ring(Vec2::ZERO, radius * 0.62, stroke),
        }
    }
}
