//! The requests of `ctl`: where each goes, and how its answer is shown.

use std::path::PathBuf;

use anyhow::{Result, anyhow};
use serde::Serialize;
use serde_json::Value;
use ureq::http::Method;

use super::args::{Against, CtlCommand, Lifted, Player, Terms};
use super::print::Shown;
use crate::api::{
    Allow, AllowListView, AuditPart, AuditRow, BackUp, BackedUp, ChatView, Count, Done, Drain,
    GiveRole, Kick, LeftView, Lift, LineView, Lines, LogLevel, MakeToken, MarkMoment, NewToken,
    OfGame, Play, PlayerView, Punish, RecordRow, ReloadReport, ReplayPart, ReplayView, RestartGame,
    ResultRow, RoleView, SaveReplay, Say, SentenceView, SetSetting, SettingView, StatusView, Tell,
    TokenView, WebhookTest,
};
use crate::author::Role;
use crate::subject::{Subject, parse_key};

/// A request, and how its answer is shown.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) body: Option<Value>,
    pub(super) text: Text,
}

/// Parses an answer and formats it as text.
pub(super) type Text = fn(Value) -> serde_json::Result<String>;

/// Parses an answer of a type and formats it as text.
pub(super) fn text_of<T: Shown>(answer: Value) -> serde_json::Result<String> {
    serde_json::from_value(answer).map(|it: T| it.text())
}

impl Call {
    fn new<T: Shown>(method: Method, path: impl Into<String>) -> Self {
        Self { method, path: path.into(), body: None, text: text_of::<T> }
    }

    fn get<T: Shown>(path: impl Into<String>) -> Self {
        Self::new::<T>(Method::GET, path)
    }

    fn post<T: Shown>(path: &str) -> Self {
        Self::new::<T>(Method::POST, path)
    }

    fn put(path: impl Into<String>) -> Self {
        Self::new::<Done>(Method::PUT, path)
    }

    fn delete(path: impl Into<String>) -> Self {
        Self::new::<Done>(Method::DELETE, path)
    }

    /// Adds a body.
    fn with(self, body: &impl Serialize) -> Self {
        Self { body: Some(json(body)), ..self }
    }

    /// Adds a query.
    fn asking(mut self, query: &impl Serialize) -> Self {
        let fields = json(query);
        for (name, value) in fields.as_object().into_iter().flatten() {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            self.path.push(if self.path.contains('?') { '&' } else { '?' });
            self.path += &format!("{name}={}", escaped(&text));
        }
        self
    }
}

/// Converts a request to JSON. Every request can be expressed in it.
fn json(request: &impl Serialize) -> Value {
    serde_json::to_value(request).unwrap_or_default()
}

/// Escapes a value for a path or a query.
fn escaped(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let bytes = text.bytes().map(|byte| match plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    });
    bytes.collect()
}

/// What a subcommand does.
pub(super) enum Doing {
    /// Sends a request, and prints the answer.
    Ask(Call),
    /// Prints events until interrupted.
    Follow,
    /// Saves the answer of a path in a file.
    Download(String, PathBuf),
}

