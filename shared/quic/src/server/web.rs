//! A browser's connection on the server: HTTP/3 as far as WebTransport needs it, except for the
//! game's stream. A refused request is answered on its stream; a client that violates the protocol
//! is disconnected with an error code.

mod requests;
mod streams;
mod unis;

use std::mem;
use std::sync::Arc;

use phaselock::identity::Credentials;
use phaselock::wire::disconnect::{Code, Disconnect};
use phaselock::wire::query::WebIdentity;
use quinn_proto::{Connection, Dir, StreamId};
use web_transport_proto::http::StatusCode;
use web_transport_proto::{Capsule, Frame, VarInt};

use self::requests::{Asked, Requests};
use self::streams::{Read, grant, read, reject, respond, write};
use self::unis::Unis;
use super::control::ControlStream;
use crate::identity::web::WebCertificates;
use crate::player::is_bound;
use crate::web::{
    Challenge, ClientSettings, Fault, PREFACE, RequestReader, Said, SessionRequest, WebOptions,
    goodbye, settings, varint,
};

/// Number of streams to this side that a client may have open: three of HTTP/3, and one of an
/// unknown kind, with which browsers test servers (RFC 9114, 6.2.3).
pub(super) const UNIS: u32 = 4;
/// Number of bidirectional streams: the request's, the game's, and two to be refused.
const BIDIS: u32 = 4;

/// A server's settings for browsers, and the certificates by which they know it.
#[derive(Debug)]
pub(super) struct Web {
    pub(super) options: WebOptions,
    pub(super) certificates: WebCertificates,
}

impl Web {
    /// Returns how browsers recognize the server.
    pub(super) fn identity(&self) -> WebIdentity {
        let host = self.certificates.host().unwrap_or_default();
        WebIdentity { hashes: self.certificates.hashes(), host }
    }
}

/// State of a session.
#[derive(Debug)]
enum Stage {
    /// No session has been granted.
    Waiting,
    /// The request was refused with a goodbye, which is in flight.
    Refused,
    /// The session has begun, with a request to this authority.
    Begun { authority: String },
    /// The game has its stream.
    Open { authority: String },
}

/// The stream of a request that was granted, or refused with a goodbye.
#[derive(Debug)]
struct Session {
    id: StreamId,
    reader: RequestReader,
}

/// A browser's session.
#[derive(Debug)]
pub(super) struct WebSession {
    web: Arc<Web>,
    stage: Stage,
    has_settings_out: bool,
    /// The client's settings, once received. Nothing is granted before.
    client: Option<ClientSettings>,
    unis: Unis,
    requests: Requests,
    /// Requests for a session that wait for the client's settings.
    asked: Vec<Asked>,
    session: Option<Session>,
    challenge: Challenge,
    /// The client's goodbye.
    left: Option<Disconnect>,
    /// Whether this side's goodbye was sent.
    has_ended: bool,
}

impl WebSession {
    /// Starts HTTP/3 once the handshake shows that the client speaks it.
    pub(super) fn new(web: Arc<Web>, connection: &mut Connection) -> Result<Self, Fault> {
        let mut challenge = Challenge::default();
        getrandom::fill(&mut challenge).map_err(|_| Fault::ExcessiveLoad)?;
        connection.set_max_concurrent_streams(Dir::Bi, BIDIS.into());
        Ok(Self {
            web,
            stage: Stage::Waiting,
            has_settings_out: false,
            client: None,
            unis: Unis::default(),
            requests: Requests::default(),
            asked: Vec::new(),
            session: None,
            challenge,
            left: None,
            has_ended: false,
        })
    }

