//! The table of scores, while Tab is held.

use egui_macroquad::egui::{
    Align2, Color32, FontId, Painter, Pos2, Rect, Stroke, StrokeKind, pos2, vec2,
};

use phaselock::client::Seat;
use phaselock::fields::{Holds, Record};
use phaselock::game::Game;
use phaselock::ids::PlayerId;

use super::paint::{fade, text, text_over, text_spaced};
use super::palette;
use super::view::{Frame, Scene};

const ROW: f32 = 26.0;
const WIDTH: f32 = 450.0;
/// Width of a column of numbers, in points.
const COLUMN: f32 = 80.0;

/// A table of players, the best first.
#[derive(Clone, Debug, PartialEq)]
pub struct Board {
    /// Titles of the game's own columns: at most three.
    pub columns: &'static [&'static str],
    /// Rows, the best player first.
    pub rows: Vec<Row>,
}

/// A player's row.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The player's name.
    pub name: String,
    /// True for a bot.
    pub bot: bool,
    /// True for the player at this window.
    pub own: bool,
    /// Formatted values, one for each column.
    pub values: Vec<String>,
    /// Round trip in milliseconds, if known.
    pub ping_ms: Option<f64>,
}

impl Board {
    /// A row for every player, sorted by `key` of the player's score and then by name.
    pub fn new<G: Game<Entity: Holds<S>>, S: Record, K: Ord>(
        scene: &Scene<'_, G>,
        columns: &'static [&'static str],
        key: impl Fn(&S) -> K,
        values: impl Fn(&S) -> Vec<String>,
    ) -> Self {
        let roster = scene.roster.iter();
        let mut players: Vec<(S, _, _)> =
            roster.map(|(player, seat)| (scene.record_of(*player), player, seat)).collect();
        players.sort_by_key(|(score, _, seat)| (key(score), &seat.name));
        let row = |(score, player, seat): (S, &PlayerId, &Seat)| {
            let own = *player == scene.player;
            let ping_ms = scene.round_trip_ms.filter(|_| own);
            Row { name: seat.name.clone(), bot: seat.bot, own, values: values(&score), ping_ms }
        };
        Self { columns, rows: players.into_iter().map(row).collect() }
    }

    /// Place of the own player and number of players, as in "2 / 5"; "-" for a spectator.
    pub fn place(&self) -> String {
        let own = self.rows.iter().position(|row| row.own);
        own.map_or("-".into(), |at| format!("{} / {}", at + 1, self.rows.len()))
    }
}

/// The rows for a table of at most `most`: the best, and the own one in any case.
fn shown(rows: &[Row], most: usize) -> Vec<&Row> {
    let mut shown: Vec<_> = rows.iter().take(most).collect();
    let own = rows.iter().skip(most).find(|row| row.own);
    if let (Some(last), Some(own)) = (shown.last_mut(), own) {
        *last = own;
    }
    shown
}

/// Paints as many rows as fit; returns the table's rectangle.
pub fn draw(frame: &Frame<'_>, board: &Board) -> Rect {
    let rows = &board.rows;
    let most = ((frame.screen.height() - 200.0) / ROW).max(1.0) as usize;
    let shown = shown(rows, most);
    let size = vec2(WIDTH, ROW * shown.len() as f32 + 62.0);
    let rect = Rect::from_center_size(frame.screen.center() - vec2(0.0, 20.0), size);
    let edge = Stroke::new(1.0, palette::EDGE);
    frame.painter.rect(rect, 10.0, fade(palette::PANEL, 0.93), edge, StrokeKind::Inside);

    let head = rect.top() + 26.0;
    let small = (11.0, 1.5);
    let left = pos2(rect.left() + 22.0, head);
    let title = format!("{} PLAYERS", rows.len());
    text_spaced(frame.painter, left, Align2::LEFT_CENTER, &title, small, palette::TEXT_FAINT);
    let titles = board.columns.iter().copied().chain(["PING"]);
    for (what, right) in titles.zip(columns(board.columns.len())) {
        let at = pos2(rect.right() - right, head);
        text_spaced(frame.painter, at, Align2::RIGHT_CENTER, what, small, palette::TEXT_FAINT);
    }
    for (n, row) in shown.into_iter().enumerate() {
        let line = Rect::from_min_size(
            pos2(rect.left() + 8.0, rect.top() + 44.0 + n as f32 * ROW),
            vec2(WIDTH - 16.0, ROW),
        );
        draw_row(frame.painter, rect, line, row);
    }
    rect
}

/// Distances of the columns' right ends from the table's right edge: values, then the ping.
fn columns(count: usize) -> impl Iterator<Item = f32> {
    (0..=count).map(move |n| 22.0 + COLUMN * (count - n) as f32)
}

fn draw_row(painter: &Painter, rect: Rect, line: Rect, row: &Row) {
    let color = if row.own { palette::OWN } else { palette::TEXT };
    if row.own {
        painter.rect_filled(line, 5.0, fade(palette::OWN, 0.13));
    }
    let y = line.center().y;
    let at = pos2(rect.left() + 22.0, y);
    let name = text(painter, at, Align2::LEFT_CENTER, &row.name, 16.0, color);
    if row.bot {
        bot_tag(painter, pos2(name.right() + 8.0, y), 1.0);
    }
    let ping = row.ping_ms.map_or("·".into(), |ms| format!("{ms:.0} ms"));
    let values = row.values.iter().chain([&ping]);
    for (value, right) in values.zip(columns(row.values.len())) {
        let at = pos2(rect.right() - right, y);
        text(painter, at, Align2::RIGHT_CENTER, value, 16.0, color);
    }
}

/// The sign of a bot, from its left edge.
fn bot_tag(painter: &Painter, at: Pos2, strength: f32) {
    let color: Color32 = fade(palette::TEXT_SOFT, strength);
    let galley = painter.layout_no_wrap("BOT".into(), FontId::proportional(9.0), color);
    let rect = Align2::LEFT_CENTER.anchor_size(at, galley.size() + vec2(7.0, 2.0));
    let edge = Stroke::new(1.0, fade(palette::TEXT_FAINT, 0.8 * strength));
    painter.rect(rect, 3.0, fade(palette::PANEL, 0.7 * strength), edge, StrokeKind::Inside);
    painter.galley(rect.center() - galley.size() / 2.0, galley, color);
}

/// Writes a player's name, with the sign of a bot to its right. `size` is in points, `strength`
/// from 0 to 1.
pub fn name_tag(
    painter: &Painter,
    at: Pos2,
    align: Align2,
    (name, bot): (&str, bool),
    size: f32,
    strength: f32,
) {
    // The name and the sign are centred together.
    let at = at - vec2(if bot { 14.0 } else { 0.0 }, 0.0);
    let rect = text_over(painter, at, align, name, size, fade(palette::TEXT, strength));
    if bot {
        bot_tag(painter, rect.right_center() + vec2(4.0, 0.5), strength);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_row_is_always_shown() {
        let row =
            |own| Row { name: String::new(), bot: false, own, values: Vec::new(), ping_ms: None };
        let mut rows = vec![row(false); 9];
        rows.push(row(true));
        for most in 1..12 {
            let shown = shown(&rows, most);
            assert_eq!(shown.len(), most.min(10));
            assert_eq!(shown.iter().filter(|row| row.own).count(), 1);
        }
    }

    #[test]
    fn columns_end_side_by_side_and_the_ping_last() {
        assert_eq!(columns(2).collect::<Vec<_>>(), [182.0, 102.0, 22.0]);
    }
}
