//! The page that says which results of the thesis hold here, and which do not.

use std::fmt::Write;

use phaselock::motion::fir::{self, Filter};

use super::super::formulas::Formula;
use super::super::report::{figure, figures, table};
use super::claims::to_linear;
use super::findings::{Finding, SURE, Verdict, contradicted, findings};
use super::plan::{
    FRAME_HZ, FUNCTIONS, HISTORIES, INTERVAL_MS, JITTERS_MS, LATENCIES_MS, NAMES, PATHS, READINGS,
    REPEATS, SCHEMES, SECS, SPACINGS, STROKES, TABLES, scheme,
};
use super::reasons::reasons;
use super::sample::ThesisRuns;
use super::sample::{Sample, every, mean};

/// The page in Markdown.
pub fn page(measured: &ThesisRuns) -> String {
    let mut text = String::from(
        "# The thesis's evaluation, repeated\n\nThe thesis measured how far extrapolation \
         followed by interpolation strays from the true path, on paths drawn with a mouse. The \
         drawings are lost, and so are the latencies, jitters and histories. The paths and \
         settings here are ours, so ratios and orders can be compared, but not pixels. Errors are \
         mean distances from the true position at present.\n\nThe thesis leaves two things open \
         that matter a lot, so both are measured. *Clock*: states are dated by when they were \
         sent, as in Phaselock; the thesis's messages carry the time at which they were created \
         (3.4), and on one computer there is only one clock (3.5). *No clock*: states are dated \
         by their arrival; the thesis uses the times of network events (4.3.4) and \
         had no time synchronisation. *Printed*: the filters of its Table 1, of which Catmull-Rom \
         assumes equal steps whatever the spacing. *Corrected*: a true parabola, Richardson by \
         equations 2.33 and 2.31, Catmull-Rom for any spacing.\n",
    );
    let all = measured.all();
    filters(&mut text);
    schemes(&mut text);
    paths(&mut text, &all);
    strokes(&mut text, &all);
    verdicts(&mut text, measured);
    why(&mut text, measured);
    text
}

/// The cells of a table's line.
fn line(name: &str, cells: impl IntoIterator<Item = impl ToString>) -> Vec<String> {
    let cells = cells.into_iter().map(|cell| cell.to_string());
    std::iter::once(name.to_owned()).chain(cells).collect()
}

fn by_reading(name: &str) -> Vec<String> {
    line(name, READINGS.map(|reading| reading.name))
}

/// Weights of the newest position and of the two before it, for the position `ahead` seconds
/// later. The spans between them are `h0` and `h1`.
type Weights = fn(h0: f64, h1: f64, ahead: f64) -> [f64; 3];

/// The rows of the thesis's Table 1, misprints and all.
const TABLE_1: [(&str, Weights); 6] = [
    ("linear", |h0, _, ahead| [1.0 + ahead / h0, -ahead / h0, 0.0]),
    ("quadratic", |_, _, ahead| {
        let a = ahead;
        [1.0 + a + a * a / 2.0, -a - a * a, a * a / 2.0].map(|weight| weight / a)
    }),
    ("Catmull-Rom", |_, _, _| [2.5, -2.0, 0.5]),
    ("Richardson, equal steps", |_, _, _| [7.0 / 3.0, -5.0 / 3.0, 1.0 / 3.0]),
    ("Richardson", |h0, h1, ahead| {
        let (near, far) = (4.0 / (3.0 * h0), 1.0 / (3.0 * (h0 + h1)));
        let since = ahead + h0;
        [(near - far) * since, 1.0 - near * since, far * since]
    }),
    ("our quadratic, for comparison", |h0, h1, ahead| {
        fir::coefficients(Filter::Quadratic, 0.0, -h0, -h0 - h1, ahead)
    }),
];

