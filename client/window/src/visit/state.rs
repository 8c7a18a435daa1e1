//! State of a visit, as the window asks for it.

use std::thread::JoinHandle;

use phaselock::client::State;
use phaselock::wire::disconnect::{Code, Disconnect};

use super::wishes::Asked;
use super::{DETAILS, GRAPH, Visit};
use crate::overlay;
use crate::watch;
use phaselock_ui::controls::Action;

impl Visit {
    /// Names of the open panels, in the order of the settings.
    pub(crate) fn panels(&self) -> Vec<&'static str> {
        let panels = [(self.details, DETAILS), (self.graph.shown, GRAPH)];
        panels.into_iter().filter(|(shown, _)| *shown).map(|(_, name)| name).collect()
    }

    /// True from the first game on: wishes of the command line count until then.
    pub(crate) fn has_begun(&self) -> bool {
        self.asked.is_none()
    }

    /// True while the pause is shown.
    pub(crate) fn is_paused(&self) -> bool {
        self.paused
    }

    /// Name and actions of the game.
    pub(crate) fn actions(&self) -> Option<(&'static str, &'static [Action])> {
        self.play.as_ref().map(|(entry, _)| (entry.name, entry.actions))
    }

    /// Actions that have a place on the glass, and true if a vote waits for the player's voice.
    pub(crate) fn touchable(&self) -> (&'static [Action], bool) {
        let own = self.actions().map(|(_, own)| own).unwrap_or_default();
        let common = self.connection.session().client().map(|client| client.common());
        let is_asked = common.is_some_and(|common| self.people.is_asked(common));
        (if self.is_watching() { watch::TOUCHABLE } else { own }, is_asked)
    }

    /// True while the player writes to others.
    pub(crate) fn talks(&self) -> bool {
        self.talk.is_open()
    }

    /// True while the game runs: joined, and heard of since.
    pub(crate) fn is_playing(&self) -> bool {
        let now = self.now();
        let common = self.connection.session().client().map(|client| client.common());
        let heard = common.is_some_and(|common| {
            common.stats().snapshots > 0 && common.silence(now) <= overlay::SILENCE_BAD
        });
        self.is_connected() && heard
    }

    /// Reason why the game does not run.
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

    /// Words for the end of a session: the server's own, unless the player asked for a room that is
    /// not there.
    pub(super) fn words_of(&self, reason: &Disconnect) -> String {
        let asked = self.asked.as_ref().filter(|_| reason.code == Code::NoRoom);
        asked.and_then(Asked::no_room).unwrap_or_else(|| overlay::words_of(reason))
    }

    /// Says goodbye. If that may take a moment, a thread does it.
    pub(crate) fn close(self, reason: &'static str) -> Option<JoinHandle<()>> {
        self.connection.close(reason)
    }

    /// A reason with the name of the server, unless it has it.
    pub(super) fn at_place(&self, reason: &str) -> String {
        if reason.contains(&self.title) {
            return reason.to_owned();
        }
        format!("{}: {reason}", self.title)
    }
}
