//! Asks directories where to play, on a thread of its own: two sockets, name lookups, and the clock
//! around a [`Seeker`].

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

pub use phaselock::seek::{SeekError, SeekState, SeekView, SeekWish, Seeker};
use phaselock::time::LocalTime;
use tokio::sync::oneshot;
use tokio::time::sleep_until;

use crate::address::Address;
use crate::asking::{Sockets, remotes};
use crate::clock::Clock;
use crate::player::PlayerKey;

/// A search on a thread of its own, until it is dropped.
#[derive(Debug)]
pub struct Seek {
    view: Arc<Mutex<SeekView>>,
    /// Ends the thread when it is dropped.
    _alive: oneshot::Sender<()>,
}

impl Seek {
    /// Starts a search in directories, which are asked in this order. With the player's key, they
    /// can give a ticket for the seat. Fails if the system cannot provide a thread or a socket.
    pub fn start(
        wish: SeekWish,
        directories: Vec<Address>,
        key: Option<PlayerKey>,
    ) -> io::Result<Self> {
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
                    () = run(sockets, wish, (directories, key), &told) => {}
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

async fn run(
    sockets: Sockets,
    wish: SeekWish,
    (directories, key): (Vec<Address>, Option<PlayerKey>),
    told: &Mutex<SeekView>,
) {
    let (mut found, mut names) = (Vec::new(), BTreeMap::new());
    for directory in directories {
        // One that is unknown does not answer either.
        for remote in remotes(&directory).await {
            found.push(remote);
            names.entry(remote).or_insert_with(|| directory.to_string());
        }
    }
    let clock = Clock::start_at(LocalTime(1));
    let mut seeker = Seeker::new(wish, found, Clock::seed(), clock.now());
    if key.is_some() {
        seeker = seeker.proving(names);
    }
    loop {
        seeker.handle_timeout(clock.now());
        // Without a signature, it goes on without the key.
        if let Some(text) = seeker.poll_text()
            && let Some(Ok(made)) = key.as_ref().map(|key| key.sign(&text))
        {
            seeker.handle_signature(clock.now(), made);
        }
        while let Some((to, bytes)) = seeker.poll_transmit() {
            sockets.send(to, &bytes);
        }
        *told.lock().unwrap_or_else(PoisonError::into_inner) = seeker.view();
        let Some(due) = seeker.next_timeout() else { return };
        tokio::select! {
            (bytes, from) = sockets.receive() => seeker.handle_packet(clock.now(), from, &bytes),
            () = sleep_until(clock.instant(due)) => {}
        }
    }
}
