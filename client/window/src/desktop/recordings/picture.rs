//! A small picture of a recording: where its players went.

use egui_macroquad::egui::epaint::Mesh;
use egui_macroquad::egui::{Color32, Rect, Shape, pos2, vec2};
use phaselock::ids::PlayerId;
use phaselock::replay::{Replay, Table};
use phaselock_ui::paint::fade;
use phaselock_ui::palette;

/// Cells of a picture, side by side and one above the other.
const COLUMNS: usize = 64;
const ROWS: usize = 36;
/// The maximum number of chunks that are decoded for it.
const CHUNKS_MAX: usize = 6;
/// The maximum number of states that are looked at.
const STATES_MAX: usize = 20_000;
/// Visits of a cell from which it does not get brighter.
const VISITS_MAX: u8 = 6;

/// A picture: for each cell, how often a player was there, and whose trail it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Picture(Vec<(u8, u8)>);

impl Picture {
    /// Makes the picture of a recording: of the tracks of all entities that have an owner, in some
    /// of its chunks. `None` if there are none.
    pub(super) fn of(replay: &Replay) -> Option<Self> {
        let places = places(replay);
        let (mut low, mut high) = ((f64::MAX, f64::MAX), (f64::MIN, f64::MIN));
        for (_, (x, y)) in &places {
            low = (low.0.min(*x), low.1.min(*y));
            high = (high.0.max(*x), high.1.max(*y));
        }
        let size = (high.0 - low.0).max((high.1 - low.1) * COLUMNS as f64 / ROWS as f64);
        if places.is_empty() || size <= 0.0 {
            return None;
        }
        // All of it, in its own proportions, in the middle.
        let scale = (COLUMNS - 1) as f64 / size;
        let middle = ((low.0 + high.0) / 2.0, (low.1 + high.1) / 2.0);
        let mut cells = vec![(0, 0); COLUMNS * ROWS];
        for (owner, (x, y)) in places {
            let column = ((x - middle.0) * scale + COLUMNS as f64 / 2.0).max(0.0) as usize;
            let row = ((y - middle.1) * scale + ROWS as f64 / 2.0).max(0.0) as usize;
            let cell: &mut (u8, u8) =
                &mut cells[row.min(ROWS - 1) * COLUMNS + column.min(COLUMNS - 1)];
            *cell = (cell.0.saturating_add(1).min(VISITS_MAX), (owner.0 % 12) as u8);
        }
        Some(Self(cells))
    }

    /// Number of cells in which someone was.
    #[cfg(test)]
    pub(super) fn visited(&self) -> usize {
        self.0.iter().filter(|(visits, _)| *visits > 0).count()
    }

    /// Returns the picture within a rectangle.
    pub(super) fn shape(&self, rect: Rect) -> Shape {
        let size = vec2(rect.width() / COLUMNS as f32, rect.height() / ROWS as f32);
        let mut mesh = Mesh::default();
        for (number, (visits, owner)) in self.0.iter().enumerate().filter(|(_, cell)| cell.0 > 0) {
            let (column, row) = ((number % COLUMNS) as f32, (number / COLUMNS) as f32);
            let at = pos2(rect.left() + column * size.x, rect.top() + row * size.y);
            let strength = 0.35 + 0.65 * f32::from(*visits) / f32::from(VISITS_MAX);
            let color: Color32 = fade(palette::player_color(*owner), strength);
            mesh.add_colored_rect(Rect::from_min_size(at, size), color);
        }
        Shape::mesh(mesh)
    }
}

/// Returns where owned entities were, and whose they are.
fn places(replay: &Replay) -> Vec<(PlayerId, (f64, f64))> {
    let tables = &replay.header().tables.kinds;
    let columns: Vec<_> = tables.iter().map(position).collect();
    let count = replay.chunks().len();
    let step = count.div_ceil(CHUNKS_MAX).max(1);
    let mut places = Vec::new();
    for chunk in (0..count).step_by(step).filter_map(|number| replay.chunk(number).ok()) {
        for (_, state) in chunk.frames.iter().step_by(3).flat_map(|frame| &frame.states) {
            let kind = usize::from(state.kind);
            let found = state.owner.zip(columns.get(kind).copied().flatten());
            let Some((owner, (x, y))) = found.filter(|_| places.len() < STATES_MAX) else {
                continue;
            };
            let value = |at: usize| tables[kind].columns[at].value(state.packed[at]);
            places.push((owner, (value(x), value(y))));
        }
    }
    places
}

/// Returns the columns with the position of a kind, if it has one.
fn position(table: &Table) -> Option<(usize, usize)> {
    let find =
        |names: [&str; 2]| table.columns.iter().position(|column| names.contains(&&*column.name));
    Some((find(["x", "position.x"])?, find(["y", "position.y"])?))
}
