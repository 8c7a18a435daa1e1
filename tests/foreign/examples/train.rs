//! Trains the coding tables from play, which takes some seconds: `cargo run --example train`

use phaselock_testing::tables::train_tables;
use tag::Tag;

fn main() -> std::io::Result<()> {
    let trained = train_tables::<Tag>();
    print!("{}", trained.report);
    std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/src/tag.tables"), trained.bytes)
}