fn filters(text: &mut String) {
    text.push_str(
        "\n## Table 1: the filters as they are printed\n\n\
         The weights must sum to 1 and, at a speed of 1, extrapolate exactly the distance \
         *ahead*. Each cell is the sum, then that distance.\n\n",
    );
    let spacings = [(1.0, 1.0, 1.0), (0.5, 1.0, 1.0), (1.5, 0.5, 1.0), (1.0, 1.0, 0.5)];
    let head =
        line("row", spacings.map(|(h0, h1, ahead)| format!("steps {h1}, {h0}; ahead {ahead}")));
    let lines = TABLE_1.map(|(name, weights)| {
        let cell = |(h0, h1, ahead)| {
            let [newest, before, earlier] = weights(h0, h1, ahead);
            figures(&[newest + before + earlier, -before * h0 - earlier * (h0 + h1)])
        };
        line(name, spacings.map(cell))
    });
    text.push_str(&table(&head, &lines));
    text.push_str(
        "\nSo the linear row and Richardson's for any spacing are sound. The quadratic row has an \
         extra factor 1/(t - ti) and does not divide by the steps. At equal steps quadratic \
         and Catmull-Rom are the same filter (5/2, -2, 1/2), since the thesis takes the newest \
         slope for the velocity at the newest position; a true parabola has 3, -3, 1. \
         Richardson's 7/3, -5/3, 1/3 does not follow from equations 2.33 and 2.31, as the thesis \
         says: these give 13/6, -4/3, 1/6. It is the row for any spacing (equation 2.36) at equal \
         steps. That row has t - t1 where 2.31 has t - t0, and its +1 is on the weight of the \
         position before the newest: it continues from there, for longer, with the slope of 2.35. \
         Below, *printed* is the quadratic row without its stray factor (with which its \
         weights do not sum to 1) and divided by the steps, Richardson's row for any spacing, and \
         Catmull-Rom's.\n",
    );
}

fn schemes(text: &mut String) {
    text.push_str(
        "\n## Section 2.3.1: two functions\n\n\
         A value is known at each natural number (or more or less often), without delay. Errors \
         are means by equation 2.16 up to 3 pi, from when three values are known. As printed, \
         that equation divides by n x 0.01; a mean divides by n / 0.01. The thesis's own figures \
         were next to its plots, which are lost.\n\n",
    );
    let columns = FUNCTIONS.map(|function| SPACINGS.map(|spacing| (function, spacing))).concat();
    let title = |(function, spacing): &(Formula, f64)| format!("{function}, each {spacing}");
    let titles = columns.iter().map(title).chain(["jerk, sine, each 1".into()]);
    let lines = SCHEMES.map(|(contender, name)| {
        let error = |(function, spacing): &(Formula, f64)| {
            figure(scheme(*function, *spacing, contender).error_now_mean)
        };
        let jerk = scheme(Formula::Sine, 1.0, contender).jerk;
        line(name, columns.iter().map(error).chain([format!("{jerk:.5}")]))
    });
    text.push_str(&table(&line("method", titles), &lines));
}

fn paths(text: &mut String, all: &Sample<'_>) {
    let list = |values: &[i64]| values.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
    let _ = write!(
        text,
        "\n## Section 4.3: three paths\n\n{SECS:.0} s of each at {FRAME_HZ:.0} frames a second, \
         an update every {INTERVAL_MS:.0} ms; latencies of {} ms, jitters of {} ms (latency + \
         random x jitter); {} of the last intervals averaged to predict the next (0: the \
         sender's interval is used); linear and Catmull-Rom interpolation; everything on \
         {REPEATS} seeds. As in the thesis, extrapolation continues however old the newest state \
         is; methods that games can choose stop after a quarter of a second. Means over all of \
         these, in pixels, and as a ratio to linear.\n",
        list(&LATENCIES_MS),
        list(&JITTERS_MS),
        HISTORIES.map(|count| count.to_string()).join(", "),
    );
    let cell = |errors: &[f64], at: usize| {
        format!("{} ({:.2})", figure(errors[at]), errors[at] / errors[0])
    };
    for (at, path) in PATHS.iter().enumerate() {
        let cases = READINGS.map(|reading| all.case(path.name(), reading));
        let mut columns = vec![TABLES[at]];
        columns.extend(cases.map(|case| case.four(mean, every)));
        let lines: Vec<_> = (0..NAMES.len())
            .map(|of| line(NAMES[of], columns.iter().map(|errors| cell(errors, of))))
            .collect();
        let mut head = by_reading("extrapolation");
        head.insert(1, "thesis".into());
        let _ = writeln!(text, "\n### Table {}: {path}\n\n{}", at + 2, table(&head, &lines));
        let joined = cases.map(|case| case.two(mean, every));
        let lines = [(NAMES[0], 0), (NAMES[3], 1)]
            .map(|(name, of)| line(name, joined.map(|errors| cell(&errors, of))));
        text.push_str(&table(&by_reading("interpolation"), &lines));
    }
}

