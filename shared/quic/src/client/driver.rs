//! Drives a session with events from QUIC, and carries out its outputs.

use std::io;
use std::sync::mpsc as sync;
use std::thread::JoinHandle;
use std::time::Duration;

use bytes::Bytes;
use phaselock::client::carriage::{self, Carriage};
use phaselock::client::{Output, Session, SessionConfig};
use phaselock::fingerprint::Fingerprint;
use phaselock::snapshot::store::Received;
use phaselock::time::{LocalTime, Micros};
use tokio::sync::mpsc;

use super::carrier::Carrier;
use super::channels::{Changed, EVENTS_MAX, Event, MESSAGES_MAX, OUTPUTS_KEPT, OUTPUTS_MAX};
use super::options::{Options, Transport};
use crate::clock::Clock;
use crate::timers::sleep_until;

/// A session over QUIC. Dropping it leaves the server.
///
/// Once per frame, or whenever [`wait`](Self::wait) returns, call in this order:
///
/// 1. [`receive`](Self::receive), which passes new packets and the time to the session;
/// 2. [`Session::press`], which asks for the inputs of the ticks that are due;
/// 3. [`transmit`](Self::transmit), which sends the session's packets;
/// 4. [`Session::poll_notice`] until it is empty, and [`Session::picture`] if there is a screen.
///
/// Many players can share a thread as tasks on one current-thread runtime, each with a driver made
/// by [`spawn_here`](Self::spawn_here):
///
/// ```no_run
/// # use phaselock::client::{Client, SessionConfig};
/// # use phaselock::{game::Game, games::Games, time::{Micros, Tick}};
/// # use phaselock_quic::{client::{Driver, Options}, clock::Clock};
/// # fn circle<G: Game>(_: &Client<G>, _: Tick) -> G::Input { G::Input::default() }
/// # async fn run<MyGame: Game>(options: Options, clock: Clock) {
/// for number in 0..256 {
///     let config = SessionConfig::new(Games::new().with::<MyGame>(), format!("Bot {number}"));
///     let mut driver = Driver::spawn_here(options.clone(), config, clock);
///     tokio::task::spawn_local(async move {
///         loop {
///             driver.receive();
///             driver.session.press::<MyGame>(clock.now(), circle);
///             driver.transmit();
///             driver.wait(clock.now() + Micros::from_ms(50)).await;
///         }
///     });
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct Driver {
    /// The session.
    pub session: Session,
    pub(super) channels: Channels,
    thread: Option<Thread>,
}

/// The longest time for which [`Driver::close`] waits. Longer than a goodbye, so that only a thread
/// that is stuck is left behind.
const CLOSE_MAX: Duration = Duration::from_secs(1);

/// The thread of the network side.
#[derive(Debug)]
struct Thread {
    handle: JoinHandle<()>,
    /// Disconnected at the end of the thread.
    ended: sync::Receiver<()>,
}

/// Channels to the network side.
#[derive(Debug)]
pub(super) struct Channels {
    pub(super) events: mpsc::Receiver<Event>,
    /// All outputs but control messages.
    outputs: mpsc::Sender<Output>,
    messages: mpsc::Sender<Vec<u8>>,
    clock: Clock,
    pinned: Option<Fingerprint>,
    changed: Option<Changed>,
    /// An event that ended [`wait`](Driver::wait) and has not been handled yet.
    came: Option<Event>,
    /// Whether the network side has ended.
    is_over: bool,
}

impl Carriage for Channels {
    type Bytes = Bytes;

    fn now(&self) -> LocalTime {
        self.clock.now()
    }

    fn poll_event(&mut self) -> Option<carriage::Event<Bytes>> {
        loop {
            let event = self.came.take().or_else(|| self.events.try_recv().ok())?;
            return Some(match event {
                Event::Pinned(fingerprint) => {
                    self.pinned = Some(fingerprint);
                    continue;
                }
                Event::Changed(changed) => {
                    self.changed = Some(changed);
                    continue;
                }
                Event::Connected(credentials) => carriage::Event::Connected(credentials),
                Event::Control { body, arrival } => carriage::Event::Control { body, arrival },
                Event::Datagram { bytes, arrival } => carriage::Event::Datagram { bytes, arrival },
                Event::Lost(reason) => carriage::Event::Lost(reason),
            });
        }
    }

    fn takes_control(&self) -> bool {
        self.messages.capacity() > 0
    }

