//! Rules that keep the ticks that they run.

use std::cell::RefCell;

use super::kept::KeptTicks;
use super::method::Rules;
use crate::fields::Values;

/// Rules that keep the ticks of one state, and go on from them.
pub(super) struct Keeping<'a> {
    rules: &'a dyn Rules,
    kept: RefCell<&'a mut KeptTicks>,
}

impl<'a> Keeping<'a> {
    /// Keeps them in `kept`.
    pub(super) fn new(rules: &'a dyn Rules, kept: &'a mut KeptTicks) -> Self {
        Self { rules, kept: RefCell::new(kept) }
    }
}

impl Rules for Keeping<'_> {
    fn forward(&self, values: &Values, secs: f64) -> Option<Values> {
        self.rules.forward_on(values, secs, &mut self.kept.borrow_mut())
    }
}
