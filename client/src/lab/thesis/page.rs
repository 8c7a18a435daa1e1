//! The page that says where the thesis is found again, and where not.

use std::fmt::Write;

use phaselock_shared::motion::fir::{self, Kind};

use super::super::report::{figure, table};
use super::super::shapes::Shape;
use super::findings::{Finding, findings, ratios_of_thesis};
use super::{
    FUNCTIONS, HISTORIES, INTERVAL_MS, JITTERS_MS, LATENCIES_MS, Measured, NAMES, PATHS, REPEATS,
    Reading, SCHEMES, SPACINGS, STROKES_SECS, TABLES, scheme,
};

/// All of it, in Markdown.
pub fn page(measured: &Measured) -> String {
    let mut text = String::from(
        "# The thesis's evaluation, repeated\n\n\
         The thesis measured how far extrapolation followed by interpolation leads from the true path, on \
         paths that were drawn with a mouse. The drawings are lost, and it does not tell which latencies, \
         jitters and histories it went through; so the paths and settings are ours, pixels cannot be \
         compared, and ratios and orders can. Errors are mean distances from where the thing truly was at the \
         moment.\n\n\
         Two things that it leaves open decide much, so both are measured. *Clock*: a state is of the time at \
         which it was sent, as in Phaselock; the thesis's messages carry the time at which they were made (3.4), \
         and on one computer the clocks are one (3.5). *No clock*: a state is of the time at which it comes; the \
         thesis reckons with the times of the network's occurrences (4.3.4) and had no time synchronisation. \
         *Printed*: the filters of its Table 1, of which Catmull-Rom reckons with equal steps whatever the \
         spacing. *Mended*: a true parabola, Richardson as equations 2.33 and 2.31 give it, Catmull-Rom for any \
         spacing.\n",
    );
    filters(&mut text);
    schemes(&mut text);
    paths(&mut text, measured);
    strokes(&mut text, measured);
    verdicts(&mut text, measured);
    text
}

fn row(name: &str, cells: impl IntoIterator<Item = String>) -> Vec<String> {
    std::iter::once(name.to_owned()).chain(cells).collect()
}

/// Weights of the newest place and of the two before it, for the place `ahead` seconds later, the spans
/// between them being `h0` and `h1`.
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
        fir::coefficients(Kind::Quadratic, 0.0, -h0, -h0 - h1, ahead)
    }),
];

fn filters(text: &mut String) {
    text.push_str(
        "\n## Table 1: the filters as they are printed\n\n\
         The weights must sum to 1 and, of a thing at speed 1, foretell exactly the distance *ahead*. Each cell is \
         the sum, then that distance.\n\n",
    );
    let spacings = [(1.0, 1.0, 1.0), (0.5, 1.0, 1.0), (1.5, 0.5, 1.0), (1.0, 1.0, 0.5)];
    let head =
        row("row", spacings.map(|(h0, h1, ahead)| format!("steps {h1}, {h0}; ahead {ahead}")));
    let lines = TABLE_1.map(|(name, weights)| {
        row(
            name,
            spacings.map(|(h0, h1, ahead)| {
                let [newest, before, earlier] = weights(h0, h1, ahead);
                let led = -before * h0 - earlier * (h0 + h1);
                format!("{}, {}", figure(newest + before + earlier), figure(led))
            }),
        )
    });
    text.push_str(&table(&head, &lines));
    text.push_str(
        "\nSo the linear row and Richardson's for any spacing are sound. The quadratic row has a factor 1/(t - ti) \
         too much and does not divide by the steps. At equal steps quadratic and Catmull-Rom are the same filter (5/2, -2, 1/2), since the thesis takes the newest slope \
         for the velocity at the newest place; a true parabola has 3, -3, 1. Richardson's 7/3, -5/3, 1/3 does \
         not follow from equations 2.33 and 2.31, as it is said to, which give 13/6, -4/3, 1/6; it is what the \
         row for any spacing (equation 2.36) is at equal steps. That row has t - t1 where 2.31 has t - t0, and \
         its +1 on the weight of the place before the newest: it goes on from there instead, for longer, with \
         the slope of 2.35. Below, *printed* is the quadratic row without its stray factor (with which its weights do \
         not sum to 1) and divided by the steps, Richardson's row for any spacing, and Catmull-Rom's.\n",
    );
}

