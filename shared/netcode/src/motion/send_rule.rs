//! The rule by which a server sends the states of a kind of entity.

use std::fmt;
use std::str::FromStr;

use super::sending::Tolerance;

/// Rule for sending entities of a kind to players who do not own them. Clients extrapolate what is
/// not sent, by the kind's own rule from the newest state that they have.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum SendRule {
    /// In each snapshot. Clients then need not extrapolate between two states.
    #[default]
    Every,
    /// When the reader's extrapolation differs by more than the tolerance (DIS; the thesis, 2.2.2).
    Threshold(Tolerance),
    /// When the reader's extrapolation is not exact, because something other than its own motion
    /// moved the entity.
    Predictable,
    /// Before the reader's extrapolation is expected to differ by more than the tolerance, and at
    /// the latest after [`STRETCH_MAX`](super::sending::STRETCH_MAX) snapshots: the more
    /// predictable the motion, the fewer states (the thesis, 4.4).
    Adaptive(Tolerance),
}

/// Default tolerance for rotations in turns: about seven degrees, just visible to someone who looks
/// for it. Arbitrary.
pub const TURNS_DEFAULT: f64 = 0.02;

/// The text is not the name of a rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is not a rule; the rules are every, predictable, threshold:DISTANCE and \
     adaptive:DISTANCE, or DISTANCE/TURNS, such as threshold:0.05 or adaptive:0.05/0.01, each \
     number from 0 to 1000000"
)]
pub struct UnknownRule(String);

/// The maximum distance or turn of a tolerance in a text. Arbitrary: no real limit in a game.
const TOLERANCE_MAX: f64 = 1e6;

impl SendRule {
    /// Returns the tolerance, if the rule has one.
    pub fn tolerance(self) -> Option<Tolerance> {
        match self {
            Self::Every | Self::Predictable => None,
            Self::Threshold(tolerance) | Self::Adaptive(tolerance) => Some(tolerance),
        }
    }
}

impl fmt::Display for SendRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Every => "every",
            Self::Threshold(_) => "threshold",
            Self::Predictable => "predictable",
            Self::Adaptive(_) => "adaptive",
        })?;
        match self.tolerance() {
            Some(Tolerance { distance, turns }) => write!(f, ":{distance}/{turns}"),
            None => Ok(()),
        }
    }
}

impl FromStr for SendRule {
    type Err = UnknownRule;

    fn from_str(text: &str) -> Result<Self, UnknownRule> {
        let number = |text: &str| {
            let number = text.parse::<f64>().ok();
            number.filter(|number| (0.0..=TOLERANCE_MAX).contains(number))
        };
        let tolerance = |text: &str| {
            let (distance, turns) = text.split_once('/').unzip();
            let turns = turns.map_or(Some(TURNS_DEFAULT), number)?;
            Some(Tolerance { distance: number(distance.unwrap_or(text))?, turns })
        };
        let rule = match text.split_once(':') {
            None if text == "every" => Some(Self::Every),
            None if text == "predictable" => Some(Self::Predictable),
            Some(("threshold", rest)) => tolerance(rest).map(Self::Threshold),
            Some(("adaptive", rest)) => tolerance(rest).map(Self::Adaptive),
            _ => None,
        };
        rule.ok_or_else(|| UnknownRule(text.chars().take(32).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_as_they_are_written() {
        let tolerance = Tolerance { distance: 0.05, turns: TURNS_DEFAULT };
        let fine = Tolerance { turns: 0.001, ..tolerance };
        for (text, rule) in [
            ("every", SendRule::Every),
            ("predictable", SendRule::Predictable),
            ("threshold:0.05", SendRule::Threshold(tolerance)),
            ("adaptive:0.05/0.001", SendRule::Adaptive(fine)),
            ("threshold:0/0", SendRule::Threshold(Tolerance { distance: 0.0, turns: 0.0 })),
        ] {
            assert_eq!(text.parse(), Ok(rule));
            assert_eq!(rule.to_string().parse(), Ok(rule));
        }
        for text in
            ["", "Every", "every:1", "threshold", "threshold:", "threshold:-1", "adaptive:x"]
        {
            let error = text.parse::<SendRule>().expect_err("it is no rule").to_string();
            assert!(error.contains("threshold:0.05"), "{error}");
        }
        for text in ["adaptive:1/", "adaptive:1/2/3", "threshold:NaN", "threshold:inf"] {
            assert!(text.parse::<SendRule>().is_err(), "{text}");
        }
    }
}
