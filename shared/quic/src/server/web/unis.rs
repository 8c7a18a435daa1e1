//! Unidirectional streams from a client: its settings, its compression, and streams to skip.

use std::mem;

use quinn_proto::{Connection, Dir, StreamId};

use super::streams::{Read, read, stop};
use crate::web::{ClientSettings, ControlReader, Fault, varint};

/// The maximum unidirectional streams of a connection.
const UNIS_MAX: usize = 16;
/// Maximum number of bytes on such a stream. A browser's settings take 50.
const UNI_BYTES_MAX: usize = 4 * 1024;

/// Kinds of unidirectional streams (RFC 9114, 6.2; RFC 9204, 4.2; WebTransport's own).
const CONTROL: u64 = 0;
const PUSH: u64 = 1;
const ENCODER: u64 = 2;
const DECODER: u64 = 3;
const WEBTRANSPORT: u64 = 0x54;

/// A unidirectional stream from a client.
#[derive(Debug)]
struct Uni {
    id: StreamId,
    kind: Kind,
    taken: usize,
}

#[derive(Debug)]
enum Kind {
    /// The first bytes, too few to show a kind.
    Unknown(Vec<u8>),
    Control(ControlReader),
    /// There is no dynamic table, so its instructions are ignored.
    Compression(u64),
}

impl Kind {
    /// Returns the number of a kind that a client may open only once.
    fn only(&self) -> Option<u64> {
        match self {
            Self::Unknown(_) => None,
            Self::Control(_) => Some(CONTROL),
            Self::Compression(kind) => Some(*kind),
        }
    }
}

/// A client's unidirectional streams.
#[derive(Debug, Default)]
pub(super) struct Unis {
    seen: usize,
    open: Vec<Uni>,
}

impl Unis {
    /// Reads the streams. Returns the client's settings, once.
    pub(super) fn advance(
        &mut self,
        connection: &mut Connection,
    ) -> Result<Option<ClientSettings>, Fault> {
        while let Some(id) = connection.streams().accept(Dir::Uni) {
            self.seen += 1;
            if self.seen > UNIS_MAX {
                return Err(Fault::ExcessiveLoad);
            }
            self.open.push(Uni { id, kind: Kind::Unknown(Vec::new()), taken: 0 });
        }
        let mut settings = None;
        for mut uni in mem::take(&mut self.open) {
            let (stays, told) = uni.advance(connection)?;
            settings = settings.or(told);
            let kind = uni.kind.only().filter(|_| stays);
            if kind.is_some() && self.open.iter().any(|it| it.kind.only() == kind) {
                return Err(Fault::StreamCreation);
            }
            self.open.extend(Some(uni).filter(|_| stays));
        }
        if settings.is_some_and(|it| it.has_datagrams)
            && connection.datagrams().max_size().is_none()
        {
            // RFC 9297, 2.1.1.
            return Err(Fault::Settings);
        }
        Ok(settings)
    }
}

impl Uni {
    /// Reads the stream. Returns `false` if the rest is of no interest, and the settings once they
    /// are complete.
    fn advance(
        &mut self,
        connection: &mut Connection,
    ) -> Result<(bool, Option<ClientSettings>), Fault> {
        let mut settings = None;
        loop {
            let bytes = match read(connection, self.id) {
                Read::Bytes(bytes) => bytes,
                Read::Blocked => return Ok((true, settings)),
                Read::Ended if self.kind.only().is_some() => {
                    return Err(Fault::ClosedCriticalStream);
                }
                Read::Ended => return Ok((false, settings)),
            };
            self.taken += bytes.len();
            if self.taken > UNI_BYTES_MAX {
                return Err(Fault::ExcessiveLoad);
            }
            match self.take(bytes)? {
                Taken::Settings(told) => settings = settings.or(told),
                Taken::Unwanted => {
                    stop(connection, self.id);
                    return Ok((false, settings));
                }
                Taken::UnknownKind => {
                    let code = Fault::StreamCreation.code();
                    let _ = connection.recv_stream(self.id).stop(code);
                    return Ok((false, settings));
                }
            }
        }
    }

    fn take(&mut self, mut bytes: Vec<u8>) -> Result<Taken, Fault> {
        if let Kind::Unknown(head) = &mut self.kind {
            head.append(&mut bytes);
            let Some((kind, length)) = varint(head) else { return Ok(Taken::Settings(None)) };
            bytes = head.split_off(length);
            self.kind = match kind {
                CONTROL => Kind::Control(ControlReader::default()),
                ENCODER | DECODER => Kind::Compression(kind),
                PUSH => return Err(Fault::StreamCreation),
                WEBTRANSPORT => return Ok(Taken::Unwanted),
                // An unknown kind (RFC 9114, 6.2).
                _ => return Ok(Taken::UnknownKind),
            };
        }
        match &mut self.kind {
            Kind::Control(reader) => reader.take(&bytes).map(Taken::Settings),
            Kind::Unknown(_) | Kind::Compression(_) => Ok(Taken::Settings(None)),
        }
    }
}

/// What the bytes on a stream turned out to be.
enum Taken {
    /// Settings, if they are complete.
    Settings(Option<ClientSettings>),
    /// A WebTransport stream, which the game does not use.
    Unwanted,
    /// A stream of an unknown kind.
    UnknownKind,
}
