//! A connection's control stream: whole messages in, and messages out through a bounded queue.

use std::collections::VecDeque;
use std::mem;
use std::time::{Duration, Instant};

use phaselock::limits::CONTROL_QUEUE_MAX;
use phaselock::wire::WireError;
use phaselock::wire::control::{ServerMessage, body_len, frame};
use quinn_proto::{Connection, Dir, ReadError, StreamId, WriteError};

/// Control messages that are read from one client in a second; the rest wait, and fill its stream's
/// window. Arbitrary; far more than the room takes of any kind.
const MESSAGES_PER_SECOND_MAX: u32 = 32;
/// A control message has so long to fit into the stream's window.
const WRITE_TIMEOUT: Duration = Duration::from_secs(5);
/// Bytes of the length before a message.
const PREFIX_BYTES: usize = 2;

/// The control queue of a client is full, or nobody listens at its other end.
#[derive(Debug)]
pub(super) struct NotReading;

/// A message on its way out.
#[derive(Debug)]
struct Queued {
    framed: Vec<u8>,
    is_welcome: bool,
}

/// The one stream of a connection, from its opening on.
#[derive(Debug, Default)]
pub(super) struct ControlStream {
    id: Option<StreamId>,
    /// The message that is being read, with its length.
    partial: Vec<u8>,
    /// There may be something to read.
    is_readable: bool,
    /// No further message is read.
    has_ended: bool,
    /// Moment of the next reading.
    resume: Option<Instant>,
    queue: VecDeque<Queued>,
    /// Bytes of the first one that the stream has taken.
    written: usize,
    /// Bytes that the client accepts on the stream until it allows more, if it uses flow control.
    allowance: Option<u64>,
    /// Bytes written to the stream.
    sent: u64,
    /// Moment by which the first one must fit.
    stuck_until: Option<Instant>,
    /// A welcome has gone out.
    has_welcomed: bool,
    /// The client takes no more.
    is_refused: bool,
}

impl ControlStream {
    /// Takes the stream that the client has opened, the first one only.
    pub(super) fn open(&mut self, connection: &mut Connection) {
        if self.id.is_none() {
            self.id = connection.streams().accept(Dir::Bi);
            self.is_readable = true;
        }
    }

    /// Takes a stream that was opened for it, and begins this side of it with these bytes.
    pub(super) fn open_at(&mut self, id: StreamId, first: Vec<u8>) {
        self.id = Some(id);
        self.is_readable = true;
        self.queue.push_front(Queued { framed: first, is_welcome: false });
    }

    /// Records that the client accepts `bytes` bytes on the stream in total.
    pub(super) fn allow(&mut self, bytes: u64) {
        self.allowance = self.allowance.max(Some(bytes));
    }

    /// Takes in that more has come.
    pub(super) fn handle_readable(&mut self) {
        self.is_readable = true;
    }

    pub(super) fn is(&self, id: StreamId) -> bool {
        self.id == Some(id)
    }

    /// The body of the next message, if it is there and may be read now; an error if its length is
    /// too great, which is the last that is read.
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

    /// Has the next message wait, so that a client is heard no more often than it may.
    pub(super) fn pause(&mut self, now: Instant) {
        self.resume = Some(now + Duration::from_secs(1) / MESSAGES_PER_SECOND_MAX);
    }

    /// Reads nothing more.
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

    /// True if no message can be queued.
    pub(super) fn is_full(&self) -> bool {
        self.is_refused || self.queue.len() >= CONTROL_QUEUE_MAX
    }

    /// True if the stream has taken all that was sent.
    pub(super) fn is_written(&self) -> bool {
        self.queue.is_empty()
    }

    /// True once a welcome has gone out.
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

    /// Takes in that the client takes no more.
    pub(super) fn refuse(&mut self) {
        self.is_refused = true;
        self.queue.clear();
        (self.written, self.stuck_until) = (0, None);
    }

    /// Ends this side of the stream. Returns false if there is nothing whose arrival to wait for.
    pub(super) fn finish(&self, connection: &mut Connection) -> bool {
        self.id.is_some_and(|id| connection.send_stream(id).finish().is_ok())
    }

    /// True if a message has not fitted in time.
    pub(super) fn is_stuck(&self, now: Instant) -> bool {
        self.stuck_until.is_some_and(|until| until <= now)
    }

    /// Moment of the next reading, or by which a message must fit.
    pub(super) fn next_timeout(&self) -> Option<Instant> {
        let resume = self.resume.filter(|_| self.is_readable && !self.has_ended);
        [resume, self.stuck_until].into_iter().flatten().min()
    }
}
