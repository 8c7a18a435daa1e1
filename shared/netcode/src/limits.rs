//! Every bound of the netcode, each with its unit and its reason. `const` assertions at the end tie
//! those together that depend on each other.

use crate::time::{Micros, Rates};

/// Entities in a world. Arbitrary: the wire has 65,536 indices, of which a client's predicted
/// spawns take the last ones.
pub const ENTITIES_MAX: u16 = 16_384;
/// Columns of the table of one kind of entity or of an input: a vector takes several.
pub const FIELDS_MAX: usize = 20;
/// States that an entity is coded from: the baseline and some before it.
pub const REFERENCES_MAX: usize = 5;
/// Bits of one field: those of the integers in which fields travel. An `f32` holds 24 of them.
pub const FIELD_BITS_MAX: u32 = 32;
/// People in a room. Arbitrary.
pub const PLAYERS_MAX: u16 = 1024;
/// Seats of a room for the host's people beside those for everybody, within the limits of the room
/// and of the game. Two, so that one who keeps order can call another.
pub const STAFF_SEATS_MAX: u16 = 2;
/// Bots in a room. Arbitrary.
pub const BOTS_MAX: u16 = 256;
/// Seats in a room: people and bots together.
pub const SEATS_MAX: u16 = PLAYERS_MAX + BOTS_MAX;
/// People who watch a room. Arbitrary; one message names all of them.
pub const WATCHERS_MAX: u16 = 256;
/// Longest time after which watchers see the world. Arbitrary; a minute.
pub const WATCH_DELAY_MAX: Micros = Micros::from_ms(60_000);
/// Bytes of a room's past that watchers have not seen yet. Arbitrary; where more changes in the
/// delay than fits, watchers get snapshots less often.
pub const WATCH_BYTES_MAX: usize = 32 << 20;
/// Events of a game that watchers have not got yet, and their bytes; of more the oldest are lost.
/// Those of the longest delay, if they are short.
pub const WATCH_EVENTS_MAX: usize = 4096;
/// See [`WATCH_EVENTS_MAX`]. Arbitrary; a megabyte.
pub const WATCH_EVENT_BYTES_MAX: usize = 1 << 20;
/// Bytes of a player's name in UTF-8.
pub const NAME_BYTES_MAX: usize = 32;
/// Bytes of any other text in a control message: a reason, a notice, a version.
pub const TEXT_BYTES_MAX: usize = 256;
/// Games that one build may know.
pub const GAMES_MAX: usize = 16;
/// Bytes of one control message.
pub const CONTROL_BYTES_MAX: usize = 2048;
/// Players that one control message tells of.
pub const ROSTER_CHUNK: usize = 40;
/// Colours that a player may choose from. Arbitrary; more could not be told apart.
pub const COLORS: u8 = 12;
/// Markings that a player may choose from. Arbitrary.
pub const PATTERNS: u8 = 8;
/// Quick messages, whose words are the clients' own. Arbitrary.
pub const QUICK_MESSAGES_MAX: u8 = 32;
/// Kinds of marks on the map. Arbitrary.
pub const MARK_KINDS: u8 = 4;
/// Greatest coordinate of a mark in 1/64 of a metre: 16 km, more than any map. Arbitrary.
pub const MARK_UNITS_MAX: u32 = 1 << 20;
/// Commands that a server tells a player of, and the bytes of a name and a usage.
pub const COMMANDS_MAX: usize = 32;
/// See [`COMMANDS_MAX`].
pub const COMMAND_BYTES_MAX: usize = 24;
/// See [`COMMANDS_MAX`].
pub const USAGE_BYTES_MAX: usize = 36;
/// Bytes of a room's code. Arbitrary; what one can say over a telephone.
pub const ROOM_CODE_BYTES_MAX: usize = 32;
/// Rooms of one server. Arbitrary.
pub const ROOMS_MAX: u16 = 256;
/// Rooms that a status tells of.
pub const ROOMS_LISTED_MAX: usize = 16;
/// Bytes of a question for a server's status, and of its answer at most: what passes any network
/// whole.
pub const QUESTION_BYTES: usize = 1200;
/// Bytes of an announcement to a directory: one with the certificate of an authority may travel in
/// two fragments.
pub const ANNOUNCEMENT_BYTES_MAX: usize = 2048;
/// Bytes of a certificate in it, which leaves room for the longest signature in use.
pub const ANNOUNCED_CERTIFICATE_BYTES_MAX: usize = 1400;
/// Bytes of a signature: RSA's with 4096 bits.
pub const ANNOUNCED_SIGNATURE_BYTES_MAX: usize = 512;
/// Servers of one page of a directory: more than fit into [`QUESTION_BYTES`].
pub const DIRECTORY_PAGE_MAX: usize = 32;
/// Control messages that wait for a client before it is disconnected.
pub const CONTROL_QUEUE_MAX: usize = 1024;

