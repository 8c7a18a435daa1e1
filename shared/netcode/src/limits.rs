//! Limits of the netcode, each with its unit and reason. `const` assertions at the end check limits
//! that depend on each other.

use crate::time::{Micros, Rates};

/// The maximum number of entities in a world. Arbitrary: the wire has 65,536 indices, the last of
/// which are for predicted spawns.
pub const ENTITIES_MAX: u16 = 16_384;
/// The maximum number of columns in the field table of an entity or an input. A vector takes
/// several.
pub const FIELDS_MAX: usize = 20;
/// The maximum number of states that an entity is coded from: the baseline and some older ones.
pub const REFERENCES_MAX: usize = 5;
/// The maximum bits of a field, which travels as a 32-bit integer. An `f32` holds 24 of them.
pub const FIELD_BITS_MAX: u32 = 32;
/// The maximum number of people who play in a room. Arbitrary.
pub const PLAYERS_MAX: u16 = 1024;
/// The maximum number of seats in a room that are reserved for staff, within the limits of the room
/// and the game. Two, so that one moderator can call another.
pub const STAFF_SEATS_MAX: u16 = 2;
/// The maximum number of bots in a room. Arbitrary.
pub const BOTS_MAX: u16 = 256;
/// The maximum number of seats in a room, for people and bots together.
pub const SEATS_MAX: u16 = PLAYERS_MAX + BOTS_MAX;
/// The maximum number of spectators in a room. Arbitrary; one message names all of them.
pub const WATCHERS_MAX: u16 = 256;
/// The longest delay of spectators. Arbitrary; a minute.
pub const WATCH_DELAY_MAX: Micros = Micros::from_ms(60_000);
/// Maximum size of a room's past that is kept for spectators, in bytes. Arbitrary; if more changes
/// during the delay, spectators get snapshots less often.
pub const WATCH_BYTES_MAX: usize = 32 << 20;
/// The maximum number of a game's events that are waiting for spectators; beyond that the oldest
/// are dropped. Enough for the longest delay if events are short.
pub const WATCH_EVENTS_MAX: usize = 4096;
/// Maximum total size of a game's events that are waiting for spectators, in bytes. Arbitrary; a
/// megabyte.
pub const WATCH_EVENT_BYTES_MAX: usize = 1 << 20;
/// Maximum length of a player's name, in bytes of UTF-8.
pub const NAME_BYTES_MAX: usize = 32;
/// Maximum length of a server's password, in bytes. Arbitrary.
pub const PASSWORD_BYTES_MAX: usize = 64;
/// Maximum length of other texts in a control message, in bytes: a reason, a notice, a version.
pub const TEXT_BYTES_MAX: usize = 256;
/// The maximum number of games in one build.
pub const GAMES_MAX: usize = 16;
/// Maximum size of a control message, in bytes.
pub const CONTROL_BYTES_MAX: usize = 2048;
/// Maximum size of a transfer ticket in bytes. Arbitrary; one with the longest names and a score of
/// ten fields has about 300.
pub const TICKET_BYTES_MAX: usize = 512;
/// The maximum number of kinds of entities whose fields a transferred player takes along.
/// Arbitrary.
pub const TRANSFER_KINDS_MAX: usize = 8;
/// The maximum number of players in one control message.
pub const ROSTER_CHUNK: usize = 40;
/// Number of colours that a player can choose. Arbitrary; more would be hard to tell apart.
pub const COLORS: u8 = 12;
/// Number of patterns that a player can choose. Arbitrary.
pub const PATTERNS: u8 = 8;
/// Number of quick messages, whose words each client chooses. Arbitrary.
pub const QUICK_MESSAGES_MAX: u8 = 32;
/// Number of kinds of marks on the map. Arbitrary.
pub const MARK_KINDS: u8 = 4;
/// The maximum coordinate of a mark in 1/64 metres: 16 km, more than any map. Arbitrary.
pub const MARK_UNITS_MAX: u32 = 1 << 20;
/// The maximum number of commands that a server lists for a player.
pub const COMMANDS_MAX: usize = 32;
/// Maximum length of a command's name, in bytes.
pub const COMMAND_BYTES_MAX: usize = 24;
/// Maximum length of a command's usage, in bytes.
pub const USAGE_BYTES_MAX: usize = 36;
/// Maximum length of a room's code, in bytes. Arbitrary; short enough to dictate by telephone.
pub const ROOM_CODE_BYTES_MAX: usize = 32;
/// The maximum number of rooms on one server. Arbitrary.
pub const ROOMS_MAX: u16 = 256;
/// The maximum number of rooms in a status.
pub const ROOMS_LISTED_MAX: usize = 16;
/// Size of a status query in bytes, and maximum size of its answer: what passes through any network
/// unfragmented.
pub const QUESTION_BYTES: usize = 1200;
/// Maximum size of an announcement to a directory, in bytes. With a CA-signed certificate it
/// may be sent as two fragments.
pub const ANNOUNCEMENT_BYTES_MAX: usize = 2304;
/// Maximum length of a directory's address in an announcement, in bytes: the longest name that DNS
/// has, a colon, and a port.
pub const DIRECTORY_NAME_BYTES_MAX: usize = 260;
/// Maximum size of a certificate in an announcement in bytes, which leaves space for the longest
/// signature in use.
pub const ANNOUNCED_CERTIFICATE_BYTES_MAX: usize = 1400;
/// Maximum size of a signature in an announcement in bytes: RSA with 4096 bits.
pub const ANNOUNCED_SIGNATURE_BYTES_MAX: usize = 512;
/// The maximum number of servers in a page of a directory; more than fit into [`QUESTION_BYTES`].
pub const DIRECTORY_PAGE_MAX: usize = 32;
/// Maximum length of a region's name, in bytes.
pub const REGION_BYTES_MAX: usize = 32;
/// The maximum number of regions whose pings a player tells a directory.
pub const REGIONS_MAX: usize = 8;
/// The maximum number of certificates for browsers that a server names in its status: the one in
/// force and the next one.
pub const WEB_HASHES_MAX: usize = 2;
/// Maximum length of the host that a server names in its status, in bytes.
pub const WEB_HOST_BYTES_MAX: usize = 64;
/// Length of a party's code, in letters.
pub const PARTY_CODE_LETTERS: usize = 6;
/// The maximum number of people in a party. Arbitrary.
pub const PARTY_MAX: u16 = 64;
/// The maximum number of control messages queued for a client before it is disconnected.
pub const CONTROL_QUEUE_MAX: usize = 1024;

