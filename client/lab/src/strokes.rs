//! Looks of curves that differ in colour, without colour, and for colour-blind eyes.

/// The look of a curve, in a plot and in the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stroke {
    /// Colour as red, green and blue of sRGB.
    pub color: [u8; 3],
    /// Lengths in points, alternately drawn and left out; empty for a solid line.
    pub dash: &'static [f32],
    /// Marker along the curve.
    pub marker: Marker,
}

/// The shape of a marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marker {
    /// A disc.
    Circle,
    /// An upright square.
    Square,
    /// A triangle that points up.
    Triangle,
    /// A square on its corner.
    Diamond,
    /// An x.
    Cross,
    /// A triangle that points down.
    TriangleDown,
    /// A plus sign.
    Plus,
}

/// From Okabe and Ito's set ("Color universal design", 2008: blue, vermillion, bluish green,
/// reddish purple) and from Paul Tol's (technical note SRON/EPS/TN/09-002: purple and red of
/// *bright*, light blue of *medium contrast*, green of *muted*): those eight with a contrast of
/// at least 3 to 1, which WCAG 2.1 asks of graphics, to white as well as to the window's dark
/// blue, that are the furthest apart for red- and green-blind eyes.
const COLORS: [[u8; 3]; 8] = [
    [0x00, 0x72, 0xB2],
    [0xD5, 0x5E, 0x00],
    [0x00, 0x9E, 0x73],
    [0xAA, 0x33, 0x77],
    [0x66, 0x99, 0xCC],
    [0xEE, 0x66, 0x77],
    [0x11, 0x77, 0x33],
    [0xCC, 0x79, 0xA7],
];

/// Dashes in points. Each repeats within 42 points, so that a legend's sample shows it completely.
/// Arbitrary.
const DASHES: [&[f32]; 9] = [
    &[],
    &[8.0, 4.0],
    &[2.0, 3.0],
    &[11.0, 3.0, 2.0, 3.0],
    &[16.0, 4.0],
    &[4.0, 4.0],
    &[11.0, 3.0, 2.0, 3.0, 2.0, 3.0],
    &[14.0, 3.0, 5.0, 3.0],
    &[2.0, 7.0],
];

const MARKERS: [Marker; 7] = [
    Marker::Circle,
    Marker::Square,
    Marker::Triangle,
    Marker::Diamond,
    Marker::Cross,
    Marker::TriangleDown,
    Marker::Plus,
];

impl Stroke {
    /// The look of the curve with this index, counted from 0.
    ///
    /// There are 8 colours, 9 dashes and 7 markers, and no two of these numbers share a factor:
    /// any two of the first 56 differ in two of the three at least, and any two of the first 7 in
    /// all.
    #[must_use]
    pub const fn of(index: usize) -> Self {
        Self {
            color: COLORS[index % COLORS.len()],
            dash: DASHES[index % DASHES.len()],
            marker: MARKERS[index % MARKERS.len()],
        }
    }
}

impl Marker {
    /// Corners of the marker's filled outline, in a circle of radius 1 around the origin; y points
    /// down. A circle has twelve corners.
    #[must_use]
    pub fn outline(self) -> Vec<[f32; 2]> {
        match self {
            Self::Circle => turned(&[[1.0, 0.0], [0.866, 0.5], [0.5, 0.866]]),
            Self::Square => turned(&[[-0.8, -0.8]]),
            Self::Triangle => vec![[0.0, -1.0], [0.866, 0.5], [-0.866, 0.5]],
            Self::Diamond => turned(&[[0.0, -1.0]]),
            // The plus sign, turned by an eighth and slightly smaller.
            Self::Cross => turned(&[[-0.9, -0.5], [-0.5, -0.9], [0.0, -0.4]]),
            Self::TriangleDown => vec![[0.0, 1.0], [-0.866, -0.5], [0.866, -0.5]],
            // Arms with 0.3 for half their width.
            Self::Plus => turned(&[[-0.3, -1.0], [0.3, -1.0], [0.3, -0.3]]),
        }
    }
}

/// The corners of a quarter of an outline, repeated turned by one, two and three quarters.
fn turned(corners: &[[f32; 2]]) -> Vec<[f32; 2]> {
    let quarters = [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]];
    let turn = |[cos, sin]: [f32; 2]| {
        corners.iter().map(move |[x, y]| [x * cos - y * sin, x * sin + y * cos])
    };
    quarters.into_iter().flat_map(turn).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linear(color: [u8; 3]) -> [f64; 3] {
        color.map(|part| {
            let part = f64::from(part) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        })
    }

    fn contrast(a: [u8; 3], b: [u8; 3]) -> f64 {
        let luminance = |color| {
            let [r, g, b] = linear(color);
            0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05
        };
        let (a, b): (f64, f64) = (luminance(a), luminance(b));
        a.max(b) / a.min(b)
    }

    /// CIELAB (D65) as seen by an eye that maps linear RGB by `eye`.
    fn lab(color: [u8; 3], eye: &[[f64; 3]; 3]) -> [f64; 3] {
        let light = linear(color);
        let [r, g, b] =
            eye.map(|row| (0..3).map(|i| row[i] * light[i]).sum::<f64>().clamp(0.0, 1.0));
        let cube = |t: f64| if t > 0.008856 { t.cbrt() } else { 7.787 * t + 16.0 / 116.0 };
        let x = cube((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505);
        let y = cube(0.2126 * r + 0.7152 * g + 0.0722 * b);
        let z = cube((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089);
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    #[test]
    fn any_two_of_forty_differ_in_two_ways_and_the_first_seven_in_all() {
        for a in 0..40 {
            for b in 0..a {
                let (one, other) = (Stroke::of(a), Stroke::of(b));
                let differs =
                    [one.color != other.color, one.dash != other.dash, one.marker != other.marker];
                let ways = differs.iter().filter(|differs| **differs).count();
                assert!(ways >= if a < 7 { 3 } else { 2 }, "{b} and {a}: {ways}");
            }
        }
    }

    #[test]
    fn colours_stand_out_from_white_and_from_dark_blue() {
        for color in COLORS {
            for ground in [[255; 3], [0x0e, 0x14, 0x20]] {
                assert!(contrast(color, ground) >= 3.0, "{color:?} on {ground:?}");
            }
        }
    }

    #[test]
    fn colour_blind_eyes_tell_the_colours_apart() {
        // Machado, Oliveira and Fernandes 2009, at full severity: red-blind, then green-blind.
        let eyes = [
            [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
            [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
            [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
        ];
        for eye in &eyes {
            for (index, a) in COLORS.iter().enumerate() {
                for b in &COLORS[..index] {
                    let (one, other) = (lab(*a, eye), lab(*b, eye));
                    let apart = (0..3).map(|i| (one[i] - other[i]).powi(2)).sum::<f64>().sqrt();
                    // A difference of about 2.3 is just noticeable.
                    assert!(apart > 12.0, "{a:?} and {b:?} are {apart:.1} apart");
                }
            }
        }
    }

    #[test]
    fn outlines_fit_a_circle_and_a_sample_shows_a_whole_dash() {
        for index in 0..9 {
            let stroke = Stroke::of(index);
            assert!(stroke.dash.len().is_multiple_of(2) && stroke.dash.iter().sum::<f32>() <= 42.0);
            let outline = stroke.marker.outline();
            assert!(outline.len() >= 3);
            for [x, y] in outline {
                assert!(x.hypot(y) < 1.14, "{:?} is too large", stroke.marker);
            }
        }
    }
}
