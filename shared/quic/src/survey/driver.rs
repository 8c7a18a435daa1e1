//! The thread that drives a survey: two sockets, name lookups, and the clock.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use phaselock::limits::QUESTION_BYTES;
use phaselock::time::{LocalTime, Micros};
use tokio::net::UdpSocket;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::sleep_until;

use super::queries::{Found, Listing, Survey, neighbours};
use crate::address::Address;
use crate::attempts::lookup;
use crate::clock::Clock;

/// The longest time until the view is updated.
const VIEW_EVERY: Micros = Micros::from_ms(100);
/// Number of queued requests; a player is no faster.
const ORDERS_MAX: usize = 8;

/// What a survey should look for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Servers that the player named.
    pub servers: Vec<Address>,
    /// Directories.
    pub directories: Vec<Address>,
    /// Whether to search the local network too.
    pub lan: bool,
}

/// What a survey has found so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SurveyView {
    /// Servers, by address.
    pub found: Vec<Found>,
    /// Directories.
    pub listings: Vec<(Address, Listing)>,
    /// Whether any query is pending.
    pub is_busy: bool,
}

/// Looks for servers on a separate thread, until it is dropped.
#[derive(Debug)]
pub struct Surveyor {
    orders: mpsc::Sender<Wanted>,
    view: Arc<Mutex<Arc<SurveyView>>>,
}

impl Surveyor {
    /// Starts with nothing to look for. Fails if the system cannot provide a thread or a socket.
    pub fn new() -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (orders, received) = mpsc::channel(ORDERS_MAX);
        let view = Arc::new(Mutex::new(Arc::default()));
        let told = Arc::clone(&view);
        let sockets = runtime.block_on(Sockets::bind())?;
        thread::Builder::new().name("survey".into()).spawn(move || {
            runtime.block_on(run(sockets, received, &told));
            // A name lookup may take the system minutes.
            runtime.shutdown_background();
        })?;
        Ok(Self { orders, view })
    }

    /// Looks for this from now on. If it has not changed, repeats the search.
    pub fn look(&self, wanted: Wanted) {
        // A full queue contains newer requests already.
        let _ = self.orders.try_send(wanted);
    }

    /// Returns what was found so far.
    pub fn view(&self) -> Arc<SurveyView> {
        Arc::clone(&self.view.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A socket for IPv4, which may broadcast, and one for IPv6 if available.
struct Sockets {
    v4: UdpSocket,
    v6: Option<UdpSocket>,
}

impl Sockets {
    async fn bind() -> io::Result<Self> {
        let v4 = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).await?;
        // Without it the local network cannot be searched, but everything else works.
        let _ = v4.set_broadcast(true);
        Ok(Self { v4, v6: UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0)).await.ok() })
    }

    fn send(&self, to: SocketAddr, bytes: &[u8]) {
        let socket = if to.is_ipv4() { Some(&self.v4) } else { self.v6.as_ref() };
        // A packet that cannot be sent gets no answer.
        let _ = socket.map(|socket| socket.try_send_to(bytes, to));
    }

    async fn receive(&self, bytes: &mut [[u8; QUESTION_BYTES + 1]; 2]) -> Option<Came> {
        let [four, six] = bytes;
        let v6 = async {
            match &self.v6 {
                Some(socket) => socket.recv_from(six).await,
                None => std::future::pending().await,
            }
        };
        let (which, came) = tokio::select! {
            came = self.v4.recv_from(four) => (0, came),
            came = v6 => (1, came),
        };
        came.ok().map(|(len, from)| (which, len, from))
    }
}

/// Buffer, length and sender of a packet.
type Came = (usize, usize, SocketAddr);

async fn run(sockets: Sockets, mut orders: mpsc::Receiver<Wanted>, told: &Mutex<Arc<SurveyView>>) {
    let clock = Clock::start_at(LocalTime(1));
    let mut survey = Survey::new(Clock::seed());
    let mut bytes = [[0; QUESTION_BYTES + 1]; 2];
    let mut tell_at = clock.now();
    let mut current = None;
    let mut lookups = Lookups::new();
    loop {
        while let Some((to, bytes)) = survey.poll_transmit(clock.now()) {
            sockets.send(to, &bytes);
        }
        let now = clock.now();
        let due = survey.next_timeout();
        if now >= tell_at {
            let view = SurveyView {
                found: survey.found().cloned().collect(),
                listings: survey.listings().map(|(it, listing)| (it.clone(), listing)).collect(),
                is_busy: due.is_some() || !lookups.is_empty(),
            };
            *told.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(view);
            tell_at = now + VIEW_EVERY;
        }
        let wake = due.map_or(tell_at, |due| due.min(tell_at));
        tokio::select! {
            order = orders.recv() => match order {
                Some(wanted) if Some(&wanted) == current.as_ref() => {
                    survey.refresh(clock.now());
                    if wanted.lan {
                        survey.search(neighbours());
                    }
                }
                Some(wanted) => {
                    survey = Survey::new(Clock::seed());
                    lookups = look_up(&wanted);
                    if wanted.lan {
                        survey.search(neighbours());
                    }
                    current = Some(wanted);
                }
                None => return,
            },
            Some(found) = lookups.join_next() => match found {
                Ok((Kind::Server, address, remotes)) => survey.ask(address, remotes),
                Ok((Kind::Directory, address, remotes)) => {
                    survey.browse(address, remotes, clock.now());
                }
                Err(error) => tracing::debug!(%error, "a look-up failed"),
            },
            came = sockets.receive(&mut bytes) => match came {
                Some((which, len, from)) => {
                    survey.handle_packet(clock.now(), from, &bytes[which][..len]);
                }
                // For example a closed port; the next packet may be from another.
                None => tokio::time::sleep(Duration::from_millis(5)).await,
            },
            () = sleep_until(clock.instant(wake)) => {}
        }
    }
}

/// What a name that is being looked up is for.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Server,
    Directory,
}

/// Names that are being looked up concurrently.
type Lookups = JoinSet<(Kind, Address, Vec<SocketAddr>)>;

/// Starts looking up all names.
fn look_up(wanted: &Wanted) -> Lookups {
    let servers = wanted.servers.iter().map(|it| (Kind::Server, it.clone()));
    let directories = wanted.directories.iter().map(|it| (Kind::Directory, it.clone()));
    let look_up = |(kind, address): (Kind, Address)| async move {
        let mut found = lookup(&address).await.unwrap_or_default();
        // Because IPv4 addresses answer most often.
        found.sort_by_key(|it| !it.is_ipv4());
        (kind, address, found)
    };
    servers.chain(directories).map(look_up).collect()
}
