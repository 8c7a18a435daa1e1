//! A connection's control stream: incoming messages, and outgoing ones in a bounded queue.

use std::collections::VecDeque;
use std::mem;
use std::time::{Duration, Instant};

use phaselock::limits::CONTROL_QUEUE_MAX;
use phaselock::wire::WireError;
use phaselock::wire::control::{ServerMessage, body_len, frame};
use quinn_proto::{Connection, Dir, ReadError, StreamId, WriteError};

/// Number of control messages that are read from one client per second; more wait in its stream's
/// window. Arbitrary; far more than the room accepts of any kind.
const MESSAGES_PER_SECOND_MAX: u32 = 32;
/// Time in which a control message must fit into the stream's window.
const WRITE_TIMEOUT: Duration = Duration::from_secs(5);
/// Bytes of the length before a message.
const PREFIX_BYTES: usize = 2;

/// A client's control queue is full, or the stream's other end is closed.
#[derive(Debug)]
pub(super) struct NotReading;

/// An outgoing message.
#[derive(Debug)]
struct Queued {
    framed: Vec<u8>,
    is_welcome: bool,
}

/// A connection's only stream for the game.
#[derive(Debug, Default)]
pub(super) struct ControlStream {
    id: Option<StreamId>,
    /// The message being read, with its length.
    partial: Vec<u8>,
    /// Whether there may be something to read.
    is_readable: bool,
    /// Whether reading has ended.
    has_ended: bool,
    /// When reading resumes.
    resume: Option<Instant>,
    queue: VecDeque<Queued>,
    /// Number of bytes of the first message that the stream has accepted.
    written: usize,
    /// Number of bytes that the client accepts on the stream until it allows more, if it uses flow
    /// control.
    allowance: Option<u64>,
    /// Bytes written to the stream.
    sent: u64,
    /// When the first message must have fitted.
    stuck_until: Option<Instant>,
    /// Whether a welcome was sent.
    has_welcomed: bool,
    /// Whether the client has stopped accepting messages.
    is_refused: bool,
}

impl ControlStream {
    /// Accepts the stream that the client has opened; only the first one.
    pub(super) fn open(&mut self, connection: &mut Connection) {
        if self.id.is_none() {
            self.id = connection.streams().accept(Dir::Bi);
            self.is_readable = true;
        }
    }

    /// Uses a stream that was opened for it, and starts this side with these bytes.
    pub(super) fn open_at(&mut self, id: StreamId, first: Vec<u8>) {
        self.id = Some(id);
        self.is_readable = true;
        self.queue.push_front(Queued { framed: first, is_welcome: false });
    }

    /// Records that the client accepts `bytes` bytes on the stream in total.
    pub(super) fn allow(&mut self, bytes: u64) {
        self.allowance = self.allowance.max(Some(bytes));
    }

    /// Notes that more data has arrived.
    pub(super) fn handle_readable(&mut self) {
        self.is_readable = true;
    }

    pub(super) fn is(&self, id: StreamId) -> bool {
        self.id == Some(id)
    }

    /// Returns the body of the next message, if it is complete and may be read now. An error means
    /// that its length is too large; nothing is read after it.
    pub(super) fn read(
        &mut self,
        connection: &mut Connection,
        now: Instant,
    ) -> Option<Result<Vec<u8>, WireError>> {
        let id = self.id.filter(|_| self.is_readable && !self.has_ended)?;
        if self.resume.is_some_and(|resume| now < resume) {
            return None;
        }
        self.resume = None;
        let mut stream = connection.recv_stream(id);
        let Ok(mut chunks) = stream.read(true) else {
            self.has_ended = true;
            return None;
        };
        loop {
            let partial = &mut self.partial;
            let needed = match partial.first_chunk().map(|prefix| body_len(*prefix)) {
                None => PREFIX_BYTES,
                Some(Ok(len)) => PREFIX_BYTES + len,
                Some(Err(error)) => {
                    self.has_ended = true;
                    return Some(Err(error));
                }
            };
            if partial.len() >= PREFIX_BYTES && partial.len() == needed {
                let mut body = mem::take(partial);
                body.drain(..PREFIX_BYTES);
                return Some(Ok(body));
            }
            match chunks.next(needed - partial.len()) {
                Ok(Some(chunk)) => partial.extend_from_slice(&chunk.bytes),
                Err(ReadError::Blocked) => {
                    self.is_readable = false;
                    return None;
                }
                Ok(None) | Err(ReadError::Reset(_)) => {
                    self.has_ended = true;
                    return None;
                }
            }
        }
    }

