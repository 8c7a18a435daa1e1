//! Webhooks as settings: tables in the file, JSON or plain URLs elsewhere.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};

use axum::http::Uri;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use phaselock::textfile::Text;
use serde::Deserialize;
use serde_json::{Value, json};

use super::values::{Faults, file, parse_url};

/// Maximum number of webhooks. Arbitrary.
pub const WEBHOOKS_MAX: usize = 8;
/// Maximum bytes of a URL. Arbitrary; Discord's have some 120.
const URL_BYTES_MAX: usize = 2048;
/// Maximum bytes of a file with a URL or a key, including blanks around it. Arbitrary.
const FILE_BYTES_MAX: usize = 4096;
/// Bytes of a key: at least 128 bits, at most a file of a line or two.
const KEY_BYTES_MIN: usize = 16;
const KEY_BYTES_MAX: usize = 256;
/// Prefix of a key in Base64, from the Standard Webhooks specification.
const KEY_PREFIX: &str = "whsec_";
/// Discord's hosts.
const DISCORD: [&str; 2] = ["discord.com", "discordapp.com"];

/// Kinds of events that a webhook can receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Topic {
    /// Players who take a seat or leave one.
    Joins,
    /// Kicks, bans and mutes, and their ends.
    Sanctions,
    /// Errors and warnings of the log.
    Alarms,
    /// Results of rounds.
    Results,
}

impl Topic {
    /// All kinds of events, which is the default.
    pub const ALL: [Self; 4] = [Self::Joins, Self::Sanctions, Self::Alarms, Self::Results];

    /// Returns the topic's name in the settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Joins => "joins",
            Self::Sanctions => "sanctions",
            Self::Alarms => "alarms",
            Self::Results => "results",
        }
    }
}

/// Format of the messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WebhookFormat {
    /// A signed JSON object for each event.
    Json,
    /// Lines of text for Discord.
    Discord,
}

/// A receiver of events.
#[derive(Clone, PartialEq, Eq)]
pub struct Webhook {
    /// The address, which is a secret for Discord.
    pub url: String,
    /// The format.
    pub format: WebhookFormat,
    /// The key that signs JSON.
    pub key: Vec<u8>,
    /// The events.
    pub topics: Vec<Topic>,
    /// Files that the address and the key were read from.
    pub files: Vec<PathBuf>,
}

impl fmt::Debug for Webhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Address and key may be secrets.
        f.write_str(&self.to_string())
    }
}

impl Webhook {
    /// The host that it is sent to.
    pub fn host(&self) -> String {
        let uri = self.url.parse::<Uri>().ok();
        uri.and_then(|uri| uri.authority().map(|it| it.to_string())).unwrap_or_default()
    }
}

impl fmt::Display for Webhook {
    /// Writes the host, the format and the events.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let form = match self.format {
            WebhookFormat::Json => "json",
            WebhookFormat::Discord => "discord",
        };
        let topics: Vec<_> = self.topics.iter().map(|topic| topic.name()).collect();
        write!(f, "{} ({form}: {})", self.host(), topics.join(" "))
    }
}

/// A webhook as written in the settings.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Given {
    url: Option<String>,
    url_file: Option<PathBuf>,
    secret_file: Option<PathBuf>,
    format: Option<WebhookFormat>,
    events: Option<Vec<Topic>>,
}

/// Parses JSON with one or several webhooks, or URLs separated by commas.
pub(super) fn parse(text: &OsStr) -> Result<Vec<Webhook>, Faults> {
    let rule = |problem: &str| format!("up to {WEBHOOKS_MAX} webhooks, but {problem}");
    let text = text.to_str().ok_or_else(|| rule("this is not UTF-8"))?.trim();
    let given: Vec<Value> = if text.starts_with('[') {
        serde_json::from_str(text).map_err(|error| rule(&error.to_string()))?
    } else if text.starts_with('{') {
        vec![serde_json::from_str(text).map_err(|error| rule(&error.to_string()))?]
    } else {
        text.split(',').map(|url| json!({ "url": url.trim() })).collect()
    };
    let mut faults = Vec::new();
    if given.len() > WEBHOOKS_MAX {
        faults.push(rule(&format!("these are {}", given.len())));
    }
    let mut webhooks = Vec::new();
    for (number, given) in (1..=WEBHOOKS_MAX).zip(given) {
        match read(given).and_then(webhook) {
            Ok(webhook) => webhooks.push(webhook),
            Err(problems) => {
                let told = problems.iter().map(|it| rule(&format!("number {number} {it}")));
                faults.extend(told);
            }
        }
    }
    if faults.is_empty() { Ok(webhooks) } else { Err(Faults(faults)) }
}

