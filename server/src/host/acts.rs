//! Actions against and for players.

use std::net::IpAddr;

use phaselock::server::Command;
use phaselock::wire::rooms::RoomCode;
use phaselock::wire::text::one_line;
use phaselock_quic::server::OrderError;

use super::roster::{KEY_DIGITS_MIN, Person};
use super::state::{AuditEntry, Host, done};
use crate::api::{HostEvent, Kick, Lift, Punish, Tell};
use crate::author::{Author, Right, Role};
use crate::error::ActError;
use crate::sentence::{Act, Sentence};
use crate::store::{Change, Written};
use crate::subject::{Subject, is_number};
use crate::time::{parse_span, span_text};

/// Longest ban that a moderator may impose, in seconds.
const MODERATOR_BAN_MAX: i64 = 30 * 86_400;
/// Maximum characters of a reason.
const REASON_CHARS_MAX: usize = 200;

/// A player as named by a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Whom {
    /// Name, seat, or the beginning of the key.
    pub who: String,
    /// Code of the room; `None` for all rooms.
    pub room: Option<String>,
}

impl From<&Kick> for Whom {
    fn from(Kick { who, room, .. }: &Kick) -> Self {
        Self { who: who.clone(), room: room.clone() }
    }
}

impl From<&Tell> for Whom {
    fn from(Tell { who, room, .. }: &Tell) -> Self {
        Self { who: who.clone(), room: room.clone() }
    }
}

impl From<Lift> for Whom {
    fn from(Lift { who, room }: Lift) -> Self {
        Self { who, room }
    }
}

/// Parses the code of a room in a request.
pub(super) fn room_code(text: Option<&str>) -> Result<Option<RoomCode>, ActError> {
    let code = text.map(str::parse).transpose();
    code.map_err(|error: phaselock::wire::rooms::BadRoomCode| ActError::Bad(error.to_string()))
}

/// Returns a reason as one line, cut to its maximum length.
pub(super) fn clean(reason: &str) -> String {
    one_line(reason).trim().chars().take(REASON_CHARS_MAX).collect()
}

impl Host {
    /// Finds the player that a request names, if the author may act against that player.
    pub(super) fn target(&self, by: &Author, whom: &Whom) -> Result<Person, ActError> {
        let room = room_code(whom.room.as_deref())?;
        let person = self.roster().find(&whom.who, room.as_ref())?;
        self.may_act_on(by, &person)?;
        Ok(person)
    }

    /// Like [`target`](Self::target), and also finds players who have left.
    fn known(&self, by: &Author, whom: &Whom) -> Result<Person, ActError> {
        let room = room_code(whom.room.as_deref())?;
        let person = self.roster().find_also_left(&whom.who, room.as_ref())?;
        self.may_act_on(by, &person)?;
        Ok(person)
    }

    fn may_act_on(&self, by: &Author, person: &Person) -> Result<(), ActError> {
        match self.access.role(person.key) {
            Some(role) if role > by.role => {
                let text = format!(
                    "{} is {role} and outranks {}, who is {}",
                    person.name, by.name, by.role
                );
                Err(ActError::Forbidden(text))
            }
            _ => Ok(()),
        }
    }

