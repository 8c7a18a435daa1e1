//! Moves a session by what comes over QUIC, and carries out what it asks for.

use std::io;
use std::thread::JoinHandle;

use phaselock::client::{Output, Session, SessionConfig};
use phaselock::fingerprint::Fingerprint;
use phaselock::snapshot::store::Received;
use phaselock::time::{LocalTime, Micros};
use tokio::sync::mpsc;

use super::carrier::Carrier;
use super::{Changed, EVENTS_MAX, Event, OUTPUTS_KEPT, OUTPUTS_MAX, Options};
use crate::clock::Clock;

/// A session over QUIC. Call [`receive`](Self::receive), press keys on the
/// [`session`](Self::session), call [`transmit`](Self::transmit): once a frame, or whenever
/// [`wait`](Self::wait) returns. Dropping it leaves the server.
#[derive(Debug)]
pub struct Driver {
    /// The session.
    pub session: Session,
    pub(super) events: mpsc::Receiver<Event>,
    outputs: mpsc::Sender<Output>,
    thread: Option<JoinHandle<()>>,
    clock: Clock,
    pinned: Option<Fingerprint>,
    changed: Option<Changed>,
    /// An event that ended [`wait`](Self::wait), not handled yet.
    came: Option<Event>,
    /// True if the network's side is gone.
    is_over: bool,
}

impl Driver {
    /// Joins from a thread of its own.
    pub fn spawn(options: Options, config: SessionConfig, clock: Clock) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (mut driver, carrier) = Self::prepare(options, config, clock);
        let thread = std::thread::Builder::new().name("network".into()).spawn(move || {
            runtime.block_on(carrier.run());
            // Waits for nothing: the system may take minutes to look a name up.
            runtime.shutdown_background();
        })?;
        driver.thread = Some(thread);
        Ok(driver)
    }

    /// Joins from the current tokio runtime.
    pub fn spawn_here(options: Options, config: SessionConfig, clock: Clock) -> Self {
        let (driver, carrier) = Self::prepare(options, config, clock);
        tokio::spawn(carrier.run());
        driver
    }

    pub(super) fn prepare(
        options: Options,
        config: SessionConfig,
        clock: Clock,
    ) -> (Self, Carrier) {
        let (event_sender, events) = mpsc::channel(EVENTS_MAX);
        let (outputs, output_receiver) = mpsc::channel(OUTPUTS_MAX);
        let carrier = Carrier::new(options, clock, event_sender, output_receiver);
        let session = Session::new(config, clock.now());
        let (thread, pinned, changed, came, is_over) = (None, None, None, None, false);
        let mut driver =
            Self { session, events, outputs, thread, clock, pinned, changed, came, is_over };
        driver.transmit();
        (driver, carrier)
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
        while let Some(event) = self.came.take().or_else(|| self.events.try_recv().ok()) {
            match event {
                Event::Pinned(fingerprint) => self.pinned = Some(fingerprint),
                Event::Changed(changed) => self.changed = Some(changed),
                Event::Connected(credentials) => {
                    self.session.handle_connected(self.clock.now(), *credentials);
                    // The hello is stamped with its time.
                    self.transmit();
                }
                Event::Control { body, arrival } => self.session.handle_control(&body, arrival),
                Event::Datagram { bytes, arrival } => {
                    if let Some(received) = self.session.handle_datagram(&bytes, arrival) {
                        look(&self.session, &received, arrival);
                    }
                }
                Event::Lost(reason) => self.session.handle_lost(self.clock.now(), reason),
            }
        }
        self.session.handle_timeout(self.clock.now());
    }

    /// Carries out what the session asks for.
    pub fn transmit(&mut self) {
        while let Some(output) = self.session.poll_output() {
            self.hand_over(output);
        }
    }

    /// Hands an output to the network's side. The channel fills when that side is stuck, and
    /// datagrams are lost then. Nothing else is lost: a session asks for a few other things and
    /// then waits for an event.
    pub(super) fn hand_over(&self, output: Output) {
        let is_datagram = matches!(output, Output::Datagram(_));
        if !is_datagram || self.outputs.capacity() > OUTPUTS_KEPT {
            let _ = self.outputs.try_send(output);
        }
    }

    /// Waits until something comes or the session has something to do, `until` at the latest. It
    /// returns at once while an event waits for [`receive`](Self::receive).
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
            event = self.events.recv() => match event {
                Some(event) => self.came = Some(event),
                None => self.is_over = true,
            }
        }
    }

    /// The certificate of a new server that is remembered from now on; told once.
    pub fn take_pinned(&mut self) -> Option<Fingerprint> {
        self.pinned.take()
    }

    /// The certificates of a server that was not joined because it shows another one than before;
    /// told once.
    pub fn take_changed(&mut self) -> Option<Changed> {
        self.changed.take()
    }

    /// Leaves, and waits until the goodbye is said, for a second at most.
    pub fn close(mut self, reason: &str) {
        self.session.leave(reason);
        self.transmit();
        let Self { mut events, outputs, thread, .. } = self;
        // The channel's end says goodbye too.
        drop(outputs);
        events.close();
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }

    /// Leaves as [`close`](Self::close) does, on the current tokio runtime.
    pub async fn leave(mut self, reason: &str) {
        self.session.leave(reason);
        self.transmit();
        let Self { mut events, outputs, .. } = self;
        drop(outputs);
        while events.recv().await.is_some() {}
    }
}
