//! A browser's connection on the server: HTTP/3 as far as WebTransport needs it, up to the stream
//! that the game has.

use std::mem;
use std::sync::Arc;

use aws_lc_rs::rand;
use phaselock::identity::Credentials;
use phaselock::wire::disconnect::{Code, Disconnect};
use quinn_proto::{Connection, Dir, ReadError, StreamId};
use web_transport_proto::http::StatusCode;
use web_transport_proto::{Capsule, ConnectResponse, Frame, VarInt};

use super::control::ControlStream;
use super::{BindError, Server, crypto_of};
use crate::identity::Identity;
use crate::identity::web::WebCertificates;
use crate::player::is_bound;
use crate::settings as transport;
pub(super) use crate::web::{ALPN, DATAGRAM_PREFIX, Fault};
use crate::web::{
    Challenge, PATH, PREFACE, Request, RequestReader, STREAM_PREFIX, Said, WebOptions, goodbye,
    settings,
};

/// Streams to this side that a client may have open: three of HTTP/3, and one of a kind that nobody
/// knows, with which browsers try servers (RFC 9114, 6.2.3).
pub(super) const UNIS: u32 = 4;
/// Such streams of one connection in all.
const UNIS_MAX: usize = 16;
/// Streams both ways: the request's and the game's.
const BIDIS: u32 = 2;
/// Bytes on such a stream at most. A browser's settings have 50.
const UNI_BYTES_MAX: usize = 4 * 1024;
/// Bytes that are read at a time.
const READ_BYTES: usize = 2 * 1024;

/// Kinds of streams to this side (RFC 9114, 6.2; RFC 9204, 4.2; WebTransport's own).
const CONTROL: u64 = 0;
const PUSH: u64 = 1;
const ENCODER: u64 = 2;
const DECODER: u64 = 3;
const WEBTRANSPORT: u64 = 0x54;
/// Kind of the frame with the settings.
const SETTINGS: u64 = 4;

/// Rules of a server about browsers, and what they know it by.
#[derive(Debug)]
pub(super) struct Web {
    pub(super) options: WebOptions,
    pub(super) certificates: WebCertificates,
}

impl Server {
    /// The same for browsers too, which come to the same addresses by WebTransport. `identity` is
    /// that with which the server was bound.
    pub fn for_browsers(
        mut self,
        identity: &Identity,
        options: WebOptions,
    ) -> Result<Self, BindError> {
        let quic = crypto_of(identity, true)?;
        let config = transport::server_config(quic, None, self.keys.mint.clone(), UNIS);
        self.keys.crypto = Arc::clone(&config.crypto);
        self.endpoint.set_server_config(Some(Arc::new(config)));
        self.browsers = Some(Arc::new(Web { options, certificates: identity.web() }));
        Ok(self)
    }
}

/// A stream to this side.
#[derive(Debug)]
struct Uni {
    id: StreamId,
    kind: Option<u64>,
    /// Its bytes so far, until they say enough.
    head: Vec<u8>,
    taken: usize,
    has_settings: bool,
}

/// Stages of a session.
#[derive(Debug)]
enum Stage {
    /// Nothing has been asked for.
    Waiting,
    /// The request was refused, and the answer is on its way.
    Refused,
    /// The session has begun, by a request to this authority. The game's stream begins with so many
    /// bytes that have come.
    Begun { authority: String, game: Vec<u8> },
    /// The game has its stream.
    Open { authority: String },
}

/// A browser's session.
#[derive(Debug)]
pub(super) struct WebSession {
    web: Arc<Web>,
    stage: Stage,
    has_settings_out: bool,
    request: Option<StreamId>,
    game: Option<StreamId>,
    reader: RequestReader,
    unis: Vec<Uni>,
    unis_seen: usize,
    challenge: Challenge,
    /// The client's end of the session, as it says.
    left: Option<Disconnect>,
    /// This side's end has been said.
    has_ended: bool,
}

/// Outcome of a reading.
enum Read {
    Bytes(Vec<u8>),
    Blocked,
    Ended,
}

fn read(connection: &mut Connection, id: StreamId, max: usize) -> Read {
    let mut stream = connection.recv_stream(id);
    let Ok(mut chunks) = stream.read(true) else { return Read::Ended };
    match chunks.next(max) {
        Ok(Some(chunk)) => Read::Bytes(chunk.bytes.to_vec()),
        Err(ReadError::Blocked) => Read::Blocked,
        Ok(None) | Err(ReadError::Reset(_)) => Read::Ended,
    }
}

