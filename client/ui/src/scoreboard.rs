//! The score table, shown while Tab is held.

use egui_macroquad::egui::text::{LayoutJob, TextWrapping};
use egui_macroquad::egui::{
    Align2, Color32, Context, FontId, Key, Painter, Pos2, Rect, Stroke, StrokeKind, pos2, vec2,
};

use phaselock::client::Seat;
use phaselock::fields::{Holds, Record};
use phaselock::game::Game;
use phaselock::ids::PlayerId;
use phaselock::limits::SEATS_MAX;

use super::inset::{self, Inset};
use super::layout::{self, Item};
use super::paint::{Lettering, around, dense, fade, letters, text_over};
use super::palette;
use super::view::{Frame, Scene};
use super::words::{fill, tr};

// Lengths are in points of the table's design: see [`Inset`].

const ROW: f32 = 26.0;
/// Minimum widths of the table, of its names with what is next to them, and of a column of numbers.
const WIDTH: f32 = 500.0;
const NAMES_LEAST: f32 = 180.0;
const COLUMN: f32 = 72.0;
/// Distance of the first and last words from the table's edges.
const MARGIN: f32 = 22.0;
/// Heights of the titles and of the foot.
const HEAD: f32 = 44.0;
const FOOT: f32 = 18.0;
/// Letters of the titles.
const TITLE: Lettering = Lettering::new(11.0, palette::TEXT_FAINT).spaced(1.5);
/// Rows of a page.
const PAGE: usize = 8;

/// A table of players, the best first.
#[derive(Clone, Debug, PartialEq)]
pub struct Scoreboard {
    /// Titles of the game's own columns: at most three.
    pub columns: &'static [&'static str],
    /// Rows, the best player first.
    pub rows: Vec<ScoreRow>,
}

/// A player's row.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoreRow {
    /// The player's name.
    pub name: String,
    /// Whether the player is a bot.
    pub bot: bool,
    /// Whether this is the player at this window.
    pub own: bool,
    /// Formatted values, one for each column.
    pub values: Vec<String>,
    /// Round trip in milliseconds, if known.
    pub ping_ms: Option<f64>,
    /// In a game with sides, whether the player is on one's own side.
    pub own_side: Option<bool>,
    /// Whether the player is ready for the round.
    pub ready: bool,
    /// Whether the player has lost the connection and keeps the seat.
    pub away: bool,
}

