//! Answers to browsers: the page's files, and what the page must know to join the server.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::Request;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use phaselock_quic::identity::web::WebCertificates;
use phaselock_quic::server::ServerHandle;
use serde_json::json;
use tokio::sync::watch;

use super::files::{CODINGS, Files, INDEX, PageFile};
use super::public::{self, Published};
use crate::config::Config;
use crate::token::hex;

/// What the page publishes about the server.
#[derive(Debug)]
pub(crate) struct Facts {
    /// The settings in force.
    pub(crate) config: watch::Receiver<Arc<Config>>,
    pub(crate) server: ServerHandle,
    /// UDP port by which browsers reach the server, if it differs from the page's: a router may
    /// have changed both.
    pub(crate) port: Option<u16>,
    /// Certificates by which browsers identify the server.
    pub(crate) certificates: WebCertificates,
}

/// Content security policy: only code from this host, no inline code, and no framing. WebAssembly
/// counts as code; WebTransport to any host is a connection.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; \
    img-src 'self' data:; connect-src 'self' https:; worker-src 'self'; media-src 'self'; \
    manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// Placeholder in the page for the scheme and host of the request: link previews need absolute
/// URLs.
const ORIGIN: &str = "{origin}";
/// Name of the file with the server's facts.
const FACTS: &str = "server.json";

/// The page, with its facts about the server.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) files: Files,
    pub(super) facts: Facts,
    /// The public page; `None` while it is off.
    pub(super) public: watch::Receiver<Option<Arc<Published>>>,
}

impl Page {
    /// Answers a request that came over TLS, or that names this machine as its host.
    pub(super) fn answer(&self, request: &Request) -> Response {
        let mut response = self.content(request);
        let headers = response.headers_mut();
        headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(POLICY));
        for (name, value) in [
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (header::REFERRER_POLICY, "no-referrer"),
            // With these two headers, a browser's clock has a resolution of 5 µs instead of 100 µs.
            (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
            (HeaderName::from_static("cross-origin-embedder-policy"), "require-corp"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        headers
            .entry(HeaderName::from_static("cross-origin-resource-policy"))
            .or_insert(HeaderValue::from_static("same-origin"));
        response
    }

    fn content(&self, request: &Request) -> Response {
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            let allow = [(header::ALLOW, "GET, HEAD")];
            return (StatusCode::METHOD_NOT_ALLOWED, allow, "only GET and HEAD are allowed\n")
                .into_response();
        }
        let name = match request.uri().path() {
            "/" => INDEX,
            path => path.trim_start_matches('/'),
        };
        if name == FACTS {
            return self.facts(request.headers());
        }
        let public = self.public.borrow().clone();
        if let Some(file) = public.as_deref().and_then(|it| it.get(name, request)) {
            return self.public(file, request.headers());
        }
        match self.files.get(name) {
            Some(file) if name == INDEX => {
                self::file(&with_origin(file, request.headers()), request.headers())
            }
            Some(file) => self::file(file, request.headers()),
            None => (StatusCode::NOT_FOUND, "not found\n").into_response(),
        }
    }

    /// Returns the server's facts. Pages of other hosts whose players may join here can read them.
    fn facts(&self, asked: &HeaderMap) -> Response {
        let config = self.facts.config.borrow().clone();
        let hashes = self.facts.certificates.hashes();
        let hashes: Vec<_> = hashes.iter().map(|hash| hex(&hash.0)).collect();
        let rooms = self.facts.server.rooms();
        let rooms = rooms.iter().filter(|room| room.is_open).map(|room| {
            let status = &room.status;
            let free = usize::from(status.players_max).saturating_sub(room.seats_taken);
            let (code, players) = (status.code.as_str(), status.players);
            json!({ "code": code, "game": status.game, "players": players, "free": free })
        });
        let facts = json!({
            "name": config.play.name,
            "version": env!("CARGO_PKG_VERSION"),
            "port": self.facts.port,
            "hashes": hashes,
            "host": self.facts.certificates.host(),
            "rooms": rooms.collect::<Vec<_>>(),
            "needs_password": config.joining.password.is_some(),
            "directory": config.http.web_directory,
        });
        let mut response = axum::Json(facts).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(header::VARY, HeaderValue::from_static("origin"));
        allow_origin(headers, asked, &config);
        response
    }

    /// Returns a file of the public page. Pages of those other hosts can read its JSON.
    fn public(&self, file: &PageFile, asked: &HeaderMap) -> Response {
        let mut response = self::file(file, asked);
        let headers = response.headers_mut();
        for (name, value) in [
            (header::CONTENT_SECURITY_POLICY, public::POLICY),
            (header::VARY, "accept-language, origin"),
            (HeaderName::from_static("x-robots-tag"), "noindex"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        allow_origin(headers, asked, &self.facts.config.borrow());
        response
    }
}

/// Lets a page of another host read an answer, if that host's players may join here.
fn allow_origin(headers: &mut HeaderMap, asked: &HeaderMap, config: &Config) {
    let origin = asked.get(header::ORIGIN).filter(|origin| {
        let origin = origin.to_str().unwrap_or_default();
        config.http.web_origins.iter().any(|it| it == origin)
    });
    if let Some(origin) = origin {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        let name = HeaderName::from_static("cross-origin-resource-policy");
        headers.insert(name, HeaderValue::from_static("cross-origin"));
    }
}

/// Returns the page with its origin. The ETag stays: caches tell pages apart by host.
fn with_origin(page: &PageFile, asked: &HeaderMap) -> PageFile {
    let origin = asked.get(header::HOST).and_then(|host| host.to_str().ok()).and_then(origin_of);
    let text = String::from_utf8_lossy(&page.content);
    let content = text.replace(ORIGIN, &origin.unwrap_or_default()).into();
    PageFile { content, compressed: Default::default(), tag: page.tag.clone(), ..*page }
}

/// Returns the origin of a page at that host; `None` if the host contains characters with a meaning
/// in HTML.
fn origin_of(host: &str) -> Option<String> {
    let authority = host.parse::<Authority>().ok()?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte);
    let scheme = if is_own_name(authority.host()) { "http" } else { "https" };
    host.bytes().all(is_plain).then(|| format!("{scheme}://{host}"))
}

/// Returns a file, or the answer that the browser has it already.
fn file(file: &PageFile, asked: &HeaderMap) -> Response {
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(file.kind));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(file.caching));
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    // Its digits are hexadecimal.
    headers.extend(HeaderValue::try_from(&file.tag).ok().map(|tag| (header::ETAG, tag)));
    let known = asked.get(header::IF_NONE_MATCH).and_then(|known| known.to_str().ok());
    let tags = known.unwrap_or_default().split(',').map(|tag| tag.trim());
    let own = file.tag.trim_start_matches("W/");
    if tags.map(|tag| tag.trim_start_matches("W/")).any(|tag| tag == own || tag == "*") {
        return (StatusCode::NOT_MODIFIED, headers).into_response();
    }
    let taken = file.compressed.iter().zip(CODINGS).find_map(|(copy, (_, coding))| {
        copy.as_ref().filter(|_| takes(asked, coding)).map(|copy| (copy, coding))
    });
    let content = match taken {
        Some((copy, coding)) => {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding));
            copy.clone()
        }
        None => file.content.clone(),
    };
    (headers, content).into_response()
}

