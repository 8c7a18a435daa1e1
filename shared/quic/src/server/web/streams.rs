//! Reads, answers and refuses single streams of a browser.

use quinn_proto::{Connection, ReadError, StreamId, VarInt};
use web_transport_proto::http::StatusCode;

use crate::web::{Fault, answer};

/// Maximum number of bytes per read.
const READ_BYTES: usize = 2 * 1024;
/// Code on a stream that the game does not use: the application's error 0
/// (draft-ietf-webtrans-http3-16, 4.4).
const UNWANTED: u64 = 0x52e4_a40f_a8db;
/// Code on a stream of an unknown session (WT_BUFFERED_STREAM_REJECTED, 9.5).
const NO_SESSION: u64 = 0x3994_bd84;

/// Result of reading.
pub(super) enum Read {
    Bytes(Vec<u8>),
    Blocked,
    Ended,
}

/// Reads the next bytes of a stream.
pub(super) fn read(connection: &mut Connection, id: StreamId) -> Read {
    read_exactly(connection, id, READ_BYTES)
}

/// Reads at most `max` bytes of a stream.
pub(super) fn read_exactly(connection: &mut Connection, id: StreamId, max: usize) -> Read {
    let mut stream = connection.recv_stream(id);
    let Ok(mut chunks) = stream.read(true) else { return Read::Ended };
    match chunks.next(max) {
        Ok(Some(chunk)) => Read::Bytes(chunk.bytes.to_vec()),
        Err(ReadError::Blocked) => Read::Blocked,
        Ok(None) | Err(ReadError::Reset(_)) => Read::Ended,
    }
}

/// Writes a few bytes, for which there is always space on a stream that carries little else.
pub(super) fn write(connection: &mut Connection, id: StreamId, bytes: &[u8]) {
    // A client that leaves no space for them gets no answer, and gives up.
    let _ = connection.send_stream(id).write(bytes);
}

/// Grants a session.
pub(super) fn grant(connection: &mut Connection, id: StreamId) {
    let draft = ("sec-webtransport-http3-draft", "draft02");
    write(connection, id, &answer(StatusCode::OK.as_u16(), &[draft]));
}

/// Answers a request with only a status.
pub(super) fn respond(connection: &mut Connection, id: StreamId, status: StatusCode) {
    let allow = (status == StatusCode::METHOD_NOT_ALLOWED).then_some(("allow", "CONNECT"));
    write(connection, id, &answer(status.as_u16(), allow.as_slice()));
    let _ = connection.send_stream(id).finish();
    // The rest of the request is of no interest (RFC 9114, 4.1).
    let _ = connection.recv_stream(id).stop(Fault::None.code());
}

/// Resets and stops a stream with a code.
pub(super) fn reset(connection: &mut Connection, id: StreamId, code: VarInt) {
    let _ = connection.send_stream(id).reset(code);
    let _ = connection.recv_stream(id).stop(code);
}

/// Refuses a stream of the session that the game does not use.
pub(super) fn reject(connection: &mut Connection, id: StreamId) {
    reset(connection, id, VarInt::from_u64(UNWANTED).unwrap_or_default());
}

/// Refuses a stream of an unknown session.
pub(super) fn disown(connection: &mut Connection, id: StreamId) {
    reset(connection, id, VarInt::from_u64(NO_SESSION).unwrap_or_default());
}

/// Refuses a unidirectional stream.
pub(super) fn stop(connection: &mut Connection, id: StreamId) {
    let code = VarInt::from_u64(UNWANTED).unwrap_or_default();
    let _ = connection.recv_stream(id).stop(code);
}
