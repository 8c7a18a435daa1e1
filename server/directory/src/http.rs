//! Requests for a place over HTTP, for browsers, which have no UDP: the body is the same question
//! as in a packet, and so is the answer.
//!
//! Pages of any server may ask, since no request needs a login or changes anything but the queue.

use std::collections::HashMap;
use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::header::{self, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use phaselock::address::household;
use phaselock::limits::ANNOUNCEMENT_BYTES_MAX;
use rustls::ServerConfig;
use rustls::crypto::ring::default_provider;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

use crate::pem::KeyPairFiles;

/// Maximum connections at a time, and of one address or IPv6 /64.
const CONNECTIONS_MAX: usize = 512;
const PER_ADDRESS_MAX: usize = 32;
/// Longest time of a connection, of a handshake, and for a request's head.
const LIFETIME: Duration = Duration::from_secs(120);
const HANDSHAKE: Duration = Duration::from_secs(10);
const HEAD: Duration = Duration::from_secs(10);
/// Maximum bytes of a request's head.
const HEAD_BYTES_MAX: usize = 16 * 1024;
/// Pause after a connection could not be accepted.
const RETRY: Duration = Duration::from_millis(100);
/// Interval at which the certificate's files are compared with the ones in use.
const RELOAD: Duration = Duration::from_secs(60);
/// Seconds for which browsers may remember the answer to a preflight: a day.
const PREFLIGHT_SECS: &str = "86400";
/// Maximum requests that wait for the directory.
const WAITING_MAX: usize = 256;

/// A browser's request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WebRequest {
    /// Whether a page of another host may send one with headers of its own (Fetch, CORS preflight).
    Preflight,
    /// A question of the directory's protocol.
    Question(Vec<u8>),
}

/// A request, and where its answer goes. `None` stands for too many requests.
pub type Asked = (IpAddr, WebRequest, oneshot::Sender<Option<Vec<u8>>>);

/// Returns the channel from connections to the directory.
pub fn questions() -> (mpsc::Sender<Asked>, mpsc::Receiver<Asked>) {
    mpsc::channel(WAITING_MAX)
}

/// How to serve HTTPS: a certificate's files.
#[derive(Debug)]
pub struct Tls {
    files: KeyPairFiles,
    current: watch::Sender<Arc<ServerConfig>>,
    contents: Mutex<[Vec<u8>; 2]>,
}

impl Tls {
    /// Reads a certificate and its key. Fails if they are invalid.
    pub fn new(certificate: &std::path::Path, key: &std::path::Path) -> Result<Self> {
        let files = KeyPairFiles { certificate: certificate.into(), key: key.into() };
        let contents = files.read()?;
        let (current, _) = watch::channel(Arc::new(config(&files, &contents)?));
        Ok(Self { files, current, contents: Mutex::new(contents) })
    }

    /// Uses the files if they have changed and are valid. They are replaced one after the other.
    fn reload(&self) {
        let mut contents = self.contents.lock().unwrap_or_else(PoisonError::into_inner);
        let read = self.files.read();
        let read = read.and_then(|read| {
            let is_new = read != *contents;
            is_new.then(|| Ok((config(&self.files, &read)?, read))).transpose()
        });
        match read {
            Ok(None) => {}
            Ok(Some((config, read))) => {
                *contents = read;
                self.current.send_replace(Arc::new(config));
                tracing::info!("read the changed certificate");
            }
            Err(error) => tracing::warn!(
                error = format!("{error:#}"),
                "cannot use the changed certificate; the old one stays in use"
            ),
        }
    }
}

fn config(files: &KeyPairFiles, [certificate, key]: &[Vec<u8>; 2]) -> Result<ServerConfig> {
    let (chain, key) = files.parse(certificate, key)?;
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .context("TLS cannot be set up")?
        .with_no_client_auth()
        .with_single_cert(chain, key);
    let mut config = config.context("the certificate cannot be used")?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

/// Counts connections.
#[derive(Debug, Default)]
struct Open(Mutex<HashMap<IpAddr, usize>>);

impl Open {
    /// Counts a connection, if there may be one more.
    fn enter(self: &Arc<Self>, from: IpAddr) -> Option<Entered> {
        let household = household(from);
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let total: usize = open.values().sum();
        let of_address = open.get(&household).copied().unwrap_or_default();
        if total >= CONNECTIONS_MAX || of_address >= PER_ADDRESS_MAX {
            return None;
        }
        open.insert(household, of_address + 1);
        Some(Entered(Arc::clone(self), household))
    }
}

/// A counted connection.
struct Entered(Arc<Open>, IpAddr);

impl Drop for Entered {
    fn drop(&mut self) {
        let mut open = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = open.get_mut(&self.1) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.1);
            }
        }
    }
}

