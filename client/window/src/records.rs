//! The player's personal records: values at a round's end that are better than all before.
//!
//! A game provides its values by [`Kit::measures`](phaselock::game::Kit::measures), and its view
//! the words for them. The settings file stores the best ones. A spectator, or a player who came
//! after the play, has reached nothing.

use std::collections::BTreeMap;

use egui_macroquad::egui::{Align2, Painter, Rect, vec2};
use phaselock::game::{Best, RoundPart, Unit};

use phaselock_ui::block::text_block;
use phaselock_ui::layout::{Item, Way};
use phaselock_ui::palette;
use phaselock_ui::words::fill;

/// Best values, by game and name.
pub(crate) type Records = BTreeMap<String, BTreeMap<String, f64>>;

/// Maximum number of games with records, and of records per game, in the settings; arbitrary.
pub(crate) const GAMES_MAX: usize = 64;
pub(crate) const MEASURES_MAX: usize = 16;
/// Maximum absolute value of a record.
pub(crate) const VALUE_MAX: f64 = 1e9;

/// A value that the player has reached at a round's end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Reached {
    pub(crate) name: &'static str,
    /// Words for the player.
    pub(crate) words: &'static str,
    pub(crate) best: Best,
    pub(crate) unit: Unit,
    pub(crate) value: f64,
}

/// A new record.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct New {
    pub(crate) game: &'static str,
    pub(crate) name: &'static str,
    pub(crate) value: f64,
}

/// Known records, and the current round, in which there may be new ones.
#[derive(Debug, Default)]
pub(crate) struct RecordTracker {
    known: Records,
    /// Whether the player takes part in the current round's play.
    played: bool,
    part: Option<RoundPart>,
    /// Lines at a round's end, each with whether it is a new record.
    lines: Vec<(String, bool)>,
    news: Vec<New>,
}

impl RecordTracker {
    /// Starts with the records of earlier visits.
    pub(crate) fn new(known: &Records) -> Self {
        Self { known: known.clone(), ..Self::default() }
    }

    /// Follows the rounds by a frame. Returns true when a round ends in which the player took part.
    pub(crate) fn advance(&mut self, part: Option<RoundPart>, takes_part: bool) -> bool {
        let before = std::mem::replace(&mut self.part, part);
        match part {
            Some(RoundPart::Play) => self.played |= takes_part,
            Some(RoundPart::Results) if before == Some(RoundPart::Play) => {
                return std::mem::take(&mut self.played) && takes_part;
            }
            Some(RoundPart::Results) => {}
            Some(RoundPart::WarmUp) | None => self.played = false,
        }
        if part != Some(RoundPart::Results) {
            self.lines.clear();
        }
        false
    }

    /// Notes that the player has reached these values in a game's round.
    pub(crate) fn reach(&mut self, game: &'static str, reached: &[Reached]) {
        self.lines.clear();
        for Reached { name, words, best, unit, value } in reached.iter().copied() {
            if !(value.is_finite() && value.abs() <= VALUE_MAX) {
                continue;
            }
            let known = self.known.entry(game.to_owned()).or_default();
            let before = known.get(name).copied();
            // Zero is not a record.
            let is_new = before.map_or(value > 0.0, |before| best.prefers(value, before));
            if is_new {
                known.insert(name.to_owned(), value);
                self.news.push(New { game, name, value });
            }
            let (now, then) = (unit.text(value), before.map(|it| unit.text(it)));
            let values =
                [("what", words), ("value", &*now), ("before", then.as_deref().unwrap_or(""))];
            let line = match (is_new, &then) {
                (true, Some(_)) => {
                    fill("{what}: {value}, your new record; {before} before", &values)
                }
                (true, None) => fill("{what}: {value}, your first record", &values),
                (false, Some(_)) => fill("{what}: {value}; your record is {before}", &values),
                (false, None) => continue,
            };
            self.lines.push((line, is_new));
        }
    }

    /// Takes the next new record.
    pub(crate) fn poll_new(&mut self) -> Option<New> {
        (!self.news.is_empty()).then(|| self.news.remove(0))
    }

    /// Paints the lines at a round's end, at the window's lower edge.
    pub(crate) fn draw(&self, painter: &Painter, screen: Rect) {
        if self.lines.is_empty() {
            return;
        }
        let color = |is_new: bool| if is_new { palette::GOOD } else { palette::TEXT_SOFT };
        let lines: Vec<_> =
            self.lines.iter().map(|(line, is_new)| (&**line, 15.0, color(*is_new))).collect();
        let place = (screen.center_bottom() - vec2(0.0, 14.0), Align2::CENTER_BOTTOM);
        text_block(painter, (Item::Records, &[Way::Up]), place, &lines);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lap(value: f64) -> Reached {
        Reached { name: "lap", words: "best lap", best: Best::Least, unit: Unit::Seconds, value }
    }

    fn round(book: &mut RecordTracker, takes_part: [bool; 2]) -> bool {
        book.advance(Some(RoundPart::WarmUp), true);
        book.advance(Some(RoundPart::Play), takes_part[0]);
        let is_over = book.advance(Some(RoundPart::Results), takes_part[1]);
        assert!(!book.advance(Some(RoundPart::Results), true), "it is over once");
        is_over
    }

    #[test]
    fn who_played_to_the_end_has_reached_something() {
        let mut book = RecordTracker::default();
        assert!(round(&mut book, [true, true]));
        assert!(!round(&mut book, [false, true]) && !round(&mut book, [true, false]));
        // A player who arrives during the results has seen no play.
        assert!(!RecordTracker::default().advance(Some(RoundPart::Results), true));
    }

    #[test]
    fn better_numbers_are_records_and_are_told_once() {
        let mut book = RecordTracker::default();
        for (value, is_new) in [(40.0, true), (41.0, false), (39.5, true), (39.5, false)] {
            assert!(round(&mut book, [true, true]));
            book.reach("race", &[lap(value)]);
            assert_eq!(book.lines.iter().map(|(_, is_new)| *is_new).collect::<Vec<_>>(), [is_new]);
            let new = is_new.then_some(New { game: "race", name: "lap", value });
            assert_eq!(book.poll_new(), new);
            assert_eq!(book.poll_new(), None);
        }
        assert_eq!(book.lines[0].0, "best lap: 39.50 s; your record is 39.50 s");
    }

    #[test]
    fn nothing_and_nonsense_are_no_records() {
        let mut book = RecordTracker::default();
        let frags = |value| Reached { best: Best::Most, unit: Unit::Count, ..lap(value) };
        book.reach("skirmish", &[frags(0.0), frags(f64::NAN), frags(1e300)]);
        assert_eq!((book.poll_new(), book.lines.len()), (None, 0));
    }
}
