//! `phaselock-server ctl`: the administration's interface on the command line.

mod args;
mod client;
mod print;

use std::io::{self, Write as _};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Args as _, FromArgMatches as _};
use serde_json::{Value, json};
use ureq::http::Method;

use self::args::{Act, CtlArgs};
use self::client::{Client, escaped, known_role, put};
use crate::config::Config;
use crate::data::token_path;

/// The variable with a token.
pub const TOKEN_VARIABLE: &str = "PHASELOCK_TOKEN";

/// A request to a running server.
#[derive(Clone, Debug)]
pub struct Ctl {
    address: SocketAddr,
    token_file: PathBuf,
    args: CtlArgs,
}

impl PartialEq for Ctl {
    fn eq(&self, other: &Self) -> bool {
        format!("{self:?}") == format!("{other:?}")
    }
}

/// The command for the command line's parser.
pub fn command() -> clap::Command {
    CtlArgs::augment_args(clap::Command::new("ctl").after_help(
        "The token is that of the environment variable PHASELOCK_TOKEN, or the first one, in the \
         file admin-token of the data directory.",
    ))
}

/// The request of a command line, for the server of these settings.
pub fn parse(matches: &clap::ArgMatches, config: &Config) -> Result<Ctl, clap::Error> {
    let args = CtlArgs::from_arg_matches(matches)?;
    let Some(mut address) = config.admin_listen else {
        let text = "admin_listen is off, so that there is no server to ask";
        return Err(clap::Error::raw(clap::error::ErrorKind::ValueValidation, text));
    };
    if address.ip().is_unspecified() {
        address.set_ip(match address {
            SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        });
    }
    Ok(Ctl { address, token_file: token_path(&config.data_dir), args })
}