/// Reads a table, or returns what is wrong with each of its members.
fn read(table: Value) -> Result<Given, Vec<String>> {
    let problem = |error: serde_json::Error| format!("has a mistake: {error}");
    let Some(members) = table.as_object() else { return Err(vec!["is not a table".to_owned()]) };
    // Serde stops at the first mistake, so each part is tried by itself.
    let parts = members.iter().flat_map(|(name, value)| match value.as_array() {
        Some(values) => values.iter().map(|it| json!({ name: [it] })).collect(),
        None => vec![json!({ name: value })],
    });
    let problems: Vec<_> =
        parts.filter_map(|part| Given::deserialize(part).err().map(problem)).collect();
    if !problems.is_empty() {
        return Err(problems);
    }
    serde_json::from_value(table).map_err(|error| vec![problem(error)])
}

fn webhook(given: Given) -> Result<Webhook, Vec<String>> {
    let Given { url, url_file, secret_file, format, events } = given;
    let files = url_file.iter().chain(&secret_file).cloned().collect();
    let url = match (url, &url_file) {
        (Some(url), None) => Ok(url),
        (None, Some(path)) => text_in(path, "a URL"),
        _ => Err("needs a url or a url_file, not both".to_owned()),
    };
    let url = url.and_then(|url| check_url(&url).map(|uri| (url, uri)));
    // The default depends on the address.
    let by_url = url.as_ref().ok().map(|(_, uri)| format_for(uri));
    let key = match (format.or(by_url), &secret_file) {
        (Some(WebhookFormat::Discord), Some(_)) => {
            Err("is for Discord, which does not check signatures; remove secret_file".to_owned())
        }
        (_, Some(path)) => text_in(path, "a secret").and_then(|secret| key_of(&secret)),
        (Some(WebhookFormat::Json), None) => {
            Err("needs a secret_file for signatures; `openssl rand -hex 32` prints a secret"
                .to_owned())
        }
        (Some(WebhookFormat::Discord) | None, None) => Ok(Vec::new()),
    };
    let topics = events.unwrap_or_else(|| Topic::ALL.to_vec());
    let topics = if topics.is_empty() {
        Err("names no events; leave `events` out for all of them".to_owned())
    } else {
        Ok(topics)
    };
    match (url, key, topics) {
        (Ok((url, uri)), Ok(key), Ok(topics)) => {
            let format = format.unwrap_or_else(|| format_for(&uri));
            Ok(Webhook { url, format, key, topics, files })
        }
        (url, key, topics) => {
            Err([url.err(), key.err(), topics.err()].into_iter().flatten().collect())
        }
    }
}

/// The format for a host, if none is given.
fn format_for(uri: &Uri) -> WebhookFormat {
    let host = uri.host().unwrap_or_default().trim_start_matches("www.").to_ascii_lowercase();
    let is_discord = DISCORD.iter().any(|it| host == *it || host.ends_with(&format!(".{it}")));
    if is_discord { WebhookFormat::Discord } else { WebhookFormat::Json }
}

/// Parses an HTTP URL without a user name and password.
pub(super) fn check_url(url: &str) -> Result<Uri, String> {
    let rule = || {
        format!(
            "needs a URL of at most {URL_BYTES_MAX} bytes that begins with https:// or http://, \
             without a user's name, and with a port from 1 to 65535 if any"
        )
    };
    parse_url(url, URL_BYTES_MAX).ok_or_else(rule)
}

/// Reads the only line of a file.
fn text_in(path: &Path, noun: &str) -> Result<String, String> {
    let named = |problem: String| format!("names {}, not {problem}", path.display());
    let bytes = file(path, FILE_BYTES_MAX, noun).map_err(named)?;
    let line = Text::decode(&bytes, FILE_BYTES_MAX).and_then(Text::only_line);
    let line = line.map_err(|error| named(format!("a file with {noun}; {error}")))?;
    Ok(line.trim().to_owned())
}

/// Returns the key of a secret: its bytes, or the decoded Base64 after `whsec_`.
fn key_of(secret: &str) -> Result<Vec<u8>, String> {
    let key = match secret.strip_prefix(KEY_PREFIX) {
        Some(text) => BASE64_STANDARD.decode(text).ok(),
        None => Some(secret.as_bytes().to_vec()),
    };
    let key = key.filter(|key| (KEY_BYTES_MIN..=KEY_BYTES_MAX).contains(&key.len()));
    key.ok_or_else(|| {
        format!(
            "has a secret that is not {KEY_BYTES_MIN} to {KEY_BYTES_MAX} bytes long, or not Base64 \
             after {KEY_PREFIX}"
        )
    })
}