    /// Kicks a player. With a span, also bans the key for that time.
    pub(crate) async fn kick(
        &self,
        by: &Author,
        whom: &Whom,
        span: Option<&str>,
        reason: &str,
    ) -> Result<String, ActError> {
        by.needs(Right::Order)?;
        let person = self.target(by, whom)?;
        let reason = clean(reason);
        let mut changes = Vec::new();
        let mut text = match &*reason {
            "" => format!("{} kicked you", by.name),
            reason => format!("{} kicked you: {reason}", by.name),
        };
        if let Some(span) = span {
            let secs = self.check_span(by, Some(span))?;
            let ban = self.sentence(by, (Act::Ban, Subject::Key(person.key)), secs, &reason);
            let ban = Sentence { name: Some(person.name.clone()), ..ban };
            let (ban, written) = self
                .access
                .add(ban, self.clocks.is_sure())
                .map_err(|error| ActError::Bad(error.to_string()))?;
            changes = written;
            text = ban.goodbye(ban.made);
        }
        let order = Command::Kick { player: person.target(), text };
        let whom = Some(describe(&person));
        let written = match span {
            None => {
                let kicked = self.handle.command_in(&person.room, order).await;
                let detail = failure(&kicked);
                let entry = AuditEntry { act: "kick", whom, why: Some(reason), detail };
                let written = self.record(by, entry, changes)?.done().await?;
                kicked?;
                written
            }
            Some(span) => {
                // The ban holds and is being written even if the player has just left.
                let detail = Some(format!("for {span}"));
                let entry = AuditEntry { act: "kick", whom, why: Some(reason), detail };
                let writing = self.record(by, entry, changes)?;
                if let Err(error) = self.handle.command_in(&person.room, order).await {
                    tracing::debug!(%error, name = person.name, "already gone");
                }
                writing.done().await?
            }
        };
        Ok(done(format!("{} was kicked", person.name), written))
    }

    /// Parses a span into seconds, if the author may impose it.
    fn check_span(&self, by: &Author, span: Option<&str>) -> Result<Option<i64>, ActError> {
        let secs = span.map(parse_span).transpose()?.flatten();
        if !by.role.may(Right::Manage) && secs.is_none_or(|secs| secs > MODERATOR_BAN_MAX) {
            let most = span_text(MODERATOR_BAN_MAX);
            let text = format!("a moderator can ban for at most {most}; give a time such as 7d");
            return Err(ActError::Forbidden(text));
        }
        Ok(secs)
    }

    fn sentence(
        &self,
        by: &Author,
        (act, subject): (Act, Subject),
        secs: Option<i64>,
        reason: &str,
    ) -> Sentence {
        let made = self.clocks.unix();
        Sentence {
            id: 0,
            act,
            subject,
            name: None,
            reason: reason.to_owned(),
            author: by.name.clone(),
            role: by.role,
            made,
            until: secs.map(|secs| made + secs),
        }
    }

    /// Bans or mutes, and enforces it at once for players who are here. Also returns the text of
    /// the confirmation.
    pub(crate) async fn punish(
        &self,
        by: &Author,
        act: Act,
        request: &Punish,
    ) -> Result<(Vec<Sentence>, String, Written), ActError> {
        by.needs(Right::Order)?;
        let (subjects, name) = self.subjects(by, act, request)?;
        let secs = match act {
            Act::Ban => self.check_span(by, request.span.as_deref())?,
            Act::Mute => request.span.as_deref().map(parse_span).transpose()?.flatten(),
        };
        let reason = clean(&request.reason);
        let (mut made, mut changes) = (Vec::new(), Vec::new());
        for subject in subjects {
            let sentence = self.sentence(by, (act, subject), secs, &reason);
            let sentence = Sentence { name: name.clone(), ..sentence };
            let (sentence, written) = self
                .access
                .add(sentence, self.clocks.is_sure())
                .map_err(|error| ActError::Bad(error.to_string()))?;
            made.push(sentence);
            changes.extend(written);
        }
        let subjects: Vec<_> = made.iter().map(|it| it.subject.to_string()).collect();
        let whom = name.clone().map_or_else(
            || subjects.join(" and "),
            |name| format!("{name} ({})", subjects.join(" and ")),
        );
        let detail = request.span.clone().unwrap_or_else(|| "forever".into());
        let entry = AuditEntry {
            act: act.as_str(),
            whom: Some(whom.clone()),
            why: Some(reason),
            detail: Some(detail),
        };
        // Being written while the players are notified, however long the disk takes.
        let writing = self.record(by, entry, changes)?;
        self.enforce(act, &made).await;
        let written = writing.done().await?;
        let verb = if act == Act::Ban { "banned" } else { "muted" };
        Ok((made, done(format!("{whom} is {verb}"), written), written))
    }

