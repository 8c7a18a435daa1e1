//! Limits for a frame's work, as checked in.

use super::stage::Work;

/// Factor by which a figure may exceed the checked-in one. Sines differ in their last bit between
/// systems, and so does what follows from them.
const PART: f64 = 0.05;

/// Work of a mean frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Figures {
    pub(crate) draw_calls: f64,
    pub(crate) vertices: f64,
    pub(crate) triangles: f64,
    /// Painted area, counting overlaps each time, as a share of the window's.
    pub(crate) layers: f64,
}

impl Figures {
    /// Mean of the work of this many frames.
    pub(crate) fn of(work: Work, frames: u64) -> Self {
        let each = |sum: f64| sum / frames as f64;
        Self {
            draw_calls: each(work.draw_calls as f64),
            vertices: each(work.vertices as f64),
            triangles: each(work.triangles as f64),
            layers: each(work.layers),
        }
    }

    fn named(self) -> [(&'static str, f64); 4] {
        [
            ("draw calls", self.draw_calls),
            ("vertices", self.vertices),
            ("triangles", self.triangles),
            ("layers", self.layers),
        ]
    }
}

/// Figures by game.
pub(crate) struct Bounds(Vec<(String, Figures)>);

impl Bounds {
    /// The limits in `bounds.txt`, which says how they are made.
    pub(crate) fn checked_in() -> Self {
        let lines = include_str!("bounds.txt").lines();
        let rows = lines.filter(|line| !line.starts_with('#') && !line.is_empty());
        Self(rows.map(|row| read(row).expect("a name and five figures")).collect())
    }

    /// A sentence for each figure of a game that exceeds its limit, or about a game without limits.
    pub(crate) fn exceeded(&self, game: &str, now: Figures) -> Vec<String> {
        let Some((_, known)) = self.0.iter().find(|(name, _)| name == game) else {
            return vec![format!("{game} has no figures in bounds.txt")];
        };
        let pairs = known.named().into_iter().zip(now.named());
        let is_beyond = |known: f64, now: f64| now > known * (1.0 + PART) || now.is_nan();
        let beyond = pairs.filter(|((_, known), (_, now))| is_beyond(*known, *now));
        beyond
            .map(|((what, known), (_, now))| {
                format!(
                    "a frame of {game} has {now:.2} {what}, and {known:.2} are checked in: draw \
                     less, or put the new figure into bounds.txt and say why"
                )
            })
            .collect()
    }
}

fn read(row: &str) -> Option<(String, Figures)> {
    let mut words = row.split_whitespace();
    let name = words.next()?.to_owned();
    let figures: Vec<f64> = words.map(|word| word.parse().ok()).collect::<Option<_>>()?;
    let [draw_calls, vertices, triangles, layers, _instructions] = figures[..] else { return None };
    Some((name, Figures { draw_calls, vertices, triangles, layers }))
}
