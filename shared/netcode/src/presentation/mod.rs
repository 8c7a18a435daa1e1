//! Presents a game's entities on screen with the methods of [`motion`](crate::motion), one for each
//! entity.

pub mod extrapolation;
pub mod presenter;
