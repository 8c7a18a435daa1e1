//! The page as browsers get it.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use axum::body::{Body, to_bytes};
use axum::http::{Method, Request, Response, StatusCode, header};
use flate2::Compression;
use flate2::write::GzEncoder;
use phaselock_quic::identity::Identity;
use phaselock_quic::server::Server;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::answers::{Page, plain};
use super::connections::{CONNECTIONS_MAX, REQUESTS_MAX, serve};
use super::*;
use crate::tests::PATIENCE;

/// First digits of the SHA-256 of "play" (`printf play | sha256sum`).
const DIGITS_OF_PLAY: &str = "aba4cc9b8af82df5";

pub(super) fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let lasting = format!("play.{DIGITS_OF_PLAY}.js");
    for (name, content) in [
        ("index.html", "<!doctype html>"),
        ("play.js", "play"),
        (&lasting, "play"),
        (&format!("{lasting}.gz"), "zipped"),
        (&format!("{lasting}.br"), "brotli"),
        ("notes.txt", "secret"),
    ] {
        fs::write(folder.path().join(name), content).expect("written");
    }
    folder
}

pub(super) fn page_of(folder: &Path, config: Config) -> (Server, Arc<Page>) {
    let identity = Identity::ephemeral().expect("an identity");
    let server = Server::bind("127.0.0.1:0".parse().expect("valid"), &identity).expect("bound");
    let (_, config) = watch::channel(Arc::new(config));
    let facts = Facts { config, server: server.handle(), port: None, certificates: identity.web() };
    let files = Files::load(&[folder.to_owned()]).expect("files");
    let (_, public) = watch::channel(None);
    (server, Arc::new(Page { files, facts, public }))
}

pub(super) fn get(path: &str, headers: &[(header::HeaderName, &str)]) -> Request<Body> {
    let mut request = Request::get(path);
    for (name, value) in headers {
        request = request.header(name, *value);
    }
    request.body(Body::empty()).expect("a request")
}

pub(super) async fn body(response: Response<Body>) -> String {
    let bytes = to_bytes(response.into_body(), usize::MAX).await.expect("read");
    String::from_utf8_lossy(&bytes).into_owned()
}

#[tokio::test]
async fn files_are_compressed_and_cached_by_content() {
    let folder = folder();
    let (_server, page) = page_of(folder.path(), Config::default());
    let lasting = format!("/play.{DIGITS_OF_PLAY}.js");
    let taken =
        |path: &str, codings: &str| page.answer(&get(path, &[(header::ACCEPT_ENCODING, codings)]));
    for (codings, content) in [
        ("gzip, deflate, br", "brotli"),
        ("gzip;q=1.0, br;q=0", "zipped"),
        ("GZIP", "zipped"),
        ("identity", "play"),
        ("", "play"),
    ] {
        let response = taken(&lasting, codings);
        assert_eq!(response.headers()[header::VARY], "accept-encoding");
        assert_eq!(body(response).await, content, "{codings}");
    }
    let response = taken(&lasting, "");
    let headers = response.headers();
    assert_eq!(headers[header::CONTENT_TYPE], "text/javascript; charset=utf-8");
    assert!(headers[header::CACHE_CONTROL].to_str().expect("text").contains("immutable"));
    let tag = headers[header::ETAG].clone();
    assert_eq!(tag, format!("W/\"{DIGITS_OF_PLAY}\"").as_str());
    // This name is not derived from the content, which may change.
    let response = taken("/play.js", "");
    assert_eq!(response.headers()[header::CACHE_CONTROL], "no-cache");
    let known = tag.to_str().expect("text");
    for (known, status) in [(known, 304), ("\"x\"", 200), (&format!("\"x\", {}", &known[2..]), 304)]
    {
        let response = page.answer(&get("/play.js", &[(header::IF_NONE_MATCH, known)]));
        assert_eq!(response.status().as_u16(), status, "{known}");
    }
}

#[tokio::test]
async fn a_compressed_copy_takes_the_place_of_its_file() {
    let folder = folder();
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(b"many bytes").expect("compressed");
    let packed = packed.finish().expect("compressed");
    fs::write(folder.path().join("play.wasm.gz"), &packed).expect("written");
    fs::write(folder.path().join("notes.txt.gz"), &packed).expect("written");
    let (_server, page) = page_of(folder.path(), Config::default());
    let response = page.answer(&get("/play.wasm", &[]));
    assert_eq!(response.headers()[header::CONTENT_TYPE], "application/wasm");
    assert_eq!(body(response).await, "many bytes");
    let response = page.answer(&get("/play.wasm", &[(header::ACCEPT_ENCODING, "gzip")]));
    assert_eq!(to_bytes(response.into_body(), usize::MAX).await.expect("read"), packed);
    for path in ["/play.wasm.gz", "/notes.txt", "/notes.txt.gz"] {
        assert_eq!(page.answer(&get(path, &[])).status(), StatusCode::NOT_FOUND, "{path}");
    }

    fs::write(folder.path().join("play.wasm.gz"), "nonsense").expect("written");
    let error = format!("{:#}", Files::load(&[folder.path().to_owned()]).expect_err("refused"));
    assert!(error.contains("play.wasm.gz"), "{error}");
    let mut bomb = GzEncoder::new(Vec::new(), Compression::best());
    io::copy(&mut io::repeat(0).take(33 << 20), &mut bomb).expect("compressed");
    fs::write(folder.path().join("play.wasm.gz"), bomb.finish().expect("compressed"))
        .expect("written");
    let error = format!("{:#}", Files::load(&[folder.path().to_owned()]).expect_err("refused"));
    assert!(error.contains("has more than"), "{error}");
}

