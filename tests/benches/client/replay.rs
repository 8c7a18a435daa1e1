//! A client's recorded session, and its cost when replayed.

use std::time::Instant;

use allocation_counter::measure;
use phaselock::client::{Session, SessionConfig, SessionInput};
use phaselock::fields::Entity;
use phaselock::game::{Entities, Game};
use phaselock::games::Games;
use phaselock::limits::CLIENT_BYTES_MAX;
use phaselock::link::Conditions;
use phaselock::motion::{Choice, Moment};
use phaselock::presentation::presenter::{Presenter, StateArrival};
use phaselock::snapshot::store::Store;
use phaselock::time::{LocalTime, Micros};
use phaselock::wire::control::{ServerMessage, Welcome};
use phaselock::wire::state::Codec;
use phaselock_testing::tables::crowd;
use phaselock_tests::crowd::Open;

/// Seconds before measuring, until queues have grown and clocks are locked.
const SETTLING: f64 = 4.0;
const SEED: u64 = 1;
/// Time between two frames: 60 a second.
const FRAME: Micros = Micros(16_667);

/// A recorded session.
pub(crate) struct Play {
    /// The session's inputs, and the measured time.
    fed: Vec<SessionInput>,
    measured: usize,
    seconds: f64,
}

/// Processor seconds for parts of the measured time, and amounts of work.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Costs {
    /// Seconds of play.
    pub(crate) seconds: f64,
    /// Datagrams in total, and the store's and the presenter's shares.
    pub(crate) datagrams: f64,
    pub(crate) reading: f64,
    pub(crate) keeping: f64,
    /// The player's ticks and their packets.
    pub(crate) ticks: f64,
    pub(crate) pictures: f64,
    /// Number of entities read.
    pub(crate) entities: u64,
    pub(crate) frames: usize,
    /// Allocations, except those of sent packets.
    pub(crate) allocations: u64,
}

fn config() -> SessionConfig {
    let silence_max = Micros(i64::MAX / 2);
    SessionConfig { silence_max, ..SessionConfig::new(Games::new().with::<Open>(), "client") }
}

impl Play {
    /// Records a session with a number of others, for a number of seconds.
    pub(crate) fn record(others: u16, network: &Conditions, seconds: f64) -> Self {
        let mut sim = crowd::<Open>(SEED, others + 1, 1, network, CLIENT_BYTES_MAX);
        sim.frame = FRAME;
        let mut fed = Vec::new();
        sim.clients[0].session.record();
        let mut run = |secs: f64, fed: &mut Vec<SessionInput>| {
            sim.run_each(secs, |sim| {
                sim.truth.clear();
                fed.extend(std::iter::from_fn(|| sim.clients[0].session.poll_input()));
            });
        };
        run(SETTLING, &mut fed);
        let measured = fed.len();
        run(seconds, &mut fed);
        Self { fed, measured, seconds }
    }
}

/// The fastest of several runs of each entry.
#[derive(Debug)]
struct Quickest(Vec<f64>);

impl Quickest {
    fn of(entries: usize) -> Self {
        Self(vec![f64::INFINITY; entries])
    }

    /// Runs an entry once more.
    fn run<T>(&mut self, entry: usize, run: impl FnOnce() -> T) -> T {
        let begin = Instant::now();
        let done = run();
        let took = begin.elapsed().as_secs_f64();
        self.0[entry] = self.0[entry].min(took);
        done
    }

    /// Seconds of all entries.
    fn sum(&self) -> f64 {
        self.0.iter().filter(|secs| secs.is_finite()).sum()
    }
}

/// Feeds an entry of the measured time; the only function for a profiler to measure.
#[inline(never)]
fn measured(session: &mut Session, fed: &SessionInput) {
    session.replay(fed);
}

