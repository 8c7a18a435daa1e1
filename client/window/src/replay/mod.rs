//! A recording in the window: its download, its player, the bar that shows it, and exports.

mod bar;
mod export;
mod film;
mod loading;
mod player;
#[cfg(test)]
mod tests;

#[cfg(not(target_arch = "wasm32"))]
pub(crate) use export::CLIP_FPS;
pub(crate) use film::{Cut, OpenFilm};
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use film::{Film, FilmFormat};
pub(crate) use loading::{Download, Loaded, Loading, Progress};
pub(crate) use player::Player;