/// Bytes of a datagram: QUIC's least UDP payload of 1200 bytes (RFC 9000, 14.1) less a short
/// header, the longest packet number, the authentication tag and the frame header.
pub const DATAGRAM_BYTES_MAX: usize = 1150;
/// Fewest bytes of a datagram: a snapshot's header and one entity.
pub const DATAGRAM_BYTES_MIN: usize = 256;
/// Packets of one snapshot; what does not fit waits for the next one.
pub const SNAPSHOT_PACKETS_MAX: usize = 8;
/// Bytes that a client's snapshot may always take, so that clocks keep running.
pub const SNAPSHOT_BYTES_MIN: usize = DATAGRAM_BYTES_MIN;
/// Bytes of snapshots that may go out at once beyond a client's rate: all packets of one, as where
/// they are rare.
pub const SNAPSHOT_BURST_BYTES: usize = SNAPSHOT_PACKETS_MAX * DATAGRAM_BYTES_MAX;
/// The same for the first snapshot, before anything is known of the path. Arbitrary; four packets.
pub const SNAPSHOT_FIRST_BYTES: usize = 4 * DATAGRAM_BYTES_MAX;
/// Default bytes of snapshots a second for one client: half a megabit, twice what 64 players in
/// sight take.
pub const CLIENT_BYTES_DEFAULT: u32 = 64_000;
/// Least setting of that: about [`SNAPSHOT_BYTES_MIN`] a snapshot at 30 Hz.
pub const CLIENT_BYTES_MIN: u32 = 8_000;
/// Greatest setting. Arbitrary; 80 megabits.
pub const CLIENT_BYTES_MAX: u32 = 10_000_000;
/// Greatest weight of an entity, that of a player's own. Arbitrary; light entities wait longer with
/// it.
pub const WEIGHT_MAX: u16 = 64;
/// Entities in one packet.
pub const PACKET_ENTITIES_MAX: usize = 1024;
/// Ticks that a game extrapolates; beyond them the field table does. Half a second at 60 Hz: longer
/// extrapolations are seldom right, and packets must be cheap to read.
pub const EXTRAPOLATION_TICKS_MAX: u64 = 32;
/// Age in ticks at which a baseline is no longer used; the wire carries it in 8 bits.
pub const BASELINE_AGE_TICKS_MAX: u64 = 240;
/// Sent packets that the server remembers for a client's acknowledgements: eight seconds of single
/// packets at the fastest rate, two of eight packets at 60 Hz.
pub const SENT_PACKETS_MAX: usize = 1024;
/// Time for which a client is told of an entity that is no longer near. Arbitrary.
pub const LINGER: Micros = Micros::from_ms(500);

/// Bytes that reading a message may allocate for each byte of it, besides [`DECODE_BYTES_BASE`],
/// freed ones included. A game of a hello needs most: 2 bytes on the wire and 32 in memory.
pub const DECODE_BYTES_PER_BYTE: usize = 128;
/// The same for a snapshot packet and its storage. An entity's end needs most: half a byte on the
/// wire.
pub const DECODE_SNAPSHOT_BYTES_PER_BYTE: usize = 1536;
/// See [`DECODE_BYTES_PER_BYTE`].
pub const DECODE_BYTES_BASE: usize = 1024;

