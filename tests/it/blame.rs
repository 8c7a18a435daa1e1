//! Why players are corrected, over made-up recordings with outages.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;

use phaselock::client::{Client, Correction, Stats};
use phaselock::game::{Game, MispredictionCause};
use phaselock::link::Conditions;
use phaselock::random::Random;
use phaselock::time::{LocalTime, Rates, Tick};
use phaselock_games::race::Race;
use phaselock_games::skirmish::{self, Skirmish};
use phaselock_testing::{Press, Sim, Skew, bot};

/// Seconds of a run.
const SECS: u32 = 30;

/// A recording with an opportunity each millisecond, except in these times (in milliseconds).
fn recording(pauses: &[Range<u32>]) -> Vec<u8> {
    let mut text = String::new();
    for ms in (1..=SECS * 1000).filter(|ms| !pauses.iter().any(|pause| pause.contains(ms))) {
        writeln!(text, "{ms}").expect("a string takes it");
    }
    text.into_bytes()
}

/// A network with these outages in each direction, and a queue that holds what comes meanwhile.
fn outages(up: &[Range<u32>], down: &[Range<u32>]) -> Conditions {
    with_queue(up, down, "64kB")
}

fn with_queue(up: &[Range<u32>], down: &[Range<u32>], queue: &str) -> Conditions {
    let read = |path: &str| {
        let pauses = if path.ends_with(".up") { up } else { down };
        Ok(Some(recording(pauses)))
    };
    let text = format!("file:made-up,delay=40ms,queue={queue}");
    Conditions::parse(&text, read).expect("it is a network")
}

/// Outages of both directions, of up to three seconds.
fn random_outages(seed: u64) -> Conditions {
    let mut random = Random::new(seed);
    let mut pauses = || {
        let (mut pauses, mut ms) = (Vec::new(), 2000);
        while ms < SECS * 1000 - 4000 {
            let most = random.below(3000);
            let end = ms + 50 + random.below(most + 1);
            pauses.push(ms..end);
            ms = end + 500 + random.below(3000);
        }
        pauses
    };
    let (up, down) = (pauses(), pauses());
    outages(&up, &down)
}

/// A player of Skirmish who runs about and aims.
fn runner(seed: u64) -> Press<Skirmish> {
    let mut random = Random::new(seed);
    let mut command = skirmish::Command::default();
    Box::new(move |_: &Client<Skirmish>, _: Tick| {
        if random.chance(0.1) {
            command.right = random.below(3) as i16 - 1;
            command.down = random.below(3) as i16 - 1;
            command.aim = random.unit();
        }
        command
    })
}

/// A correction, with the ticks in which its fault lies.
#[derive(Debug)]
struct Found {
    correction: Correction,
    ticks: Range<Tick>,
}

/// Outcome of a run.
struct Outcome {
    stats: Stats,
    found: Vec<Found>,
    /// First departure and first arrival of each tick's input.
    ways: BTreeMap<Tick, (LocalTime, Option<LocalTime>)>,
}

impl Outcome {
    /// Whether the server ran a tick without its input, by the simulation's record.
    fn was_late(&self, tick: Tick) -> bool {
        let due = LocalTime(Rates::DEFAULT.time_of(tick).0);
        let came = self.ways.get(&tick).and_then(|(_, came)| *came);
        came.is_none_or(|came| came >= due)
    }

    /// Requires a cause for each correction, and a late input for each that is blamed on one.
    fn check(&self, what: &str) {
        assert_eq!(self.stats.unexplained.count, 0, "{what}: {:?}", self.found);
        for Found { correction, ticks } in &self.found {
            let late = (ticks.start.0..ticks.end.0).any(|tick| self.was_late(Tick(tick)));
            let blamed = correction.cause == Some(MispredictionCause::LateInput);
            assert!(
                !blamed || late,
                "{what}: {correction:?} since {ticks:?}, but all were in time"
            );
        }
    }

    /// Requires that nothing but late inputs caused a correction.
    fn check_undisturbed(&self, what: &str) {
        self.check(what);
        let late = self.stats.missed_by(MispredictionCause::LateInput).count;
        assert_eq!(late, self.stats.mispredictions, "{what}: {:?}", self.found);
    }
}

