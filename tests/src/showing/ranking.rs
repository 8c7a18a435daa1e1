//! Rankings of the methods by the table. Defaults follow them, which a test checks.
//!
//! There are two goals. *The past*: the least error against the true position at the time shown
//! and, if errors are similar, the least jerk. *The present*: the least error against the true
//! position now, among methods with bearable jerk.

use phaselock::motion::Timeline;
use phaselock::motion::choice::Choice;
use phaselock_lab::{Contender, SendPolicy};
use serde::Serialize;

use super::Row;

/// Ratio of errors below which jerk decides. Arbitrary.
const ALIKE: f64 = 1.05;
/// Bearable jerk, as a share of the jerk of showing the newest state. Arbitrary.
pub const BEARABLE: f64 = 0.5;

/// The figures of a method in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing {
    /// The method.
    pub of: Choice,
    /// Error by the goal.
    pub error: f64,
    /// Jerk.
    pub jerk: f64,
    /// Whether its jerk is bearable; always true for the past.
    pub bearable: bool,
}

/// Returns the methods for a goal, best first, by all rows of a motion, over all its networks.
pub fn ranking(rows: &[Row], motion: &str, timeline: Timeline) -> Vec<Standing> {
    rank(rows.iter().filter(|row| row.motion == motion), timeline)
}

/// Returns the best method for a motion, if any was measured.
pub fn best(rows: &[Row], motion: &str, timeline: Timeline) -> Option<Choice> {
    ranking(rows, motion, timeline).first().map(|standing| standing.of)
}

/// Returns the methods for a goal, best first, by any rows. Networks and motions have equal weight:
/// the geometric mean of the figures in pixels, plus a pixel each, since less is invisible.
pub fn rank<'a>(rows: impl Iterator<Item = &'a Row> + Clone, timeline: Timeline) -> Vec<Standing> {
    let of = |contender: Contender| {
        let rows = rows.clone();
        rows.filter(move |row| row.method == contender && row.sending == SendPolicy::Every.name())
    };
    let mean = |contender: Contender, figure: &dyn Fn(&Row) -> f64| {
        let pixels = of(contender).map(|row| figure(row) / row.pixel);
        let (sum, count) =
            pixels.fold((0.0, 0), |(sum, count), all| (sum + all.ln_1p(), count + 1));
        (count > 0).then(|| (sum / f64::from(count)).exp_m1())
    };
    let floor = mean(Contender::Newest, &|row| row.scores.jerk);
    let methods = Choice::ALL.iter().filter(|choice| choice.timeline() == timeline);
    let mut all: Vec<_> = methods
        .filter_map(|&choice| {
            let jerk = mean(Contender::Method(choice), &|row| row.scores.jerk)?;
            let error = mean(Contender::Method(choice), &|row| match timeline {
                Timeline::Past => row.scores.error_shown_mean,
                Timeline::Present => row.scores.error_now_mean,
            })?;
            let bearable =
                timeline == Timeline::Past || floor.is_none_or(|floor| jerk <= floor * BEARABLE);
            Some(Standing { of: choice, error, jerk, bearable })
        })
        .collect();
    all.sort_by(|a, b| b.bearable.cmp(&a.bearable).then(a.error.total_cmp(&b.error)));
    // Sort those about as good as the best by jerk.
    let alike = all.first().map_or(0, |best| {
        let (most, bearable) = ((best.error + 1.0) * ALIKE - 1.0, best.bearable);
        all.iter().take_while(|it| it.bearable == bearable && it.error <= most).count()
    });
    all[..alike].sort_by(|a, b| a.jerk.total_cmp(&b.jerk));
    all
}

/// The adaptive method over one network, next to the best single method.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Against {
    /// Name of the motion.
    pub motion: String,
    /// The network.
    pub profile: String,
    /// The single method whose mean error at the present is the least.
    pub best: &'static str,
    /// That error in pixels.
    pub best_error: f64,
    /// The adaptive method's.
    pub error: f64,
    /// Its ratio to the best one's.
    pub ratio: f64,
    /// The ratio of the jerks.
    pub jerk_ratio: f64,
}

/// Compares the adaptive method with the single methods of the present, network by network, for
/// rows of senders that send every state. Rows without either are left out.
pub fn against(rows: &[Row]) -> Vec<Against> {
    let every = rows.iter().filter(|row| row.sending == SendPolicy::Every.name());
    let of_adaptive = |row: &&Row| row.method == Contender::Method(Choice::Adaptive);
    let compare = |adaptive: &Row| {
        let same = |row: &&Row| row.motion == adaptive.motion && row.profile == adaptive.profile;
        let singles = every.clone().filter(same).filter_map(|row| match row.method {
            Contender::Method(choice)
                if choice != Choice::Adaptive && choice.timeline() == Timeline::Present =>
            {
                Some((choice, row))
            }
            _ => None,
        });
        let error = |row: &Row| row.scores.error_now_mean;
        let (choice, best) = singles.min_by(|a, b| error(a.1).total_cmp(&error(b.1)))?;
        Some(Against {
            motion: adaptive.motion.clone(),
            profile: adaptive.profile.clone(),
            best: choice.name(),
            best_error: error(best) / best.pixel,
            error: error(adaptive) / adaptive.pixel,
            ratio: error(adaptive) / error(best),
            jerk_ratio: adaptive.scores.jerk / best.scores.jerk,
        })
    };
    every.clone().filter(of_adaptive).filter_map(compare).collect()
}

#[cfg(test)]
mod tests {
    use phaselock_lab::Scores;
    use phaselock_lab::scores::timeline_name;

    use super::*;

    fn row(method: Contender, error: f64, jerk: f64) -> Row {
        let pixel = 0.002;
        let scores = Scores {
            error_shown_mean: error * pixel,
            error_now_mean: error * pixel,
            jerk: jerk * pixel,
            ..Scores::default()
        };
        Row {
            motion: "puck".into(),
            pixel,
            is_file: false,
            profile: "lan".into(),
            method,
            timeline: timeline_name(method.timeline()),
            sending: SendPolicy::Every.name(),
            sends_per_second: 0.0,
            delay_ms: 0.0,
            scores,
            ns_per_frame: None,
        }
    }

    #[test]
    fn jerk_decides_among_what_is_about_alike() {
        let of = |choice, error, jerk| row(Contender::Method(choice), error, jerk);
        let rows = [
            of(Choice::Linear, 10.0, 3.0),
            of(Choice::Hermite, 10.3, 1.0),
            of(Choice::CatmullRom, 14.0, 0.1),
        ];
        let order = |rows: &[Row]| -> Vec<_> {
            let all = ranking(rows, "puck", Timeline::Past);
            all.iter().map(|standing| standing.of).collect()
        };
        assert_eq!(order(&rows), [Choice::Hermite, Choice::Linear, Choice::CatmullRom]);
        assert_eq!(order(&rows[..1]), [Choice::Linear]);
        assert_eq!(best(&rows, "puck", Timeline::Present), None);
        assert_eq!(best(&rows, "car", Timeline::Past), None);
        let standing = ranking(&rows[..1], "puck", Timeline::Past)[0];
        assert!((standing.error - 10.0).abs() < 1e-9 && (standing.jerk - 3.0).abs() < 1e-9);
    }
}