/// Maximum size of a datagram in bytes: QUIC's minimum UDP payload of 1200 bytes (RFC 9000, 14.1)
/// minus a short header, the longest packet number, the authentication tag and the frame header.
pub const DATAGRAM_BYTES_MAX: usize = 1150;
/// The minimum for a path's datagram size: a snapshot's header and one entity.
pub const DATAGRAM_BYTES_MIN: usize = 256;
/// The maximum number of packets in one snapshot; what does not fit waits for the next one.
pub const SNAPSHOT_PACKETS_MAX: usize = 8;
/// Bytes that a client's snapshot may always use, so that clocks keep running.
pub const SNAPSHOT_BYTES_MIN: usize = DATAGRAM_BYTES_MIN;
/// The maximum burst of snapshot bytes beyond a client's rate: all packets of one snapshot, for
/// rooms with rare snapshots.
pub const SNAPSHOT_BURST_BYTES: usize = SNAPSHOT_PACKETS_MAX * DATAGRAM_BYTES_MAX;
/// The maximum number of snapshot bytes in flight at first, before anything is known about the
/// path: one packet, which takes 0.15 s at 64 kbit/s.
pub const SNAPSHOT_FIRST_BYTES: usize = DATAGRAM_BYTES_MAX;
/// Default rate of snapshots for one client in bytes per second: half a megabit, twice what 64
/// players in sight need.
pub const CLIENT_BYTES_DEFAULT: u32 = 64_000;
/// Minimum setting for a client's rate of snapshots in bytes per second: about
/// [`SNAPSHOT_BYTES_MIN`] per snapshot at 30 Hz.
pub const CLIENT_BYTES_MIN: u32 = 8_000;
/// Maximum setting for a client's rate of snapshots in bytes per second. Arbitrary; 80 megabits.
pub const CLIENT_BYTES_MAX: u32 = 10_000_000;
/// The maximum weight of an entity, which a player's own entities have. Arbitrary; with a higher
/// one, light entities wait longer.
pub const WEIGHT_MAX: u16 = 64;
/// The maximum number of entities in one packet.
pub const PACKET_ENTITIES_MAX: usize = 1024;
/// The maximum number of ticks that a game extrapolates; beyond that the field table does. Half a
/// second at 60 Hz: longer extrapolations are seldom right, and packets must be cheap to decode.
pub const EXTRAPOLATION_TICKS_MAX: u64 = 32;
/// The maximum number of ticks for which a snapshot says how a player will steer; no client
/// extrapolates further.
pub const EARLY_TICKS_MAX: u64 = EXTRAPOLATION_TICKS_MAX;
/// The longest way of a snapshot to its client that early steering makes up for: about that to the
/// far side of the Earth. A client that holds back its acknowledgements to be told more gains at
/// most this.
pub const EARLY_WAY_MAX: Micros = Micros::from_ms(100);
/// The maximum number of changes of an entity's steering within these ticks. Arbitrary: fingers
/// change few keys in so short a time, and a mouse that moves in each tick costs no more than this.
pub const EARLY_CHANGES_MAX: usize = 8;
/// The maximum age of a baseline in ticks. The wire carries it in 8 bits.
pub const BASELINE_AGE_TICKS_MAX: u64 = 240;
/// Number of sent packets that the server remembers for a client's acknowledgements: eight seconds
/// of single packets at the highest rate, two of eight packets at 60 Hz.
pub const SENT_PACKETS_MAX: usize = 1024;
/// How long an entity is still sent after it is no longer near. Arbitrary.
pub const LINGER: Micros = Micros::from_ms(500);

