//! Finding servers: the protocol between a directory, the servers that want to be listed, and
//! clients that look for one.
//!
//! ```text
//! question   "?directory"  u8 version  8 bytes of the asker's choice  u8 ask     fields  zeros
//! answer     "!directory"  u8 version  these 8 bytes                  u8 answer  fields
//! field      u8 kind       u16 length (little-endian)                 that many bytes
//! ```
//!
//! ```text
//! server -> directory   announce: port
//! directory -> server   challenge: token, which only that address receives
//! server -> directory   announce: port, token, certificate, scheme, signature
//! directory -> port     query for the status, whose answer names that certificate
//! directory -> server   listed: seconds; or refused: reason
//! ```
//!
//! An answer is never longer than its question, so a directory cannot be used to flood others. A
//! server signs [`signed_text`].
//!
//! *Invariant:* all of this never changes, as with the [status](super::query): kinds are only
//! added, unknown ones are ignored, and kind 0 ends the fields.

use core::net::{IpAddr, SocketAddr};

use super::error::WireError;
use super::query::{Fields, Nonce, number};
use crate::fingerprint::Fingerprint;
use crate::limits::{
    ANNOUNCED_CERTIFICATE_BYTES_MAX, ANNOUNCED_SIGNATURE_BYTES_MAX, ANNOUNCEMENT_BYTES_MAX,
    DIRECTORY_PAGE_MAX, QUESTION_BYTES,
};

const QUESTION: &[u8; 10] = b"?directory";
const ANSWER: &[u8; 10] = b"!directory";
/// Version of questions and answers. A new version may add what fields cannot express.
const VERSION: u8 = 1;
/// Number of bytes before the fields.
const HEAD_BYTES: usize = QUESTION.len() + 2 + size_of::<Nonce>();
/// Bytes of the first announcement: those of a challenge, and some for later additions.
const FIRST_BYTES: usize = 96;
/// Bytes of the field [`kind::NEXT`].
const NEXT_BYTES: usize = 7;

const _: () = assert!(HEAD_BYTES + 3 + size_of::<Token>() <= FIRST_BYTES);
const _: () = assert!(QUESTION.len() == ANSWER.len());

/// Kinds of questions.
mod ask {
    pub(super) const LIST: u8 = 1;
    pub(super) const ANNOUNCE: u8 = 2;
}

/// Kinds of answers.
mod answer {
    pub(super) const PAGE: u8 = 1;
    pub(super) const CHALLENGE: u8 = 2;
    pub(super) const LISTED: u8 = 3;
    pub(super) const REFUSED: u8 = 4;
}

/// Kinds of fields.
mod kind {
    super::super::field_kinds! {
        END = 0;
        AFTER = 1;
        PORT = 2;
        TOKEN = 3;
        CERTIFICATE = 4;
        SCHEME = 5;
        SIGNATURE = 6;
        SERVER = 7;
        NEXT = 8;
        TOTAL = 9;
        SECONDS = 10;
        REASON = 11;
    }
}

#[cfg(test)]
pub(super) use kind::KINDS;

/// Proof to a directory that an address belongs to the asker.
pub type Token = [u8; 24];

/// Returns the text that a server signs: a token, its port, and the SHA-256 digest of its
/// certificate.
pub fn signed_text(token: &Token, port: u16, certificate: Fingerprint) -> Vec<u8> {
    let label = b"phaselock directory announcement";
    [&label[..], token, &port.to_le_bytes(), &certificate.0].concat()
}

/// Proof that a server has the key of its certificate, and is at its address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnnouncementProof {
    /// The directory's token.
    pub token: Token,
    /// The server's certificate in DER.
    pub certificate: Vec<u8>,
    /// The signature scheme, numbered as in TLS 1.3.
    pub scheme: u16,
    /// Signature of [`signed_text`] with the certificate's key.
    pub signature: Vec<u8>,
}

/// A question to a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// Asks for the servers after a position in the list; 0 for the first ones.
    List {
        /// Position of the last server that is known.
        after: u32,
    },
    /// Announces a server at this port of the asker's address. Without a proof, the answer is a
    /// challenge.
    Announce {
        /// UDP port of the server.
        port: u16,
        /// The server's proof.
        proof: Option<AnnouncementProof>,
    },
}

/// A server in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Listed {
    /// IPv6 address, or an IPv4 address mapped into `::ffff:0:0/96`.
    pub ip: [u8; 16],
    /// UDP port.
    pub port: u16,
    /// Fingerprint of the certificate that it presented.
    pub fingerprint: Fingerprint,
}

