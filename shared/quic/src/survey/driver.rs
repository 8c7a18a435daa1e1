//! The thread that drives a survey: two sockets, names to look up, the clock.

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

use super::{Found, Listing, Survey, neighbours};
use crate::address::Address;
use crate::attempts::lookup;
use crate::clock::Clock;

/// Longest time until the view is told anew.
const TOLD_EVERY: Micros = Micros::from_ms(100);
/// Orders that wait; a player presses no faster.
const ORDERS_MAX: usize = 8;

/// The things that a survey is to look at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Servers that the player named.
    pub servers: Vec<Address>,
    /// Directories.
    pub directories: Vec<Address>,
    /// True to look on the local network too.
    pub lan: bool,
}

/// The things that a survey has found so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    /// Servers, by address.
    pub found: Vec<Found>,
    /// Directories.
    pub listings: Vec<(Address, Listing)>,
    /// True while somebody is being asked.
    pub is_busy: bool,
}

/// Looks for servers on a thread of its own, until it is dropped.
#[derive(Debug)]
pub struct Surveyor {
    orders: mpsc::Sender<Wanted>,
    view: Arc<Mutex<Arc<View>>>,
}

impl Surveyor {
    /// Starts without anything to look at. Fails if the system gives no thread or no socket.
    pub fn new() -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (orders, received) = mpsc::channel(ORDERS_MAX);
        let view = Arc::new(Mutex::new(Arc::default()));
        let told = Arc::clone(&view);
        let sockets = runtime.block_on(Sockets::bind())?;
        thread::Builder::new().name("survey".into()).spawn(move || {
            runtime.block_on(run(sockets, received, &told));
            // The system may take minutes to look a name up.
            runtime.shutdown_background();
        })?;
        Ok(Self { orders, view })
    }

    /// Looks at this from now on; at the same once more if it is what it was.
    pub fn look(&self, wanted: Wanted) {
        // A full queue holds newer orders than whoever waits for these answers.
        let _ = self.orders.try_send(wanted);
    }

    /// The things that were found so far.
    pub fn view(&self) -> Arc<View> {
        Arc::clone(&self.view.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A socket for IPv4, which may ask everybody, and one for IPv6 where there is that.
struct Sockets {
    v4: UdpSocket,
    v6: Option<UdpSocket>,
}

impl Sockets {
    async fn bind() -> io::Result<Self> {
        let v4 = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).await?;
        // Without it there is no local network to look at, and all else goes on.
        let _ = v4.set_broadcast(true);
        Ok(Self { v4, v6: UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0)).await.ok() })
    }

    fn send(&self, to: SocketAddr, bytes: &[u8]) {
        let socket = if to.is_ipv4() { Some(&self.v4) } else { self.v6.as_ref() };
        // What cannot be sent has no answer.
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

async fn run(sockets: Sockets, mut orders: mpsc::Receiver<Wanted>, told: &Mutex<Arc<View>>) {
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
            let view = View {
                found: survey.found().cloned().collect(),
                listings: survey.listings().map(|(it, listing)| (it.clone(), listing)).collect(),
                is_busy: due.is_some() || !lookups.is_empty(),
            };
            *told.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(view);
            tell_at = now + TOLD_EVERY;
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
                // Such as a port that is closed; the next may be another.
                None => tokio::time::sleep(Duration::from_millis(5)).await,
            },
            () = sleep_until(clock.instant(wake)) => {}
        }
    }
}

/// The things that a survey looks at while their names are being looked up.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Server,
    Directory,
}

/// Names that are being looked up concurrently.
type Lookups = JoinSet<(Kind, Address, Vec<SocketAddr>)>;

/// Begins to look all names up.
fn look_up(wanted: &Wanted) -> Lookups {
    let servers = wanted.servers.iter().map(|it| (Kind::Server, it.clone()));
    let directories = wanted.directories.iter().map(|it| (Kind::Directory, it.clone()));
    let look_up = |(kind, address): (Kind, Address)| async move {
        let mut found = lookup(&address).await.unwrap_or_default();
        // As they answer most often.
        found.sort_by_key(|it| !it.is_ipv4());
        (kind, address, found)
    };
    servers.chain(directories).map(look_up).collect()
}
