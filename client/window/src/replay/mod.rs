//! A recording in the window: its player, and the bar that shows it.

mod bar;
mod player;

pub(crate) use bar::BAR_HEIGHT;
pub(crate) use player::Player;