fn schemes(text: &mut String) {
    text.push_str(
        "\n## Section 2.3.1: two functions\n\n\
         A value is known at each natural number (or more or less often), at once; mean error by equation 2.16 \
         up to 3 pi, from when three are known. As printed that equation divides by n x 0.01; the mean it \
         means divides by n / 0.01. The thesis's own figures stood beside its plots, which are lost.\n\n",
    );
    let mut columns = Vec::new();
    for function in FUNCTIONS {
        for spacing in SPACINGS {
            columns.push((function, spacing));
        }
    }
    let head = row(
        "method",
        columns
            .iter()
            .map(|(function, spacing)| format!("{function}, each {spacing}"))
            .chain(["jerk, sine, each 1".into()]),
    );
    let lines = SCHEMES.map(|(contender, name)| {
        let error = |(function, spacing): &(Shape, f64)| {
            figure(scheme(*function, *spacing, contender).error_now_mean)
        };
        let jerk = scheme(Shape::Sine, 1.0, contender).jerk;
        row(name, columns.iter().map(error).chain([format!("{jerk:.5}")]))
    });
    text.push_str(&table(&head, &lines));
}

fn paths(text: &mut String, measured: &Measured) {
    let list = |values: &[i64]| values.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
    let histories = HISTORIES.map(|count| count.to_string()).join(", ");
    let _ = write!(
        text,
        "\n## Section 4.3: three paths\n\n\
         An update every {} ms, 60 frames a second; latencies of {} ms, jitters of {} ms (latency + random x \
         jitter), the last {histories} intervals averaged to expect the next; linear and Catmull-Rom \
         interpolation; all of it {REPEATS} times, on other dice. Means over all of these, in pixels, and as a \
         ratio to linear.\n",
        figure(INTERVAL_MS),
        list(&LATENCIES_MS),
        list(&JITTERS_MS),
    );
    for (at, path) in PATHS.iter().enumerate() {
        let _ = writeln!(text, "\n### Table {}: {path}\n", at + 2);
        let head = row(
            "extrapolation",
            std::iter::once("thesis".to_owned()).chain(Reading::ALL.map(|it| it.name().into())),
        );
        let ours =
            Reading::ALL.map(|reading| measured.by_extrapolator(path.name(), reading, |_| true));
        let lines = NAMES.iter().enumerate().map(|(of, name)| {
            let cell = |error: f64, ratio: f64| format!("{} ({ratio:.2})", figure(error));
            let thesis = cell(TABLES[at][of], ratios_of_thesis(at)[of]);
            let ours = ours.map(|errors| cell(errors[of], errors[of] / errors[0]));
            row(name, std::iter::once(thesis).chain(ours))
        });
        text.push_str(&table(&head, &lines.collect::<Vec<_>>()));
        let joined =
            Reading::ALL.map(|reading| measured.by_joining(path.name(), reading, |_| true));
        let head = row("interpolation", Reading::ALL.map(|reading| reading.name().into()));
        let lines = ["Linear", "Catmull-Rom"].iter().enumerate().map(|(of, name)| {
            row(
                name,
                joined.map(|errors| {
                    format!("{} ({:.2})", figure(errors[of]), errors[of] / errors[0])
                }),
            )
        });
        text.push('\n');
        text.push_str(&table(&head, &lines.collect::<Vec<_>>()));
    }
}

fn strokes(text: &mut String, measured: &Measured) {
    text.push_str(
        "\n### How much the zigzag's strokes decide\n\n\
         The same by how long it is from corner to corner, at a jitter of 50 ms: ratios to linear of quadratic, \
         Richardson and Catmull-Rom.\n\n",
    );
    let head = row("stroke", Reading::ALL.map(|reading| reading.name().into()));
    let lines = STROKES_SECS.map(|stroke| {
        let name = format!("{stroke} s");
        row(
            &name,
            Reading::ALL.map(|reading| {
                let errors = measured.by_extrapolator(&name, reading, |_| true);
                let [_, ratios @ ..] = errors.map(|error| format!("{:.2}", error / errors[0]));
                ratios.join(", ")
            }),
        )
    });
    text.push_str(&table(&head, &lines));
}

