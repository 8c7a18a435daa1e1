//! What a sweep found, as tables in Markdown.

use std::collections::BTreeMap;
use std::fmt::Write;

use phaselock::motion::Timeline;

use super::scores::ratio;
use super::sweep::{Plan, Row};
use super::{Contender, Network};

/// A number with four digits that count; a dash for what is none.
pub fn figure(value: f64) -> String {
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

/// Several numbers, with commas between.
pub(super) fn figures(values: &[f64]) -> String {
    values.iter().map(|value| figure(*value)).collect::<Vec<_>>().join(", ")
}

/// To thousandths: what was asked for, not what was measured.
fn rounded(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}

/// A table; the first column is of words, the others of numbers.
pub fn table(head: &[String], lines: &[Vec<String>]) -> String {
    let widths: Vec<_> = (0..head.len())
        .map(|at| {
            let cells = lines.iter().filter_map(|line| line.get(at)).chain(head.get(at));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0).max(3)
        })
        .collect();
    let mut text = String::new();
    let mut line = |cells: &mut dyn Iterator<Item = String>| {
        for (at, (cell, width)) in cells.zip(&widths).enumerate() {
            let cell = cell.replace('|', "\\|");
            let room = " ".repeat(width.saturating_sub(cell.chars().count()));
            let (before, after) = if at == 0 { ("", &*room) } else { (&*room, "") };
            let _ = write!(text, "| {before}{cell}{after} ");
        }
        text.push_str("|\n");
    };
    line(&mut head.iter().cloned());
    line(
        &mut widths.iter().enumerate().map(|(at, width)| {
            if at == 0 { "-".repeat(*width) } else { "-".repeat(width - 1) + ":" }
        }),
    );
    for cells in lines {
        line(&mut cells.iter().cloned());
    }
    text
}

/// Means over the rows of a method.
#[derive(Clone, Copy, Debug)]
pub struct Means {
    /// Which.
    pub method: Contender,
    /// Rows in which anything was shown: of the others no error is known.
    pub rows: usize,
    /// Mean errors from the true place at the present.
    pub now: f64,
    /// Of their 99th percentiles.
    pub now_p99: f64,
    /// Mean errors from the true place at the time shown.
    pub shown: f64,
    /// Of their 99th percentiles.
    pub shown_p99: f64,
    /// Of the jerks that are known: in what is over after two frames there is none.
    pub jerk: f64,
    /// Of the delays; 0 for what shows the present.
    pub behind_ms: f64,
    /// Frames without what the method needs, per million.
    pub missing: f64,
    /// Frames in which it was absent, per million.
    pub absent: f64,
}

/// Means for each method, in the order in which they come. Of what is known of no row they are no numbers, which
/// come last where they are sorted.
pub fn means<'a>(rows: impl Iterator<Item = &'a Row>) -> Vec<Means> {
    let mut all: Vec<Means> = Vec::new();
    // Rows of each in all, and those whose jerk is known.
    let mut counts: Vec<[usize; 2]> = Vec::new();
    for row in rows {
        let at = all.iter().position(|means| means.method == row.method);
        let at = at.unwrap_or_else(|| {
            let zero = Means {
                method: row.method,
                rows: 0,
                now: 0.0,
                now_p99: 0.0,
                shown: 0.0,
                shown_p99: 0.0,
                jerk: 0.0,
                behind_ms: 0.0,
                missing: 0.0,
                absent: 0.0,
            };
            all.push(zero);
            counts.push([0; 2]);
            all.len() - 1
        });
        let (sum, scores) = (&mut all[at], &row.scores);
        counts[at][0] += 1;
        sum.missing += scores.missing_per_million;
        sum.absent += scores.absent_per_million;
        if !row.is_measured() {
            continue;
        }
        sum.rows += 1;
        sum.now += scores.error_now_mean;
        sum.now_p99 += scores.error_now_p99;
        sum.shown += scores.error_shown_mean;
        sum.shown_p99 += scores.error_shown_p99;
        if scores.jerk.is_finite() {
            counts[at][1] += 1;
            sum.jerk += scores.jerk;
        }
        sum.behind_ms += if row.timeline == "past" { row.delay_ms } else { 0.0 };
    }
    for (means, [seen, jerked]) in all.iter_mut().zip(counts) {
        means.missing = ratio(means.missing, seen);
        means.absent = ratio(means.absent, seen);
        means.jerk = ratio(means.jerk, jerked);
        for sum in [
            &mut means.now,
            &mut means.now_p99,
            &mut means.shown,
            &mut means.shown_p99,
            &mut means.behind_ms,
        ] {
            *sum = ratio(*sum, means.rows);
        }
    }
    all
}

