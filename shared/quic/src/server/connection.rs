//! One connection: reads what comes and hands it to the room, writes what the room says.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use phaselock::limits::{CONTROL_QUEUE_MAX, INPUT_PACKETS_PER_TICK_MAX};
use phaselock::time::{Micros, Rates};
use phaselock::wire::control::{ClientMessage, ServerMessage, frame};
use phaselock::wire::disconnect::{Code, Disconnect};
use phaselock::wire::protocol::wire_hash;
use quinn::{Connection, ConnectionError, RecvStream, SendStream};
use tokio::sync::{OwnedSemaphorePermit, mpsc};

use phaselock::server::ClientId;

use super::events::{Event, ToRoom};
use super::newcomers::Newcomer;
use crate::framing::{FrameError, read_frame};
use crate::goodbye::{close, said};
use crate::player::is_proven;
use crate::settings;

/// The goodbye to a client that does not read.
pub(super) fn too_slow() -> Disconnect {
    let text = "your client does not read the server's messages; check your network and join again";
    Disconnect::new(Code::NotReading, text)
}

/// Control messages that are read from one client in a second; the rest wait, and fill its stream's
/// window. Arbitrary; far more than the room takes of any kind.
const MESSAGES_PER_SECOND_MAX: u32 = 32;
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
    /// Nothing more comes; close with this goodbye.
    Close(Disconnect),
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
    pub(super) fn close(&self, goodbye: &Disconnect) {
        self.closing.store(true, Ordering::Relaxed);
        if self.control.try_send(Write::Close(goodbye.clone())).is_err() {
            close(&self.connection, goodbye);
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
        let hello = read_frame(&mut receive).await.map_err(|error| error.to_string())?;
        Ok::<_, String>((connection, send, receive, hello))
    };
    let (connection, send, receive, hello) = tokio::time::timeout(HELLO_TIMEOUT, handshake)
        .await
        .map_err(|_| "no hello came in time".to_owned())??;
    let arrival = room.clock.now();
    if let Some(goodbye) = unproven(&connection, &hello) {
        return refuse(&connection, send, &goodbye).await;
    }

    let (control, writes) = mpsc::channel(CONTROL_QUEUE_MAX);
    let closing = AtomicBool::new(false);
    let peer = Arc::new(Peer { connection: connection.clone(), control, closing });
    // Held weakly: the room's letting go ends the writer.
    let seen = Arc::downgrade(&peer);
    tracing::debug!(client = client.0, remote = %connection.remote_address(), "connected");
    room.send(Event::Control { client, body: hello, arrival, peer: Some(peer) }).await;

    let writer = tokio::spawn(write(connection.clone(), send, writes, newcomer));
    let wanted = || seen.upgrade().is_some_and(|peer| !peer.closing.load(Ordering::Relaxed));
    let (reason, left) = read(&connection, receive, client, room, wanted).await;
    room.send(Event::Lost { client, reason, left }).await;
    // The room lets go of its end, which ends the writer.
    let _ = writer.await;
    Ok(())
}

/// The goodbye to a client that does not own the key that it claims. Another build's hello cannot
/// be read; the room tells it so.
fn unproven(connection: &Connection, body: &[u8]) -> Option<Disconnect> {
    let Ok(ClientMessage::Hello(hello)) = ClientMessage::parse(body) else { return None };
    if hello.wire != wire_hash() || is_proven(connection, &hello.credentials) {
        return None;
    }
    let text = "your client did not prove that its player's key is its own; join again";
    Some(Disconnect::new(Code::BadProof, text))
}

/// Says goodbye to a client that the room never hears of.
async fn refuse(
    connection: &Connection,
    mut send: SendStream,
    goodbye: &Disconnect,
) -> Result<(), String> {
    if let Ok(framed) = frame(&ServerMessage::Disconnect(goodbye.clone())) {
        let _ = tokio::time::timeout(WRITE_TIMEOUT, send.write_all(&framed)).await;
    }
    say_goodbye(connection, send, goodbye).await;
    Err(goodbye.text.clone())
}

/// Closes when all that was written has arrived, or after a moment: the close overtakes what is
/// still on its way.
async fn say_goodbye(connection: &Connection, mut send: SendStream, goodbye: &Disconnect) {
    let _ = send.finish();
    let _ = tokio::time::timeout(FLUSH_TIMEOUT, send.stopped()).await;
    close(connection, goodbye);
}

/// Reads until the connection ends; returns the reason, and whether the player left.
async fn read(
    connection: &Connection,
    mut receive: RecvStream,
    client: ClientId,
    room: &ToRoom,
    wanted: impl Fn() -> bool,
) -> (String, bool) {
    let control = async {
        let pace = Duration::from_secs(1) / MESSAGES_PER_SECOND_MAX;
        loop {
            let body = match read_frame(&mut receive).await {
                Ok(body) => body,
                // The room objects to an empty message.
                Err(FrameError::Wire(_)) => Vec::new(),
                // An ended stream is no ended connection.
                Err(FrameError::Stream(_)) => break,
            };
            let is_last = body.is_empty();
            let arrival = room.clock.now();
            room.send(Event::Control { client, body, arrival, peer: None }).await;
            if is_last {
                break;
            }
            tokio::time::sleep(pace).await;
        }
        std::future::pending().await
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

/// The end of a connection, for the log, and true if the player said goodbye.
fn describe(error: &ConnectionError) -> (String, bool) {
    match error {
        ConnectionError::ApplicationClosed(close) => {
            let goodbye = said(close);
            // Whoever will not come back needs no seat.
            (format!("it left: {goodbye}"), goodbye.code.retry_after().is_none())
        }
        ConnectionError::TimedOut => ("the connection was lost".to_owned(), false),
        other => (other.to_string(), false),
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
    let mut goodbye = Disconnect::new(Code::Shutdown, "the server has stopped");
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
                        return close(&connection, &too_slow());
                    }
                }
                if matches!(message, ServerMessage::Welcome(_)) {
                    newcomer = None;
                }
            }
            Write::Close(said) => {
                goodbye = said;
                break;
            }
        }
    }
    say_goodbye(&connection, send, &goodbye).await;
    drop(newcomer);
}