/// Maximum number of bytes that decoding a message may allocate per encoded byte, on top of
/// [`DECODE_BYTES_BASE`]; freed memory counts. A hello's list of games needs most: 2 bytes per game
/// on the wire and 32 in memory.
pub const DECODE_BYTES_PER_BYTE: usize = 128;
/// Maximum number of bytes that decoding and storing a snapshot packet may allocate per encoded
/// byte. A despawn needs most: it is half a byte on the wire.
pub const DECODE_SNAPSHOT_BYTES_PER_BYTE: usize = 1536;
/// Bytes that decoding may allocate regardless of length; see [`DECODE_BYTES_PER_BYTE`].
pub const DECODE_BYTES_BASE: usize = 1024;

/// The maximum number of inputs in one packet; half a second at 128 Hz.
pub const PACKET_INPUTS_MAX: usize = 64;
/// The maximum number of ticks that a client predicts beyond the newest snapshot; then its player
/// stands still.
pub const PREDICTION_TICKS_MAX: u64 = 192;
/// The maximum input delay that a player may choose, in ticks: a twentieth of a second at 60 Hz.
/// Arbitrary; players of fighting games use up to four frames.
pub const INPUT_DELAY_TICKS_MAX: u8 = 3;
/// The maximum number of ticks that an input may be ahead of the server's tick.
pub const INPUT_AHEAD_TICKS_MAX: u64 = 128;
/// The maximum number of ticks that a server or client runs at once to catch up after a stall; the
/// rest are skipped.
pub const CATCH_UP_TICKS_MAX: u64 = 16;
/// Average number of input packets per tick that a client may send; more are dropped unread.
pub const INPUT_PACKETS_PER_TICK_MAX: u64 = 3;

/// Number of slots for a client's predicted spawns, above those of the world. Arbitrary: as many as
/// a player can spawn in [`PREDICTION_TICKS_MAX`] and [`PREDICTED_SPAWN_GRACE`].
pub const PREDICTED_SPAWNS_MAX: u16 = 1024;
/// Index of the first slot for predicted spawns.
pub const PREDICTED_SPAWN_INDEX_MIN: u16 = u16::MAX - PREDICTED_SPAWNS_MAX + 1;
/// How long a predicted spawn waits for the server's entity. A lost packet is repaired within three
/// snapshots.
pub const PREDICTED_SPAWN_GRACE: Micros = Micros::from_ms(250);
/// How long an entity is co-predicted after the game last asked for it. Arbitrary.
pub const CO_PREDICTION_LINGER: Micros = Micros::from_ms(500);
/// The maximum number of entities that a client co-predicts at a time, the first in the world's
/// order. Arbitrary.
pub const CO_PREDICTED_MAX: usize = 64;
/// The maximum number of tracks of one entity, ended by teleports, that are waiting to be shown:
/// enough for the longest interpolation delay with a teleport every 60 ms.
pub const ENTITY_TRACKS_MAX: usize = 8;

