//! `phaselock-server ctl`: the administration's interface on the command line.

mod print;

use std::fs;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use clap::{Args, FromArgMatches as _, Subcommand};
use serde_json::{Value, json};
use ureq::Agent;
use ureq::http::{Method, Request};

use crate::beside::token_path;
use crate::config::Config;
use crate::people::Role;

/// The variable with a token.
pub const TOKEN_VARIABLE: &str = "PHASELOCK_TOKEN";
/// Longest time for an answer, more than the server takes for one.
const TIMEOUT: Duration = Duration::from_secs(15);

/// Arguments of `ctl`.
#[derive(Args, Clone, Debug)]
struct CtlArgs {
    /// Print answers as JSON
    #[arg(long, id = "ctl-json", global = true)]
    json: bool,
    #[command(subcommand)]
    act: Act,
}

/// A player as an argument.
#[derive(Args, Clone, Debug)]
struct Player {
    /// Name, seat such as p3, or at least 8 digits of the key
    #[arg(id = "ctl-player", value_name = "PLAYER")]
    player: String,
    /// Code of the player's room
    #[arg(long, id = "ctl-in", value_name = "ROOM")]
    room: Option<String>,
}

/// Time and reason as arguments.
#[derive(Args, Clone, Debug)]
struct Sentence {
    /// Time for which it holds, such as 30s, 10m, 2h, 7d
    #[arg(long = "for", id = "ctl-for", value_name = "TIME")]
    span: Option<String>,
    /// Reason
    #[arg(id = "ctl-reason", value_name = "REASON", trailing_var_arg = true)]
    reason: Vec<String>,
}

/// Whom a ban or mute is against.
#[derive(Args, Clone, Debug)]
struct Against {
    /// Name, seat such as p3, or at least 8 digits of the key of a player who is here; or a key of
    /// 64 digits, an address, or a network such as 192.0.2.0/24
    #[arg(id = "ctl-whom", value_name = "WHOM")]
    whom: String,
    /// Code of the player's room
    #[arg(long, id = "ctl-in", value_name = "ROOM")]
    room: Option<String>,
}

impl Against {
    fn body(&self, sentence: &Sentence) -> Value {
        let Self { whom, room } = self;
        let is_key = whom.len() == 64 && whom.bytes().all(|byte| byte.is_ascii_hexdigit());
        let subject = if is_key {
            "key"
        } else if whom.parse::<std::net::IpAddr>().is_ok() {
            "address"
        } else if whom.contains('/') {
            "network"
        } else {
            "who"
        };
        let mut body = json!({ "reason": sentence.reason.join(" ") });
        body[subject] = whom.as_str().into();
        if let Some(room) = room {
            body["room"] = room.as_str().into();
        }
        if let Some(span) = &sentence.span {
            body["for"] = span.as_str().into();
        }
        body
    }
}