    /// Delays the next message, so that a client's rate of messages is limited.
    pub(super) fn pause(&mut self, now: Instant) {
        self.resume = Some(now + Duration::from_secs(1) / MESSAGES_PER_SECOND_MAX);
    }

    /// Stops reading.
    pub(super) fn end(&mut self) {
        self.has_ended = true;
    }

    pub(super) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Queues a message, and writes what fits.
    pub(super) fn send(
        &mut self,
        connection: &mut Connection,
        message: &ServerMessage,
        now: Instant,
    ) -> Result<(), NotReading> {
        if self.is_full() {
            return Err(NotReading);
        }
        match frame(message) {
            Ok(framed) => {
                let is_welcome = matches!(message, ServerMessage::Welcome(_));
                self.queue.push_back(Queued { framed, is_welcome });
                self.write(connection, now);
            }
            Err(_) => tracing::error!(
                name: "message_too_long",
                ?message,
                "a control message is too long to send"
            ),
        }
        Ok(())
    }

    /// Whether the queue is full.
    pub(super) fn is_full(&self) -> bool {
        self.is_refused || self.queue.len() >= CONTROL_QUEUE_MAX
    }

    /// Whether the stream has accepted everything.
    pub(super) fn is_written(&self) -> bool {
        self.queue.is_empty()
    }

    /// Whether a welcome was sent.
    pub(super) fn has_welcomed(&self) -> bool {
        self.has_welcomed
    }

    /// Writes what fits into the stream's window.
    pub(super) fn write(&mut self, connection: &mut Connection, now: Instant) {
        let Some(id) = self.id else { return };
        while let Some(first) = self.queue.front() {
            let rest = &first.framed[self.written..];
            let allowed = self.allowance.map_or(u64::MAX, |max| max.saturating_sub(self.sent));
            let rest =
                &rest[..usize::try_from(allowed).map_or(rest.len(), |it| it.min(rest.len()))];
            let written = match rest {
                [] => Err(WriteError::Blocked),
                rest => connection.send_stream(id).write(rest),
            };
            match written {
                Ok(bytes) => {
                    self.written += bytes;
                    self.sent += bytes as u64;
                    if self.written < first.framed.len() {
                        continue;
                    }
                    self.has_welcomed |= first.is_welcome;
                    self.queue.pop_front();
                    (self.written, self.stuck_until) = (0, None);
                }
                Err(WriteError::Blocked) => {
                    self.stuck_until.get_or_insert(now + WRITE_TIMEOUT);
                    return;
                }
                Err(_) => return self.refuse(),
            }
        }
    }

    /// Notes that the client has stopped accepting messages.
    pub(super) fn refuse(&mut self) {
        self.is_refused = true;
        self.queue.clear();
        (self.written, self.stuck_until) = (0, None);
    }

    /// Ends this side of the stream. Returns `false` if there is nothing to wait for.
    pub(super) fn finish(&self, connection: &mut Connection) -> bool {
        self.id.is_some_and(|id| connection.send_stream(id).finish().is_ok())
    }

    /// Whether a message did not fit in time.
    pub(super) fn is_stuck(&self, now: Instant) -> bool {
        self.stuck_until.is_some_and(|until| until <= now)
    }

    /// Returns when reading resumes, or when a message must have fitted.
    pub(super) fn next_timeout(&self) -> Option<Instant> {
        let resume = self.resume.filter(|_| self.is_readable && !self.has_ended);
        [resume, self.stuck_until].into_iter().flatten().min()
    }
}
