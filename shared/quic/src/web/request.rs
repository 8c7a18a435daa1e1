//! The stream of a request: who asks for a session and where, and the goodbye at its end.

use phaselock::limits::TEXT_BYTES_MAX;
use phaselock::wire::disconnect::{Code, Disconnect};
use phaselock::wire::text::{clip, printable};
use url::Url;
use web_transport_proto::http::StatusCode;
use web_transport_proto::{Capsule, CapsuleError};

use super::fault::Fault;
use super::frames::{FrameReader, Part, Place, varint};
use super::qpack::{Field, SectionError, fields};

/// The path of the request.
pub(crate) const PATH: &str = "/phaselock";
/// Protocol names of WebTransport: up to draft 14, and since (draft-ietf-webtrans-http3, 9.1).
const PROTOCOLS: [&str; 2] = ["webtransport", "webtransport-h3"];
/// Kind of the capsule that allows more data in a session (draft-ietf-webtrans-http3-16, 5.6.4).
const WT_MAX_DATA: u64 = 0x190b_4d3d;
/// Bytes before a capsule in a frame of its own: the frame's kind and length.
const FRAME_HEAD_BYTES: usize = 2;

/// A request for a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRequest {
    /// Host by which the client knows the server, with its port unless that is HTTPS's default.
    pub authority: String,
    /// Origin of the page according to the browser; `None` if the client is not a browser.
    pub origin: Option<String>,
}

/// What a client says on the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// A request for a session: once, and first.
    Asked(SessionRequest),
    /// A request for something else, with the status of the answer. Nothing comes after it.
    Refused(StatusCode),
    /// Permission to send up to this many bytes in the session, in total.
    Allowed(u64),
    /// A goodbye, after which nothing comes.
    Left(Disconnect),
}

/// Stages of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Begun,
    Asked,
    Over,
}

/// Reads the stream incrementally. Its memory is bounded.
#[derive(Debug)]
pub struct RequestReader {
    frames: FrameReader,
    stage: Stage,
    capsules: Vec<u8>,
    allowed: u64,
}

impl Default for RequestReader {
    fn default() -> Self {
        let frames = FrameReader::new(Place::Request);
        Self { frames, stage: Stage::Begun, capsules: Vec::new(), allowed: 0 }
    }
}

impl RequestReader {
    /// Reads bytes. Must not be called after a fault.
    pub fn take(&mut self, bytes: &[u8]) -> Result<Vec<Said>, Fault> {
        let mut said = Vec::new();
        self.frames.feed(bytes);
        while self.stage != Stage::Over
            && let Some(part) = self.frames.next()?
        {
            match (part, self.stage) {
                (Part::Headers(frame), Stage::Begun) => said.push(self.take_headers(&frame)?),
                (Part::HeadersTooLong, Stage::Begun) => said.push(self.refuse(too_long())),
                (Part::Data(bytes), Stage::Asked) => self.take_capsules(&bytes, &mut said)?,
                _ => return Err(Fault::FrameUnexpected),
            }
        }
        Ok(said)
    }

    fn take_headers(&mut self, frame: &[u8]) -> Result<Said, Fault> {
        let section = [0; 2]
            .into_iter()
            .try_fold(frame, |rest, _: u8| varint(rest).map(|(_, length)| &rest[length..]));
        match fields(section.unwrap_or_default()) {
            Err(SectionError::Unreadable) => Err(Fault::Decompression),
            Err(SectionError::TooLong) => Ok(self.refuse(too_long())),
            Ok(fields) => Ok(match asked(&fields) {
                Ok(request) => {
                    self.stage = Stage::Asked;
                    Said::Asked(request)
                }
                Err(status) => self.refuse(status),
            }),
        }
    }

    fn refuse(&mut self, status: StatusCode) -> Said {
        self.stage = Stage::Over;
        Said::Refused(status)
    }

    fn take_capsules(&mut self, bytes: &[u8], said: &mut Vec<Said>) -> Result<(), Fault> {
        self.capsules.extend_from_slice(bytes);
        loop {
            let mut rest = &*self.capsules;
            let capsule = match Capsule::decode(&mut rest) {
                Ok(capsule) => capsule,
                // The stream's bytes are bounded.
                Err(CapsuleError::UnexpectedEnd | CapsuleError::VarInt(_)) => return Ok(()),
                Err(_) => return Err(Fault::Message),
            };
            let taken = self.capsules.len() - rest.len();
            self.capsules.drain(..taken);
            match capsule {
                Capsule::CloseWebTransportSession { code, reason } => {
                    self.stage = Stage::Over;
                    said.push(Said::Left(goodbye(code, &reason)));
                    return Ok(());
                }
                Capsule::Unknown { typ, payload } if typ.into_inner() == WT_MAX_DATA => {
                    said.extend(self.allow(&payload, taken)?);
                }
                _ => {}
            }
        }
    }

