//! Measures one crowd on Phaselock and on other libraries.
//!
//! A [`run`](run::run) starts a server process and a load process for each library and number of
//! clients, and prints a table. The [`scene`] knows no network, `course` is the course of each
//! measurement, and `series` has its samples over time; the other modules are the libraries.

pub mod arguments;
mod course;
mod floor;
mod load;
mod namespaces;
mod on_renet;
mod on_replicon;
pub mod ours;
mod process;
mod quic;
mod run;
mod scene;
mod series;
mod strain;
mod table;
mod watch;
mod wired;
