//! Makes the frozen tables that snapshots are coded with, from recorded motion and from play.
use phaselock_shared::replicate::Entity;
use phaselock_shared::wire::model::{Counts, Tables};
use phaselock_tests::traces::{Body, Cube, Recorded, Replay};

fn trace<R: Recorded>(path: &str, age: usize, to: &str) {
    let bytes = std::fs::read(path).expect("file");
    let mut replay = Replay::<R>::new(age);
    replay.counts = Some(Counts::new(<R as Entity>::KINDS));
    let mut total = (0, 0, 0, 0, 0);
    for (i, frame) in bytes.chunks_exact(R::BYTES * R::BODIES).enumerate() {
        let s = replay.frame(frame);
        if i >= 60 {
            total.0 += s.bytes;
            total.1 += s.updates;
            total.2 += 1;
            total.3 += s.nanos;
            total.4 += s.header_bytes;
        }
    }
    let n = total.2 as f64;
    eprintln!(
        "{}: {:.1} B/frame, header ~{:.1}, updates/frame {:.1}, {:.3} bits/update, {:.1} us",
        R::TRACE,
        total.0 as f64 / n,
        total.4 as f64 / n,
        total.1 as f64 / n,
        total.0 as f64 * 8.0 / total.1 as f64,
        total.3 as f64 / n / 1000.0
    );
    let counts = replay.counts.take().expect("set");
    let tables = counts.tables(Tables::general());
    for part in counts.bits(&tables) {
        eprintln!(
            "   {:?}",
            part.iter().map(|b| (b / total.1 as f64 * 1000.0).round() / 1000.0).collect::<Vec<_>>()
        );
    }
    //counts.dbg(&tables);
    std::fs::write(to, tables.to_bytes()).expect("written");
}

fn main() {
    let args: Vec<_> = std::env::args().collect();
    match args[1].as_str() {
        "asteroids" => trace::<Body>(&args[2], 3, &args[3]),
        _ => trace::<Cube>(&args[2], 6, &args[3]),
    }
}
