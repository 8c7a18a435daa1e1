//! The table of scores, while Tab is held.

use std::sync::Arc;

use egui_macroquad::egui::text::{LayoutJob, TextWrapping};
use egui_macroquad::egui::{
    Align2, Color32, Context, FontId, Galley, Key, Painter, Pos2, Rect, Stroke, StrokeKind, pos2,
    vec2,
};

use phaselock::client::Seat;
use phaselock::fields::{Holds, Record};
use phaselock::game::Game;
use phaselock::ids::PlayerId;
use phaselock::limits::SEATS_MAX;

use super::layout::{self, Item};
use super::paint::{around, dense, fade, text, text_over, text_spaced};
use super::palette;
use super::view::{Frame, Scene};
use super::words::{fill, tr};

const ROW: f32 = 26.0;
const WIDTH: f32 = 500.0;
/// Heights of the titles and of the foot, in points.
const HEAD: f32 = 44.0;
const FOOT: f32 = 18.0;
/// Width of a column of numbers, in points.
const COLUMN: f32 = 72.0;
/// Rows of a page.
const PAGE: usize = 8;

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
    /// Side of the player, in a game with sides; true for the own one.
    pub own_side: Option<bool>,
    /// Ready for the round.
    pub ready: bool,
    /// The connection is lost, and the seat is kept.
    pub away: bool,
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
        let sides = G::KIT.sides;
        let place = |player| (sides.of)(&scene.picture.entities, player);
        let home = place(scene.player);
        // The own rink comes before others, the own side before the other.
        let group = |player| {
            let is_far = place(player).map(|it| it.group) != home.map(|it| it.group);
            (is_far, place(player).map(|it| it.side) != home.map(|it| it.side))
        };
        players.sort_by_key(|(score, player, seat)| (group(**player), key(score), &seat.name));
        let row = |(score, player, seat): (S, &PlayerId, &Seat)| {
            let own = *player == scene.player;
            let presence = scene.presence.get(player).copied().unwrap_or_default();
            let told = (presence.ping_ms > 0).then(|| f64::from(presence.ping_ms));
            let ping_ms = scene.round_trip_ms.filter(|_| scene.is_me(*player)).or(told);
            let own_side = place(*player).map(|it| Some(it) == home);
            Row {
                name: seat.name.clone(),
                bot: seat.bot,
                own,
                values: values(&score),
                ping_ms,
                own_side,
                ready: presence.is_ready,
                away: presence.is_away,
            }
        };
        Self { columns, rows: players.into_iter().map(row).collect() }
    }

    /// Place of the own player and number of players, as in "2 / 5"; "-" for a spectator.
    pub fn place(&self) -> String {
        let own = self.rows.iter().position(|row| row.own);
        own.map_or("-".into(), |at| format!("{} / {}", at + 1, self.rows.len()))
    }
}

/// Rows by which the table is scrolled after the keys of this frame, and the wheel where
/// that is not the game's.
pub(crate) fn scroll(ctx: &Context, before: usize, by_wheel: bool) -> usize {
    let (down, up) = ctx.input(|input| {
        let wheel = if by_wheel { input.raw_scroll_delta.y } else { 0.0 };
        let key = |key| input.key_pressed(key);
        (
            usize::from(wheel < 0.0) + PAGE * usize::from(key(Key::PageDown)),
            usize::from(wheel > 0.0) + PAGE * usize::from(key(Key::PageUp)),
        )
    });
    (before + down).min(usize::from(SEATS_MAX)).saturating_sub(up)
}

/// The rows for a table of at most `most`, scrolled by some, with their places: the own one is
/// shown in any case.
fn shown(rows: &[Row], most: usize, scrolled: usize) -> Vec<(usize, &Row)> {
    let first = scrolled.min(rows.len().saturating_sub(most));
    let all = rows.iter().enumerate();
    let mut shown: Vec<_> = all.clone().skip(first).take(most).collect();
    let own = all.clone().find(|(_, row)| row.own);
    if let Some((at, own)) = own.filter(|(at, _)| !(first..first + most).contains(at)) {
        let edge = if at < first { shown.first_mut() } else { shown.last_mut() };
        if let Some(edge) = edge {
            *edge = (at, own);
        }
    }
    shown
}

/// Paints as many rows as fit below the clock; returns the table's rectangle.
pub fn draw(frame: &Frame<'_>, board: &Board) -> Rect {
    draw_within(frame, board, [0.0, 0.0], false)
}

