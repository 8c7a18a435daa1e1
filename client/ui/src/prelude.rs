//! Names that nearly every view needs: `use phaselock_ui::prelude::*;`.

pub use egui_macroquad::egui::epaint::{Mesh, PathStroke};
pub use egui_macroquad::egui::{
    Align2, Color32, CornerRadius, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, pos2, vec2,
};
pub use glam::Vec2;
pub use phaselock::game::{Entities, Slot};
pub use phaselock::ids::{EntityId, PlayerId};

pub use super::block::{BlockLine, text_block, text_block_within};
pub use super::brush::Brush;
pub use super::camera::{Camera, ViewBounds};
pub use super::camera_rig::{CameraRig, Shot, ease};
pub use super::controls::{Action, Controls};
pub use super::cues::{ContinuousSound, Cue, CueRumble, Happening, Spark};
pub use super::feed::Feed;
pub use super::inset::{self, Inset};
pub use super::layout::{self, Item, Way};
pub use super::looks::Dress;
pub use super::paint::*;
pub use super::palette;
pub use super::particles::{Fading, Flash, Mote, Particles, Sparks, Trail};
pub use super::scoreboard::{Scoreboard, ghost_gap, name_tag};
pub use super::view::{Frame, GameView, LessonStep, Register, Scene};
pub use super::words::{fill, tr};
