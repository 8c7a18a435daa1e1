//! A light client over QUIC.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use phaselock::games::Games;
use phaselock::time::Tick;
use phaselock::wire::control::{ClientMessage, Hello, ServerMessage, body_len, frame};
use phaselock::wire::protocol::wire_hash;
use phaselock_quic::clock::Clock;
use phaselock_quic::player::{PlayerKey, PlayerKeys};
use phaselock_testing::light::Light;
use quinn::RecvStream;
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval_at};

use super::game::{Crowd, Press};
use crate::load::Client;
use crate::{quic, scene};

/// Joins, and plays forever. Fails on errors of the network or the server.
pub(super) async fn play(
    server: SocketAddr,
    index: usize,
    clock: Clock,
    client: Arc<Client>,
    phase: Duration,
) -> Result<()> {
    let (_endpoint, connection) = quic::connect(server, index).await?;
    client.connect(&connection);
    let (mut send, mut receive) = connection.open_bi().await?;
    let hello = Hello {
        wire: wire_hash(),
        version: env!("CARGO_PKG_VERSION").into(),
        name: "Crowd".into(),
        games: Games::new().with::<Crowd>().hashes(false),
        sent: clock.now(),
        credentials: PlayerKey::load(&PlayerKeys::Ephemeral)?.credentials(&connection)?,
        resume: None,
        wishes: 0,
        room: None,
        password: None,
        look: phaselock::wire::talk::Look::default(),
        ticket: None,
    };
    send.write_all(&frame(&ClientMessage::Hello(hello))?).await?;
    let welcome = match read(&mut receive).await? {
        ServerMessage::Welcome(welcome) => welcome,
        other => bail!("no welcome: {other:?}"),
    };
    let mut light = Light::<Crowd>::new(&welcome);
    let player = light.player.0.into();
    let press = |tick: Tick| Press::of(scene::input(player, tick.0));
    let begin = tokio::time::Instant::now() + phase;
    let mut ticks = interval_at(begin, Duration::from_secs(1) / scene::TICK_HZ);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // A separate task, since reading must not be cancelled in the middle of a message.
    let (messages, mut come) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        // A Disconnect also ends the connection.
        while let Ok(message) = read(&mut receive).await {
            let _ = messages.send(message);
        }
    });
    loop {
        tokio::select! {
            bytes = connection.read_datagram() => {
                let bytes = bytes?;
                let is_new = light.handle_datagram(&bytes, clock.now());
                client.update(|counts| {
                    counts.payload_down.count(bytes.len());
                    counts.snapshots += u64::from(is_new);
                    (counts.tick, counts.late) = (light.newest_tick().0, light.late_inputs());
                });
            }
            Some(message) = come.recv() => light.handle_message(&message),
            _ = ticks.tick() => {
                let packet = light.transmit(clock.now(), press);
                client.update(|counts| {
                    counts.inputs += 1;
                    counts.payload_up.count(packet.len());
                });
                connection.send_datagram(packet.into())?;
            }
        }
    }
}

/// Reads the next control message.
async fn read(receive: &mut RecvStream) -> Result<ServerMessage> {
    let mut prefix = [0; 2];
    receive.read_exact(&mut prefix).await?;
    let mut body = vec![0; body_len(prefix)?];
    receive.read_exact(&mut body).await?;
    Ok(ServerMessage::parse(&body)?)
}
