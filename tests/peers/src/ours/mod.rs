//! Phaselock: the real server, a crowd of light clients, and watchers with the real session.

pub mod game;
mod light;

use std::future::pending;
use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Result, bail};
use phaselock::client::{SessionConfig, State};
use phaselock::fields::Entity as _;
use phaselock::game::Game as _;
use phaselock::games::Games;
use phaselock::ids::PlayerId;
use phaselock::server::RoomConfig;
use phaselock::time::{Micros, Rates};
use phaselock_quic::address::Address;
use phaselock_quic::client::{Driver, Options, Pins};
use phaselock_quic::clock::Clock;
use phaselock_quic::doorkeeping::Doorkeeping;
use phaselock_quic::identity::Identity;
use phaselock_quic::server::Server;

use crate::course::{Task, say};
use crate::load::{self, Client};
use crate::scene;
use crate::watch::Seen;
use game::{Crowd, Mover, Press};

/// Byte budget per client and second: more than the scene takes, so that nothing waits.
const CLIENT_BYTES_PER_SECOND: u32 = 1_000_000;

/// Serves the scene until the process is killed, as the dedicated server does.
pub fn serve(address: SocketAddr, clients: u16) -> Result<()> {
    let (tables, kinds) = ((Crowd::KIT.coding.tables)(), Mover::KINDS);
    if !(tables.fit(kinds) && tables.are_of(kinds)) {
        bail!("the crowd's tables are of another build; make them with the example `train`");
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let server = Server::bind(address, &Identity::ephemeral()?)?;
        // All clients share one address or network.
        let server = server.with_doorkeeping(Doorkeeping::open());
        say(&server.address().port().to_string())?;
        let config = RoomConfig {
            rates: Rates { tick_hz: scene::TICK_HZ, snapshot_hz: scene::SNAPSHOT_HZ }.validate()?,
            ..RoomConfig::default()
        }
        .with(|it| {
            it.players_max = clients;
            it.client_bytes_per_second = CLIENT_BYTES_PER_SECOND;
        });
        server.run(&Games::new().with::<Crowd>(), config, pending()).await;
        Ok(())
    })
}

/// Joins the server with all clients, and measures.
pub fn load(task: Task) -> Result<()> {
    let (server, clock) = (task.server, Clock::start());
    load::run(task, task.clients - task.watchers(), |index, client, phase| async move {
        match index < task.watchers() {
            true => watch(server, clock, client).await,
            false => light::play(server, index, clock, client, phase).await,
        }
    })
}

/// Plays with the real session forever, and checks all received states.
async fn watch(server: SocketAddr, clock: Clock, client: Arc<Client>) -> Result<()> {
    let options = Options::new(Address::from(server), Pins::Memory);
    let config = SessionConfig::new(Games::new().with::<Crowd>(), "Watcher");
    let mut driver = Driver::spawn_here(options, config, clock);
    let mut seen = Seen::default();
    loop {
        driver.receive_each(|session, received, _| {
            let Some(playing) = session.client_of::<Crowd>() else { return };
            let told = playing.store().updates();
            let states = told.iter().filter_map(|it| Some((it.index, it.state.as_ref()?)));
            let others = states.filter(|(_, state)| state.owner != Some(playing.player()));
            let others = others.map(|(index, state)| {
                (u64::from(index), state.to_slot::<Mover>(index).entity.state())
            });
            client.update(|counts| {
                seen.see(counts, received.tick.0, others);
                counts.late = playing.stats().late_inputs;
            });
        });
        if let State::Ended { reason } | State::Waiting { reason, .. } = driver.session.state() {
            bail!("a watcher is out of the game: {reason}");
        }
        let now = clock.now();
        driver.session.press::<Crowd>(now, |playing, tick| {
            let PlayerId(player) = playing.player();
            client.update(|counts| counts.inputs += 1);
            Press::of(scene::input(player.into(), tick.0))
        });
        driver.transmit();
        driver.wait(now + Micros::from_ms(50)).await;
    }
}
