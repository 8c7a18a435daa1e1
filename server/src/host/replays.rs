//! Recordings: the list, downloads, and marks.

use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use phaselock::server::{Command, Secrecy};
use phaselock::time::Micros;
use phaselock::wire::rooms::RoomCode;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use super::acts::{clean, failure, room_code};
use super::state::{AuditEntry, Host, done};
use crate::api::ReplayView;
use crate::author::{Author, Right};
use crate::error::ActError;
use crate::recordings::{Label, Shelved};

/// Number of rooms about which an answer says that they are not being written.
const ROOMS_TOLD_MAX: usize = 3;

/// Time until the chunk ends that a room records when it is asked for its last minutes, unless it
/// sleeps: a little more than a chunk takes.
const SAVED_WITHIN: Duration = Duration::from_secs(11);

impl From<Shelved> for ReplayView {
    fn from(it: Shelved) -> Self {
        let Shelved { name, ended, bytes, label } = it;
        let unread = label == Label::Unread;
        let (game, began, seconds, players) = match label {
            Label::Unread | Label::Unreadable => (None, None, None, Vec::new()),
            Label::Read { game, began, seconds, players } => {
                (Some(game), Some(began), seconds, players)
            }
        };
        Self { file: name, unread, game, began, ended, seconds, players, bytes }
    }
}

fn unreadable(error: io::Error) -> ActError {
    ActError::Failed(format!("cannot read the recordings: {error}"))
}

/// Does something with a disk that may be slow.
async fn on_disk<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, ActError> {
    let done = spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(io::Error::other(error))).map_err(unreadable)
}

/// Says that a moment is marked, and which recordings are only in memory, and why.
fn told_of_mark(unwritten: &[(RoomCode, String)]) -> String {
    let why: Vec<_> = unwritten
        .iter()
        .take(ROOMS_TOLD_MAX)
        .map(|(room, why)| format!("room {room} is not being written to a file: {why}"))
        .collect();
    let more = match unwritten.len().saturating_sub(ROOMS_TOLD_MAX) {
        0 => String::new(),
        more => format!("; and so with {more} more rooms"),
    };
    match why.is_empty() {
        true => "this moment is marked".to_owned(),
        false => format!("this moment is marked in memory, but {}{more}", why.join("; ")),
    }
}

/// Says whose last minutes are saved, and when they will be listed.
fn told_of_saving(saved: &[(RoomCode, Secrecy)], is_asleep: impl Fn(&RoomCode) -> bool) -> String {
    let in_round = saved.iter().filter(|(_, secrecy)| secrecy.round.is_some());
    let asleep: Vec<_> = in_round.clone().filter(|(code, _)| is_asleep(code)).collect();
    let rooms = match saved {
        [(code, _)] => format!("room {code}"),
        _ => format!("{} rooms", saved.len()),
    };
    let event = match (in_round.count(), saved.len()) {
        (0, _) => "that",
        (_, 1) => "its round ends",
        _ => "each room's round ends",
    };
    let delay = saved.iter().map(|(_, secrecy)| secrecy.watch_delay).max().unwrap_or(Micros::ZERO);
    let delay = match delay.0.unsigned_abs().div_ceil(1_000_000) {
        0 => String::new(),
        secs => format!("{secs} s "),
    };
    let asleep = match &asleep[..] {
        [] => String::new(),
        [(code, _)] => format!("; room {code} sleeps until someone joins"),
        _ => format!("; {} of them sleep until someone joins", asleep.len()),
    };
    format!(
        "the last minutes of {rooms} will be written within ten seconds, and listed \
         {delay}after {event}{asleep}"
    )
}

impl Host {
    /// Returns up to `count` finished recordings after the first `skip`, the newest first.
    pub(crate) async fn replays(
        &self,
        skip: usize,
        count: usize,
    ) -> Result<Vec<ReplayView>, ActError> {
        let busy = "others are reading the list of recordings, or the disk hangs; try again later";
        let catalogue = self.recordings.catalogue().await;
        let mut catalogue = catalogue.ok_or_else(|| ActError::Failed(busy.to_owned()))?;
        let listed = on_disk(move || catalogue.list(skip, count)).await?;
        Ok(listed.into_iter().map(ReplayView::from).collect())
    }

    async fn replay_path(&self, file: &str) -> Result<PathBuf, ActError> {
        let (recordings, name) = (Arc::clone(&self.recordings), file.to_owned());
        let found = on_disk(move || Ok(recordings.path(&name))).await?;
        let missing = || ActError::NotFound(format!("there is no finished recording {file:?}"));
        found.ok_or_else(missing)
    }

