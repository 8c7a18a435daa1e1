//! The thread that drives a search: two sockets, name lookups, and the clock.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use phaselock::limits::QUESTION_BYTES;
use phaselock::time::LocalTime;
use phaselock::wire::directory::play::PartyCode;
use tokio::net::UdpSocket;
use tokio::sync::oneshot;
use tokio::time::sleep_until;

use super::seeker::{SeekState, SeekWish, Seeker};
use crate::address::Address;
use crate::attempts::lookup;
use crate::clock::Clock;

/// How far a search is, for the player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeekView {
    /// How far it is.
    pub state: SeekState,
    /// Code of the party, as soon as it is known.
    pub party: Option<PartyCode>,
}

/// A search on a thread of its own, until it is dropped.
#[derive(Debug)]
pub struct Seek {
    view: Arc<Mutex<SeekView>>,
    /// Ends the thread when it is dropped.
    _alive: oneshot::Sender<()>,
}

impl Seek {
    /// Starts a search in directories, which are asked in this order. Fails if the system cannot
    /// provide a thread or a socket.
    pub fn start(wish: SeekWish, directories: Vec<Address>) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let view = SeekView { state: SeekState::Asking, party: None };
        let view = Arc::new(Mutex::new(view));
        let (alive, dropped) = oneshot::channel();
        let told = Arc::clone(&view);
        let sockets = runtime.block_on(Sockets::bind())?;
        thread::Builder::new().name("seek".into()).spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    _ = dropped => {}
                    () = run(sockets, wish, directories, &told) => {}
                }
            });
            // A name lookup may take the system minutes.
            runtime.shutdown_background();
        })?;
        Ok(Self { view, _alive: alive })
    }

    /// Returns how far the search is.
    pub fn view(&self) -> SeekView {
        self.view.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A socket for IPv4, and one for IPv6 if available.
struct Sockets {
    v4: UdpSocket,
    v6: Option<UdpSocket>,
}

impl Sockets {
    async fn bind() -> io::Result<Self> {
        let v4 = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).await?;
        Ok(Self { v4, v6: UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0)).await.ok() })
    }

    fn send(&self, to: SocketAddr, bytes: &[u8]) {
        let socket = if to.is_ipv4() { Some(&self.v4) } else { self.v6.as_ref() };
        // A packet that cannot be sent gets no answer.
        let _ = socket.map(|socket| socket.try_send_to(bytes, to));
    }

    async fn receive(&self) -> Option<(Vec<u8>, SocketAddr)> {
        let [mut four, mut six] = [[0; QUESTION_BYTES + 1]; 2];
        let v6 = async {
            match &self.v6 {
                Some(socket) => socket.recv_from(&mut six).await,
                None => std::future::pending().await,
            }
        };
        let (is_four, came) = tokio::select! {
            came = self.v4.recv_from(&mut four) => (true, came),
            came = v6 => (false, came),
        };
        let (len, from) = came.ok()?;
        Some((if is_four { &four } else { &six }.get(..len)?.to_vec(), from))
    }
}

async fn run(sockets: Sockets, wish: SeekWish, directories: Vec<Address>, told: &Mutex<SeekView>) {
    let mut found = Vec::new();
    for directory in directories {
        // One that is unknown does not answer either.
        let mut remotes = lookup(&directory).await.unwrap_or_default();
        // Because IPv4 addresses answer most often.
        remotes.sort_by_key(|it| !it.is_ipv4());
        found.extend(remotes);
    }
    let clock = Clock::start_at(LocalTime(1));
    let mut seeker = Seeker::new(wish, found, Clock::seed(), clock.now());
    loop {
        seeker.handle_timeout(clock.now());
        while let Some((to, bytes)) = seeker.poll_transmit() {
            sockets.send(to, &bytes);
        }
        let view = SeekView { state: seeker.state().clone(), party: seeker.party() };
        *told.lock().unwrap_or_else(PoisonError::into_inner) = view;
        let Some(due) = seeker.next_timeout() else { return };
        tokio::select! {
            came = sockets.receive() => match came {
                Some((bytes, from)) => seeker.handle_packet(clock.now(), from, &bytes),
                // For example a closed port; the next packet may be from another.
                None => tokio::time::sleep(Duration::from_millis(5)).await,
            },
            () = sleep_until(clock.instant(due)) => {}
        }
    }
}
