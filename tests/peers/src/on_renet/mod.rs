//! renet over netcode: one thread, one snapshot for all clients, encoded once.

mod coding;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::Result;
use glam::Vec2;
use renet::{Bytes, ConnectionConfig, DefaultChannel, RenetServer, ServerEvent};

use crate::course::{Counts, Task, say};
use crate::scene::{self, Input, State};
use crate::watch::Seen;
use crate::wired::{self, Playing, Wired};
pub use coding::Coding;

/// Number of inputs in a message: the newest and earlier ones, in case of losses.
const INPUTS: u64 = 3;

/// An input on the wire: eight bytes with its tick.
fn write_input(player: u64, tick: u64) -> Vec<u8> {
    let mut bytes = (tick as u32).to_le_bytes().to_vec();
    for back in 0..INPUTS {
        let Input { way, aim } = scene::input(player, tick.saturating_sub(back));
        bytes.extend([(way.x * 64.0) as i8, (way.y * 64.0) as i8].map(|it| it as u8));
        bytes.extend(((aim * 4096.0) as u16).to_le_bytes());
    }
    bytes
}

/// Tick and newest input of a message; None if the message is foreign.
fn read_input(bytes: &[u8]) -> Option<(u32, Input)> {
    let (tick, rest) = bytes.split_first_chunk()?;
    let [x, y, low, high] = *rest.first_chunk()?;
    let way = Vec2::new(f32::from(x as i8), f32::from(y as i8)) / 64.0;
    let aim = f32::from(u16::from_le_bytes([low, high])) / 4096.0;
    Some((u32::from_le_bytes(*tick), Input { way, aim }))
}

/// Serves the scene until the process is killed.
pub fn serve(address: SocketAddr, clients: u16, coding: Coding) -> Result<()> {
    let (mut transport, port) = wired::listen(address, clients)?;
    let mut server = RenetServer::new(ConnectionConfig::default());
    say(&port.to_string())?;
    let mut players: BTreeMap<u64, (State, u32, Input)> = BTreeMap::new();
    let step = Duration::from_secs(1) / scene::TICK_HZ;
    let mut due = Instant::now();
    let mut updated = due;
    for tick in 0_u32.. {
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        due += step;
        let passed = updated.elapsed();
        updated += passed;
        server.update(passed);
        transport.update(passed, &mut server)?;
        while let Some(event) = server.get_event() {
            match event {
                ServerEvent::ClientConnected { client_id } => {
                    players.insert(client_id, (scene::start(client_id), 0, Input::default()));
                }
                ServerEvent::ClientDisconnected { client_id, .. } => {
                    players.remove(&client_id);
                }
            }
        }
        for (player, (state, newest, input)) in &mut players {
            while let Some(bytes) = server.receive_message(*player, DefaultChannel::Unreliable) {
                if let Some((tick, pressed)) = read_input(&bytes).filter(|it| it.0 >= *newest) {
                    (*newest, *input) = (tick, pressed);
                }
            }
            scene::step(state, input);
        }
        if tick % (scene::TICK_HZ / scene::SNAPSHOT_HZ) == 0 {
            let states = players.iter().map(|(player, (state, ..))| (*player as u16, *state));
            for message in coding.write(tick, &states.collect::<Vec<_>>())? {
                server.broadcast_message(DefaultChannel::Unreliable, Bytes::from(message));
            }
            // Acknowledgements go with the snapshot instead of in packets between two.
            transport.send_packets(&mut server);
        }
    }
    Ok(())
}

/// Joins the server with all clients, and measures.
pub fn load(coding: Coding, task: Task) -> Result<()> {
    wired::run(task, task.clients, |index| {
        let wired = Wired::new(task.server, index as u64, ConnectionConfig::default())?;
        let seen = (index < task.watchers()).then(Seen::default);
        Ok(Box::new(Player { wired, player: index as u64, newest: None, seen, coding }))
    })
}

/// renet's own client. All except the watchers read only the tick of a message.
struct Player {
    wired: Wired,
    player: u64,
    newest: Option<u32>,
    seen: Option<Seen>,
    coding: Coding,
}

impl Playing for Player {
    fn tick(&mut self, tick: u64) -> Result<()> {
        self.wired.receive()?;
        while let Some(bytes) = self.wired.renet.receive_message(DefaultChannel::Unreliable) {
            let counts = &mut self.wired.counts;
            if let Some(seen) = &mut self.seen {
                let (tick, states) = self.coding.read(&bytes)?;
                let states = states.into_iter().map(|(player, state)| (u64::from(player), state));
                seen.see(counts, tick.into(), states.filter(|(player, _)| *player != self.player));
            } else {
                let tick = self.coding.tick(&bytes);
                counts.snapshots += u64::from(tick > self.newest);
                self.newest = self.newest.max(tick);
                counts.tick = self.newest.unwrap_or_default().into();
            }
        }
        let input = write_input(self.player, tick);
        self.wired.counts.inputs += 1;
        self.wired.renet.send_message(DefaultChannel::Unreliable, input);
        self.wired.transmit()
    }

    fn counts(&self) -> Counts {
        self.wired.counts
    }
}
