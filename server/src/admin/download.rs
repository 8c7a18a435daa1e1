//! Files as bodies of answers.

use std::fs::File;
use std::io::{self, Read as _};
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Body;
use bytes::Bytes;
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;
use tokio_stream::Stream;

/// Bytes that are read at once, and parts that wait for a slow reader. Arbitrary.
const PART_BYTES: usize = 64 << 10;
const PARTS_MAX: usize = 4;

/// The parts of a file, for one reader.
#[derive(Debug)]
struct Parts(mpsc::Receiver<io::Result<Bytes>>);

impl Stream for Parts {
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(cx)
    }
}

/// Returns a body that reads a file while it is sent.
pub(super) fn body_of(mut file: File) -> Body {
    let (outbox, inbox) = mpsc::channel(PARTS_MAX);
    spawn_blocking(move || {
        loop {
            let mut part = Vec::with_capacity(PART_BYTES);
            let read = file.by_ref().take(PART_BYTES as u64).read_to_end(&mut part);
            let is_last = !matches!(read, Ok(1..));
            // Fails if the reader has disconnected.
            if read.as_ref().ok() != Some(&0)
                && outbox.blocking_send(read.map(|_| part.into())).is_err()
                || is_last
            {
                break;
            }
        }
    });
    Body::from_stream(Parts(inbox))
}