/// Writes a few bytes, for which there is always room on a stream that carries little else.
fn write(connection: &mut Connection, id: StreamId, bytes: &[u8]) {
    // A client that leaves no room for them is not answered, and gives up.
    let _ = connection.send_stream(id).write(bytes);
}

impl WebSession {
    /// Begins, once the handshake says that the client speaks HTTP/3.
    pub(super) fn new(web: Arc<Web>, connection: &mut Connection) -> Result<Self, Fault> {
        let mut challenge = Challenge::default();
        rand::fill(&mut challenge).map_err(|_| Fault::ExcessiveLoad)?;
        connection.set_max_concurrent_streams(Dir::Bi, BIDIS.into());
        Ok(Self {
            web,
            stage: Stage::Waiting,
            has_settings_out: false,
            request: None,
            game: None,
            reader: RequestReader::default(),
            unis: Vec::new(),
            unis_seen: 0,
            challenge,
            left: None,
            has_ended: false,
        })
    }

    /// Takes in what has come on all streams but the game's own.
    pub(super) fn advance(
        &mut self,
        connection: &mut Connection,
        control: &mut ControlStream,
    ) -> Result<(), Fault> {
        if !self.has_settings_out
            && let Some(id) = connection.streams().open(Dir::Uni)
        {
            write(connection, id, &settings());
            self.has_settings_out = true;
        }
        self.take_unis(connection)?;
        while let Some(id) = connection.streams().accept(Dir::Bi) {
            match (self.request, self.game) {
                (None, _) => self.request = Some(id),
                (Some(_), None) => self.game = Some(id),
                (Some(_), Some(_)) => return Err(Fault::ExcessiveLoad),
            }
        }
        self.read_request(connection)?;
        self.begin_game(connection, control)
    }

    fn take_unis(&mut self, connection: &mut Connection) -> Result<(), Fault> {
        while let Some(id) = connection.streams().accept(Dir::Uni) {
            self.unis_seen += 1;
            if self.unis_seen > UNIS_MAX {
                return Err(Fault::ExcessiveLoad);
            }
            let (head, has_settings) = (Vec::new(), false);
            self.unis.push(Uni { id, kind: None, head, taken: 0, has_settings });
        }
        let mut unis = mem::take(&mut self.unis);
        let known = |unis: &[Uni], kind| unis.iter().filter(|it| it.kind == Some(kind)).count();
        let mut at = 0;
        while at < unis.len() {
            let stays = unis[at].advance(connection)?;
            if [CONTROL, ENCODER, DECODER].iter().any(|kind| known(&unis, *kind) > 1) {
                return Err(Fault::StreamCreation);
            }
            if stays {
                at += 1;
            } else {
                unis.swap_remove(at);
            }
        }
        self.unis = unis;
        Ok(())
    }

    fn read_request(&mut self, connection: &mut Connection) -> Result<(), Fault> {
        let Some(id) = self.request.filter(|_| self.left.is_none()) else { return Ok(()) };
        loop {
            match read(connection, id, READ_BYTES) {
                Read::Bytes(bytes) => {
                    for said in self.reader.take(&bytes)? {
                        match said {
                            Said::Asked(request) => self.answer(request, id, connection)?,
                            Said::Left(goodbye) => self.left = Some(goodbye),
                        }
                    }
                }
                Read::Blocked => return Ok(()),
                Read::Ended => {
                    // A page that was closed, or has lost its connection, says no more.
                    self.left.get_or_insert_with(|| goodbye(0, ""));
                    return Ok(());
                }
            }
        }
    }

    fn answer(
        &mut self,
        request: Request,
        id: StreamId,
        connection: &mut Connection,
    ) -> Result<(), Fault> {
        let Request { authority, path, origin } = request;
        let is_here = path == PATH;
        let is_own = self.web.options.allows(origin.as_deref(), &authority);
        let status = if is_here { StatusCode::OK } else { StatusCode::NOT_FOUND };
        let mut answer = Vec::new();
        let response = ConnectResponse::new(status);
        response.encode(&mut answer).map_err(|_| Fault::Message)?;
        write(connection, id, &answer);
        if is_here && is_own {
            self.stage = Stage::Begun { authority, game: Vec::new() };
            return Ok(());
        }
        self.stage = Stage::Refused;
        if is_here {
            tracing::debug!(origin, authority, "a page of elsewhere was refused");
            // Browsers tell nobody about the status of an answer, but about a session's end.
            let text = "this server takes no players from that page; its host may allow it";
            self.finish(connection, &Disconnect::new(Code::ForeignPage, text));
        } else {
            let _ = connection.send_stream(id).finish();
        }
        Ok(())
    }

