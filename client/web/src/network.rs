//! A session over WebTransport.

use phaselock::address::Address;
use phaselock::client::carriage::{self, Carriage, Event};
use phaselock::client::{Output, Redirect, Session, SessionConfig};
use phaselock::fingerprint::Fingerprint;
use phaselock::identity::{Credentials, PROOF_CONTEXT, Proof, PublicKey};
use phaselock::limits::TEXT_BYTES_MAX;
use phaselock::time::LocalTime;
use phaselock::wire::disconnect::{Code, Disconnect};
use phaselock::wire::query::WebIdentity;
use phaselock::wire::text::{clip, printable};

use crate::imports;
use crate::page::PageClock;

/// Bytes before an event's own: its kind, and its arrival time in microseconds.
const HEAD_BYTES: usize = 1 + 8;

/// Kinds of events.
const CONNECTED: u8 = 1;
const CONTROL: u8 = 2;
const DATAGRAM: u8 = 3;
const SAID: u8 = 4;
const LOST: u8 = 5;

/// A session over WebTransport, to the server in the page's address or another one. In each frame,
/// call [`receive`](Self::receive), press keys on the [`session`](Self::session), and call
/// [`transmit`](Self::transmit).
#[derive(Debug)]
pub struct WebDriver {
    /// The session.
    pub session: Session,
    channel: Channel,
}

/// The channel to the page's script.
#[derive(Debug)]
struct Channel {
    clock: PageClock,
    /// The server to begin with; empty for the one in the page's address.
    to: String,
}

impl Carriage for Channel {
    type Bytes = Vec<u8>;

    fn now(&self) -> LocalTime {
        self.clock.now()
    }

    fn poll_event(&mut self) -> Option<Event<Vec<u8>>> {
        loop {
            let count = usize::try_from(imports::phaselock_event_bytes()).ok()?;
            let mut bytes = vec![0; count];
            imports::phaselock_event(bytes.as_mut_ptr());
            if let Some(event) = read(&bytes) {
                return Some(event);
            }
        }
    }

    fn send(&mut self, output: Output) {
        match output {
            Output::Connect { redirect } => {
                let first = || self.to.clone();
                let to = redirect.as_ref().map_or_else(first, server_of_redirect);
                let context = PROOF_CONTEXT;
                imports::phaselock_connect(to.as_ptr(), to.len(), context.as_ptr(), context.len());
            }
            Output::Control(bytes) => imports::phaselock_control(bytes.as_ptr(), bytes.len()),
            Output::Datagram(bytes) => imports::phaselock_datagram(bytes.as_ptr(), bytes.len()),
            Output::Close(goodbye) => close(&goodbye),
        }
    }
}

/// Returns the text by which the page connects to a server that a directory or a redirect has
/// named. `None` if no browser can connect to it, as far as is known.
pub fn server_of_browsers(address: &Address, web: &WebIdentity) -> Option<String> {
    let digits = |hash: &Fingerprint| hash.to_string().replace("sha256:", "");
    let hashes: Vec<_> = web.hashes.iter().map(digits).collect();
    match (&*web.host, hashes.is_empty()) {
        ("", true) => None,
        (host, true) => Some(format!("{host}:{}#web:", address.port())),
        _ => Some(format!("{address}#web:{}", hashes.join(","))),
    }
}

/// Returns the text by which the page connects to the server of a redirect.
pub fn server_of_redirect(redirect: &Redirect) -> String {
    let Redirect { address, fingerprint, web } = redirect;
    let known = address.parse().ok().and_then(|address| server_of_browsers(&address, web));
    known.unwrap_or_else(|| {
        let fingerprint = fingerprint.map_or_else(String::new, |it| format!("#{it}"));
        format!("{address}{fingerprint}")
    })
}

fn close(goodbye: &Disconnect) {
    let text = &goodbye.text;
    imports::phaselock_close(u16::from(goodbye.code).into(), text.as_ptr(), text.len());
}

/// Returns the player's key and signature as the page writes them.
pub(crate) fn credentials(bytes: &[u8]) -> Option<Credentials> {
    let (key, signature) = bytes.split_first_chunk()?;
    let mut proof = Proof::default();
    let halves = proof.0.as_flattened_mut();
    halves.copy_from_slice(signature.get(..halves.len())?);
    Some(Credentials { key: PublicKey(*key), proof })
}

/// An event of the page, or `None` for an unknown kind.
fn read(bytes: &[u8]) -> Option<Event<Vec<u8>>> {
    let (head, rest) = bytes.split_at_checked(HEAD_BYTES)?;
    let arrival = head.last_chunk().map(|micros| LocalTime(f64::from_le_bytes(*micros) as i64))?;
    let text = |bytes: &[u8]| printable(clip(&String::from_utf8_lossy(bytes), TEXT_BYTES_MAX));
    Some(match *head.first()? {
        CONNECTED => Event::Connected(Box::new(credentials(rest)?)),
        CONTROL => Event::Control { body: rest.to_vec(), arrival },
        DATAGRAM => Event::Datagram { bytes: rest.to_vec(), arrival },
        SAID => {
            let (code, said) = rest.split_first_chunk()?;
            let code = Code::from(u16::try_from(u32::from_le_bytes(*code)).unwrap_or(u16::MAX));
            Event::Lost(Disconnect::new(code, text(said)))
        }
        LOST => Event::Lost(Disconnect::new(Code::Lost, text(rest))),
        _ => return None,
    })
}

impl WebDriver {
    /// Starts joining the server at `to`, as [`server_of_browsers`] or [`server_of_redirect`]
    /// writes it, or the one in the page's address.
    pub fn begin(config: SessionConfig, to: Option<&str>) -> Self {
        let clock = PageClock::start();
        // Servers show another certificate to browsers than over QUIC directly, which redirects
        // name as well.
        let config = SessionConfig { checks_fingerprint: false, ..config };
        let channel = Channel { clock, to: to.unwrap_or_default().to_owned() };
        let mut driver = Self { session: Session::new(config, clock.now()), channel };
        driver.transmit();
        driver
    }

    /// The clock of all times.
    pub fn clock(&self) -> PageClock {
        self.channel.clock
    }

    /// Receives packets, and acts on the time.
    pub fn receive(&mut self) {
        carriage::receive(&mut self.session, &mut self.channel, |_, _, _| {});
    }

    /// Sends what the session asks for.
    pub fn transmit(&mut self) {
        carriage::transmit(&mut self.session, &mut self.channel);
    }

    /// Leaves the server.
    pub fn close(mut self, reason: &str) {
        self.session.leave(reason);
        self.transmit();
    }
}
