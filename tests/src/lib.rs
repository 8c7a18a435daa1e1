//! Shared parts of tests, benches and fuzzers: a toy game, crowded scenes, recorded motion,
//! tables of figures, test vectors of the wire, and the bodies of the fuzz targets. The simulated
//! world is `phaselock-testing`.

pub mod bench;
pub mod crowd;
pub mod early;
pub mod figures;
pub mod fuzz;
pub mod identity;
pub mod meadows;
pub mod motions;
pub mod networks;
pub mod showing;
pub mod toy;
pub mod traces;
pub mod unplayed;
pub mod vectors;
