//! Interface between the netcode and games.
//!
//! A game is one implementation of [`Game`]: its input, its entities, its step. The server calls
//! [`Game::step`] with all players' inputs, the client calls [`Game::predict`] with its own; both
//! use the same movement function. The netcode then snaps all entities to the wire's grid, so a
//! client replays from exactly the state that the server has.
//!
//! A [`Kit`] adds bots, rounds, presentation and coding. All of its parts have defaults.
//!
//! *Invariant:* a game never sees a packet, a socket or a wall clock, and the netcode never
//! interprets a field.

mod highlight;
mod inputs;
mod memory;
mod name;
mod outbox;
mod request;
mod rounds;
mod rules;
mod subtick;
mod terms;

pub use crate::fields::{Entities, Slot};
pub use highlight::{Excerpt, Highlight};
pub(crate) use inputs::PlayerInputs;
pub use inputs::{Inputs, Origin, Step};
pub use memory::Memory;
pub(crate) use name::assert_name;
pub(crate) use outbox::Report;
pub use outbox::{MessageError, read_message, write_message};
pub use request::{Request, Setup, apply_request, configured};
pub use rounds::{Place, RoundClock, RoundPart};
pub use rules::{
    Bot, Coding, Configure, Early, Extrapolate, FindHighlight, Game, HandleRequest, Idle, Kit,
    Measure, NewBot, PlaceOf, Profile, PutOn, RunStage, Runs, Sides, StageOf, World, new_bot,
};
pub use subtick::{Subtick, Subticks, Timed};
pub use terms::{
    Ahead, Best, Known, Late, Misprediction, MispredictionCause, Relevance, Strength, Unit,
    Viewpoint,
};
