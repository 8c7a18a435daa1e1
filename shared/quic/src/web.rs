//! WebTransport over HTTP/3, by which browsers play: the facts that both sides share
//! (draft-ietf-webtrans-http3, RFC 9114, RFC 9297). The server's side of a connection is in
//! `server/web.rs`, a client's in `client/web.rs`.
//!
//! ```text
//! stream 0   the request, extended CONNECT to /phaselock; later the goodbye, in a capsule
//! stream 4   the game's: 0x41, the session's number, a byte that says how the rest is made, and
//!            then what the native carriage has; the server's side begins with a challenge
//! streams to one side   settings of HTTP/3, and what its own compression has to say: nothing
//! datagrams  a byte before each, the session's number
//! ```

mod frames;
mod proof;
mod request;

use quinn::VarInt;
use web_transport_proto::{Setting, Settings};

pub(crate) use frames::{FrameReader, Part, varint};
pub(crate) use proof::{Challenge, Shown, binding};
pub(crate) use request::goodbye;
pub use request::{Request, RequestReader, Said};

/// HTTP/3, as TLS names it.
pub(crate) const ALPN: &[u8] = b"h3";
/// The path of the request.
pub(crate) const PATH: &str = "/phaselock";
/// First byte of a client on the game's stream: the way in which the rest is made.
pub(crate) const PREFACE: u8 = 1;
/// Bytes before the game's messages on its stream: the kind of stream, and the session's number.
pub(crate) const STREAM_PREFIX: [u8; 3] = [0x40, 0x41, 0];
/// Byte before each datagram: a quarter of the session's number (RFC 9297, 2.1).
pub(crate) const DATAGRAM_PREFIX: u8 = 0;

/// Reasons for which a connection is closed (RFC 9114, 8.1; RFC 9204, 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[repr(u32)]
pub enum Fault {
    /// The visit is over.
    #[error("the visit is over")]
    None = 0x100,
    /// A stream is not for this.
    #[error("a stream is not for this")]
    StreamCreation = 0x103,
    /// A stream has ended that must not.
    #[error("a stream has ended that must not")]
    ClosedCriticalStream = 0x104,
    /// A frame is not for this place.
    #[error("a frame is not for this place")]
    FrameUnexpected = 0x105,
    /// There is too much of something.
    #[error("there is too much of something")]
    ExcessiveLoad = 0x107,
    /// The settings are missing.
    #[error("the settings are missing")]
    MissingSettings = 0x10a,
    /// The request is malformed.
    #[error("the request is malformed")]
    Message = 0x10e,
}

impl Fault {
    pub(crate) fn code(self) -> VarInt {
        VarInt::from_u32(self as u32)
    }
}

/// The first bytes of either side's own stream: settings, of which browsers demand several names of
/// one thing, as drafts had them: Chrome the first two, Safari the last.
pub(crate) fn settings() -> Vec<u8> {
    let (one, mut settings) = (web_transport_proto::VarInt::from_u32(1), Settings::default());
    settings.enable_webtransport(1);
    let max_sessions = web_transport_proto::VarInt::from_u32(0x14e9_cd29);
    settings.insert(Setting(max_sessions), one);
    let mut bytes = Vec::new();
    settings.encode(&mut bytes);
    bytes
}

/// Server's settings for browsers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WebOptions {
    /// Origins of pages on other hosts that may have their players here, in lower case, such as
    /// `https://play.example.org`. A page of the server's own host always may.
    pub origins: Vec<String>,
}

impl WebOptions {
    /// True if a page of that origin may have its players on a server that it asks for by
    /// `authority`: a host, and a port or none. A client that names no origin is no browser.
    pub(crate) fn allows(&self, origin: Option<&str>, authority: &str) -> bool {
        let Some(origin) = origin else { return true };
        let origin = origin.to_ascii_lowercase();
        let host = origin.split_once("://").map(|(_, host)| without_port(host));
        let own = without_port(authority);
        let is_own = host.is_some_and(|host| host == own || is_local(host) && is_local(own));
        is_own || self.origins.contains(&origin)
    }
}

/// True of a name of the machine itself, of which it has several.
fn is_local(host: &str) -> bool {
    host == "localhost" || host == "[::1]" || host == "127.0.0.1"
}

/// The host of an authority, an IPv6 address with its brackets.
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
    fn settings_have_all_names_that_browsers_look_for() {
        let bytes = settings();
        let decoded = Settings::decode(&mut &*bytes).expect("settings");
        assert_eq!(decoded.supports_webtransport(), 1);
        for setting in [0x8, 0x33, 0xff_d277, 0x2b60_3742, 0x14e9_cd29] {
            let setting = Setting(web_transport_proto::VarInt::from_u32(setting));
            assert_eq!(decoded.get(&setting).map(|it| it.into_inner()), Some(1), "{setting:?}");
        }
    }
}