    /// Opens a finished recording, and returns its size in bytes.
    pub(crate) async fn open_replay(
        &self,
        by: &Author,
        file: &str,
    ) -> Result<(File, u64), ActError> {
        by.needs(Right::Order)?;
        let path = self.replay_path(file).await?;
        let opened = on_disk(move || {
            let file = File::open(path)?;
            let bytes = file.metadata()?.len();
            Ok((file, bytes))
        });
        let opened = opened.await?;
        let entry = AuditEntry { whom: Some(file.to_owned()), ..AuditEntry::of("download-replay") };
        self.record(by, entry, Vec::new())?.done().await?;
        Ok(opened)
    }

    /// Deletes a finished recording.
    pub(crate) async fn delete_replay(&self, by: &Author, file: &str) -> Result<String, ActError> {
        by.needs(Right::Manage)?;
        let path = self.replay_path(file).await?;
        let deleted = on_disk(move || Ok(fs::remove_file(path))).await?;
        let undeleted = |error| ActError::Failed(format!("cannot delete {file:?}: {error}"));
        let deleted = deleted.map_err(undeleted);
        let detail = deleted.as_ref().err().map(|error| format!("failed: {error}"));
        let whom = Some(file.to_owned());
        let entry = AuditEntry { whom, detail, ..AuditEntry::of("delete-replay") };
        let written = self.record(by, entry, Vec::new())?.done().await?;
        deleted?;
        Ok(done(format!("deleted {file}"), written))
    }

    /// Saves the last minutes of a room, or of all rooms, to files, if they are only in memory.
    pub(crate) async fn save_replay(
        &self,
        by: &Author,
        room: Option<&str>,
    ) -> Result<String, ActError> {
        by.needs(Right::Order)?;
        let saved = self.recordings.save(room_code(room)?.as_ref());
        if saved.is_empty() {
            let text = "there is nothing to save: the recording is already written to a file, \
                        `record` is off, or many saved files wait for the end of the round";
            return Err(ActError::Conflict(text.to_owned()));
        }
        let recordings = Arc::clone(&self.recordings);
        tokio::spawn(async move {
            sleep(SAVED_WITHIN).await;
            recordings.save_waiting();
        });
        let whom = room.map(|it| format!("room {it}"));
        let entry = AuditEntry { whom, ..AuditEntry::of("save-replay") };
        let written = self.record(by, entry, Vec::new())?.done().await?;
        let figures = self.handle.rooms();
        let is_asleep = |code: &RoomCode| {
            figures.iter().any(|it| it.status.code == *code && it.measured.is_asleep)
        };
        Ok(done(told_of_saving(&saved, is_asleep), written))
    }

    /// Marks this moment in the recording of a room, or of all rooms. The answer says which of them
    /// no file will show.
    pub(crate) async fn mark(
        &self,
        by: &Author,
        text: &str,
        room: Option<&str>,
    ) -> Result<String, ActError> {
        by.needs(Right::Order)?;
        let (code, order) = (room_code(room)?, Command::Mark { text: text.to_owned() });
        let marked = match &code {
            Some(code) => self.handle.command_in(code, order).await,
            None => self.handle.command(order).await,
        };
        let whom = room.map(|it| format!("room {it}"));
        let text = clean(text);
        let detail = failure(&marked).map_or(text.clone(), |why| format!("{text}; {why}"));
        let entry = AuditEntry { whom, detail: Some(detail), ..AuditEntry::of("mark") };
        let written = self.record(by, entry, Vec::new())?.done().await?;
        marked?;
        Ok(done(told_of_mark(&self.recordings.unwritten(code.as_ref())), written))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn when_saved_minutes_are_listed_is_told() {
        let saved = |code: &str, round, delay_ms| {
            let watch_delay = Micros::from_ms(delay_ms);
            (code.parse().expect("a code"), Secrecy { round, watch_delay })
        };
        let told = |saved: &[(RoomCode, Secrecy)], asleep: &[&str]| {
            let told = told_of_saving(saved, |code| asleep.contains(&code.as_str()));
            told.replace("will be written within ten seconds, and ", "")
        };
        let [endless, one, two] = [("e", None), ("1", Some(3)), ("2", Some(0))]
            .map(|(code, round)| saved(code, round, 0));
        for (saved, asleep, sentence) in [
            (vec![endless.clone()], &["e"][..], "room e listed after that"),
            (vec![one.clone()], &[], "room 1 listed after its round ends"),
            (
                vec![one.clone()],
                &["1"],
                "room 1 listed after its round ends; room 1 sleeps until someone joins",
            ),
            (
                vec![endless, one, two],
                &["1", "2"],
                "3 rooms listed after each room's round ends; 2 of them sleep until someone joins",
            ),
            (vec![saved("1", Some(1), 9_500)], &[], "room 1 listed 10 s after its round ends"),
            (vec![saved("e", None, 9_500)], &[], "room e listed 10 s after that"),
        ] {
            assert_eq!(told(&saved, asleep), format!("the last minutes of {sentence}"));
        }
    }
}
