//! Bidirectional streams from a client, until their first bytes show what they are for.

use std::mem;

use quinn_proto::{Connection, Dir, StreamId};

use super::streams::{self, Read, disown, read, reset, respond};
use crate::web::{Fault, RequestReader, STREAM, Said, SessionRequest, varint};

/// The maximum bidirectional streams of a connection: far more than a client needs, and few enough
/// that a quarter of a session's number is a single byte.
const STREAMS_MAX: usize = 16;

/// A request for a session.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) id: StreamId,
    pub(super) request: SessionRequest,
    pub(super) reader: RequestReader,
    /// Everything that came with it.
    pub(super) following: Vec<Said>,
}

/// A stream whose purpose is not clear yet.
#[derive(Debug)]
struct Newcomer {
    id: StreamId,
    purpose: Purpose,
}

#[derive(Debug)]
enum Purpose {
    /// The first bytes, too few to show a purpose.
    Unknown(Vec<u8>),
    /// An incomplete request.
    Request(RequestReader),
}

/// Streams of a connection whose purpose is unknown, or whose session does not exist yet.
#[derive(Debug, Default)]
pub(super) struct Requests {
    seen: usize,
    newcomers: Vec<Newcomer>,
    /// Streams of sessions with these numbers.
    streams: Vec<(StreamId, u64)>,
}

/// The purpose of a stream.
enum Outcome {
    Unclear(Purpose),
    Asked(Box<Asked>),
    StreamOf(u64),
    Done,
}

impl Requests {
    /// Reads the streams. Answers requests for anything but a session, and returns the others.
    pub(super) fn advance(&mut self, connection: &mut Connection) -> Result<Vec<Asked>, Fault> {
        while let Some(id) = connection.streams().accept(Dir::Bi) {
            self.seen += 1;
            if self.seen > STREAMS_MAX {
                return Err(Fault::ExcessiveLoad);
            }
            self.newcomers.push(Newcomer { id, purpose: Purpose::Unknown(Vec::new()) });
        }
        let mut asked = Vec::new();
        for Newcomer { id, purpose } in mem::take(&mut self.newcomers) {
            match advance(id, purpose, connection)? {
                Outcome::Unclear(purpose) => self.newcomers.push(Newcomer { id, purpose }),
                Outcome::Asked(it) => asked.push(*it),
                Outcome::StreamOf(session) => self.streams.push((id, session)),
                Outcome::Done => {}
            }
        }
        Ok(asked)
    }

    /// Returns the next stream of this session; refuses those of others.
    pub(super) fn next_stream(
        &mut self,
        session: StreamId,
        connection: &mut Connection,
    ) -> Result<Option<StreamId>, Fault> {
        while !self.streams.is_empty() {
            let (id, number) = self.streams.remove(0);
            if number == number_of(session) {
                return Ok(Some(id));
            }
            disown(connection, id);
        }
        Ok(None)
    }

    /// Keeps a stream of this session until its first byte arrives.
    pub(super) fn put_back(&mut self, id: StreamId, session: StreamId) {
        self.streams.insert(0, (id, number_of(session)));
    }
}

/// Returns a stream's number, which identifies sessions.
fn number_of(id: StreamId) -> u64 {
    quinn_proto::VarInt::from(id).into_inner()
}

fn advance(id: StreamId, purpose: Purpose, connection: &mut Connection) -> Result<Outcome, Fault> {
    match purpose {
        Purpose::Unknown(head) => begin(id, head, connection),
        Purpose::Request(reader) => advance_request(id, reader, connection),
    }
}