/// Inputs in one packet; at 128 Hz half a second.
pub const PACKET_INPUTS_MAX: usize = 64;
/// Ticks that a client may predict ahead of the newest snapshot; then its player stands still.
pub const PREDICTION_TICKS_MAX: u64 = 192;
/// Ticks ahead of the server's at which an input is refused.
pub const INPUT_AHEAD_TICKS_MAX: u64 = 128;
/// Ticks that a server or a client runs at once to catch up after a stall; the rest are dropped.
pub const CATCH_UP_TICKS_MAX: u64 = 16;
/// Input packets a client may send for each tick on average before the rest are dropped unread.
pub const INPUT_PACKETS_PER_TICK_MAX: u64 = 3;

/// Slots for a client's predicted spawns, beyond those of the world. Arbitrary: as many as a player
/// can spawn in [`PREDICTION_TICKS_MAX`] and [`PREDICTED_SPAWN_GRACE`].
pub const PREDICTED_SPAWNS_MAX: u16 = 1024;
/// Index of the first of these slots.
pub const PREDICTED_SPAWN_INDEX_MIN: u16 = u16::MAX - PREDICTED_SPAWNS_MAX + 1;
/// Time for which a predicted spawn waits for the server's: a lost packet is made up for within
/// three snapshots.
pub const PREDICTED_SPAWN_GRACE: Micros = Micros::from_ms(250);
/// Time for which an entity is co-predicted after the game last asked for it. Arbitrary.
pub const CO_PREDICTION_LINGER: Micros = Micros::from_ms(500);
/// Entities that a client co-predicts at a time, the first in the world's order. Arbitrary.
pub const CO_PREDICTED_MAX: usize = 64;
/// Tracks of one entity, ended by teleports, that wait to be shown: those of the greatest
/// interpolation delay at a teleport every 60 ms.
pub const ENTITY_TRACKS_MAX: usize = 8;

/// Greatest interpolation delay, or two intervals of snapshots, if these are longer. The least is
/// one.
pub const INTERPOLATION_DELAY_MAX: Micros = Micros::from_ms(500);
/// Greatest rewind for a shot. Arbitrary: with more, targets would feel hit through walls.
pub const REWIND_MAX: Micros = Micros::from_ms(500);
/// Shots tested against the past that wait to be fetched. Arbitrary: two ticks in which 128
/// players shoot.
pub const REWOUND_MAX: usize = 256;
/// Greatest lag of a player's own time behind the world's where late inputs are waited for. It
/// bridges a short stall, and bounds the move by held-back inputs. Arbitrary to a tenth.
pub const OWN_TIME_BEHIND_MAX: Micros = Micros::from_ms(250);
/// Time for which a player may stay connected without a valid input: a machine may sleep for ten
/// seconds.
pub const SILENCE_MAX: Micros = Micros::from_ms(15_000);

/// Longest time for which a seat is kept. Arbitrary; an hour.
pub const RESUME_MAX: Micros = Micros::from_ms(3_600_000);
/// Default of [`RESUME_MAX`]'s setting: a router restarts, a phone changes its network.
pub const RESUME_DEFAULT: Micros = Micros::from_ms(30_000);
/// Events that wait for a room's host; the oldest are lost first. Arbitrary.
pub const ROOM_EVENTS_MAX: usize = 4096;
/// Bytes of one message of a game, which fits into a control message.
pub const GAME_MESSAGE_BYTES_MAX: usize = CONTROL_BYTES_MAX - 8;
/// Bytes of the configuration of a game's rules, in postcard: half a control message.
pub const GAME_SETUP_BYTES_MAX: usize = CONTROL_BYTES_MAX / 2;
/// Events of a game at once, whoever gets them. Arbitrary.
pub const GAME_EVENTS_BURST: u32 = 256;
/// Events of a game a second on average. Arbitrary; snapshots carry what happens all the time.
pub const GAME_EVENTS_PER_SECOND: u32 = 64;

/// Reports of a game to the host in one tick. Arbitrary.
pub const GAME_REPORTS_MAX: usize = 512;

/// Notices that wait for a player; the oldest are lost first. Arbitrary.
pub const NOTICES_MAX: usize = 512;
/// States of the own motion that wait to be fetched: half a minute at 128 Hz.
pub const MOTION_MAX: usize = 4096;
/// Entries of a session's recording that wait to be fetched: some minutes of play.
pub const FED_MAX: usize = 1 << 16;

