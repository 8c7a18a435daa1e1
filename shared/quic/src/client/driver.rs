//! Moves a session by what comes over QUIC, and carries out what it asks for.

use std::io;

use phaselock::client::{Notice, Output, Session, SessionConfig};
use phaselock::fingerprint::Fingerprint;
use phaselock::snapshot::store::Received;
use phaselock::time::{LocalTime, Micros};

use super::{Command, Event, Handle, Options};
use crate::clock::Clock;

/// A session over QUIC. Call [`receive`](Self::receive), then press keys on the
/// [`session`](Self::session), then [`transmit`](Self::transmit): once a frame, or whenever
/// [`wait`](Self::wait) returns. Dropping it leaves the server.
#[derive(Debug)]
pub struct Driver {
    /// The session.
    pub session: Session,
    handle: Handle,
    clock: Clock,
    pinned: Option<Fingerprint>,
    /// An event that ended [`wait`](Self::wait), not handled yet.
    came: Option<Event>,
    /// True if the network's side is gone.
    is_over: bool,
}

impl Driver {
    /// Joins from a thread of its own.
    pub fn spawn(options: Options, config: SessionConfig, clock: Clock) -> io::Result<Self> {
        Ok(Self::new(Handle::spawn(options, clock)?, config, clock))
    }

    /// Joins from the current tokio runtime.
    pub fn spawn_here(options: Options, config: SessionConfig, clock: Clock) -> Self {
        Self::new(Handle::spawn_here(options, clock), config, clock)
    }

    pub(super) fn new(handle: Handle, config: SessionConfig, clock: Clock) -> Self {
        let session = Session::new(config, clock.now());
        let mut driver = Self { session, handle, clock, pinned: None, came: None, is_over: false };
        driver.transmit();
        driver
    }

    /// The clock that times are on.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// Takes in what came, and acts on the time.
    pub fn receive(&mut self) {
        self.receive_each(|_, _, _| {});
    }

    /// The same; `look` gets every snapshot packet that was taken in, with its time of arrival.
    pub fn receive_each(&mut self, mut look: impl FnMut(&Session, &Received, LocalTime)) {
        while let Some(event) = self.came.take().or_else(|| self.handle.events.try_recv().ok()) {
            match event {
                Event::Pinned(fingerprint) => self.pinned = Some(fingerprint),
                Event::Connected => {
                    self.session.handle_connected(self.clock.now());
                    // The hello is stamped with its time.
                    self.transmit();
                }
                Event::Control { body, arrival } => self.session.handle_control(&body, arrival),
                Event::Datagram { bytes, arrival } => {
                    if let Some(received) = self.session.handle_datagram(&bytes, arrival) {
                        look(&self.session, &received, arrival);
                    }
                }
                Event::Lost { reason, retry } => {
                    self.session.handle_lost(self.clock.now(), &reason, retry);
                }
            }
        }
        self.session.handle_timeout(self.clock.now());
    }

    /// Carries out what the session asks for.
    pub fn transmit(&mut self) {
        while let Some(output) = self.session.poll_output() {
            self.handle.command(match output {
                Output::Connect => Command::Connect,
                Output::Control(framed) => Command::Control(framed),
                Output::Datagram(bytes) => Command::Datagram(bytes),
                Output::Close(reason) => Command::Close(reason),
            });
        }
    }

    /// Waits until something comes or the session has something to do, `until` at the latest.
    /// An event waits for [`receive`](Self::receive): until that is called, this returns at once.
    pub async fn wait(&mut self, until: LocalTime) {
        if self.came.is_some() {
            return;
        }
        let now = self.clock.now();
        let due = self.session.next_timeout(now).map_or(until, |due| due.min(until));
        // Never at once again: the session's clock may stand still for lack of news.
        let due = due.max(now + Micros(500));
        let sleep = tokio::time::sleep_until(self.clock.instant(due));
        if self.is_over {
            return sleep.await;
        }
        tokio::select! {
            () = sleep => {}
            event = self.handle.events.recv() => match event {
                Some(event) => self.came = Some(event),
                None => self.is_over = true,
            }
        }
    }

    /// The next thing to tell the player.
    pub fn poll_notice(&mut self) -> Option<Notice> {
        self.session.poll_notice()
    }

    /// The certificate of a server that was met for the first time and is remembered from now on.
    /// Told once.
    pub fn take_pinned(&mut self) -> Option<Fingerprint> {
        self.pinned.take()
    }

    /// Leaves, and waits until the goodbye is said, for a second at most.
    pub fn close(mut self, reason: &str) {
        self.session.leave(reason);
        self.transmit();
        self.handle.close();
    }

    /// The same on a runtime.
    pub async fn leave(mut self, reason: &str) {
        self.session.leave(reason);
        self.transmit();
        self.handle.closed().await;
    }
}
