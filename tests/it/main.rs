//! Scenarios: server and clients in one process.

mod ahead;
mod asteroids;
mod cards;
mod clock;
mod fuzz;
mod hostile;
mod interest;
mod join;
mod lab;
mod late;
mod motion;
mod packets;
mod platformer;
mod play;
mod presentation;
mod puck;
mod quic;
mod race;
mod rewind;
mod rotation;
mod skirmish;
mod snapshots;
mod stack;
mod tidy;
mod transport;
mod yard;
