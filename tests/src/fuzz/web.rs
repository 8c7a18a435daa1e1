//! A browser's HTTP/3 streams: the one on which it requests and closes a session, and the one with
//! its settings.

use phaselock::limits::TEXT_BYTES_MAX;
use phaselock::wire::text::printable;
use phaselock_quic::web::{ControlReader, RequestReader, Said};

use super::{Script, taken};

/// Any bytes on the stream, in pieces, each after its length.
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
            Said::Asked(request) => assert!(!request.authority.is_empty(), "{request:?}"),
            Said::Refused(status) => assert!(status.as_u16() >= 400, "{status}"),
            Said::Allowed(bytes) => assert!(*bytes > 0),
            Said::Left(goodbye) => {
                assert!(goodbye.text.len() <= TEXT_BYTES_MAX, "{goodbye:?}");
                assert_eq!(printable(&goodbye.text), goodbye.text);
            }
        }
    }
    // There is exactly one request, before everything else. Limits grow; a close comes last.
    let is_first = |said: &Said| matches!(said, Said::Asked(_) | Said::Refused(_));
    assert!(all.iter().skip(1).all(|said| !is_first(said)) && all.first().is_none_or(is_first));
    let allowed = |said: &Said| if let Said::Allowed(bytes) = said { Some(*bytes) } else { None };
    assert!(all.iter().filter_map(allowed).is_sorted(), "{all:?}");
    let is_last = |said: &Said| matches!(said, Said::Left(_) | Said::Refused(_));
    assert!(all.iter().rev().skip(1).all(|said| !is_last(said)), "{all:?}");
    // The size of pieces does not matter, except that faults after the end are not looked for.
    let is_over = all.last().is_some_and(is_last);
    match RequestReader::default().take(&whole) {
        Ok(together) => assert!(is_good && together == all, "{together:?}, {all:?}"),
        Err(_) => assert!(!is_good || is_over, "{all:?}"),
    }
    !all.is_empty()
}

/// The stream with a client's settings, whole and byte by byte.
pub fn web_control(data: &[u8]) -> bool {
    let whole = ControlReader::default().take(data);
    let mut reader = ControlReader::default();
    let mut settings = None;
    for byte in data {
        match reader.take(&[*byte]) {
            Ok(told) => settings = settings.or(told),
            Err(fault) => {
                assert_eq!(whole, Err(fault));
                return settings.is_some();
            }
        }
    }
    assert_eq!(whole, Ok(settings));
    settings.is_some()
}