/// The results: the same with medals for the first three, and with so many points above and below
/// it for other texts.
pub fn draw_results(frame: &Frame<'_>, board: &Board, around: [f32; 2]) -> Rect {
    draw_within(frame, board, around, true)
}

fn draw_within(
    frame: &Frame<'_>,
    board: &Board,
    [above, below]: [f32; 2],
    has_medals: bool,
) -> Rect {
    let rows = &board.rows;
    let screen = frame.screen;
    let column = Rect::from_center_size(screen.center(), vec2(WIDTH, screen.height() - 48.0));
    let area = layout::between(frame.painter, Item::Table, column);
    let area = Rect::from_min_max(area.min + vec2(0.0, above), area.max - vec2(0.0, below));
    let most = ((area.height() - HEAD - FOOT) / ROW).max(1.0) as usize;
    let shown = shown(rows, most, frame.scrolled);
    let size = vec2(WIDTH, ROW * shown.len() as f32 + HEAD + FOOT);
    let middle = screen.center().y - 20.0;
    let half = size.y / 2.0;
    let y = middle.clamp(area.top() + half, (area.bottom() - half).max(area.top() + half));
    let rect = Rect::from_center_size(pos2(screen.center().x, y), size);
    let whole = Rect::from_min_max(rect.min - vec2(0.0, above), rect.max + vec2(0.0, below));
    layout::claim(frame.painter, Item::Table, whole);
    let edge = Stroke::new(1.0, palette::EDGE);
    frame.painter.rect(rect, 10.0, fade(palette::PANEL, 0.93), edge, StrokeKind::Inside);

    let head = rect.top() + 26.0;
    let small = (11.0, 1.5);
    let left = pos2(rect.left() + 22.0, head);
    let title = fill("{count} PLAYERS", &[("count", &rows.len().to_string())]);
    text_spaced(frame.painter, left, Align2::LEFT_CENTER, &title, small, palette::TEXT_FAINT);
    let titles = board.columns.iter().map(|title| tr(title)).chain([tr("PING")]);
    for (what, right) in titles.zip(columns(board.columns.len())) {
        let at = pos2(rect.right() - right, head);
        text_spaced(frame.painter, at, Align2::RIGHT_CENTER, what, small, palette::TEXT_FAINT);
    }
    if shown.len() < rows.len() {
        let at = rect.left_bottom() + vec2(22.0, -9.0);
        let words = fill(
            "{shown} of {all}: wheel, Page Up and Page Down",
            &[("shown", &shown.len().to_string()), ("all", &rows.len().to_string())],
        );
        text(frame.painter, at, Align2::LEFT_CENTER, &words, 10.0, palette::TEXT_FAINT);
    }
    for (n, (place, row)) in shown.into_iter().enumerate() {
        let line = Rect::from_min_size(
            pos2(rect.left() + 8.0, rect.top() + HEAD + n as f32 * ROW),
            vec2(WIDTH - 16.0, ROW),
        );
        draw_row(frame.painter, rect, line, (place + 1, row));
        if has_medals && let Some(medal) = medal(place, row) {
            draw_medal(frame.painter, pos2(rect.left() + 31.0, line.center().y), place + 1, medal);
        }
    }
    rect
}

/// Colour of the medal of a place from 0 on. Whoever has nothing has none, and in a game with sides
/// a side wins instead.
fn medal(place: usize, row: &Row) -> Option<Color32> {
    let has_digit = |value: &String| value.chars().any(|it| ('1'..='9').contains(&it));
    let has_something = row.values.first().is_some_and(has_digit);
    let medals = [palette::GOLD, palette::SILVER, palette::BRONZE];
    medals.get(place).copied().filter(|_| has_something && row.own_side.is_none())
}

fn draw_medal(painter: &Painter, at: Pos2, place: usize, color: Color32) {
    painter.circle(at, 9.5, color, Stroke::new(1.5, fade(palette::TEXT, 0.5)));
    text(painter, at, Align2::CENTER_CENTER, &place.to_string(), 12.0, palette::VOID);
}

/// Distances of the columns' right ends from the table's right edge: values, then the ping.
fn columns(count: usize) -> impl Iterator<Item = f32> {
    (0..=count).map(move |n| 22.0 + COLUMN * (count - n) as f32)
}

