//! Structures and constants of the header, which documents them. A test compares both.

use std::ffi::{c_char, c_void};
use std::mem::offset_of;

use phaselock::invitation::LINK_BYTES_MAX;
use phaselock::limits::{
    ENTITIES_MAX, FIELDS_MAX, GAME_MESSAGE_BYTES_MAX, GAME_SETUP_BYTES_MAX, NAME_BYTES_MAX,
    NOTICES_MAX, REPLAY_KINDS_MAX, SEATS_MAX, TEXT_BYTES_MAX, WATCHERS_MAX,
};

macro_rules! constants {
    ($($name:ident: $type:ty = $value:expr;)+) => {
        $(
            #[allow(missing_docs, reason = "the header documents it")]
            pub const $name: $type = $value;
        )+

        /// All constants of the header, for the test that compares them.
        pub const CONSTANTS: &[(&str, i64)] = &[$((stringify!($name), $name as i64)),+];
    };
}

constants! {
    PHASELOCK_ABI: u32 = 1;
    PHASELOCK_FIELDS_MAX: usize = 20;
    PHASELOCK_NAME_BYTES: usize = 33;
    PHASELOCK_TEXT_BYTES: usize = 2048;
    PHASELOCK_CLIENTS_MAX: usize = 256;
    PHASELOCK_GAMES_MAX: usize = 64;

    PHASELOCK_DESCRIPTION_BYTES_MAX: usize = 1024 * 1024;
    PHASELOCK_WORD_BYTES_MAX: usize = 400;
    PHASELOCK_LINE_BYTES_MAX: usize = 256;
    PHASELOCK_PATH_BYTES_MAX: usize = 4096;
    PHASELOCK_REQUEST_BYTES_MAX: usize = 2040;

    PHASELOCK_KINDS_MAX: usize = 64;
    PHASELOCK_ENTITIES_MAX: usize = 16_384;
    PHASELOCK_PLAYERS_MAX: usize = 1536;
    PHASELOCK_SETUP_BYTES_MAX: usize = 1024;
    PHASELOCK_EVENTS_MAX: usize = 512;

    PHASELOCK_NOBODY: i32 = -1;
    PHASELOCK_INPUT: i32 = -1;

    PHASELOCK_JOINING: i32 = 0;
    PHASELOCK_PLAYING: i32 = 1;
    PHASELOCK_WATCHING: i32 = 2;
    PHASELOCK_WAITING: i32 = 3;
    PHASELOCK_ENDED: i32 = 4;

    PHASELOCK_OWN: u32 = 1;
    PHASELOCK_PREDICTED: u32 = 2;

    PHASELOCK_SELF: u32 = 1;
    PHASELOCK_BOT: u32 = 2;
    PHASELOCK_SPECTATOR: u32 = 4;

    PHASELOCK_JOIN_TO_WATCH: u32 = 1;
    PHASELOCK_PREDICT_KIND: u32 = 2;

    PHASELOCK_EVENT_JOINING: u32 = 1;
    PHASELOCK_EVENT_JOINED: u32 = 2;
    PHASELOCK_EVENT_LOST: u32 = 3;
    PHASELOCK_EVENT_ENDED: u32 = 4;
    PHASELOCK_EVENT_GAME: u32 = 5;
    PHASELOCK_EVENT_MESSAGE: u32 = 6;
    PHASELOCK_EVENT_CHAT: u32 = 7;
    PHASELOCK_EVENT_PLAYER_JOINED: u32 = 8;
    PHASELOCK_EVENT_PLAYER_LEFT: u32 = 9;
    PHASELOCK_EVENT_PLAYER_RENAMED: u32 = 10;
    PHASELOCK_EVENT_REFUSED: u32 = 11;

    PHASELOCK_REFUSED_CHAT: i32 = 2;
    PHASELOCK_REFUSED_REQUEST: i32 = 3;

    PHASELOCK_REASON_LEFT: i32 = 0;
    PHASELOCK_REASON_LOST: i32 = 1;
    PHASELOCK_REASON_SHUTDOWN: i32 = 2;
    PHASELOCK_REASON_DRAINING: i32 = 3;
    PHASELOCK_REASON_FULL: i32 = 4;
    PHASELOCK_REASON_OTHER_WIRE: i32 = 5;
    PHASELOCK_REASON_OTHER_GAME: i32 = 6;
    PHASELOCK_REASON_PROTOCOL: i32 = 7;
    PHASELOCK_REASON_SILENT: i32 = 8;
    PHASELOCK_REASON_NOT_READING: i32 = 9;
    PHASELOCK_REASON_KICKED: i32 = 10;
    PHASELOCK_REASON_REPLACED: i32 = 11;
    PHASELOCK_REASON_BAD_PROOF: i32 = 12;
    PHASELOCK_REASON_BAD_TOKEN: i32 = 13;
    PHASELOCK_REASON_REFUSED: i32 = 14;
    PHASELOCK_REASON_FAILED: i32 = 15;
    PHASELOCK_REASON_NO_ROOM: i32 = 16;
    PHASELOCK_REASON_BANNED: i32 = 17;
    PHASELOCK_REASON_PASSWORD: i32 = 18;
    PHASELOCK_REASON_NOT_LISTED: i32 = 19;
    PHASELOCK_REASON_IDLE: i32 = 20;
    PHASELOCK_REASON_BAD_NAME: i32 = 21;
    PHASELOCK_REASON_FOREIGN_PAGE: i32 = 22;
    PHASELOCK_REASON_OLD_CLIENT: i32 = 23;
}

