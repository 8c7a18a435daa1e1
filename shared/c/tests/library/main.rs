//! The exported functions, called as C calls them: a game over a real socket, mistakes, and hostile
//! arguments in any order.
#![allow(unsafe_code, reason = "calls the functions that C calls")]

mod hostile;
mod line;
mod mistakes;
mod play;
