//! Queries for a server's status, and the answers.

use phaselock::limits::{
    GAMES_MAX, NAME_BYTES_MAX, QUESTION_BYTES, ROOMS_LISTED_MAX, TEXT_BYTES_MAX,
};
use phaselock::wire::query::{Info, Nonce, parse_question};
use phaselock::wire::text::printable;

/// The bytes before the nonce of a question and of an answer.
const NONCE_AT: usize = 11;

/// Any packet at the port of a server or of its client.
pub fn query(data: &[u8]) -> bool {
    let nonce: Nonce =
        data.get(NONCE_AT..).and_then(|rest| rest.first_chunk()).copied().unwrap_or_default();
    let asked = parse_question(data);
    assert!(asked.is_none_or(|asked| asked == nonce));
    let Ok(info) = Info::parse(data, nonce) else { return asked.is_some() };
    let shown = |text: &str, max: usize| {
        assert!(text.len() <= 3 * max && printable(text) == text, "{text:?}");
    };
    shown(&info.server, TEXT_BYTES_MAX);
    shown(&info.version, TEXT_BYTES_MAX);
    info.games.iter().for_each(|game| shown(game, NAME_BYTES_MAX));
    assert!(info.games.len() <= GAMES_MAX && info.rooms.len() <= ROOMS_LISTED_MAX);
    // What was read can be written again, into any number of bytes.
    for bytes_max in [data.len(), QUESTION_BYTES] {
        let again = info.answer(nonce, bytes_max);
        assert!(again.len() <= bytes_max.max(NONCE_AT + size_of::<Nonce>()));
        assert!(Info::parse(&again, nonce).is_ok());
    }
    true
}
