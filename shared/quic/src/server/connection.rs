//! One connection: reads what comes and hands it to the room, writes what the room says.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use phaselock::limits::{CONTROL_QUEUE_MAX, INPUT_PACKETS_PER_TICK_MAX, TEXT_BYTES_MAX};
use phaselock::time::{Micros, Rates};
use phaselock::wire::control::{ServerMessage, clip, frame, printable};
use quinn::{Connection, ConnectionError, RecvStream, SendStream, VarInt};
use tokio::sync::{OwnedSemaphorePermit, mpsc};

use phaselock::server::ClientId;

use super::events::{Event, ToRoom};
use super::newcomers::Newcomer;
use crate::framing::read_frame;
use crate::settings;

/// Reason for closing a connection whose client is too slow.
pub(super) const TOO_SLOW: &str =
    "your client does not read the server's messages; check your network and join again";

/// Application error code of every orderly close; the reason is in the text.
const CLOSED: VarInt = VarInt::from_u32(0);
/// A newcomer has so long to say hello.
const HELLO_TIMEOUT: Duration = Duration::from_secs(5);
/// A control message has so long to fit into the stream's window.
const WRITE_TIMEOUT: Duration = Duration::from_secs(5);
/// The last control message has so long to arrive.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

/// Datagrams a second that one client gets through to the room, three a tick at the fastest rate; a
/// flood beyond is dropped here.
const DATAGRAMS_PER_SECOND_MAX: u64 = INPUT_PACKETS_PER_TICK_MAX * Rates::TICK_HZ_MAX as u64;

/// The room's end of a connection.
#[derive(Debug)]
pub(super) struct Peer {
    connection: Connection,
    control: mpsc::Sender<Write>,
    /// True if the room is done with it.
    closing: AtomicBool,
}

#[derive(Debug)]
enum Write {
    Message(ServerMessage),
    /// Nothing more comes; close with this reason.
    Close(String),
}

/// The control queue of a client is full: it does not read.
#[derive(Debug)]
pub(super) struct NotReading;

impl Peer {
    /// Sends a datagram now or never; newer ones displace those that wait.
    pub(super) fn send_datagram(&self, bytes: Vec<u8>) {
        if let Err(error) = self.connection.send_datagram(bytes.into()) {
            tracing::debug!(%error, "datagram not sent");
        }
    }

    /// True if a datagram sent now would have to wait.
    pub(super) fn is_behind(&self) -> bool {
        settings::client_is_behind(&self.connection)
    }

    /// Most bytes of a datagram.
    pub(super) fn datagram_max(&self) -> Option<usize> {
        self.connection.max_datagram_size()
    }

    pub(super) fn send(&self, message: ServerMessage) -> Result<(), NotReading> {
        self.control.try_send(Write::Message(message)).map_err(|_| NotReading)
    }

    /// Closes when everything sent before has arrived, or after a moment.
    pub(super) fn close(&self, reason: &str) {
        self.closing.store(true, Ordering::Relaxed);
        if self.control.try_send(Write::Close(reason.to_owned())).is_err() {
            self.connection.close(CLOSED, reason.as_bytes());
        }
    }
}

/// Serves a connection until it ends. `permit` is its share of the connection limit.
pub(super) async fn serve(
    incoming: quinn::Incoming,
    client: ClientId,
    room: ToRoom,
    permit: OwnedSemaphorePermit,
    newcomer: Newcomer,
) {
    let remote = incoming.remote_address();
    if let Err(error) = run(incoming, client, &room, newcomer).await {
        tracing::debug!(client = client.0, %remote, error, "connection failed");
    }
    drop(permit);
}

