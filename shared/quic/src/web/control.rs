//! A client's control stream: its settings, and nothing else of interest.

use std::collections::BTreeMap;

use super::fault::Fault;
use super::frames::{FrameReader, Part, Place, varint};
use super::settings::{
    ENABLE_CONNECT_PROTOCOL, H3_DATAGRAM, H3_DATAGRAM_OLD, WT_INITIAL_MAX_DATA,
    WT_INITIAL_MAX_STREAMS_BIDI, WT_INITIAL_MAX_STREAMS_UNI,
};

/// HTTP/2 settings that must not be sent (RFC 9114, 7.2.4.1 and 11.2.2).
const RESERVED: [u64; 5] = [0, 2, 3, 4, 5];
/// Settings that are on or off.
const SWITCHES: [u64; 3] = [ENABLE_CONNECT_PROTOCOL, H3_DATAGRAM, H3_DATAGRAM_OLD];

/// A client's settings that matter to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientSettings {
    /// Whether the client accepts HTTP/3 datagrams (RFC 9297, 2.1.1).
    pub has_datagrams: bool,
    /// Bytes that the client accepts on all streams of a session until it allows more, if it uses
    /// flow control for sessions (draft-ietf-webtrans-http3-16, 5.1).
    pub data_max: Option<u64>,
}

/// Reads the stream incrementally, from the bytes after its kind. Its memory is bounded.
#[derive(Debug)]
pub struct ControlReader {
    frames: FrameReader,
}

impl Default for ControlReader {
    fn default() -> Self {
        Self { frames: FrameReader::new(Place::ControlStart) }
    }
}

impl ControlReader {
    /// Reads bytes. Returns the settings once they are complete. Must not be called after a fault.
    pub fn take(&mut self, bytes: &[u8]) -> Result<Option<ClientSettings>, Fault> {
        self.frames.feed(bytes);
        let mut settings = None;
        while let Some(part) = self.frames.next()? {
            if let Part::Settings(bytes) = part {
                settings = Some(settings_of(&bytes)?);
            }
        }
        Ok(settings)
    }
}

fn settings_of(mut bytes: &[u8]) -> Result<ClientSettings, Fault> {
    let mut settings = BTreeMap::new();
    while !bytes.is_empty() {
        let (id, value) = (number(&mut bytes)?, number(&mut bytes)?);
        let is_allowed = !RESERVED.contains(&id) && (value <= 1 || !SWITCHES.contains(&id));
        if !is_allowed || settings.insert(id, value).is_some() {
            return Err(Fault::Settings);
        }
    }
    let value = |id: u64| settings.get(&id).copied().unwrap_or_default();
    let limits = [WT_INITIAL_MAX_STREAMS_UNI, WT_INITIAL_MAX_STREAMS_BIDI, WT_INITIAL_MAX_DATA];
    let controls_flow = limits.iter().any(|id| value(*id) > 0);
    Ok(ClientSettings {
        has_datagrams: value(H3_DATAGRAM) == 1 || value(H3_DATAGRAM_OLD) == 1,
        data_max: controls_flow.then(|| value(WT_INITIAL_MAX_DATA)),
    })
}

fn number(bytes: &mut &[u8]) -> Result<u64, Fault> {
    let (number, length) = varint(bytes).ok_or(Fault::Frame)?;
    *bytes = &bytes[length..];
    Ok(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(payload: &[u8]) -> Result<Option<ClientSettings>, Fault> {
        let frame = [&[4, payload.len() as u8][..], payload].concat();
        let mut reader = ControlReader::default();
        let mut settings = None;
        for byte in frame {
            settings = settings.or(reader.take(&[byte])?);
        }
        Ok(settings)
    }

    #[test]
    fn settings_say_whether_there_are_datagrams_and_how_much_may_be_sent() {
        let settings =
            |has_datagrams, data_max| Ok(Some(ClientSettings { has_datagrams, data_max }));
        assert_eq!(read(&[]), settings(false, None));
        assert_eq!(read(&[0x33, 0]), settings(false, None));
        // Chrome's: datagrams under two names, and grease.
        let chrome = [1, 0x80, 1, 0, 0, 0x33, 1, 0x80, 0xff, 0xd2, 0x77, 1, 0x40, 0x40, 5];
        assert_eq!(read(&chrome), settings(true, None));
        // Flow control per stream only: no byte may be sent before a capsule allows it.
        assert_eq!(read(&[0x33, 1, 0x6b, 0x65, 4]), settings(true, Some(0)));
        assert_eq!(read(&[0x33, 1, 0x6b, 0x61, 0x44, 0]), settings(true, Some(1024)));
    }

    #[test]
    fn settings_that_nobody_may_send_are_refused() {
        for reserved in [0, 2, 3, 4, 5] {
            assert_eq!(read(&[reserved, 0]), Err(Fault::Settings), "{reserved}");
        }
        for payload in [&[0x33, 2][..], &[8, 2], &[0x33, 1, 0x33, 1], &[0x21, 1, 0x21, 1]] {
            assert_eq!(read(payload), Err(Fault::Settings), "{payload:?}");
        }
        for payload in [&[0x33][..], &[0x33, 1, 0x80], &[0x33, 0x40]] {
            assert_eq!(read(payload), Err(Fault::Frame), "{payload:?}");
        }
    }
}
