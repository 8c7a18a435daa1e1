//! The stream on which a browser asks for a session, and says goodbye.

use phaselock::limits::TEXT_BYTES_MAX;
use phaselock::wire::text::printable;
use phaselock_quic::web::{RequestReader, Said};

use super::{Script, taken};

/// Whatever comes on the stream, in pieces: behind the length of each its bytes.
pub fn web(data: &[u8]) -> bool {
    let (mut script, mut reader, mut whole) = (Script(data), RequestReader::default(), Vec::new());
    let mut all = Vec::new();
    let mut is_good = true;
    while let Some(count) = script.next() {
        let piece = script.take(usize::from(count).max(1));
        whole.extend(piece);
        let Some(said) = taken(reader.take(piece)) else {
            is_good = false;
            break;
        };
        all.extend(said);
    }
    for said in &all {
        match said {
            Said::Asked(request) => assert!(request.path.starts_with('/'), "{request:?}"),
            Said::Left(goodbye) => {
                assert!(goodbye.text.len() <= TEXT_BYTES_MAX, "{goodbye:?}");
                assert_eq!(printable(&goodbye.text), goodbye.text);
            }
        }
    }
    // A goodbye is the last, and behind a request.
    let asked = |said: &Said| matches!(said, Said::Asked(_));
    assert!(all.iter().skip(1).all(|said| !asked(said)) && all.first().is_none_or(asked));
    assert!(all.len() <= 2, "{all:?}");
    // It does not matter how it was cut, but that a fault behind a goodbye is not looked for.
    let has_left = matches!(all.last(), Some(Said::Left(_)));
    match RequestReader::default().take(&whole) {
        Ok(together) => assert!(is_good && together == all, "{together:?}, {all:?}"),
        Err(_) => assert!(!is_good || has_left, "{all:?}"),
    }
    !all.is_empty()
}
