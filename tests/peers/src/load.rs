//! Clients on tokio, all on one thread: what the loads over QUIC have in common.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use quinn::Connection;

use crate::course::{Counts, Course, Task};
use crate::{quic, scene};

/// Time from one client's joining to the next one's.
const JOINING_APART: Duration = Duration::from_millis(8);

/// A client's counters and its connection.
#[derive(Default)]
pub struct Client {
    counts: Mutex<Counts>,
    connection: OnceLock<Connection>,
}

impl Client {
    /// Has the connection's traffic counted, once there is one.
    pub fn connect(&self, connection: &Connection) {
        // There is one connection in a client's life.
        let _ = self.connection.set(connection.clone());
    }

    /// Changes the counters.
    pub fn update(&self, change: impl FnOnce(&mut Counts)) {
        change(&mut self.counts.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn counts(&self) -> Counts {
        let mut counts = *self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(connection) = self.connection.get() {
            [counts.down, counts.up] = quic::traffic(connection);
        }
        counts
    }
}

/// Runs clients until the course is over. `play` gets a client's index, its counters and the phase
/// of its ticks: inputs of different clients come spread over a tick. Errors are those of the
/// first client that ends early, and of the course.
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
        let clients: Vec<_> = (0..task.clients).map(|_| Arc::new(Client::default())).collect();
        let mut course = Course::new(task, counted);
        let mut ended = tokio::task::JoinSet::new();
        let mut joining = tokio::time::interval(JOINING_APART);
        let step = Duration::from_secs(1) / scene::TICK_HZ;
        for (index, client) in clients.iter().enumerate() {
            joining.tick().await;
            let phase = step * index as u32 / task.clients as u32;
            ended.spawn(play(index, Arc::clone(client), phase));
        }
        loop {
            let sum = || {
                let mut sum = Counts::default();
                clients.iter().for_each(|client| sum += client.counts());
                sum
            };
            let joined = clients.iter().filter(|client| client.counts().snapshots > 0).count();
            if course.poll(joined, sum)? {
                return Ok(());
            }
            tokio::select! {
                Some(over) = ended.join_next() => over?.context("a client ended early")?,
                () = tokio::time::sleep(Duration::from_millis(5)) => {}
            }
        }
    })
}

/// Address of a server on this machine, from its port.
pub fn local(port: u16) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], port))
}