    /// Passes an output to the network side. If that is stuck, the channel fills up and datagrams
    /// are dropped. Nothing else is: control messages wait in the session, and of others it only
    /// requests a few before it waits for an event.
    fn send(&mut self, output: Output) {
        match output {
            Output::Control(framed) => drop(self.messages.try_send(framed)),
            Output::Datagram(_) if self.outputs.capacity() <= OUTPUTS_KEPT => {}
            output => drop(self.outputs.try_send(output)),
        }
    }
}

impl Driver {
    /// Joins a server, with the network on a separate thread.
    ///
    /// # Errors
    ///
    /// The system cannot start a thread.
    pub fn spawn(options: Options, config: SessionConfig, clock: Clock) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (mut driver, carrier) = Self::prepare(options, config, clock);
        let (end, ended) = sync::channel();
        let handle = std::thread::Builder::new().name("network".into()).spawn(move || {
            runtime.block_on(carrier.run());
            // Waits for nothing: a name lookup may take the system minutes.
            runtime.shutdown_background();
            drop(end);
        })?;
        driver.thread = Some(Thread { handle, ended });
        Ok(driver)
    }

    /// Joins a server, with the network on the current tokio runtime.
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
        let (messages, message_receiver) = mpsc::channel(MESSAGES_MAX);
        // Over WebTransport, servers show another certificate.
        let checks_fingerprint = options.carriage == Transport::Native;
        let carrier = Carrier::new(options, clock, event_sender, output_receiver, message_receiver);
        let session = Session::new(SessionConfig { checks_fingerprint, ..config }, clock.now());
        let (pinned, changed, came, is_over) = (None, None, None, false);
        let channels =
            Channels { events, outputs, messages, clock, pinned, changed, came, is_over };
        let mut driver = Self { session, channels, thread: None };
        driver.transmit();
        (driver, carrier)
    }

    /// Returns the clock of all times.
    pub fn clock(&self) -> Clock {
        self.channels.clock
    }

    /// Passes all new events and the time to the session.
    pub fn receive(&mut self) {
        self.receive_each(|_, _, _| {});
    }

    /// Passes all new events and the time to the session. `look` is called for each accepted
    /// snapshot packet, with its arrival time.
    pub fn receive_each(&mut self, look: impl FnMut(&Session, &Received, LocalTime)) {
        carriage::receive(&mut self.session, &mut self.channels, look);
    }

    /// Sends the session's packets and carries out its other outputs.
    pub fn transmit(&mut self) {
        carriage::transmit(&mut self.session, &mut self.channels);
    }

    /// Waits until an event comes or the session has something to do, at most until `until`.
    /// Returns at once if an event is waiting for [`receive`](Self::receive).
    pub async fn wait(&mut self, until: LocalTime) {
        let channels = &mut self.channels;
        if channels.came.is_some() {
            return;
        }
        let now = channels.now();
        let due = self.session.next_timeout(now).map_or(until, |due| due.min(until));
        // Never immediately again: the session's clock may stand still without packets.
        let due = due.max(now + Micros(500));
        let sleep = sleep_until(channels.clock.instant(due));
        if channels.is_over {
            return sleep.await;
        }
        tokio::select! {
            () = sleep => {}
            event = channels.events.recv() => match event {
                Some(event) => channels.came = Some(event),
                None => channels.is_over = true,
            }
        }
    }

    /// Takes the fingerprint of a new server's certificate, which has just been stored.
    pub fn take_pinned(&mut self) -> Option<Fingerprint> {
        self.channels.pinned.take()
    }

    /// Takes the fingerprints of a server that was not joined because its certificate has changed.
    pub fn take_changed(&mut self) -> Option<Changed> {
        self.channels.changed.take()
    }

    /// Leaves the server, and waits for at most a second until the goodbye is sent.
    pub fn close(mut self, reason: &str) {
        self.session.leave(reason);
        self.transmit();
        let Self { channels: Channels { mut events, outputs, .. }, thread, .. } = self;
        // Closing the channel also says goodbye.
        drop(outputs);
        events.close();
        if let Some(Thread { handle, ended }) = thread
            && ended.recv_timeout(CLOSE_MAX) != Err(sync::RecvTimeoutError::Timeout)
        {
            let _ = handle.join();
        }
    }

    /// Leaves the server like [`close`](Self::close), on the current tokio runtime.
    pub async fn leave(mut self, reason: &str) {
        self.session.leave(reason);
        self.transmit();
        let Channels { mut events, outputs, .. } = self.channels;
        drop(outputs);
        while events.recv().await.is_some() {}
    }
}
