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
mod fault;
mod frames;
mod proof;
mod qpack;
mod request;
mod settings;

pub use control::{ClientSettings, ControlReader};
pub use fault::Fault;
pub(crate) use frames::{FrameReader, Part, Place, varint};
pub(crate) use proof::{Challenge, Shown, binding};
pub(crate) use qpack::answer;
pub(crate) use request::{PATH, goodbye};
pub use request::{RequestReader, Said, SessionRequest};
pub(crate) use settings::settings;

/// HTTP/3, as TLS names it.
pub(crate) const ALPN: &[u8] = b"h3";
/// First byte from a client on the game's stream: the format of what follows.
pub(crate) const PREFACE: u8 = 1;
/// Kind of a bidirectional WebTransport stream.
pub(crate) const STREAM: u64 = 0x41;
/// Bytes before a client's messages on the game's stream: its kind, and the first session's number.
pub(crate) const STREAM_PREFIX: [u8; 3] = [0x40, STREAM as u8, 0];
/// Byte before each datagram of a connection's first session: a quarter of its number (RFC 9297,
/// 2.1).
pub(crate) const DATAGRAM_PREFIX: u8 = 0;

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
}
