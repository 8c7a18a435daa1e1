//! Scenarios: server and clients in one process.

mod ahead;
mod cards;
mod clock;
mod fuzz;
mod hostile;
mod interest;
mod join;
mod late;
mod packets;
mod play;
mod presentation;
mod quic;
mod rewind;
mod rotation;
mod skirmish;
mod snapshots;
mod stack;
mod tidy;
mod transport;
mod yard;
