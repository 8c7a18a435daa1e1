//! Settings of the page by which browsers play.

use super::hosting::START;
use super::settings::Setting;
use super::values::{LISTEN_RULE, list, or, parse_address, parse_origins, path, path_or, put};

/// Settings of the page, in the order of the help.
pub(super) const WEB: [Setting; 3] = [
    Setting {
        flag: "web",
        value: "ADDR",
        help: "TCP address or port of the page by which browsers play, or off [default: off]",
        read: |config, text| {
            let address = match text.to_str() {
                Some("off") => Some(None),
                _ => parse_address(text).map(Some),
            };
            put(&mut config.web, address, &format!("off, or {LISTEN_RULE}"))
        },
        show: |config| or(config.web.as_ref(), "off"),
        restart: Some("its socket is bound when the server starts"),
        ..Setting::LIST
    },
    Setting {
        flag: "web-files",
        value: "DIR",
        help: "Folder with that page's files [default: ../web or ../share/phaselock/web, from the \
               program's folder]",
        read: |config, text| path(&mut config.web_files, text, "a folder"),
        show: |config| path_or(config.web_files.as_ref(), "beside the program"),
        restart: START,
        ..Setting::TEXT
    },
    Setting {
        flag: "web-origins",
        value: "ORIGIN",
        help: "Pages of other hosts by which browsers may play here, such as \
               https://play.example.org, with commas between [default: none]",
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
];