/// Things to do.
#[derive(Clone, Debug, Subcommand)]
enum Act {
    /// Show the server and its rooms
    Status,
    /// Show all players
    Players,
    /// Put a player out; with --for the key may not come back so long
    Kick {
        #[command(flatten)]
        player: Player,
        #[command(flatten)]
        sentence: Sentence,
    },
    /// Ban a player (key and address), a key, an address or a network
    Ban {
        #[command(flatten)]
        against: Against,
        #[command(flatten)]
        sentence: Sentence,
    },
    /// Lift a ban
    Unban {
        /// Its number, the key, address or network, or the player's name
        #[arg(id = "ctl-ban", value_name = "BAN")]
        ban: String,
    },
    /// Show all bans
    Bans,
    /// Let a player speak no more
    Mute {
        #[command(flatten)]
        against: Against,
        #[command(flatten)]
        sentence: Sentence,
    },
    /// Lift a mute
    Unmute {
        /// Its number, the key, address or network, or the player's name
        #[arg(id = "ctl-mute", value_name = "MUTE")]
        mute: String,
    },
    /// Show all mutes
    Mutes,
    /// Show everybody a line
    Say {
        /// Code of a room; all rooms without it
        #[arg(long, id = "ctl-in", value_name = "ROOM")]
        room: Option<String>,
        /// The line
        #[arg(id = "ctl-text", value_name = "TEXT", required = true, trailing_var_arg = true)]
        text: Vec<String>,
    },
    /// Go on with a game now
    Game {
        /// Its name
        #[arg(id = "ctl-game", value_name = "GAME")]
        game: String,
        /// Code of a room; all rooms without it
        #[arg(long, id = "ctl-in", value_name = "ROOM")]
        room: Option<String>,
    },
    /// Begin the game that is played anew
    Round {
        /// Code of a room; all rooms without it
        #[arg(long, id = "ctl-in", value_name = "ROOM")]
        room: Option<String>,
    },
    /// Take nobody in any more, and end the server with the round or when the time is up
    Drain {
        /// Longest time until the end [default: 5m]
        #[arg(long, id = "ctl-within", value_name = "TIME")]
        within: Option<String>,
        /// Goodbye
        #[arg(long, id = "ctl-goodbye", value_name = "TEXT")]
        text: Option<String>,
        /// Another server for the players, as HOST:PORT
        #[arg(long = "to", id = "ctl-redirect", value_name = "HOST:PORT")]
        redirect: Option<String>,
    },
    /// Take a drain back
    Undrain,
    /// Load the settings again
    Reload,
    /// Show the settings in force
    Settings,
    /// Have other lines logged
    LogLevel {
        /// Directives such as info,phaselock_quic=debug
        #[arg(id = "ctl-filter", value_name = "DIRECTIVES")]
        filter: String,
    },
    /// Show the newest lines of the log
    Log {
        /// Lines at most
        #[arg(long, id = "ctl-lines", value_name = "NUMBER", default_value_t = 50)]
        lines: usize,
    },
    /// Show what happens, until it is stopped
    Events,
    /// Show roles of players
    Roles,
    /// Give a player a role, or take it away
    Role {
        #[command(flatten)]
        player: Player,
        /// viewer, moderator, admin or none
        #[arg(id = "ctl-role", value_name = "ROLE")]
        role: String,
    },
    /// Show tokens
    Tokens,
    /// Make a token, in place of one of the same name, or take it away
    Token {
        /// Its name
        #[arg(id = "ctl-name", value_name = "NAME")]
        name: String,
        /// viewer, moderator, admin or none
        #[arg(id = "ctl-role", value_name = "ROLE")]
        role: String,
    },
    /// Show the audit log
    Audit {
        /// Lines at most
        #[arg(long, id = "ctl-lines", value_name = "NUMBER", default_value_t = 50)]
        lines: usize,
    },
    /// Show results of rounds
    Results,
    /// Show the best of each player
    Records {
        /// Name of a game; all games without it
        #[arg(id = "ctl-game", value_name = "GAME")]
        game: Option<String>,
    },
    /// Copy the database into a new file of the data directory
    Backup {
        /// Its name
        #[arg(id = "ctl-file", value_name = "FILE")]
        file: String,
    },
}

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
    CtlArgs::augment_args(
        clap::Command::new("ctl").about("Administer a running server on this machine").after_help(
            "The token is that of the environment variable PHASELOCK_TOKEN, or the first one, in \
             the file admin-token of the data directory.",
        ),
    )
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
            Act::Say { room, text } => {
                let mut body = json!({ "text": text.join(" ") });
                put(&mut body, "room", room.as_deref());
                (post("/v1/say", body)?, print::Shape::Done)
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
            Act::Reload => (post("/v1/reload", json!({}))?, print::Shape::Reload),
            Act::Settings => (get("/v1/config")?, print::Shape::Settings),
            Act::LogLevel { filter } => {
                let body = json!({ "filter": filter });
                (client.call(Method::PUT, "/v1/log-level", Some(body))?, print::Shape::Done)
            }
            Act::Log { lines } => (get(&format!("/v1/log?lines={lines}"))?, print::Shape::Log),
            Act::Events => return client.follow(json),
            Act::Roles => (get("/v1/roles")?, print::Shape::Roles),
            Act::Role { player, role } => (client.role(player, role)?, print::Shape::Done),
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

fn put(body: &mut Value, name: &str, value: Option<&str>) {
    if let Some(value) = value {
        body[name] = value.into();
    }
}

/// A word for a path or a query.
fn escaped(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let bytes = text.bytes().map(|byte| match plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    });
    bytes.collect()
}

fn known_role(role: &str) -> Result<Role> {
    Role::parse(role)
        .ok_or_else(|| anyhow!("{role:?} is no role; those are viewer, moderator, admin and none"))
}

/// A client of the interface.
struct Client {
    agent: Agent,
    base: String,
    token: String,
}

impl Client {
    fn new(ctl: &Ctl) -> Result<Self> {
        let token = match std::env::var(TOKEN_VARIABLE) {
            Ok(token) if !token.is_empty() => token,
            _ => fs::read_to_string(&ctl.token_file).with_context(|| {
                format!(
                    "cannot read the token in {}; name the server's data directory with \
                     --data-dir, or put a token into {TOKEN_VARIABLE}",
                    ctl.token_file.display()
                )
            })?,
        };
        let agent = Agent::config_builder().http_status_as_error(false).build().into();
        Ok(Self { agent, base: format!("http://{}", ctl.address), token: token.trim().to_owned() })
    }

    fn request(&self, method: Method, path: &str) -> ureq::http::request::Builder {
        let uri = format!("{}{path}", self.base);
        let bearer = format!("Bearer {}", self.token);
        Request::builder().method(method).uri(uri).header("authorization", bearer)
    }

