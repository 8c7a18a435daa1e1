//! Connects a [`Session`] to a transport: the only way in which transport events reach the session
//! and its outputs go back.
//!
//! ```text
//! receive:  Carriage::poll_event -> Session::handle_*
//! transmit: Session::poll_output -> Carriage::send
//! ```

use super::output::Output;
use super::session::Session;
use crate::identity::Credentials;
use crate::snapshot::store::Received;
use crate::time::LocalTime;
use crate::wire::disconnect::Disconnect;

/// A transport event. `Bytes` holds a datagram, in the transport's own type.
#[derive(Debug)]
pub enum Event<Bytes> {
    /// A connection is established; these are the player's credentials for it.
    Connected(Box<Credentials>),
    /// A control message arrived.
    Control {
        /// The message's bytes, without the length prefix.
        body: Vec<u8>,
        /// When it was read.
        arrival: LocalTime,
    },
    /// A datagram arrived.
    Datagram {
        /// Bytes of the datagram.
        bytes: Bytes,
        /// When it was read.
        arrival: LocalTime,
    },
    /// The connection was lost, or could not be established.
    Lost(Disconnect),
}

/// A transport: one connection at a time, each with a stream of control messages and with
/// datagrams. Its methods never block.
pub trait Carriage {
    /// Bytes of a datagram.
    type Bytes: AsRef<[u8]>;

    /// Returns the current time on the clock that stamps arrivals.
    fn now(&self) -> LocalTime;

    /// Takes the next event, if there is one.
    fn poll_event(&mut self) -> Option<Event<Self::Bytes>>;

    /// Whether another control message can be sent. While it cannot, messages wait in the session,
    /// which refuses the player's requests if there are too many.
    fn takes_control(&self) -> bool {
        true
    }

    /// Carries out an output of the session. Only datagrams may be lost.
    fn send(&mut self, output: Output);
}

/// Passes all pending transport events and the time to the session. `look` is called for each
/// accepted snapshot packet, with its arrival time.
pub fn receive<C: Carriage>(
    session: &mut Session,
    carriage: &mut C,
    mut look: impl FnMut(&Session, &Received, LocalTime),
) {
    while let Some(event) = carriage.poll_event() {
        match event {
            Event::Connected(credentials) => {
                session.handle_connected(carriage.now(), *credentials);
                // The hello contains the time at which it is sent.
                transmit(session, carriage);
            }
            Event::Control { body, arrival } => session.handle_control(&body, arrival),
            Event::Datagram { bytes, arrival } => {
                if let Some(received) = session.handle_datagram(bytes.as_ref(), arrival) {
                    look(session, &received, arrival);
                }
            }
            Event::Lost(reason) => session.handle_lost(carriage.now(), reason),
        }
    }
    session.handle_timeout(carriage.now());
}

/// Passes all pending outputs of the session to the transport, except control messages that it
/// does not take yet.
pub fn transmit<C: Carriage>(session: &mut Session, carriage: &mut C) {
    while let Some(output) = session.poll_output_if(carriage.takes_control()) {
        carriage.send(output);
    }
}
