//! Headless clients that play by themselves and measure: for load, and for figures.

mod report;

use std::time::Duration;

use phaselock::clock::pll::LoopFilter;
use phaselock::fields::Record;
use phaselock::game::{Bot, Entities, Game, new_bot};
use phaselock::random::Random;
use phaselock::time::{LocalTime, Micros, Rates};
use phaselock::wire::control::{ServerMessage, Welcome};
use phaselock_games::{self as games, Visitor};

use phaselock::client::{Carried, Client, Stats};
use phaselock_lab::record::{MotionFiles, RecordError};
use phaselock_quic::client::{Clock, Event, Handle, Options, State};
pub use report::{LockTimer, Report, Summary};

/// Everything is measured from so long after a welcome on: by then the clock must have locked, and lead
/// and delay must have settled.
const SETTLED: Micros = Micros::from_ms(2000);

/// A game in which a bot plays, whichever it is.
trait Play: Send {
    fn handle_datagram(&mut self, bytes: &[u8], arrival: LocalTime) -> bool;
    fn handle_message(&mut self, message: &ServerMessage);
    /// Plays the ticks that are due; returns the packets to send and when the next tick is.
    fn play(&mut self, now: LocalTime) -> (Vec<Vec<u8>>, LocalTime);
    /// What the server's clock shows now by this client's reckoning, as Unix time.
    fn unix_micros(&self, now: LocalTime) -> i64;
    fn stats(&self) -> &Stats;
    /// Writes down its motion, as far as that is known by now.
    fn record(&mut self, files: &mut MotionFiles, now: LocalTime) -> Result<(), RecordError>;
    /// Leaves the game for the server's next.
    fn leave_game(self: Box<Self>) -> Carried;
    fn rates(&self) -> Rates;
}

struct BotClient<G: Game> {
    client: Client<G>,
    /// What was shown last.
    shown: Entities<G::Entity>,
    bot: Box<dyn Bot<G>>,
    random: Random,
}

impl<G: Game> Play for BotClient<G> {
    fn handle_datagram(&mut self, bytes: &[u8], arrival: LocalTime) -> bool {
        self.client.handle_datagram(bytes, arrival).is_ok()
    }

    fn handle_message(&mut self, message: &ServerMessage) {
        self.client.handle_message(message);
    }

    fn play(&mut self, now: LocalTime) -> (Vec<Vec<u8>>, LocalTime) {
        while let Some(tick) = self.client.poll_tick(now) {
            let (game, me) = (self.client.game(), self.client.player());
            // What a player would see, for by that the server judges its shots.
            let input =
                self.bot.input(game, tick.minus(1), &self.shown, me, &mut self.random).snapped();
            self.client.handle_input(now, tick, input);
        }
        self.shown = self.client.view(now).entities;
        let packets = std::iter::from_fn(|| self.client.poll_transmit()).collect();
        (packets, self.client.next_timeout(now))
    }

    fn unix_micros(&self, now: LocalTime) -> i64 {
        self.client.unix_micros().saturating_add(self.client.server_time(now).0)
    }

    fn stats(&self) -> &Stats {
        self.client.stats()
    }

    fn record(&mut self, files: &mut MotionFiles, now: LocalTime) -> Result<(), RecordError> {
        files.take_from(&mut self.client, now)
    }

    fn leave_game(self: Box<Self>) -> Carried {
        self.client.leave_game()
    }

    fn rates(&self) -> Rates {
        self.client.rates()
    }
}

/// Makes a bot for the game of a welcome.
struct Begin<'a> {
    welcome: &'a Welcome,
    from: From,
    at: LocalTime,
    seed: u64,
    filter: LoopFilter,
    /// Whether its motion is recorded.
    recorded: bool,
}

/// Where it comes from.
enum From {
    /// From outside; when it said hello.
    Hello(LocalTime),
    /// From the server's game before.
    Game(Box<Carried>),
}

impl Visitor for Begin<'_> {
    type Output = Box<dyn Play>;
    fn visit<G: Game>(self) -> Box<dyn Play> {
        let mut client = match self.from {
            From::Hello(sent) => Client::new(self.welcome, sent, self.at),
            From::Game(carried) => Client::follow(self.welcome, *carried, self.at),
        };
        client.set_loop_filter(self.at, self.filter);
        client.record_motion(self.recorded);
        Box::new(BotClient::<G> {
            client,
            shown: Entities::default(),
            bot: new_bot::<G>(),
            random: Random::new(self.seed),
        })
    }
}

