//! A client of the administration API.

use std::fs;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail, ensure};
use phaselock::textfile::Text;
use phaselock_quic::files;
use serde_json::Value;
use ureq::http::{Method, Request, Response, StatusCode};
use ureq::{Agent, Body};

use super::print;
use crate::api::{Problem, RoleView};
use crate::data_dir::new_private;
use crate::token::TOKEN_VARIABLE;

/// Longest time until an answer: longer than the server takes.
const TIMEOUT: Duration = Duration::from_secs(15);

/// Maximum bytes of a token, including surrounding blanks. Arbitrary.
const TOKEN_BYTES_MAX: usize = 4096;

/// Reads the token from a file of one line.
fn token_of(path: &Path) -> Result<String> {
    let bytes = files::read(path, TOKEN_BYTES_MAX)?;
    token_in(&bytes.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?)
}

/// Parses the token in a text of one line.
fn token_in(bytes: &[u8]) -> Result<String> {
    let token = Text::decode(bytes, TOKEN_BYTES_MAX).and_then(Text::only_line)?.trim_start();
    ensure!(token.bytes().all(|byte| byte.is_ascii_graphic()), "it has invalid characters");
    Ok(token.to_owned())
}

/// Returns the error of a request that the server refused.
fn refusal(answer: Value) -> anyhow::Error {
    match serde_json::from_value::<Problem>(answer) {
        Ok(problem) => anyhow!("{}", problem.error),
        Err(_) => anyhow!("the server refused without a reason"),
    }
}

/// A client of the administration API.
pub(super) struct Client {
    agent: Agent,
    base: String,
    token: String,
    /// Where the token comes from, for messages.
    origin: String,
}

impl Client {
    /// Creates a client of the server at an address, with the token from the environment or a file.
    pub(super) fn new(address: SocketAddr, token_file: &Path) -> Result<Self> {
        let variable = std::env::var_os(TOKEN_VARIABLE).filter(|token| !token.is_empty());
        let origin = match &variable {
            Some(_) => format!("in {TOKEN_VARIABLE}"),
            None => format!("in {}", token_file.display()),
        };
        let token = match variable {
            Some(token) => token_in(token.as_encoded_bytes())
                .with_context(|| format!("cannot use the token in {TOKEN_VARIABLE}"))?,
            None => token_of(token_file).with_context(|| {
                format!(
                    "cannot read the token in {}; name the server's data directory with \
                     --data-dir, or put a token into {TOKEN_VARIABLE}",
                    token_file.display()
                )
            })?,
        };
        let agent = Agent::config_builder().http_status_as_error(false).build().into();
        Ok(Self { agent, base: format!("http://{}", address), token, origin })
    }

    /// Fails if the server rejected the token, and names its origin.
    fn check_token(&self, status: StatusCode) -> Result<()> {
        if status != StatusCode::UNAUTHORIZED {
            return Ok(());
        }
        bail!(
            "the server at {} rejects the token {}; name this server's data directory with \
             --data-dir, or set {TOKEN_VARIABLE} to a valid token",
            self.base,
            self.origin
        )
    }

    fn request(&self, method: Method, path: &str) -> ureq::http::request::Builder {
        let uri = format!("{}{path}", self.base);
        let bearer = format!("Bearer {}", self.token);
        Request::builder().method(method).uri(uri).header("authorization", bearer)
    }

    pub(super) fn call(&self, method: Method, path: &str, body: Option<Value>) -> Result<Value> {
        let request = self.request(method, path);
        let body = body.map(|body| body.to_string()).unwrap_or_default();
        let request = match body.is_empty() {
            true => request,
            false => request.header("content-type", "application/json"),
        };
        let request = request.body(body).context("the token has invalid characters")?;
        let config = self.agent.configure_request(request).timeout_global(Some(TIMEOUT)).build();
        let mut answer = self.agent.run(config).with_context(|| {
            format!("no answer from {}; is the server running, with this admin_listen?", self.base)
        })?;
        let text =
            answer.body_mut().read_to_string().context("the connection broke during the answer")?;
        let value: Value = serde_json::from_str(&text)
            .with_context(|| format!("{} answered, but it is not a Phaselock server", self.base))?;
        if answer.status().is_success() {
            return Ok(value);
        }
        self.check_token(answer.status())?;
        Err(refusal(value))
    }