#[tokio::test]
async fn the_page_contains_its_own_address() {
    let folder = folder();
    let text = "<meta content=\"{origin}/preview.png\">";
    fs::write(folder.path().join("index.html"), text).expect("written");
    fs::write(folder.path().join("index.html.br"), "brotli").expect("written");
    let (_server, page) = page_of(folder.path(), Config::default());
    for (host, expected) in [
        ("play.example.org", "https://play.example.org/preview.png"),
        ("[2001:db8::7]:4433", "https://[2001:db8::7]:4433/preview.png"),
        ("127.0.0.1:4433", "http://127.0.0.1:4433/preview.png"),
        ("a\"><script>", "/preview.png"),
        ("me@a.example", "/preview.png"),
        ("a&amp;b", "/preview.png"),
    ] {
        let asked = [(header::HOST, host), (header::ACCEPT_ENCODING, "br")];
        let response = page.answer(&get("/", &asked));
        assert_eq!(response.headers().get(header::CONTENT_ENCODING), None);
        assert_eq!(body(response).await, format!("<meta content=\"{expected}\">"), "{host}");
    }
}

#[tokio::test]
async fn only_the_page_is_served() {
    let folder = folder();
    let (_server, page) = page_of(folder.path(), Config::default());
    let response = page.answer(&get("/?game=puck", &[]));
    let policy = response.headers()[header::CONTENT_SECURITY_POLICY].to_str().expect("text");
    assert!(policy.starts_with("default-src 'none'; script-src 'self' 'wasm-unsafe-eval';"));
    assert!(!policy.contains("unsafe-inline") && !policy.contains("'unsafe-eval'"), "{policy}");
    assert_eq!(body(response).await, "<!doctype html>");
    for path in ["/notes.txt", "/../notes.txt", "/%2e%2e/key.pem", "/index.html/", "/x", "//"] {
        assert_eq!(page.answer(&get(path, &[])).status(), StatusCode::NOT_FOUND, "{path}");
    }
    let mut post = get("/", &[]);
    *post.method_mut() = Method::POST;
    assert_eq!(page.answer(&post).status(), StatusCode::METHOD_NOT_ALLOWED);
}

#[tokio::test]
async fn the_facts_go_to_the_own_page_and_to_allowed_ones() {
    let folder = folder();
    let origin = "https://play.example.org";
    let mut config = Config::default();
    config.play.name = "Here".to_owned();
    config.http.web_origins = vec![origin.to_owned()];
    config.http.web_directory = Some("https://directory.example.org".to_owned());
    let (_server, mut page) = page_of(folder.path(), config);
    let response = page.answer(&get("/server.json", &[(header::ORIGIN, "https://evil.example")]));
    assert_eq!(response.headers().get(header::ACCESS_CONTROL_ALLOW_ORIGIN), None);
    assert_eq!(response.headers()["cross-origin-resource-policy"], "same-origin");
    let facts: serde_json::Value = serde_json::from_str(&body(response).await).expect("JSON");
    assert_eq!(facts["name"], "Here");
    assert_eq!(facts["port"], serde_json::Value::Null, "the page's port");
    assert_eq!(facts["directory"], "https://directory.example.org");
    let hashes = page.facts.certificates.hashes();
    let hashes: Vec<_> = hashes.iter().map(|it| it.to_string().replace("sha256:", "")).collect();
    assert_eq!(facts["hashes"], serde_json::json!(hashes));
    let response = page.answer(&get("/server.json", &[(header::ORIGIN, origin)]));
    assert_eq!(response.headers()[header::ACCESS_CONTROL_ALLOW_ORIGIN], origin);
    assert_eq!(response.headers()["cross-origin-resource-policy"], "cross-origin");
    // A host that serves the page at another port than the game sets it.
    Arc::get_mut(&mut page).expect("no other client has it").facts.port = Some(4433);
    let facts = body(page.answer(&get("/server.json", &[]))).await;
    assert!(facts.contains("\"port\":4433"), "{facts}");
}

