//! Snapshots packed on several threads: the bytes do not depend on their number.

use std::sync::Arc;

use phaselock::game::Game;
use phaselock::link::LinkConfig;
use phaselock::server::{Alone, Job, RoomConfig, Workers};
use phaselock_games::skirmish::Skirmish;
use phaselock_testing::{Sim, Wire, room_config};
use phaselock_tests::crowd::Open;

/// Runs each job on its own thread, up to a number at a time.
#[derive(Debug)]
struct Threads(usize);

impl Workers for Threads {
    fn count(&self) -> usize {
        self.0
    }

    fn run<'a>(&self, mut jobs: Vec<Job<'a>>) {
        // In reverse order, which must not matter.
        while !jobs.is_empty() {
            let now = jobs.split_off(jobs.len().saturating_sub(self.0));
            std::thread::scope(|scope| {
                now.into_iter().for_each(|job| drop(scope.spawn(job)));
            });
        }
    }
}

/// Returns all datagrams to the clients of a short game over bad links, some in plain coding.
fn datagrams<G: Game>(workers: Arc<dyn Workers>) -> Vec<Vec<u8>> {
    let config = room_config(3, 8).with(|it| {
        it.players_max = 64;
        it.client_bytes_per_second = 12_000;
    });
    let mut sim = Sim::<G>::with(RoomConfig { workers: Some(workers), ..config });
    for client in 0..24 {
        sim.plain = client % 8 == 7;
        sim.join_bot(LinkConfig { loss: 0.1, ..LinkConfig::delayed(20 + 5 * client, 10) });
    }
    sim.wires = Some(Vec::new());
    sim.run(3.0);
    let wires = sim.wires.take().unwrap_or_default().into_iter();
    wires.filter_map(|wire| if let Wire::Down(bytes) = wire { Some(bytes) } else { None }).collect()
}

fn same_for_any_number<G: Game>() {
    let alone = datagrams::<G>(Arc::new(Alone));
    assert!(alone.len() > 24 * 60, "{} datagrams", alone.len());
    for count in [2, 3, 8] {
        let shared = datagrams::<G>(Arc::new(Threads(count)));
        assert!(shared == alone, "{count} workers make other datagrams");
    }
}

#[test]
fn clients_get_the_same_bytes_from_any_number_of_workers() {
    same_for_any_number::<Skirmish>();
    same_for_any_number::<Open>();
}
