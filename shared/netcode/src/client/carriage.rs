//! The carriage of a session's packets: the one way by which events of a transport move a
//! [`Session`], and the session's orders go back to the transport.
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

/// An event of a transport. `Bytes` are a datagram's, in the transport's own type.
#[derive(Debug)]
pub enum Event<Bytes> {
    /// There is a connection, and these are the player's credentials for it.
    Connected(Box<Credentials>),
    /// The body of a control message.
    Control {
        /// The bytes behind the length.
        body: Vec<u8>,
        /// Time at which it was read.
        arrival: LocalTime,
    },
    /// A datagram.
    Datagram {
        /// Its bytes.
        bytes: Bytes,
        /// Time at which it was read.
        arrival: LocalTime,
    },
    /// There is no connection any more, or none could be made.
    Lost(Disconnect),
}

/// A transport: one connection after the other, each with a stream of control messages and with
/// datagrams. Nothing here blocks.
pub trait Carriage {
    /// Bytes of a datagram.
    type Bytes: AsRef<[u8]>;

    /// The time on the clock that arrivals are on.
    fn now(&self) -> LocalTime;

    /// The next event, if there is one.
    fn poll_event(&mut self) -> Option<Event<Self::Bytes>>;

    /// Carries out an order. Only datagrams may be lost.
    fn send(&mut self, output: Output);
}

/// Takes in what came, and acts on the time. `look` gets every snapshot packet that was taken in,
/// with its time of arrival.
pub fn receive<C: Carriage>(
    session: &mut Session,
    carriage: &mut C,
    mut look: impl FnMut(&Session, &Received, LocalTime),
) {
    while let Some(event) = carriage.poll_event() {
        match event {
            Event::Connected(credentials) => {
                session.handle_connected(carriage.now(), *credentials);
                // The hello is stamped with its time.
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

/// Carries out what the session asks for.
pub fn transmit<C: Carriage>(session: &mut Session, carriage: &mut C) {
    while let Some(output) = session.poll_output() {
        carriage.send(output);
    }
}
