//! Recordings of a room: everything that happened in one game, in a file that can be watched from
//! any tick and proven right.
//!
//! A recording is what a spectator who sees everything would be sent, plus every input. It consists
//! of chunks of some seconds, each of which can be read without the others:
//!
//! | part | serves |
//! |---|---|
//! | states of all entities, some per second | watching, by builds with other rules too |
//! | every input, and what the server made of it | re-simulation, explanations |
//! | what happened between ticks: joins, requests | re-simulation |
//! | news: chat, votes, rounds, marks | people |
//! | a checksum for each tick | verification |
//!
//! `REPLAY.md` beside this crate documents every byte. [`Recorder`] writes, [`Replay`] and
//! [`Cursor`] read; none does I/O. [`server::verify`](crate::server::verify) re-simulates.
//!
//! Snapshots are coded for clients that lose packets, with tables trained on the rules of the day
//! and extrapolated by them. A file loses nothing and must outlive its rules. So its coder learns
//! while it goes (`coder.rs`), starts afresh in each chunk, and expects only what the field tables
//! say (`frames.rs`).
//!
//! *Invariants:*
//! - A chunk is decoded from the file alone, without rules.
//! - Every count and length is validated before memory is reserved for it, and what a chunk decodes
//!   to is bounded.
//! - A changed bit is noticed by the checksum of its block.

mod checksum;
mod chunk;
mod chunk_reader;
mod clip;
mod coder;
mod entries;
mod error;
mod file;
mod frames;
mod header;
mod history;
mod moments;
mod reader;
mod recorder;
mod runs;
mod scan;
mod steps;
mod summary;
mod tables;
#[cfg(test)]
mod tests;

pub use checksum::checksum;
pub(crate) use checksum::snapped_checksum;
pub use chunk::{Chunk, Frame, TickRecord};
pub use chunk_reader::OpenChunk;
pub use clip::{clip, start_at};
pub use entries::{Act, Entry, KeyState, News, Player, RewindPolicy};
pub use error::ReplayError;
pub use file::{ChunkEntry, MAGIC};
pub use header::{About, FORMAT, Header, Person};
pub use history::{InputHistory, InputReport, Sight};
pub use moments::{Happening, Moment, MomentFinder};
pub use reader::{Cursor, Replay, read_header, read_span};
pub(crate) use recorder::states_of;
pub use recorder::{Assembly, Pace, Piece, Recorder};
pub(crate) use runs::RunWriter;
pub use runs::{Run, course_of, run_hash};
pub use scan::Damage;
pub use steps::{PlayerSteps, RecordedStep, RecordedView};
pub use summary::Summary;
pub use tables::{Column, ColumnMotion, Table, Tables, Translation};