/// Accepts connections for as long as it is polled.
pub async fn serve(listener: TcpListener, tls: Option<Tls>, questions: mpsc::Sender<Asked>) {
    let (tls, open) = (tls.map(Arc::new), Arc::new(Open::default()));
    let reload = async {
        loop {
            sleep(RELOAD).await;
            tls.iter().for_each(|tls| tls.reload());
        }
    };
    let accept = async {
        loop {
            match listener.accept().await {
                Ok((stream, from)) => {
                    if let Some(entered) = open.enter(from.ip()) {
                        let tls = tls.as_ref().map(|tls| tls.current.borrow().clone());
                        let speaking = speak(stream, from, tls, questions.clone());
                        tokio::spawn(async move {
                            let _entered = entered;
                            // Closed if it lasts too long.
                            let _ = timeout(LIFETIME, speaking).await;
                        });
                    }
                }
                Err(error) => {
                    tracing::debug!(%error, "cannot accept a connection");
                    sleep(RETRY).await;
                }
            }
        }
    };
    tokio::join!(reload, accept);
}

async fn speak(
    stream: TcpStream,
    from: SocketAddr,
    tls: Option<Arc<ServerConfig>>,
    questions: mpsc::Sender<Asked>,
) {
    let _ = stream.set_nodelay(true);
    let from = from.ip().to_canonical();
    match tls {
        None => requests(stream, from, questions).await,
        Some(tls) => {
            let accepted = timeout(HANDSHAKE, TlsAcceptor::from(tls).accept(stream)).await;
            if let Ok(Ok(stream)) = accepted {
                requests(stream, from, questions).await;
            }
        }
    }
}

async fn requests(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    from: IpAddr,
    questions: mpsc::Sender<Asked>,
) {
    let service = service_fn(|request| {
        let questions = questions.clone();
        async move { Ok::<_, Infallible>(answer(request, from, questions).await) }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD).max_buf_size(HEAD_BYTES_MAX);
    // hyper panics if the system clock is beyond the year 9999.
    http.auto_date_header(false);
    if let Err(error) = http.serve_connection(TokioIo::new(stream), service).await {
        tracing::debug!(%error, "a connection ended");
    }
}

/// Answers a request.
async fn answer(
    request: Request<Incoming>,
    from: IpAddr,
    questions: mpsc::Sender<Asked>,
) -> Response<Full<Bytes>> {
    let said = |status, body: Bytes| {
        let mut response = Response::new(Full::new(body));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        let any = HeaderValue::from_static("*");
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, any);
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        let kind = HeaderValue::from_static("application/octet-stream");
        headers.insert(header::CONTENT_TYPE, kind);
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        response
    };
    if request.uri().path() != "/" {
        return said(StatusCode::NOT_FOUND, Bytes::new());
    }
    if request.method() == Method::OPTIONS {
        let mut response = match put(WebRequest::Preflight, from, &questions).await {
            Some(_) => said(StatusCode::NO_CONTENT, Bytes::new()),
            None => said(StatusCode::TOO_MANY_REQUESTS, Bytes::new()),
        };
        let headers = response.headers_mut();
        for (name, value) in [
            (header::ACCESS_CONTROL_ALLOW_METHODS, "POST"),
            (header::ACCESS_CONTROL_ALLOW_HEADERS, "content-type"),
            (header::ACCESS_CONTROL_MAX_AGE, PREFLIGHT_SECS),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        return response;
    }
    if request.method() != Method::POST {
        let mut response = said(StatusCode::METHOD_NOT_ALLOWED, Bytes::new());
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST, OPTIONS"));
        return response;
    }
    let body = Limited::new(request.into_body(), ANNOUNCEMENT_BYTES_MAX).collect();
    let Ok(Ok(body)) = timeout(HEAD, body).await else {
        return said(StatusCode::BAD_REQUEST, Bytes::new());
    };
    let body = body.to_bytes();
    if !is_for_http(&body) {
        return said(StatusCode::BAD_REQUEST, Bytes::new());
    }
    match put(WebRequest::Question(body.into()), from, &questions).await {
        Some(bytes) => said(StatusCode::OK, bytes.into()),
        None => said(StatusCode::TOO_MANY_REQUESTS, Bytes::new()),
    }
}

/// Returns the directory's answer; `None` if there are too many requests.
async fn put(
    request: WebRequest,
    from: IpAddr,
    questions: &mpsc::Sender<Asked>,
) -> Option<Vec<u8>> {
    let (reply, answered) = oneshot::channel();
    // A full queue means the same as too many requests.
    questions.try_send((from, request, reply)).ok()?;
    answered.await.ok().flatten()
}

/// Whether a body is a question that is answered here.
fn is_for_http(body: &[u8]) -> bool {
    use phaselock::wire::directory::Question;
    matches!(Question::parse(body), Ok((Question::Play { .. } | Question::Regions, _)))
}

#[cfg(test)]
mod tests;
