//! Trains the tables of the crowd's game: `cargo run --release --example train`

use peers::ours::game::Crowd;
use phaselock_testing::tables::train_tables;

fn main() -> std::io::Result<()> {
    let trained = train_tables::<Crowd>();
    print!("{}", trained.report);
    std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/src/ours/crowd.tables"), trained.bytes)
}
