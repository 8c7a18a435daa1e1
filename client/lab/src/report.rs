//! A sweep's results as Markdown tables.

use std::collections::BTreeMap;
use std::fmt::Write;

use phaselock::motion::Timeline;

use super::Contender;
use super::scores::ratio;
use super::sweep::{Measurement, Plan};

/// A number with four significant digits; a dash for NaN.
pub(super) fn figure(value: f64) -> String {
    if value.is_nan() {
        return "-".into();
    }
    if value != 0.0 && value.abs() < 1e-4 {
        return format!("{value:.2e}");
    }
    let digits = match value.abs() {
        at_least if at_least >= 999.95 => 0,
        at_least if at_least >= 99.995 => 1,
        at_least if at_least >= 9.9995 => 2,
        at_least if at_least >= 0.99995 => 3,
        _ => 4,
    };
    format!("{value:.digits$}")
}

pub(super) fn figures(values: &[f64]) -> String {
    values.iter().map(|value| figure(*value)).collect::<Vec<_>>().join(", ")
}

/// A parameter's value, to three decimals.
pub(super) fn rounded(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}

/// A table; the first column holds words, the others numbers.
pub(super) fn table(head: &[String], lines: &[Vec<String>]) -> String {
    let widths: Vec<_> = (0..head.len())
        .map(|at| {
            let cells = lines.iter().filter_map(|line| line.get(at)).chain(head.get(at));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0).max(3)
        })
        .collect();
    let rule = |(at, width): (usize, &usize)| match at {
        0 => "-".repeat(*width),
        _ => "-".repeat(width - 1) + ":",
    };
    let rule: Vec<_> = widths.iter().enumerate().map(rule).collect();
    let mut text = String::new();
    for cells in [head, &rule].into_iter().chain(lines.iter().map(Vec::as_slice)) {
        for (at, (cell, width)) in cells.iter().zip(&widths).enumerate() {
            let cell = cell.replace('|', "\\|");
            let _ = match at {
                0 => write!(text, "| {cell:<width$} "),
                _ => write!(text, "| {cell:>width$} "),
            };
        }
        text.push_str("|\n");
    }
    text
}

