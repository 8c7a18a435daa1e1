//! The laboratory's legend, which is also the list of methods: what each looks like, how it scores,
//! and whether it is shown.

use crate::{Contender, Scores};
use egui_macroquad::egui::text::{LayoutJob, TextWrapping};
use egui_macroquad::egui::{CursorIcon, FontId, RichText, ScrollArea, Sense, TextFormat, Ui};
use phaselock::motion::Timeline;
use phaselock::motion::waypoints::{Extrapolator, Joining};

use super::against::Against;
use super::canvas::{color, marker, sample};
use super::model::{Model, Row, Unit};
use super::panel::{chip, choose, heading, pick};
use phaselock_ui::explain;
use phaselock_ui::prelude::*;

const NUMBER_WIDTH: f32 = 50.0;
const SAMPLE_WIDTH: f32 = 46.0;
/// Height of a method that is shown, and of a hidden one.
const ON_HEIGHT: f32 = 36.0;
const OFF_HEIGHT: f32 = 25.0;

/// Minimum height of the list: four methods. A smaller window scrolls.
const LIST_HEIGHT_MIN: f32 = 4.0 * (ON_HEIGHT + 2.0);
const COMBINATIONS_HEIGHT: f32 = 58.0;
const ADD_WIDTH: f32 = 52.0;

/// A combination to add.
#[derive(Clone, Copy, Debug)]
pub(super) struct Combination {
    extrapolator: Extrapolator,
    joining: Joining,
}

impl Default for Combination {
    fn default() -> Self {
        Self { extrapolator: Extrapolator::ALL[1], joining: Joining::CatmullRom }
    }
}

/// A method's mean, 99th percentile and jerk.
pub(super) fn numbers(scores: &Scores, against: Against) -> Option<[f64; 3]> {
    let [mean, p99] = match against {
        Against::Then => [scores.error_shown_mean, scores.error_shown_p99],
        Against::Now => [scores.error_now_mean, scores.error_now_p99],
    };
    // What was not shown yet has no numbers.
    let all = [mean, p99, scores.jerk];
    all.iter().all(|value| value.is_finite()).then_some(all)
}

/// The least value of each column, if there are at least two rows.
fn best(rows: &[Row], against: Against) -> [Option<f64>; 3] {
    let all: Vec<_> = rows.iter().filter_map(|row| numbers(&row.scores, against)).collect();
    if all.len() < 2 {
        return [None; 3];
    }
    std::array::from_fn(|column| all.iter().map(|row| row[column]).min_by(f64::total_cmp))
}

/// Formats with three or four digits.
pub(super) fn digits(value: f64) -> String {
    match value {
        _ if value >= 99_999.5 => format!("{value:.0e}"),
        _ if value >= 99.95 => format!("{value:.0}"),
        _ if value >= 9.995 => format!("{value:.1}"),
        _ if !(1e-6..0.0095).contains(&value) => format!("{value:.2}"),
        _ => format!("{value:.0e}"),
    }
}

/// Draws the legend down to `bottom`. Returns the row under the mouse.
pub(super) fn draw(
    ui: &mut Ui,
    model: &mut Model,
    against: &mut Against,
    combination: &mut Combination,
    bottom: f32,
) -> Option<usize> {
    ui.add_space(3.0);
    ui.horizontal(|ui| {
        ui.set_min_height(24.0);
        let faint = |words: &str| RichText::new(words).size(12.0).color(palette::TEXT_FAINT);
        ui.label(faint(tr("METHODS")));
        ui.add_space(14.0);
        let unit = match model.path.unit {
            Unit::Pixels => tr("error in pixels"),
            Unit::Metres => tr("error in metres"),
            Unit::Own => tr("error"),
        };
        ui.label(faint(unit));
        choose(ui, against, Against::Then, tr("then")).on_hover_text(tr(
            "Compared with where it was at the time shown: a delay does not count as an error.",
        ));
        choose(ui, against, Against::Now, tr("now"))
            .on_hover_text(tr("Compared with where it is now: a delay counts as an error."));
    });
    head(ui);
    let best = best(&model.rows, *against);
    let (mut pointed, mut turned) = (None, None);
    // Shown methods first, by their looks, then the others.
    let mut order: Vec<_> = (0..model.rows.len()).collect();
    order.sort_by_key(|at| {
        let row = &model.rows[*at];
        if row.on { (0, row.look) } else { (1, *at) }
    });
    let below = (bottom - ui.cursor().top() - COMBINATIONS_HEIGHT).max(LIST_HEIGHT_MIN);
    let id = ui.id().with("methods");
    let mut scrolled = ScrollArea::vertical().auto_shrink([false, false]).max_height(below);
    if ui.data_mut(|data| data.remove_temp::<bool>(id)).is_some() {
        // Scrolls to the new one.
        scrolled = scrolled.vertical_scroll_offset(0.0);
    }
    scrolled.show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 2.0;
        for at in order {
            let (hovered, clicked) = row(ui, model, at, *against, best);
            pointed = pointed.or(hovered.then_some(at));
            turned = turned.or(clicked.then_some(at));
        }
    });
    if let Some(contender) = combinations(ui, combination) {
        model.add(contender, true);
        ui.data_mut(|data| data.insert_temp(id, true));
    }
    if let Some(at) = turned {
        let on = !model.rows[at].on;
        model.turn(at, on);
    }
    pointed.filter(|at| model.rows.get(*at).is_some_and(|row| row.on))
}

