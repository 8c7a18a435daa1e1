//! A search for a place to play, in the directory that the page names.

use phaselock::address::split_port;
use phaselock::seek::{OVER_HTTP, SeekView, SeekWish, Seeker};

use crate::imports;
use crate::network::credentials;
use crate::page::{PageClock, random};

/// Bytes before an answer's body: the number of its search (u32), and its status (u16).
const HEAD_BYTES: usize = 4 + 2;
/// Stands in place of the status of a signature. HTTP has no such status.
const SIGNED: u16 = 1;

/// A search. Dropping it ends it: the directory forgets a request that is not repeated.
#[derive(Debug)]
pub struct WebSeek {
    url: String,
    seeker: Seeker,
    /// Tells the answers to this search from those to an earlier one.
    number: u32,
    clock: PageClock,
}

impl WebSeek {
    /// Starts a search in the directory at this URL.
    pub fn start(wish: SeekWish, url: String) -> Self {
        let (clock, seed) = (PageClock::start(), random());
        let names = host_of(&url).map(|host| (OVER_HTTP, host.to_owned())).into_iter().collect();
        let seeker = Seeker::over_http(wish, seed, clock.now()).proving(names);
        Self { url, seeker, number: (seed >> 32) as u32, clock }
    }

    /// Moves the search on, and returns how far it is. Call it in each frame.
    pub fn view(&mut self) -> SeekView {
        while let Some(answer) = next_answer() {
            self.handle_answer(&answer);
        }
        self.seeker.handle_timeout(self.clock.now());
        // The browser signs it in its own time.
        while let Some(text) = self.seeker.poll_text() {
            imports::phaselock_sign(self.number, text.as_ptr(), text.len());
        }
        while let Some(question) = self.seeker.poll_question() {
            let url = &self.url;
            imports::phaselock_ask(
                self.number,
                url.as_ptr(),
                url.len(),
                question.as_ptr(),
                question.len(),
            );
        }
        self.seeker.view()
    }

    fn handle_answer(&mut self, answer: &[u8]) {
        let Some((head, body)) = answer.split_first_chunk::<HEAD_BYTES>() else { return };
        let [a, b, c, d, low, high] = *head;
        if u32::from_le_bytes([a, b, c, d]) == self.number {
            let status = u16::from_le_bytes([low, high]);
            match status {
                SIGNED => {
                    if let Some(made) = credentials(body) {
                        self.seeker.handle_signature(self.clock.now(), made);
                    }
                }
                status => self.seeker.handle_answer(self.clock.now(), status, body),
            }
        }
    }
}

/// Returns the host of a URL, to which the browser sends the questions.
fn host_of(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    let rest = rest.split(['/', '\\', '?', '#']).next()?;
    let place = rest.rsplit_once('@').map_or(rest, |(_, place)| place);
    Some(split_port(place).0).filter(|host| !host.is_empty())
}

fn next_answer() -> Option<Vec<u8>> {
    let count = usize::try_from(imports::phaselock_answer_bytes()).ok()?;
    let mut bytes = vec![0; count];
    imports::phaselock_answer(bytes.as_mut_ptr());
    Some(bytes)
}
