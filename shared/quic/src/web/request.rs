//! The stream of a request: who asks for a session and where, and the goodbye at its end.

use std::mem;

use phaselock::limits::TEXT_BYTES_MAX;
use phaselock::wire::disconnect::{Code, Disconnect};
use phaselock::wire::text::{clip, printable};
use web_transport_proto::{Capsule, CapsuleError, ConnectRequest};

use super::Fault;
use super::frames::{FrameReader, Part};

/// A request for a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Host by which the client knows the server, and its port unless that is HTTPS's.
    pub authority: String,
    /// The path there.
    pub path: String,
    /// Origin of the page, as the browser says; none of a client that is no browser.
    pub origin: Option<String>,
}

/// A client's word on the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// A wish for a session: once, and before all else.
    Asked(Request),
    /// A goodbye, after which nothing comes.
    Left(Disconnect),
}

/// Reader of the stream, from bytes as they come. What it holds is bounded.
#[derive(Debug, Default)]
pub struct RequestReader {
    frames: FrameReader,
    has_asked: bool,
    has_left: bool,
    capsules: Vec<u8>,
}

impl RequestReader {
    /// Takes in bytes. A fault is the last that comes of them.
    pub fn take(&mut self, bytes: &[u8]) -> Result<Vec<Said>, Fault> {
        let mut said = Vec::new();
        if self.has_left {
            return Ok(said);
        }
        for part in self.frames.take(bytes)? {
            match part {
                Part::Headers(frame) if !mem::replace(&mut self.has_asked, true) => {
                    said.push(Said::Asked(asked(&frame)?));
                }
                Part::Data(bytes) if self.has_asked => {
                    if let Some(goodbye) = self.take_capsules(&bytes)? {
                        self.has_left = true;
                        said.push(Said::Left(goodbye));
                        break;
                    }
                }
                Part::Headers(_) | Part::Data(_) => return Err(Fault::FrameUnexpected),
            }
        }
        Ok(said)
    }

    /// The goodbye, if it came.
    fn take_capsules(&mut self, bytes: &[u8]) -> Result<Option<Disconnect>, Fault> {
        self.capsules.extend_from_slice(bytes);
        loop {
            let mut rest = &*self.capsules;
            match Capsule::decode(&mut rest) {
                Ok(Capsule::CloseWebTransportSession { code, reason }) => {
                    return Ok(Some(goodbye(code, &reason)));
                }
                Ok(_) => {
                    let taken = self.capsules.len() - rest.len();
                    self.capsules.drain(..taken);
                }
                // The stream's bytes are bounded.
                Err(CapsuleError::UnexpectedEnd | CapsuleError::VarInt(_)) => return Ok(None),
                Err(_) => return Err(Fault::Message),
            }
        }
    }
}

/// The request in a frame of headers.
fn asked(frame: &[u8]) -> Result<Request, Fault> {
    let asked = ConnectRequest::decode(&mut &*frame).map_err(|error| {
        tracing::debug!(%error, "a request that is none of WebTransport");
        Fault::Message
    })?;
    let host = asked.url.host_str().unwrap_or_default();
    let port = asked.url.port().map(|port| format!(":{port}")).unwrap_or_default();
    Ok(Request {
        authority: format!("{host}{port}"),
        path: asked.url.path().to_owned(),
        origin: asked.headers.get("origin").map(|it| it.to_str().unwrap_or("?").to_owned()),
    })
}

/// A client's goodbye. Browsers say one without a word for a page that is closed, or loaded anew:
/// whoever played there may be back in a moment.
pub(crate) fn goodbye(code: u32, reason: &str) -> Disconnect {
    if (code, reason) == (0, "") {
        return Disconnect::new(Code::Lost, "the browser has ended the session");
    }
    let code = Code::from(u16::try_from(code).unwrap_or(u16::MAX));
    Disconnect::new(code, printable(clip(reason, TEXT_BYTES_MAX)))
}

#[cfg(test)]
mod tests {
    use web_transport_proto::{Frame, VarInt};

    use super::*;

    fn request() -> Vec<u8> {
        let mut bytes = Vec::new();
        let url: url::Url = "https://example.org:4433/phaselock".parse().expect("a URL");
        ConnectRequest::new(url)
            .with_header(
                "origin".parse().expect("a name"),
                "https://a.example".parse().expect("a value"),
            )
            .encode(&mut bytes)
            .expect("it fits");
        bytes
    }

    fn data(capsule: &Capsule) -> Vec<u8> {
        let (mut inner, mut bytes) = (Vec::new(), Vec::new());
        capsule.encode(&mut inner);
        Frame::DATA.encode(&mut bytes);
        VarInt::from_u32(inner.len() as u32).encode(&mut bytes);
        bytes.extend(inner);
        bytes
    }

    #[test]
    fn a_request_and_a_goodbye_are_read_however_they_are_cut() {
        let close = Capsule::CloseWebTransportSession { code: 7, reason: "off\u{7}".into() };
        let bytes = [request(), data(&close), data(&close)].concat();
        let expected = [
            Said::Asked(Request {
                authority: "example.org:4433".into(),
                path: "/phaselock".into(),
                origin: Some("https://a.example".into()),
            }),
            Said::Left(goodbye(7, "off\u{7}")),
        ];
        for size in 1..=bytes.len() {
            let mut reader = RequestReader::default();
            let said = bytes.chunks(size).flat_map(|chunk| reader.take(chunk).expect("good"));
            assert_eq!(said.collect::<Vec<_>>(), expected, "{size}");
        }
    }

    #[test]
    fn frames_out_of_their_order_are_refused() {
        let close = data(&Capsule::CloseWebTransportSession { code: 0, reason: String::new() });
        assert_eq!(RequestReader::default().take(&close), Err(Fault::FrameUnexpected));
        let twice = [request(), request()].concat();
        assert_eq!(RequestReader::default().take(&twice), Err(Fault::FrameUnexpected));
        assert_eq!(RequestReader::default().take(&[1, 2, 0, 0]), Err(Fault::Message));
    }
}
