//! Findings of the thesis, and whether they hold here.

use phaselock::motion::fir::Filter;
use phaselock::motion::waypoints::Joining;

use super::super::Contender;
use super::super::report::figures;
use super::claims::{CLAIMS, CONTRADICTED, Claim, Outcome};
use super::plan::{FUNCTIONS, READINGS, Reading, SCHEMES, SPACINGS, scheme, waypoints};
use super::sample::Sample;
use super::sample::ThesisRuns;

/// Number of standard errors from 0 beyond which a mean over the seeds is not chance; chance
/// exceeds it in one of eighty cases (Student's t for 11 degrees of freedom). There are some
/// hundred verdicts.
pub(super) const SURE: f64 = 3.0;

/// The result of all seeds together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// True, beyond chance.
    Yes,
    /// False, beyond chance.
    No,
    /// Within chance.
    Unclear,
    /// The answer to a question that is not yes or no.
    Says(&'static str),
}

impl Verdict {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::Unclear => "not clear",
            Self::Says(what) => what,
        }
    }

    /// *Yes* if the mean of each margin is above 0 beyond chance, *no* if one is below.
    pub(super) fn of(outcomes: &[Outcome]) -> Self {
        let margins = |at: usize| outcomes.iter().map(move |outcome| outcome.margins[at]);
        let count = outcomes.len() as f64;
        let (mut all, mut none) = (true, false);
        for at in 0..outcomes.first().map_or(0, |outcome| outcome.margins.len()) {
            let mean = margins(at).sum::<f64>() / count;
            let squares: f64 = margins(at).map(|margin| (margin - mean) * (margin - mean)).sum();
            // For a single seed this is NaN, and nothing is certain.
            let error = (squares / (count - 1.0) / count).sqrt();
            all &= mean > SURE * error;
            none |= mean < -SURE * error;
        }
        match (all, none) {
            (true, _) => Self::Yes,
            (_, true) => Self::No,
            _ => Self::Unclear,
        }
    }

    pub(super) fn certain(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }
}

/// A finding of the thesis.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Section of the thesis.
    pub section: &'static str,
    /// The finding in our words.
    pub text: String,
    /// Verdicts, one for each reading; a single one where no network is involved.
    pub verdicts: Vec<Verdict>,
    /// The measurements behind the verdicts.
    pub numbers: String,
}

/// All tested findings: those of section 2.3.1, then those of section 4.3.
pub fn findings(measured: &ThesisRuns) -> Vec<Finding> {
    let seeds = measured.seeds();
    let networked = CLAIMS.into_iter().map(|claim| of_claim(claim, &seeds));
    of_schemes().into_iter().chain(networked).collect()
}