/// The maximum interpolation delay, or two snapshot intervals if that is longer. The minimum is one
/// interval.
pub const INTERPOLATION_DELAY_MAX: Micros = Micros::from_ms(500);
/// The maximum rewind for a shot. Arbitrary: with more, targets would feel hit through walls.
pub const REWIND_MAX: Micros = Micros::from_ms(500);
/// The maximum number of rewound shots waiting to be fetched. Arbitrary: two ticks in which 128
/// players shoot.
pub const REWOUND_MAX: usize = 256;
/// How long a client remembers what it received, if it is asked to: the seconds that a kill replay
/// shows, and the longest rewind.
pub const RECOLLECTION: Micros = Micros::from_ms(3_000);
/// The maximum number of states that a client remembers: 64 entities at 60 snapshots a second for
/// longer than that.
pub const RECOLLECTION_STATES_MAX: usize = 16_384;
/// The maximum number of shots of a recording that are explained. Arbitrary: half an hour of 64
/// players takes 2 MB.
pub const SHOTS_MAX: usize = 16_384;
/// The maximum lag of a player's own time behind the world's, in games that wait for late inputs.
/// It bridges a short stall and limits what a player gains by holding back inputs. The exact value
/// is arbitrary.
pub const OWN_TIME_BEHIND_MAX: Micros = Micros::from_ms(250);
/// How long a player stays connected without a valid input. A machine may sleep for ten seconds.
pub const SILENCE_MAX: Micros = Micros::from_ms(15_000);

/// The longest setting for how long a seat is kept after a disconnect. Arbitrary; an hour.
pub const RESUME_MAX: Micros = Micros::from_ms(3_600_000);
/// Default time that a seat is kept: a router restarts, or a phone changes its network.
pub const RESUME_DEFAULT: Micros = Micros::from_ms(30_000);
/// The maximum number of events waiting for a room's host; beyond that the oldest are dropped.
/// Arbitrary.
pub const ROOM_EVENTS_MAX: usize = 4096;
/// Maximum size of a game's message in bytes, which must fit into a control message.
pub const GAME_MESSAGE_BYTES_MAX: usize = CONTROL_BYTES_MAX - 8;
/// Maximum size of the configuration of a game's rules in bytes of postcard: half a control
/// message.
pub const GAME_SETUP_BYTES_MAX: usize = CONTROL_BYTES_MAX / 2;
/// The maximum number of a game's events at once, to all players together. Arbitrary.
pub const GAME_EVENTS_BURST: u32 = 256;
/// The maximum number of a game's events per second on average. Arbitrary; frequent changes belong
/// in snapshots.
pub const GAME_EVENTS_PER_SECOND: u32 = 64;

/// The maximum number of a game's reports to the host in one tick. Arbitrary.
pub const GAME_REPORTS_MAX: usize = 512;

/// The maximum number of notices waiting for a player; beyond that the oldest are dropped.
/// Arbitrary.
pub const NOTICES_MAX: usize = 512;
/// The maximum number of recorded motion states waiting to be fetched: half a minute at 128 Hz.
pub const MOTION_MAX: usize = 4096;
/// The maximum number of entries of a session's recording waiting to be fetched: some minutes of
/// play.
pub const RECORDED_INPUTS_MAX: usize = 1 << 16;

