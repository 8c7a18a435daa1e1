//! Structures and constants of the header, which documents them. A test compares both.

use std::ffi::{c_char, c_void};
use std::mem::offset_of;

use phaselock::limits::{FIELDS_MAX, GAME_MESSAGE_BYTES_MAX, NAME_BYTES_MAX};

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
}

// The interface's sizes are numbers of their own: they must not change silently with the engine's
// limits. If they no longer fit, raise `PHASELOCK_ABI`.
const _: () = {
    assert!(FIELDS_MAX == PHASELOCK_FIELDS_MAX);
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
