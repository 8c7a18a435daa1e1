//! Allocations, counted per thread by this program's own allocator.

mod decoders;
mod frames;
mod measure;
mod room;
mod steady;