async fn run(
    incoming: quinn::Incoming,
    client: ClientId,
    room: &ToRoom,
    newcomer: Newcomer,
) -> Result<(), String> {
    let handshake = async {
        let connection = incoming.await.map_err(|error| error.to_string())?;
        let (send, mut receive) =
            connection.accept_bi().await.map_err(|error| error.to_string())?;
        let hello = read_frame(&mut receive).await?;
        Ok::<_, String>((connection, send, receive, hello))
    };
    let (connection, send, receive, hello) = tokio::time::timeout(HELLO_TIMEOUT, handshake)
        .await
        .map_err(|_| "no hello came in time".to_owned())??;
    let arrival = room.clock.now();

    let (control, writes) = mpsc::channel(CONTROL_QUEUE_MAX);
    let closing = AtomicBool::new(false);
    let peer = Arc::new(Peer { connection: connection.clone(), control, closing });
    // Held weakly: the room's letting go ends the writer.
    let seen = Arc::downgrade(&peer);
    tracing::debug!(client = client.0, remote = %connection.remote_address(), "connected");
    room.send(Event::Control { client, body: hello, arrival, peer: Some(peer) }).await;

    let writer = tokio::spawn(write(connection.clone(), send, writes, newcomer));
    let wanted = || seen.upgrade().is_some_and(|peer| !peer.closing.load(Ordering::Relaxed));
    let reason = read(&connection, receive, client, room, wanted).await;
    room.send(Event::Lost { client, reason }).await;
    // The room lets go of its end, which ends the writer.
    let _ = writer.await;
    Ok(())
}

/// Reads until the connection ends; returns why it did.
async fn read(
    connection: &Connection,
    mut receive: RecvStream,
    client: ClientId,
    room: &ToRoom,
    wanted: impl Fn() -> bool,
) -> String {
    let control = async {
        // Nothing may follow the hello. The first message that does is handed on, for the room to
        // object to; more fill the stream's window. An ended stream is no ended connection.
        if let Ok(body) = read_frame(&mut receive).await {
            let arrival = room.clock.now();
            room.send(Event::Control { client, body, arrival, peer: None }).await;
        }
        std::future::pending::<String>().await
    };
    let datagrams = async {
        let mut second = (room.clock.now(), 0);
        loop {
            match connection.read_datagram().await {
                Ok(bytes) => {
                    let now = room.clock.now();
                    if now - second.0 > Micros::from_ms(1000) {
                        second = (now, 0);
                    }
                    second.1 += 1;
                    if second.1 <= DATAGRAMS_PER_SECOND_MAX && wanted() {
                        room.datagram(client, bytes);
                    }
                }
                Err(error) => return describe(&error),
            }
        }
    };
    tokio::select! {
        reason = control => reason,
        reason = datagrams => reason,
    }
}

/// The end of a connection, for the log.
fn describe(error: &ConnectionError) -> String {
    match error {
        ConnectionError::ApplicationClosed(close) => {
            let said = String::from_utf8_lossy(&close.reason);
            format!("it left: {}", printable(clip(&said, TEXT_BYTES_MAX)))
        }
        ConnectionError::TimedOut => "the connection was lost".to_owned(),
        other => other.to_string(),
    }
}

/// Writes what the room says. A connection counts among its address's newcomers until the welcome.
async fn write(
    connection: Connection,
    mut send: SendStream,
    mut writes: mpsc::Receiver<Write>,
    newcomer: Newcomer,
) {
    let mut newcomer = Some(newcomer);
    let mut reason = String::from("the room has let the connection go");
    while let Some(write) = writes.recv().await {
        match write {
            Write::Message(message) => {
                let Ok(framed) = frame(&message) else {
                    tracing::error!(?message, "a control message is too long to send");
                    continue;
                };
                match tokio::time::timeout(WRITE_TIMEOUT, send.write_all(&framed)).await {
                    Ok(Ok(())) => {}
                    Ok(Err(_)) => return,
                    Err(_) => {
                        connection.close(CLOSED, TOO_SLOW.as_bytes());
                        return;
                    }
                }
                if matches!(message, ServerMessage::Welcome(_)) {
                    newcomer = None;
                }
            }
            Write::Close(why) => {
                reason = why;
                break;
            }
        }
    }
    // The reason must arrive before the close, which overtakes what is still on its way.
    let _ = send.finish();
    let _ = tokio::time::timeout(FLUSH_TIMEOUT, send.stopped()).await;
    connection.close(CLOSED, reason.as_bytes());
    drop(newcomer);
}
