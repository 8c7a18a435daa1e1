//! Settings of the page by which browsers play.

use super::setting::{START, Setting};
use super::values::{
    list, number, or, parse_optional_address, parse_origins, path, path_or, switch,
};

/// Bytes of the page a second: least and most. The least serves a visit in 20 s.
const WEB_BYTES_MIN: u32 = 100_000;
const WEB_BYTES_MAX: u32 = 1_000_000_000;

/// Settings of the page, in the order of the help.
pub(super) const WEB: [Setting; 5] = [
    Setting {
        flag: "web",
        value: "ADDR",
        help: "TCP address or port of the page for browsers, or off",
        read: |config, text| {
            config.web = parse_optional_address(text)?;
            Ok(())
        },
        show: |config| or(config.web.as_ref(), "off"),
        restart: Some("its socket is bound when the server starts"),
        ..Setting::LIST
    },
    Setting {
        flag: "web-files",
        value: "DIR",
        help: "Folder with the page's files",
        default: Some("../web or ../share/phaselock/web, from the program's folder"),
        read: |config, text| path(&mut config.web_files, text, "a folder"),
        show: |config| path_or(config.web_files.as_ref(), "beside the program"),
        restart: START,
        ..Setting::TEXT
    },
    Setting {
        flag: "web-origins",
        value: "ORIGIN",
        help: "Pages on other hosts whose players may join, such as https://play.example.org, \
               separated by commas",
        read: |config, text| {
            config.web_origins = parse_origins(text)?;
            Ok(())
        },
        show: |config| match &*config.web_origins {
            [] => "none".to_owned(),
            origins => list(origins),
        },
        restart: START,
        ..Setting::LIST
    },
    Setting {
        flag: "web-bytes",
        value: "BYTES",
        help: "Maximum bytes per second for sending the page, to all visitors together, so that \
               the rest is left for the game",
        read: |config, text| number(&mut config.web_bytes, text, WEB_BYTES_MIN..=WEB_BYTES_MAX),
        show: |config| config.web_bytes.to_string(),
        restart: START,
        ..Setting::NUMBER
    },
    Setting {
        flag: "public-page",
        help: "Show everybody who is playing, and the records, at /public beside the page for \
               browsers",
        read: |config, text| switch(&mut config.public_page, text),
        show: |config| config.public_page.to_string(),
        ..Setting::SWITCH
    },
];
