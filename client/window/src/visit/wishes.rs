//! What the player asked for by a link or the command line, and what to say if the server does
//! otherwise.

use phaselock::limits::NAME_BYTES_MAX;
use phaselock::wire::rooms::RoomCode;
use phaselock::wire::text::{clip, printable};

use crate::registry::Views;
use crate::setup::{Setup, Wishes};
use phaselock_ui::words::fill;

/// What the player asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Asked {
    wishes: Wishes,
    room: Option<RoomCode>,
    watches: bool,
}

impl Asked {
    pub(super) fn of(setup: &Setup) -> Self {
        let Setup { wishes, room, watch, .. } = setup;
        Self { wishes: wishes.clone(), room: room.clone(), watches: *watch }
    }

    /// Lines for the player about what the first game does not meet. `resumed`: whether the player
    /// came back to a seat, wherever it is.
    pub(super) fn unmet(
        &self,
        (played, resumed): (&'static str, bool),
        views: &Views,
    ) -> Vec<String> {
        let room = self.wishes.bad_room.as_deref().map(|text| {
            fill(
                "The link's room {room} is not a valid room code; the server chose a room for you.",
                &[("room", &printable(clip(text, NAME_BYTES_MAX)))],
            )
        });
        let wanted = self.wishes.game.as_deref().filter(|wanted| *wanted != played);
        let game = wanted.map(|wanted| self.other_game(wanted, (played, resumed), views));
        room.into_iter().chain(game).collect()
    }

    /// Why the game is not the wanted one.
    fn other_game(
        &self,
        wanted: &str,
        (played, resumed): (&'static str, bool),
        views: &Views,
    ) -> String {
        let title = views.get(wanted).map(|entry| entry.title);
        let game = views.get(played).map_or(played, |entry| entry.title);
        let Some(wanted) = title else {
            // A link may contain anything.
            let wanted = printable(clip(wanted, NAME_BYTES_MAX));
            let values = [("wanted", &*wanted), ("game", game)];
            return fill("There is no game called {wanted}; this room plays {game}.", &values);
        };
        let values = [("wanted", wanted), ("game", game)];
        match &self.room {
            _ if resumed => {
                fill("You are back in your seat: this room plays {game}, not {wanted}.", &values)
            }
            // Other rooms were not searched.
            Some(room) => {
                let room = room.to_string();
                let values = [("room", &*room), ("wanted", wanted), ("game", game)];
                fill("Room {room} is playing {game}, not {wanted}.", &values)
            }
            // For watching, full rooms are as good.
            None if self.watches => {
                fill("No open room is playing {wanted}; this one plays {game}.", &values)
            }
            None => fill(
                "No open room with a free seat is playing {wanted}; this one plays {game}.",
                &values,
            ),
        }
    }

    /// Why the server did not let the player in, if the requested room does not exist.
    pub(super) fn no_room(&self) -> Option<String> {
        let room = self.room.as_ref()?.to_string();
        let words = fill(
            "This server has no room {room} at the moment. Check the code, or join without one.",
            &[("room", &room)],
        );
        Some(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use phaselock_ui::words::{INCLUDED, Language, set_language};

    fn asked(game: &str, room: Option<&str>, watches: bool) -> Asked {
        let wishes = Wishes { game: Some(game.into()), bad_room: None };
        let room = room.map(|code| code.parse().expect("a code"));
        Asked { wishes, room, watches }
    }

    #[test]
    fn lines_on_unmet_wishes_are_true_in_each_case() {
        let views = phaselock_views::all(Views::new());
        let told = |asked: &Asked, resumed| asked.unmet(("race", resumed), &views);
        let one = |game: &str, room, watches| told(&asked(game, room, watches), false);
        assert_eq!(one("race", Some("friday"), false), Vec::<String>::new());
        // The room may be full, or newly made: other rooms were not requested.
        let line = "Room friday is playing Race, not Skirmish.";
        assert_eq!(one("skirmish", Some("friday"), false), [line]);
        assert_eq!(one("skirmish", Some("friday"), true), [line]);
        let line = "No open room with a free seat is playing Skirmish; this one plays Race.";
        assert_eq!(one("skirmish", None, false), [line]);
        let line = "No open room is playing Skirmish; this one plays Race.";
        assert_eq!(one("skirmish", None, true), [line]);
        let line = "There is no game called quake; this room plays Race.";
        assert_eq!(one("qu\u{1b}ake", None, false).len(), 1);
        assert_eq!(one("quake", Some("friday"), false), [line]);
        let back = told(&asked("skirmish", None, false), true);
        assert_eq!(back, ["You are back in your seat: this room plays Race, not Skirmish."]);
        let bad = Wishes { game: Some("skirmish".into()), bad_room: Some("Not a code".into()) };
        let lines = told(&Asked { wishes: bad, ..Asked::default() }, false);
        assert!(lines[0].contains("Not a code") && lines[1].contains("No open room with"));

        let missing = asked("race", Some("friday"), false).no_room().expect("a room was asked for");
        assert!(missing.starts_with("This server has no room friday at the moment."), "{missing}");
        assert_eq!(Asked::default().no_room(), None);
    }

    #[test]
    fn lines_on_unmet_wishes_are_told_in_german() {
        let views = phaselock_views::all(Views::new());
        let (_, german) = INCLUDED[0];
        let german = Language::parse(german).expect("a language");
        set_language(Some(Box::leak(Box::new(german))));
        let named = asked("skirmish", Some("friday"), false);
        let all = [
            named.unmet(("race", false), &views),
            asked("skirmish", None, false).unmet(("race", false), &views),
            asked("skirmish", None, true).unmet(("race", false), &views),
            asked("quake", None, false).unmet(("race", false), &views),
            named.unmet(("race", true), &views),
            named.no_room().into_iter().collect(),
        ];
        set_language(None);
        let english = ["now", "not", "There", "You"];
        for line in all.iter().flatten() {
            let is_english = line.split([' ', ',', ';', '.']).any(|word| english.contains(&word));
            assert!(!is_english, "{line}");
        }
        assert_eq!(all.iter().flatten().count(), 6);
    }
}