/// Something that a sweep varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// Milliseconds that each update takes at least.
    Latency,
    /// Milliseconds that it takes more at most.
    Jitter,
    /// Percent that do not come.
    Loss,
    /// The network, of those that are not made of these three.
    Network,
    /// Milliseconds between updates.
    Interval,
    /// Past intervals averaged.
    History,
    /// Frames a second.
    FrameRate,
}

impl Dimension {
    /// All there are.
    pub const ALL: &'static [Self] = &[
        Self::Latency,
        Self::Jitter,
        Self::Loss,
        Self::Network,
        Self::Interval,
        Self::History,
        Self::FrameRate,
    ];

    /// Its name, with its unit.
    pub fn title(self) -> &'static str {
        match self {
            Self::Latency => "latency in ms",
            Self::Jitter => "jitter in ms",
            Self::Loss => "loss in percent",
            Self::Network => "network",
            Self::Interval => "update interval in ms",
            Self::History => "time history in updates",
            Self::FrameRate => "frames a second",
        }
    }

    /// Its value for a row, to sort by and to show; none if the row has none.
    pub fn value(self, row: &Row) -> Option<(f64, String)> {
        let number = |value: f64| (value, rounded(value));
        let (sort, value) = match self {
            Self::Latency => number(row.latency_ms?),
            Self::Jitter => number(row.jitter_ms?),
            Self::Loss => number(row.loss? * 100.0),
            Self::Network => {
                return match &row.network {
                    Network::Link(_) => Some((0.0, row.network.to_string())),
                    Network::Latency { .. } => None,
                };
            }
            Self::Interval => number(row.interval_ms),
            Self::History => number(row.history as f64),
            Self::FrameRate => number(row.frame_hz),
        };
        Some((sort, value.to_string()))
    }
}

/// The values of a dimension in some rows, in order.
pub fn values(rows: &[&Row], dimension: Dimension) -> Vec<String> {
    let mut all: Vec<(f64, String)> = Vec::new();
    for value in rows.iter().filter_map(|row| dimension.value(row)) {
        if !all.iter().any(|(_, known)| *known == value.1) {
            all.push(value);
        }
    }
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all.into_iter().map(|(_, value)| value).collect()
}

/// All that a sweep found so far: for each path a table of the methods, the least error at the present first,
/// and one for each thing that was varied. Means are over the cells of which every method was measured: over
/// others some methods would have it harder than others.
pub fn markdown(plan: &Plan, rows: &[Row]) -> String {
    let mut text = String::from("# Sweep\n\n");
    let (done, all) = (rows.len(), plan.rows());
    let whole: Vec<&Row> = plan.whole(rows).flatten().collect();
    let what = if done < all {
        let cells = whole.len() / plan.contenders.len().max(1);
        let _ = writeln!(
            text,
            "**Stopped early**: {done} of {all} runs were measured. The tables are of the {cells} of {} \
             combinations of which every method was.\n",
            plan.cells(),
        );
        "runs were asked for"
    } else {
        "runs"
    };
    let _ = writeln!(
        text,
        "{all} {what}: {} paths, {} networks, {} update intervals, {} time histories, {} frame rates, \
         {} methods, {} times each; seed {}. Distances are in each path's own unit; means over all runs of a \
         method.\n",
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
        "*Now* is the distance from where the thing truly is at the moment, *then* from where it truly was at \
         the time that is shown, which for methods that show the past is so many ms *behind*. *Jerk* is the \
         root mean square of the change of the error's step from frame to frame. *Missing* are frames without \
         what the method needs, or for which all it knows is older than a quarter of a second or its horizon, of a \
         million; those in which it was *absent*, not shown at all or elsewhere before or after a teleport, are \
         among them and have no error.\n",
    );
    text.push_str(&beyond(plan, rows));
    let mut by_path: BTreeMap<usize, Vec<&Row>> = BTreeMap::new();
    for row in whole {
        let at = plan.subjects.iter().position(|subject| subject.name == row.path);
        by_path.entry(at.unwrap_or(usize::MAX)).or_default().push(row);
    }
    for rows in by_path.values() {
        let _ = writeln!(text, "\n## {}\n", rows[0].path);
        let mut all = means(rows.iter().copied());
        all.sort_by(|a, b| a.now.total_cmp(&b.now));
        text.push_str(&methods(&all));
        text.push_str(&alike(&all));
        for &dimension in Dimension::ALL {
            let values = values(rows, dimension);
            if values.len() < 2 {
                continue;
            }
            let _ = writeln!(
                text,
                "\nMean error by {}: now, and in brackets then of what shows the past:\n",
                dimension.title()
            );
            text.push_str(&by(rows, &all, dimension, &values));
        }
    }
    text
}

