//! The line being typed: history of sent lines, completion of commands and names.

use std::collections::VecDeque;

use phaselock::wire::talk::Audience;

/// Maximum number of remembered lines. Arbitrary.
const HISTORY_MAX: usize = 50;

/// Words that Tab cycles through.
#[derive(Debug, PartialEq, Eq)]
struct Completion {
    /// The text before the word.
    before: String,
    candidates: Vec<String>,
    at: usize,
}

/// The line being typed.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) text: String,
    pub(super) to: Audience,
    history: VecDeque<String>,
    /// Index in the history, the newest line first; `None` for a new line.
    recalled: Option<usize>,
    /// The new line, while an old one is shown.
    kept: String,
    completion: Option<Completion>,
}

impl Draft {
    /// Starts a line.
    pub(super) fn begin(&mut self, to: Audience) {
        self.text.clear();
        (self.to, self.recalled, self.completion) = (to, None, None);
    }

    /// Finishes the line. `None` if it has nothing visible.
    pub(super) fn finish(&mut self) -> Option<(Audience, String)> {
        let line = std::mem::take(&mut self.text);
        if line.trim().is_empty() {
            return None;
        }
        if self.history.front() != Some(&line) {
            self.history.push_front(line.clone());
            self.history.truncate(HISTORY_MAX);
        }
        Some((self.to, line))
    }

    /// Goes back in the history.
    pub(super) fn up(&mut self) {
        let next = self.recalled.map_or(0, |at| at + 1);
        if let Some(line) = self.history.get(next) {
            if self.recalled.is_none() {
                self.kept = std::mem::take(&mut self.text);
            }
            self.text.clone_from(line);
            self.recalled = Some(next);
        }
    }

    /// Goes forward in the history, and finally to the new line.
    pub(super) fn down(&mut self) {
        match self.recalled {
            None => {}
            Some(0) => (self.recalled, self.text) = (None, std::mem::take(&mut self.kept)),
            Some(at) => {
                self.recalled = Some(at - 1);
                self.text.clone_from(&self.history[at - 1]);
            }
        }
    }

    /// Completes the last word: a command after a slash, or a player's name. Called again, it takes
    /// the next match.
    pub(super) fn complete(&mut self, commands: &[&str], names: &[&str]) {
        let is_same = |it: &Completion| {
            it.candidates.get(it.at).is_some_and(|word| format!("{}{word}", it.before) == self.text)
        };
        if let Some(completion) = self.completion.as_mut().filter(|it| is_same(it)) {
            completion.at = (completion.at + 1) % completion.candidates.len();
        } else {
            self.completion = completions(&self.text, commands, names);
        }
        if let Some(Completion { before, candidates, at }) = &self.completion {
            self.text = format!("{before}{}", candidates[*at]);
        }
    }
}

/// The matches for the last word, each followed by a blank.
fn completions(text: &str, commands: &[&str], names: &[&str]) -> Option<Completion> {
    let start = text.char_indices().rev().find(|(_, c)| c.is_whitespace());
    let start = start.map_or(0, |(at, c)| at + c.len_utf8());
    let (before, word) = text.split_at(start);
    let is_command = text.starts_with('/');
    let begins = |it: &str, word: &str| it.to_lowercase().starts_with(&word.to_lowercase());
    let candidates: Vec<_> = match word.strip_prefix('/') {
        Some(word) if before.is_empty() => {
            let fit = commands.iter().filter(|it| begins(it, word));
            fit.map(|it| format!("/{it} ")).collect()
        }
        _ if word.is_empty() => Vec::new(),
        _ => {
            let fit = names.iter().filter(|it| begins(it, word));
            // A server takes what is between quotation marks as one word.
            let quoted = |it: &&str| match is_command && it.contains(char::is_whitespace) {
                true => format!("\"{it}\" "),
                false => format!("{it} "),
            };
            fit.map(quoted).collect()
        }
    };
    let before = before.to_owned();
    (!candidates.is_empty()).then_some(Completion { before, candidates, at: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tab_completes_commands_and_names_and_goes_through_them() {
        let mut draft = Draft::default();
        let (commands, names) = (["help", "kick"], ["Ada", "adam smith", "Ünal"]);
        let mut tab = |text: &str, presses: usize| {
            draft.begin(Audience::All);
            draft.text = text.into();
            (0..presses).for_each(|_| draft.complete(&commands, &names));
            draft.text.clone()
        };
        assert_eq!(tab("/k", 1), "/kick ");
        assert_eq!(tab("/", 2), "/kick ");
        assert_eq!(tab("/", 3), "/help ");
        assert_eq!(tab("/kick AD", 2), "/kick \"adam smith\" ");
        assert_eq!(tab("hi ad", 1), "hi Ada ");
        assert_eq!(tab("hi ü", 1), "hi Ünal ");
        assert_eq!(tab("hi\u{3000}ü", 1), "hi\u{3000}Ünal ");
        for alone in ["", "hi ", "/zzz", "xyz"] {
            assert_eq!(tab(alone, 2), alone);
        }
    }

    #[test]
    fn own_lines_come_back_and_the_new_one_too() {
        let mut draft = Draft::default();
        for number in 0..60 {
            draft.begin(Audience::Side);
            draft.text = format!("line {number}");
            assert_eq!(draft.finish(), Some((Audience::Side, format!("line {number}"))));
        }
        draft.begin(Audience::All);
        draft.text = "new".into();
        (0..3).for_each(|_| draft.up());
        assert_eq!(draft.text, "line 57");
        (0..100).for_each(|_| draft.up());
        assert_eq!(draft.text, "line 10");
        (0..100).for_each(|_| draft.down());
        assert_eq!(draft.text, "new");
        draft.text = "  ".into();
        assert_eq!(draft.finish(), None);
    }
}
