//! The thread that drives a survey: two sockets, name lookups, and the clock.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use phaselock::time::{LocalTime, Micros};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::sleep_until;

use super::queries::{Found, Listing, Survey, neighbours};
use crate::address::Address;
use crate::asking::{Sockets, remotes};
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

async fn run(sockets: Sockets, mut orders: mpsc::Receiver<Wanted>, told: &Mutex<Arc<SurveyView>>) {
    let clock = Clock::start_at(LocalTime(1));
    let mut survey = Survey::new(Clock::seed());
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
            (bytes, from) = sockets.receive() => survey.handle_packet(clock.now(), from, &bytes),
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
        let found = remotes(&address).await;
        (kind, address, found)
    };
    servers.chain(directories).map(look_up).collect()
}