/// Says which methods came out the same in everything.
fn alike(all: &[Means]) -> String {
    let same = |a: &Means, b: &Means| {
        let figures = |it: &Means| [it.now, it.now_p99, it.shown, it.shown_p99, it.jerk];
        figures(a) == figures(b)
    };
    let mut groups: Vec<Vec<&Means>> = Vec::new();
    for means in all.iter().filter(|means| means.now > 0.0) {
        match groups.iter_mut().find(|group| same(group[0], means)) {
            Some(group) => group.push(means),
            None => groups.push(vec![means]),
        }
    }
    let mut text = String::new();
    for group in groups.iter().filter(|group| group.len() > 1) {
        let names: Vec<_> = group.iter().map(|means| means.method.to_string()).collect();
        let _ = writeln!(text, "\nThe same in all figures: {}.", names.join(", "));
    }
    text
}

/// Frames beyond a method's horizon, per million, from which on it is told: one in a hundred. Arbitrary.
const BEYOND_MIN: f64 = 10_000.0;

/// Says so if updates are so late or so far apart that methods of the present stand still.
fn beyond(plan: &Plan, rows: &[Row]) -> String {
    let extrapolates = |row: &&Row| row.timeline == "present" && row.method != Contender::Newest;
    let all = rows.iter().filter(extrapolates).count();
    let stands = |row: &&Row| row.is_measured() && row.scores.missing_per_million > BEYOND_MIN;
    let beyond = rows.iter().filter(extrapolates).filter(stands).count();
    if beyond == 0 {
        return String::new();
    }
    let joined = plan.contenders.iter().any(|it| matches!(it, Contender::Waypoints(..)));
    let joined = if joined {
        let ms = rounded(plan.horizon * 1e3);
        format!("; what is joined by a plus {ms} ms, which `--horizon` sets")
    } else {
        String::new()
    };
    format!(
        "\nIn {beyond} of the {all} runs of methods that extrapolate the present, more than one frame in a hundred is \
         beyond their horizon, where they stand still: 250 ms from the newest state (dead reckoning 1250 \
         ms){joined}.\n"
    )
}

fn methods(all: &[Means]) -> String {
    let head =
        ["method", "now", "now p99", "then", "then p99", "jerk", "behind ms", "missing", "absent"]
            .map(String::from);
    let line = |means: &Means| {
        let behind =
            if means.behind_ms > 0.0 { format!("{:.0}", means.behind_ms) } else { "-".into() };
        vec![
            means.method.to_string(),
            figure(means.now),
            figure(means.now_p99),
            figure(means.shown),
            figure(means.shown_p99),
            figure(means.jerk),
            behind,
            format!("{:.0}", means.missing),
            format!("{:.0}", means.absent),
        ]
    };
    table(&head, &all.iter().map(line).collect::<Vec<_>>())
}

fn by(rows: &[&Row], all: &[Means], dimension: Dimension, values: &[String]) -> String {
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

/// Every row by itself.
pub fn rows_table(rows: &[Row]) -> String {
    let head = [
        "path",
        "network",
        "interval ms",
        "history",
        "frames/s",
        "seed",
        "method",
        "now",
        "now p99",
        "then",
        "jerk",
        "behind ms",
    ]
    .map(String::from);
    let line = |row: &Row| {
        let behind =
            if row.timeline == "past" { format!("{:.0}", row.delay_ms) } else { "-".into() };
        vec![
            row.path.clone(),
            row.network.to_string(),
            rounded(row.interval_ms).to_string(),
            row.history.to_string(),
            rounded(row.frame_hz).to_string(),
            row.seed.to_string(),
            row.method.to_string(),
            figure(row.scores.error_now_mean),
            figure(row.scores.error_now_p99),
            figure(row.scores.error_shown_mean),
            figure(row.scores.jerk),
            behind,
        ]
    };
    table(&head, &rows.iter().map(line).collect::<Vec<_>>())
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
        let text = table(&head, &[vec!["a|b".into(), "1.5".into()], vec!["ä".into(), "10".into()]]);
        assert_eq!(text, "| what |   n |\n| ---- | --: |\n| a\\|b | 1.5 |\n| ä    |  10 |\n");
    }
}