impl Listed {
    /// Returns the server's address for a client that got it from the directory at this address. A
    /// link-local address takes on the directory's zone.
    pub fn address(&self, directory: SocketAddr) -> SocketAddr {
        let address = SocketAddr::new(IpAddr::from(self.ip).to_canonical(), self.port);
        match (address, directory) {
            (SocketAddr::V6(mut it), SocketAddr::V6(directory))
                if it.ip().is_unicast_link_local() =>
            {
                it.set_scope_id(directory.scope_id());
                it.into()
            }
            _ => address,
        }
    }
}

/// Why a directory does not list a server.
#[allow(missing_docs, reason = "the error messages document the variants")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnnouncementRefusal {
    #[error("the directory refused, for a reason that this version does not know")]
    Unknown,
    #[error("the proof is too old or was made for another address; retrying")]
    Token,
    #[error("the signature does not match the certificate")]
    Signature,
    #[error(
        "the directory got no answer from the announced UDP port; open the port in the firewall \
         and forward it in the router, or announce the port that is open"
    )]
    Silent,
    #[error(
        "another server answers at the announced port, or one that does not send its \
         certificate's digest; announce the port of this server"
    )]
    Another,
    #[error("the directory is full")]
    Full,
    #[error("the directory lists enough servers of this network")]
    Network,
    #[error(
        "the same certificate is listed at another address; give each server a certificate of its \
         own, or wait some minutes after a move"
    )]
    Taken,
}

impl AnnouncementRefusal {
    const ALL: [Self; 7] = [
        Self::Token,
        Self::Signature,
        Self::Silent,
        Self::Another,
        Self::Full,
        Self::Network,
        Self::Taken,
    ];

    /// Returns its number on the wire; 0 for none of these.
    fn code(self) -> u8 {
        let place = Self::ALL.iter().position(|it| *it == self);
        place.and_then(|place| u8::try_from(place + 1).ok()).unwrap_or_default()
    }

    fn of(code: u32) -> Self {
        let place = usize::try_from(code).unwrap_or_default().checked_sub(1);
        place.and_then(|place| Self::ALL.get(place)).copied().unwrap_or(Self::Unknown)
    }
}

/// A directory's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A page of the list.
    Page {
        /// Number of servers in the whole list.
        total: u32,
        /// Servers of this page, at most [`DIRECTORY_PAGE_MAX`].
        servers: Vec<Listed>,
        /// Position to continue from; `None` at the end of the list.
        next: Option<u32>,
    },
    /// A token to sign.
    Challenge(Token),
    /// The server is listed.
    Listed {
        /// Seconds until the server must announce itself again.
        seconds: u32,
    },
    /// The server is not listed.
    Refused(AnnouncementRefusal),
}

impl Question {
    /// Encodes the question, padded to the maximum length of its answer.
    pub fn encode(&self, nonce: Nonce) -> Vec<u8> {
        let (ask, least) = match self {
            Self::List { .. } => (ask::LIST, QUESTION_BYTES),
            Self::Announce { .. } => (ask::ANNOUNCE, FIRST_BYTES),
        };
        let mut fields = head(QUESTION, nonce, ask, ANNOUNCEMENT_BYTES_MAX);
        match self {
            Self::List { after } => fields.put(kind::AFTER, &after.to_le_bytes()),
            Self::Announce { port, proof } => {
                fields.put(kind::PORT, &port.to_le_bytes());
                if let Some(AnnouncementProof { token, certificate, scheme, signature }) = proof {
                    fields.put(kind::TOKEN, token);
                    fields.put(kind::SCHEME, &scheme.to_le_bytes());
                    fields.put(kind::SIGNATURE, signature);
                    fields.put(kind::CERTIFICATE, certificate);
                }
            }
        }
        let mut bytes = fields.bytes;
        bytes.resize(bytes.len().max(least), 0);
        bytes
    }

