//! WebTransport over HTTP/3, which browsers use: facts that both sides share
//! (draft-ietf-webtrans-http3, RFC 9114, RFC 9297). The server's side of a connection is in
//! `server/web.rs`, a client's in `client/web.rs`.
//!
//! ```text
//! request    extended CONNECT to /phaselock; later the goodbye, in a capsule. The number of its
//!            stream, usually 0, is the session's
//! stream     the game's: 0x41, the session's number, a byte for the format of the rest, and then
//!            the data of a native connection; the server's side begins with a challenge
//! unidirectional streams   settings of HTTP/3, and its compression, which is unused
//! datagrams  each prefixed with a quarter of the session's number
//! ```

mod control;
mod frames;
mod proof;
mod qpack;
mod request;

use quinn::VarInt;
use web_transport_proto::{Setting, Settings};

pub use control::{ClientSettings, ControlReader};
pub(crate) use frames::{FrameReader, Part, Place, varint};
pub(crate) use proof::{Challenge, Shown, binding};
pub(crate) use qpack::answer;
pub(crate) use request::goodbye;
pub use request::{RequestReader, Said, SessionRequest};

/// HTTP/3, as TLS names it.
pub(crate) const ALPN: &[u8] = b"h3";
/// The path of the request.
pub(crate) const PATH: &str = "/phaselock";
/// First byte from a client on the game's stream: the format of what follows.
pub(crate) const PREFACE: u8 = 1;
/// Kind of a bidirectional WebTransport stream.
pub(crate) const STREAM: u64 = 0x41;
/// Bytes before a client's messages on the game's stream: its kind, and the first session's number.
pub(crate) const STREAM_PREFIX: [u8; 3] = [0x40, STREAM as u8, 0];
/// Byte before each datagram of a connection's first session: a quarter of its number (RFC 9297,
/// 2.1).
pub(crate) const DATAGRAM_PREFIX: u8 = 0;

/// Numbers of HTTP/3 settings. Browsers look for that of sessions under one of three names from
/// different drafts: 02, 07, 13 and 15 of draft-ietf-webtrans-http3.
const ENABLE_CONNECT_PROTOCOL: u64 = 0x8;
const H3_DATAGRAM: u64 = 0x33;
const H3_DATAGRAM_OLD: u64 = 0xff_d277;
const WT_MAX_SESSIONS: u64 = 0x14e9_cd29;
const WT_ENABLED: u64 = 0x2c7c_f000;
/// Flow-control limits of a session (draft-ietf-webtrans-http3-16, 9.2).
const WT_INITIAL_MAX_DATA: u64 = 0x2b61;
const WT_INITIAL_MAX_STREAMS_UNI: u64 = 0x2b64;
const WT_INITIAL_MAX_STREAMS_BIDI: u64 = 0x2b65;
/// Limits that are never reached: QUIC's own are far lower, and those count. A client that finds
/// none opens no stream. Both are exact in a 64-bit float.
const STREAMS_MAX: u64 = 1 << 32;
const DATA_MAX: u64 = 1 << 52;

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

/// Returns the first bytes of either side's control stream: settings, including those of all drafts
/// that browsers and libraries look for.
pub(crate) fn settings() -> Vec<u8> {
    let number = |value: u64| web_transport_proto::VarInt::try_from(value).unwrap_or_default();
    let mut settings = Settings::default();
    settings.enable_webtransport(1);
    for (id, value) in [
        (WT_MAX_SESSIONS, 1),
        (WT_ENABLED, 1),
        (WT_INITIAL_MAX_DATA, DATA_MAX),
        (WT_INITIAL_MAX_STREAMS_UNI, STREAMS_MAX),
        (WT_INITIAL_MAX_STREAMS_BIDI, STREAMS_MAX),
    ] {
        settings.insert(Setting(number(id)), number(value));
    }
    let section_bytes_max = number(qpack::SECTION_BYTES_MAX as u64);
    settings.insert(Setting::MAX_FIELD_SECTION_SIZE, section_bytes_max);
    let mut bytes = Vec::new();
    settings.encode(&mut bytes);
    bytes
}

/// A server's settings for browsers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WebOptions {
    /// Origins of pages on other hosts whose players may connect, in lower case, such as
    /// `https://play.example.org`. Pages on the server's own host are always accepted.
    pub origins: Vec<String>,
}

impl WebOptions {
    /// Whether players on a page of that origin may connect to a server that they request by
    /// `authority`: a host, optionally with a port. A client without an origin is not a browser.
    pub(crate) fn allows(&self, origin: Option<&str>, authority: &str) -> bool {
        let Some(origin) = origin else { return true };
        let origin = origin.to_ascii_lowercase();
        let host = origin.split_once("://").map(|(_, host)| without_port(host));
        let own = without_port(authority);
        let is_own = host.is_some_and(|host| host == own || is_local(host) && is_local(own));
        is_own || self.origins.contains(&origin)
    }
}

/// Whether a name is one of the machine itself, which has several.
fn is_local(host: &str) -> bool {
    host == "localhost" || host == "[::1]" || host == "127.0.0.1"
}

/// Returns the host of an authority; an IPv6 address keeps its brackets.
pub(crate) fn without_port(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => host,
        _ => authority,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_the_own_host_and_named_ones_are_allowed() {
        let options = WebOptions { origins: vec!["https://play.example.org".into()] };
        let allows = |origin, authority| options.allows(Some(origin), authority);
        assert!(allows("https://game.example.org", "game.example.org:4433"));
        assert!(allows("http://127.0.0.1:8080", "127.0.0.1:4433"));
        assert!(allows("https://[::1]", "[::1]:4433"));
        assert!(allows("http://localhost:4433", "127.0.0.1:4433"));
        assert!(!allows("http://localhost:4433", "192.168.0.2:4433"));
        assert!(!allows("http://192.168.0.2", "127.0.0.1:4433"));
        assert!(allows("https://Play.Example.org", "game.example.org"));
        for origin in [
            "https://evil.example",
            "https://game.example.org.evil.example",
            "https://play.example.org:1",
            "http://play.example.org",
            "null",
            "",
            "game.example.org",
        ] {
            assert!(!allows(origin, "game.example.org:4433"), "{origin}");
        }
        assert!(options.allows(None, "game.example.org"), "no browser");
    }

    #[test]
    fn settings_have_all_names_that_clients_look_for() {
        let bytes = settings();
        let decoded = Settings::decode(&mut &*bytes).expect("settings");
        assert_eq!(decoded.supports_webtransport(), 1);
        let value = |id: u64| {
            let id = Setting(web_transport_proto::VarInt::try_from(id).expect("a number"));
            decoded.get(&id).map(|it| it.into_inner())
        };
        for id in [0x8, 0x33, 0xff_d277, 0x2b60_3742, 0xc671_706a, 0x14e9_cd29, 0x2c7c_f000] {
            assert_eq!(value(id), Some(1), "{id:#x}");
        }
        for id in [0x2b61, 0x2b64, 0x2b65] {
            assert!(value(id).is_some_and(|value| value >= 1 << 32), "{id:#x}");
        }
        // The server's own reader accepts them, like those of a client.
        let settings = ControlReader::default().take(&bytes[1..]).expect("allowed");
        let expected = ClientSettings { has_datagrams: true, data_max: Some(DATA_MAX) };
        assert_eq!(settings, Some(expected));
    }
}
