//! The public page: players and records, for everyone. Off unless the host turns it on.
//!
//! The page's thread renders it every few seconds, in each language and as JSON, and all requests
//! get copies. So a thousand readers cost the rooms and the database no more than one.
//!
//! ```text
//! board   what strangers may know, and nothing else    words   the languages
//! page    the board as HTML
//! ```

mod board;
mod page;
#[cfg(test)]
mod tests;
mod words;

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::Request;
use axum::http::header;
use bytes::Bytes;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use self::board::{Bests, Board};
use self::words::{LANGUAGES, language};
use super::files::PageFile;
use crate::host::Host;

/// Content security policy of the page: no scripts at all.
pub(super) const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// Names of the page, its JSON and its style sheet.
const PAGE: &str = "public";
const JSON: &str = "public.json";
const STYLE: &str = "public.css";
/// Time between two renderings, and the header that lets caches keep them as long.
const INTERVAL: Duration = Duration::from_secs(5);
const CACHING: &str = "public, max-age=5";
/// Longest time to wait for the database; after that, the old records stay.
const READ_TIMEOUT: Duration = Duration::from_secs(1);

/// Returns the link to the page, given the link for browsers; empty if that is empty.
pub(super) fn link(origin: &str) -> String {
    if origin.is_empty() { String::new() } else { format!("{origin}{PAGE}") }
}

/// The rendered page.
#[derive(Debug)]
pub(super) struct Published {
    /// The page in each language, in the order of [`LANGUAGES`].
    pages: [PageFile; LANGUAGES.len()],
    json: PageFile,
    style: PageFile,
}

impl Published {
    fn of(board: &Board) -> Self {
        let page = |words| Bytes::from(page::html(board, words));
        let html = "text/html; charset=utf-8";
        let pages = LANGUAGES.map(|words| PageFile::new(html, page(words), CACHING));
        // Cannot fail: there are only strings and finite numbers.
        let json = serde_json::to_vec(board).unwrap_or_default();
        let json = PageFile::new("application/json", json.into(), CACHING);
        let style = Bytes::from_static(include_bytes!("public/public.css"));
        let style = PageFile::new("text/css; charset=utf-8", style, CACHING);
        Self { pages, json, style }
    }

    /// Returns the file of that name, in the reader's language.
    pub(super) fn get(&self, name: &str, request: &Request) -> Option<&PageFile> {
        match name {
            PAGE => {
                let accepted = request.headers().get(header::ACCEPT_LANGUAGE);
                let accepted = accepted.and_then(|it| it.to_str().ok()).unwrap_or_default();
                self.pages.get(language(request.uri().query().unwrap_or_default(), accepted))
            }
            JSON => Some(&self.json),
            STYLE => Some(&self.style),
            _ => None,
        }
    }
}

/// Renders the page every few seconds while the host wants it, and removes it as soon as the host
/// turns it off.
pub(super) async fn publish(host: &Host, to: &watch::Sender<Option<Arc<Published>>>) {
    let mut config = host.reloader.config();
    let mut bests = Bests::default();
    loop {
        let is_wanted = config.borrow_and_update().http.public_page;
        let published = if is_wanted {
            // A database that is stuck must not keep anything on the page that has become private.
            let _ = timeout(READ_TIMEOUT, bests.read(host)).await;
            Some(Arc::new(Published::of(&Board::of(host, &bests))))
        } else {
            None
        };
        to.send_replace(published);
        let is_due = async { if is_wanted { sleep(INTERVAL).await } else { pending().await } };
        tokio::select! {
            () = is_due => {}
            changed = config.changed() => if changed.is_err() {
                // The settings stay as they are.
                sleep(INTERVAL).await;
            }
        }
    }
}