    /// Decodes a question and its nonce.
    pub fn parse(bytes: &[u8]) -> Result<(Self, Nonce), WireError> {
        let (nonce, ask, mut rest) = parse_head(QUESTION, bytes)?;
        let (mut after, mut port, mut token, mut scheme) = (0, None, None, None);
        let (mut certificate, mut signature) = (None, None);
        while let Some((kind, field)) = next_field(&mut rest)? {
            match kind {
                kind::AFTER => after = number(field)?,
                kind::PORT => port = Some(short(field)?),
                kind::TOKEN => {
                    token = Some(field.try_into().map_err(|_| WireError::Range("token"))?);
                }
                kind::SCHEME => scheme = Some(short(field)?),
                kind::CERTIFICATE => {
                    certificate = Some(within(field, ANNOUNCED_CERTIFICATE_BYTES_MAX)?);
                }
                kind::SIGNATURE => signature = Some(within(field, ANNOUNCED_SIGNATURE_BYTES_MAX)?),
                _ => {}
            }
        }
        let question = match ask {
            ask::LIST => Self::List { after },
            ask::ANNOUNCE => {
                let port = port.filter(|port| *port != 0).ok_or(WireError::Range("port"))?;
                let proof = match (token, certificate, scheme, signature) {
                    (Some(token), Some(certificate), Some(scheme), Some(signature)) => {
                        let (certificate, signature) = (certificate.to_vec(), signature.to_vec());
                        Some(AnnouncementProof { token, certificate, scheme, signature })
                    }
                    _ => None,
                };
                Self::Announce { port, proof }
            }
            other => return Err(WireError::Kind(other)),
        };
        Ok((question, nonce))
    }
}

impl Answer {
    /// Encodes the answer to a question of `bytes_max` bytes; `None` if it does not fit.
    pub fn encode(&self, nonce: Nonce, bytes_max: usize) -> Option<Vec<u8>> {
        let mut fields = match self {
            Self::Page { total, servers, next } => {
                let last = next.unwrap_or_default();
                let places = servers.iter().map(|server| (last, *server));
                let mut bytes = page(nonce, bytes_max, *total, places)?;
                if let Some(next) = next {
                    let mut fields = Fields { bytes, bytes_max };
                    fields.put(kind::NEXT, &next.to_le_bytes());
                    bytes = fields.bytes;
                }
                return Some(bytes);
            }
            Self::Challenge(_) => head(ANSWER, nonce, answer::CHALLENGE, bytes_max),
            Self::Listed { .. } => head(ANSWER, nonce, answer::LISTED, bytes_max),
            Self::Refused(_) => head(ANSWER, nonce, answer::REFUSED, bytes_max),
        };
        match self {
            Self::Page { .. } => {}
            Self::Challenge(token) => fields.put(kind::TOKEN, token),
            Self::Listed { seconds } => fields.put(kind::SECONDS, &seconds.to_le_bytes()),
            Self::Refused(refusal) => fields.put(kind::REASON, &[refusal.code()]),
        }
        // A field that did not fit was left out, and the answer is useless without it.
        (fields.bytes_max > 0 && fields.bytes.len() <= bytes_max).then_some(fields.bytes)
    }

    /// Decodes the answer to a question with this nonce.
    pub fn parse(bytes: &[u8], nonce: Nonce) -> Result<Self, WireError> {
        let (found, answer, mut rest) = parse_head(ANSWER, bytes)?;
        if found != nonce {
            return Err(WireError::Unreadable);
        }
        let (mut token, mut seconds, mut reason) = (None, None, 0);
        let (mut total, mut servers, mut next) = (0, Vec::new(), None);
        while let Some((kind, field)) = next_field(&mut rest)? {
            match kind {
                kind::TOKEN => {
                    token = Some(field.try_into().map_err(|_| WireError::Range("token"))?);
                }
                kind::SECONDS => seconds = Some(number(field)?),
                kind::REASON => reason = number(field)?,
                kind::TOTAL => total = number(field)?,
                kind::NEXT => next = Some(number(field)?),
                kind::SERVER if servers.len() < DIRECTORY_PAGE_MAX => servers.push(server(field)?),
                _ => {}
            }
        }
        Ok(match answer {
            answer::PAGE => Self::Page { total, servers, next },
            answer::CHALLENGE => Self::Challenge(token.ok_or(WireError::Short)?),
            answer::LISTED => Self::Listed { seconds: seconds.ok_or(WireError::Short)? },
            answer::REFUSED => Self::Refused(AnnouncementRefusal::of(reason)),
            other => return Err(WireError::Kind(other)),
        })
    }
}

/// Returns the nonce of an answer, by which the asker finds its question; `None` if it is no
/// answer.
pub fn nonce_of_answer(bytes: &[u8]) -> Option<Nonce> {
    parse_head(ANSWER, bytes).ok().map(|(nonce, ..)| nonce)
}