fn ask(seeds: &[Sample<'_>], reading: Reading, claim: Claim) -> Vec<Outcome> {
    seeds.iter().map(|seed| claim.ask(seed, &[reading])).collect()
}

/// Means over the seeds, as text.
pub(super) fn numbers_of(outcomes: &[Outcome]) -> String {
    let count = outcomes.first().map_or(0, |outcome| outcome.numbers.len());
    let sum = |at: usize| outcomes.iter().map(|outcome| outcome.numbers[at]).sum::<f64>();
    let means = (0..count).map(|at| sum(at) / outcomes.len() as f64);
    figures(&means.collect::<Vec<_>>())
}

fn of_claim(claim: Claim, seeds: &[Sample<'_>]) -> Finding {
    let outcomes = READINGS.map(|reading| ask(seeds, reading, claim));
    let numbers = outcomes.each_ref().map(|outcomes| numbers_of(outcomes));
    Finding {
        section: claim.section(),
        text: claim.text(),
        verdicts: outcomes.iter().map(|outcomes| Verdict::of(outcomes)).collect(),
        numbers: format!("{}: {}", claim.2.label(), numbers.join("; ")),
    }
}

/// The result here where the thesis contradicts itself.
pub(super) fn contradicted(measured: &ThesisRuns) -> Finding {
    let seeds = measured.seeds();
    let says = |reading: Reading| {
        let holds =
            |(claim, _): &&(Claim, _)| Verdict::of(&ask(&seeds, reading, *claim)) == Verdict::Yes;
        CONTRADICTED.iter().find(holds).map_or(Verdict::Unclear, |(_, says)| Verdict::Says(says))
    };
    Finding { verdicts: READINGS.map(says).into(), ..of_claim(CONTRADICTED[0].0, &seeds) }
}

fn of_schemes() -> Vec<Finding> {
    let error = |function, spacing, contender| scheme(function, spacing, contender).error_now_mean;
    let finding = |text: &'static str, holds: bool, numbers: String| Finding {
        section: "2.3.1",
        text: text.into(),
        verdicts: vec![Verdict::certain(holds)],
        numbers,
    };
    let plain = waypoints(Filter::Linear, Joining::Jump);
    let straight = waypoints(Filter::Linear, Joining::Linear);
    let bent = waypoints(Filter::ThesisQuadratic, Joining::Linear);
    let cubic = waypoints(Filter::Linear, Joining::CubicSpline);
    let [sine, logarithm] = FUNCTIONS;
    let both = |contender| FUNCTIONS.map(|function| error(function, 1.0, contender));
    let pairs = SCHEMES.map(|(contender, _)| both(contender));
    let [held, led] = [both(Contender::Newest), both(plain)];
    let apart = [plain, Contender::Newest].map(|contender| error(sine, SPACINGS[2], contender));
    let by_spacing = SPACINGS.map(|at| error(sine, at, bent) / error(sine, at, straight));
    let cornered = scheme(sine, 1.0, straight);
    let [wide, narrow] = FUNCTIONS.map(|function| scheme(function, 1.0, cubic));
    vec![
        finding(
            "The sine is hard to extrapolate, the logarithm easy, by every method.",
            pairs.iter().all(|[sine, logarithm]| logarithm < sine),
            format!("linear, linear, {sine} and {logarithm}: {}", figures(&pairs[2])),
        ),
        finding(
            "Linear extrapolation is closer than point to point, which does not extrapolate.",
            led[0] < held[0] && led[1] < held[1],
            format!(
                "updates 1 apart, sine: {}; logarithm: {}; 1.5 apart, sine: {}",
                figures(&[led[0], held[0]]),
                figures(&[led[1], held[1]]),
                figures(&apart),
            ),
        ),
        finding(
            "Quadratic extrapolation is better than linear while updates are close together, and \
             worse when they are far apart.",
            by_spacing[0] < 1.0 && by_spacing[2] > 1.0,
            format!(
                "quadratic to linear on the sine at updates 0.5, 1 and 1.5 apart: {}",
                figures(&by_spacing)
            ),
        ),
        finding(
            "The cubic spline has no corners, but swings wider the worse the extrapolation is.",
            wide.jerk < cornered.jerk
                && wide.error_now_p99 > cornered.error_now_p99
                && narrow.error_now_p99 < wide.error_now_p99,
            format!(
                "99th percentiles on the sine, there with straight lines, and on the logarithm: \
                 {}; jerk x {}",
                figures(&[wide, cornered, narrow].map(|scores| scores.error_now_p99)),
                figures(&[wide.jerk / cornered.jerk]),
            ),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(margins: &[[f64; 2]]) -> Verdict {
        let outcome = |margins: &[f64; 2]| Outcome { margins: margins.to_vec(), numbers: vec![] };
        Verdict::of(&margins.iter().map(outcome).collect::<Vec<_>>())
    }

    #[test]
    fn margins_within_chance_are_not_clear() {
        let around =
            |mean: f64, other: f64| [[mean - 0.1, other], [mean, other], [mean + 0.1, other]];
        // The standard error is 0.1 / sqrt(3).
        assert_eq!(verdict(&around(0.18, 1.0)), Verdict::Yes);
        assert_eq!(verdict(&around(0.17, 1.0)), Verdict::Unclear);
        assert_eq!(verdict(&around(-0.17, 1.0)), Verdict::Unclear);
        assert_eq!(verdict(&around(-0.18, 1.0)), Verdict::No);
        assert_eq!(verdict(&around(0.0, -1.0)), Verdict::No, "one is enough");
        assert_eq!(verdict(&[[1.0, 1.0]]), Verdict::Unclear, "one entity is unknown");
        let same = verdict(&[[0.0, 1.0]; 4]);
        assert_eq!(same, Verdict::Unclear, "equal values are neither more nor less");
    }
}
