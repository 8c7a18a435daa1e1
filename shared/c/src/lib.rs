//! Phaselock's client as a C library: join a server, send inputs, read entities and events.
//!
//! The interface is `include/phaselock.h`, which documents each function; the guide is `README.md`.
//! No Rust type crosses it. A game is described by data, as `phaselock-server describe GAME` prints
//! it, so one library plays every game. The rules stay on the server; a program that predicts its
//! player gives a function for it.
//!
//! | module | holds |
//! |---|---|
//! | `error` | what a call may fail with: a code, a text, a detail |
//! | `layout` | the structures and constants of the header |
//! | `description` | a game's description: parsed, validated, kept |
//! | `described` | a [`Game`](phaselock::game::Game) whose records are those of a description |
//! | `play` | a session as C sees it: frames, entities, events; no I/O |
//! | `guest` | a player on a server: the session, and its thread for the network |
//! | `registry` | games and players by handle |
//! | `raw` | pointers: null, alignment, lengths, UTF-8 |
//! | `exports` | the exported functions |
//! | `fuzzing` | what the fuzz targets call; not part of the interface |
//!
//! `unsafe` is denied except in `raw` and `exports`, which read and write the memory that C passes,
//! in the one call of a C function, in `described`, and in a stand-in for one, in `fuzzing`.
//! Everything else is safe Rust.
//!
//! *Invariants:*
//! - No panic crosses the interface: it becomes [`PHASELOCK_BROKEN`](exports); after that, the
//!   client can only be closed.
//! - Clients are numbers, not pointers. A closed one is not found, so it cannot be used after it
//!   was freed.
//! - C's memory is read or written only during a call, never kept.

pub mod exports;
#[doc(hidden)]
pub mod fuzzing;

mod described;
mod description;
mod error;
mod guest;
pub mod layout;
mod play;
mod raw;
mod registry;