/// Returns what a subcommand does. `key_of` finds the key of a player who has a role.
pub(super) fn doing(
    command: &CtlCommand,
    key_of: impl Fn(&str) -> Result<String>,
) -> Result<Doing> {
    Ok(Doing::Ask(match command {
        CtlCommand::Events => return Ok(Doing::Follow),
        CtlCommand::Status => Call::get::<StatusView>("/v1/status"),
        CtlCommand::Players => Call::get::<Vec<PlayerView>>("/v1/players"),
        CtlCommand::Left => Call::get::<Vec<LeftView>>("/v1/left"),
        CtlCommand::Kick { player, terms } => kick(player, terms),
        CtlCommand::Ban { against, terms } => punish("/v1/bans", against, terms),
        CtlCommand::Mute { against, terms } => punish("/v1/mutes", against, terms),
        CtlCommand::Unban { ban } => lift("/v1/bans", ban),
        CtlCommand::Unmute { mute } => lift("/v1/mutes", mute),
        CtlCommand::Bans => Call::get::<Vec<SentenceView>>("/v1/bans"),
        CtlCommand::Mutes => Call::get::<Vec<SentenceView>>("/v1/mutes"),
        CtlCommand::Allowed => Call::get::<AllowListView>("/v1/allow-list"),
        CtlCommand::Allow { key, name } => Call::post::<Done>("/v1/allow-list")
            .with(&Allow { key: key.clone(), name: name.join(" ") }),
        CtlCommand::Disallow { key } => Call::delete(format!("/v1/allow-list/{}", escaped(key))),
        CtlCommand::Chat { lines } => Call::get::<Vec<ChatView>>("/v1/chat").asking(&some(*lines)),
        CtlCommand::Say { room, text } => {
            Call::post::<Done>("/v1/say").with(&Say { text: text.join(" "), room: room.clone() })
        }
        CtlCommand::Mark { room, text } => Call::post::<Done>("/v1/mark")
            .with(&MarkMoment { text: text.join(" "), room: room.clone() }),
        CtlCommand::Replays { lines, skip } => Call::get::<Vec<ReplayView>>("/v1/replays")
            .asking(&ReplayPart { limit: Some(Count(*lines)), skip: Some(*skip) }),
        CtlCommand::SaveReplay { room } => {
            Call::post::<Done>("/v1/replays").with(&SaveReplay { room: room.clone() })
        }
        CtlCommand::DownloadReplay { file, to } => {
            let to = to.clone().unwrap_or_else(|| PathBuf::from(file));
            return Ok(Doing::Download(replay_path(file), to));
        }
        CtlCommand::DeleteReplay { file } => Call::delete(replay_path(file)),
        CtlCommand::Tell { player, text } => tell(player, text),
        CtlCommand::Game { game, room } => {
            Call::post::<Done>("/v1/game").with(&Play { game: game.clone(), room: room.clone() })
        }
        CtlCommand::Round { room } => {
            Call::post::<Done>("/v1/round").with(&RestartGame { room: room.clone() })
        }
        CtlCommand::Drain { within, text, redirect } => {
            Call::post::<Done>("/v1/drain").with(&Drain {
                within: within.clone(),
                text: text.clone(),
                redirect: redirect.clone(),
            })
        }
        CtlCommand::Undrain => Call::delete("/v1/drain"),
        CtlCommand::SkipRestart => Call::delete("/v1/restart"),
        CtlCommand::Roles => Call::get::<Vec<RoleView>>("/v1/roles"),
        CtlCommand::Role { player, role } => give_role(player, role, key_of)?,
        CtlCommand::Forget { key } => Call::delete(format!("/v1/people/{}", escaped(key))),
        CtlCommand::Results => Call::get::<Vec<ResultRow>>("/v1/results"),
        CtlCommand::Records { game } => {
            Call::get::<Vec<RecordRow>>("/v1/records").asking(&OfGame { game: game.clone() })
        }
        CtlCommand::Reload => Call::post::<ReloadReport>("/v1/reload"),
        CtlCommand::Settings => Call::get::<Vec<SettingView>>("/v1/config"),
        CtlCommand::Set { name, value } => Call::put(format!("/v1/settings/{}", escaped(name)))
            .with(&SetSetting { value: value.clone() }),
        CtlCommand::Unset { name } => Call::delete(format!("/v1/settings/{}", escaped(name))),
        CtlCommand::WebhookTest => Call::post::<Vec<WebhookTest>>("/v1/webhooks/test"),
        CtlCommand::LogLevel { filter } => {
            Call::put("/v1/log-level").with(&LogLevel { filter: filter.clone() })
        }
        CtlCommand::Log { lines } => Call::get::<Vec<LineView>>("/v1/log").asking(&some(*lines)),
        CtlCommand::Tokens => Call::get::<Vec<TokenView>>("/v1/tokens"),
        CtlCommand::Token { name, role } if role == "none" => {
            Call::delete(format!("/v1/tokens/{}", escaped(name)))
        }
        CtlCommand::Token { name, role } => Call::post::<NewToken>("/v1/tokens")
            .with(&MakeToken { name: name.clone(), role: known_role(role)? }),
        CtlCommand::Audit { lines } => Call::get::<Vec<AuditRow>>("/v1/audit")
            .asking(&AuditPart { limit: Some(Count(*lines)), before: None }),
        CtlCommand::Backup { file } => {
            Call::post::<BackedUp>("/v1/backup").with(&BackUp { file: file.clone() })
        }
    }))
}

fn replay_path(file: &str) -> String {
    format!("/v1/replays/{}", escaped(file))
}

fn some(lines: u32) -> Lines {
    Lines { lines: Some(Count(lines)) }
}

fn kick(Player { player, room }: &Player, terms: &Terms) -> Call {
    Call::post::<Done>("/v1/kick").with(&Kick {
        who: player.clone(),
        room: room.clone(),
        span: terms.span.clone(),
        reason: terms.reason.join(" "),
    })
}

fn tell(Player { player, room }: &Player, text: &[String]) -> Call {
    let (who, room) = (player.clone(), room.clone());
    Call::post::<Done>("/v1/tell").with(&Tell { who, room, text: text.join(" ") })
}

