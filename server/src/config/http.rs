//! Settings of what the server shows and sends to others over HTTP: the page for browsers, the
//! public page, and webhooks.

use std::net::SocketAddr;
use std::path::PathBuf;

use super::setting::{Kind, START, section};
use super::values::{
    list, number, or, parse_optional_address, parse_origins, parse_web_directory, path, path_or,
    switch,
};
use super::webhooks::{self, Webhook};

/// Bytes of the page per second. The minimum serves a visit in 20 s.
const WEB_BYTES_MIN: u32 = 100_000;
const WEB_BYTES_MAX: u32 = 1_000_000_000;
/// A visit in half a second, a third of a line of 100 Mbit/s.
const WEB_BYTES_DEFAULT: u32 = 4_000_000;

section! {
    /// Settings of the pages for browsers and of webhooks.
    Http;

    /// TCP address of the page for browsers. `None` turns it off.
    web: Option<SocketAddr> = None => {
        value: "ADDR",
        help: "TCP address or port of the page for browsers, or off",
        read: |config, text| {
            config.as_mut().web = parse_optional_address(text)?;
            Ok(())
        },
        show: |config| or(config.as_ref().web.as_ref(), "off"),
        restart: Some("its socket is bound when the server starts"),
        ..Setting::LIST
    }

    /// Folder with the page's files. By default the program looks beside itself.
    web_files: Option<PathBuf> = None => {
        value: "DIR",
        help: "Folder with the page's files",
        default: Some("../web or ../share/phaselock/web, from the program's folder"),
        read: |config, text| path(&mut config.as_mut().web_files, text, "a folder"),
        show: |config| path_or(config.as_ref().web_files.as_ref(), "beside the program"),
        restart: START,
        ..Setting::TEXT
    }

    /// Origins of pages on other hosts whose players may join, in lower case, up to
    /// [`ORIGINS_MAX`](super::ORIGINS_MAX).
    web_origins: Vec<String> = Vec::new() => {
        value: "ORIGIN",
        help: "Pages on other hosts whose players may join, such as https://play.example.org, \
               separated by commas",
        read: |config, text| {
            config.as_mut().web_origins = parse_origins(text)?;
            Ok(())
        },
        show: |config| match &*config.as_ref().web_origins {
            [] => "none".to_owned(),
            origins => list(origins),
        },
        restart: START,
        ..Setting::LIST
    }

    /// Origin of the directory that the page asks for a place to play.
    web_directory: Option<String> = None => {
        value: "URL",
        help: "Directory that the page asks for a place to play, such as \
               https://directory.example.org:8443, or none",
        read: |config, text| {
            config.as_mut().web_directory = parse_web_directory(text)?;
            Ok(())
        },
        show: |config| or(config.as_ref().web_directory.as_ref(), "none"),
        ..Setting::TEXT
    }

    /// Maximum bytes per second for sending the page, to all visitors together.
    web_bytes: u32 = WEB_BYTES_DEFAULT => {
        value: "BYTES",
        help: "Maximum bytes per second for sending the page to all visitors together; the rest \
               is left for the game",
        read: |config, text| {
            number(&mut config.as_mut().web_bytes, text, WEB_BYTES_MIN..=WEB_BYTES_MAX)
        },
        show: |config| config.as_ref().web_bytes.to_string(),
        restart: START,
        ..Setting::NUMBER
    }

    /// Whether everyone may see who is playing, and the records.
    public_page: bool = false => {
        help: "Show everyone who is playing, and the records, at /public, next to the page for \
               browsers",
        read: |config, text| switch(&mut config.as_mut().public_page, text),
        show: |config| config.as_ref().public_page.to_string(),
        ..Setting::SWITCH
    }

    /// Receivers of events, up to [`WEBHOOKS_MAX`](webhooks::WEBHOOKS_MAX).
    webhook: Vec<Webhook> = Vec::new() => {
        value: "URL",
        help: "Addresses that receive joins, sanctions, alarms and results: in the file, a table \
               [[webhook]] for each",
        kind: Kind::Tables,
        read: |config, text| {
            config.as_mut().webhook = webhooks::parse(text)?;
            Ok(())
        },
        show: |config| match &*config.as_ref().webhook {
            [] => "none".to_owned(),
            all => all.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        },
        differs: |before, after| before.as_ref().webhook != after.as_ref().webhook,
        is_local: true,
        is_secret: true,
        ..Setting::TEXT
    }
}