// The interface's sizes are numbers of their own: they must not change silently with the engine's
// limits. If they no longer fit, raise `PHASELOCK_ABI`.
const _: () = {
    assert!(FIELDS_MAX == PHASELOCK_FIELDS_MAX);
    assert!(REPLAY_KINDS_MAX == PHASELOCK_KINDS_MAX);
    assert!(ENTITIES_MAX as usize == PHASELOCK_ENTITIES_MAX);
    assert!((SEATS_MAX + WATCHERS_MAX) as usize == PHASELOCK_PLAYERS_MAX);
    assert!(GAME_SETUP_BYTES_MAX == PHASELOCK_SETUP_BYTES_MAX);
    assert!(NOTICES_MAX == PHASELOCK_EVENTS_MAX);
    assert!(LINK_BYTES_MAX == PHASELOCK_WORD_BYTES_MAX);
    assert!(TEXT_BYTES_MAX == PHASELOCK_LINE_BYTES_MAX);
    assert!(GAME_MESSAGE_BYTES_MAX == PHASELOCK_REQUEST_BYTES_MAX);
    assert!(NAME_BYTES_MAX < PHASELOCK_NAME_BYTES, "each name has a zero byte after it");
    assert!(GAME_MESSAGE_BYTES_MAX < PHASELOCK_TEXT_BYTES, "so has each message");
};

/// The function with which a program predicts its player.
pub type Predict = unsafe extern "C" fn(*const Step);

/// Size and fields of a structure: name, offset and size of each.
pub type Layout = (&'static str, usize, &'static [(&'static str, usize, usize)]);

macro_rules! structures {
    ($(
        $(#[$outer:meta])+
        struct $name:ident as $c_name:literal { $($field:ident: $type:ty,)+ }
    )+) => {
        $(
            $(#[$outer])+
            #[derive(Clone, Copy, Debug)]
            #[repr(C)]
            #[allow(missing_docs, reason = "the header documents it")]
            pub struct $name {
                $(pub $field: $type,)+
            }
        )+

        /// All structures of the header, for the test that compares them.
        pub const STRUCTURES: &[Layout] = &[$((
            $c_name,
            size_of::<$name>(),
            &[$((stringify!($field), offset_of!($name, $field), size_of::<$type>()),)+],
        ),)+];
    };
}

structures! {
    /// One tick of the player's entity: `phaselock_step`.
    struct Step as "phaselock_step" {
        user: *mut c_void,
        seconds: f64,
        tick: u64,
        seed: u64,
        setup: *const u8,
        setup_length: usize,
        input: *const f64,
        fields: *mut f64,
        kind: u32,
        player: i32,
    }

    /// How to join: `phaselock_options`.
    struct JoinOptions as "phaselock_options" {
        abi: u32,
        flags: u32,
        game: u64,
        server: *const c_char,
        name: *const c_char,
        password: *const c_char,
        room: *const c_char,
        known_hosts: *const c_char,
        key_file: *const c_char,
        predict: Option<Predict>,
        user: *mut c_void,
        own_kind: i32,
        reserved: u32,
    }

    /// An entity: `phaselock_entity`.
    struct ShownEntity as "phaselock_entity" {
        id: u32,
        owner: i32,
        kind: u32,
        flags: u32,
        fields: [f64; PHASELOCK_FIELDS_MAX],
    }

    /// A player or spectator: `phaselock_player`.
    struct ListedPlayer as "phaselock_player" {
        id: i32,
        flags: u32,
        name: [u8; PHASELOCK_NAME_BYTES],
    }

    /// An event: `phaselock_event`.
    struct PolledEvent as "phaselock_event" {
        kind: u32,
        player: i32,
        code: i32,
        length: u32,
        text: [u8; PHASELOCK_TEXT_BYTES],
    }

    /// What a client knows of the world and of its connection: `phaselock_status`.
    #[derive(Default)]
    struct ClientStatus as "phaselock_status" {
        state: i32,
        player: i32,
        tick_hz: u32,
        snapshot_hz: u32,
        seed: u64,
        server_seconds: f64,
        round_trip_ms: f64,
        lead_ms: f64,
        delay_ms: f64,
        loss: f64,
        frames: u64,
        ticks: u64,
        snapshots: u64,
        late_inputs: u64,
        mispredictions: u64,
        unexplained: u64,
    }
}
