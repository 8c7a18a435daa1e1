//! The way of a game's entities onto the screen: the methods of [`motion`](crate::motion), one for
//! each entity, fed with snapshots and asked for pictures.

pub mod extrapolation;
pub mod presenter;