fn play<G: Game>(conditions: &Conditions, seed: u64, bots: u16, press: Press<G>) -> Outcome {
    let mut sim = Sim::<G>::new(seed, bots);
    let client = sim.join_over(conditions, Skew::default(), press);
    sim.clients[client].ways = Some(BTreeMap::new());
    let (mut before, mut seen, mut found) = (Tick(0), 0, Vec::new());
    sim.run_each(f64::from(SECS), |sim| {
        let Some(core) = sim.clients[client].client() else { return };
        let last = core.stats().last_correction;
        let count = core.stats().mispredictions;
        if let Some(correction) = last.filter(|_| count > seen) {
            found.push(Found { correction, ticks: before.plus(1)..correction.tick.plus(1) });
        }
        seen = count;
        before = core.newest_tick();
        let old = before.minus(2);
        while sim.truth.first_key_value().is_some_and(|(tick, _)| *tick < old) {
            sim.truth.pop_first();
        }
    });
    let client = &sim.clients[client];
    let ways = client.ways.clone().unwrap_or_default();
    Outcome { stats: client.core().stats().clone(), found, ways }
}

#[test]
fn undisturbed_players_are_corrected_only_for_late_inputs_across_outages() {
    for seed in 1..=3 {
        let conditions = random_outages(seed);
        let what = format!("seed {seed}");
        let runs = [
            play(&conditions, seed, 0, runner(seed)),
            play(&conditions, seed, 0, bot::<Race>(seed)),
        ];
        for run in runs {
            run.check_undisturbed(&what);
            assert!(run.stats.late_inputs > 0, "{what}: a network that tests nothing");
        }
    }
}

#[test]
fn a_silent_server_corrects_no_one() {
    // All inputs arrive in time, but no snapshots for up to 2.9 s, in which the player runs into
    // crates. The snapshots come afterwards, or are lost.
    let pauses = [6000..8900, 11_000..12_000, 15_000..17_500, 21_000..23_900];
    for (queue, seed) in [("64kB", 4), ("64kB", 5), ("1500B", 6), ("1500B", 7)] {
        let conditions = with_queue(&[], &pauses, queue);
        let run = play(&conditions, seed, 0, runner(seed));
        let after = run.found.iter().filter(|found| found.correction.tick > Tick(300));
        assert_eq!(after.count(), 0, "seed {seed}: {:?}", run.found);
    }
}

#[test]
fn inputs_after_a_long_silence_of_the_uplink_count_although_many_packets_come_at_once() {
    let conditions = outages(std::slice::from_ref(&(8000..13_500)), &[]);
    let run = play(&conditions, 5, 0, runner(5));
    run.check_undisturbed("uplink");
    // All is normal a second after it.
    let since = Tick(60 * 14 + 30);
    let after: Vec<_> = run.found.iter().filter(|found| found.correction.tick > since).collect();
    assert!(after.is_empty(), "{after:?}");
}

#[test]
fn a_late_input_that_changes_nothing_is_not_blamed_for_what_others_do() {
    let conditions: Conditions = "delay=40ms,loss=40%,burst=12".parse().expect("a link");
    // It stands still, and is shot and pushed.
    let stands = || Box::new(|_: &Client<Skirmish>, _| skirmish::Command::default());
    let (mut late, mut corrections) = (0, 0);
    for seed in 1..=4 {
        let run = play(&conditions, seed, 8, stands());
        run.check(&format!("seed {seed}"));
        late += run.stats.missed_by(MispredictionCause::LateInput).count;
        corrections += run.stats.mispredictions;
        assert!(run.stats.late_inputs > 50, "a network that tests nothing");
    }
    eprintln!("{late} of {corrections} corrections are blamed on late inputs");
    assert!(corrections > 10 && late == 0, "{late} of {corrections}");
}

#[test]
fn rubbing_cars_and_fights_have_their_causes() {
    let mut touched = 0;
    for seed in 1..=2 {
        let conditions = random_outages(seed + 20);
        let cable = "cable".parse().expect("a link");
        let rubbing = play(&cable, seed, 12, bot::<Race>(seed));
        touched += rubbing.stats.missed_by(MispredictionCause::Player).count;
        for outcome in [
            rubbing,
            play(&conditions, seed, 12, bot::<Race>(seed)),
            play(&conditions, seed, 8, bot::<Skirmish>(seed)),
        ] {
            outcome.check(&format!("seed {seed}"));
        }
    }
    assert!(touched > 0, "no car touched another");
}