const _: () = {
    assert!(NOTICES_MAX >= (GAME_EVENTS_BURST + 2 * GAME_EVENTS_PER_SECOND) as usize);
    assert!(BASELINE_AGE_TICKS_MAX < 256, "the age of a baseline travels in 8 bits");
    assert!(REWIND_MAX.0 < 1_000_000, "a ring of ticks holds less than a second");
    assert!(
        OWN_TIME_BEHIND_MAX.0 as u64 * Rates::TICK_HZ_MAX as u64 / 1_000_000
            < INPUT_AHEAD_TICKS_MAX,
        "own time is closer to the world's than inputs may be ahead"
    );
    assert!(PREDICTION_TICKS_MAX <= BASELINE_AGE_TICKS_MAX);
    assert!(INPUT_AHEAD_TICKS_MAX >= PREDICTION_TICKS_MAX / 2);
    assert!(PACKET_INPUTS_MAX < 128, "the count of inputs travels in 7 bits");
    assert!(DATAGRAM_BYTES_MIN < DATAGRAM_BYTES_MAX && DATAGRAM_BYTES_MAX <= 1200);
    assert!(SNAPSHOT_BURST_BYTES >= DATAGRAM_BYTES_MAX + SNAPSHOT_BYTES_MIN);
    assert!(CONTROL_BYTES_MAX < 1 << 16, "the length of a control message travels in 16 bits");
    assert!(
        ANNOUNCED_CERTIFICATE_BYTES_MAX + ANNOUNCED_SIGNATURE_BYTES_MAX + 100
            <= ANNOUNCEMENT_BYTES_MAX
    );
    assert!(QUESTION_BYTES < DIRECTORY_PAGE_MAX * 41, "a page holds fewer servers than that");
    assert!(GAMES_MAX * (NAME_BYTES_MAX + 9) + 2 * TEXT_BYTES_MAX < CONTROL_BYTES_MAX);
    assert!(
        ROOMS_LISTED_MAX * (ROOM_CODE_BYTES_MAX + NAME_BYTES_MAX + 11)
            + 2 * TEXT_BYTES_MAX
            + NAME_BYTES_MAX
            + 40
            < CONTROL_BYTES_MAX,
        "the status fits a control message"
    );
    assert!(ROOMS_MAX < 1 << 12, "a resume token has 12 bits for its room");
    assert!(GAME_SETUP_BYTES_MAX + TEXT_BYTES_MAX + NAME_BYTES_MAX + 100 < CONTROL_BYTES_MAX);
    assert!(
        (Rates::TICK_HZ_MAX / Rates::SNAPSHOT_HZ_MIN * 2 + Rates::TICK_HZ_MAX / 2) as u64
            <= PREDICTION_TICKS_MAX,
        "prediction bridges a lost snapshot, and half a second of way and lead, at any rates"
    );
    assert!(ENTITIES_MAX <= PREDICTED_SPAWN_INDEX_MIN, "the world leaves room for them");
    assert!(SEATS_MAX <= ENTITIES_MAX, "everybody has a place in the world");
    assert!(
        (SEATS_MAX + WATCHERS_MAX) as usize / ROSTER_CHUNK + 5 <= CONTROL_QUEUE_MAX,
        "a newcomer is told of everybody at once"
    );
    assert!(WATCHERS_MAX as usize * 3 + 8 <= CONTROL_BYTES_MAX, "a message names all watchers");
    assert!(
        GAME_EVENTS_BURST as i64 + GAME_EVENTS_PER_SECOND as i64 * WATCH_DELAY_MAX.0 / 1_000_000
            <= WATCH_EVENTS_MAX as i64,
        "watchers get all events"
    );
    assert!(ROSTER_CHUNK * (NAME_BYTES_MAX + 18) + 8 <= CONTROL_BYTES_MAX);
    assert!(COMMANDS_MAX * (COMMAND_BYTES_MAX + USAGE_BYTES_MAX + 2) + 8 <= CONTROL_BYTES_MAX);
    assert!(FIELDS_MAX * FIELD_BITS_MAX as usize / 8 + 64 <= DATAGRAM_BYTES_MIN);
    assert!(
        PREDICTION_TICKS_MAX >= Rates::TICK_HZ_MAX as u64,
        "a second of prediction at any rate"
    );
};