/// Reads a stream's first bytes and none after them, which may be the game's.
fn begin(id: StreamId, mut head: Vec<u8>, connection: &mut Connection) -> Result<Outcome, Fault> {
    loop {
        match prefix(&head) {
            Prefix::Incomplete(missing) => match streams::read_exactly(connection, id, missing) {
                Read::Bytes(bytes) => head.extend(bytes),
                Read::Blocked => return Ok(Outcome::Unclear(Purpose::Unknown(head))),
                Read::Ended => {
                    reset(connection, id, Fault::RequestIncomplete.code());
                    return Ok(Outcome::Done);
                }
            },
            Prefix::Session(session) => {
                // Bidirectional streams from a client (RFC 9000, 2.1).
                let is_request = session & 0b11 == 0;
                return if is_request { Ok(Outcome::StreamOf(session)) } else { Err(Fault::Id) };
            }
            Prefix::Request => {
                let mut reader = RequestReader::default();
                let said = reader.take(&head)?;
                return settle(id, reader, said, connection)
                    .map_or_else(|reader| advance_request(id, reader, connection), Ok);
            }
        }
    }
}

fn advance_request(
    id: StreamId,
    mut reader: RequestReader,
    connection: &mut Connection,
) -> Result<Outcome, Fault> {
    loop {
        let said = match read(connection, id) {
            Read::Bytes(bytes) => reader.take(&bytes)?,
            Read::Blocked => return Ok(Outcome::Unclear(Purpose::Request(reader))),
            Read::Ended => {
                reset(connection, id, Fault::RequestIncomplete.code());
                return Ok(Outcome::Done);
            }
        };
        match settle(id, reader, said, connection) {
            Ok(outcome) => return Ok(outcome),
            Err(back) => reader = back,
        }
    }
}

/// Answers a request, or passes it on if it is for a session. Returns the reader if the request is
/// incomplete.
fn settle(
    id: StreamId,
    reader: RequestReader,
    said: Vec<Said>,
    connection: &mut Connection,
) -> Result<Outcome, RequestReader> {
    let mut said = said.into_iter();
    match said.next() {
        Some(Said::Asked(request)) => {
            let following = said.collect();
            Ok(Outcome::Asked(Box::new(Asked { id, request, reader, following })))
        }
        Some(Said::Refused(status)) => {
            tracing::debug!(%status, "refused a request");
            respond(connection, id, status);
            Ok(Outcome::Done)
        }
        Some(Said::Allowed(_) | Said::Left(_)) | None => Err(reader),
    }
}

/// The meaning of a stream's first bytes.
#[derive(Debug, PartialEq, Eq)]
enum Prefix {
    /// The bytes are incomplete; at least this many more are needed.
    Incomplete(usize),
    /// A stream of the session with that number.
    Session(u64),
    /// A request.
    Request,
}

fn prefix(head: &[u8]) -> Prefix {
    match varint(head) {
        None => Prefix::Incomplete(missing(head)),
        Some((STREAM, length)) => match varint(&head[length..]) {
            None => Prefix::Incomplete(missing(&head[length..])),
            Some((session, _)) => Prefix::Session(session),
        },
        Some(_) => Prefix::Request,
    }
}

/// Returns how many bytes a number still needs, judging by those received.
fn missing(number: &[u8]) -> usize {
    let length = number.first().map_or(1, |first| 1 << (first >> 6));
    length - number.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_streams_first_bytes_tell_its_purpose_however_long_its_numbers_are() {
        for (bytes, purpose) in [
            (&[][..], Prefix::Incomplete(1)),
            (&[0x40], Prefix::Incomplete(1)),
            (&[0x40, 0x41], Prefix::Incomplete(1)),
            (&[0x40, 0x41, 0], Prefix::Session(0)),
            (&[0x80, 0, 0, 0x41], Prefix::Incomplete(1)),
            (&[0x80, 0, 0], Prefix::Incomplete(1)),
            (&[0xc0], Prefix::Incomplete(7)),
            (&[0xc0, 0, 0, 0, 0, 0, 0, 0x41, 0xc0], Prefix::Incomplete(7)),
            (&[0xc0, 0, 0, 0, 0, 0, 0, 0x41, 0x40, 8], Prefix::Session(8)),
            (&[1], Prefix::Request),
            (&[0x40, 1], Prefix::Request),
        ] {
            assert_eq!(prefix(bytes), purpose, "{bytes:?}");
        }
    }
}
