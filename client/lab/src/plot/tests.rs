//! Tests of plots: always valid XML, always the same, and open about what they leave out.

use phaselock::random::Random;

use super::series::CLOUD_POINTS_MAX;
use super::*;
use crate::strokes::Stroke;

/// A zigzag of 8 corners, sampled 10 times a second, and what simple extrapolators make of it.
fn zigzag() -> Curves {
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
        let note =
            format!("mean {:.1} px, worst {:.0} px", 4.2 + 3.1 * f64::from(index), 60 + index);
        let (name, stroke) = (names[index as usize % 5].into(), Stroke::of(index as usize));
        Curve { series: Series { name, stroke, note }, points }
    };
    Curves {
        title: "Zigzag: extrapolators".into(),
        subtitle: "10 updates a second, 50 ms latency, up to 50 ms jitter, no loss; seed 7".into(),
        labels: None,
        truth: vec![truth],
        updates,
        lost: Vec::new(),
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
        let mut points = Vec::new();
        for series in 0..count {
            for nth in 0..values {
                let middle = 20.0 + 12.0 * series as f64 + 9.0 * nth as f64;
                for _ in 0..runs {
                    let spread: f64 =
                        (0..4).map(|_| f64::from(random.below(1000)) / 1000.0).product();
                    let error = middle * (0.6 + 4.0 * spread);
                    points.push(Point { series, value: nth as f64 * step, error });
                }
            }
        }
        Panel { label: label.into(), points }
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

fn over_rate() -> Curves {
    let curve = |index: u32| {
        let point = |i: u32| {
            let rate = 5.0 * f64::from(i);
            [rate, 240.0 / (rate + 3.0 * f64::from(index)) + 1.5 * f64::from(index)]
        };
        Curve {
            series: Series {
                name: format!("method {index}"),
                stroke: Stroke::of(index as usize),
                note: String::new(),
            },
            points: vec![(1..=12).map(point).collect()],
        }
    };
    Curves {
        title: "Error over the rate of updates".into(),
        subtitle: "smooth path, 100 ms latency".into(),
        labels: Some(["updates / s", "mean error / px"]),
        curves: (0..7).map(curve).collect(),
        ..Curves::default()
    }
}

/// Fails unless the text is one well-formed XML element, checking those rules of XML that our
/// writer could break: matching tags, quoted attributes without duplicates, no bare `&` or `<`, no
/// control characters, and no `NaN` for a number.
fn assert_valid(svg: &str) {
    let allowed = |letter: char| letter >= ' ' || letter == '\n';
    assert!(svg.chars().all(allowed), "a control character");
    for unfit in ["NaN", "inf", "--", "=\"\""] {
        assert!(!svg.contains(unfit), "{unfit} in {svg}");
    }
    for entity in svg.split('&').skip(1) {
        assert!(
            ["amp;", "lt;", "gt;", "quot;", "#39;"].iter().any(|known| entity.starts_with(known)),
            "&{entity}"
        );
    }
    let mut open = Vec::new();
    let mut parts = svg.split('<');
    assert_eq!(parts.next(), Some(""));
    for part in parts {
        let (tag, text) = part.split_once('>').expect("a tag is closed");
        assert!(!text.contains('>'), "a bare > in {text}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
        } else {
            let own = tag.strip_suffix('/');
            let (name, attributes) =
                own.unwrap_or(tag).split_once(' ').unwrap_or((own.unwrap_or(tag), ""));
            assert!(
                !name.is_empty() && name.chars().all(|letter| letter.is_ascii_lowercase()),
                "<{tag}>"
            );
            let mut names = Vec::new();
            let mut rest = attributes;
            while !rest.is_empty() {
                let (name, after) = rest.split_once("=\"").expect("an attribute is quoted");
                let (_, after) = after.split_once('"').expect("a quote is closed");
                assert!(
                    name.chars().all(|letter| letter.is_ascii_alphabetic() || letter == '-'),
                    "{name}"
                );
                assert!(!names.contains(&name), "{name} twice in <{tag}>");
                names.push(name);
                rest = after.strip_prefix(' ').unwrap_or(after);
            }
            if own.is_none() {
                open.push(name);
            }
        }
        assert!(!open.is_empty() || text.trim().is_empty(), "text outside: {text}");
    }
    assert!(open.is_empty(), "left open: {open:?}");
}

fn count(text: &str, part: &str) -> usize {
    text.matches(part).count()
}

#[test]
fn plots_are_valid_and_the_same_each_time() {
    for draw in [
        || curves(&zigzag()),
        || scatter(&clouds(4, 6, 40)),
        || scatter(&Scatter::default()),
        || curves(&over_rate()),
        || curves(&Curves { labels: Some(["x", "y"]), ..Curves::default() }),
        || curves(&Curves::default()),
    ] {
        let svg = draw();
        assert_valid(&svg);
        assert_eq!(svg, draw());
        assert!(svg.contains("role=\"img\"") && svg.contains("<title>") && svg.contains("<desc>"));
    }
}

#[test]
fn names_that_look_like_markup_are_text() {
    let evil = "a<b> & \"c\" 'd' ]]> \u{1}\u{b}é";
    let (mut plane, mut cloud, mut plain) = (zigzag(), clouds(2, 2, 3), over_rate());
    for text in [&mut plane.title, &mut plane.subtitle, &mut plane.curves[0].series.name] {
        *text = evil.into();
    }
    for text in [
        &mut cloud.title,
        &mut cloud.y_label,
        &mut cloud.panels[0].label,
        &mut cloud.series[0].note,
    ] {
        *text = evil.into();
    }
    plain.labels = Some([evil; 2]);
    for text in [&mut plain.title, &mut plain.curves[1].series.note] {
        *text = evil.into();
    }
    for svg in [curves(&plane), scatter(&cloud), curves(&plain)] {
        assert_valid(&svg);
        assert!(svg.contains(
            "<title>a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39; ]]&gt; \u{fffd}\u{fffd}é</title>"
        ));
    }
}

#[test]
fn odd_numbers_draw_what_can_be_drawn() {
    let (nan, inf) = (f64::NAN, f64::INFINITY);
    let odd: [&[[f64; 2]]; 9] = [
        &[],
        &[[5.0, 5.0]],
        &[[nan, 1.0]],
        &[[0.0, 0.0], [nan, nan], [1.0, inf], [2.0, 3.0], [3.0, 1.0]],
        &[[7.0, 7.0]; 50],
        &[[0.0, 1e5], [10.0, 1e5]],
        &[[-1e12, 1e12], [1e12, -1e12]],
        &[[f64::MAX, f64::MIN], [-0.0, 5e-324]],
        &[[1e-300, 0.0], [2e-300, 0.0]],
    ];
    for points in odd {
        let curve = |index| Curve {
            series: Series { name: String::new(), stroke: Stroke::of(index), note: String::new() },
            points: vec![points.to_vec(), Vec::new()],
        };
        let plane = Curves { curves: (0..3).map(curve).collect(), ..Curves::default() };
        assert_valid(&curves(&Curves { labels: Some(["x", "y"]), ..plane.clone() }));
        assert_valid(&curves(&plane));
        let (truth, updates) = (vec![points.to_vec()], points.to_vec());
        assert_valid(&curves(&Curves { truth, updates, ..plane }));
        let cloud = |point: &[f64; 2]| [Point { series: 0, value: point[0], error: point[1] }; 3];
        let mut plot = clouds(1, 0, 0);
        plot.panels[0].points = points.iter().flat_map(cloud).collect();
        plot.panels[0].points.push(Point { series: 9, value: 1.0, error: 1.0 });
        assert_valid(&scatter(&plot));
    }
}

#[test]
fn a_straight_path_fills_the_picture_and_a_runaway_does_not_shrink_it() {
    let truth: Vec<[f64; 2]> = (0..100).map(|i| [f64::from(i), 1e5]).collect();
    let mut plot = Curves { truth: vec![truth], ..Curves::default() };
    // The numbers at the axis show the scale.
    assert!(curves(&plot).contains(">80</text>"));
    let series = Series { name: "astray".into(), stroke: Stroke::of(0), note: String::new() };
    let points = vec![vec![[0.0, 1e5], [50.0, -1e9], [99.0, 1e5]]];
    plot.curves.push(Curve { series, points });
    assert!(curves(&plot).contains(">80</text>"));
}

#[test]
fn y_grows_downwards() {
    let svg = curves(&zigzag());
    let heights = svg.split("<circle").skip(1).map(|ring| {
        let at = ring.split("cy=\"").nth(1).and_then(|rest| rest.split('"').next());
        at.expect("a height").parse::<f64>().expect("a number")
    });
    let heights: Vec<_> = heights.take(4).collect();
    // The zigzag begins at its greatest y.
    assert!(heights[1..].iter().any(|height| height + 25.0 < heights[0]), "{heights:?}");
}

#[test]
fn strokes_are_drawn_with_their_dashes_and_curves_broken_where_they_are_cut() {
    let svg = curves(&zigzag());
    // In the plot and in the legend.
    assert_eq!(count(&svg, "stroke-dasharray=\"8 4\""), 2);
    assert_eq!(count(&svg, "stroke=\"#d55e00\""), 2);
    let curve = svg.lines().find(|line| line.contains("#d55e00")).expect("the curve");
    assert_eq!(count(curve, "M"), 2, "two pieces");
    for name in ["linear", "Richardson", "mean 4.2 px, worst 60 px"] {
        assert!(svg.contains(&format!(">{name}</text>")), "{name}");
    }
}

#[test]
fn large_clouds_are_thinned_evenly_and_that_is_said() {
    let drawn = |svg: &str| count(svg, "h0");
    let few = scatter(&clouds(2, 3, CLOUD_POINTS_MAX));
    assert!(!few.contains("at most"));
    let many = scatter(&clouds(2, 3, 3 * CLOUD_POINTS_MAX));
    assert!(many.contains("At most 400 points"));
    assert_eq!(drawn(&many), 3 * 2 * 3 * CLOUD_POINTS_MAX);
    assert_eq!(drawn(&many), drawn(&few));

    let sorted: Vec<f64> = (0..1000).map(f64::from).collect();
    let thinned: Vec<f64> = scattered::thinned(&sorted).collect();
    assert_eq!((thinned.len(), thinned[0], thinned[399]), (400, 0.0, 999.0));
    assert!(thinned.windows(2).all(|pair| (2.0..=3.0).contains(&(pair[1] - pair[0]))));
}

#[test]
fn what_a_scatter_plot_leaves_out_it_counts() {
    let mut plot = clouds(4, 6, 40);
    for (at, error) in [f64::NAN, f64::INFINITY, 1e9].into_iter().enumerate() {
        plot.panels[0].points[at].error = error;
    }
    let svg = scatter(&plot);
    assert!(svg.contains("1 of 72 means"), "the mean that one run took along");
    assert!(svg.contains("2 of 2880 points"));
}

#[test]
fn points_of_one_series_and_value_are_one_cloud_in_whatever_order() {
    let ordered = clouds(2, 3, 20);
    let mut reversed = ordered.clone();
    reversed.panels.iter_mut().for_each(|panel| panel.points.reverse());
    assert_eq!(scatter(&ordered), scatter(&reversed));
}