/// The maximum number of kinds of entities in a recording. Arbitrary; a snapshot has 32 at most.
pub const REPLAY_KINDS_MAX: usize = 64;
/// Maximum length of the name of a record, a field or a game in a recording, in bytes. Arbitrary.
pub const REPLAY_NAME_BYTES_MAX: usize = 64;
/// The maximum constant rate of change of a field in a recording, in its units per second.
/// Arbitrary.
pub const REPLAY_RATE_MAX: f32 = 1e6;
/// Maximum size of a block of a recording in bytes. Arbitrary; a chunk of 64 players has 50,000.
pub const REPLAY_BLOCK_BYTES_MAX: usize = 16 << 20;
/// Maximum size of the start of a recording in bytes: the header, with the tables of
/// [`REPLAY_KINDS_MAX`] kinds and a full room.
pub const REPLAY_HEADER_BYTES_MAX: usize = 256 << 10;
/// The maximum number of chunks in a recording: a fortnight.
pub const REPLAY_CHUNKS_MAX: usize = 1 << 17;
/// The maximum number of ticks in a chunk. Arbitrary; half a minute at 128 Hz.
pub const REPLAY_CHUNK_TICKS_MAX: u32 = 4096;
/// The maximum number of entity states, players and their steps in a chunk. Arbitrary: decoded,
/// they take at most 150 MB. A world with more ends its chunks earlier.
pub const REPLAY_CHUNK_STATES_MAX: usize = 1 << 20;
/// The maximum number of entries between the ticks of a chunk. Arbitrary; 64 players who each send
/// ten requests a second make 6,400.
pub const REPLAY_ENTRIES_MAX: usize = 1 << 16;
/// Maximum size of what happened between the ticks of a chunk, and of a game's memory, in bytes.
/// Arbitrary.
pub const REPLAY_ENTRY_BYTES_MAX: usize = 4 << 20;
/// The maximum number of ticks before a key frame whose states are stored, for rewinding.
pub const REPLAY_PAST_MAX: usize = 100;
/// The maximum number of finished pieces of a recording waiting to be fetched. Arbitrary.
pub const REPLAY_PIECES_MAX: usize = 16;
/// How much of a session a client keeps in memory for saving, if enabled.
pub const LAST_MINUTES: Micros = Micros::from_ms(600_000);
/// Maximum size of that in memory, in bytes: ten minutes with 64 players take half of it.
pub const LAST_MINUTES_BYTES_MAX: usize = 8 << 20;
/// The maximum number and size of news that a client keeps until the tick to which they belong is
/// recorded, half a second later. Arbitrary.
pub const FOOTAGE_NEWS_MAX: usize = 1024;
/// See [`FOOTAGE_NEWS_MAX`].
pub const FOOTAGE_NEWS_BYTES_MAX: usize = 1 << 20;
/// Maximum duration of a run that is kept as a ghost, in seconds: the longest race.
pub const RUN_SECS_MAX: u32 = 300;
/// The maximum number of states in a run: 20 a second for [`RUN_SECS_MAX`], and a few more where
/// the tick rate is no multiple of that.
pub const RUN_SAMPLES_MAX: usize = 12_000;
/// Maximum size of a run in bytes for each minute that it has begun. A lap takes a fifth of it.
pub const RUN_MINUTE_BYTES_MAX: usize = 30_000;
/// Maximum size of a run in bytes.
pub const RUN_BYTES_MAX: usize = 60_000;
/// Bytes of a run that a client is sent at a time.
pub const RUN_PART_BYTES: usize = 1024;
/// Maximum number of ghosts that a client is offered.
pub const GHOSTS_MAX: usize = 16;
/// The maximum number of moments that are found in a recording. Arbitrary: more than a bar on a
/// screen has pixels.
pub const MOMENTS_MAX: usize = 4096;

