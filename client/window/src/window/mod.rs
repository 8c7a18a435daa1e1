//! The window: a menu, and sessions in which a game is drawn and steered.
//!
//! ```text
//! args -> display -> app -+-> menu
//!                         +-> lab
//!                         +-> session -> play (one game's Client) -> skirmish, ... (GameView)
//!                                |
//!                                +-> overlay, developer, graph
//! ```
//!
//! Everything is painted through egui: it smooths edges whatever the display can do, and its fonts
//! are the only ones there are. macroquad opens the window, reads keys and mouse, and keeps the
//! frames coming; a game that wants textures or shaders may draw with it beneath what egui paints.
//!
//! *Invariant:* nothing in here decides anything about the game; it shows what
//! [`phaselock::client::Client`] says and tells it which keys are held.

mod app;
pub(crate) mod args;
mod asteroids;
mod background;
mod camera;
mod developer;
mod display;
mod graph;
mod hands;
mod lab;
mod menu;
mod meter;
mod overlay;
mod paint;
mod palette;
mod particles;
mod platformer;
mod play;
mod presentation;
mod puck;
mod race;
mod rig;
mod rounds;
mod scoreboard;
mod screenshot;
mod session;
mod skirmish;
mod view;

pub(crate) use app::run;