impl Ctl {
    /// Does it, and prints the answer.
    pub fn run(&self) -> Result<()> {
        let client = Client::new(self)?;
        let json = self.args.json;
        let get = |path: &str| client.call(Method::GET, path, None);
        let post = |path: &str, body: Value| client.call(Method::POST, path, Some(body));
        let shown: (Value, print::Shape) = match &self.args.act {
            Act::Status => (get("/v1/status")?, print::Shape::Status),
            Act::Players => (get("/v1/players")?, print::Shape::Players),
            Act::Left => (get("/v1/left")?, print::Shape::Left),
            Act::Kick { player, sentence } => {
                let mut body = json!({ "who": player.player, "reason": sentence.reason.join(" ") });
                put(&mut body, "room", player.room.as_deref());
                put(&mut body, "for", sentence.span.as_deref());
                (post("/v1/kick", body)?, print::Shape::Done)
            }
            Act::Ban { against, sentence } => {
                (post("/v1/bans", against.body(sentence))?, print::Shape::Sentences)
            }
            Act::Mute { against, sentence } => {
                (post("/v1/mutes", against.body(sentence))?, print::Shape::Sentences)
            }
            Act::Unban { ban } => (client.lift("/v1/bans", ban)?, print::Shape::Done),
            Act::Unmute { mute } => (client.lift("/v1/mutes", mute)?, print::Shape::Done),
            Act::Bans => (get("/v1/bans")?, print::Shape::Sentences),
            Act::Mutes => (get("/v1/mutes")?, print::Shape::Sentences),
            Act::Allowed => (get("/v1/allow-list")?, print::Shape::Allowed),
            Act::Allow { key, name } => {
                let body = json!({ "key": key, "name": name.join(" ") });
                (post("/v1/allow-list", body)?, print::Shape::Done)
            }
            Act::Disallow { key } => {
                let path = format!("/v1/allow-list/{}", escaped(key));
                (client.call(Method::DELETE, &path, None)?, print::Shape::Done)
            }
            Act::Chat { lines } => (get(&format!("/v1/chat?lines={lines}"))?, print::Shape::Chat),
            Act::Say { room, text } => {
                let mut body = json!({ "text": text.join(" ") });
                put(&mut body, "room", room.as_deref());
                (post("/v1/say", body)?, print::Shape::Done)
            }
            Act::Tell { player, text } => {
                let mut body = json!({ "who": player.player, "text": text.join(" ") });
                put(&mut body, "room", player.room.as_deref());
                (post("/v1/tell", body)?, print::Shape::Done)
            }
            Act::Game { game, room } => {
                let mut body = json!({ "game": game });
                put(&mut body, "room", room.as_deref());
                (post("/v1/game", body)?, print::Shape::Done)
            }
            Act::Round { room } => {
                let mut body = json!({});
                put(&mut body, "room", room.as_deref());
                (post("/v1/round", body)?, print::Shape::Done)
            }
            Act::Drain { within, text, redirect } => {
                let mut body = json!({});
                put(&mut body, "within", within.as_deref());
                put(&mut body, "text", text.as_deref());
                put(&mut body, "redirect", redirect.as_deref());
                (post("/v1/drain", body)?, print::Shape::Done)
            }
            Act::Undrain => (client.call(Method::DELETE, "/v1/drain", None)?, print::Shape::Done),
            Act::SkipRestart => {
                (client.call(Method::DELETE, "/v1/restart", None)?, print::Shape::Done)
            }
            Act::Reload => (post("/v1/reload", json!({}))?, print::Shape::Reload),
            Act::Settings => (get("/v1/config")?, print::Shape::Settings),
            Act::Set { name, value } => {
                let path = format!("/v1/settings/{}", escaped(name));
                let body = json!({ "value": value });
                (client.call(Method::PUT, &path, Some(body))?, print::Shape::Done)
            }
            Act::Unset { name } => {
                let path = format!("/v1/settings/{}", escaped(name));
                (client.call(Method::DELETE, &path, None)?, print::Shape::Done)
            }
            Act::WebhookTest => (post("/v1/webhooks/test", json!({}))?, print::Shape::WebhookTests),
            Act::LogLevel { filter } => {
                let body = json!({ "filter": filter });
                (client.call(Method::PUT, "/v1/log-level", Some(body))?, print::Shape::Done)
            }
            Act::Log { lines } => (get(&format!("/v1/log?lines={lines}"))?, print::Shape::Log),
            Act::Events => return client.follow(json),
            Act::Roles => (get("/v1/roles")?, print::Shape::Roles),
            Act::Role { player, role } => (client.role(player, role)?, print::Shape::Done),
            Act::Forget { key } => {
                let path = format!("/v1/people/{}", escaped(key));
                (client.call(Method::DELETE, &path, None)?, print::Shape::Done)
            }
            Act::Tokens => (get("/v1/tokens")?, print::Shape::Tokens),
            Act::Token { name, role } => match &**role {
                "none" => {
                    let path = format!("/v1/tokens/{}", escaped(name));
                    (client.call(Method::DELETE, &path, None)?, print::Shape::Done)
                }
                role => {
                    let body = json!({ "name": name, "role": known_role(role)? });
                    (post("/v1/tokens", body)?, print::Shape::Token)
                }
            },
            Act::Audit { lines } => {
                (get(&format!("/v1/audit?limit={lines}"))?, print::Shape::Audit)
            }
            Act::Results => (get("/v1/results")?, print::Shape::Results),
            Act::Records { game } => {
                let game = game.as_ref().map(|game| format!("?game={}", escaped(game)));
                let path = format!("/v1/records{}", game.unwrap_or_default());
                (get(&path)?, print::Shape::Records)
            }
            Act::Backup { file } => {
                (post("/v1/backup", json!({ "file": file }))?, print::Shape::Done)
            }
        };
        let text = match json {
            true => serde_json::to_string_pretty(&shown.0).context("cannot write JSON")?,
            false => print::text(&shown.0, shown.1),
        };
        // Whoever reads it may have seen enough.
        let _ = writeln!(io::stdout(), "{}", text.trim_end());
        Ok(())
    }
}
