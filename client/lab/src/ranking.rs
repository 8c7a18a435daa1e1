//! Which method is best.
//!
//! There are two goals. *The past*, shown as it was: the least error against the true place at the time
//! shown, and of those about alike the least jerk. *The present*, shown as it is: the least error against
//! the true place now, among those whose jerk is bearable.

/// Errors that differ by less than that are alike, and jerk decides. Arbitrary.
pub const ALIKE: f64 = 1.05;
/// Jerk up to this part of that of showing the newest state as it is counts as bearable. Arbitrary: who
/// shows the present has no use for a method that stutters nearly as if there were none.
pub const BEARABLE: f64 = 0.5;

/// How something did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing<T> {
    /// What.
    pub of: T,
    /// Its error by the goal, in pixels.
    pub error: f64,
    /// Its jerk in pixels.
    pub jerk: f64,
    /// Whether its jerk is bearable; always for the past.
    pub bearable: bool,
}

/// Best first; what has no error, for it was never shown, last.
pub fn order<T>(all: &mut [Standing<T>]) {
    // Whatever the sign of what is no number.
    for it in all.iter_mut().filter(|it| it.error.is_nan()) {
        it.error = f64::NAN;
    }
    all.sort_by(|a, b| b.bearable.cmp(&a.bearable).then(a.error.total_cmp(&b.error)));
    // Those about as good as the best, by their jerk; a pixel is added, since nobody sees what is below that.
    let alike = all.first().map_or(0, |best| {
        let (most, bearable) = ((best.error + 1.0) * ALIKE - 1.0, best.bearable);
        all.iter().take_while(|it| it.bearable == bearable && it.error <= most).count()
    });
    all[..alike].sort_by(|a, b| a.jerk.total_cmp(&b.jerk));
}
