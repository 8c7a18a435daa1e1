//! The event stream: what the page and `ctl` show as it happens.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive};
use axum::response::{IntoResponse, Response, Sse};
use serde::Serialize;
use serde_json::json;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc;
use tokio_stream::Stream;

use super::auth::{Authenticated, hash_in};
use crate::api::LineView;
use crate::error::ActError;
use crate::host::Host;

/// Maximum streams at a time. Arbitrary.
pub(super) const STREAMS_MAX: usize = 32;
/// Maximum events that wait for a reader. A slower reader misses some, and gets their number.
const WAITING_MAX: usize = 64;

/// Number of open streams.
static OPEN: AtomicUsize = AtomicUsize::new(0);

/// A slot of an open stream, freed on drop.
#[derive(Debug)]
struct Place;

impl Place {
    fn take() -> Option<Self> {
        let free = |open| (open < STREAMS_MAX).then_some(open + 1);
        OPEN.fetch_update(Ordering::Relaxed, Ordering::Relaxed, free).ok().map(|_| Self)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        OPEN.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The events for one reader.
#[derive(Debug)]
struct Events {
    inbox: mpsc::Receiver<Event>,
    _place: Place,
}

impl Stream for Events {
    type Item = Result<Event, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.inbox.poll_recv(cx).map(|event| event.map(Ok))
    }
}

fn event<T: Serialize>(name: &str, data: &T) -> Option<Event> {
    Event::default().event(name).json_data(data).ok()
}

/// Streams figures each second, and everything that happens, as server-sent events.
#[utoipa::path(get, path = "/v1/events",
    responses((status = 200, content_type = "text/event-stream")))]
pub(super) async fn events(
    _: Authenticated,
    State(host): State<Arc<Host>>,
    headers: HeaderMap,
) -> Response {
    let Some(place) = Place::take() else {
        let text = format!("{STREAMS_MAX} streams are open already; close one");
        return ActError::Failed(text).into_response();
    };
    let (outbox, inbox) = mpsc::channel(WAITING_MAX);
    let token = hash_in(&headers).unwrap_or_default();
    // Ends when the reader disconnects, or its token is deleted.
    tokio::spawn(feed(host, token, outbox));
    Sse::new(Events { inbox, _place: place }).keep_alive(KeepAlive::default()).into_response()
}

async fn feed(host: Arc<Host>, token: String, outbox: mpsc::Sender<Event>) {
    let (mut figures, mut news, mut lines) = (host.figures(), host.events(), host.log.subscribe());
    let mut lost = 0;
    // Sends the first figures at once.
    figures.mark_changed();
    loop {
        let next = tokio::select! {
            changed = figures.changed() => match changed {
                Ok(()) => {
                    if host.access.token(&token).is_none() {
                        return;
                    }
                    let figures = Arc::clone(&figures.borrow_and_update());
                    event("figures", &*figures)
                }
                Err(_) => return,
            },
            told = news.recv() => match told {
                Ok(told) => event(told.name(), &told.data()),
                Err(RecvError::Lagged(count)) => { lost += count; None }
                Err(RecvError::Closed) => return,
            },
            line = lines.recv() => match line {
                Ok(line) => event("log", &LineView::from(&line)),
                Err(RecvError::Lagged(count)) => { lost += count; None }
                Err(RecvError::Closed) => return,
            },
            () = outbox.closed() => return,
        };
        if lost > 0
            && let Some(note) = event("lost", &json!({ "count": lost }))
            && outbox.try_send(note).is_ok()
        {
            lost = 0;
        }
        if let Some(next) = next
            && outbox.try_send(next).is_err()
        {
            lost += 1;
        }
    }
}
