//! The evaluation of the thesis, repeated: its filters, its section 2.3.1 and its section 4.3,
//! beside its tables.
//!
//! The thesis's curves and settings are lost: ratios and orders count. The page says of each
//! finding of the thesis whether it holds here.
//!
//! The thesis leaves two things open that decide much, so both are measured. *The clock*: a state
//! has the time at which it was sent (both sides share a clock), or that of its arrival. *The
//! filters*: as its Table 1 prints them, where Catmull-Rom takes steps for equal whatever the
//! spacing and Richardson goes on from the position before the newest, or corrected.

mod claims;
mod findings;
mod page;
mod pictures;
mod plan;
mod reasons;
mod sample;

pub use findings::{Finding, Verdict, findings};
pub use page::page;
pub use pictures::pictures;
pub use plan::{REPEATS, plan, strokes_plan};
pub use reasons::{Evidence, Reason, reasons};
pub use sample::ThesisRuns;