impl Play {
    /// Replays it a number of times, with the others shown by a method.
    pub(crate) fn costs(&self, method: Choice, passes: u32) -> Costs {
        let mut costs = Costs { seconds: self.seconds, ..Costs::default() };
        let len = self.fed.len();
        let [mut datagrams, mut ticks, mut pictures] = [(); 3].map(|()| Quickest::of(len));
        let [mut reading, mut keeping] = [(); 2].map(|()| Quickest::of(len));
        for pass in 0..passes {
            let mut session = self.settled(method);
            for (at, fed) in self.fed.iter().enumerate().skip(self.measured) {
                let quickest = match fed {
                    SessionInput::Datagram(..) => &mut datagrams,
                    SessionInput::Picture(_) => &mut pictures,
                    _ => &mut ticks,
                };
                quickest.run(at, || measured(&mut session, fed));
            }
            self.parts(method, |at, part, run| match part {
                Part::Reading => reading.run(at, run),
                Part::Keeping => keeping.run(at, run),
            });
            if pass == 0 {
                self.count(method, &mut costs);
            }
        }
        costs.datagrams = datagrams.sum();
        costs.ticks = ticks.sum();
        costs.pictures = pictures.sum();
        costs.reading = reading.sum();
        costs.keeping = keeping.sum();
        costs
    }

    /// Returns a session at the beginning of the measured time.
    fn settled(&self, method: Choice) -> Session {
        let mut session = Session::new(config(), LocalTime(0));
        session.handle_connected(LocalTime(0), Default::default());
        for fed in &self.fed[..self.measured] {
            let is_first = session.client().is_none();
            session.replay(fed);
            if is_first && session.client().is_some() {
                (0..kinds()).for_each(|kind| session.choose(kind, method));
            }
        }
        session
    }

    /// Counts entities read and allocations.
    fn count(&self, method: Choice, costs: &mut Costs) {
        let mut session = self.settled(method);
        let read = |session: &Session| {
            session.client().map_or(0, |client| client.common().stats().entity_updates)
        };
        let before = read(&session);
        for fed in &self.fed[self.measured..] {
            costs.allocations += measure(|| session.replay(fed)).count_total;
            costs.frames += usize::from(matches!(fed, SessionInput::Picture(_)));
        }
        costs.entities = read(&session) - before;
    }

    /// Runs store and presenter separately; `run` gets the entry of the measured time and the part.
    fn parts(&self, method: Choice, mut run: impl FnMut(usize, Part, &mut dyn FnMut())) {
        let welcome = self.welcome();
        let game = Open::new(welcome.rates, welcome.seed);
        let mut store = Store::<Open>::new(Codec::new(welcome.rates), welcome.player, welcome.tick);
        let mut presenter = Presenter::<Open>::new(welcome.rates);
        (0..kinds()).for_each(|kind| presenter.choose(kind, method));
        let (mut shown, mut last) = (Entities::default(), LocalTime(0));
        for (at, fed) in self.fed.iter().enumerate() {
            let mut part = |part, work: &mut dyn FnMut()| {
                if at < self.measured { work() } else { run(at, part, work) }
            };
            match fed {
                SessionInput::Datagram(arrival, bytes) => {
                    let mut received = None;
                    part(Part::Reading, &mut || {
                        received = store.handle_packet(&game, bytes).ok();
                    });
                    let Some(received) = received else { continue };
                    part(Part::Keeping, &mut || {
                        for told in store.updates() {
                            let (index, tick) = (told.index, received.tick);
                            let heard = StateArrival {
                                index,
                                tick,
                                arrival: secs(*arrival),
                                early: store.early(index),
                            };
                            presenter.handle(&game, heard, told.state.as_ref());
                        }
                    });
                }
                SessionInput::Picture(now) => {
                    let interval = welcome.rates.snapshot_interval().as_secs();
                    let past = secs(*now) - DELAY_SECS;
                    let moment = Moment { now: secs(*now), past, interval };
                    presenter.show(&game, moment, (*now - last).as_secs(), &mut shown);
                    last = *now;
                }
                _ => {}
            }
        }
    }

    fn welcome(&self) -> Welcome {
        let welcome = self.fed.iter().find_map(|fed| match fed {
            SessionInput::Control(_, body) => match ServerMessage::parse(body) {
                Ok(ServerMessage::Welcome(welcome)) => Some(welcome),
                _ => None,
            },
            _ => None,
        });
        welcome.expect("the room lets the client in")
    }
}

/// A part of a datagram's cost.
#[derive(Clone, Copy, Debug)]
enum Part {
    Reading,
    Keeping,
}

/// Interpolation delay of the separate presenter: about the session's.
const DELAY_SECS: f64 = 0.1;

/// The room's clock equals the client's, from 0 on.
fn secs(time: LocalTime) -> f64 {
    time.0 as f64 / 1e6
}

fn kinds() -> u8 {
    <Open as Game>::Entity::KINDS.len() as u8
}
