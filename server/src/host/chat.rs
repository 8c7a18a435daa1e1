//! Commands that players type into the chat, after a slash.

use phaselock::identity::PublicKey;
use phaselock::server::{Command, Target};
use phaselock::wire::rooms::RoomCode;
use phaselock::wire::talk::CommandHint;

use super::acts::Whom;
use super::roster::Person;
use super::state::Host;
use crate::api::Punish;
use crate::author::{Author, Right, Role};
use crate::error::ActError;
use crate::sentence::Act;
use crate::time::{BadSpan, parse_span};

/// Commands with their arguments, and the right that each needs; `None` for everyone.
const COMMANDS: [(&str, &str, Option<Right>); 11] = [
    ("help", "", None),
    ("players", "", None),
    ("kick", "PLAYER [TIME] [REASON]", Some(Right::Order)),
    ("ban", "PLAYER [TIME] [REASON]", Some(Right::Order)),
    ("mute", "PLAYER [TIME] [REASON]", Some(Right::Order)),
    ("unmute", "PLAYER", Some(Right::Order)),
    ("say", "TEXT", Some(Right::Order)),
    ("tell", "PLAYER TEXT", Some(Right::Order)),
    ("mark", "TEXT", Some(Right::Order)),
    ("game", "NAME", Some(Right::Manage)),
    ("round", "", Some(Right::Manage)),
];

/// Returns the first word of a text, or the text between its quotation marks, and the rest.
fn word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    if let Some(quoted) = text.strip_prefix('"')
        && let Some((inside, rest)) = quoted.split_once('"')
    {
        return (inside, rest.trim_start());
    }
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (word, rest.trim_start())
}

/// Returns the duration at the beginning of a text, if there is one, and the rest. A duration out
/// of bounds is an error rather than part of the reason.
fn span(text: &str) -> Result<(Option<&str>, &str), BadSpan> {
    let (first, rest) = word(text);
    match parse_span(first) {
        Ok(_) => Ok((Some(first), rest)),
        Err(BadSpan::Form) => Ok((None, text)),
        Err(error) => Err(error),
    }
}

/// Returns the name of a player as author: with a part of the key, since names can be chosen at
/// will.
fn named(person: &Person) -> String {
    let key: String = person.key.to_string().chars().take(8).collect();
    format!("{} [{key}]", person.name)
}

/// Whether a player of that role may use a command that needs a right.
fn allows(role: Option<Role>, right: Option<Right>) -> bool {
    right.is_none_or(|right| role.is_some_and(|it| it.may(right)))
}

impl Host {
    /// Runs a player's command line, and sends the answer only to that player.
    pub(super) async fn handle_line(&self, person: &Person, line: &str) {
        let role = self.access.role(person.key);
        let answers = match self.obey(person, role, line).await {
            Ok(lines) => lines,
            Err(error) => vec![error.to_string()],
        };
        for text in answers {
            let order = Command::Tell { player: person.target(), text };
            // Fails only if the player has left.
            let _ = self.handle.command_in(&person.room, order).await;
        }
    }

    /// Sends a player the list of commands that the player may use, for completion.
    pub(super) async fn offer(&self, room: &RoomCode, player: Target, key: PublicKey) {
        let role = self.access.role(key);
        let mine = COMMANDS.iter().filter(|(.., right)| allows(role, *right));
        let hint = |(name, usage, _): &(&str, &str, _)| CommandHint {
            name: (*name).to_owned(),
            usage: (*usage).to_owned(),
        };
        let order = Command::Offer { player, commands: mine.map(hint).collect() };
        // Fails only if the player has left.
        let _ = self.handle.command_in(room, order).await;
    }

    async fn obey(
        &self,
        person: &Person,
        role: Option<Role>,
        line: &str,
    ) -> Result<Vec<String>, ActError> {
        let (command, rest) = word(line.trim_start_matches('/'));
        let may = |right: &Option<Right>| allows(role, *right);
        let known = COMMANDS.iter().find(|(name, ..)| *name == command);
        let Some((name, usage, _)) = known.filter(|(.., right)| may(right)) else {
            let text = format!("you have no command /{command}; /help lists yours");
            return Err(ActError::Bad(text));
        };
        let by = Author { name: named(person), role: role.unwrap_or(Role::Viewer) };
        let usage = || ActError::Bad(format!("usage: /{name} {usage}"));
        let (who, after) = word(rest);
        let here = Some(person.room.as_str().to_owned());
        let whom = Whom { who: who.to_owned(), room: here.clone() };
        let needs_word = !matches!(*name, "help" | "players" | "round");
        if needs_word && who.is_empty() {
            return Err(usage());
        }
        let takes_time = matches!(*name, "kick" | "ban" | "mute");
        let (time, reason) = if takes_time { span(after)? } else { (None, after) };
        let sentence = |act: Act| {
            let request = Punish {
                who: Some(whom.who.clone()),
                room: whom.room.clone(),
                span: time.map(str::to_owned),
                reason: reason.to_owned(),
                ..Punish::default()
            };
            let by = by.clone();
            async move { Ok(vec![self.punish(&by, act, &request).await?.1]) }
        };
        match *name {
            "help" => {
                let mine = COMMANDS.iter().filter(|(.., right)| may(right));
                let lines = mine.map(|(name, usage, _)| format!("/{name} {usage}"));
                let mut lines: Vec<_> = lines.map(|line| line.trim_end().to_owned()).collect();
                if let Some(role) = role {
                    lines.push(format!("your role is {role}"));
                }
                Ok(lines)
            }
            "players" => {
                let people = self
                    .roster()
                    .people()
                    .filter(|it| it.room == person.room)
                    .cloned()
                    .collect::<Vec<_>>();
                let lines = people.iter().map(|it| match self.access.role(it.key) {
                    Some(role) => format!("p{} {} ({role})", it.player.0, it.name),
                    None => format!("p{} {}", it.player.0, it.name),
                });
                let all: Vec<_> = lines.collect();
                Ok(all.chunks(6).map(|some| some.join(", ")).take(16).collect())
            }
            "kick" => Ok(vec![self.kick(&by, &whom, time, reason).await?]),
            "ban" => sentence(Act::Ban).await,
            "mute" => sentence(Act::Mute).await,
            "unmute" => self.lift_all(&by, Act::Mute, &whom).await,
            "say" => {
                // Everyone sees the line itself, including its author.
                self.say(&by, rest, here.as_deref()).await.map(|_| Vec::new())
            }
            "mark" => Ok(vec![self.mark(&by, rest, here.as_deref()).await?]),
            "tell" if after.is_empty() => Err(usage()),
            "tell" => Ok(vec![self.send_line_to(&by, &whom, after).await?]),
            "game" => Ok(vec![self.play(&by, Some(who), here.as_deref()).await?]),
            _ => Ok(vec![self.play(&by, None, here.as_deref()).await?]),
        }
    }
}
