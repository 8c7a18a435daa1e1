//! Carries out calls to the sidecar, over HTTP on the loopback interface.

use std::io::{BufRead as _, BufReader, Read as _};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result};
use tokio::sync::mpsc;
use ureq::Agent;
use ureq::http::{Request, header};

use super::sdk::{Answer, Call, Failure};
use crate::config::AgonesMode;
use crate::outgoing;

/// Environment variable that Agones sets to the port of the sidecar.
const PORT_VARIABLE: &str = "AGONES_SDK_HTTP_PORT";
/// The sidecar's default port.
const PORT_DEFAULT: u16 = 9358;
/// Timeout for an answer.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Timeout for the answer to a health check.
const HEALTH_TIMEOUT: Duration = Duration::from_secs(2);
/// Maximum bytes of an answer and of a line of the watch: more than a `GameServer` can have.
const BYTES_MAX: u64 = 1024 * 1024;
/// Pause after each line of the watch, which limits what a flood of them costs.
const LINE_PAUSE: Duration = Duration::from_millis(20);

/// A client for the sidecar's interface.
#[derive(Clone, Debug)]
pub(crate) struct Sidecar {
    at: String,
    calls: Agent,
    checks: Agent,
    watch: Agent,
}

/// News from the watch.
#[derive(Debug)]
pub(crate) enum Update {
    Line(String),
    /// The watch has ended, for this reason.
    End(String),
}

impl Sidecar {
    /// Returns a client for the sidecar, unless Agones is off. `variable` reads the environment.
    pub(crate) fn find(
        mode: AgonesMode,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Option<Self>> {
        let port = variable(PORT_VARIABLE).filter(|port| !port.is_empty());
        let is_on = match mode {
            AgonesMode::Off => false,
            AgonesMode::On => true,
            AgonesMode::Auto => port.is_some(),
        };
        if !is_on {
            return Ok(None);
        }
        let port = port.map_or(Ok(PORT_DEFAULT), |port| {
            let what = || format!("{PORT_VARIABLE} is {port:?}, but must be the port of Agones");
            port.parse().with_context(what)
        })?;
        Ok(Some(Self::at(port)))
    }

    /// Returns a client for the sidecar on this port.
    pub(crate) fn at(port: u16) -> Self {
        Self {
            at: format!("localhost:{port}"),
            calls: outgoing::loopback_agent(Some(TIMEOUT)),
            checks: outgoing::loopback_agent(Some(HEALTH_TIMEOUT)),
            watch: outgoing::loopback_agent(None),
        }
    }

    /// Returns the sidecar's address.
    pub(crate) fn address(&self) -> &str {
        &self.at
    }

    /// Makes a call, and waits for the answer.
    pub(crate) fn call(&self, call: &Call) -> Answer {
        let silent = |error: ureq::Error| Failure::Silent(error.to_string());
        let (method, path, body) = call.request();
        let request = Request::builder().method(method).uri(format!("http://{}{path}", self.at));
        let agent = if *call == Call::Health { &self.checks } else { &self.calls };
        let answer = match body {
            Some(body) => {
                let request = request.header(header::CONTENT_TYPE, "application/json");
                request.body(body.to_string()).map_err(Into::into).and_then(|it| agent.run(it))
            }
            None => request.body(()).map_err(Into::into).and_then(|it| agent.run(it)),
        };
        let (parts, mut body) = answer.map_err(silent)?.into_parts();
        let body = body.with_config().limit(BYTES_MAX).lossy_utf8(true).read_to_string();
        let body = body.map_err(silent)?;
        match parts.status.is_success() {
            true => Ok(body),
            false => Err(Failure::refused(parts.status.as_u16(), &body)),
        }
    }

    /// Opens the watch in a thread of its own, which ends with [`Update::End`], or after the
    /// receiver is gone.
    pub(crate) fn watch(&self, updates: mpsc::Sender<Update>) {
        let (sidecar, failed) = (self.clone(), updates.clone());
        let thread = thread::Builder::new().name("agones".into()).spawn(move || {
            let why = sidecar.read_lines(&updates);
            let _ = updates.blocking_send(Update::End(why));
        });
        if let Err(error) = thread {
            // The queue is empty: the watch before has ended, and its end was read.
            let _ = failed.try_send(Update::End(error.to_string()));
        }
    }

    /// Forwards the watch's lines until it ends. Returns the reason.
    fn read_lines(&self, updates: &mpsc::Sender<Update>) -> String {
        let answer = self.watch.get(format!("http://{}/watch/gameserver", self.at)).call();
        let answer = match answer {
            Ok(answer) if answer.status().is_success() => answer,
            Ok(answer) => return format!("it answered {}", answer.status()),
            Err(error) => return error.to_string(),
        };
        let mut reader = BufReader::new(answer.into_body().into_reader());
        loop {
            let mut line = Vec::new();
            match reader.by_ref().take(BYTES_MAX).read_until(b'\n', &mut line) {
                Ok(0) => return "the connection was closed".to_owned(),
                Ok(_) if line.last() != Some(&b'\n') => {
                    return format!("a line is cut off or longer than {BYTES_MAX} bytes");
                }
                Ok(_) => {}
                Err(error) => return error.to_string(),
            }
            let line = String::from_utf8_lossy(&line).trim().to_owned();
            if !line.is_empty() && updates.blocking_send(Update::Line(line)).is_err() {
                return "the server stops".to_owned();
            }
            thread::sleep(LINE_PAUSE);
        }
    }
}