fn head(ui: &mut Ui) {
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), 15.0), Sense::hover());
    let titles = [
        (tr("mean"), tr("Average error.")),
        (tr("p99"), tr("Error that only the worst 1 % of the frames exceed.")),
        (tr("jerk"), tr("How unevenly it moves from frame to frame: visible as stutter.")),
    ];
    for (column, (title, what)) in titles.into_iter().enumerate() {
        let cell = cell(rect, column);
        let at = cell.right_center();
        text(ui.painter(), at, Align2::RIGHT_CENTER, title, (12.0, palette::TEXT_FAINT));
        ui.interact(cell, ui.id().with(title), Sense::hover()).on_hover_text(what);
    }
}

fn cell(rect: Rect, column: usize) -> Rect {
    let right = rect.right() - 10.0 - (2 - column) as f32 * NUMBER_WIDTH;
    Rect::from_min_max(pos2(right - NUMBER_WIDTH + 6.0, rect.top()), pos2(right, rect.bottom()))
}

fn time_words(model: &Model, row: &Row) -> String {
    match row.contender.timeline() {
        Timeline::Past => {
            let ms = format!("{:.0}", model.carried.delay_mean.as_ms());
            fill("{ms} ms late", &[("ms", &ms)])
        }
        Timeline::Present => tr("at present").into(),
    }
}

fn row(
    ui: &mut Ui,
    model: &Model,
    at: usize,
    against: Against,
    best: [Option<f64>; 3],
) -> (bool, bool) {
    let row = &model.rows[at];
    let height = if row.on { ON_HEIGHT } else { OFF_HEIGHT };
    let size = vec2(ui.available_width(), height);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    let painter = ui.painter();
    let hovered = response.hovered();
    if row.on || hovered {
        let fill = if hovered { palette::BUTTON_HOT } else { palette::BUTTON };
        let edge = if row.on { fade(color(row.look), 0.55) } else { palette::EDGE };
        let stroke = Stroke::new(1.0, edge);
        painter.rect(rect, 5.0, fade(fill, 0.8), stroke, StrokeKind::Inside);
    }
    let look = Rect::from_min_size(rect.min + vec2(9.0, 0.0), vec2(SAMPLE_WIDTH - 4.0, height));
    if row.on {
        sample(painter, look, row.look, 1.0);
        marker(painter, look.center(), row.look, 6.0);
    } else {
        let middle = look.left_center() + vec2(7.0, 0.0);
        painter.circle_stroke(middle, 5.0, Stroke::new(1.2, palette::TEXT_FAINT));
    }
    let left = rect.left() + if row.on { SAMPLE_WIDTH + 14.0 } else { 26.0 };
    let room = cell(rect, 0).left() - left - 2.0;
    let (ink, size) = if row.on { (palette::TEXT, 13.5) } else { (palette::TEXT_SOFT, 13.0) };
    let format = TextFormat::simple(FontId::proportional(dense(painter.ctx(), size)), ink);
    // Each half of a combination has a line.
    let title = match row.contender {
        Contender::Waypoints(extrapolator, _) if row.on => extrapolator.title().to_owned(),
        _ => row.title.clone(),
    };
    let mut job = LayoutJob::single_section(title, format);
    job.wrap = TextWrapping::truncate_at_width(room);
    let title = painter.layout_job(job);
    if row.on {
        painter.galley(pos2(left, rect.top() + 3.0), title, ink);
        let below = pos2(left, rect.bottom() - 4.0);
        let words = match row.contender {
            Contender::Waypoints(_, joining) => format!("+ {}", joining.title()),
            _ => time_words(model, row),
        };
        text(painter, below, Align2::LEFT_BOTTOM, &words, (11.5, palette::TEXT_FAINT));
    } else {
        painter.galley(pos2(left, rect.center().y - title.size().y / 2.0), title, ink);
    }
    for column in 0..3 {
        let cell = cell(rect, column);
        let value = numbers(&row.scores, against).map(|all| all[column]);
        let first = value.is_some() && value == best[column];
        if first {
            let back = Rect::from_center_size(cell.center(), vec2(cell.width(), 19.0));
            let back = back.translate(vec2(3.0, 0.0));
            let edge = Stroke::new(1.0, palette::GOOD);
            painter.rect(back, 4.0, fade(palette::GOOD, 0.2), edge, StrokeKind::Inside);
        }
        let ink = match (row.on, first) {
            (_, true) => palette::TEXT,
            (true, _) => palette::TEXT_SOFT,
            _ => palette::TEXT_FAINT,
        };
        let words = value.map_or("–".into(), digits);
        let font = FontId::monospace(dense(painter.ctx(), 12.5));
        painter.text(cell.right_center(), Align2::RIGHT_CENTER, words, font, ink);
    }
    let response = response.on_hover_cursor(CursorIcon::PointingHand);
    let hint = format!("{}, {}", row.title, time_words(model, row));
    let hint = match row.contender {
        Contender::Method(choice) => format!("{}\n{hint}", explain::method(choice)),
        _ => hint,
    };
    let clicked = response.on_hover_text_at_pointer(hint).clicked();
    (hovered, clicked)
}

