//! Goodbyes on QUIC: code and text of an application close.

use bytes::Bytes;
use phaselock::limits::TEXT_BYTES_MAX;
use phaselock::wire::disconnect::{Code, Disconnect};
use phaselock::wire::text::{clip, printable};
use quinn::{ApplicationClose, Connection, VarInt};

/// Returns code and text of a goodbye for closing a connection, in case the last message was lost.
pub(crate) fn closing(goodbye: &Disconnect) -> (VarInt, Bytes) {
    let code = VarInt::from_u32(u16::from(goodbye.code).into());
    (code, Bytes::copy_from_slice(goodbye.text.as_bytes()))
}

/// Closes a connection with a goodbye.
pub(crate) fn close(connection: &Connection, goodbye: &Disconnect) {
    let (code, text) = closing(goodbye);
    connection.close(code, &text);
}

/// Returns the goodbye that the peer closed with; its text may be anything.
pub(crate) fn said(close: &ApplicationClose) -> Disconnect {
    let text = String::from_utf8_lossy(&close.reason);
    let code = u16::try_from(close.error_code.into_inner()).unwrap_or(u16::MAX);
    Disconnect::new(Code::from(code), printable(clip(&text, TEXT_BYTES_MAX)))
}