    /// Handles a capsule of that many bytes that allows more data. Long sessions need them, so one
    /// that really allows more does not count towards the limit.
    fn allow(&mut self, payload: &[u8], taken: usize) -> Result<Option<Said>, Fault> {
        let Some((allowed, length)) = varint(payload) else { return Err(Fault::Message) };
        if length != payload.len() {
            return Err(Fault::Message);
        }
        if allowed < self.allowed {
            return Err(Fault::FlowControl);
        }
        if allowed == self.allowed {
            return Ok(None);
        }
        self.allowed = allowed;
        self.frames.forgive(taken + FRAME_HEAD_BYTES);
        Ok(Some(Said::Allowed(allowed)))
    }
}

fn too_long() -> StatusCode {
    StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE
}

/// Returns the request in these fields, or the status to refuse them with.
fn asked(fields: &[Field]) -> Result<SessionRequest, StatusCode> {
    check_order(fields)?;
    let text = |name: &str| -> Result<Option<&str>, StatusCode> {
        let Some(value) = only(fields, name)? else { return Ok(None) };
        str::from_utf8(value).map(Some).map_err(|_| StatusCode::BAD_REQUEST)
    };
    let method = text(":method")?.ok_or(StatusCode::BAD_REQUEST)?;
    let protocol = text(":protocol")?;
    if method == "CONNECT" && protocol.is_none() {
        // This is not a proxy.
        return Err(StatusCode::METHOD_NOT_ALLOWED);
    }
    let path = text(":path")?.ok_or(StatusCode::BAD_REQUEST)?;
    let scheme = text(":scheme")?.ok_or(StatusCode::BAD_REQUEST)?;
    if method != "CONNECT" {
        let is_here = path.split('?').next() == Some(PATH);
        let status = if is_here { StatusCode::METHOD_NOT_ALLOWED } else { StatusCode::NOT_FOUND };
        return Err(status);
    }
    if protocol.is_none_or(|protocol| !PROTOCOLS.contains(&protocol)) {
        // RFC 9220, 3.
        return Err(StatusCode::NOT_IMPLEMENTED);
    }
    let authority = text(":authority")?.unwrap_or_default();
    let url = Url::parse(&format!("https://{authority}{path}"));
    let url = url.map_err(|_| StatusCode::BAD_REQUEST)?;
    // A URL parser would take these for the end of the host, or for a user name.
    let is_host = !authority.is_empty() && !authority.contains(['@', '/', '\\', '?', '#']);
    if scheme != "https" || !is_host || !path.starts_with('/') {
        return Err(StatusCode::BAD_REQUEST);
    }
    if url.path() != PATH {
        return Err(StatusCode::NOT_FOUND);
    }
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    let host = url.host_str().unwrap_or_default();
    let origin = only(fields, "origin")?;
    let origin = origin.map(|it| str::from_utf8(it).unwrap_or("?").to_owned());
    Ok(SessionRequest { authority: format!("{host}{port}"), origin })
}

/// Returns the only field with this name, if there is one. Fails if there are several.
fn only<'a>(fields: &'a [Field], name: &str) -> Result<Option<&'a [u8]>, StatusCode> {
    let mut found = fields.iter().filter(|field| field.name == name.as_bytes());
    let first = found.next().map(|field| &*field.value);
    if found.next().is_some() { Err(StatusCode::BAD_REQUEST) } else { Ok(first) }
}

/// Checks that names are in lower case, and that pseudo-header fields come first and belong to a
/// request (RFC 9114, 4.2 and 4.3).
fn check_order(fields: &[Field]) -> Result<(), StatusCode> {
    const KNOWN: [&str; 5] = [":method", ":scheme", ":authority", ":path", ":protocol"];
    let is_pseudo = |field: &&Field| field.name.starts_with(b":");
    let pseudo = fields.iter().take_while(is_pseudo).count();
    let known = |field: &Field| KNOWN.iter().any(|name| field.name == name.as_bytes());
    let ordinary = |field: &Field| {
        let is_name = |byte: &u8| byte.is_ascii_graphic() && !byte.is_ascii_uppercase();
        !field.name.is_empty() && !is_pseudo(&field) && field.name.iter().all(is_name)
    };
    let is_good = fields[..pseudo].iter().all(known) && fields[pseudo..].iter().all(ordinary);
    if is_good { Ok(()) } else { Err(StatusCode::BAD_REQUEST) }
}