const _: () = {
    assert!(
        REWIND_MAX.0 as usize * Rates::TICK_HZ_MAX as usize / 1_000_000 + 2 < REPLAY_PAST_MAX,
        "a key frame holds the longest past"
    );
    assert!(NOTICES_MAX >= (GAME_EVENTS_BURST + 2 * GAME_EVENTS_PER_SECOND) as usize);
    assert!(BASELINE_AGE_TICKS_MAX < 256, "the age of a baseline is sent in 8 bits");
    assert!(EARLY_TICKS_MAX <= u8::MAX as u64, "ticks of early steering are kept in a byte");
    assert!(REWIND_MAX.0 < 1_000_000, "a ring of ticks holds less than a second");
    assert!(
        OWN_TIME_BEHIND_MAX.0 as u64 * Rates::TICK_HZ_MAX as u64 / 1_000_000
            < INPUT_AHEAD_TICKS_MAX,
        "a player's own time lags less than inputs may be ahead"
    );
    assert!(PREDICTION_TICKS_MAX <= BASELINE_AGE_TICKS_MAX);
    assert!(PREDICTION_TICKS_MAX <= u8::MAX as u64, "a snapshot counts assumed ticks in a byte");
    assert!(INPUT_AHEAD_TICKS_MAX >= PREDICTION_TICKS_MAX / 2);
    assert!(PACKET_INPUTS_MAX < 128, "the count of inputs is sent in 7 bits");
    assert!(DATAGRAM_BYTES_MIN < DATAGRAM_BYTES_MAX && DATAGRAM_BYTES_MAX <= 1200);
    assert!(SNAPSHOT_BURST_BYTES >= DATAGRAM_BYTES_MAX + SNAPSHOT_BYTES_MIN);
    assert!(CONTROL_BYTES_MAX < 1 << 16, "the length of a control message is sent in 16 bits");
    assert!(
        ANNOUNCED_CERTIFICATE_BYTES_MAX
            + ANNOUNCED_SIGNATURE_BYTES_MAX
            + DIRECTORY_NAME_BYTES_MAX
            + 100
            <= ANNOUNCEMENT_BYTES_MAX
    );
    assert!(
        QUESTION_BYTES < DIRECTORY_PAGE_MAX * 41,
        "a page holds fewer servers than the maximum"
    );
    assert!(GAMES_MAX * (NAME_BYTES_MAX + 9) + 2 * TEXT_BYTES_MAX < CONTROL_BYTES_MAX);
    assert!(
        2 * TEXT_BYTES_MAX + TICKET_BYTES_MAX + 60 < CONTROL_BYTES_MAX,
        "a goodbye with a ticket fits into a control message"
    );
    assert!(
        ROOMS_LISTED_MAX * (ROOM_CODE_BYTES_MAX + NAME_BYTES_MAX + 11)
            + 2 * TEXT_BYTES_MAX
            + NAME_BYTES_MAX
            + 40
            < CONTROL_BYTES_MAX,
        "a status fits into a control message"
    );
    assert!(ROOMS_MAX < 1 << 12, "a resume token has 12 bits for its room");
    assert!(GAME_SETUP_BYTES_MAX + TEXT_BYTES_MAX + NAME_BYTES_MAX + 100 < CONTROL_BYTES_MAX);
    assert!(
        (Rates::TICK_HZ_MAX / Rates::SNAPSHOT_HZ_MIN * 2 + Rates::TICK_HZ_MAX / 2) as u64
            <= PREDICTION_TICKS_MAX,
        "prediction covers a lost snapshot, and half a second of transit and lead, at any rates"
    );
    assert!(
        ENTITIES_MAX <= PREDICTED_SPAWN_INDEX_MIN,
        "indices of predicted spawns lie above the world's"
    );
    assert!(SEATS_MAX <= ENTITIES_MAX, "every seat fits into the world");
    assert!(
        (SEATS_MAX + WATCHERS_MAX) as usize / ROSTER_CHUNK + 5 <= CONTROL_QUEUE_MAX,
        "the messages that list all players to a newcomer fit into the queue"
    );
    assert!(
        WATCHERS_MAX as usize * 3 + 8 <= CONTROL_BYTES_MAX,
        "one message can list all watchers"
    );
    assert!(
        GAME_EVENTS_BURST as i64 + GAME_EVENTS_PER_SECOND as i64 * WATCH_DELAY_MAX.0 / 1_000_000
            <= WATCH_EVENTS_MAX as i64,
        "the queue holds all events of the longest delay"
    );
    assert!(ROSTER_CHUNK * (NAME_BYTES_MAX + 18) + 8 <= CONTROL_BYTES_MAX);
    assert!(COMMANDS_MAX * (COMMAND_BYTES_MAX + USAGE_BYTES_MAX + 2) + 8 <= CONTROL_BYTES_MAX);
    assert!(FIELDS_MAX * FIELD_BITS_MAX as usize / 8 + 64 <= DATAGRAM_BYTES_MIN);
    assert!(
        PREDICTION_TICKS_MAX >= Rates::TICK_HZ_MAX as u64,
        "a second of prediction at any rate"
    );
};