/// Joins, plays for a while, leaves, and reports. `seed` is of the bot's own whims, `filter` keeps its
/// clock, and its own motion goes into `files`.
pub async fn run(
    options: Options,
    clock: Clock,
    duration: Duration,
    seed: u64,
    filter: LoopFilter,
    mut files: Option<MotionFiles>,
) -> Report {
    let started = clock.now();
    let mut lock = LockTimer::default();
    let mut handle = Handle::spawn_here(options, clock);
    let mut report = Report::default();
    let mut playing: Option<Box<dyn Play>> = None;
    let mut welcomed = LocalTime(0);
    // What was counted before all had settled, and when that was.
    let mut settled: Option<(LocalTime, Stats)> = None;
    let add = |report: &mut Report, play: &dyn Play, settled: Option<(LocalTime, Stats)>, now| {
        let (since, before) = settled.unwrap_or((now, play.stats().clone()));
        report.add(&play.stats().since(&before), play.rates(), now - since);
    };
    let mut next_tick = LocalTime(i64::MAX / 2);
    let end = tokio::time::sleep(duration);
    tokio::pin!(end);
    loop {
        let ticking = tokio::time::sleep_until(clock.instant(next_tick));
        tokio::select! {
            () = &mut end => break,
            () = ticking, if playing.is_some() => {
                let Some(play) = &mut playing else { continue };
                let now = clock.now();
                let (packets, next) = play.play(now);
                for packet in packets {
                    handle.send(packet);
                }
                // Never at once again: the clock may stand still for lack of news.
                next_tick = next.max(now + Micros(500));
                if now - welcomed > SETTLED {
                    settled.get_or_insert_with(|| (now, play.stats().clone()));
                }
                record(play.as_mut(), &mut files, now);
                if let Some(error) = host_error(play.as_ref(), &clock) {
                    lock.observe(now, error);
                    if settled.is_some() {
                        report.clock_error.push(error);
                    }
                }
            }
            event = handle.recv() => match event {
                Some(Event::Datagram { bytes, arrival }) => {
                    let Some(play) = &mut playing else { continue };
                    if play.handle_datagram(&bytes, arrival) && settled.is_some() {
                        report.round_trip.push(play.stats().round_trip);
                    }
                }
                Some(Event::Message(message)) => {
                    if let Some(play) = &mut playing {
                        play.handle_message(&message);
                    }
                }
                Some(Event::Welcome { welcome, hello_sent, at }) => {
                    let from = From::Hello(hello_sent);
                    let recorded = begin_file(&mut files);
                    let begin = Begin { welcome: &welcome, from, at, seed, filter, recorded };
                    playing = games::visit(&welcome.game, begin);
                    (welcomed, next_tick) = (at, clock.now());
                    settled = None;
                }
                Some(Event::Game { welcome, at }) => {
                    let Some(mut play) = playing.take() else { continue };
                    record(play.as_mut(), &mut files, clock.now());
                    add(&mut report, play.as_ref(), settled.take(), clock.now());
                    let from = From::Game(Box::new(play.leave_game()));
                    let recorded = begin_file(&mut files);
                    let begin = Begin { welcome: &welcome, from, at, seed, filter, recorded };
                    playing = games::visit(&welcome.game, begin);
                    (welcomed, next_tick) = (at, clock.now());
                    if playing.is_none() {
                        report.handle_end(format!("no bot here plays {}", welcome.game));
                        break;
                    }
                }
                Some(Event::State(State::Connected)) => report.connected = true,
                Some(Event::State(State::Waiting { reason, .. } | State::Ended { reason })) => {
                    report.handle_end(reason);
                    if let Some(mut play) = playing.take() {
                        record(play.as_mut(), &mut files, clock.now());
                        add(&mut report, play.as_ref(), settled.take(), clock.now());
                    }
                }
                Some(Event::State(State::Connecting { .. }) | Event::Pinned(_)) => {}
                None => break,
            }
        }
    }
    if let Some(mut play) = playing.take() {
        record(play.as_mut(), &mut files, clock.now());
        add(&mut report, play.as_ref(), settled.take(), clock.now());
    }
    begin_file(&mut files);
    report.lock_secs = lock.locked().map(|at| (at - started).as_secs());
    // What ended by our own wish was no disconnection.
    handle.leave("the bots' time is over").await;
    report
}

/// Writes down what is known of a bot's motion by now.
fn record(play: &mut dyn Play, files: &mut Option<MotionFiles>, now: LocalTime) {
    if let Some(files) = files {
        warn(play.record(files, now));
    }
}

/// What is recorded from here on belongs into another file. Returns whether anything is.
fn begin_file(files: &mut Option<MotionFiles>) -> bool {
    let Some(files) = files else { return false };
    warn(files.begin());
    true
}

/// A recording that ends early is no reason to end the game.
fn warn(recorded: Result<(), RecordError>) {
    if let Err(error) = recorded {
        tracing::error!("{error}");
    }
}

/// How far the client's idea of the server's clock is from the host's clock, if both run on the
/// same host. None if this thread was interrupted while it read the two, again and again.
fn host_error(play: &dyn Play, clock: &Clock) -> Option<Micros> {
    let (now, host) = clock.now_and_unix()?;
    Some(Micros(play.unix_micros(now).saturating_sub(host)))
}