/// The columns of a table: each title with the cell of a line.
pub(super) type Columns<'a, T> = &'a [(&'a str, fn(&T) -> String)];

/// A table with one line per item.
pub(super) fn tabulate<T>(columns: Columns<'_, T>, things: &[T]) -> String {
    let head: Vec<_> = columns.iter().map(|(title, _)| (*title).to_owned()).collect();
    let line = |thing| columns.iter().map(|(_, cell)| cell(thing)).collect();
    table(&head, &things.iter().map(line).collect::<Vec<_>>())
}

pub(super) fn whole(value: f64) -> String {
    format!("{value:.0}")
}

/// Means over a method's rows. Rows in which nothing was shown have no errors.
#[derive(Clone, Copy, Debug)]
pub(super) struct Means {
    pub(super) method: Contender,
    /// Errors at present.
    pub(super) now: f64,
    pub(super) now_p99: f64,
    /// Errors at the time shown.
    pub(super) shown: f64,
    pub(super) shown_p99: f64,
    pub(super) jerk: f64,
    /// Delay; 0 for methods of the present.
    pub(super) behind_ms: f64,
    pub(super) missing: f64,
    pub(super) absent: f64,
}

/// Means of each method, in the order of the rows. An unknown mean is NaN, and sorts last.
pub(super) fn means<'a>(rows: impl Iterator<Item = &'a Measurement>) -> Vec<Means> {
    let mut methods: Vec<(Contender, Vec<&Measurement>)> = Vec::new();
    for row in rows {
        match methods.iter_mut().find(|(method, _)| *method == row.method) {
            Some((_, rows)) => rows.push(row),
            None => methods.push((row.method, vec![row])),
        }
    }
    let of = |(method, all): &(Contender, Vec<&Measurement>)| {
        let mean = |which: fn(&Measurement) -> bool, of: fn(&Measurement) -> f64| {
            let values: Vec<_> = all.iter().filter(|row| which(row)).map(|row| of(row)).collect();
            ratio(values.iter().sum(), values.len())
        };
        let seen = |of| mean(Measurement::is_measured, of);
        Means {
            method: *method,
            now: seen(|row| row.scores.error_now_mean),
            now_p99: seen(|row| row.scores.error_now_p99),
            shown: seen(|row| row.scores.error_shown_mean),
            shown_p99: seen(|row| row.scores.error_shown_p99),
            jerk: mean(
                |row| row.is_measured() && row.scores.jerk.is_finite(),
                |row| row.scores.jerk,
            ),
            behind_ms: seen(|row| if row.timeline == "past" { row.delay_ms } else { 0.0 }),
            missing: mean(|_| true, |row| row.scores.missing_per_million),
            absent: mean(|_| true, |row| row.scores.absent_per_million),
        }
    };
    methods.iter().map(of).collect()
}

/// A parameter that a sweep varies.
#[derive(Clone, Copy)]
pub(super) struct Dimension {
    /// Name, with the unit.
    pub(super) title: &'static str,
    /// Value for a row; `None` for a named network.
    number: fn(&Measurement) -> Option<f64>,
}

impl Dimension {
    pub(super) const ALL: [Self; 7] = [
        Self { title: "latency in ms", number: |row| row.latency_ms },
        Self { title: "jitter in ms", number: |row| row.jitter_ms },
        Self { title: "loss in percent", number: |row| row.loss.map(|share| share * 100.0) },
        Self { title: "network", number: |row| row.loss.is_none().then_some(f64::NAN) },
        Self { title: "update interval in ms", number: |row| Some(row.interval_ms) },
        Self { title: "time history in updates", number: |row| Some(row.history as f64) },
        Self { title: "frames a second", number: |row| Some(row.frame_hz) },
    ];

    /// Value of the dimension for a row, for sorting and for display.
    pub(super) fn value(self, row: &Measurement) -> Option<(f64, String)> {
        let value = (self.number)(row)?;
        let named = || row.network.to_string();
        Some((value, if value.is_nan() { named() } else { rounded(value).to_string() }))
    }
}

/// The values of a dimension in some rows, in order.
pub(super) fn values(rows: &[&Measurement], dimension: Dimension) -> Vec<String> {
    let mut all: Vec<(f64, String)> = Vec::new();
    for value in rows.iter().filter_map(|row| dimension.value(row)) {
        if !all.iter().any(|(_, known)| *known == value.1) {
            all.push(value);
        }
    }
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all.into_iter().map(|(_, value)| value).collect()
}

/// A sweep's results: for each path, a table of the methods, the least error at present first, and
/// a table for each dimension. Means are over the cells in which every method was measured;
/// otherwise some methods would have it harder.
pub fn markdown(plan: &Plan, rows: &[Measurement]) -> String {
    let mut text = String::from("# Sweep\n\n");
    let (done, all) = (rows.len(), plan.rows());
    let measured: Vec<&Measurement> = plan.whole(rows).flatten().collect();
    if done < all {
        let cells = measured.len() / plan.contenders.len().max(1);
        let _ = writeln!(
            text,
            "**Stopped early**: {done} of {all} runs were measured. The tables are of the {cells} \
             of {} combinations in which every method was.\n",
            plan.cells(),
        );
    }
    let _ = writeln!(
        text,
        "{all} {}: {} paths, {} networks, {} update intervals, {} time histories, {} frame rates, \
         {} methods, {} times each; seed {}. Distances are in each path's own unit; means over \
         all runs of a method.\n",
        if done < all { "runs were requested" } else { "runs" },
        plan.subjects.len(),
        plan.networks.len(),
        plan.intervals.len(),
        plan.histories.len(),
        plan.frame_rates.len(),
        plan.contenders.len(),
        plan.repeats,
        plan.seed,
    );
    text.push_str(
        "*Now* is the distance from the true position at present, *then* from the true position at \
         the time shown; methods that show the past are the given number of ms *behind*. *Jerk* \
         is the root mean square of the change of the error's step from frame to frame. *Missing* \
         are the frames per million that lacked what the method needs, or whose newest state was \
         older than a quarter of a second or the method's horizon. *Absent* are those of them in \
         which it was not shown, or was elsewhere around a teleport; they have no error.\n",
    );
    text.push_str(&beyond(plan, rows));
    let mut by_path: BTreeMap<usize, Vec<&Measurement>> = BTreeMap::new();
    for row in measured {
        let at = plan.subjects.iter().position(|subject| subject.name == row.path);
        by_path.entry(at.unwrap_or(usize::MAX)).or_default().push(row);
    }
    for rows in by_path.values() {
        let mut all = means(rows.iter().copied());
        all.sort_by(|a, b| a.now.total_cmp(&b.now));
        let _ = write!(text, "\n## {}\n\n{}{}", rows[0].path, methods(&all), alike(&all));
        for dimension in Dimension::ALL {
            let values = values(rows, dimension);
            if values.len() < 2 {
                continue;
            }
            let _ = writeln!(
                text,
                "\nMean error by {}: now, and in brackets then for methods that show the past:\n",
                dimension.title
            );
            text.push_str(&by(rows, &all, dimension, &values));
        }
    }
    text
}

/// Names the methods with identical results.
fn alike(all: &[Means]) -> String {
    let figures = |it: &Means| [it.now, it.now_p99, it.shown, it.shown_p99, it.jerk];
    let mut groups: Vec<Vec<&Means>> = Vec::new();
    for means in all.iter().filter(|means| means.now > 0.0) {
        match groups.iter_mut().find(|group| figures(group[0]) == figures(means)) {
            Some(group) => group.push(means),
            None => groups.push(vec![means]),
        }
    }
    let several = groups.iter().filter(|group| group.len() > 1).map(|group| {
        let names: Vec<_> = group.iter().map(|means| means.method.to_string()).collect();
        format!("\nIdentical in all figures: {}.\n", names.join(", "))
    });
    several.collect()
}

/// Frames beyond a method's horizon, per million, that are worth a warning. Arbitrary.
const BEYOND_MIN: f64 = 10_000.0;

/// A warning if updates are so late or so far apart that methods of the present stand still.
fn beyond(plan: &Plan, rows: &[Measurement]) -> String {
    let extrapolates =
        |row: &&Measurement| row.timeline == "present" && row.method != Contender::Newest;
    let all = rows.iter().filter(extrapolates).count();
    let stands =
        |row: &&Measurement| row.is_measured() && row.scores.missing_per_million > BEYOND_MIN;
    let beyond = rows.iter().filter(extrapolates).filter(stands).count();
    if beyond == 0 {
        return String::new();
    }
    let mut joined = String::new();
    if plan.contenders.iter().any(|it| it.waypoints().is_some()) {
        let ms = rounded(plan.horizon * 1e3);
        joined = format!("; combinations with a plus {ms} ms, which `--horizon` sets");
    }
    format!(
        "\nIn {beyond} of the {all} runs of methods that extrapolate the present, more than one \
         frame in a hundred is beyond their horizon, where they stand still: 250 ms from the \
         newest state (dead reckoning and adaptive 1250 ms){joined}.\n"
    )
}

fn methods(all: &[Means]) -> String {
    let columns: Columns<'_, Means> = &[
        ("method", |it| it.method.to_string()),
        ("now", |it| figure(it.now)),
        ("now p99", |it| figure(it.now_p99)),
        ("then", |it| figure(it.shown)),
        ("then p99", |it| figure(it.shown_p99)),
        ("jerk", |it| figure(it.jerk)),
        ("behind ms", |it| if it.behind_ms > 0.0 { whole(it.behind_ms) } else { "-".into() }),
        ("missing", |it| whole(it.missing)),
        ("absent", |it| whole(it.absent)),
    ];
    tabulate(columns, all)
}

