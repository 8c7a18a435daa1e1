//! Settings of the network, of who may join, of files, administration and the log.

use std::net::Ipv4Addr;
use std::path::PathBuf;

use phaselock::limits::PLAYERS_MAX;
use phaselock::link::Conditions;

use super::allow_list::{self, AllowList};
use super::deny_lists;
use super::log::{LogFormat, parse_filter};
use super::password::{parse_password, password_in};
use super::restarts;
use super::setting::{Kind, START, Setting};
use super::values::{
    hidden, list, number, or, parse_directories, parse_line, parse_listen, parse_optional_address,
    parse_redirect, path, path_or, put, switch,
};
use super::webhooks;

/// Longest time for which people are remembered, in days: a century. Arbitrary.
const KEEP_DAYS_MAX: u32 = 36_500;

/// The maximum hours between two backups: some six weeks. Arbitrary.
const BACKUP_HOURS_MAX: u32 = 1000;
/// The maximum number of backups to keep. Arbitrary.
const BACKUPS_MAX: u16 = 1000;

/// Settings of everything around the rooms, in the order of the help.
pub(super) const HOSTING: [Setting; 24] = [
    Setting {
        flag: "listen",
        value: "ADDR",
        help: "UDP addresses or ports to serve on, separated by commas",
        default: Some("[::]:4433, IPv4 included"),
        read: |config, text| {
            config.listen = parse_listen(text)?;
            Ok(())
        },
        show: |config| list(&config.listen),
        restart: Some("sockets are bound when the server starts"),
        ..Setting::LIST
    },
    Setting {
        flag: "link",
        value: "CONDITIONS",
        help: "Serve over a simulated bad network, to try a game: a profile such as mobile, or \
               properties as in delay=100ms,loss=5%",
        read: |config, text| {
            let link = text.to_str().unwrap_or_default().parse::<Conditions>();
            config.link = Some(link.map_err(|error| format!("a network, but {error}"))?);
            Ok(())
        },
        show: |config| or(config.link.as_ref(), "none"),
        restart: START,
        ..Setting::TEXT
    },
    Setting {
        flag: "seats-per-address",
        value: "COUNT",
        help: "Maximum number of players from one address or network; those on this machine do not \
               count",
        read: |config, text| number(&mut config.seats_per_address, text, 1..=PLAYERS_MAX),
        show: |config| config.seats_per_address.to_string(),
        ..Setting::NUMBER
    },
    Setting {
        flag: "password",
        value: "WORD",
        help: "Word that players need to join; prefer --password-file, since others on the machine \
               can read flags",
        read: |config, text| {
            config.password = Some(parse_password(text.to_str().unwrap_or_default())?);
            Ok(())
        },
        show: |config| hidden(config.password.is_some() && config.password_file.is_none()),
        differs: |before, after| before.password != after.password,
        is_secret: true,
        ..Setting::TEXT
    },
    Setting {
        flag: "password-file",
        value: "FILE",
        help: "File that contains the password",
        read: |config, text| {
            let mut file = None;
            path(&mut file, text, "a file")?;
            config.password = file.as_deref().map(password_in).transpose()?;
            config.password_file = file;
            Ok(())
        },
        show: |config| path_or(config.password_file.as_ref(), "none"),
        is_local: true,
        ..Setting::TEXT
    },
    Setting {
        flag: "greeting",
        value: "TEXT",
        help: "Line that each player sees on joining, such as the house rules",
        read: |config, text| {
            config.greeting = Some(parse_line(text.to_str().unwrap_or_default())?);
            Ok(())
        },
        show: |config| or(config.greeting.as_ref(), "none"),
        ..Setting::TEXT
    },
    Setting {
        flag: "allow-list",
        value: "FILE",
        help: "File with the keys of the players who may join, one per line",
        default: Some("none, everybody may"),
        read: |config, text| {
            config.allow_list = Some(allow_list::read(text.as_ref())?);
            Ok(())
        },
        show: |config| path_or(config.allow_list.as_ref().map(|list| &list.path), "none"),
        differs: |before, after| {
            let keys = |list: &Option<AllowList>| list.as_ref().map(|list| list.keys.clone());
            keys(&before.allow_list) != keys(&after.allow_list)
        },
        is_local: true,
        ..Setting::TEXT
    },
    Setting {
        flag: "deny-lists",
        value: "LISTS",
        help: "Files or URLs with addresses and networks that may not join, such as those of VPNs, \
               separated by commas",
        read: |config, text| {
            config.deny_lists = deny_lists::parse(text)?;
            Ok(())
        },
        show: |config| match &*config.deny_lists {
            [] => "none".to_owned(),
            lists => list(lists),
        },
        differs: |before, after| before.deny_lists != after.deny_lists,
        is_local: true,
        is_secret: true,
        ..Setting::LIST
    },
    Setting {
        flag: "redirect",
        value: "ADDR",
        help: "Server that players are sent to when this one drains, such as two.example.org:4433",
        read: |config, text| {
            config.redirect = Some(parse_redirect(text.to_str().unwrap_or_default())?);
            Ok(())
        },
        show: |config| or(config.redirect.as_ref(), "none"),
        ..Setting::TEXT
    },
    Setting {
        flag: "directories",
        value: "ADDR",
        help: "Directories that list the server for players, separated by commas; the default port \
               is 4435",
        read: |config, text| {
            config.directories = parse_directories(text)?;
            Ok(())
        },
        show: |config| match &*config.directories {
            [] => "none".to_owned(),
            directories => list(directories),
        },
        restart: START,
        ..Setting::LIST
    },
    Setting {
        flag: "announce-port",
        value: "PORT",
        help: "UDP port at which the server is reached from outside, if a router forwards another \
               one",
        read: |config, text| {
            let mut port = 0;
            number(&mut port, text, 1..=u16::MAX)?;
            config.announce_port = Some(port);
            Ok(())
        },
        show: |config| or(config.announce_port.as_ref(), "as --listen"),
        restart: START,
        ..Setting::NUMBER
    },
    Setting {
        flag: "data-dir",
        value: "DIR",
        help: "Directory for the certificate, the database and saved rooms",
        read: |config, path| {
            let path = Some(path).filter(|path| !path.is_empty());
            put(&mut config.data_dir, path.map(PathBuf::from), "a directory")
        },
        show: |config| config.data_dir.display().to_string(),
        restart: Some("its files are open"),
        ..Setting::TEXT
    },
    Setting {
        flag: "keep-days",
        value: "DAYS",
        help: "Days after which acts, results and players not seen since are deleted, 0 for never",
        read: |config, text| number(&mut config.keep_days, text, 0..=KEEP_DAYS_MAX),
        show: |config| config.keep_days.to_string(),
        ..Setting::NUMBER
    },
    Setting {
        flag: "backup-hours",
        value: "HOURS",
        help: "Hours between backups of database, certificate and rooms to backups/ in --data-dir, \
               0 for none",
        read: |config, text| number(&mut config.backup_hours, text, 0..=BACKUP_HOURS_MAX),
        show: |config| config.backup_hours.to_string(),
        ..Setting::NUMBER
    },
    Setting {
        flag: "backup-keep",
        value: "COUNT",
        help: "Number of backups to keep",
        read: |config, text| number(&mut config.backup_keep, text, 1..=BACKUPS_MAX),
        show: |config| config.backup_keep.to_string(),
        ..Setting::NUMBER
    },
    Setting {
        flag: "restarts",
        value: "TIMES",
        help: "Times in UTC at which the server restarts by itself, such as 04:00, mon 04:00 or \
               every 6h, separated by commas",
        read: |config, text| {
            config.restarts = restarts::parse(text)?;
            Ok(())
        },
        show: |config| restarts::show(&config.restarts),
        ..Setting::LIST
    },
    Setting {
        flag: "cert-file",
        value: "FILE",
        help: "Certificate in PEM, followed by its chain",
        default: Some("cert.pem in --data-dir, made when there is none"),
        read: |config, text| path(&mut config.cert_file, text, "a file"),
        show: |config| path_or(config.cert_file.as_ref(), "in the data directory"),
        is_local: true,
        ..Setting::TEXT
    },
    Setting {
        flag: "key-file",
        value: "FILE",
        help: "Private key of that certificate in PEM",
        default: Some("key.pem in --data-dir"),
        read: |config, text| path(&mut config.key_file, text, "a file"),
        show: |config| path_or(config.key_file.as_ref(), "in the data directory"),
        is_local: true,
        ..Setting::TEXT
    },
    Setting {
        flag: "require-identity",
        help: "Without a certificate, refuse to start instead of making one",
        read: |config, text| switch(&mut config.require_identity, text),
        show: |config| config.require_identity.to_string(),
        restart: START,
        ..Setting::SWITCH
    },
    Setting {
        flag: "admin-listen",
        value: "ADDR",
        help: "TCP address for administration, or off",
        read: |config, text| {
            let port = text.to_str().and_then(|port| port.parse::<u16>().ok());
            config.admin_listen = match port {
                // A port alone is one of this machine's own address.
                Some(port) => Some((Ipv4Addr::LOCALHOST, port).into()),
                None => parse_optional_address(text)?,
            };
            Ok(())
        },
        show: |config| or(config.admin_listen.as_ref(), "off"),
        restart: Some("its socket is bound when the server starts"),
        ..Setting::LIST
    },
    Setting {
        flag: "log",
        value: "FORMAT",
        help: "Format of the log: text or json",
        read: |config, text| {
            let formats = [("text", LogFormat::Text), ("json", LogFormat::Json)];
            let format = formats.into_iter().find(|(name, _)| *name == text);
            put(&mut config.log, format.map(|(_, format)| format), "text or json")
        },
        show: |config| match config.log {
            LogFormat::Text => "text".to_owned(),
            LogFormat::Json => "json".to_owned(),
        },
        restart: START,
        ..Setting::TEXT
    },
    Setting {
        flag: "log-filter",
        value: "DIRECTIVES",
        help: "What to log, for example info,phaselock_quic=debug",
        read: |config, text| {
            let filter = text.to_str().filter(|filter| parse_filter(filter).is_ok());
            let rule = "directives such as info,phaselock_quic=debug";
            put(&mut config.log_filter, filter.map(str::to_owned), rule)
        },
        show: |config| config.log_filter.clone(),
        ..Setting::LIST
    },
    Setting {
        flag: "log-file",
        value: "FILE",
        help: "File to append the log to, reopened on SIGHUP",
        read: |config, text| path(&mut config.log_file, text, "a file"),
        show: |config| path_or(config.log_file.as_ref(), "standard error"),
        restart: START,
        ..Setting::TEXT
    },
    Setting {
        flag: "watch-config",
        help: "Check the configuration file every second, and load it again when it has changed",
        read: |config, text| switch(&mut config.watch_config, text),
        show: |config| config.watch_config.to_string(),
        restart: START,
        ..Setting::SWITCH
    },
];

/// The setting of webhooks, the last in the help.
pub(super) const WEBHOOKS: [Setting; 1] = [Setting {
    flag: "webhook",
    value: "URL",
    help: "Addresses that receive joins, sanctions, alarms and results: in the file, a table \
           [[webhook]] for each",
    kind: Kind::Tables,
    read: |config, text| {
        config.webhooks = webhooks::parse(text)?;
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
