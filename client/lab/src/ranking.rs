//! Which method is best.
//!
//! There are two goals. *The past*, shown as it was: the least error against the true position at
//! the time shown, and of those about alike the least jerk. *The present*, shown as it is: the
//! least error against the true position now, among those whose jerk is bearable.

/// Ratio of errors below which jerk decides. Arbitrary.
pub const ALIKE: f64 = 1.05;
/// Bearable jerk, as a share of that of the newest state. Arbitrary.
pub const BEARABLE: f64 = 0.5;

/// A result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing<T> {
    /// The thing ranked.
    pub of: T,
    /// Error by the goal in pixels.
    pub error: f64,
    /// Jerk in pixels.
    pub jerk: f64,
    /// True for bearable jerk, and always for the past.
    pub bearable: bool,
}

/// Sorts the best first, and results without an error last.
pub fn order<T>(all: &mut [Standing<T>]) {
    // Whatever the sign of what is no number.
    for it in all.iter_mut().filter(|it| it.error.is_nan()) {
        it.error = f64::NAN;
    }
    all.sort_by(|a, b| b.bearable.cmp(&a.bearable).then(a.error.total_cmp(&b.error)));
    // Those about as good as the best, by their jerk; a pixel is added, since nobody sees what is
    // below that.
    let alike = all.first().map_or(0, |best| {
        let (most, bearable) = ((best.error + 1.0) * ALIKE - 1.0, best.bearable);
        all.iter().take_while(|it| it.bearable == bearable && it.error <= most).count()
    });
    all[..alike].sort_by(|a, b| a.jerk.total_cmp(&b.jerk));
}