fn by(rows: &[&Measurement], all: &[Means], dimension: Dimension, values: &[String]) -> String {
    let head: Vec<_> = std::iter::once("method".to_owned()).chain(values.iter().cloned()).collect();
    // One pass over the rows: there may be a million.
    let mut sums: BTreeMap<(usize, usize), ([f64; 2], usize)> = BTreeMap::new();
    for row in rows {
        let method = all.iter().position(|means| means.method == row.method);
        let value = dimension.value(row);
        let value = value.and_then(|(_, value)| values.iter().position(|known| *known == value));
        if let (Some(method), Some(value), true) = (method, value, row.is_measured()) {
            let sum = sums.entry((method, value)).or_default();
            let [now, then] = sum.0;
            let more = [now + row.scores.error_now_mean, then + row.scores.error_shown_mean];
            *sum = (more, sum.1 + 1);
        }
    }
    let line = |method: usize| {
        let cell = |value: usize| match sums.get(&(method, value)) {
            Some((sums, count)) => {
                let [now, then] = sums.map(|sum| figure(sum / *count as f64));
                match all[method].method.timeline() {
                    Timeline::Past => format!("{now} ({then})"),
                    Timeline::Present => now,
                }
            }
            None => "-".into(),
        };
        let name = all[method].method.to_string();
        std::iter::once(name).chain((0..values.len()).map(cell)).collect()
    };
    table(&head, &(0..all.len()).map(line).collect::<Vec<_>>())
}

/// A table of all rows.
pub fn rows_table(rows: &[Measurement]) -> String {
    let columns: Columns<'_, Measurement> = &[
        ("path", |row| row.path.clone()),
        ("network", |row| row.network.to_string()),
        ("interval ms", |row| rounded(row.interval_ms).to_string()),
        ("history", |row| row.history.to_string()),
        ("frames/s", |row| rounded(row.frame_hz).to_string()),
        ("seed", |row| row.seed.to_string()),
        ("method", |row| row.method.to_string()),
        ("now", |row| figure(row.scores.error_now_mean)),
        ("now p99", |row| figure(row.scores.error_now_p99)),
        ("then", |row| figure(row.scores.error_shown_mean)),
        ("jerk", |row| figure(row.scores.jerk)),
        ("behind ms", |row| if row.timeline == "past" { whole(row.delay_ms) } else { "-".into() }),
    ];
    tabulate(columns, rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_keep_four_digits() {
        assert_eq!([1.234e-6, -9e-5].map(figure), ["1.23e-6", "-9.00e-5"]);
        let all = [0.0, 0.012_345, 1.0, 12.345_6, 123.456, 1234.56, 99_999.9, -5.0, 9.999_9];
        let said = all.map(figure);
        assert_eq!(
            said,
            ["0.0000", "0.0123", "1.000", "12.35", "123.5", "1235", "100000", "-5.000", "10.00"]
        );
    }

    #[test]
    fn tables_line_up() {
        let head = ["what", "n"].map(String::from);
        let lines = [vec!["a|b".into(), "1.5".into()], vec!["ä".into(), "10".into()]];
        let text = table(&head, &lines);
        assert_eq!(text, "| what |   n |\n| ---- | --: |\n| a\\|b | 1.5 |\n| ä    |  10 |\n");
    }
}
