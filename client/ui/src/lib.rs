//! Toolkit for views of games: painting, layout, text, languages, controls, gamepads and cues. It
//! knows no session and no network.
//!
//! A view implements [`GameView`](view::GameView) and begins with `use phaselock_ui::prelude::*;`.
//! The window around it is in `phaselock-client`.
//!
//! ```text
//! view      what a view is, and what it is given each frame
//! paint     -> brush (a world through a camera), particles, inset (panels that grow), block
//! layout    who stands where over the world, so that nothing overlaps
//! controls  actions <- bindings <- keys, mouse, gamepad, glass
//! cues      what is heard and felt -> phaselock_sound
//! words     the player's language;  letters: fonts and scripts
//! renderer  egui's triangles to the graphics card
//! ```
//!
//! egui paints everything and smooths edges on every display. A view may use macroquad's textures
//! and shaders beneath egui.
//!
//! *Invariant:* nothing in this crate decides what a player may do, opens a connection, or reads
//! one of the player's files.

#![cfg_attr(not(test), warn(clippy::too_many_lines, clippy::print_stderr))]

pub mod actions;
pub mod background;
pub mod bindings;
pub mod block;
pub mod brush;
pub mod camera;
pub mod camera_rig;
pub mod color_vision;
pub mod controls;
pub mod cues;
pub mod explain;
pub mod feed;
pub mod gamepad;
pub mod glass;
pub mod inset;
pub mod layout;
pub mod lesson;
pub mod letters;
pub mod look;
pub mod looks;
pub mod navigate;
pub mod paint;
pub mod palette;
pub mod particles;
pub mod parts;
pub mod prelude;
pub mod renderer;
pub mod ruling;
pub mod scoreboard;
pub mod screenshot;
pub mod typing;
pub mod view;
pub mod words;
