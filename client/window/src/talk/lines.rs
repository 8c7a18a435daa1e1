//! The chat lines: a bounded number, without those of muted people, and with floods reduced to one
//! line.

use std::collections::VecDeque;

use phaselock::time::{LocalTime, Micros};
use phaselock::wire::text::{clip, printable};

/// Maximum number of lines kept for scrolling back. Arbitrary.
pub(super) const LINES_MAX: usize = 200;
/// Maximum length of a line in bytes; a server sends at most 256, preceded by a name.
const LINE_BYTES_MAX: usize = 512;
/// Number of consecutive lines from one source, within [`FLOOD_TIME`], after which more are only
/// counted.
const FLOOD_LINES: usize = 4;
/// This limit for the host's lines: an answer to a command has up to 17.
const FLOOD_LINES_SYSTEM: usize = 24;
/// See [`FLOOD_LINES`].
const FLOOD_TIME: Micros = Micros::from_ms(6_000);

/// Kind of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A player's, to everyone.
    All,
    /// A player's, to that player's side.
    Side,
    /// The host's, or the program's.
    System,
    /// A player joined.
    Join,
    /// A player left.
    Leave,
}

/// A line.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Line {
    pub(super) kind: Kind,
    /// The speaker's name and colour.
    pub(super) from: Option<(String, u8)>,
    pub(super) text: String,
    pub(super) came: LocalTime,
    /// Number of further lines from this source that were left out.
    pub(super) more: u32,
}

/// The newest lines, the latest last.
#[derive(Debug, Default)]
pub(super) struct Lines {
    lines: VecDeque<Line>,
    /// Number of lines that the reader has scrolled back.
    scrolled: usize,
}

impl Lines {
    /// Adds a line, cleaned. A line that is part of a flood is only counted.
    pub(super) fn add(&mut self, kind: Kind, from: Option<(&str, u8)>, text: &str, now: LocalTime) {
        let text = clip(&printable(text), LINE_BYTES_MAX).to_owned();
        let from = from.map(|(name, color)| (printable(name), color));
        let is_same = |line: &&mut Line| line.kind == kind && line.from == from;
        let most = if kind == Kind::System { FLOOD_LINES_SYSTEM } else { FLOOD_LINES };
        let mut of_source = self.lines.iter_mut().rev().filter(is_same).take(most);
        let newest = of_source.next();
        let is_flood = of_source.nth(most - 2).is_some_and(|it| now - it.came < FLOOD_TIME);
        if let Some(newest) = newest.filter(|_| is_flood) {
            newest.more = newest.more.saturating_add(1);
            return;
        }
        self.lines.push_back(Line { kind, from, text, came: now, more: 0 });
        if self.lines.len() > LINES_MAX {
            self.lines.pop_front();
        }
        // A player who reads an old line can go on reading it.
        if self.scrolled > 0 {
            self.scroll(1);
        }
    }

    /// Scrolls back by this many lines, or forward if negative.
    pub(super) fn scroll(&mut self, lines: isize) {
        let most = self.lines.len().saturating_sub(1);
        self.scrolled = self.scrolled.saturating_add_signed(lines).min(most);
    }

    /// Scrolls to the newest line.
    pub(super) fn show_newest(&mut self) {
        self.scrolled = 0;
    }

    /// Number of lines below those that are shown.
    pub(super) fn scrolled(&self) -> usize {
        self.scrolled
    }

    /// The lines from the last shown one backwards.
    pub(super) fn shown(&self) -> impl Iterator<Item = &Line> {
        self.lines.iter().rev().skip(self.scrolled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> LocalTime {
        LocalTime(ms * 1000)
    }

    #[test]
    fn lines_are_bounded_and_clean() {
        let mut lines = Lines::default();
        for number in 0..1000 {
            let name = format!("p\u{202e}{number}");
            lines.add(Kind::All, Some((&name, 3)), &"x\u{7}".repeat(5000), at(number));
        }
        assert_eq!(lines.lines.len(), LINES_MAX);
        let newest = lines.shown().next().expect("there are lines");
        assert_eq!(newest.from, Some(("p999".into(), 3)));
        assert!(newest.text.len() <= LINE_BYTES_MAX && !newest.text.contains('\u{7}'));
    }

    #[test]
    fn a_flood_is_one_line_with_a_count() {
        let mut lines = Lines::default();
        for number in 0..16 {
            lines.add(Kind::All, Some(("Eve", 0)), &number.to_string(), at(number * 100));
        }
        lines.add(Kind::All, Some(("Ada", 1)), "hello", at(1700));
        let texts: Vec<_> = lines.shown().map(|line| (&*line.text, line.more)).collect();
        assert_eq!(texts, [("hello", 0), ("3", 12), ("2", 0), ("1", 0), ("0", 0)]);
        lines.add(Kind::All, Some(("Eve", 0)), "later", at(60_000));
        assert_eq!(lines.shown().next().map(|line| &*line.text), Some("later"));
    }

    #[test]
    fn a_long_answer_of_the_host_is_shown_whole_and_a_flood_of_it_is_not() {
        let mut lines = Lines::default();
        for number in 0..17 {
            lines.add(Kind::System, None, &number.to_string(), at(0));
        }
        assert!(lines.lines.len() == 17 && lines.lines.iter().all(|line| line.more == 0));
        for number in 0..100 {
            lines.add(Kind::System, None, &number.to_string(), at(100));
        }
        assert_eq!(lines.lines.len(), FLOOD_LINES_SYSTEM);
        assert_eq!(lines.shown().next().map(|line| line.more), Some(93));
    }

    #[test]
    fn scrolling_stays_within_the_lines_and_at_the_line_that_is_read() {
        let mut lines = Lines::default();
        for number in 0..5 {
            lines.add(Kind::System, None, &number.to_string(), at(number * 60_000));
        }
        lines.scroll(2);
        let last = |lines: &Lines| lines.shown().next().map(|line| line.text.clone());
        assert_eq!(last(&lines).as_deref(), Some("2"));
        lines.add(Kind::System, None, "5", at(600_000));
        assert_eq!(last(&lines).as_deref(), Some("2"));
        lines.scroll(100);
        assert_eq!((last(&lines).as_deref(), lines.scrolled()), (Some("0"), 5));
        lines.scroll(-100);
        assert_eq!(last(&lines).as_deref(), Some("5"));
        Lines::default().scroll(1);
    }
}
