//! The server's state machines: one world and its members.

pub mod any;
mod broadcast;
mod clock;
mod config;
mod control;
mod conversation;
mod draining;
mod feed;
mod gallery;
mod host;
mod interest;
mod mailbox;
mod member;
mod naming;
mod output;
mod people;
mod presence;
mod reel;
mod room;
mod rotation;
mod seated;
mod seats;
mod simulation;
mod votes;
mod workers;

pub use any::AnyRoom;
pub use config::{RoomConfig, RoomSettings};
pub use control::{Command, CommandError, Event};
pub use interest::{Interest, PlayerInterest};
pub use output::{ClientId, Output};
pub use people::{MemberStats, Mute, Pass, PlayerFigures, Target};
pub use room::Room;
pub use room::checkpoint::{RestoreError, game_of};
pub use rotation::Rotation;
pub use workers::{Alone, Job, Workers};