    /// Returns the key of a player with a role, by name or the beginning of the key.
    pub(super) fn key_of(&self, who: &str) -> Result<String> {
        let roles = self.call(Method::GET, "/v1/roles", None)?;
        let roles: Vec<RoleView> = serde_json::from_value(roles).with_context(|| self.other())?;
        let who = who.to_lowercase();
        let is_meant = |it: &&RoleView| {
            it.name.as_ref().is_some_and(|name| name.to_lowercase() == who)
                || who.len() >= 8 && it.key.starts_with(&who)
        };
        let found: Vec<_> = roles.iter().filter(is_meant).collect();
        match found[..] {
            [one] => Ok(one.key.clone()),
            [] => bail!("no player of that name has a role; see `ctl roles`"),
            _ => bail!("that name is ambiguous; use the player's key"),
        }
    }

    /// Returns the error for an answer that this version does not understand.
    pub(super) fn other(&self) -> String {
        format!(
            "{} answered, but it is a server of another version; use the ctl that came with it",
            self.base
        )
    }

    /// Asks for an answer of any length.
    fn stream(&self, path: &str) -> Result<Response<Body>> {
        let request = self.request(Method::GET, path).body(())?;
        let mut answer =
            self.agent.run(request).with_context(|| format!("no answer from {}", self.base))?;
        if !answer.status().is_success() {
            let text = answer.body_mut().read_to_string().unwrap_or_default();
            let value: Value = serde_json::from_str(&text).unwrap_or_default();
            self.check_token(answer.status())?;
            return Err(refusal(value));
        }
        Ok(answer)
    }

    /// Saves an answer in a new file, and returns its size in bytes.
    pub(super) fn download(&self, path: &str, to: &Path) -> Result<u64> {
        let mut answer = self.stream(path)?;
        let mut file =
            new_private(to).with_context(|| format!("cannot create {}", to.display()))?;
        let copied = io::copy(&mut answer.body_mut().as_reader(), &mut file);
        let saved = copied.and_then(|bytes| file.sync_all().map(|()| bytes));
        saved.with_context(|| {
            let _ = fs::remove_file(to);
            format!("cannot save {}", to.display())
        })
    }

    /// Prints events until the server or the user ends the stream.
    pub(super) fn follow(&self, json: bool) -> Result<()> {
        let mut answer = self.stream("/v1/events")?;
        let mut name = String::new();
        for line in BufReader::new(answer.body_mut().as_reader()).lines() {
            let line = line.context("the connection broke during the stream")?;
            if let Some(event) = line.strip_prefix("event:") {
                event.trim().clone_into(&mut name);
            }
            let Some(data) = line.strip_prefix("data:") else { continue };
            let shown = match json {
                true => format!("{{\"event\":\"{name}\",\"data\":{}}}", data.trim()),
                false if name == "figures" => continue,
                false => print::event(&name, serde_json::from_str(data).unwrap_or_default()),
            };
            if writeln!(io::stdout(), "{shown}").is_err() {
                return Ok(());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::net::{Ipv4Addr, TcpListener};
    use std::thread;

    use super::*;

    /// Returns a client of a server that gives one answer.
    fn client_of(answer: &'static str, token: &Path) -> (Client, thread::JoinHandle<()>) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
        let address = listener.local_addr().expect("it has one");
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("the client connects");
            let mut request = [0; 4096];
            let length = stream.read(&mut request).expect("it asks");
            assert!(request[..length].starts_with(b"GET /v1/replays/a.plr "));
            stream.write_all(answer.as_bytes()).expect("it listens");
        });
        fs::write(token, "phl_0").expect("writable");
        (Client::new(address, token).expect("it has a token"), server)
    }

    #[test]
    fn a_download_is_a_new_file_and_whole_or_there_is_none() {
        let dir = tempfile::tempdir().expect("a folder");
        let (token, to) = (dir.path().join("token"), dir.path().join("a.plr"));
        let get = |answer| {
            let (client, server) = client_of(answer, &token);
            let got = client.download("/v1/replays/a.plr", &to);
            server.join().expect("it was asked");
            got.map_err(|error| format!("{error:#}"))
        };
        get("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort").expect_err("cut off");
        assert!(!to.exists());
        let refused = "HTTP/1.1 404 Not Found\r\nContent-Length: 16\r\n\r\n{\"error\":\"none\"}";
        assert_eq!(get(refused), Err("none".to_owned()));
        assert!(!to.exists());
        let whole = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwhole";
        assert_eq!(get(whole), Ok(5));
        assert_eq!(fs::read(&to).expect("it is there"), b"whole");
        let again = get(whole).expect_err("it exists");
        assert!(again.contains("a.plr"), "{again}");
        assert_eq!(fs::read(&to).expect("it is there"), b"whole");
    }
}