    /// Handles data on all streams except the game's.
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
        if let Some(settings) = self.unis.advance(connection)? {
            self.client = Some(settings);
        }
        self.asked.extend(self.requests.advance(connection)?);
        if let Some(settings) = self.client {
            for asked in mem::take(&mut self.asked) {
                self.answer(asked, settings, connection, control)?;
            }
        }
        self.read_session(connection, control)?;
        self.begin_game(connection, control)
    }

    /// Answers a request for a session.
    fn answer(
        &mut self,
        asked: Asked,
        settings: ClientSettings,
        connection: &mut Connection,
        control: &mut ControlStream,
    ) -> Result<(), Fault> {
        let Asked { id, request, reader, following } = asked;
        if self.session.is_some() {
            respond(connection, id, StatusCode::TOO_MANY_REQUESTS);
            return Ok(());
        }
        if !settings.has_datagrams || connection.datagrams().max_size().is_none() {
            return Err(Fault::Settings);
        }
        grant(connection, id);
        self.session = Some(Session { id, reader });
        if let Some(max) = settings.data_max {
            control.allow(max);
        }
        self.begin(request, connection);
        self.take_said(following, control);
        Ok(())
    }

    fn begin(&mut self, request: SessionRequest, connection: &mut Connection) {
        let SessionRequest { authority, origin } = request;
        if self.web.options.allows(origin.as_deref(), &authority) {
            self.stage = Stage::Begun { authority };
            return;
        }
        self.stage = Stage::Refused;
        tracing::debug!(origin, authority, "refused a page from another host");
        // Browsers hide the status of an answer from the page, but not the end of a session.
        let text = "this server does not accept players from that page; its host can allow it";
        self.finish(connection, &Disconnect::new(Code::ForeignPage, text));
    }

    fn read_session(
        &mut self,
        connection: &mut Connection,
        control: &mut ControlStream,
    ) -> Result<(), Fault> {
        while self.left.is_none()
            && let Some(session) = &mut self.session
        {
            match read(connection, session.id) {
                Read::Bytes(bytes) => {
                    let said = session.reader.take(&bytes)?;
                    self.take_said(said, control);
                }
                Read::Blocked => return Ok(()),
                // A page that was closed or has lost its connection says nothing.
                Read::Ended => self.left = Some(goodbye(0, "")),
            }
        }
        Ok(())
    }

    fn take_said(&mut self, said: Vec<Said>, control: &mut ControlStream) {
        for said in said {
            match said {
                Said::Allowed(max) if self.client.is_some_and(|it| it.data_max.is_some()) => {
                    control.allow(max);
                }
                Said::Left(goodbye) => self.left = Some(goodbye),
                Said::Allowed(_) | Said::Asked(_) | Said::Refused(_) => {}
            }
        }
    }

    /// Passes a stream of the session to the game, once its first bytes have arrived. Refuses any
    /// other.
    fn begin_game(
        &mut self,
        connection: &mut Connection,
        control: &mut ControlStream,
    ) -> Result<(), Fault> {
        let Some(session) = &self.session else { return Ok(()) };
        let session = session.id;
        while let Some(id) = self.requests.next_stream(session, connection)? {
            let Stage::Begun { authority } = &mut self.stage else {
                reject(connection, id);
                continue;
            };
            match streams::read_exactly(connection, id, 1) {
                Read::Bytes(first) if first == [PREFACE] => {
                    self.stage = Stage::Open { authority: mem::take(authority) };
                    control.open_at(id, self.challenge.to_vec());
                }
                Read::Blocked => {
                    self.requests.put_back(id, session);
                    break;
                }
                Read::Bytes(_) | Read::Ended => reject(connection, id),
            }
        }
        Ok(())
    }

    /// Whether this is the session's own stream.
    pub(super) fn is_session(&self, id: StreamId) -> bool {
        self.session.as_ref().is_some_and(|session| session.id == id)
    }

    /// Whether the request was refused with a goodbye.
    pub(super) fn is_refused(&self) -> bool {
        matches!(self.stage, Stage::Refused)
    }

    /// Returns the client's goodbye.
    pub(super) fn left(&self) -> Option<&Disconnect> {
        self.left.as_ref()
    }

    /// Returns the code with which to close the connection if nothing else is wrong.
    pub(super) fn code_of_close(&self) -> Fault {
        if self.client.is_some() { Fault::None } else { Fault::MissingSettings }
    }

    /// Whether the owner of the key made the credentials for this connection.
    pub(super) fn is_proven(&self, credentials: &Credentials) -> bool {
        let Stage::Open { authority } = &self.stage else { return false };
        let bindings = self.web.certificates.bindings(&self.challenge, authority);
        bindings.iter().any(|binding| is_bound(binding, credentials))
    }

    /// Returns the byte before each of the session's datagrams: a quarter of its number (RFC 9297,
    /// 2.1). The limit of streams keeps it within a byte.
    pub(super) fn datagram_prefix(&self) -> u8 {
        self.session.as_ref().map_or(0, |session| session.id.index() as u8)
    }

    /// Returns the length of a datagram's prefix, if it belongs to the session.
    pub(super) fn prefix_of(&self, datagram: &[u8]) -> Option<usize> {
        let (quarter, length) = varint(datagram)?;
        (quarter == u64::from(self.datagram_prefix())).then_some(length)
    }

    /// Ends the session with a goodbye, once. Returns `false` if there is no arrival to wait for.
    pub(super) fn finish(&mut self, connection: &mut Connection, goodbye: &Disconnect) -> bool {
        let session = self.session.as_ref().filter(|_| !self.has_ended);
        let Some(Session { id, .. }) = session else { return false };
        self.has_ended = true;
        let mut capsule = Vec::new();
        let (code, reason) = (u16::from(goodbye.code).into(), goodbye.text.clone());
        Capsule::CloseWebTransportSession { code, reason }.encode(&mut capsule);
        let mut frame = Vec::new();
        Frame::DATA.encode(&mut frame);
        VarInt::from_u32(capsule.len() as u32).encode(&mut frame);
        frame.extend(capsule);
        write(connection, *id, &frame);
        connection.send_stream(*id).finish().is_ok()
    }
}
