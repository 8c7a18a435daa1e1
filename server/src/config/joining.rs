//! Settings of how players find and join the server.

use std::net::{Ipv6Addr, SocketAddr};
use std::path::PathBuf;

use phaselock::limits::PLAYERS_MAX;
use phaselock::link::{Conditions, RECORDING_BYTES_MAX};
use phaselock_quic::address::Address;
use phaselock_quic::files;
use semver::Version;

use super::allow_list::{self, AllowList};
use super::deny_lists::{self, DenyList};
use super::fleet_secret::FleetSecret;
use super::password::{Password, parse_password, password_in};
use super::redirect::Redirect;
use super::setting::{START, section};
use super::values::{
    hidden, list, number, or, parse_directories, parse_download, parse_line, parse_listen,
    parse_region, parse_version, path, path_or,
};

/// Where our releases are.
const DOWNLOAD: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/releases");

section! {
    /// Settings of how players find and join the server.
    Joining;

    /// UDP addresses to serve on, 1 to [`LISTEN_MAX`](super::LISTEN_MAX). `[::]` includes IPv4.
    /// The system chooses a port in place of port 0.
    listen: Vec<SocketAddr> = vec![SocketAddr::from((Ipv6Addr::UNSPECIFIED, 4433))] => {
        value: "ADDR",
        help: "UDP addresses or ports to serve on, separated by commas",
        default: Some("[::]:4433, IPv4 included"),
        read: |config, text| {
            config.as_mut().listen = parse_listen(text)?;
            Ok(())
        },
        show: |config| list(&config.as_ref().listen),
        restart: Some("sockets are bound when the server starts"),
        ..Setting::LIST
    }

    /// Simulated network between the server and its clients.
    link: Option<Conditions> = None => {
        value: "CONDITIONS",
        help: "Serve over a simulated bad network, to try a game: a profile such as mobile, \
               properties as in delay=100ms,loss=5%, or a recording as in file:PATH",
        read: |config, text| {
            let link = Conditions::parse(text.to_str().unwrap_or_default(), |path| {
                files::read(path.as_ref(), RECORDING_BYTES_MAX).map_err(|error| error.to_string())
            });
            config.as_mut().link = Some(link.map_err(|error| format!("a network, but {error}"))?);
            Ok(())
        },
        show: |config| or(config.as_ref().link.as_ref(), "none"),
        restart: START,
        ..Setting::TEXT
    }

    /// Maximum number of players from one address or network, 1 to [`PLAYERS_MAX`].
    seats_per_address: u16 = 8 => {
        value: "COUNT",
        help: "Maximum number of players from one address or network; those on this machine do not \
               count",
        read: |config, text| number(&mut config.as_mut().seats_per_address, text, 1..=PLAYERS_MAX),
        show: |config| config.as_ref().seats_per_address.to_string(),
        ..Setting::NUMBER
    }

    /// Word that players need to join, if any.
    password: Option<Password> = None => {
        value: "WORD",
        help: "Word that players need to join; prefer --password-file, since others on the machine \
               can read flags",
        read: |config, text| {
            config.as_mut().password = Some(parse_password(text.to_str().unwrap_or_default())?);
            Ok(())
        },
        show: |config| {
            let Joining { password, password_file, .. } = config.as_ref();
            hidden(password.is_some() && password_file.is_none())
        },
        differs: |before, after| before.as_ref().password != after.as_ref().password,
        is_secret: true,
        ..Setting::TEXT
    }

    /// File that the password was read from.
    password_file: Option<PathBuf> = None => {
        value: "FILE",
        help: "File that contains the password",
        read: |config, text| {
            let mut file = None;
            path(&mut file, text, "a file")?;
            config.as_mut().password = file.as_deref().map(password_in).transpose()?;
            config.as_mut().password_file = file;
            Ok(())
        },
        show: |config| path_or(config.as_ref().password_file.as_ref(), "none"),
        is_local: true,
        ..Setting::TEXT
    }

    /// Line that each player sees on joining, if any.
    greeting: Option<String> = None => {
        value: "TEXT",
        help: "Line that each player sees on joining, such as the house rules",
        read: |config, text| {
            config.as_mut().greeting = Some(parse_line(text.to_str().unwrap_or_default())?);
            Ok(())
        },
        show: |config| or(config.as_ref().greeting.as_ref(), "none"),
        ..Setting::TEXT
    }

    /// Region that the server is in, for players and directories, if any.
    region: Option<String> = None => {
        value: "NAME",
        help: "Region that the server is in, by which directories send players to near servers; \
               all servers of a region need the same name, such as europe",
        read: |config, text| {
            config.as_mut().region = Some(parse_region(text.to_str().unwrap_or_default())?);
            Ok(())
        },
        show: |config| or(config.as_ref().region.as_ref(), "none"),
        ..Setting::TEXT
    }

    /// Players who may join. `None` lets everyone join.
    allow_list: Option<AllowList> = None => {
        value: "FILE",
        help: "File with the keys of the players who may join, one per line",
        default: Some("none: anyone may join"),
        read: |config, text| {
            config.as_mut().allow_list = Some(allow_list::read(text.as_ref())?);
            Ok(())
        },
        show: |config| path_or(config.as_ref().allow_list.as_ref().map(|list| &list.path), "none"),
        differs: |before, after| {
            let keys = |list: &Option<AllowList>| list.as_ref().map(|list| list.keys.clone());
            keys(&before.as_ref().allow_list) != keys(&after.as_ref().allow_list)
        },
        is_local: true,
        ..Setting::TEXT
    }

    /// Lists of addresses that may not join, up to [`DENY_LISTS_MAX`](super::DENY_LISTS_MAX).
    deny_lists: Vec<DenyList> = Vec::new() => {
        value: "LISTS",
        help: "Files or URLs with addresses and networks that may not join, such as those of VPNs, \
               separated by commas",
        read: |config, text| {
            config.as_mut().deny_lists = deny_lists::parse(text)?;
            Ok(())
        },
        show: |config| match &*config.as_ref().deny_lists {
            [] => "none".to_owned(),
            lists => list(lists),
        },
        differs: |before, after| before.as_ref().deny_lists != after.as_ref().deny_lists,
        is_local: true,
        is_secret: true,
        ..Setting::LIST
    }

    /// Oldest version of clients that may join. `None` for all that fit.
    oldest_client: Option<Version> = None => {
        value: "VERSION",
        help: "Oldest client version that may join, such as 0.1.2, or none",
        read: |config, text| {
            config.as_mut().oldest_client = parse_version(text)?;
            Ok(())
        },
        show: |config| or(config.as_ref().oldest_client.as_ref(), "none"),
        ..Setting::TEXT
    }

    /// Where players whose version does not fit get another one.
    download: String = DOWNLOAD.to_owned() => {
        value: "URL",
        help: "Page where players get a client for this server, shown to those whose version does \
               not match",
        read: |config, text| {
            config.as_mut().download = parse_download(text)?;
            Ok(())
        },
        show: |config| config.as_ref().download.clone(),
        ..Setting::TEXT
    }

    /// Server that players are sent to when this one drains or stops.
    redirect: Option<Redirect> = None => {
        value: "ADDR",
        help: "Server that players are sent to when this one drains or stops: an address, with # \
               and the fingerprint of its certificate, or a phaselock:// link",
        read: |config, text| {
            config.as_mut().redirect = Some(Redirect::parse(text.to_str().unwrap_or_default())?);
            Ok(())
        },
        show: |config| or(config.as_ref().redirect.as_ref(), "none"),
        ..Setting::TEXT
    }

    /// Secret that the servers of a fleet share.
    fleet_secret_file: Option<FleetSecret> = None => {
        value: "FILE",
        help: "File with the secret that the servers of a fleet share, so that players who are \
               sent to another one keep seat, name and score",
        read: |config, text| {
            config.as_mut().fleet_secret_file = Some(FleetSecret::read(text.as_ref())?);
            Ok(())
        },
        show: |config| {
            path_or(config.as_ref().fleet_secret_file.as_ref().map(|it| &it.path), "none")
        },
        differs: |before, after| {
            let secrets = [before, after].map(|it| it.as_ref().fleet_secret_file.as_ref());
            match secrets {
                [Some(before), Some(after)] => !before.is_as(after),
                [before, after] => before.is_some() != after.is_some(),
            }
        },
        is_local: true,
        ..Setting::TEXT
    }

    /// Directories that list the server for players, up to
    /// [`DIRECTORIES_MAX`](super::DIRECTORIES_MAX).
    directories: Vec<Address> = Vec::new() => {
        value: "ADDR",
        help: "Directories that list the server for players, separated by commas; the default port \
               is 4435",
        read: |config, text| {
            config.as_mut().directories = parse_directories(text)?;
            Ok(())
        },
        show: |config| match &*config.as_ref().directories {
            [] => "none".to_owned(),
            directories => list(directories),
        },
        restart: START,
        ..Setting::LIST
    }

    /// UDP port at which the server is reached from outside. By default the first that it listens
    /// on.
    announce_port: Option<u16> = None => {
        value: "PORT",
        help: "UDP port at which the server is reachable from outside, if a router forwards a \
               different one",
        read: |config, text| {
            let mut port = 0;
            number(&mut port, text, 1..=u16::MAX)?;
            config.as_mut().announce_port = Some(port);
            Ok(())
        },
        show: |config| or(config.as_ref().announce_port.as_ref(), "as --listen"),
        restart: START,
        ..Setting::NUMBER
    }
}