    /// Returns the subjects of a request, and the player's name if it names a player.
    fn subjects(
        &self,
        by: &Author,
        act: Act,
        request: &Punish,
    ) -> Result<(Vec<Subject>, Option<String>), ActError> {
        let Punish { who, key, address, network, room, .. } = request;
        let texts = [("key", key), ("address", address), ("network", network)];
        let mut given = texts.into_iter().filter_map(|(kind, text)| Some((kind, text.as_ref()?)));
        match (who, given.next(), given.next()) {
            (Some(who), None, None) => {
                let whom = Whom { who: who.clone(), room: room.clone() };
                let person = self.known(by, &whom)?;
                let mut subjects = vec![Subject::Key(person.key)];
                // A new key from the same address counts as the same player; a loopback address
                // does not.
                let address = person.address.filter(|it| !is_own(it.ip()));
                if act == Act::Ban {
                    subjects.extend(address.map(Subject::of_address));
                }
                Ok((subjects, Some(person.name)))
            }
            (None, Some((kind, text)), None) => {
                let subject = Subject::parse(kind, text)?;
                if kind == "network" {
                    by.needs(Right::Manage)?;
                }
                let here: Vec<_> = self.roster().people().cloned().collect();
                for person in here.iter().filter(|it| it.is_subject(&subject)) {
                    self.may_act_on(by, person)?;
                }
                if let Subject::Key(key) = subject
                    && self.access.role(key).is_some_and(|role| role > by.role)
                {
                    let text = format!("this key has a higher role than {}", by.name);
                    return Err(ActError::Forbidden(text));
                }
                Ok((vec![subject], None))
            }
            _ => {
                let text = "give exactly one of who, key, address and network";
                Err(ActError::Bad(text.into()))
            }
        }
    }

    /// Kicks or mutes the affected players who are here.
    async fn enforce(&self, act: Act, made: &[Sentence]) {
        let here: Vec<_> = self.roster().people().cloned().collect();
        let now = self.clocks.unix();
        for person in here {
            let Some(sentence) = made.iter().find(|it| person.is_subject(&it.subject)) else {
                continue;
            };
            // Players who would be let in despite a neighbour's ban are not kicked with the
            // neighbour either.
            let is_own = matches!(sentence.subject, Subject::Key(_));
            if !is_own && self.access.keeps_order(person.key) {
                continue;
            }
            let order = match act {
                Act::Ban => Command::Ban { player: person.target(), text: sentence.goodbye(now) },
                Act::Mute => self.mute_order(&person, Some(sentence), now),
            };
            if let Err(error) = self.handle.command_in(&person.room, order).await {
                tracing::debug!(%error, name = person.name, "already gone");
            }
        }
    }

    fn mute_order(&self, person: &Person, sentence: Option<&Sentence>, now: i64) -> Command {
        let mute = sentence.map(|it| it.as_mute(now));
        Command::Mute { player: person.target(), mute }
    }

    /// Returns the mute that applies to a player now, if any.
    pub(super) fn mute_of(&self, person: &Person, now: i64) -> Option<Sentence> {
        self.access.against(Act::Mute, Some(person.key), person.address, now)
    }

    /// Sends a player's room the mute that applies now, if any.
    pub(super) async fn renew_mute(&self, person: &Person, now: i64) {
        let mut mute = self.mute_of(person, now);
        loop {
            let order = self.mute_order(person, mute.as_ref(), now);
            // Fails only if the player has left.
            let _ = self.handle.command_in(&person.room, order).await;
            // A mute made in the meantime may have reached the room before this order.
            let newest = self.mute_of(person, now);
            if newest == mute {
                return;
            }
            mute = newest;
        }
    }