/// Encodes a page with as many of these servers as fit, each with its position in the list; `None`
/// if not even the head fits.
pub fn page(
    nonce: Nonce,
    bytes_max: usize,
    total: u32,
    servers: impl IntoIterator<Item = (u32, Listed)>,
) -> Option<Vec<u8>> {
    let mut fields = head(ANSWER, nonce, answer::PAGE, bytes_max);
    fields.put(kind::TOTAL, &total.to_le_bytes());
    if fields.bytes_max == 0 {
        return None;
    }
    let mut last = None;
    for (count, (place, server)) in servers.into_iter().enumerate() {
        let field = server_field(&server);
        let is_full = fields.bytes.len() + 3 + field.len() + NEXT_BYTES > bytes_max;
        if is_full || count >= DIRECTORY_PAGE_MAX {
            // Space was reserved for it; before the first server there is no position to continue
            // from.
            if let Some(last) = last {
                let last: u32 = last;
                fields.put(kind::NEXT, &last.to_le_bytes());
            }
            break;
        }
        fields.put(kind::SERVER, &field);
        last = Some(place);
    }
    Some(fields.bytes)
}

fn head(mark: &[u8; 10], nonce: Nonce, what: u8, bytes_max: usize) -> Fields {
    let bytes = [&mark[..], &[VERSION], &nonce, &[what]].concat();
    let bytes_max = if bytes.len() <= bytes_max { bytes_max } else { 0 };
    Fields { bytes, bytes_max }
}

fn parse_head<'a>(mark: &[u8; 10], bytes: &'a [u8]) -> Result<(Nonce, u8, &'a [u8]), WireError> {
    if bytes.len() > ANNOUNCEMENT_BYTES_MAX {
        return Err(WireError::Long(ANNOUNCEMENT_BYTES_MAX));
    }
    let rest = bytes.strip_prefix(mark).ok_or(WireError::Unreadable)?;
    let (version, rest) = rest.split_first().ok_or(WireError::Short)?;
    let (nonce, rest) = rest.split_first_chunk().ok_or(WireError::Short)?;
    let (what, rest) = rest.split_first().ok_or(WireError::Short)?;
    // Later versions are decoded like this one.
    if *version < VERSION { Err(WireError::Unreadable) } else { Ok((*nonce, *what, rest)) }
}

/// Returns the next field and its kind; `None` at the end.
fn next_field<'a>(rest: &mut &'a [u8]) -> Result<Option<(u8, &'a [u8])>, WireError> {
    let Some((kind, after)) = rest.split_first() else { return Ok(None) };
    if *kind == kind::END {
        return Ok(None);
    }
    let (len, after) = after.split_first_chunk().ok_or(WireError::Short)?;
    let len = usize::from(u16::from_le_bytes(*len));
    let (field, after) = after.split_at_checked(len).ok_or(WireError::Short)?;
    *rest = after;
    Ok(Some((*kind, field)))
}

fn short(field: &[u8]) -> Result<u16, WireError> {
    field.try_into().map(u16::from_le_bytes).map_err(|_| WireError::Range("number"))
}

fn within(field: &[u8], bytes_max: usize) -> Result<&[u8], WireError> {
    if field.len() > bytes_max { Err(WireError::Long(bytes_max)) } else { Ok(field) }
}

/// Prefix of IPv4 addresses mapped to IPv6.
const MAPPED: [u8; 12] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

/// Fingerprint, port (u16), and the address: 4 or 16 bytes.
fn server_field(server: &Listed) -> Vec<u8> {
    let ip = server.ip.strip_prefix(&MAPPED).unwrap_or(&server.ip);
    [&server.fingerprint.0[..], &server.port.to_le_bytes(), ip].concat()
}

fn server(field: &[u8]) -> Result<Listed, WireError> {
    let (digest, rest) = field.split_first_chunk().ok_or(WireError::Short)?;
    let (port, rest) = rest.split_first_chunk().ok_or(WireError::Short)?;
    let ip = match rest.len() {
        4 => [&MAPPED[..], rest].concat(),
        _ => rest.to_vec(),
    };
    let ip = ip.try_into().map_err(|_| WireError::Range("address"))?;
    let port = u16::from_le_bytes(*port);
    if port == 0 {
        return Err(WireError::Range("port"));
    }
    Ok(Listed { ip, port, fingerprint: Fingerprint(*digest) })
}

#[cfg(test)]
mod tests;
