//! Webhooks as settings: tables in the file, JSON or plain URLs elsewhere.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};

use axum::http::Uri;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use phaselock::textfile::Text;
use serde::Deserialize;

use super::settings::{Kind, Setting};
use super::values::{file, has_good_port};

/// The maximum number of webhooks. Arbitrary.
pub const WEBHOOKS_MAX: usize = 8;
/// The maximum bytes of a URL. Arbitrary; Discord's have some 120.
const URL_BYTES_MAX: usize = 2048;
/// The maximum bytes of a file with a URL or a key, including blanks around it. Arbitrary.
const FILE_BYTES_MAX: usize = 4096;
/// Bytes of a key: at least 128 bits, at most a file of a line or two.
const KEY_BYTES_MIN: usize = 16;
const KEY_BYTES_MAX: usize = 256;
/// Prefix of a key in Base64, from the Standard Webhooks specification.
const KEY_PREFIX: &str = "whsec_";
/// Hosts of Discord.
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
    /// All of them: the default.
    pub const ALL: [Self; 4] = [Self::Joins, Self::Sanctions, Self::Alarms, Self::Results];

    /// Its name in the settings.
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
    /// The address. That of Discord is a secret.
    pub url: String,
    /// The form.
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
    /// The host, the form and the events.
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

/// The setting.
pub(super) const WEBHOOKS: [Setting; 1] = [Setting {
    flag: "webhook",
    value: "URL",
    help: "Addresses that receive joins, sanctions, alarms and results: in the file, a table \
           [[webhook]] for each [default: none]",
    kind: Kind::Tables,
    read: |config, text| {
        config.webhooks = parse(text)?;
        Ok(())
    },
    show: |config| match &*config.webhooks {
        [] => "none".to_owned(),
        all => all.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
    },
    differs: |before, after| before.webhooks != after.webhooks,
    is_local: true,
    is_secret: true,
    ..Setting::TEXT
}];

/// Parses JSON with one or several webhooks, or URLs separated by commas.
fn parse(text: &OsStr) -> Result<Vec<Webhook>, String> {
    let rule = |problem: &str| format!("up to {WEBHOOKS_MAX} webhooks, but {problem}");
    let text = text.to_str().ok_or_else(|| rule("this is not UTF-8"))?.trim();
    let given: Vec<Given> = if text.starts_with('[') {
        serde_json::from_str(text).map_err(|error| rule(&error.to_string()))?
    } else if text.starts_with('{') {
        vec![serde_json::from_str(text).map_err(|error| rule(&error.to_string()))?]
    } else {
        let urls = text.split(',').map(|url| url.trim().to_owned());
        urls.map(|url| Given { url: Some(url), ..Given::default() }).collect()
    };
    if given.len() > WEBHOOKS_MAX {
        return Err(rule(&format!("these are {}", given.len())));
    }
    let read = (1..).zip(given).map(|(number, given)| {
        webhook(given).map_err(|problem| rule(&format!("number {number} {problem}")))
    });
    read.collect()
}

fn webhook(given: Given) -> Result<Webhook, String> {
    let mut files = Vec::new();
    let url = match (given.url, given.url_file) {
        (Some(url), None) => url,
        (None, Some(path)) => {
            let text = text_in(&path, "a URL")?;
            files.push(path);
            text
        }
        _ => return Err("needs a url or a url_file, not both".to_owned()),
    };
    let uri = check_url(&url)?;
    let host = uri.host().unwrap_or_default().trim_start_matches("www.").to_ascii_lowercase();
    let is_discord = DISCORD.iter().any(|it| host == *it || host.ends_with(&format!(".{it}")));
    let by_host = if is_discord { WebhookFormat::Discord } else { WebhookFormat::Json };
    let format = given.format.unwrap_or(by_host);
    let key = match (format, given.secret_file) {
        (WebhookFormat::Json, Some(path)) => {
            let key = key_of(&text_in(&path, "a secret")?)?;
            files.push(path);
            key
        }
        (WebhookFormat::Discord, None) => Vec::new(),
        (WebhookFormat::Json, None) => {
            return Err(
                "needs a secret_file for signatures; `openssl rand -hex 32` prints a secret"
                    .to_owned(),
            );
        }
        (WebhookFormat::Discord, Some(_)) => {
            return Err("is Discord's, which checks no signature; leave secret_file out".to_owned());
        }
    };
    let topics = given.events.unwrap_or_else(|| Topic::ALL.to_vec());
    if topics.is_empty() {
        return Err("names no events; leave `events` out for all of them".to_owned());
    }
    Ok(Webhook { url, format, key, topics, files })
}

/// Parses an HTTP URL without a user name and password.
pub(super) fn check_url(url: &str) -> Result<Uri, String> {
    let rule = || {
        format!(
            "needs a URL of at most {URL_BYTES_MAX} bytes that begins with https:// or http://, \
             without a user's name, and with a port from 1 to 65535 if any"
        )
    };
    let uri = url.parse::<Uri>().map_err(|_| rule())?;
    let has_scheme = matches!(uri.scheme_str(), Some("http" | "https"));
    let authority = uri.authority().map(|it| it.as_str()).unwrap_or_default();
    let has_host = uri.host().is_some_and(|host| !host.is_empty()) && !authority.contains('@');
    let has_port = uri.authority().is_some_and(has_good_port);
    let is_good = has_scheme && has_host && has_port && url.len() <= URL_BYTES_MAX;
    is_good.then_some(uri).ok_or_else(rule)
}

/// The one line of a file.
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
             behind {KEY_PREFIX}"
        )
    })
}