    /// Lifts the ban or mute of a number. A moderator may not lift an admin's.
    pub(crate) async fn lift(&self, by: &Author, act: Act, id: i64) -> Result<String, ActError> {
        by.needs(Right::Order)?;
        let missing = || ActError::NotFound(format!("there is no {} {id}", act.as_str()));
        let found = self.access.sentence(act, id).ok_or_else(missing)?;
        let verb = match act {
            Act::Ban => "banned",
            Act::Mute => "muted",
        };
        if found.role > by.role {
            let text = format!(
                "{} is still {verb}: {} decided this as {} and outranks {}, who is {}",
                subject_of(&found),
                found.author,
                found.role,
                by.name,
                by.role
            );
            return Err(ActError::Forbidden(text));
        }
        let (lifted, change) = self.access.lift(act, id).ok_or_else(missing)?;
        if act == Act::Mute {
            let here: Vec<_> = self.roster().people().cloned().collect();
            for person in here.iter().filter(|it| it.is_subject(&lifted.subject)) {
                self.renew_mute(person, self.clocks.unix()).await;
            }
        }
        let whom = subject_of(&lifted);
        let act = match act {
            Act::Ban => "unban",
            Act::Mute => "unmute",
        };
        let entry = AuditEntry { whom: Some(whom.clone()), ..AuditEntry::of(act) };
        let written = self.record(by, entry, vec![change])?.done().await?;
        Ok(done(format!("{whom} is no longer {verb}"), written))
    }

    /// Lifts all bans or mutes that a text names, as far as the author may. Returns a line for
    /// each.
    ///
    /// # Errors
    ///
    /// If none could be lifted.
    pub(crate) async fn lift_all(
        &self,
        by: &Author,
        act: Act,
        whom: &Whom,
    ) -> Result<Vec<String>, ActError> {
        by.needs(Right::Order)?;
        let (mut lines, mut refused) = (Vec::new(), Vec::new());
        for id in self.find_sentences(act, whom)? {
            match self.lift(by, act, id).await {
                Ok(line) => lines.push(line),
                Err(error) => refused.push(error),
            }
        }
        if lines.is_empty() && !refused.is_empty() {
            return Err(refused.swap_remove(0));
        }
        lines.extend(refused.iter().map(ToString::to_string));
        Ok(lines)
    }

    /// Returns the numbers of the bans or mutes that a text names: by number; by subject, in any
    /// spelling; by the beginning of a key; or, if it is not a number, by a player's name or seat.
    pub(super) fn find_sentences(&self, act: Act, whom: &Whom) -> Result<Vec<i64>, ActError> {
        let text = whom.who.trim();
        let all = self.access.sentences(act, self.clocks.unix());
        let numbers = |is_meant: &dyn Fn(&Sentence) -> bool| -> Vec<_> {
            all.iter().filter(|it| is_meant(it)).map(|it| it.id).collect()
        };
        let subject = Subject::read(text);
        let is_number = is_number(text) && subject.is_none();
        let mut found = match is_number {
            true => numbers(&|it| Ok(it.id) == text.parse()),
            false => numbers(&|it| {
                subject == Some(Ok(it.subject))
                    || it.name.as_deref().is_some_and(|name| name.eq_ignore_ascii_case(text))
            }),
        };
        if found.is_empty() && text.len() >= KEY_DIGITS_MIN {
            let digits = text.to_ascii_lowercase();
            found = numbers(&|it| {
                matches!(it.subject, Subject::Key(_)) && it.subject.to_string().starts_with(&digits)
            });
        }
        if found.is_empty() && !is_number {
            let room = room_code(whom.room.as_deref())?;
            match self.roster().find_also_left(text, room.as_ref()) {
                Ok(person) => {
                    let is_about = all.iter().filter(|it| person.is_subject(&it.subject));
                    found.extend(is_about.map(|it| it.id));
                }
                Err(ActError::NotFound(_)) => {}
                Err(error) => return Err(error),
            }
        }
        if found.is_empty() {
            if let Some(Err(bad)) = subject {
                return Err(bad.into());
            }
            let text = format!("no {} matches {text:?}; see the list", act.as_str());
            return Err(ActError::NotFound(text));
        }
        Ok(found)
    }

