//! The part of the replicated scene that both sides have: components, messages, the app.

use anyhow::Result;
use bevy::app::PluginGroupBuilder;
use bevy::prelude::*;
use bevy::state::app::StatesPlugin;
use bevy_replicon::prelude::*;
use bevy_replicon_renet::RenetChannelsExt as _;
use renet::ConnectionConfig;
use serde::{Deserialize, Serialize};

use crate::scene::{self, State};

/// A player's replicated state: five `f32`, by serde.
#[derive(Clone, Copy, Component, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Mover([f32; 5]);

/// The player of an entity; never changes.
#[derive(Clone, Copy, Component, Debug, Serialize, Deserialize)]
pub(super) struct Owner(pub u16);

/// A player's command in a tick of its own.
#[derive(Clone, Copy, Debug, Message, Serialize, Deserialize)]
pub(super) struct Press {
    tick: u32,
    way: [i8; 2],
    aim: u16,
}

impl Mover {
    pub(super) fn of(state: &State) -> Self {
        let State { position, velocity, angle } = *state;
        Self([position.x, position.y, velocity.x, velocity.y, angle])
    }

    pub(super) fn state(&self) -> State {
        let Self([x, y, dx, dy, angle]) = *self;
        State { position: glam::Vec2::new(x, y), velocity: glam::Vec2::new(dx, dy), angle }
    }
}

impl Press {
    pub(super) fn of(player: u64, tick: u64) -> Self {
        let scene::Input { way, aim } = scene::input(player, tick);
        let way = [way.x, way.y].map(|axis| (axis * 64.0) as i8);
        Self { tick: tick as u32, way, aim: (aim * 4096.0) as u16 }
    }

    /// Tick, and command.
    pub(super) fn input(&self) -> (u32, scene::Input) {
        let [x, y] = self.way.map(|axis| f32::from(axis) / 64.0);
        let input = scene::Input { way: glam::Vec2::new(x, y), aim: f32::from(self.aim) / 4096.0 };
        (self.tick, input)
    }
}

/// An app without window and loop, with the scene registered. It accepts every connection, since
/// both sides are this program.
pub(super) fn app(replicon: impl FnOnce(PluginGroupBuilder) -> PluginGroupBuilder) -> App {
    let shared = RepliconSharedPlugin { auth_method: AuthMethod::None };
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, StatesPlugin))
        .add_plugins(replicon(RepliconPlugins.build().set(shared)))
        .replicate::<Mover>()
        .replicate_once::<Owner>()
        .add_client_message::<Press>(Channel::Unreliable);
    app
}

/// Returns the scene's channels, once the app is finished.
pub(super) fn config(app: &App) -> Result<ConnectionConfig> {
    let channels = app.world().resource::<RepliconChannels>();
    Ok(ConnectionConfig {
        server_channels_config: channels.server_configs(),
        client_channels_config: channels.client_configs(),
        ..ConnectionConfig::default()
    })
}
