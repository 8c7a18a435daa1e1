//! Play over recorded networks with the real drivers, quinn and TLS, in virtual time.

use std::sync::Arc;
use std::time::Duration;

use phaselock::client::{Autopilot, Controller, SessionConfig, State, Stats};
use phaselock::time::{LocalTime, ServerTime};
use phaselock::wire::disconnect::{Code, Disconnect};
use phaselock_games::all as all_games;
use phaselock_games::skirmish::Skirmish;
use phaselock_quic::client::{Driver, Options, Pins};
use phaselock_quic::clock::Clock;
use phaselock_quic::server::Server;
use phaselock_testing::ether::Ether;
use phaselock_testing::room_config;
use tokio::time::{Instant, sleep_until};

use super::{Course, NetworkFigures, START, Sample, judge, sample};
use crate::identity::{same_identity, same_player};

/// Time from frame to frame of the client.
const FRAME: Duration = Duration::from_millis(8);
/// How long the client's machine has been up when it starts.
const UP: LocalTime = LocalTime(3 * 3_600_000_000);

/// Plays Skirmish with the real drivers over an in-memory network. Fails without a key or a server.
pub fn over_quic(course: &Course) -> anyhow::Result<NetworkFigures> {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().start_paused(true).build()?.block_on(play(course))
}

async fn play(course: &Course) -> anyhow::Result<NetworkFigures> {
    let games = all_games().select(&["skirmish"])?;
    let ether = Ether::default();
    let socket = ether.socket();
    let address = socket.address().to_string().parse()?;
    let server = Server::with_controller(socket, &same_identity()?, None, Some(1))?;
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let config = room_config(course.seed, course.bots);
    let start = Instant::now();
    let server = tokio::spawn(async move {
        let shutdown = async {
            let _ended: Result<(), _> = stopped.await;
            Disconnect::new(Code::Shutdown, "the run is over")
        };
        server.run(&games, config, shutdown).await;
    });

    let (keys, _directory) = same_player(course.seed)?;
    let mut conditions = course.conditions.clone();
    conditions.seed = conditions.seed.wrapping_add(course.seed);
    let options = Options {
        link: Some(conditions.clone()),
        sockets: Arc::new(ether.clone()),
        keys,
        seed: Some(course.seed),
        ..Options::new(address, Pins::Memory)
    };
    let config = SessionConfig::new(all_games(), "Ada");
    let mut driver = Driver::spawn_here(options, config, Clock::start_at(UP));
    let mut controller = Autopilot::<Skirmish>::new(course.seed);
    let mut samples: Vec<Sample> = Vec::new();
    let (mut was_in, mut losses) = (false, 0);
    let mut at_start = Stats::default();
    let end = start + Duration::from_secs_f64(course.secs);
    let mut frame = start;
    while frame < end {
        frame += FRAME;
        sleep_until(frame).await;
        let elapsed = start.elapsed().as_micros() as i64;
        let is_in = step(&mut driver, &mut controller);
        losses += usize::from(was_in && !is_in);
        was_in = is_in;
        if let Some(core) = driver.session.client_of::<Skirmish>().filter(|_| is_in) {
            let error = core.server_time(driver.clock().now()) - ServerTime(elapsed);
            if LocalTime(elapsed) < LocalTime(0) + START {
                at_start = core.stats().clone();
            }
            samples.push(sample(core, LocalTime(elapsed), error.as_ms()));
        }
    }
    let mut figures = NetworkFigures {
        network: course.conditions.to_string(),
        game: "skirmish, QUIC",
        losses: Some(losses),
        ..NetworkFigures::default()
    };
    judge(&mut figures, &samples, &conditions, course.secs);
    if let Some(core) = driver.session.client_of::<Skirmish>() {
        figures.count(core.stats(), course.secs);
        let stats = core.stats().since(&at_start);
        figures.late_per_million = stats.late_inputs as f64 * 1e6 / stats.ticks.max(1) as f64;
        figures.down_bytes_per_s = core.stats().rx_bytes as f64 / course.secs;
    }
    driver.leave("the run is over").await;
    let _sent: Result<(), ()> = stop.send(());
    server.await?;
    Ok(figures)
}

/// Passes a frame, and returns whether the client is in the game.
fn step(driver: &mut Driver, controller: &mut dyn Controller) -> bool {
    driver.receive_each(|_, _, _| {});
    while driver.session.poll_notice().is_some() {}
    let now = driver.clock().now();
    driver.session.handle_frame(now);
    driver.session.press_by(now, controller);
    driver.session.handle_picture(now);
    driver.transmit();
    *driver.session.state() == State::Connected
}
