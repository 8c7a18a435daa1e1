//! The last minutes of a session, in memory, for the player to save.

use std::collections::VecDeque;

use crate::limits::{LAST_MINUTES, LAST_MINUTES_BYTES_MAX};
use crate::replay::{Piece, clip};
use crate::time::LocalTime;

/// A saved part of a session, as a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedPart {
    /// Name of the game.
    pub game: &'static str,
    /// The file: a [recording](crate::replay) of what the client was sent.
    pub bytes: Vec<u8>,
}

/// What was recorded of one game.
#[derive(Debug)]
struct Part {
    game: &'static str,
    start: Piece,
    /// Chunks and when they ended, oldest first.
    chunks: VecDeque<(LocalTime, Piece)>,
}

/// The last minutes of a session: the present game, and those before it.
#[derive(Debug, Default)]
pub(super) struct LastMinutes {
    parts: VecDeque<Part>,
    bytes: usize,
}

impl LastMinutes {
    /// Adds a piece of the recording of a game. What is too old goes.
    pub(super) fn push(&mut self, now: LocalTime, game: &'static str, piece: Piece) {
        self.bytes += length(&piece);
        match piece {
            start @ Piece::Start(_) => {
                if let Some(part) = self.parts.pop_back_if(|part| part.chunks.is_empty()) {
                    self.bytes -= length(&part.start);
                }
                self.parts.push_back(Part { game, start, chunks: VecDeque::new() });
            }
            chunk @ Piece::Chunk(_) => match self.parts.back_mut() {
                Some(part) => part.chunks.push_back((now, chunk)),
                None => self.bytes = 0,
            },
        }
        while self.bytes > LAST_MINUTES_BYTES_MAX || self.has_old(now) {
            self.forget_oldest();
        }
    }

    fn has_old(&self, now: LocalTime) -> bool {
        let oldest = self.parts.front().and_then(|part| part.chunks.front());
        oldest.is_some_and(|(ended, _)| now - *ended > LAST_MINUTES)
    }

    /// Drops the oldest chunk, and with its last one the game.
    fn forget_oldest(&mut self) {
        let Some(part) = self.parts.front_mut() else { return self.bytes = 0 };
        let oldest = part.chunks.pop_front();
        self.bytes -= oldest.map_or(0, |(_, oldest)| length(&oldest));
        if self.parts.len() > 1
            && let Some(part) = self.parts.pop_front_if(|part| part.chunks.is_empty())
        {
            self.bytes -= length(&part.start);
        }
    }

    /// Returns a file for each game, oldest first.
    pub(super) fn save(&self) -> Vec<SavedPart> {
        let file = |Part { game, start, chunks }: &Part| {
            let bytes = clip(start, chunks.iter().map(|(_, chunk)| chunk)).ok()?;
            Some(SavedPart { game, bytes })
        };
        self.parts.iter().filter_map(file).collect()
    }
}

fn length(piece: &Piece) -> usize {
    match piece {
        Piece::Start(bytes) | Piece::Chunk(bytes) => bytes.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Micros;

    fn at(secs: i64) -> LocalTime {
        LocalTime(0) + Micros::from_ms(1000 * secs)
    }

    fn held(minutes: &LastMinutes) -> Vec<(&str, usize)> {
        minutes.parts.iter().map(|part| (part.game, part.chunks.len())).collect()
    }

    #[test]
    fn ten_minutes_of_any_number_of_games_are_kept() {
        let mut minutes = LastMinutes::default();
        minutes.push(at(0), "none", Piece::Chunk(vec![0; 9]));
        for (game, chunks) in [("a", 30), ("b", 0), ("c", 20), ("d", 1)] {
            minutes.push(at(0), game, Piece::Start(vec![0; 100]));
            for number in 0..chunks {
                minutes.push(at(10 * number), game, Piece::Chunk(vec![0; 1000]));
            }
        }
        assert_eq!(held(&minutes), [("a", 30), ("c", 20), ("d", 1)]);
        assert_eq!(minutes.bytes, 3 * 100 + 51 * 1000);
        minutes.push(at(700), "d", Piece::Chunk(vec![0; 1000]));
        assert_eq!(held(&minutes), [("a", 20), ("c", 20), ("d", 2)]);
        minutes.push(at(5_000), "d", Piece::Chunk(vec![0; 1000]));
        assert_eq!(held(&minutes), [("d", 1)]);
        assert_eq!(minutes.bytes, 1100);
    }

    #[test]
    fn memory_is_bounded() {
        let mut minutes = LastMinutes::default();
        for number in 0..100 {
            minutes.push(at(number), "a", Piece::Start(vec![0; 100_000]));
            for _ in 0..number % 9 {
                minutes.push(at(number), "a", Piece::Chunk(vec![0; LAST_MINUTES_BYTES_MAX / 7]));
                assert!(minutes.bytes <= LAST_MINUTES_BYTES_MAX);
            }
        }
        assert!(!held(&minutes).is_empty());
    }
}
