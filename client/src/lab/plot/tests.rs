//! Plots are valid XML whatever is drawn, the same each time, and say what they leave out.

use phaselock_shared::random::Random;

use super::*;

/// A zigzag of 8 corners, told 10 times a second, and what simple extrapolators make of it.
fn zigzag() -> Paths {
    let at = |t: f64| [60.0 + 90.0 * t, 150.0 + 120.0 * ((t % 2.0) - 1.0).abs()];
    let truth = (0..=800).map(|i| at(f64::from(i) * 0.01)).collect();
    let updates = (0..=80).map(|i| at(f64::from(i) * 0.1)).collect();
    let curve = |index: u32| {
        let (held, past) = (0.04 * f64::from(index), 0.1 + 0.03 * f64::from(index));
        let point = |i: u32| {
            let t = f64::from(i) * 0.01;
            let told = ((t - held) / 0.1).floor() * 0.1;
            let [from, to] = [at((told - past).max(0.0)), at(told.max(0.0))];
            let ahead = (t - told).min(0.5) / past;
            [to[0] + (to[0] - from[0]) * ahead, to[1] + (to[1] - from[1]) * ahead]
        };
        let points = vec![(20..400).map(point).collect(), (430..800).map(point).collect()];
        let names = [
            "linear",
            "quadratic",
            "Richardson",
            "Catmull-Rom",
            "Kalman, then projective blending",
        ];
        Curve {
            name: names[index as usize % 5].into(),
            stroke: Stroke::of(index as usize),
            points,
            note: format!(
                "mean {:.1} px, worst {:.0} px",
                4.2 + 3.1 * f64::from(index),
                60 + index
            ),
        }
    };
    Paths {
        title: "Zigzag: extrapolators".into(),
        subtitle: "10 updates a second, 50 ms latency, up to 50 ms jitter, no loss; seed 7".into(),
        unit: "px".into(),
        y_up: false,
        truth,
        updates,
        curves: (0..5).map(curve).collect(),
    }
}

/// `count` series at `values` values of three parameters, `runs` times.
fn clouds(count: usize, values: usize, runs: usize) -> Scatter {
    let mut random = Random::new(7);
    let names = ["linear", "quadratic", "Richardson", "Catmull-Rom"];
    let series = (0..count).map(|index| Series {
        name: format!("{}{}", names[index % 4], if index < 4 { "" } else { ", smoothed" }),
        stroke: Stroke::of(index),
        note: format!("mean {:.1} px", 56.5 + 11.3 * index as f64),
    });
    let mut panel = |label: &str, step: f64| {
        let mut clouds = Vec::new();
        for series in 0..count {
            for place in 0..values {
                let middle = 20.0 + 12.0 * series as f64 + 9.0 * place as f64;
                let mut error = || {
                    let spread: f64 =
                        (0..4).map(|_| f64::from(random.below(1000)) / 1000.0).product();
                    middle * (0.6 + 4.0 * spread)
                };
                let errors = (0..runs).map(|_| error()).collect();
                clouds.push(Cloud { series, value: place as f64 * step, errors });
            }
        }
        Panel { label: label.into(), clouds }
    };
    let panels = vec![
        panel("latency / ms", 40.0),
        panel("jitter / ms", 20.0),
        panel("time history / updates", 1.0),
    ];
    Scatter {
        title: "Zigzag: mean error of extrapolators".into(),
        subtitle: "10 updates a second; a point is a run, a marker the mean of the runs".into(),
        y_label: "mean error / px".into(),
        series: series.collect(),
        panels,
    }
}

fn over_rate() -> Lines {
    let curve = |index: u32| {
        let point = |i: u32| {
            let rate = 5.0 * f64::from(i);
            [rate, 240.0 / (rate + 3.0 * f64::from(index)) + 1.5 * f64::from(index)]
        };
        Curve {
            name: format!("method {index}"),
            stroke: Stroke::of(index as usize),
            points: vec![(1..=12).map(point).collect()],
            note: String::new(),
        }
    };
    Lines {
        title: "Error over the rate of updates".into(),
        subtitle: "smooth path, 100 ms latency".into(),
        x_label: "updates / s".into(),
        y_label: "mean error / px".into(),
        curves: (0..7).map(curve).collect(),
    }
}

#[test]
fn pictures() {
    let dir = std::env::var("PLOTS_OUT").unwrap();
    let mut rate40 = over_rate();
    rate40.curves = (0..40)
        .map(|i| Curve {
            stroke: Stroke::of(i),
            name: format!("look {i}"),
            note: String::new(),
            points: vec![
                (0..30).map(|k| [k as f64, (k as f64 * 0.1).sin() * 3.0 + i as f64]).collect(),
            ],
        })
        .collect();
    let mut log = clouds(4, 6, 40);
    log.panels[0].clouds[5].errors[3] = 4e4;
    log.panels[0].clouds[5].errors[4] = f64::NAN;
    for (name, text) in [
        ("paths", paths(&zigzag())),
        ("scatter", scatter(&clouds(4, 6, 40))),
        ("scatter-big", scatter(&clouds(8, 6, 1000))),
        ("lines", lines(&over_rate())),
        ("forty", lines(&rate40)),
        ("astray", scatter(&log)),
        ("empty", scatter(&Scatter::default())),
        ("emptyp", paths(&Paths::default())),
    ] {
        std::fs::write(format!("{dir}/{name}.svg"), text).unwrap();
    }
}
