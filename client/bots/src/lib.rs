//! Headless clients that play by themselves and measure: for load tests and figures.
//!
//! To build such a program for your own games, pass them to [`run`], which reads the command line:
//!
//! ```no_run
//! # fn main_of<MyGame: phaselock::game::Game>() -> std::process::ExitCode {
//! use phaselock::games::Games;
//!
//! phaselock_bots::run(&Games::new().with::<MyGame>())
//! # }
//! ```

#![cfg_attr(not(test), warn(clippy::too_many_lines, clippy::print_stderr))]

mod program;
mod report;

use std::time::Duration;

use phaselock::client::{Controller, Notice, Session, SessionConfig, State, Stats};
use phaselock::time::{LocalTime, Micros, Rates};
use phaselock_lab::record::{MotionFiles, RecordError};
use phaselock_quic::client::{Driver, Options};
use phaselock_quic::clock::Clock;
pub use program::{command, run};
pub use report::{LockTimer, Report, Summary};

/// Time after joining until measuring begins: the clock, lead and delay must settle first.
const SETTLED: Micros = Micros::from_ms(2000);

/// A bot's stay in one game.
struct Stay {
    controller: Box<dyn Controller>,
    rates: Rates,
    begun: LocalTime,
    next_tick: LocalTime,
    /// The counters at the time when everything had settled, and that time.
    settled: Option<(LocalTime, Stats)>,
}

/// A bot's session.
pub struct BotRun {
    /// The server, and how to reach it.
    pub options: Options,
    /// The bot's name, game and room.
    pub config: SessionConfig,
    /// How long it plays.
    pub duration: Duration,
    /// Determines the bot's decisions.
    pub seed: u64,
    /// Where the bot's motion is written, if anywhere.
    pub files: Option<MotionFiles>,
}

/// Joins a server, plays, leaves, and reports.
pub async fn play(run: BotRun, clock: Clock) -> Report {
    let BotRun { options, config, duration, seed, mut files } = run;
    let started = clock.now();
    let end = started + Micros::from_f64(duration.as_secs_f64() * 1e6);
    let mut lock = LockTimer::default();
    let mut report = Report::default();
    let mut stay: Option<Stay> = None;
    let mut driver = Driver::spawn_here(options, config.clone(), clock);
    if files.is_some() {
        driver.session.record_motion();
    }
    while clock.now() < end && !matches!(driver.session.state(), State::Ended { .. }) {
        let settled = stay.as_ref().is_some_and(|stay| stay.settled.is_some());
        driver.receive_each(|session, _, _| {
            if let Some(stats) = stats(session).filter(|_| settled) {
                report.round_trip.push(stats.round_trip);
            }
        });
        let now = clock.now();
        while let Some(notice) = driver.session.poll_notice() {
            match notice {
                Notice::Game { game, .. } => {
                    add(&mut report, &driver.session, stay.take(), now);
                    report.game.get_or_insert(game);
                    let (entry, client) = (config.games.get(game), driver.session.client());
                    stay = entry.ok().zip(client).map(|(entry, client)| Stay {
                        controller: (entry.autopilot)(seed),
                        rates: client.common().rates(),
                        begun: now,
                        next_tick: now,
                        settled: None,
                    });
                }
                Notice::State(State::Connected) => report.connected = true,
                Notice::State(State::Waiting { reason, .. } | State::Ended { reason }) => {
                    tracing::info!(bot = config.name, %reason, "out of the game");
                    report.handle_end(reason.to_string());
                    add(&mut report, &driver.session, stay.take(), now);
                }
                Notice::State(State::Connecting { .. })
                | Notice::Chat { .. }
                | Notice::Quick { .. }
                | Notice::Mark { .. }
                | Notice::Joined { .. }
                | Notice::Left { .. }
                | Notice::Renamed { .. }
                | Notice::Commands(_)
                | Notice::Refused { .. }
                | Notice::Called { .. }
                | Notice::Voted { .. }
                | Notice::Places { .. }
                | Notice::Event(_) => {}
            }
        }
        if let Some(stay) = stay.as_mut().filter(|stay| now >= stay.next_tick) {
            press(&mut driver.session, stay, now);
            if let Some(error) = host_error(&driver.session, &clock) {
                lock.observe(now, error);
                if stay.settled.is_some() {
                    report.clock_error.push(error);
                }
            }
        }
        if let Some(files) = &mut files {
            warn(files.take_from(&mut driver.session, now));
        }
        driver.transmit();
        driver.wait(end).await;
    }
    add(&mut report, &driver.session, stay.take(), clock.now());
    if let Some(files) = &mut files {
        warn(files.take_from(&mut driver.session, clock.now()));
        warn(files.begin());
    }
    report.lock_secs = lock.locked().map(|at| (at - started).as_secs());
    // Leaving on purpose does not count as a disconnection.
    driver.leave("the bots have finished").await;
    report
}

/// Plays the ticks that are due.
fn press(session: &mut Session, stay: &mut Stay, now: LocalTime) {
    session.press_by(now, &mut *stay.controller);
    session.handle_picture(now);
    let Some(client) = session.client() else { return };
    // Never at once: without packets from the server, the clock may stand still.
    stay.next_tick = client.next_timeout(now).max(now + Micros(500));
    if now - stay.begun > SETTLED {
        stay.settled.get_or_insert_with(|| (now, client.common().stats().clone()));
    }
}

fn stats(session: &Session) -> Option<&Stats> {
    Some(session.client()?.common().stats())
}

/// Adds a stay's measurements, from the time when it had settled.
fn add(report: &mut Report, session: &Session, stay: Option<Stay>, now: LocalTime) {
    if let (Some(stay), Some(stats)) = (stay, stats(session)) {
        let (since, before) = stay.settled.unwrap_or_else(|| (now, stats.clone()));
        report.add(&stats.since(&before), stay.rates, now - since);
    }
}

/// Logs an error of the recording, which is no reason to end the game.
fn warn(recorded: Result<(), RecordError>) {
    if let Err(error) = recorded {
        tracing::error!("{error}");
    }
}

/// Returns the client's server time minus the host's clock, which is an error only if both run on
/// one host. `None` if this thread kept being interrupted while it read the two clocks.
fn host_error(session: &Session, clock: &Clock) -> Option<Micros> {
    let common = session.client()?.common();
    let (now, host) = clock.now_and_unix()?;
    let unix = common.unix_micros().saturating_add(common.server_time(now).0);
    Some(Micros(unix.saturating_sub(host)))
}
