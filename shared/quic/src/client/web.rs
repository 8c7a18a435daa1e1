//! A client of WebTransport that behaves like a browser, for programs that test servers.

use std::time::Duration;

use bytes::{Buf, Bytes};
use phaselock::fingerprint::Fingerprint;
use phaselock::identity::Credentials;
use phaselock::limits::TEXT_BYTES_MAX;
use phaselock::wire::disconnect::{Code, Disconnect};
use phaselock::wire::text::{clip, printable};
use quinn::{Connection, RecvStream, SendStream};
use tokio::time::timeout;
use web_transport_proto::http::HeaderValue;
use web_transport_proto::{Capsule, ConnectRequest, ConnectResponse, Frame};

use crate::player::PlayerKey;
use crate::web::{
    Challenge, DATAGRAM_PREFIX, Fault, FrameReader, PATH, PREFACE, Part, Place, STREAM_PREFIX,
    Shown, binding, settings,
};

/// How long to wait for the server to receive a goodbye.
const GOODBYE: Duration = Duration::from_millis(500);
/// Bytes per read.
const READ_BYTES: usize = 2048;

/// The streams around the game's.
#[derive(Debug)]
pub(super) struct Around {
    /// Kept open, because HTTP/3 ends with it.
    _settings: SendStream,
    request: SendStream,
    answers: RecvStream,
    reader: FrameReader,
}

/// A session that has begun.
#[derive(Debug)]
pub(super) struct Begun {
    pub(super) send: SendStream,
    pub(super) receive: RecvStream,
    pub(super) credentials: Credentials,
    pub(super) around: Around,
}

/// Requests a session, and proves the player's key to the server with this certificate. An error is
/// a sentence.
pub(super) async fn begin(
    connection: &Connection,
    authority: &str,
    origin: Option<&str>,
    certificate: Fingerprint,
    key: &PlayerKey,
) -> Result<Begun, String> {
    let failed = |what: &str| format!("the server does not speak WebTransport: {what}");
    let gone = |_| failed("it closed the connection");
    let mut own = connection.open_uni().await.map_err(gone)?;
    own.write_all(&settings()).await.map_err(|_| failed("it did not accept the settings"))?;
    let (mut request, answers) = connection.open_bi().await.map_err(gone)?;
    let url = format!("https://{authority}{PATH}");
    let url = url.parse::<url::Url>().map_err(|error| error.to_string())?;
    let mut asked = ConnectRequest::new(url);
    if let Some(origin) = origin.and_then(|origin| HeaderValue::from_str(origin).ok()) {
        asked.headers.insert("origin", origin);
    }
    let mut bytes = Vec::new();
    asked.encode(&mut bytes).map_err(|error| error.to_string())?;
    request.write_all(&bytes).await.map_err(|_| failed("it did not accept the request"))?;
    let reader = FrameReader::new(Place::Request);
    let mut around = Around { _settings: own, request, answers, reader };
    let headers = loop {
        match around.next().await {
            Some(Part::Headers(headers)) => break headers,
            Some(_) => {}
            None => return Err(failed("it did not answer the request")),
        }
    };
    if let Err(error) = ConnectResponse::decode(&mut &*headers) {
        return Err(format!("the server refused the session: {error}"));
    }
    let (mut send, mut receive) = connection.open_bi().await.map_err(gone)?;
    let first: Vec<u8> = STREAM_PREFIX.into_iter().chain([PREFACE]).collect();
    // The server may have ended the session already; it says why.
    let _ = send.write_all(&first).await;
    let mut challenge = Challenge::default();
    if receive.read_exact(&mut challenge).await.is_err() {
        let goodbye = around.said().await;
        return Err(goodbye.map_or_else(|| failed("it sent no challenge"), |it| it.text));
    }
    let bound = binding(&challenge, &Shown::Hash(certificate));
    let credentials = key.prove(&bound).map_err(|error| error.to_string())?;
    Ok(Begun { send, receive, credentials, around })
}

impl Around {
    async fn next(&mut self) -> Option<Part> {
        loop {
            if let Some(part) = self.reader.next().ok()? {
                return Some(part);
            }
            let chunk = self.answers.read_chunk(READ_BYTES, true).await.ok()??;
            self.reader.feed(&chunk.bytes);
        }
    }

    /// Returns the server's goodbye, or `None` at the end of the connection.
    pub(super) async fn said(&mut self) -> Option<Disconnect> {
        loop {
            let Part::Data(bytes) = self.next().await? else { continue };
            let capsule = Capsule::decode(&mut &*bytes);
            if let Ok(Capsule::CloseWebTransportSession { code, reason }) = capsule {
                let code = Code::from(u16::try_from(code).unwrap_or(u16::MAX));
                let text = printable(clip(&reason, TEXT_BYTES_MAX));
                return Some(Disconnect::new(code, text));
            }
        }
    }

    /// Says goodbye, and closes the connection.
    pub(super) async fn close(mut self, connection: &Connection, goodbye: &Disconnect) {
        let mut capsule = Vec::new();
        let (code, reason) = (u16::from(goodbye.code).into(), goodbye.text.clone());
        Capsule::CloseWebTransportSession { code, reason }.encode(&mut capsule);
        let mut frame = Vec::new();
        Frame::DATA.encode(&mut frame);
        web_transport_proto::VarInt::from_u32(capsule.len() as u32).encode(&mut frame);
        frame.extend(capsule);
        let told = async {
            let written = self.request.write_all(&frame).await;
            let _ = written.is_ok() && self.request.finish().is_ok();
            let _ = self.request.stopped().await;
        };
        let _ = timeout(GOODBYE, told).await;
        connection.close(Fault::None.code(), b"");
    }
}

/// Returns a datagram with its prefix, ready to be sent.
pub(super) fn wrapped(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.insert(0, DATAGRAM_PREFIX);
    bytes
}

/// Returns a datagram without its prefix, if it belongs to the session.
pub(super) fn unwrapped(mut bytes: Bytes) -> Option<Bytes> {
    if bytes.first() != Some(&DATAGRAM_PREFIX) {
        return None;
    }
    bytes.advance(1);
    Some(bytes)
}