impl Scoreboard {
    /// Creates a row for every player, sorted by `key` of the player's score and then by name.
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
        // One's own rink comes before the others, and one's own side before the other.
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
            ScoreRow {
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

    /// Rank of the player at this window and number of players, such as "2 / 5"; "-" for a
    /// spectator.
    pub fn place(&self) -> String {
        let own = self.rows.iter().position(|row| row.own);
        own.map_or("-".into(), |at| format!("{} / {}", at + 1, self.rows.len()))
    }
}

/// Rows by which the table is scrolled after this frame's keys, and the wheel if the game does not
/// use it.
pub fn scroll(ctx: &Context, before: usize, by_wheel: bool) -> usize {
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

/// Up to `most` rows, scrolled by `scrolled`, with their ranks. The player's own row is always
/// among them.
fn shown(rows: &[ScoreRow], most: usize, scrolled: usize) -> Vec<(usize, &ScoreRow)> {
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

/// Paints as many rows as fit below the clock. Returns the table's rectangle.
pub fn draw(frame: &Frame<'_>, board: &Scoreboard) -> Rect {
    draw_within(frame, board, [0.0, 0.0], false)
}

/// Paints the results: the table with medals for the first three, leaving this many points above
/// and below it for other texts. Returns the table's rectangle.
pub fn draw_results(frame: &Frame<'_>, board: &Scoreboard, around: [f32; 2]) -> Rect {
    draw_within(frame, board, around, true)
}

fn draw_within(
    frame: &Frame<'_>,
    board: &Scoreboard,
    [above, below]: [f32; 2],
    has_medals: bool,
) -> Rect {
    let rows = &board.rows;
    let screen = frame.screen;
    let columns = Columns::of(frame.painter, board);
    let place = (screen.center(), Align2::CENTER_CENTER);
    let zoom = inset::zoom(frame.painter, place, vec2(columns.width(), HEAD + FOOT + ROW));
    let wide = columns.width() * zoom;
    let column = Rect::from_center_size(screen.center(), vec2(wide, screen.height() - 48.0));
    let area = layout::between(frame.painter, Item::Table, column);
    let area = Rect::from_min_max(area.min + vec2(0.0, above), area.max - vec2(0.0, below));
    let most = ((area.height() / zoom - HEAD - FOOT) / ROW).max(1.0) as usize;
    let shown = shown(rows, most, frame.scrolled);
    let size = vec2(wide, (ROW * shown.len() as f32 + HEAD + FOOT) * zoom);
    let middle = screen.center().y - 20.0;
    let half = size.y / 2.0;
    let y = middle.clamp(area.top() + half, (area.bottom() - half).max(area.top() + half));
    let rect = Rect::from_center_size(pos2(screen.center().x, y), size);
    let whole = Rect::from_min_max(rect.min - vec2(0.0, above), rect.max + vec2(0.0, below));
    layout::claim(frame.painter, Item::Table, whole);
    let edge = Stroke::new(1.0, palette::EDGE);
    frame.painter.rect(rect, 10.0, fade(palette::PANEL, 0.93), edge, StrokeKind::Inside);

    let inset = Inset::within(frame.painter, rect, zoom);
    let title = fill("{count} PLAYERS", &[("count", &rows.len().to_string())]);
    inset.text((MARGIN, 26.0), Align2::LEFT_CENTER, &title, TITLE);
    for (what, right) in titles(board).zip(columns.ends()) {
        inset.text((right, 26.0), Align2::RIGHT_CENTER, what, TITLE);
    }
    if shown.len() < rows.len() {
        let words = fill(
            "{shown} of {all}: wheel, Page Up and Page Down",
            &[("shown", &shown.len().to_string()), ("all", &rows.len().to_string())],
        );
        let at = (MARGIN, inset.size().y - 9.0);
        inset.text(at, Align2::LEFT_CENTER, &words, (10.0, palette::TEXT_FAINT));
    }
    for (n, (place, row)) in shown.into_iter().enumerate() {
        let top = HEAD + n as f32 * ROW;
        draw_row(frame.painter, inset, (top, &columns), (place + 1, row));
        if has_medals && let Some(medal) = medal(place, row) {
            draw_medal(frame.painter, inset, top + ROW / 2.0, (place + 1, medal));
        }
    }
    rect
}

/// Titles of the columns: the game's own, and the ping.
fn titles(board: &Scoreboard) -> impl Iterator<Item = &'static str> {
    board.columns.iter().map(|title| tr(title)).chain([tr("PING")])
}

/// Widths of a table's columns, in points of its design: of the names with what is next to them,
/// and of each column of values.
struct Columns {
    names: f32,
    values: Vec<f32>,
}

impl Columns {
    /// Returns widths that fit the titles.
    fn of(painter: &Painter, board: &Scoreboard) -> Self {
        let of_title = |title| COLUMN.max(inset::width(painter, title, TITLE) + 12.0);
        let values: Vec<_> = titles(board).map(of_title).collect();
        let names = (WIDTH - 2.0 * MARGIN - values.iter().sum::<f32>()).max(NAMES_LEAST);
        Self { names, values }
    }

    fn width(&self) -> f32 {
        2.0 * MARGIN + self.names + self.values.iter().sum::<f32>()
    }

    /// Right edges of the values: column by column, and the ping last.
    fn ends(&self) -> impl Iterator<Item = f32> {
        self.values.iter().scan(MARGIN + self.names, |end, width| {
            *end += width;
            Some(*end)
        })
    }
}

/// Colour of the medal for a rank, from 0. A player without points gets none; in a game with sides,
/// the side wins instead.
fn medal(place: usize, row: &ScoreRow) -> Option<Color32> {
    let has_digit = |value: &String| value.chars().any(|it| ('1'..='9').contains(&it));
    let has_something = row.values.first().is_some_and(has_digit);
    let medals = [palette::GOLD, palette::SILVER, palette::BRONZE];
    medals.get(place).copied().filter(|_| has_something && row.own_side.is_none())
}

fn draw_medal(painter: &Painter, inset: Inset<'_>, y: f32, (place, color): (usize, Color32)) {
    let edge = inset.stroke(1.5, fade(palette::TEXT, 0.5));
    painter.circle(inset.at(31.0, y), 9.5 * inset.zoom(), color, edge);
    inset.text((31.0, y), Align2::CENTER_CENTER, &place.to_string(), (12.0, palette::VOID));
}

fn draw_row(
    painter: &Painter,
    inset: Inset<'_>,
    (top, columns): (f32, &Columns),
    (place, row): (usize, &ScoreRow),
) {
    let color = match row {
        ScoreRow { away: true, .. } => palette::TEXT_FAINT,
        ScoreRow { own: true, .. } => palette::OWN,
        _ => palette::TEXT,
    };
    if let Some(is_ours) = row.own_side {
        let color = if is_ours { palette::OWN } else { palette::WARN };
        painter.rect_filled(inset.part((8.0, top + 3.0), (3.0, ROW - 6.0)), 1.0, color);
    }
    if row.own {
        let line = inset.part((8.0, top), (inset.size().x - 16.0, ROW));
        painter.rect_filled(line, 5.0, fade(palette::OWN, 0.13));
    }
    let y = top + ROW / 2.0;
    let (number, faint) = (place.to_string(), palette::TEXT_FAINT);
    inset.text((38.0, y), Align2::RIGHT_CENTER, &number, (12.0, faint));
    // Up to the first column, with space for what follows the name.
    let room = columns.names - (46.0 - MARGIN) - 34.0;
    let font = inset.font(16.0);
    let mut job = LayoutJob::simple_singleline(row.name.clone(), font, color);
    job.wrap = TextWrapping::truncate_at_width(room * inset.zoom());
    let galley = painter.layout_job(job);
    let name = Align2::LEFT_CENTER.anchor_size(inset.at(46.0, y), galley.size());
    painter.galley(name.min, galley, color);
    let behind = 46.0 + name.width() / inset.zoom() + 8.0;
    if row.bot {
        bot_tag(painter, inset.at(behind, y), inset.zoom(), 1.0);
    } else if row.away {
        inset.text((behind, y), Align2::LEFT_CENTER, tr("away"), (11.0, palette::WARN));
    } else if row.ready {
        inset.text((behind, y), Align2::LEFT_CENTER, tr("ready"), (11.0, palette::GOOD));
    }
    let ping = row.ping_ms.map_or("·".into(), |ms| format!("{ms:.0} ms"));
    let values = row.values.iter().chain([&ping]);
    for (value, right) in values.zip(columns.ends()) {
        inset.text((right, y), Align2::RIGHT_CENTER, value, (16.0, color));
    }
}

/// Paints the sign of a bot from its left edge, scaled by a factor.
fn bot_tag(painter: &Painter, at: Pos2, zoom: f32, strength: f32) {
    let color: Color32 = fade(palette::TEXT_SOFT, strength);
    let font = FontId::proportional(dense(painter.ctx(), 9.0 * zoom));
    let galley = painter.layout_no_wrap(tr("BOT").into(), font, color);
    let rect = Align2::LEFT_CENTER.anchor_size(at, galley.size() + vec2(7.0, 2.0) * zoom);
    let edge = Stroke::new(1.0, fade(palette::TEXT_FAINT, 0.8 * strength));
    painter.rect(rect, 3.0, fade(palette::PANEL, 0.7 * strength), edge, StrokeKind::Inside);
    painter.galley(rect.center() - galley.size() / 2.0, galley, color);
}

/// Draws how many seconds the player is behind a ghost (negative: ahead), centred above `at`.
pub fn ghost_gap(painter: &Painter, at: Pos2, behind: f64) {
    let words = format!("{behind:+.2}");
    let color = if behind > 0.0 { palette::WARN } else { palette::GOOD };
    name_tag(painter, at, Align2::CENTER_BOTTOM, (&words, false), (14.0, color));
}

/// Paints a player's name, with the sign of a bot to its right, unless something over the world
/// covers its place.
pub fn name_tag(
    painter: &Painter,
    at: Pos2,
    align: Align2,
    (name, bot): (&str, bool),
    lettering: impl Into<Lettering>,
) {
    let lettering = lettering.into();
    let zoom = letters(painter.ctx());
    // The name and the sign are centred together.
    let at = at - vec2(if bot { 14.0 * zoom } else { 0.0 }, 0.0);
    let galley = painter.layout_job(lettering.job(name));
    let mut whole = around(align.anchor_size(at, galley.size()));
    whole.max.x += if bot { 28.0 * zoom } else { 0.0 };
    if !layout::label(painter, whole) {
        return;
    }
    let rect = text_over(painter, at, align, name, lettering);
    if bot {
        let strength = f32::from(lettering.color.a()) / 255.0;
        bot_tag(painter, rect.right_center() + vec2(4.0, 0.5) * zoom, zoom, strength);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_row_is_always_shown() {
        let row = |own| ScoreRow {
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
        let columns = Columns { names: 240.0, values: vec![72.0, 90.0, 72.0] };
        assert_eq!(columns.ends().collect::<Vec<_>>(), [334.0, 424.0, 496.0]);
        assert_eq!(columns.width(), 496.0 + MARGIN);
    }
}
