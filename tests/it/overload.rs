//! A server with too little time: all clients get fewer snapshots, and nothing else suffers.

use crate::games::runners::Runners;
use phaselock::client::Stats;
use phaselock::link::LinkConfig;
use phaselock::time::{Micros, Rates};
use phaselock_testing::{Sim, room_config};

/// More clients than are packed together.
const PLAYERS: usize = 40;
const LINK: LinkConfig = LinkConfig::delayed(30, 2);

/// Plays for a number of seconds.
#[derive(Debug)]
struct Watched {
    /// Snapshot rate of each client over these seconds.
    stats: Vec<Stats>,
    secs: f64,
    /// The world's largest distance from its clock, in ticks.
    behind: f64,
    /// The largest error of any client's clock, in milliseconds.
    off_ms: f64,
    /// The highest age of the newest snapshot at any client.
    age_ms: f64,
    /// The longest interpolation delay of any client at the end.
    delay_ms: f64,
}

impl Watched {
    fn new(sim: &mut Sim<Runners<false>>, secs: f64) -> Self {
        let stats = |sim: &Sim<_>| -> Vec<_> {
            sim.clients.iter().map(|client| client.core().stats().clone()).collect()
        };
        let before = stats(sim);
        let (mut behind, mut off_ms, mut age_ms) = (0.0_f64, 0.0_f64, 0.0_f64);
        let rates = Rates::DEFAULT;
        sim.run_each(secs, |sim| {
            let late = sim.now.0 - rates.time_of(sim.room.tick()).0;
            behind = behind.max(Micros(late).as_secs() * f64::from(rates.tick_hz));
            // Only at frames, since it takes long.
            if sim.now.0 % sim.frame.0 != 0 {
                return;
            }
            for client in &sim.clients {
                off_ms = off_ms.max(client.clock_error_ms(sim.now).abs());
                let newest = rates.time_of(client.core().newest_tick());
                age_ms = age_ms.max(Micros(sim.now.0 - newest.0).as_ms());
            }
        });
        let after = stats(sim);
        let counted = after.iter().zip(&before).map(|(after, before)| after.since(before));
        let delays = sim.clients.iter().map(|client| client.core().delay().delay().as_ms());
        let delay_ms = delays.fold(0.0, f64::max);
        Self { stats: counted.collect(), secs, behind, off_ms, age_ms, delay_ms }
    }

    /// The lowest and the highest snapshot rate of any client.
    fn rates(&self) -> (f64, f64) {
        let rates = self.stats.iter().map(|stats| stats.snapshots as f64 / self.secs);
        rates.fold((f64::MAX, 0.0), |(low, high), rate| (low.min(rate), high.max(rate)))
    }

    fn late_inputs(&self) -> u64 {
        self.stats.iter().map(|stats| stats.late_inputs).sum()
    }
}

#[test]
fn a_server_short_of_time_sends_fewer_snapshots_to_all_and_recovers() {
    for (takes, rate) in [(Micros(1000), 22.0), (Micros(3000), 7.8)] {
        let config = room_config(1, 0).with(|it| it.players_max = PLAYERS as u16);
        let mut sim = Sim::<Runners<false>>::with(config);
        sim.frame = Micros::from_ms(16);
        sim.datagram_takes = Micros(100);
        for _ in 0..PLAYERS {
            sim.join_bot(LINK);
        }
        sim.run(6.0);
        let calm = Watched::new(&mut sim, 3.0);
        let (low, high) = calm.rates();
        assert!(low > 29.5 && high < 30.5, "{low} to {high} snapshots a second");

        // The server's time suffices for 25 snapshots a second, or for 8.3; it is never idle.
        sim.datagram_takes = takes;
        sim.run(1.0);
        let busy = Watched::new(&mut sim, 4.0);
        let (low, high) = busy.rates();
        assert!(low >= rate && high <= low + 0.5, "{low} to {high} snapshots a second, {takes}");
        // A tick waits for the snapshots that are packed together.
        let most = 1.2 + 16.0 * takes.as_secs() * 60.0;
        assert!(busy.behind < most, "the world was {} ticks behind, {takes}", busy.behind);
        assert_eq!(busy.late_inputs(), calm.late_inputs(), "of {PLAYERS} players");
        assert!(busy.off_ms < 3.0, "a clock was off by {} ms", busy.off_ms);
        // Two snapshot intervals, the path, and a tick.
        let most = 2000.0 / low + 32.0 + 17.0;
        assert!(busy.age_ms < most, "a snapshot was {} ms old, {takes}", busy.age_ms);
        assert!(sim.clients.iter().all(|client| client.closed.is_none()));

        sim.datagram_takes = Micros(100);
        sim.run(2.0);
        let after = Watched::new(&mut sim, 3.0);
        let (low, high) = after.rates();
        assert!(low > 29.5 && high < 30.5, "{low} to {high} snapshots a second afterwards");
        assert!(after.age_ms <= calm.age_ms + 1.0, "{} and {} ms", after.age_ms, calm.age_ms);
        assert!(after.off_ms <= calm.off_ms + 1.0, "{} and {} ms", after.off_ms, calm.off_ms);
        assert_eq!(after.late_inputs(), 0);
        // The interpolation delay remembers bad times for a while.
        let before = calm.delay_ms;
        sim.run(10.0);
        let delay = Watched::new(&mut sim, 1.0).delay_ms;
        assert!(delay <= before + 3.0, "others are shown {delay} ms late, before {before}");
        assert!((0..PLAYERS).all(|client| sim.check_store(client) > 0));
    }
}
