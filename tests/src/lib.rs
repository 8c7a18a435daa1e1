//! What tests, benches and fuzzers have in common: games made for them, scenes of the real games, recorded
//! motion, and the bodies of the fuzz targets. The simulated world is `phaselock-testing`.

pub mod bench;
pub mod crowd;
pub mod figures;
pub mod fuzz;
pub mod motions;
pub mod showing;
pub mod toy;
pub mod traces;
