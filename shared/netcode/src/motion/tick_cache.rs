//! Whole ticks by which rules have advanced a state, cached for the following frames.

use crate::fields::Values;

/// Values of whole ticks after one state. The owner must clear them when the state changes.
#[derive(Clone, Debug, Default)]
pub struct TickCache(Vec<(u64, Values)>);

/// Number of ticks that are kept: those around a frame, and those for measuring a rate.
const TICKS_MAX: usize = 4;

impl TickCache {
    /// Removes all ticks.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns the values of a tick. If they are not cached, `run` computes them from the latest
    /// cached tick before it.
    pub fn at(
        &mut self,
        ticks: u64,
        run: impl FnOnce(Option<(u64, &Values)>) -> Option<Values>,
    ) -> Option<Values> {
        if let Some((_, values)) = self.0.iter().find(|(kept, _)| *kept == ticks) {
            return Some(*values);
        }
        let before = self.0.iter().filter(|(kept, _)| *kept < ticks).max_by_key(|(kept, _)| *kept);
        let values = run(before.map(|(kept, values)| (*kept, values)))?;
        if self.0.len() == TICKS_MAX {
            self.0.remove(0);
        }
        self.0.push((ticks, values));
        Some(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::FIELDS_MAX;

    #[test]
    fn a_tick_is_run_once_and_from_the_latest_before_it() {
        let mut kept = TickCache::default();
        let mut at = |ticks: u64| {
            let mut ran = None;
            let values = kept.at(ticks, |before| {
                ran = Some(before.map(|(ticks, _)| ticks));
                Some([ticks as f64; FIELDS_MAX])
            });
            assert_eq!(values, Some([ticks as f64; FIELDS_MAX]));
            ran
        };
        assert_eq!(
            [3, 4, 3, 6, 4].map(&mut at),
            [Some(None), Some(Some(3)), None, Some(Some(4)), None]
        );
        // The first one is dropped for the fifth.
        assert_eq!([7, 8, 4, 3].map(&mut at), [Some(Some(6)), Some(Some(7)), None, Some(None)]);
        assert_eq!(kept.at(9, |_| None), None, "values outside of the rules are not kept");
        kept.clear();
        assert_eq!(kept.at(9, |before| before.map(|(_, values)| *values)), None);
    }
}
