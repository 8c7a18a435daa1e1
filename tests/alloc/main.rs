//! Allocations, counted thread by thread by an allocator that is this program's own.

mod decoders;
mod frames;
mod measure;
mod room;
mod steady;