    fn call(&self, method: Method, path: &str, body: Option<Value>) -> Result<Value> {
        let request = self.request(method, path);
        let body = body.map(|body| body.to_string()).unwrap_or_default();
        let request = match body.is_empty() {
            true => request,
            false => request.header("content-type", "application/json"),
        };
        let request = request.body(body).context("the token has characters that none has")?;
        let config = self.agent.configure_request(request).timeout_global(Some(TIMEOUT)).build();
        let mut answer = self.agent.run(config).with_context(|| {
            format!("no answer from {}; is the server running, with this admin_listen?", self.base)
        })?;
        let text = answer.body_mut().read_to_string().context("the answer broke off")?;
        let value: Value = serde_json::from_str(&text)
            .with_context(|| format!("{} answers, but not as a server does", self.base))?;
        if answer.status().is_success() {
            return Ok(value);
        }
        bail!("{}", value["error"].as_str().unwrap_or("the server refuses without a reason"))
    }

    /// Lifts all bans or mutes that a text means.
    fn lift(&self, path: &str, text: &str) -> Result<Value> {
        let all = self.call(Method::GET, path, None)?;
        let all = all.as_array().cloned().unwrap_or_default();
        let is_meant = |it: &&Value| {
            let same = |field: &str| {
                it[field].as_str().is_some_and(|value| value.eq_ignore_ascii_case(text))
            };
            it["id"].to_string() == text || same("subject") || same("name")
        };
        let found: Vec<_> = all.iter().filter(is_meant).collect();
        if found.is_empty() {
            bail!("nothing there is about {text:?}; the list has all, with their numbers");
        }
        let mut lines = Vec::new();
        for it in found {
            let done = self.call(Method::DELETE, &format!("{path}/{}", it["id"]), None)?;
            lines.extend(done["done"].as_str().map(str::to_owned));
        }
        Ok(json!({ "done": lines.join("\n") }))
    }

    fn role(&self, player: &Player, role: &str) -> Result<Value> {
        let who = &player.player;
        let is_key = who.len() == 64 && who.bytes().all(|byte| byte.is_ascii_hexdigit());
        if role == "none" {
            let key = match is_key {
                true => who.clone(),
                false => self.key_of(who)?,
            };
            return self.call(Method::DELETE, &format!("/v1/roles/{key}"), None);
        }
        let mut body = json!({ "role": known_role(role)? });
        body[if is_key { "key" } else { "who" }] = who.as_str().into();
        put(&mut body, "room", player.room.as_deref());
        self.call(Method::POST, "/v1/roles", Some(body))
    }

    /// The key of a player with a role, by name or the beginning of the key.
    fn key_of(&self, who: &str) -> Result<String> {
        let roles = self.call(Method::GET, "/v1/roles", None)?;
        let roles = roles.as_array().cloned().unwrap_or_default();
        let text = |it: &Value, field: &str| it[field].as_str().unwrap_or_default().to_lowercase();
        let who = who.to_lowercase();
        let is_meant = |it: &&Value| {
            text(it, "name") == who || who.len() >= 8 && text(it, "key").starts_with(&who)
        };
        let found: Vec<_> = roles.iter().filter(is_meant).collect();
        match found[..] {
            [one] => Ok(text(one, "key")),
            [] => bail!("nobody of that name has a role; `ctl roles` shows who has"),
            _ => bail!("several are called so; name the key"),
        }
    }

    /// Prints events until the server or the user ends it.
    fn follow(&self, json: bool) -> Result<()> {
        let request = self.request(Method::GET, "/v1/events").body(())?;
        let mut answer =
            self.agent.run(request).with_context(|| format!("no answer from {}", self.base))?;
        if !answer.status().is_success() {
            let text = answer.body_mut().read_to_string().unwrap_or_default();
            let value: Value = serde_json::from_str(&text).unwrap_or_default();
            bail!("{}", value["error"].as_str().unwrap_or("the server refuses without a reason"));
        }
        let mut name = String::new();
        for line in BufReader::new(answer.body_mut().as_reader()).lines() {
            let line = line.context("the stream broke off")?;
            if let Some(event) = line.strip_prefix("event:") {
                event.trim().clone_into(&mut name);
            }
            let Some(data) = line.strip_prefix("data:") else { continue };
            let shown = match json {
                true => format!("{{\"event\":\"{name}\",\"data\":{}}}", data.trim()),
                false if name == "figures" => continue,
                false => {
                    let value = serde_json::from_str(data).unwrap_or_default();
                    print::event(&name, &value)
                }
            };
            if writeln!(io::stdout(), "{shown}").is_err() {
                return Ok(());
            }
        }
        Ok(())
    }
}
