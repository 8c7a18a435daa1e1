//! Queries to a directory, and its answers.

use phaselock::limits::{ANNOUNCEMENT_BYTES_MAX, DIRECTORY_PAGE_MAX};
use phaselock::wire::directory::{Answer, Question, nonce_of_answer};

use super::taken;

/// Any packet at the port of a directory or of its client.
pub fn directory(data: &[u8]) -> bool {
    if let Some((question, nonce)) = taken(Question::parse(data)) {
        let bytes = question.encode(nonce);
        assert!(bytes.len() <= ANNOUNCEMENT_BYTES_MAX.max(data.len()));
        assert_eq!(Question::parse(&bytes), Ok((question, nonce)));
        return true;
    }
    let Some(nonce) = nonce_of_answer(data) else { return false };
    let Some(answer) = taken(Answer::parse(data, nonce)) else { return false };
    if let Answer::Page { servers, .. } = &answer {
        assert!(servers.len() <= DIRECTORY_PAGE_MAX);
    }
    // What was read can be written again, within the maximum size.
    for bytes_max in [0, 40, data.len(), 2 * ANNOUNCEMENT_BYTES_MAX] {
        let again = answer.encode(nonce, bytes_max);
        assert!(again.as_ref().is_none_or(|again| again.len() <= bytes_max));
        assert!(again.is_none_or(|again| Answer::parse(&again, nonce).is_ok()));
    }
    true
}
