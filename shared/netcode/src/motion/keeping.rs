//! A wrapper for rules that caches the ticks they have run.

use std::cell::RefCell;

use super::method::{Rules, Start};
use super::tick_cache::TickCache;
use crate::fields::Values;

/// Rules that cache the ticks run from one state, and continue from them.
pub(super) struct Keeping<'a> {
    rules: &'a dyn Rules,
    kept: RefCell<&'a mut TickCache>,
}

impl<'a> Keeping<'a> {
    /// Caches the ticks of `rules` in `kept`.
    pub(super) fn new(rules: &'a dyn Rules, kept: &'a mut TickCache) -> Self {
        Self { rules, kept: RefCell::new(kept) }
    }
}

impl Rules for Keeping<'_> {
    fn forward(&self, start: Start<'_>, secs: f64) -> Option<Values> {
        self.rules.forward_on(start, secs, &mut self.kept.borrow_mut())
    }
}