    /// Hands the second stream to the game, once its first bytes are there.
    fn begin_game(
        &mut self,
        connection: &mut Connection,
        control: &mut ControlStream,
    ) -> Result<(), Fault> {
        let Stage::Begun { authority, game } = &mut self.stage else { return Ok(()) };
        let Some(id) = self.game else { return Ok(()) };
        let expected: Vec<_> = STREAM_PREFIX.into_iter().chain([PREFACE]).collect();
        while game.len() < expected.len() {
            match read(connection, id, expected.len() - game.len()) {
                Read::Bytes(bytes) => game.extend(bytes),
                Read::Blocked => return Ok(()),
                Read::Ended => return Err(Fault::StreamCreation),
            }
            if !expected.starts_with(game) {
                return Err(Fault::StreamCreation);
            }
        }
        self.stage = Stage::Open { authority: mem::take(authority) };
        control.open_at(id, self.challenge.to_vec());
        Ok(())
    }

    /// True if this is the request's stream.
    pub(super) fn is_request(&self, id: StreamId) -> bool {
        self.request == Some(id)
    }

    /// True if the request was refused.
    pub(super) fn is_refused(&self) -> bool {
        matches!(self.stage, Stage::Refused)
    }

    /// The client's end of the session, as it says.
    pub(super) fn left(&self) -> Option<&Disconnect> {
        self.left.as_ref()
    }

    /// True if the credentials were made for this connection, by the owner of their key.
    pub(super) fn is_proven(&self, credentials: &Credentials) -> bool {
        let Stage::Open { authority } = &self.stage else { return false };
        let bindings = self.web.certificates.bindings(&self.challenge, authority);
        bindings.iter().any(|binding| is_bound(binding, credentials))
    }

    /// Ends the session with a goodbye, once. Returns false if there is no arrival to wait for.
    pub(super) fn finish(&mut self, connection: &mut Connection, goodbye: &Disconnect) -> bool {
        let Some(id) = self.request.filter(|_| !self.has_ended) else { return false };
        self.has_ended = true;
        let mut capsule = Vec::new();
        let (code, reason) = (u16::from(goodbye.code).into(), goodbye.text.clone());
        Capsule::CloseWebTransportSession { code, reason }.encode(&mut capsule);
        let mut frame = Vec::new();
        Frame::DATA.encode(&mut frame);
        VarInt::from_u32(capsule.len() as u32).encode(&mut frame);
        frame.extend(capsule);
        write(connection, id, &frame);
        connection.send_stream(id).finish().is_ok()
    }
}

impl Uni {
    /// Takes in what has come. Returns false if nothing more of it is of interest.
    fn advance(&mut self, connection: &mut Connection) -> Result<bool, Fault> {
        loop {
            let bytes = match read(connection, self.id, READ_BYTES) {
                Read::Bytes(bytes) => bytes,
                Read::Blocked => return Ok(true),
                Read::Ended if matches!(self.kind, Some(CONTROL | ENCODER | DECODER)) => {
                    return Err(Fault::ClosedCriticalStream);
                }
                Read::Ended => return Ok(false),
            };
            self.taken += bytes.len();
            if self.taken > UNI_BYTES_MAX {
                return Err(Fault::ExcessiveLoad);
            }
            self.head.extend(bytes);
            if self.kind.is_none() {
                let Some((kind, length)) = crate::web::varint(&self.head) else { continue };
                self.head.drain(..length);
                self.kind = Some(kind);
            }
            match self.kind {
                Some(CONTROL) if !self.has_settings => match crate::web::varint(&self.head) {
                    Some((SETTINGS, _)) => self.has_settings = true,
                    Some(_) => return Err(Fault::MissingSettings),
                    None => continue,
                },
                Some(CONTROL | ENCODER | DECODER) | None => {}
                Some(PUSH | WEBTRANSPORT) => return Err(Fault::StreamCreation),
                // Nobody knows it (RFC 9114, 6.2).
                Some(_) => {
                    let code = Fault::StreamCreation.code();
                    let _ = connection.recv_stream(self.id).stop(code);
                    return Ok(false);
                }
            }
            // Neither settings nor compression are of interest: there is no table to fill.
            self.head.clear();
        }
    }
}
