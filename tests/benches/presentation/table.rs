//! Printed tables of the figures.

use phaselock::motion::Timeline;
use phaselock_lab::SendPolicy;
use phaselock_tests::bench::{self, Column, number};
use phaselock_tests::showing::ranking::{Against, BEARABLE, Standing, against, rank, ranking};
use phaselock_tests::showing::{Plan, Row};
use serde_json::json;

use super::cost::{Cost, PLAYERS, REPLAY_TICKS, Replay};

/// Prints the meaning of the columns.
pub(crate) fn head(plan: &Plan) {
    println!(
        "{} simulated seconds each, seed {}; perfect clock.\n\
         60 ticks, 30 snapshots and 60 frames a second. Millimetres; motions from files, whose\n\
         units are unknown, in thousandths of their longer side.\n\
         shown: off the true position at the time shown; now: off the true position at present;\n\
         jerk: change of the shown error's step from frame to frame, root mean square and max;\n\
         missing: frames without the data that the method needs, per million;\n\
         sent: states a second; turn: mean error of direction at the time shown, in degrees.",
        plan.seconds, plan.seed
    );
}

/// Formats a distance in thousandths, of metres or of a file's longer side, with about four digits.
fn thousandths(row: &Row, distance: f64) -> String {
    let value = distance / if row.is_file { row.pixel } else { 1e-3 };
    let digits = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
    format!("{value:.digits$}")
}

const COLUMNS: [Column<Row>; 12] = [
    ("method", |row| {
        let all = row.sending == SendPolicy::Every.name();
        if all { row.method.to_string() } else { format!("{}, {}", row.method, row.sending) }
    }),
    ("sent", |row| number(row.sends_per_second, 1)),
    ("shown", |row| thousandths(row, row.scores.error_shown_mean)),
    ("p99", |row| thousandths(row, row.scores.error_shown_p99)),
    ("max", |row| thousandths(row, row.scores.error_shown_max)),
    ("now", |row| thousandths(row, row.scores.error_now_mean)),
    ("p99", |row| thousandths(row, row.scores.error_now_p99)),
    ("max", |row| thousandths(row, row.scores.error_now_max)),
    ("jerk", |row| thousandths(row, row.scores.jerk)),
    ("max", |row| thousandths(row, row.scores.jerk_max)),
    ("missing", |row| number(row.scores.missing_per_million, 0)),
    ("turn", |row| number(row.scores.turned_shown_mean.map(|turns| turns * 360.0), 2)),
];

/// Prints the table of a motion over a network.
pub(crate) fn rows(rows: &[Row]) {
    let Some(first) = rows.first() else { return };
    println!(
        "\n{} over {}: shown {:.0} ms in the past, or at the present",
        first.motion, first.profile, first.delay_ms
    );
    bench::head(&COLUMNS);
    for timeline in ["past", "present"] {
        for row in rows.iter().filter(|row| row.timeline == timeline) {
            bench::row(&COLUMNS, row);
        }
    }
}

/// Prints rows as JSON.
pub(crate) fn json(rows: &[Row], costs: &[Cost]) {
    for row in rows {
        let cost = costs.iter().find(|cost| cost.contender == row.method);
        bench::json(&Row { ns_per_frame: cost.map(|cost| cost.ns), ..row.clone() });
    }
}

/// Prints the cost of replaying as JSON.
pub(crate) fn replay_json(replay: &Replay) {
    bench::json(&json!({
        "replay_ticks": REPLAY_TICKS,
        "players": PLAYERS,
        "replay_ms_p50": replay.ms,
        "replay_ms_p99": replay.ms_p99,
        "copy_ms_p50": replay.copy_ms,
    }));
}

/// Formats the first few of a ranking, with their figures.
fn leaders(standings: &[Standing]) -> String {
    let three = standings.iter().take(3).map(|standing| {
        let mark = if standing.bearable { "" } else { "!" };
        format!("{}{mark} {:.1}/{:.2}", standing.of, standing.error, standing.jerk)
    });
    three.collect::<Vec<_>>().join(", ")
}

/// Prints the best methods, network by network and over all.
pub(crate) fn rankings(rows: &[Row], plan: &Plan) {
    println!(
        "\nBest methods: error/jerk in pixels of such a game's screen, geometric means of one\n\
         more than that. The past by the error shown, of those within 5 % by jerk; the present by\n\
         the error now, of those whose jerk is at most {BEARABLE} of that of the newest state as\n\
         it comes (others are marked with !)."
    );
    for (timeline, name) in [(Timeline::Past, "past"), (Timeline::Present, "present")] {
        println!("\n{:<16} {:<16} the {name}", "motion", "network");
        for motion in plan.motions.iter().map(ToString::to_string) {
            for profile in &plan.profiles {
                let these = rows.iter().filter(|row| row.motion == motion);
                let these = these.filter(|row| row.profile == *profile);
                println!("{:<16} {:<16} {}", motion, profile, leaders(&rank(these, timeline)));
            }
            let all = ranking(rows, &motion, timeline);
            println!("{:<16} {:<16} {}", motion, "all of them", leaders(&all));
        }
        println!("{:<16} {:<16} {}", "all", "all of them", leaders(&rank(rows.iter(), timeline)));
    }
}

/// Prints the adaptive method next to the best single method of the present, and the worst ratio.
pub(crate) fn adaptive(rows: &[Row]) {
    let all = against(rows);
    let Some(worst) = all.iter().max_by(|a, b| a.ratio.total_cmp(&b.ratio)) else { return };
    println!(
        "\nThe adaptive method next to the best single method of the present, by the error now in\n\
         pixels. Its largest ratio is {:.3}: {} over {}.",
        worst.ratio, worst.motion, worst.profile
    );
    const COLUMNS: [Column<Against>; 7] = [
        ("motion", |row| row.motion.clone()),
        ("network", |row| row.profile.clone()),
        ("best", |row| row.best.into()),
        ("its error", |row| number(row.best_error, 3)),
        ("adaptive", |row| number(row.error, 3)),
        ("ratio", |row| number(row.ratio, 3)),
        ("of jerk", |row| number(row.jerk_ratio, 3)),
    ];
    bench::head(&COLUMNS);
    all.iter().for_each(|row| bench::row(&COLUMNS, row));
}

/// Prints these comparisons as JSON.
pub(crate) fn adaptive_json(rows: &[Row]) {
    against(rows).iter().for_each(bench::json);
}

/// Prints the costs.
pub(crate) fn costs(costs: &[Cost], replay: &Replay) {
    println!(
        "\nNanoseconds a body and frame: 64 players of Skirmish, a state of each every other frame"
    );
    const COLUMNS: [Column<Cost>; 3] = [
        ("method", |cost| cost.contender.to_string()),
        ("ns", |cost| number(cost.ns, 0)),
        ("x newest-state", |cost| number(cost.ratio, 2)),
    ];
    bench::head(&COLUMNS);
    costs.iter().for_each(|cost| bench::row(&COLUMNS, cost));
    println!(
        "\nReplaying {REPLAY_TICKS} ticks of the own player with {PLAYERS} players around: \
         {:.4} ms,\np99 {:.4} ms; of that, copying the world {:.4} ms (the floor)",
        replay.ms, replay.ms_p99, replay.copy_ms
    );
}