#[tokio::test]
async fn without_tls_only_local_browsers_are_served() {
    let folder = folder();
    let (_server, page) = page_of(folder.path(), Config::default());
    for host in ["localhost:4433", "127.0.0.1", "[::1]:80", "127.8.9.1:1", "my.LOCALHOST"] {
        let response = plain(&page, &get("/", &[(header::HOST, host)]));
        assert_eq!(response.status(), StatusCode::OK, "{host}");
    }
    for (host, there) in [
        ("game.example.org:4433", "https://game.example.org:4433/?game=puck"),
        ("game.example.org:80", "https://game.example.org/?game=puck"),
        ("192.0.2.7", "https://192.0.2.7/?game=puck"),
        ("localhost.example.org", "https://localhost.example.org/?game=puck"),
    ] {
        let response = plain(&page, &get("/?game=puck", &[(header::HOST, host)]));
        assert_eq!(response.status(), StatusCode::PERMANENT_REDIRECT, "{host}");
        assert_eq!(response.headers()[header::LOCATION], there);
    }
    for host in ["", "a b", "a/b"] {
        let response = plain(&page, &get("/", &[(header::HOST, host)]));
        assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{host}");
    }
    assert_eq!(plain(&page, &get("/", &[])).status(), StatusCode::BAD_REQUEST);
    let two = [(header::HOST, "localhost"), (header::HOST, "game.example.org")];
    assert_eq!(plain(&page, &get("/", &two)).status(), StatusCode::BAD_REQUEST);
}

/// Serves the page at a real address. The server must be kept.
fn served(folder: &Path) -> (Server, SocketAddr) {
    let (server, page) = page_of(folder, Config::default());
    let identity = Identity::ephemeral().expect("an identity");
    let mut tls = identity.server_crypto(ALPN).expect("a configuration");
    tls.alpn_protocols = vec![ALPN.to_vec()];
    let listener = TcpListener::bind("127.0.0.1:0").expect("it binds");
    listener.set_nonblocking(true).expect("it does not block");
    let address = listener.local_addr().expect("it is bound");
    let bounds = Arc::new(Bounds::new(1_000_000));
    tokio::spawn(serve(listener, TlsAcceptor::from(Arc::new(tls)), page, bounds));
    (server, address)
}

#[tokio::test]
async fn silent_connections_are_replaced() {
    let folder = folder();
    let (_server, address) = served(folder.path());
    let mut silent = Vec::new();
    for _ in 0..CONNECTIONS_MAX {
        silent.push(TcpStream::connect(address).await.expect("it connects"));
    }
    let mut asking = TcpStream::connect(address).await.expect("it connects");
    let request = b"GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    asking.write_all(request).await.expect("sent");
    let mut answer = String::new();
    timeout(PATIENCE, asking.read_to_string(&mut answer)).await.expect("soon").expect("read");
    assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("<!doctype html>"), "{answer}");
    assert!(!answer.contains("date:"), "no clock is read: {answer}");
    let end = timeout(PATIENCE, silent[0].read(&mut [0; 8])).await.expect("it gave way");
    assert!(matches!(end, Ok(0) | Err(_)), "{end:?}");
}

#[tokio::test]
async fn a_connection_ends_after_its_last_request() {
    let folder = folder();
    let (_server, address) = served(folder.path());
    let mut asking = TcpStream::connect(address).await.expect("it connects");
    let request = "GET / HTTP/1.1\r\nhost: localhost\r\n\r\n";
    // If the server left requests unread, the system would cut off answers.
    let all = request.repeat(REQUESTS_MAX as usize);
    asking.write_all(all.as_bytes()).await.expect("sent");
    let mut answers = String::new();
    let end = timeout(PATIENCE, asking.read_to_string(&mut answers)).await.expect("soon");
    end.expect("text, and an end");
    assert_eq!(answers.matches("HTTP/1.1 200").count() as u32, REQUESTS_MAX);
    assert_eq!(answers.matches("connection: close").count(), 1);
}

#[test]
fn a_folder_without_a_page_is_reported_with_advice() {
    let empty = tempfile::tempdir().expect("a folder");
    let error = |folder: PathBuf| format!("{:#}", Files::load(&[folder]).expect_err("no page"));
    let text = error(empty.path().to_owned());
    assert!(text.contains("no index.html") && text.contains("client/web/build"), "{text}");
    let text = error(empty.path().join("gone"));
    assert!(text.contains("are not in") && text.contains("--web-files"), "{text}");
    fs::create_dir(empty.path().join("index.html")).expect("made");
    let text = error(empty.path().to_owned());
    assert!(text.contains("is not a file"), "{text}");
}

#[test]
fn links_are_for_this_machine_and_its_network() {
    let at = |text: &str| links(text.parse().expect("an address"), None);
    let (here, elsewhere) = at("0.0.0.0:4433");
    assert_eq!(here, "http://127.0.0.1:4433/");
    assert!(elsewhere.is_empty() || elsewhere.starts_with("https://"), "{elsewhere}");
    assert_eq!(at("[::1]:9"), ("http://[::1]:9/".to_owned(), String::new()));
    assert_eq!(at("192.0.2.7:9"), (String::new(), "https://192.0.2.7:9/".to_owned()));
    let named = links("0.0.0.0:9".parse().expect("an address"), Some("game.example.org"));
    assert_eq!(named, (String::new(), "https://game.example.org:9/".to_owned()));
}
