//! A visit over WebTransport, to the server in the page's address or to one that a directory has
//! named.

use std::collections::VecDeque;
use std::thread::JoinHandle;

use phaselock::address::Address;
use phaselock::client::{Redirect, Session, SessionConfig, State};
use phaselock::identity::ResumeToken;
use phaselock::time::LocalTime;
use phaselock_web::network::WebDriver;
use phaselock_web::page::{self, keep_in_tab, of_tab, sound_waiting};
use serde_json::{Map, Value, json};

use super::found::{self, Found};
use crate::visit::Visit;
use crate::visit::connection::Connection;
use crate::visit::open::{Begun, VisitConfig};

/// Maximum number of reported states of the player's entity, the newest last: two seconds.
const MOTION_MAX: usize = 120;

/// A connection over WebTransport.
struct WebTransport {
    driver: WebDriver,
    /// The server that the player chose, unless it is the page's own.
    chosen: Option<Found>,
    /// Token of the seat and the server's redirect, as stored in the tab.
    kept: (Option<ResumeToken>, Option<Redirect>),
    /// Whether the server has let the player in, so that the tab remembers it.
    has_answered: bool,
    /// Name under which the tab stores the token.
    seat: String,
    /// Recent states of the player's entity, as confirmed by the server.
    motion: VecDeque<Value>,
}

/// Name under which a tab stores the token of its seat. It includes the server, or the link, since
/// another link leads to another seat; no other server gets it.
fn seat(found: Option<&Found>) -> String {
    found.map_or_else(
        || format!("seat/{}", page::link().unwrap_or_default()),
        |found| format!("seat/{}", found.to),
    )
}

/// Joins the page's server, or another one.
pub(super) fn join(title: String, found: Option<&Found>, config: VisitConfig<'_>) -> Visit {
    // Until it has answered: a page that is reloaded must not stay with a server that is gone.
    found::keep(None);
    let seat = seat(found);
    let resume = of_tab(&seat).and_then(|token| token.parse().ok().map(ResumeToken));
    let config_of_session = SessionConfig { resume, ..config.session() };
    let driver = WebDriver::begin(config_of_session, found.map(|found| &*found.to));
    let own = || page::host().and_then(|host| host.parse::<Address>().ok());
    let host = found.map_or_else(own, |found| Some(found.address.clone()));
    let without_network = host.is_some_and(|host| host.is_loopback());
    let (chosen, kept, motion) = (found.cloned(), Default::default(), VecDeque::new());
    let has_answered = false;
    let connection = Box::new(WebTransport { driver, chosen, kept, has_answered, seat, motion });
    let begun = Begun { title, connection, is_here: false, without_network, shared: Vec::new() };
    Visit::new(begun, config)
}

impl WebTransport {
    /// Stores the token of the seat and the server in the tab, in case its page is reloaded.
    fn keep_seat(&mut self) {
        let session = &self.driver.session;
        let (token, redirect) = (session.token(), session.redirect());
        let there = redirect.and_then(Found::of);
        let found = there.as_ref().or(self.chosen.as_ref());
        if redirect != self.kept.1.as_ref() {
            keep_in_tab(&self.seat, "");
            found::keep(None);
            self.seat = seat(found);
            (self.kept, self.has_answered) = ((None, redirect.cloned()), false);
        }
        if !self.has_answered && *session.state() == State::Connected {
            found::keep(found);
            self.has_answered = true;
        }
        if token != self.kept.0 {
            self.kept.0 = token;
            let text = token.map(|token| token.0.to_string()).unwrap_or_default();
            keep_in_tab(&self.seat, &text);
        }
    }

    /// Takes states of the player's entity that the server has confirmed.
    fn note_motion(&mut self) {
        self.driver.session.record_motion();
        while let Some(sample) = self.driver.session.poll_motion() {
            let kind = &sample.kinds[usize::from(sample.recorded.kind)];
            let fields = kind.fields.iter().zip(sample.recorded.values);
            let values: Map<_, _> =
                fields.map(|(field, value)| (field.name.to_owned(), json!(value))).collect();
            if self.motion.len() >= MOTION_MAX {
                self.motion.pop_front();
            }
            self.motion.push_back(json!({ "tick": sample.recorded.tick.0, "values": values }));
        }
    }
}

impl Connection for WebTransport {
    fn session(&self) -> &Session {
        &self.driver.session
    }

    fn session_mut(&mut self) -> &mut Session {
        &mut self.driver.session
    }

    fn now(&self) -> LocalTime {
        self.driver.clock().now()
    }

    fn unix_of_start(&self) -> i64 {
        self.driver.clock().unix_of_start()
    }

    fn receive(&mut self) {
        self.driver.receive();
    }

    fn transmit(&mut self) {
        self.driver.transmit();
    }

    fn note(&mut self) {
        self.note_motion();
        self.keep_seat();
    }

    fn status(&self) -> Vec<(String, Value)> {
        let motion = self.motion.iter().cloned().collect();
        vec![("motion".to_owned(), motion), ("sound_waiting".to_owned(), json!(sound_waiting()))]
    }

    /// Says goodbye; the page takes the time for it.
    fn close(self: Box<Self>, reason: &'static str) -> Option<JoinHandle<()>> {
        // A player who left for good does not take the seat again.
        keep_in_tab(&self.seat, "");
        self.driver.close(reason);
        None
    }
}
