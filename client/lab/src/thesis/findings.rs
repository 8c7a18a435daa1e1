//! What the thesis found, and whether it is found here.

use phaselock::motion::fir::Kind;
use phaselock::motion::waypoints::{Extrapolator, Joining};

use super::super::Contender;
use super::super::report::figure;
use super::claims::{CONTRADICTED, Claim, Outcome, Test, claims};
use super::sample::Sample;
use super::{FUNCTIONS, Measured, Reading, SCHEMES, SPACINGS, scheme};

/// So many standard errors from 0 a mean over the dice is beyond chance: one that is none is so one time in eighty
/// (Student's t for 11 degrees of freedom). There are some hundred verdicts.
pub(super) const SURE: f64 = 3.0;

/// What the dice say together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is so, beyond chance.
    Yes,
    /// It is not so, beyond chance.
    No,
    /// They do not say.
    Unclear,
    /// An answer to what is not asked with yes or no.
    Says(&'static str),
}

impl Verdict {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::Unclear => "not clear",
            Self::Says(what) => what,
        }
    }

    /// By what each of the dice says: whether the mean of each margin is as far above 0 as is beyond chance, or
    /// that of one as far below.
    pub(super) fn of(outcomes: &[Outcome]) -> Self {
        let margins = |at: usize| outcomes.iter().map(move |outcome| outcome.margins[at]);
        let count = outcomes.len() as f64;
        let (mut all, mut none) = (true, false);
        for at in 0..outcomes.first().map_or(0, |outcome| outcome.margins.len()) {
            let mean = margins(at).sum::<f64>() / count;
            let squares: f64 = margins(at).map(|margin| (margin - mean) * (margin - mean)).sum();
            // Of one alone it is no number, and nothing is sure.
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
}

/// Something that the thesis found.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Where it says so.
    pub section: &'static str,
    /// What, in our words.
    pub text: &'static str,
    /// Whether it is so here by each of [`Reading::ALL`]; or one, if there is no network in it.
    pub verdicts: Vec<Verdict>,
    /// What was measured that says so.
    pub numbers: String,
}

/// All that are tested: those of section 2.3.1, then those of section 4.3.
pub fn findings(measured: &Measured) -> Vec<Finding> {
    let dice = measured.dice();
    of_schemes().into_iter().chain(claims().iter().map(|claim| of_claim(claim, &dice))).collect()
}

/// What each of the dice says.
pub(super) fn asked(dice: &[Sample], reading: Reading, test: Test) -> Vec<Outcome> {
    dice.iter().map(|one| test(one, reading)).collect()
}

/// The means of what is seen.
pub(super) fn numbers_of(outcomes: &[Outcome]) -> Vec<f64> {
    let count = outcomes.first().map_or(0, |outcome| outcome.numbers.len());
    let mean = |at: usize| {
        outcomes.iter().map(|outcome| outcome.numbers[at]).sum::<f64>() / outcomes.len() as f64
    };
    (0..count).map(mean).collect()
}

fn of_claim(claim: &Claim, dice: &[Sample]) -> Finding {
    let outcomes = Reading::ALL.map(|reading| asked(dice, reading, claim.test));
    let numbers = outcomes.each_ref().map(|outcomes| list(&numbers_of(outcomes)));
    Finding {
        section: claim.section,
        text: claim.text,
        verdicts: outcomes.iter().map(|outcomes| Verdict::of(outcomes)).collect(),
        numbers: format!("{}: {}", claim.numbers, numbers.join("; ")),
    }
}

/// Where the thesis contradicts itself, and so cannot be found again: what is found instead.
pub(super) fn contradicted(measured: &Measured) -> Finding {
    let dice = measured.dice();
    let says = |reading: Reading| {
        let so = |claim: &&Claim| Verdict::of(&asked(&dice, reading, claim.test)) == Verdict::Yes;
        CONTRADICTED.iter().find(so).map_or(Verdict::Unclear, |claim| Verdict::Says(claim.text))
    };
    Finding {
        text: "Accelerated: which time history is best? The thesis says the last interval alone (of figure 17), and \
               a longer one (of the three paths).",
        verdicts: Reading::ALL.map(says).into(),
        ..of_claim(&CONTRADICTED[0], &dice)
    }
}

