//! Settings of HTTP/3, and those that either side sends.

use web_transport_proto::{Setting, Settings};

use super::qpack::SECTION_BYTES_MAX;

/// Numbers of HTTP/3 settings. Browsers look for that of sessions under one of three names from
/// different drafts: 02, 07, 13 and 15 of draft-ietf-webtrans-http3.
pub(super) const ENABLE_CONNECT_PROTOCOL: u64 = 0x8;
pub(super) const H3_DATAGRAM: u64 = 0x33;
pub(super) const H3_DATAGRAM_OLD: u64 = 0xff_d277;
const WT_MAX_SESSIONS: u64 = 0x14e9_cd29;
const WT_ENABLED: u64 = 0x2c7c_f000;
/// Flow-control limits of a session (draft-ietf-webtrans-http3-16, 9.2).
pub(super) const WT_INITIAL_MAX_DATA: u64 = 0x2b61;
pub(super) const WT_INITIAL_MAX_STREAMS_UNI: u64 = 0x2b64;
pub(super) const WT_INITIAL_MAX_STREAMS_BIDI: u64 = 0x2b65;
/// Limits that are never reached: QUIC's own are far lower, and those count. A client that finds
/// none opens no stream. Both are exact in a 64-bit float.
const STREAMS_MAX: u64 = 1 << 32;
const DATA_MAX: u64 = 1 << 52;

/// Returns the first bytes of either side's control stream: settings, including those of all drafts
/// that browsers and libraries look for.
pub(crate) fn settings() -> Vec<u8> {
    let number = |value: u64| web_transport_proto::VarInt::try_from(value).unwrap_or_default();
    let mut settings = Settings::default();
    settings.enable_webtransport(1);
    for (id, value) in [
        (WT_MAX_SESSIONS, 1),
        (WT_ENABLED, 1),
        (WT_INITIAL_MAX_DATA, DATA_MAX),
        (WT_INITIAL_MAX_STREAMS_UNI, STREAMS_MAX),
        (WT_INITIAL_MAX_STREAMS_BIDI, STREAMS_MAX),
    ] {
        settings.insert(Setting(number(id)), number(value));
    }
    let section_bytes_max = number(SECTION_BYTES_MAX as u64);
    settings.insert(Setting::MAX_FIELD_SECTION_SIZE, section_bytes_max);
    let mut bytes = Vec::new();
    settings.encode(&mut bytes);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::{ClientSettings, ControlReader};

    #[test]
    fn settings_have_all_names_that_clients_look_for() {
        let bytes = settings();
        let decoded = Settings::decode(&mut &*bytes).expect("settings");
        assert_eq!(decoded.supports_webtransport(), 1);
        let value = |id: u64| {
            let id = Setting(web_transport_proto::VarInt::try_from(id).expect("a number"));
            decoded.get(&id).map(|it| it.into_inner())
        };
        for id in [0x8, 0x33, 0xff_d277, 0x2b60_3742, 0xc671_706a, 0x14e9_cd29, 0x2c7c_f000] {
            assert_eq!(value(id), Some(1), "{id:#x}");
        }
        for id in [0x2b61, 0x2b64, 0x2b65] {
            assert!(value(id).is_some_and(|value| value >= 1 << 32), "{id:#x}");
        }
        // The server's own reader accepts them, like those of a client.
        let settings = ControlReader::default().take(&bytes[1..]).expect("allowed");
        let expected = ClientSettings { has_datagrams: true, data_max: Some(DATA_MAX) };
        assert_eq!(settings, Some(expected));
    }
}
