//! State of a visit, for the window.

use std::thread::JoinHandle;

use phaselock::client::State;
use phaselock::wire::disconnect::{Code, Disconnect};

use super::wishes::Asked;
use super::{DETAILS, GRAPH, Visit};
use crate::overlay;
use crate::watch;
use phaselock_ui::controls::Action;
use phaselock_ui::glass::{Passing, Touchable};

impl Visit {
    /// Names of the open panels, in the order of the settings.
    pub(crate) fn panels(&self) -> Vec<&'static str> {
        let panels = [(self.details, DETAILS), (self.graph.shown, GRAPH)];
        panels.into_iter().filter(|(shown, _)| *shown).map(|(_, name)| name).collect()
    }

    /// Shows the player a line of text.
    pub(crate) fn tell(&mut self, text: &str) {
        let now = self.now();
        self.talk.add_notice(text, now);
    }

    /// Whether a game has begun: until then, the command line's wishes count.
    pub(crate) fn has_begun(&self) -> bool {
        self.asked.is_none()
    }

    /// Whether a recording is shown in place of a server.
    pub(crate) fn is_recording(&self) -> bool {
        self.is_recording
    }

    /// True while the pause is shown.
    pub(crate) fn is_paused(&self) -> bool {
        self.paused
    }

    /// Name and actions of the game.
    pub(crate) fn actions(&self) -> Option<(&'static str, &'static [Action])> {
        self.play.as_ref().map(|(entry, _)| (entry.name, entry.actions))
    }

    /// Returns what the touch controls are for.
    pub(crate) fn touchable(&mut self) -> Touchable {
        if let Some(player) = self.connection.recording() {
            // A recording has no votes to answer.
            let (actions, bar) = (watch::TOUCHABLE_THERE, player.bar_height());
            return Touchable { actions, bar, ..Touchable::default() };
        }
        let own = self.actions().map(|(_, own)| own).unwrap_or_default();
        let common = self.connection.session().client().map(|client| client.common());
        let vote = common.is_some_and(|common| self.people.is_asked(common));
        let replay = self.play.as_ref().is_some_and(|(_, play)| play.is_replaying());
        let own = if self.is_watching() { watch::TOUCHABLE } else { own };
        Touchable { actions: own, passing: Passing { vote, replay }, bar: 0.0 }
    }

    /// Whether it is silent: a recording that does not run at its own speed.
    pub(crate) fn is_silent(&mut self) -> bool {
        self.connection.recording().is_some_and(|player| !player.has_sound())
    }

    /// Whether the player is typing a chat line.
    pub(crate) fn talks(&self) -> bool {
        self.talk.is_open()
    }

    /// Whether the game is running: joined, and heard from since.
    pub(crate) fn is_playing(&self) -> bool {
        let now = self.now();
        let common = self.connection.session().client().map(|client| client.common());
        let heard = common.is_some_and(|common| {
            common.stats().snapshots > 0 && common.silence(now) <= overlay::SILENCE_BAD
        });
        self.is_connected() && heard
    }

    /// Why the game is not running.
    pub(crate) fn trouble(&self) -> String {
        match self.connection.session().state() {
            State::Connecting { attempt } => {
                let lost = self.lost.as_ref().map_or(String::new(), |lost| format!(": {lost}"));
                format!("still connecting to {} (attempt {attempt}){lost}", self.title)
            }
            State::Connected => format!("{} sends no snapshots", self.title),
            State::Waiting { reason, .. } | State::Ended { reason } => self.at_place(&reason.text),
        }
    }

    /// Why a session ended: the server's words, unless the player asked for a room that does not
    /// exist.
    pub(super) fn words_of(&self, reason: &Disconnect) -> String {
        let asked = self.asked.as_ref().filter(|_| reason.code == Code::NoRoom);
        asked.and_then(Asked::no_room).unwrap_or_else(|| overlay::words_of(reason))
    }

    /// Says goodbye. If that may take a moment, a thread does it.
    pub(crate) fn close(self, reason: &'static str) -> Option<JoinHandle<()>> {
        self.connection.close(reason)
    }

    /// Prefixes a reason with the server's name, unless it has it.
    pub(super) fn at_place(&self, reason: &str) -> String {
        if reason.contains(&self.title) {
            return reason.to_owned();
        }
        format!("{}: {reason}", self.title)
    }
}
