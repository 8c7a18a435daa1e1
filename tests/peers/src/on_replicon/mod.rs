//! bevy_replicon over renet: the server is a Bevy app without a window, on one thread.

mod light;
mod shared;

use std::net::{SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use bevy::app::PluginsState;
use bevy::prelude::*;
use bevy_replicon::client::confirm_history::ConfirmHistory;
use bevy_replicon::prelude::*;
use bevy_replicon::server::server_tick::ServerTick;
use bevy_replicon::shared::backend::connected_client::NetworkId;
use bevy_replicon_renet::netcode::{NetcodeClientTransport, NetcodeServerTransport};
use bevy_replicon_renet::{
    RenetClient, RenetServer, RepliconRenetClientPlugin, RepliconRenetServerPlugin,
};
use renet::ConnectionConfig;

use crate::course::{Counts, Task, say};
use crate::load::source;
use crate::scene::{self, Input, State};
use crate::watch::Seen;
use crate::wired::{self, Playing};
use shared::{Mover, Owner, Press, app, config};

/// A player on the server: its state, the tick of its newest input, and that input.
#[derive(Component)]
struct Body {
    state: State,
    newest: u32,
    input: Input,
}

/// Serves the scene until the process is killed.
pub fn serve(address: SocketAddr, clients: u16) -> Result<()> {
    let (transport, port) = wired::listen(address, clients)?;
    // A snapshot is sent when its tick is counted, below.
    let server = ServerPlugin { tick_schedule: None, ..ServerPlugin::default() };
    let mut app = app(|plugins| {
        plugins.disable::<ClientPlugin>().disable::<ClientMessagePlugin>().set(server)
    });
    app.add_plugins(RepliconRenetServerPlugin)
        .add_observer(join)
        .add_systems(Update, (press, step, send_state).chain());
    finish(&mut app);
    let config = config(&app)?;
    app.insert_resource(RenetServer::new(config))
        .insert_resource(NetcodeServerTransport(transport));
    say(&port.to_string())?;
    let length = Duration::from_secs(1) / scene::TICK_HZ;
    let mut due = Instant::now();
    loop {
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        due += length;
        app.update();
    }
}

fn finish(app: &mut App) {
    while app.plugins_state() == PluginsState::Adding {
        std::thread::yield_now();
    }
    app.finish();
    app.cleanup();
}

fn join(connected: On<Add, NetworkId>, ids: Query<&NetworkId>, mut commands: Commands) {
    let Ok(id) = ids.get(connected.entity) else { return };
    let state = scene::start(id.get());
    let body = Body { state, newest: 0, input: Input::default() };
    let owner = Owner(id.get() as u16);
    commands.entity(connected.entity).insert((Replicated, owner, Mover::of(&state), body));
}

fn press(mut presses: MessageReader<FromClient<Press>>, mut bodies: Query<&mut Body>) {
    for FromClient { client_id, message } in presses.read() {
        let body = client_id.entity().and_then(|entity| bodies.get_mut(entity).ok());
        let (tick, input) = message.input();
        if let Some(mut body) = body.filter(|body| tick >= body.newest) {
            (body.newest, body.input) = (tick, input);
        }
    }
}

fn step(mut bodies: Query<&mut Body>) {
    for mut body in &mut bodies {
        let input = body.input;
        scene::step(&mut body.state, &input);
    }
}

/// Passes the states to replicon, only at snapshots.
fn send_state(
    mut count: Local<u32>,
    mut tick: ResMut<ServerTick>,
    mut movers: Query<(&Body, &mut Mover)>,
) {
    *count += 1;
    if (*count).is_multiple_of(scene::TICK_HZ / scene::SNAPSHOT_HZ) {
        tick.increment();
        for (body, mut mover) in &mut movers {
            *mover = Mover::of(&body.state);
        }
    }
}

/// Joins the server with all clients, and measures.
pub fn load(task: Task) -> Result<()> {
    let mut template = app(|plugins| plugins);
    finish(&mut template);
    let config = config(&template)?;
    wired::run(task, task.clients - task.watchers(), |index| {
        let (server, player) = (task.server, index as u64);
        match index < task.watchers() {
            true => Ok(Box::new(Watcher::new(server, player, config.clone())?)),
            false => Ok(Box::new(light::Light::new(server, player, config.clone())?)),
        }
    })
}

/// States that a watcher has seen, and its counters.
#[derive(Clone, Default, Resource)]
struct Watched(Arc<Mutex<(Seen, Counts)>>);

impl Watched {
    fn lock(&self) -> MutexGuard<'_, (Seen, Counts)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Number of a watcher's player.
#[derive(Resource)]
struct Own(u16);

/// An ordinary client: a Bevy app, updated 60 times a second.
struct Watcher {
    app: App,
    player: u64,
    watched: Watched,
}

impl Watcher {
    fn new(server: SocketAddr, player: u64, config: ConnectionConfig) -> Result<Self> {
        let (now, authentication) = wired::introduction(server, player);
        let socket = UdpSocket::bind(source(server, player as usize))?;
        let transport = renet_netcode::NetcodeClientTransport::new(now, authentication, socket)?;
        let mut app =
            app(|plugins| plugins.disable::<ServerPlugin>().disable::<ServerMessagePlugin>());
        app.add_plugins(RepliconRenetClientPlugin).add_systems(Update, look);
        finish(&mut app);
        let watched = Watched::default();
        app.insert_resource(RenetClient::new(config))
            .insert_resource(NetcodeClientTransport(transport))
            .insert_resource(Own(player as u16))
            .insert_resource(watched.clone());
        Ok(Self { app, player, watched })
    }
}

/// Checks the states that arrived since the last frame.
fn look(
    watched: Res<Watched>,
    own: Res<Own>,
    movers: Query<(Entity, &Owner, &Mover, &ConfirmHistory), Changed<ConfirmHistory>>,
) {
    let mut watched = watched.lock();
    let (seen, counts) = &mut *watched;
    let per_snapshot = scene::TICK_HZ / scene::SNAPSHOT_HZ;
    for (entity, owner, mover, history) in &movers {
        let tick = u64::from(history.last_tick().get()) * u64::from(per_snapshot);
        let state = (owner.0 != own.0).then(|| (entity.to_bits(), mover.state()));
        seen.see(counts, tick, state);
    }
}

impl Playing for Watcher {
    fn tick(&mut self, tick: u64) -> Result<()> {
        self.watched.lock().1.inputs += 1;
        self.app.world_mut().write_message(Press::of(self.player, tick));
        self.app.update();
        match self.app.world().resource::<RenetClient>().is_disconnected() {
            true => bail!("a watcher is out"),
            false => Ok(()),
        }
    }

    fn counts(&self) -> Counts {
        self.watched.lock().1
    }
}