fn verdicts(text: &mut String, measured: &Measured) {
    let all = findings(measured);
    text.push_str("\n## Where we agree, and where not\n\n");
    let (still, networked): (Vec<&Finding>, Vec<&Finding>) =
        all.iter().partition(|finding| finding.holds.len() == 1);
    let found = (0..Reading::ALL.len()).map(|at| {
        let of = |finding: &&&Finding| finding.holds[at] as u64 == REPEATS;
        format!("{} ({})", networked.iter().filter(of).count(), Reading::ALL[at].name())
    });
    let _ = writeln!(
        text,
        "Of the {} findings of section 2.3.1 that are tested here, which has no network in it, {} are found \
         again. Of the {} of section 4.3 so many are on all of the {REPEATS} dice, by reading: {}. A number is \
         that of the dice on which a finding is found, if not on all or none.\n",
        still.len(),
        still.iter().filter(|finding| finding.holds[0] > 0).count(),
        networked.len(),
        found.collect::<Vec<_>>().join(", "),
    );
    let head = row(
        "finding",
        std::iter::once("section".to_owned()).chain(Reading::ALL.map(|it| it.name().into())),
    );
    let word = |holds: usize, of: u64| match holds as u64 {
        0 => "no".to_owned(),
        all if all == of => "yes".to_owned(),
        some => format!("{some} of {of}"),
    };
    let lines = all.iter().map(|finding| {
        let verdicts: Vec<_> = match finding.holds[..] {
            // There was no network in it, and one set of filters.
            [holds] => vec![word(holds, 1), "-".into(), "-".into(), "-".into()],
            _ => finding.holds.iter().map(|holds| word(*holds, REPEATS)).collect(),
        };
        row(&finding.text, std::iter::once(finding.section.to_owned()).chain(verdicts))
    });
    text.push_str(&table(&head, &lines.collect::<Vec<_>>()));
    text.push_str("\nBy what numbers, in the order of the columns, all dice together:\n\n");
    for finding in &all {
        let _ = writeln!(text, "- {} *{}*", finding.text, finding.numbers);
    }
    text.push_str(WHY);
}

/// What accounts for the differences; each by something on the page, and in words that hold for any seed.
const WHY: &str = "
## Why

- *The clock decides most.* Without one everything is shown late by the whole way that updates take. That part \
  of the error is the same for all methods and most of it, so that they seem alike, as in the thesis's Tables 2 \
  and 4. With one the filters do what they are for: on the accelerated and the smooth path the quadratic is \
  clearly the nearest, mended or as printed, and linear is the farthest of the four.
- *The zigzag's strokes decide its order.* Where a stroke is over before two updates have come, whoever makes \
  much of a turn overshoots: there linear is the best in every reading, as in the thesis's Table 3. As strokes \
  grow longer the four draw near each other, or change places. The thesis's zigzag must have been drawn fast for \
  its rate of updates. But where strokes are so short, the quadratic is worse than Catmull-Rom, and not the \
  other way round as in that table.
- *Richardson's lead on the smooth path.* Without a clock it and linear are as good as each other; with one it \
  is better than linear, but the quadratic is better still.
- *Catmull-Rom interpolation is less near everywhere, as the thesis has it*, and more so on the zigzag. The \
  thesis puts it down to points that come close together; but with a clock it is as much the worse without \
  jitter.
- *Going to a foretold point takes until it is reached.* With an update at each natural number linear \
  extrapolation alone is nearer than point to point, but with linear interpolation, on the sine, it is farther: \
  over a whole interval it has only been on its way.
- *The misprints.* The printed quadratic (without its stray factor) takes the newest slope for the velocity, \
  half a step too old; the parabola gains on it where motion is even and there is a clock, and loses in corners. \
  The printed Richardson starts from the place before the newest and so makes twice as much of a turn as \
  equation 2.33 would. Catmull-Rom for equal steps has the quadratic's weights, but foretells one step and goes \
  on in a straight line, whatever the latency. With a clock the form for any spacing is nearer; without one, \
  the uneven times of arrival do that more harm than taking them for even.
- *A bound that the thesis has not.* Nothing here is extrapolated beyond a quarter of a second from the newest \
  state, as in the games, and from a fifth on it slows. With a clock, that is where latency, jitter and interval \
  together exceed it: there methods fall short, the more the farther they would have gone.
";