fn draw_row(painter: &Painter, rect: Rect, line: Rect, (place, row): (usize, &Row)) {
    let color = match row {
        Row { away: true, .. } => palette::TEXT_FAINT,
        Row { own: true, .. } => palette::OWN,
        _ => palette::TEXT,
    };
    if let Some(is_ours) = row.own_side {
        let color = if is_ours { palette::OWN } else { palette::WARN };
        let edge = Rect::from_min_size(line.left_top() + vec2(0.0, 3.0), vec2(3.0, ROW - 6.0));
        painter.rect_filled(edge, 1.0, color);
    }
    if row.own {
        painter.rect_filled(line, 5.0, fade(palette::OWN, 0.13));
    }
    let y = line.center().y;
    let at = pos2(rect.left() + 38.0, y);
    let number = place.to_string();
    text(painter, at, Align2::RIGHT_CENTER, &number, 12.0, palette::TEXT_FAINT);
    let at = at + vec2(8.0, 0.0);
    // Up to the first column, with room for what stands behind the name.
    let room = WIDTH - 22.0 - COLUMN * (row.values.len() as f32 + 1.0) - 46.0 - 34.0;
    let galley = fitted(painter, &row.name, room.max(60.0), color);
    let name = Align2::LEFT_CENTER.anchor_size(at, galley.size());
    painter.galley(name.min, galley, color);
    if row.bot {
        bot_tag(painter, pos2(name.right() + 8.0, y), 1.0);
    } else if row.away {
        let at = pos2(name.right() + 8.0, y);
        text(painter, at, Align2::LEFT_CENTER, tr("away"), 11.0, palette::WARN);
    } else if row.ready {
        let at = pos2(name.right() + 8.0, y);
        text(painter, at, Align2::LEFT_CENTER, tr("ready"), 11.0, palette::GOOD);
    }
    let ping = row.ping_ms.map_or("·".into(), |ms| format!("{ms:.0} ms"));
    let values = row.values.iter().chain([&ping]);
    for (value, right) in values.zip(columns(row.values.len())) {
        let at = pos2(rect.right() - right, y);
        text(painter, at, Align2::RIGHT_CENTER, value, 16.0, color);
    }
}

/// A name on one line, with its end left out where there is no room.
fn fitted(painter: &Painter, name: &str, room: f32, color: Color32) -> Arc<Galley> {
    let mut job = LayoutJob::simple_singleline(
        name.into(),
        FontId::proportional(dense(painter.ctx(), 16.0)),
        color,
    );
    job.wrap = TextWrapping::truncate_at_width(room);
    painter.layout_job(job)
}

/// The sign of a bot, from its left edge.
fn bot_tag(painter: &Painter, at: Pos2, strength: f32) {
    let color: Color32 = fade(palette::TEXT_SOFT, strength);
    let galley = painter.layout_no_wrap(
        tr("BOT").into(),
        FontId::proportional(dense(painter.ctx(), 9.0)),
        color,
    );
    let rect = Align2::LEFT_CENTER.anchor_size(at, galley.size() + vec2(7.0, 2.0));
    let edge = Stroke::new(1.0, fade(palette::TEXT_FAINT, 0.8 * strength));
    painter.rect(rect, 3.0, fade(palette::PANEL, 0.7 * strength), edge, StrokeKind::Inside);
    painter.galley(rect.center() - galley.size() / 2.0, galley, color);
}

/// Writes a player's name, with the sign of a bot to its right, unless something over the world
/// covers its place. `size` is in points, `strength` from 0 to 1.
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
    let font = FontId::proportional(size);
    let galley = painter.layout_no_wrap(name.to_owned(), font, palette::TEXT);
    let mut whole = around(align.anchor_size(at, galley.size()));
    whole.max.x += if bot { 28.0 } else { 0.0 };
    if !layout::label(painter, whole) {
        return;
    }
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
        let row = |own| Row {
            name: String::new(),
            bot: false,
            own,
            values: Vec::new(),
            ping_ms: None,
            own_side: None,
            ready: false,
            away: false,
        };
        let mut rows = vec![row(false); 10];
        for own in 0..10 {
            rows.iter_mut().enumerate().for_each(|(at, row)| row.own = at == own);
            for most in 1..12 {
                for scrolled in 0..14 {
                    let shown = shown(&rows, most, scrolled);
                    assert_eq!(shown.len(), most.min(10));
                    assert_eq!(shown.iter().filter(|(at, _)| *at == own).count(), 1);
                    assert!(shown.is_sorted_by_key(|(at, _)| *at));
                }
            }
        }
        // The end can be reached.
        assert!(shown(&rows, 4, 99).iter().any(|(at, _)| *at == 9));
    }

    #[test]
    fn columns_end_side_by_side_and_the_ping_last() {
        assert_eq!(columns(2).collect::<Vec<_>>(), [166.0, 94.0, 22.0]);
    }
}
