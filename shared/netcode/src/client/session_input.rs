//! A recording of a session's input. Another session that replays it makes the same pictures.

use serde::{Deserialize, Serialize};

use super::ghosts::GhostChoice;
use crate::clock::pll::LoopFilter;
use crate::identity::Credentials;
use crate::motion::choice::Choice;
use crate::time::LocalTime;
use crate::wire::disconnect::Disconnect;
use crate::wire::round::RoundRequest;
use crate::wire::talk::{Audience, Look, Mark};

/// Input of a [`Session`](super::Session), with the client's time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum SessionInput {
    /// [`Session::handle_connected`](super::Session::handle_connected).
    Connected(LocalTime, Credentials),
    /// [`Session::handle_control`](super::Session::handle_control) with the message's body.
    Control(LocalTime, Vec<u8>),
    /// [`Session::handle_datagram`](super::Session::handle_datagram).
    Datagram(LocalTime, Vec<u8>),
    /// [`Session::handle_lost`](super::Session::handle_lost).
    Lost(LocalTime, Disconnect),
    /// [`Session::handle_timeout`](super::Session::handle_timeout).
    Timeout(LocalTime),
    /// The start of a frame in which controls were read.
    Frame(LocalTime),
    /// [`Session::press`](super::Session::press) with the packed inputs of the due ticks.
    Press(LocalTime, Vec<Vec<u32>>),
    /// [`Session::press_frame`](super::Session::press_frame) with the packed input of the frame.
    PressFrame(LocalTime, Vec<u32>),
    /// [`Session::picture`](super::Session::picture).
    Picture(LocalTime),
    /// [`Session::choose`](super::Session::choose).
    Choose(u8, Choice),
    /// [`Session::set_loop_filter`](super::Session::set_loop_filter).
    LoopFilter(LocalTime, LoopFilter),
    /// [`Session::say`](super::Session::say).
    Chat(Audience, String),
    /// [`Session::say_quick`](super::Session::say_quick).
    Quick(Audience, u8),
    /// [`Session::mark`](super::Session::mark).
    Mark(Audience, Mark),
    /// [`Session::restyle`](super::Session::restyle).
    Restyle(String, Look),
    /// [`Session::request`](super::Session::request) with the request's bytes.
    Request(Vec<u8>),
    /// [`Session::ask_round`](super::Session::ask_round).
    Round(RoundRequest),
    /// [`Session::watch`](super::Session::watch).
    Watch(bool),
    /// [`Session::leave`](super::Session::leave).
    Leave(String),
    /// [`Session::set_input_delay`](super::Session::set_input_delay).
    InputDelay(u8),
    /// [`Session::choose_ghost`](super::Session::choose_ghost).
    Ghost(GhostChoice),
}
