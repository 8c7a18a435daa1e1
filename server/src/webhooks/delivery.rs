//! One request to a receiver.

use std::sync::Arc;
use std::time::Duration;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use ring::hmac;
use serde_json::json;
use ureq::Agent;
use ureq::http::{Request, Response, header};

use super::message::Message;
use crate::clocks::Clocks;
use crate::config::{Webhook, WebhookFormat};
use crate::outgoing;

/// Timeout for an answer.
pub(super) const TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout for the answer to a test event, which a person waits for.
pub(super) const TEST_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum characters of a Discord message.
const DISCORD_CHARS_MAX: usize = 2000;

/// A request that the receiver did not accept.
#[derive(Debug)]
pub(super) struct Failure {
    /// Why, in a sentence.
    pub(super) text: String,
    /// Minimum delay before a retry; `None` if a retry is pointless.
    pub(super) retry: Option<Duration>,
}

/// Sends requests to a receiver.
#[derive(Debug)]
pub(super) struct Delivery {
    webhook: Webhook,
    agent: Agent,
    clocks: Clocks,
}

impl Delivery {
    pub(super) fn new(webhook: Webhook, timeout: Duration, clocks: Clocks) -> Self {
        Self { webhook, agent: outgoing::agent(timeout), clocks }
    }

    /// Returns the receiver's host.
    pub(super) fn host(&self) -> String {
        self.webhook.host()
    }

    /// Returns how many of the first messages go into one request: for text, as many as fit.
    pub(super) fn batch<'a>(&self, waiting: impl Iterator<Item = &'a Arc<Message>>) -> usize {
        match self.webhook.format {
            WebhookFormat::Json => 1,
            WebhookFormat::Discord => {
                let chars = waiting.scan(0, |sum, message| {
                    *sum += message.markdown.chars().count() + 1;
                    Some(*sum)
                });
                chars.take_while(|sum| *sum <= DISCORD_CHARS_MAX).count().max(1)
            }
        }
    }

    /// Sends messages once. Returns the status of the answer.
    pub(super) fn send(&self, batch: &[Arc<Message>]) -> Result<String, Failure> {
        let request = self.request(batch).map_err(|error| Failure {
            text: format!("cannot make the request: {error}"),
            retry: None,
        })?;
        match self.agent.run(request) {
            Ok(answer) => judge(&answer),
            Err(error) => {
                Err(Failure { text: format!("no answer: {error}"), retry: Some(Duration::ZERO) })
            }
        }
    }

    fn request(&self, batch: &[Arc<Message>]) -> ureq::http::Result<Request<String>> {
        let request = Request::post(&self.webhook.url);
        let request = request.header(header::CONTENT_TYPE, "application/json");
        match (self.webhook.format, batch) {
            (WebhookFormat::Json, [message, ..]) => {
                let time = self.clocks.unix();
                let signature = sign(&self.webhook.key, &message.id, time, &message.body);
                request
                    .header("webhook-id", &message.id)
                    .header("webhook-timestamp", time)
                    .header("webhook-signature", signature)
                    .body(message.body.clone())
            }
            _ => {
                let lines: Vec<_> = batch.iter().map(|it| &*it.markdown).collect();
                let text: String = lines.join("\n").chars().take(DISCORD_CHARS_MAX).collect();
                // Names in a line mention no one, and links have no preview (SUPPRESS_EMBEDS).
                let body = json!({
                    "content": text, "allowed_mentions": { "parse": [] }, "flags": 4,
                });
                request.body(body.to_string())
            }
        }
    }
}

/// Evaluates an answer.
fn judge<T>(answer: &Response<T>) -> Result<String, Failure> {
    let status = answer.status();
    if status.is_success() {
        return Ok(status.to_string());
    }
    let redirect = if status.is_redirection() { "; redirects are not followed" } else { "" };
    let is_passing = status.is_server_error() || [408, 425, 429].contains(&status.as_u16());
    let asked = answer.headers().get(header::RETRY_AFTER).and_then(|it| it.to_str().ok());
    // Discord sends fractional seconds. A date is ignored.
    let asked = asked.and_then(|text| text.parse::<f64>().ok()).unwrap_or(0.0);
    let asked = Duration::try_from_secs_f64(asked).unwrap_or_default();
    let text = format!("the receiver answered {status}{redirect}");
    Err(Failure { text, retry: is_passing.then_some(asked) })
}

/// Returns the signature of a message, as specified by Standard Webhooks: HMAC-SHA-256 over
/// identifier, time and body, separated by dots.
pub(super) fn sign(key: &[u8], id: &str, time: i64, body: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, key);
    let tag = hmac::sign(&key, format!("{id}.{time}.{body}").as_bytes());
    format!("v1,{}", BASE64_STANDARD.encode(tag))
}
