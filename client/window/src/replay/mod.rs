//! A recording in the window: its download, its player, the bar that shows it, and exports.

mod bar;
mod film;
mod loading;
mod player;

pub(crate) use bar::BAR_HEIGHT;
pub(crate) use film::{Cut, Film, FilmFormat, OpenFilm};
pub(crate) use loading::{Download, Loaded, Loading, Progress};
pub(crate) use player::{CLIP_FPS, Player};
