//! Trains tables from counted decisions.

use super::model::*;
use super::range::{Coder, Likelihood, level_of, low_bits};
use super::records::records_digest;
use crate::fields::Kind;

/// Counts of decisions, from which tables are made.
#[derive(Clone, Debug)]
pub struct Counts {
    /// Counts of no and yes.
    counts: Vec<[f64; 2]>,
    kinds: Vec<usize>,
    /// FNV-1a of the records.
    records: u64,
    /// Even decisions, by the last preceding one with a context.
    even: Vec<f64>,
    last: usize,
}

impl Counts {
    /// Creates empty counts for these kinds.
    pub fn new(kinds: &[Kind]) -> Self {
        let records = if kinds.is_empty() { 0 } else { records_digest(kinds) };
        let kinds: Vec<_> = kinds.iter().map(|kind| kind.fields.len()).collect();
        let len = len(&kinds);
        Self { counts: vec![[0.0; 2]; len], even: vec![0.0; len], kinds, records, last: 0 }
    }

    /// Returns the sum over all kinds and fields.
    pub fn generalised(&self) -> Self {
        let mut all = Self::new(&[]);
        let mut add = |to: usize, from: usize, len: usize| {
            for at in 0..len {
                all.counts[to + at][0] += self.counts[from + at][0];
                all.counts[to + at][1] += self.counts[from + at][1];
            }
        };
        add(0, 0, HEADER);
        for (start, fields) in starts(&self.kinds) {
            add(HEADER, start, ENTITY);
            for field in 0..fields {
                add(HEADER + ENTITY, start + ENTITY + field * FIELD, FIELD);
            }
        }
        all
    }

    /// Adds other counts of the same kinds.
    pub fn add(&mut self, other: &Self) {
        for (to, from) in self.counts.iter_mut().zip(&other.counts) {
            to[0] += from[0];
            to[1] += from[1];
        }
        for (to, from) in self.even.iter_mut().zip(&other.even) {
            *to += from;
        }
    }

    /// Returns the number of decisions.
    pub fn decisions(&self) -> f64 {
        self.counts.iter().flatten().chain(&self.even).sum()
    }

    /// Returns the cost in bits of coding everything counted with tables for the same kinds: of the
    /// header, then for each kind of the entity and of each field.
    pub fn bits(&self, tables: &Tables) -> Vec<Vec<f64>> {
        let levels = tables.levels();
        let sum = |from: usize, len: usize| -> f64 {
            (from..from + len)
                .map(|at| {
                    let cost = |yes| f64::from(crate::wire::range::cost(levels[at], yes)) / 1024.0;
                    self.counts[at][0] * cost(false)
                        + self.counts[at][1] * cost(true)
                        + self.even[at]
                })
                .sum()
        };
        let mut parts = vec![vec![sum(0, HEADER)]];
        for (start, fields) in starts(&self.kinds) {
            let field = |at| sum(start + ENTITY + at * FIELD, FIELD);
            let part = std::iter::once(sum(start, ENTITY)).chain((0..fields).map(field));
            parts.push(part.collect());
        }
        parts
    }

    /// Returns the tables. Rare decisions follow similar ones, unseen ones follow `otherwise`.
    pub fn tables(&self, otherwise: &Tables) -> Tables {
        let mut levels = Tables::even(&self.kinds).into_levels();
        let otherwise = otherwise.levels();
        for (at, level) in levels.iter_mut().enumerate().take(HEADER) {
            *level = self.level(at, &[], otherwise[at]);
        }
        for (start, fields) in starts(&self.kinds) {
            for at in 0..ENTITY {
                let parent = if at < USUAL {
                    // All decisions with the current change of the same size.
                    let now = at / (ACTIVITIES * 4) * (ACTIVITIES * 4);
                    (start + now..start + now + ACTIVITIES * 4).collect()
                } else {
                    Vec::new()
                };
                let general = otherwise[(HEADER + at).min(otherwise.len() - 1)];
                levels[start + at] = self.level(start + at, &parent, general);
            }
            for field in 0..fields {
                let field_start = start + ENTITY + field * FIELD;
                for at in 0..FIELD {
                    let general = otherwise[HEADER + ENTITY + at];
                    let parent: Vec<_> = parents(at).iter().map(|at| field_start + at).collect();
                    levels[field_start + at] = self.level(field_start + at, &parent, general);
                }
            }
        }
        Tables::of(levels, self.kinds.clone(), self.records)
    }

    /// Returns the level of a decision, drawn towards its parents' together, which are drawn
    /// towards `general`.
    fn level(&self, at: usize, parents: &[usize], general: Likelihood) -> Likelihood {
        let likely = 1.0 / (1.0 + libm::exp((128.0 - f64::from(general)) / 16.0));
        // Weight of the prior in observations; arbitrary.
        const PRIOR: f64 = 2.0;
        let seen = |all: &mut dyn Iterator<Item = [f64; 2]>| {
            all.fold([0.0, 0.0], |sum, one| [sum[0] + one[0], sum[1] + one[1]])
        };
        let above = seen(&mut parents.iter().map(|at| self.counts[*at]));
        let above_likely = (above[1] + PRIOR * likely) / (above[0] + above[1] + PRIOR);
        let [no, yes] = self.counts[at];
        if no + yes == 0.0 {
            return general;
        }
        level_of(yes + PRIOR * above_likely, no + yes + PRIOR)
    }
}

/// Returns similar decisions of a field: those of the same class, whatever the residuals before.
fn parents(at: usize) -> Vec<usize> {
    if at < EXPONENT {
        let block = NEAR * FAR;
        let start = at / block * block;
        (start..start + block).collect()
    } else if at < MANTISSA {
        let within = at - EXPONENT;
        let magnitude = within % MAGNITUDES;
        let block = BROAD[1] * BROAD[2] * 2 * MAGNITUDES;
        let start = EXPONENT + within / block * block;
        (start..start + block).skip(magnitude).step_by(MAGNITUDES).collect()
    } else {
        Vec::new()
    }
}

impl Coder for Counts {
    fn bit(&mut self, context: usize, yes: bool) -> bool {
        self.counts[context][usize::from(yes)] += 1.0;
        self.last = context;
        yes
    }

    fn raw(&mut self, value: u32, count: u32) -> u32 {
        self.even[self.last] += f64::from(count);
        low_bits(value, count)
    }

    fn end(&mut self) {}
}