fn strokes(text: &mut String, all: &Sample<'_>) {
    text.push_str(
        "\n### How much the zigzag's strokes decide\n\n\
         Errors by the time from corner to corner, at a jitter of 50 ms: ratios of quadratic, \
         Richardson and Catmull-Rom to linear.\n\n",
    );
    let lines = STROKES.map(|(name, _)| {
        let cell = |reading| {
            let ratios = to_linear(all.case(name, reading).four(mean, every));
            ratios.iter().map(|ratio| format!("{ratio:.2}")).collect::<Vec<_>>().join(", ")
        };
        line(name, READINGS.map(cell))
    });
    text.push_str(&table(&by_reading("stroke"), &lines));
}

fn verdicts(text: &mut String, measured: &ThesisRuns) {
    let mut all = findings(measured);
    let (still, networked): (Vec<&Finding>, Vec<&Finding>) =
        all.iter().partition(|finding| finding.verdicts.len() == 1);
    let count = |of: &[&Finding], at: usize, verdict: Verdict| {
        of.iter().filter(|finding| finding.verdicts[at] == verdict).count()
    };
    let found = READINGS.iter().enumerate().map(|(at, reading)| {
        let [yes, no] = [Verdict::Yes, Verdict::No].map(|it| count(&networked, at, it));
        format!("{yes} are confirmed and {no} are not ({})", reading.name)
    });
    let _ = writeln!(
        text,
        "\n## Where we agree, and where not\n\nOf the {} tested findings of section 2.3.1, which \
         has no network, {} are confirmed. Of the {} of section 4.3, by reading: {}; the others \
         are not clear. *Yes* and *no* are not due to chance: the mean of the differences on the \
         {REPEATS} seeds is more than {SURE:.0} standard errors from 0. Other seeds hardly ever \
         turn a yes into a no, but they can turn a verdict near that threshold into *not clear*, \
         or back. *No \
         history* means 0 here: the sender's interval is used. The thesis may have meant the last \
         interval; the numbers below have both.\n",
        still.len(),
        count(&still, 0, Verdict::Yes),
        networked.len(),
        found.collect::<Vec<_>>().join(", "),
    );
    all.push(contradicted(measured));
    let lines = all.iter().map(|finding| {
        let verdicts = finding.verdicts.iter().map(|verdict| verdict.name());
        // Without a network there is one set of filters.
        let verdicts = verdicts.chain(std::iter::repeat("-")).take(READINGS.len());
        line(&finding.text, std::iter::once(finding.section).chain(verdicts))
    });
    let mut head = by_reading("finding");
    head.insert(1, "section".into());
    text.push_str(&table(&head, &lines.collect::<Vec<_>>()));
    let _ = writeln!(
        text,
        "\nThe last row is not counted. The numbers, in the order of the columns: means over the \
         seeds; latencies, jitters and histories ({}) in order:\n",
        HISTORIES.map(|count| count.to_string()).join(", "),
    );
    for finding in &all {
        let _ = writeln!(text, "- {} *{}*", finding.text, finding.numbers);
    }
}

/// Reasons for the differences, each with its evidence.
fn why(text: &mut String, measured: &ThesisRuns) {
    text.push_str("\n## Why\n\nThe evidence for each reason, judged as above, with its numbers.\n");
    for reason in reasons(measured) {
        let _ = write!(text, "\n{}\n\n", reason.text);
        for ground in reason.grounds {
            let (verdict, numbers) = (ground.verdict.name(), ground.numbers);
            let _ = writeln!(text, "- {}: **{verdict}** *({numbers})*", ground.text);
        }
    }
}
