//! A recording of what went into a session: fed to another one, it makes the same pictures.

use serde::{Deserialize, Serialize};

use crate::clock::pll::LoopFilter;
use crate::motion::choice::Choice;
use crate::time::LocalTime;

/// Something that went into a [`Session`](super::Session), with the client's time at which it did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Fed {
    /// [`Session::handle_connected`](super::Session::handle_connected).
    Connected(LocalTime),
    /// [`Session::handle_control`](super::Session::handle_control) with the message's body.
    Control(LocalTime, Vec<u8>),
    /// [`Session::handle_datagram`](super::Session::handle_datagram).
    Datagram(LocalTime, Vec<u8>),
    /// [`Session::handle_lost`](super::Session::handle_lost) with the reason and whether to try
    /// again.
    Lost(LocalTime, String, bool),
    /// [`Session::handle_timeout`](super::Session::handle_timeout).
    Timeout(LocalTime),
    /// The frame at which keys were read.
    Frame(LocalTime),
    /// [`Session::press`](super::Session::press) with the packed inputs of the ticks that were
    /// due.
    Press(LocalTime, Vec<Vec<u32>>),
    /// [`Session::view`](super::Session::view): a picture.
    Picture(LocalTime),
    /// [`Session::choose`](super::Session::choose).
    Choose(u8, Choice),
    /// [`Session::set_loop_filter`](super::Session::set_loop_filter).
    LoopFilter(LocalTime, LoopFilter),
    /// [`Session::leave`](super::Session::leave).
    Leave(String),
}
