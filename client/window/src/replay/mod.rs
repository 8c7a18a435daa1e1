//! A recording in the window: its download, its player, and the bar that shows it.

mod bar;
mod loading;
mod player;

pub(crate) use bar::BAR_HEIGHT;
pub(crate) use loading::{Download, Loaded, Loading, Progress};
pub(crate) use player::Player;
