//! Downloads over HTTP and HTTPS.

use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use phaselock_ui::words::{fill, tr};
use ureq::Agent;
use ureq::http::StatusCode;
use ureq::tls::TlsConfig;

use crate::replay::{Download, Progress};

/// Timeout for finding the server and connecting to it, and for the start of its answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);
/// The longest time for a whole download. The window gives up a silent one much earlier.
const BODY_TIMEOUT: Duration = Duration::from_secs(3600);
/// The maximum number of redirects. Arbitrary.
const REDIRECTS_MAX: u32 = 5;
/// Bytes that are read at once.
const READ_BYTES: usize = 64 << 10;

/// Whether a text is an address of the web.
pub(super) fn is_url(text: &str) -> bool {
    let has =
        |scheme: &str| text.get(..scheme.len()).is_some_and(|it| it.eq_ignore_ascii_case(scheme));
    has("https://") || has("http://")
}

/// Words for a recording that is larger than the limit.
pub(super) fn too_large(bytes_max: u64) -> String {
    let most = (bytes_max >> 20).to_string();
    fill("it is larger than {most} MiB", &[("most", &most)])
}

/// What thread and window tell each other.
#[derive(Debug, Default)]
struct Shared {
    received: AtomicU64,
    size: OnceLock<u64>,
    is_dropped: AtomicBool,
}

/// A download in a thread of its own.
#[derive(Debug)]
pub(super) struct HttpDownload {
    shared: Arc<Shared>,
    ended: Receiver<Result<Vec<u8>, String>>,
}

impl HttpDownload {
    /// Starts a download of at most `bytes_max` bytes.
    pub(super) fn start(url: String, bytes_max: u64) -> Self {
        let shared = Arc::new(Shared::default());
        let ((told, ended), seen) = (channel(), shared.clone());
        // Nobody waits for it: a server that never ends its answer holds up nothing else.
        let begun = thread::Builder::new().name("download".into()).spawn({
            let told = told.clone();
            move || drop(told.send(fetch(&url, bytes_max, &seen)))
        });
        if let Err(error) = begun {
            let _ = told.send(Err(error.to_string()));
        }
        Self { shared, ended }
    }
}

impl Download for HttpDownload {
    fn view(&mut self) -> Progress {
        match self.ended.try_recv() {
            Ok(Ok(bytes)) => Progress::Done(bytes),
            Ok(Err(why)) => Progress::Failed(why),
            Err(TryRecvError::Empty) => {
                let received = self.shared.received.load(Ordering::Relaxed);
                Progress::Running { received, size: self.shared.size.get().copied() }
            }
            // Its thread has panicked.
            Err(TryRecvError::Disconnected) => {
                Progress::Failed(tr("the download stopped; try again").to_owned())
            }
        }
    }
}

impl Drop for HttpDownload {
    fn drop(&mut self) {
        self.shared.is_dropped.store(true, Ordering::Relaxed);
    }
}

/// Creates a client. It trusts Mozilla's authorities, which are compiled in.
fn agent() -> Agent {
    let crypto = Arc::new(rustls::crypto::ring::default_provider());
    let tls = TlsConfig::builder().unversioned_rustls_crypto_provider(crypto).build();
    Agent::config_builder()
        .tls_config(tls)
        .http_status_as_error(false)
        .max_redirects(REDIRECTS_MAX)
        .timeout_resolve(Some(ANSWER_TIMEOUT))
        .timeout_connect(Some(ANSWER_TIMEOUT))
        .timeout_recv_response(Some(ANSWER_TIMEOUT))
        .timeout_recv_body(Some(BODY_TIMEOUT))
        .user_agent(concat!("phaselock/", env!("CARGO_PKG_VERSION")))
        .build()
        .into()
}

