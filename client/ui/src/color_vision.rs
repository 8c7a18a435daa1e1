//! Palettes for colour blindness: colours that such eyes cannot distinguish are shifted to where
//! they can.
//!
//! A frame's picture is changed as a whole, so it works for every view. It uses the matrices of
//! Viénot, Brettel and Mollon (1999) for what such eyes see, and shifts the lost difference into
//! the channels that they keep (daltonization, after Fidaner, Lin and Ozguven, 2005).

use egui_macroquad::egui::epaint::shape_transform::adjust_colors;
use egui_macroquad::egui::layers::ShapeIdx;
use egui_macroquad::egui::{Color32, Context, LayerId};

/// Palettes for different eyes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Palette {
    /// Unchanged colours.
    #[default]
    Standard,
    /// Without green cones.
    Deuteranopia,
    /// Without red cones.
    Protanopia,
    /// Without blue cones.
    Tritanopia,
}

impl Palette {
    /// All palettes, with their names in files.
    pub const ALL: [(Self, &'static str); 4] = [
        (Self::Standard, "standard"),
        (Self::Deuteranopia, "deuteranopia"),
        (Self::Protanopia, "protanopia"),
        (Self::Tritanopia, "tritanopia"),
    ];
}

type Matrix = [[f32; 3]; 3];

const IDENTITY: Matrix = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

/// Colours as seen by eyes that lack one kind of cones.
fn seen(palette: Palette) -> Matrix {
    match palette {
        Palette::Standard => IDENTITY,
        Palette::Protanopia => {
            [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]]
        }
        Palette::Deuteranopia => {
            [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]]
        }
        Palette::Tritanopia => {
            [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]]
        }
    }
}

/// Share of each lost channel that is added to each channel.
fn moved(palette: Palette) -> Matrix {
    match palette {
        Palette::Standard => [[0.0; 3]; 3],
        // Red is lost: more red becomes lighter and bluer.
        Palette::Protanopia | Palette::Deuteranopia => {
            [[0.0, 0.0, 0.0], [0.7, 1.0, 0.0], [0.7, 0.0, 1.0]]
        }
        // Blue is lost: more blue becomes redder and greener.
        Palette::Tritanopia => [[1.0, 0.0, 0.7], [0.0, 1.0, 0.7], [0.0, 0.0, 0.0]],
    }
}

fn product(a: Matrix, b: Matrix) -> Matrix {
    let entry = |row: usize, column: usize| (0..3).map(|n| a[row][n] * b[n][column]).sum();
    std::array::from_fn(|row| std::array::from_fn(|column| entry(row, column)))
}

/// Matrix that changes every colour for these eyes.
fn change(palette: Palette) -> Matrix {
    let (seen, mut matrix) = (seen(palette), IDENTITY);
    let lost: Matrix =
        std::array::from_fn(|row| std::array::from_fn(|it| IDENTITY[row][it] - seen[row][it]));
    let added = product(moved(palette), lost);
    for (row, more) in matrix.iter_mut().zip(added) {
        row.iter_mut().zip(more).for_each(|(entry, more)| *entry += more);
    }
    matrix
}

fn changed(matrix: Matrix, color: Color32) -> Color32 {
    if color == Color32::PLACEHOLDER {
        return color;
    }
    // A linear change can be applied to premultiplied colours directly, but no channel may exceed
    // the alpha.
    let [r, g, b, a] = color.to_array();
    let parts = [r, g, b].map(f32::from);
    // Added light has no alpha.
    let most = if a == 0 { 255.0 } else { f32::from(a) };
    let part = |row: [f32; 3]| {
        let sum: f32 = row.iter().zip(parts).map(|(entry, part)| entry * part).sum();
        sum.round().clamp(0.0, most) as u8
    };
    let [r, g, b] = matrix.map(part);
    Color32::from_rgba_premultiplied(r, g, b, a)
}

/// Changes the colours of everything painted so far in this frame.
pub fn apply(ctx: &Context, palette: Palette) {
    if palette == Palette::Standard {
        return;
    }
    let matrix = change(palette);
    let mut layers: Vec<_> = ctx.memory(|memory| memory.layer_ids().collect());
    layers.push(LayerId::background());
    layers.sort_unstable_by_key(|layer| (layer.order, layer.id.value()));
    layers.dedup();
    ctx.graphics_mut(|graphics| {
        for list in layers {
            let Some(list) = graphics.get_mut(list) else { continue };
            for index in 0..list.next_idx().0 {
                list.mutate_shape(ShapeIdx(index), |clipped| {
                    adjust_colors(&mut clipped.shape, move |it| *it = changed(matrix, *it));
                });
            }
        }
    });
}

/// Colour of the window where nothing is painted.
pub fn backdrop(color: Color32, palette: Palette) -> Color32 {
    if palette == Palette::Standard { color } else { changed(change(palette), color) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::palette::{BAD, FOE, GOOD, OWN, WARN};

    /// Distance of two colours as these eyes see them, from 0 to 441.
    fn distance(palette: Palette, through: Matrix, a: Color32, b: Color32) -> f32 {
        let see = |color| {
            let [r, g, b, _] = changed(seen(palette), changed(through, color)).to_array();
            [r, g, b].map(f32::from)
        };
        let (a, b) = (see(a), see(b));
        a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f32>().sqrt()
    }

    #[test]
    fn colours_that_matter_stay_apart_for_all_eyes() {
        let pairs = [(OWN, FOE), (GOOD, BAD), (GOOD, WARN), (WARN, BAD)];
        for (palette, name) in Palette::ALL {
            for (a, b) in pairs {
                let now = distance(palette, change(palette), a, b);
                let before = distance(palette, IDENTITY, a, b);
                assert!(now >= 60.0, "{name}: {a:?} and {b:?} differ by {now}, before {before}");
            }
        }
    }

    #[test]
    fn alpha_stays_and_grey_stays_grey() {
        for (palette, _) in Palette::ALL {
            let matrix = change(palette);
            let [r, g, b, a] = changed(matrix, Color32::from_gray(120)).to_array();
            assert!(r.abs_diff(120) < 8 && g.abs_diff(120) < 8 && b.abs_diff(120) < 8 && a == 255);
            let faded = changed(matrix, Color32::from_rgba_premultiplied(40, 10, 0, 40));
            let [r, g, b, a] = faded.to_array();
            assert!(a == 40 && r.max(g).max(b) <= 40);
        }
    }
}