fn combinations(ui: &mut Ui, combination: &mut Combination) -> Option<Contender> {
    heading(ui, tr("EXTRAPOLATOR + INTERPOLATOR"));
    let row = ui.horizontal(|ui| {
        let room = ui.available_width() - ADD_WIDTH - 2.0 * ui.spacing().item_spacing.x;
        let Combination { extrapolator, joining } = combination;
        let of = ("extrapolator", room * 0.53);
        pick(ui, of, extrapolator, Extrapolator::ALL, |one| [one.title(), one.source()]);
        let of = ("interpolator", room * 0.47);
        pick(ui, of, joining, Joining::ALL, |one| [one.title(), one.source()]);
        let add =
            chip(ui, false, tr("Add")).on_hover_text(tr("Adds this combination to the list."));
        add.clicked().then_some(Contender::Waypoints(*extrapolator, *joining))
    });
    row.inner
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formulas::Formula;
    use crate::scene::settings::LabSettings;

    #[test]
    fn numbers_fit_their_column() {
        for (value, words) in [
            (0.0, "0.00"),
            (1e-9, "0.00"),
            (0.004, "4e-3"),
            (0.0999, "0.10"),
            (9.994, "9.99"),
            (9.996, "10.0"),
            (99.96, "100"),
            (12_345.6, "12346"),
            (1.2e8, "1e8"),
        ] {
            assert_eq!(digits(value), words);
        }
    }

    #[test]
    fn the_best_of_all_are_marked() {
        let mut model = Model::new(Formula::Zigzag, LabSettings::default(), None);
        assert!(model.compute(|_| true));
        assert!(model.score(true, || true));
        assert_eq!(best(&model.rows, Against::Then), [None; 3], "nothing is scored yet");
        model.seek(9.0);
        assert!(model.score(true, || true));
        for against in [Against::Then, Against::Now] {
            let least = best(&model.rows, against);
            let numbers = model.rows.iter().filter_map(|row| numbers(&row.scores, against));
            let all: Vec<_> = numbers.collect();
            assert_eq!(all.len(), model.rows.len());
            for column in 0..3 {
                let least = least[column].expect("there are many");
                assert!(all.iter().all(|row| row[column] >= least));
                assert!(all.iter().any(|row| row[column] == least));
            }
        }
        let row = &model.rows[0];
        assert_eq!(
            best(std::slice::from_ref(row), Against::Now),
            [None; 3],
            "a single sample is never enough"
        );
    }
}