/// Whether a browser accepts this coding (RFC 9110, 12.5.3).
fn takes(asked: &HeaderMap, coding: &str) -> bool {
    let lists = asked.get_all(header::ACCEPT_ENCODING).iter();
    let mut words = lists.filter_map(|list| list.to_str().ok()).flat_map(|list| list.split(','));
    words.any(|word| {
        let (name, weight) = word.split_once(';').unwrap_or((word, ""));
        let weight = weight.trim().strip_prefix("q=").and_then(|weight| weight.parse().ok());
        name.trim().eq_ignore_ascii_case(coding) && weight != Some(0.0)
    })
}

/// Answers a request that came without TLS. Browsers trust this machine's own names; for any other
/// host they are redirected to HTTPS, without which they have no WebTransport.
pub(super) fn plain(page: &Arc<Page>, request: &Request) -> Response {
    // With two Host headers, a proxy may have used the other one (RFC 9112, 3.2).
    let mut hosts = request.headers().get_all(header::HOST).iter();
    let host = hosts.next().filter(|_| hosts.next().is_none());
    let host = host.and_then(|host| host.to_str().ok());
    let Some(host) = host.and_then(|host| host.parse::<Authority>().ok()) else {
        return (StatusCode::BAD_REQUEST, "the request has no Host header\n").into_response();
    };
    if is_own_name(host.host()) {
        return page.answer(request);
    }
    let rest = request.uri().path_and_query().map(|it| it.as_str());
    let rest = rest.filter(|rest| rest.starts_with('/')).unwrap_or("/");
    // HTTP's default port is not HTTPS's.
    let host = host.as_str().strip_suffix(":80").unwrap_or(host.as_str());
    match HeaderValue::try_from(format!("https://{host}{rest}")) {
        Ok(there) => (StatusCode::PERMANENT_REDIRECT, [(header::LOCATION, there)]).into_response(),
        Err(_) => StatusCode::BAD_REQUEST.into_response(),
    }
}

/// Whether a host is `localhost`, a name within it, or a loopback address.
fn is_own_name(host: &str) -> bool {
    let bare = host.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or(host);
    let name = bare.to_ascii_lowercase();
    let is_loopback = bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    is_loopback || name == "localhost" || name.ends_with(".localhost")
}
