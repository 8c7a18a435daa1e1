//! Why a connection or a stream is closed.

use quinn::VarInt;

/// Why a connection or a stream is closed (RFC 9114, 8.1; RFC 9204, 6;
/// draft-ietf-webtrans-http3-16, 9.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[repr(u32)]
pub enum Fault {
    /// No error.
    #[error("no error")]
    None = 0x100,
    /// A stream of this kind is not accepted.
    #[error("a stream of this kind is not accepted")]
    StreamCreation = 0x103,
    /// A stream that must stay open was closed.
    #[error("a stream that must stay open was closed")]
    ClosedCriticalStream = 0x104,
    /// A frame is not allowed here.
    #[error("a frame is not allowed here")]
    FrameUnexpected = 0x105,
    /// A frame is malformed.
    #[error("a frame is malformed")]
    Frame = 0x106,
    /// A limit was exceeded.
    #[error("a limit was exceeded")]
    ExcessiveLoad = 0x107,
    /// An identifier is invalid.
    #[error("an identifier is invalid")]
    Id = 0x108,
    /// The settings are invalid or incomplete.
    #[error("the settings are invalid or incomplete")]
    Settings = 0x109,
    /// The settings are missing.
    #[error("the settings are missing")]
    MissingSettings = 0x10a,
    /// A request ends before it is complete.
    #[error("a request ends before it is complete")]
    RequestIncomplete = 0x10d,
    /// The request is malformed.
    #[error("the request is malformed")]
    Message = 0x10e,
    /// Compressed headers cannot be decoded.
    #[error("compressed headers cannot be decoded")]
    Decompression = 0x200,
    /// A flow-control limit was lowered.
    #[error("a flow-control limit was lowered")]
    FlowControl = 0x045d_4487,
}

impl Fault {
    pub(crate) fn code(self) -> VarInt {
        VarInt::from_u32(self as u32)
    }
}