    /// Sends a chat line to one player.
    pub(crate) async fn send_line_to(
        &self,
        by: &Author,
        whom: &Whom,
        text: &str,
    ) -> Result<String, ActError> {
        by.needs(Right::Order)?;
        // Anyone who may speak to all may speak to any player, whatever their roles.
        let room = room_code(whom.room.as_deref())?;
        let person = self.roster().find(&whom.who, room.as_ref())?;
        let text = clean(text);
        let order = Command::Tell { player: person.target(), text: text.clone() };
        let told = self.handle.command_in(&person.room, order).await;
        let (whom, why, detail) = (Some(describe(&person)), failure(&told), Some(text));
        let entry = AuditEntry { act: "tell", whom, why, detail };
        let written = self.record(by, entry, Vec::new())?.done().await?;
        told?;
        Ok(done(format!("sent to {}", person.name), written))
    }

    /// Sends a chat line to everyone, in one room or in all.
    pub(crate) async fn say(
        &self,
        by: &Author,
        text: &str,
        room: Option<&str>,
    ) -> Result<String, ActError> {
        by.needs(Right::Order)?;
        let text = &*one_line(text);
        let order = Command::Say { text: text.to_owned() };
        let code = room_code(room)?;
        let said = match &code {
            Some(code) => self.handle.command_in(code, order).await,
            None => self.handle.command(order).await,
        };
        let whom = room.map(|it| format!("room {it}"));
        // Some rooms may have got it.
        let detail = failure(&said).map_or(clean(text), |why| format!("{}; {why}", clean(text)));
        if said.is_ok() {
            self.publish(HostEvent::said(code.as_ref(), text));
        }
        let entry = AuditEntry { whom, detail: Some(detail), ..AuditEntry::of("say") };
        let writing = self.record(by, entry, Vec::new())?;
        let written = writing.done().await?;
        said?;
        Ok(done("message sent".into(), written))
    }

    /// Gives a player a role, or removes it (`None`).
    pub(crate) async fn set_role(
        &self,
        by: &Author,
        who: Option<&Whom>,
        key: Option<&str>,
        role: Option<Role>,
    ) -> Result<String, ActError> {
        by.needs(Right::Manage)?;
        let (key, name) = match (who, key) {
            (Some(whom), None) => {
                let person = self.known(by, whom)?;
                (person.key, Some(person.name))
            }
            (None, Some(key)) => {
                let Subject::Key(key) = Subject::parse("key", key)? else {
                    return Err(ActError::Bad("give a key".into()));
                };
                let here =
                    self.roster().people().find(|it| it.key == key).map(|it| it.name.clone());
                (key, here)
            }
            _ => return Err(ActError::Bad("give either who or key".into())),
        };
        let known = self.access.role(key);
        if role.is_none() && known.is_none() {
            return Err(ActError::NotFound(format!("the key {key} has no role")));
        }
        let made = self.clocks.unix();
        let given = role.map(|role| crate::people::GivenRole {
            name: name.clone(),
            role,
            author: by.name.clone(),
            made,
        });
        let change: Change =
            self.access.set_role(key, given).map_err(|error| ActError::Bad(error.to_string()))?;
        let whom = name.map_or_else(|| key.to_string(), |name| format!("{name} ({key})"));
        let text = match role {
            Some(role) => format!("{whom} is now {role}"),
            None => format!("{whom} no longer has a role"),
        };
        let detail = Some(role.map_or("none".to_owned(), |role| role.to_string()));
        let entry = AuditEntry { whom: Some(whom), detail, ..AuditEntry::of("role") };
        let written = self.record(by, entry, vec![change])?.done().await?;
        Ok(done(text, written))
    }
}

/// Returns the subject of a ban or mute, with the player's name at the time.
fn subject_of(sentence: &Sentence) -> String {
    let subject = sentence.subject.to_string();
    sentence.name.as_ref().map_or(subject.clone(), |name| format!("{name} ({subject})"))
}

/// Whether an address is this machine's.
fn is_own(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

/// Returns a note for the audit log on an order that failed, or was delayed.
pub(super) fn failure(ordered: &Result<(), OrderError>) -> Option<String> {
    ordered.as_ref().err().map(|error| format!("failed: {error}"))
}

/// Describes a player for the audit log.
fn describe(person: &Person) -> String {
    format!("{} ({})", person.name, person.key)
}