/// Returns a client's goodbye. Browsers send one without text for a page that is closed or
/// reloaded: the player may be back in a moment.
pub(crate) fn goodbye(code: u32, reason: &str) -> Disconnect {
    if (code, reason) == (0, "") {
        return Disconnect::new(Code::Lost, "the browser has ended the session");
    }
    let code = Code::from(u16::try_from(code).unwrap_or(u16::MAX));
    Disconnect::new(code, printable(clip(reason, TEXT_BYTES_MAX)))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use web_transport_proto::{ConnectRequest, Frame, VarInt};

    use super::*;

    fn request() -> Vec<u8> {
        let mut bytes = Vec::new();
        let url: Url = "https://example.org:4433/phaselock".parse().expect("a URL");
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

    fn max_data(bytes: u32) -> Vec<u8> {
        let mut payload = Vec::new();
        VarInt::from_u32(bytes).encode(&mut payload);
        let typ = VarInt::from_u32(WT_MAX_DATA as u32);
        data(&Capsule::Unknown { typ, payload: Bytes::from(payload) })
    }

    /// Returns a frame with these fields, without compression.
    fn headers(fields: &[(&str, &str)]) -> Vec<u8> {
        let mut section = vec![0, 0];
        for (name, value) in fields {
            section.push(0x20 | name.len().min(7) as u8);
            section.extend(name.len().checked_sub(7).map(|more| more as u8));
            section.extend(name.bytes());
            section.push(value.len() as u8);
            section.extend(value.bytes());
        }
        [&[1, 0x40 | (section.len() >> 8) as u8, section.len() as u8][..], &section].concat()
    }

    #[test]
    fn a_request_and_a_goodbye_are_read_however_they_are_cut() {
        let close = Capsule::CloseWebTransportSession { code: 7, reason: "off\u{7}".into() };
        let bytes = [request(), max_data(9), data(&close), data(&close)].concat();
        let expected = [
            Said::Asked(SessionRequest {
                authority: "example.org:4433".into(),
                origin: Some("https://a.example".into()),
            }),
            Said::Allowed(9),
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
        let garbage = [1, 3, 0xff, 0xff, 0xff];
        assert_eq!(RequestReader::default().take(&garbage), Err(Fault::Decompression));
    }

    #[test]
    fn requests_for_anything_else_have_a_status() {
        const METHOD: (&str, &str) = (":method", "CONNECT");
        const PROTOCOL: (&str, &str) = (":protocol", "webtransport-h3");
        const SCHEME: (&str, &str) = (":scheme", "https");
        const HOST: (&str, &str) = (":authority", "a.example");
        const HERE: (&str, &str) = (":path", "/phaselock");
        let good = [METHOD, PROTOCOL, SCHEME, HOST, HERE];
        let without = |at: usize, other: Option<(&'static str, &'static str)>| {
            let mut fields = good.to_vec();
            fields.remove(at);
            fields.extend(other);
            fields
        };
        for (fields, status) in [
            (without(0, Some((":method", "GET"))), 405),
            (vec![(":method", "GET"), SCHEME, HOST, (":path", "/")], 404),
            (vec![(":method", "GET"), SCHEME, HOST, (":path", "/phaselock?x")], 405),
            (vec![(":method", "GET"), SCHEME, HOST], 400),
            (vec![METHOD, HOST], 405),
            (without(1, Some((":protocol", "websocket"))), 501),
            (without(2, Some((":scheme", "http"))), 400),
            (without(3, None), 400),
            (without(3, Some((":authority", "me@a.example"))), 400),
            (without(3, Some((":authority", "a b"))), 400),
            (without(4, None), 400),
            (without(4, Some((":path", "/other"))), 404),
            (without(4, Some((":path", "phaselock"))), 400),
            // Twice, unknown, out of place, in capitals.
            ([&good[..], &[HERE]].concat(), 400),
            ([&good[..], &[(":status", "200")]].concat(), 400),
            ([&good[..4], &[("a", "b"), HERE]].concat(), 400),
            ([&good[..], &[("Origin", "b")]].concat(), 400),
            (vec![], 400),
        ] {
            let said = RequestReader::default().take(&headers(&fields)).expect("an answer");
            let expected = Said::Refused(StatusCode::from_u16(status).expect("a status"));
            assert_eq!(said, [expected], "{fields:?}");
        }
        for protocol in PROTOCOLS {
            let fields = without(1, Some((":protocol", protocol)));
            let said = RequestReader::default().take(&headers(&fields)).expect("an answer");
            assert!(matches!(&*said, [Said::Asked(_)]), "{said:?}");
        }
        let giant = [1, 0x80, 1, 0, 0, 1, 2, 3];
        let said = RequestReader::default().take(&giant).expect("an answer");
        assert_eq!(said, [Said::Refused(too_long())]);
    }

    #[test]
    fn permissions_to_send_come_without_end_and_never_shrink() {
        let mut reader = RequestReader::default();
        reader.take(&request()).expect("good");
        for bytes in 1..10_000 {
            let said = reader.take(&max_data(bytes)).expect("each allows more");
            assert_eq!(said, [Said::Allowed(bytes.into())]);
        }
        assert_eq!(reader.take(&max_data(9_999)), Ok(vec![]));
        assert_eq!(reader.take(&max_data(9_998)), Err(Fault::FlowControl));
        let mut reader = RequestReader::default();
        reader.take(&request()).expect("good");
        let ends = (0..10_000).find_map(|_| reader.take(&max_data(5)).err());
        assert_eq!(ends, Some(Fault::ExcessiveLoad), "no limit allows more");
    }
}