fn punish(path: &str, against: &Against, terms: &Terms) -> Call {
    let Against { whom, room } = against;
    let punish = Punish {
        room: room.clone(),
        span: terms.span.clone(),
        reason: terms.reason.join(" "),
        ..Punish::default()
    };
    let whom = Some(whom.clone());
    let punish = match Subject::kind_of(against.whom.as_str()) {
        Some("key") => Punish { key: whom, ..punish },
        Some("address") => Punish { address: whom, ..punish },
        Some("network") => Punish { network: whom, ..punish },
        _ => Punish { who: whom, ..punish },
    };
    Call::post::<Vec<SentenceView>>(path).with(&punish)
}

fn lift(path: &str, Lifted { whom, room }: &Lifted) -> Call {
    Call::delete(path).asking(&Lift { who: whom.clone(), room: room.clone() })
}

fn give_role(player: &Player, role: &str, key_of: impl Fn(&str) -> Result<String>) -> Result<Call> {
    let Player { player: who, room } = player;
    let is_key = parse_key(who).is_some();
    if role == "none" {
        let key = if is_key { who.clone() } else { key_of(who)? };
        return Ok(Call::delete(format!("/v1/roles/{}", escaped(&key))));
    }
    let (key, who) = if is_key { (Some(who), None) } else { (None, Some(who)) };
    let (key, who, room) = (key.cloned(), who.cloned(), room.clone());
    Ok(Call::post::<Done>("/v1/roles").with(&GiveRole { who, key, room, role: known_role(role)? }))
}

fn known_role(role: &str) -> Result<Role> {
    Role::parse(role)
        .ok_or_else(|| anyhow!("{role:?} is not a role; use viewer, moderator, admin or none"))
}

#[cfg(test)]
mod tests {
    use clap::FromArgMatches as _;

    use super::*;
    use crate::ctl::args::CtlArgs;
    use crate::{admin, ctl};

    /// Returns a command line with a value for each argument of a subcommand.
    fn example(command: &clap::Command) -> Vec<String> {
        let mut line = vec!["ctl".to_owned(), command.get_name().to_owned()];
        let mut positional = Vec::new();
        for arg in command.get_arguments() {
            let name = arg.get_id().as_str();
            let value = match name {
                "json" | "help" => continue,
                "role" => "viewer",
                "lines" | "skip" => "7",
                _ => "a b",
            };
            match arg.get_long() {
                Some(long) => line.extend([format!("--{long}"), value.to_owned()]),
                None => positional.push(value.to_owned()),
            }
        }
        line.extend(positional);
        line
    }

    /// Returns the part of the description for a path and a method.
    fn operation<'a>(description: &'a Value, path: &str, method: &str) -> Option<&'a Value> {
        let fits = |template: &str| {
            let (mut one, mut other) = (template.split('/'), path.split('/'));
            let same = |(a, b): (&str, &str)| a == b || a.starts_with('{') && !b.is_empty();
            template.split('/').count() == path.split('/').count()
                && one.by_ref().zip(other.by_ref()).all(same)
        };
        let paths = description["paths"].as_object()?;
        paths.iter().filter(|(template, _)| fits(template)).find_map(|(_, it)| it.get(method))
    }

    #[test]
    fn each_request_matches_the_api_description() {
        let description = admin::description();
        let command = ctl::command();
        let mut requests = 0;
        for subcommand in command.get_subcommands() {
            let line = example(subcommand);
            let matches = ctl::command().try_get_matches_from(&line).expect("a valid line");
            let args = CtlArgs::from_arg_matches(&matches).expect("they are its arguments");
            let Ok(Doing::Ask(call)) = doing(&args.command, |_| Ok("k".repeat(64))) else {
                continue;
            };
            requests += 1;
            let (path, query) = call.path.split_once('?').unwrap_or((&call.path, ""));
            let method = call.method.as_str().to_lowercase();
            let found = operation(&description, path, &method);
            let found = found.unwrap_or_else(|| panic!("{line:?}: no {method} {path}"));
            let names: Vec<_> = found["parameters"].as_array().into_iter().flatten().collect();
            for part in query.split('&').filter(|it| !it.is_empty()) {
                let (name, value) = part.split_once('=').expect("a value");
                assert!(names.iter().any(|it| it["name"] == name), "{line:?}: {name}");
                assert!(!value.contains(' '), "{line:?}: {part}");
            }
            let content = &found["requestBody"]["content"]["application/json"];
            assert_eq!(content.is_null(), call.body.is_none(), "{line:?}");
            let schema = content["schema"]["$ref"].as_str().unwrap_or_default();
            let schema = schema.rsplit('/').next().unwrap_or_default();
            let known = &description["components"]["schemas"][schema]["properties"];
            for (name, _) in call.body.iter().flat_map(|body| body.as_object()).flatten() {
                assert!(!known[name].is_null(), "{line:?}: {schema} has no {name}");
            }
        }
        assert!(requests > 30, "{requests}");
    }
}
