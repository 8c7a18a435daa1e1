//! What a visit saves as recordings: its last minutes, or a download that is watched.

use phaselock::client::SavedPart;
use phaselock::date::file_time;
use phaselock_ui::words::{fill, tr};

use super::Visit;
use crate::files::plain_stem;

/// Extension of a recording.
pub(crate) const END: &str = "plr";

impl Visit {
    /// Keeps the last minutes, or no longer, as the settings say.
    pub(crate) fn follow_keeping(&mut self, on: bool) {
        if !self.is_recording {
            self.connection.session_mut().keep_minutes(on);
        }
    }

    /// Lets a recording that was downloaded be kept.
    #[must_use]
    pub(crate) fn keepable(self) -> Self {
        Self { keepable: Some(file_name(&self.title)), ..self }
    }

    /// Has the last minutes saved, or the recording that is watched.
    pub(super) fn save(&mut self) {
        let now = self.now();
        match (self.connection.recording(), self.keepable.take()) {
            (None, _) => self.save_minutes(),
            (Some(player), Some(name)) => {
                self.unsaved.push((name.clone(), player.file().to_vec()));
                self.keeping = Some(name);
            }
            (Some(_), None) => self.talk.add_notice(tr("You have this recording already."), now),
        }
    }

    /// Returns the last minutes of play: names and bytes of files.
    pub(crate) fn last_minutes(&mut self) -> Vec<(String, Vec<u8>)> {
        let now = self.now();
        let parts = self.connection.session_mut().save_last_minutes(now);
        let unix = self.connection.unix_of_start().saturating_add(now.0) / 1_000_000;
        let name = |game: &str| format!("{}_{game}.{END}", file_time(unix));
        parts.into_iter().map(|SavedPart { game, bytes }| (name(game), bytes)).collect()
    }

    fn save_minutes(&mut self) {
        let (files, now) = (self.last_minutes(), self.now());
        if files.is_empty() {
            let told = match self.connection.session().keeps_minutes() {
                true => tr("There is nothing to save yet."),
                false => tr("Nothing to save: turn on the last ten minutes in the settings."),
            };
            return self.talk.add_notice(told, now);
        }
        self.unsaved.extend(files);
    }

    /// Takes the recordings that are to be saved: their names and bytes.
    pub(crate) fn take_unsaved(&mut self) -> Vec<(String, Vec<u8>)> {
        std::mem::take(&mut self.unsaved)
    }

    /// Tells the player what has become of a recording.
    pub(crate) fn tell_saved(&mut self, saved: Result<String, String>) {
        let told = match saved {
            Ok(file) => {
                self.keeping = None;
                fill("Saved as {file}.", &[("file", &file)])
            }
            Err(why) => {
                // The player may try again.
                self.keepable = self.keepable.take().or(self.keeping.take());
                not_saved(&why)
            }
        };
        self.tell(&told);
    }
}

/// Words for a recording that could not be saved.
pub(crate) fn not_saved(why: &str) -> String {
    fill("Cannot save the recording: {why}.", &[("why", why)])
}

/// Returns a name for the file of a recording that has this title, which may contain anything.
fn file_name(title: &str) -> String {
    let stem = plain_stem(title);
    format!("{}.{END}", if stem.is_empty() { "recording" } else { &stem })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_name_of_a_download_is_harmless() {
        for (title, name) in [
            ("match-1.plr", "match-1.plr"),
            ("a%20b?.plr", "a20b.plr"),
            ("../../etc/passwd", "etcpasswd.plr"),
            ("..", "recording.plr"),
            ("../NUL.plr", "_NUL.plr"),
            ("con.1", "_con.1.plr"),
            ("Spiel \u{202e}", "Spiel.plr"),
        ] {
            assert_eq!(file_name(title), name);
        }
        assert!(file_name(&"x".repeat(9_999)).len() < 100);
    }
}
