//! The floor: bare quinn, with packets in the number and size of ours, and nothing else.
//!
//! The server is the simplest sensible one, on a single-threaded runtime: one task per connection
//! that reads, and one task that sends to all at each snapshot.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Result;
use bytes::Bytes;
use clap::Args;
use quinn::Connection;
use tokio::time::{MissedTickBehavior, interval, interval_at};

use crate::course::{Task, say};
use crate::load::{self, Client};
use crate::{quic, scene};

/// The floor's packets, as measured with ours.
#[derive(Clone, Copy, Debug, Args)]
pub struct Packets {
    /// Bytes per datagram to a client, 8 to 1150
    #[arg(long, default_value_t = 400)]
    pub down_bytes: usize,
    /// Mean number of datagrams per snapshot, at least 1
    #[arg(long, default_value_t = 1.0)]
    pub down_packets: f64,
    /// Bytes per datagram to the server, 1 to 1150
    #[arg(long, default_value_t = 40)]
    pub up_bytes: usize,
}

/// Serves until the process is killed.
pub fn serve(address: SocketAddr, packets: Packets) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let endpoint = quic::listen(address)?;
        say(&endpoint.local_addr()?.port().to_string())?;
        let connections = Arc::new(Mutex::new(Vec::<Connection>::new()));
        tokio::spawn(send(packets, Arc::clone(&connections)));
        while let Some(incoming) = endpoint.accept().await {
            let connections = Arc::clone(&connections);
            tokio::spawn(async move {
                let Ok(connection) = incoming.await else { return };
                connections.lock().unwrap_or_else(PoisonError::into_inner).push(connection.clone());
                while connection.read_datagram().await.is_ok() {}
            });
        }
        Ok(())
    })
}

/// Sends a snapshot's datagrams to all clients, 30 times a second.
async fn send(packets: Packets, connections: Arc<Mutex<Vec<Connection>>>) {
    let mut snapshots = interval(Duration::from_secs(1) / scene::SNAPSHOT_HZ);
    let mut owed = 0.0;
    for number in 0_u64.. {
        snapshots.tick().await;
        let mut bytes = number.to_le_bytes().to_vec();
        bytes.resize(packets.down_bytes.clamp(8, 1150), 0);
        let bytes = Bytes::from(bytes);
        owed += packets.down_packets;
        let mut connections = connections.lock().unwrap_or_else(PoisonError::into_inner);
        connections.retain(|connection| connection.close_reason().is_none());
        while owed >= 1.0 {
            owed -= 1.0;
            for connection in &*connections {
                // The reading task notices when a connection ends.
                let _ = connection.send_datagram(bytes.clone());
            }
        }
    }
}

/// Joins the server with all clients, and measures.
pub fn load(packets: Packets, task: Task) -> Result<()> {
    load::run(task, task.clients, |index, client: Arc<Client>, phase| async move {
        let (_endpoint, connection) = quic::connect(task.server, index).await?;
        client.connect(&connection);
        let input = Bytes::from(vec![0; packets.up_bytes.clamp(1, 1150)]);
        let begin = tokio::time::Instant::now() + phase;
        let mut ticks = interval_at(begin, Duration::from_secs(1) / scene::TICK_HZ);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut newest = None;
        loop {
            tokio::select! {
                bytes = connection.read_datagram() => {
                    let bytes = bytes?;
                    let number = bytes.first_chunk().map(|bytes| u64::from_le_bytes(*bytes));
                    let is_new = number > newest;
                    newest = newest.max(number);
                    client.update(|counts| {
                        counts.payload_down.count(bytes.len());
                        counts.snapshots += u64::from(is_new);
                        // A world would have had this number of ticks.
                        let ticks = u64::from(scene::TICK_HZ / scene::SNAPSHOT_HZ);
                        counts.tick = newest.unwrap_or_default() * ticks;
                    });
                }
                _ = ticks.tick() => {
                    client.update(|counts| {
                        counts.inputs += 1;
                        counts.payload_up.count(input.len());
                    });
                    connection.send_datagram(input.clone())?;
                }
            }
        }
    })
}