/// Reads a file of at most `bytes_max` bytes.
fn fetch(url: &str, bytes_max: u64, shared: &Shared) -> Result<Vec<u8>, String> {
    let answer = agent().get(url).call().map_err(|error| error.to_string())?;
    let status = answer.status();
    if status != StatusCode::OK {
        return Err(fill("the server answers {status}", &[("status", &status.to_string())]));
    }
    if let Some(size) = answer.body().content_length() {
        if size > bytes_max {
            return Err(too_large(bytes_max));
        }
        let _ = shared.size.set(size);
    }
    let mut body = answer.into_body().into_reader();
    let (mut bytes, mut part) = (Vec::new(), vec![0; READ_BYTES]);
    loop {
        if shared.is_dropped.load(Ordering::Relaxed) {
            return Err(tr("the download stopped; try again").to_owned());
        }
        match body.read(&mut part) {
            Ok(0) => return Ok(bytes),
            Ok(count) => bytes.extend_from_slice(&part[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.to_string()),
        }
        if bytes.len() as u64 > bytes_max {
            return Err(too_large(bytes_max));
        }
        shared.received.store(bytes.len() as u64, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::net::{TcpListener, TcpStream};
    use std::time::Instant;

    use super::*;

    /// A server that hands each connection, after the request's head, to `answer`.
    fn serve(answer: impl Fn(TcpStream) + Send + 'static) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}/a.plr", listener.local_addr().expect("an address"));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let head = BufReader::new(stream.try_clone().expect("a socket")).lines();
                let _ = head.map_while(Result::ok).find(String::is_empty);
                answer(stream);
            }
        });
        url
    }

    /// Waits for the end of a download.
    fn end(mut download: HttpDownload) -> Result<Vec<u8>, String> {
        let begun = Instant::now();
        loop {
            match download.view() {
                Progress::Done(bytes) => return Ok(bytes),
                Progress::Failed(why) => return Err(why),
                Progress::Running { .. } => {}
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "it does not end");
            thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn only_addresses_of_the_web_are_downloaded() {
        for (text, is_one) in [
            ("https://example.org/a.plr", true),
            ("HTTP://127.0.0.1:80/a", true),
            ("a.plr", false),
            ("https:/a.plr", false),
            ("ftp://example.org/a.plr", false),
            ("", false),
            ("häuser", false),
        ] {
            assert_eq!(is_url(text), is_one, "{text}");
        }
    }

    #[test]
    fn answer_arrives_whole_through_a_redirect() {
        let there = serve(|mut stream| {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello");
        });
        let here = serve(move |mut stream| {
            let head =
                format!("HTTP/1.1 302 Found\r\nlocation: {there}\r\ncontent-length: 0\r\n\r\n");
            let _ = stream.write_all(head.as_bytes());
        });
        assert_eq!(end(HttpDownload::start(here, 5)), Ok(b"hello".to_vec()));
    }

    #[test]
    fn answer_above_the_limit_is_refused_with_and_without_a_length() {
        const BYTES_MAX: u64 = 1 << 20;
        let ten_gigabytes = serve(|mut stream| {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 10000000000\r\n\r\n");
            thread::sleep(Duration::from_secs(100));
        });
        let endless = serve(|mut stream| {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n");
            while stream.write_all(&[7; 4096]).is_ok() {}
        });
        for url in [ten_gigabytes, endless] {
            let why = end(HttpDownload::start(url, BYTES_MAX));
            assert_eq!(why, Err("it is larger than 1 MiB".to_owned()));
        }
    }

    #[test]
    fn refusals_and_cut_answers_are_told() {
        let missing = serve(|mut stream| {
            let _ = stream.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n");
        });
        let why = end(HttpDownload::start(missing, 9)).unwrap_err();
        assert!(why.contains("404"), "{why}");
        let cut = serve(|mut stream| {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhello");
        });
        assert!(end(HttpDownload::start(cut, 9)).is_err());
        let nothing = serve(drop);
        assert!(end(HttpDownload::start(nothing, 9)).is_err());
    }

    #[test]
    fn stalled_answer_shows_what_has_come_and_waits_for_nobody() {
        let (go_on, waiting) = channel::<()>();
        let waiting = std::sync::Mutex::new(waiting);
        let stalled = serve(move |mut stream| {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhello");
            let _ = waiting.lock().expect("one thread").recv();
        });
        let mut download = HttpDownload::start(stalled, 9);
        let begun = Instant::now();
        while download.view() != (Progress::Running { received: 5, size: Some(9) }) {
            assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", download.view());
            thread::sleep(Duration::from_millis(5));
        }
        // The other side answers no more before this returns.
        drop(download);
        drop(go_on);
    }
}
