//! A recording in the window: its download, its player, the bar that shows it, and exports.

mod bar;
mod film;
mod loading;
mod player;

pub(crate) use bar::BAR_HEIGHT;
pub(crate) use film::{Cut, OpenFilm};
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use film::{Film, FilmFormat};
pub(crate) use loading::{Download, Loaded, Loading, Progress};
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use player::CLIP_FPS;
pub(crate) use player::Player;