pub(super) fn list(values: &[f64]) -> String {
    values.iter().map(|it| figure(*it)).collect::<Vec<_>>().join(", ")
}

fn of_schemes() -> Vec<Finding> {
    let with = |kind, joining| Contender::Waypoints(Extrapolator::Fir(kind), joining);
    let [plain, straight] = [Joining::Jump, Joining::Linear].map(|it| with(Kind::Linear, it));
    let bent = with(Kind::ThesisQuadratic, Joining::Linear);
    let error = |function, spacing, contender| scheme(function, spacing, contender).error_now_mean;
    let one = |text: &'static str, holds: bool, numbers: String| Finding {
        section: "2.3.1",
        text,
        verdicts: vec![if holds { Verdict::Yes } else { Verdict::No }],
        numbers,
    };
    let [sine, logarithm] = FUNCTIONS;
    let pairs = SCHEMES.map(|(it, _)| FUNCTIONS.map(|function| error(function, 1.0, it)));
    let [held, led] =
        [Contender::Newest, plain].map(|it| FUNCTIONS.map(|function| error(function, 1.0, it)));
    let by_spacing =
        SPACINGS.map(|spacing| error(sine, spacing, bent) / error(sine, spacing, straight));
    let cornered = scheme(sine, 1.0, straight);
    let cubic = with(Kind::Linear, Joining::CubicSpline);
    let [wide, narrow] = [sine, logarithm].map(|function| scheme(function, 1.0, cubic));
    vec![
        one(
            "The sine is hard to extrapolate, the logarithm easy, by every method.",
            pairs.iter().all(|[sine, logarithm]| logarithm < sine),
            format!("linear, linear: {} and {}", figure(pairs[2][0]), figure(pairs[2][1])),
        ),
        one(
            "Linear extrapolation is nearer than point to point, which extrapolates nothing.",
            led[0] < held[0] && led[1] < held[1],
            format!(
                "updates 1 apart, sine: {} and {}; logarithm: {} and {}; 1.5 apart, sine: {} and {}",
                figure(led[0]),
                figure(held[0]),
                figure(led[1]),
                figure(held[1]),
                figure(error(sine, SPACINGS[2], plain)),
                figure(error(sine, SPACINGS[2], Contender::Newest)),
            ),
        ),
        one(
            "Quadratic extrapolation is better than linear while updates are close together, and worse when \
             they are far apart.",
            by_spacing[0] < 1.0 && by_spacing[2] > 1.0,
            format!(
                "quadratic to linear on the sine at updates 0.5, 1 and 1.5 apart: {}",
                by_spacing.map(figure).join(", ")
            ),
        ),
        one(
            "The cubic spline has no corners, and swings the wider the worse the extrapolation.",
            wide.jerk < cornered.jerk
                && wide.error_now_p99 > cornered.error_now_p99
                && narrow.error_now_p99 < wide.error_now_p99,
            format!(
                "99th percentiles: {} on the sine ({} with straight lines) and {} on the logarithm; jerk x {}",
                figure(wide.error_now_p99),
                figure(cornered.error_now_p99),
                figure(narrow.error_now_p99),
                figure(wide.jerk / cornered.jerk)
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
    fn what_chance_may_have_done_is_not_clear() {
        let around =
            |mean: f64, other: f64| [[mean - 0.1, other], [mean, other], [mean + 0.1, other]];
        // The standard error is 0.1 / sqrt(3).
        assert_eq!(verdict(&around(0.18, 1.0)), Verdict::Yes);
        assert_eq!(verdict(&around(0.17, 1.0)), Verdict::Unclear);
        assert_eq!(verdict(&around(-0.17, 1.0)), Verdict::Unclear);
        assert_eq!(verdict(&around(-0.18, 1.0)), Verdict::No);
        assert_eq!(verdict(&around(0.0, -1.0)), Verdict::No, "one is enough");
        assert_eq!(verdict(&[[1.0, 1.0]]), Verdict::Unclear, "of one nothing is known");
        assert_eq!(
            verdict(&[[0.0, 1.0]; 4]),
            Verdict::Unclear,
            "the same is neither more nor less"
        );
    }
}
