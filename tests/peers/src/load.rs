//! Clients on tokio, all on one thread: the common part of the loads over QUIC.

use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use quinn::Connection;

use crate::course::{Counts, Course, Task, View};
use crate::{quic, scene};

/// A client's counters and its connection.
#[derive(Default)]
pub struct Client {
    counts: Mutex<Counts>,
    connection: OnceLock<Connection>,
    is_lost: AtomicBool,
}

impl Client {
    /// Counts the connection's traffic, once there is one.
    pub fn connect(&self, connection: &Connection) {
        // A client has only one connection.
        let _ = self.connection.set(connection.clone());
    }

    /// Changes the counters.
    pub fn update(&self, change: impl FnOnce(&mut Counts)) {
        change(&mut self.counts.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn view(&self) -> View {
        let mut counts = *self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(connection) = self.connection.get() {
            [counts.down, counts.up] = quic::traffic(connection);
        }
        View { counts, is_lost: self.is_lost.load(Ordering::Relaxed) }
    }
}

/// Runs clients until the course is over. `play` gets a client's number, its counters and the phase
/// of its ticks, so that inputs are spread over a tick. Fails with errors of the course, and of the
/// first client that ends early, unless the course counts it.
pub fn run<F>(
    task: Task,
    counted: usize,
    play: impl Fn(usize, Arc<Client>, Duration) -> F,
) -> Result<()>
where
    F: Future<Output = Result<()>> + Send + 'static,
{
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut clients: Vec<Arc<Client>> = Vec::new();
        let mut course = Course::new(task, counted);
        let mut ended = tokio::task::JoinSet::new();
        let step = Duration::from_secs(1) / scene::TICK_HZ;
        loop {
            while clients.len() < course.due() {
                let (index, client) = (clients.len(), Arc::new(Client::default()));
                let phase = step * index as u32 / task.clients as u32;
                let playing = play(task.first + index, Arc::clone(&client), phase);
                clients.push(Arc::clone(&client));
                ended.spawn(async move {
                    let over = playing.await;
                    client.is_lost.store(true, Ordering::Relaxed);
                    over
                });
            }
            let views: Vec<_> = clients.iter().map(|client| client.view()).collect();
            if course.poll(&views)? {
                return Ok(());
            }
            tokio::select! {
                Some(over) = ended.join_next() => {
                    let over = over?.context("a client ended early");
                    if !course.counts_lost() {
                        over?;
                    }
                }
                () = tokio::time::sleep(Duration::from_millis(5)) => {}
            }
        }
    })
}

/// Address on this machine.
pub fn local(port: u16) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, port))
}

/// A client's own address, since a server limits newcomers per address.
pub fn source(server: SocketAddr, client: usize) -> SocketAddr {
    let network = match server.ip().is_loopback() {
        true => Ipv4Addr::new(127, 1, 0, 0),
        false => crate::namespaces::CLIENTS,
    };
    SocketAddr::from((Ipv4Addr::from_bits(network.to_bits() + 1 + client as u32), 0))
}
