//! Settings of the games and their rooms.

use phaselock::limits::{
    BOTS_MAX, CLIENT_BYTES_MAX, CLIENT_BYTES_MIN, PLAYERS_MAX, REWIND_MAX, ROOMS_MAX,
    WATCH_DELAY_MAX, WATCHERS_MAX,
};
use phaselock::rewind::Favour;
use phaselock::time::Rates;
use phaselock::wire::text::printable;

use super::setting::{RESUME_SECONDS_MAX, ROOM_THREADS_MAX, Setting, WORKERS_MAX};
use super::values::{list, number, or, parse_games, parse_send, put};

/// Most characters of a server's name.
pub const NAME_CHARS_MAX: usize = 48;
/// Most rounds of a game before the next one. Arbitrary; days.
const ROUNDS_MAX: u32 = 1000;
const WATCH_DELAY_SECONDS_MAX: u16 = (WATCH_DELAY_MAX.0 / 1_000_000) as u16;
const REWIND_MS_MAX: u16 = (REWIND_MAX.0 / 1000) as u16;
/// Longest time without an input. Arbitrary; a day.
const IDLE_SECONDS_MAX: u32 = 86_400;
/// Longest time without people until a room sleeps. Arbitrary; a day.
const SLEEP_SECONDS_MAX: u32 = 86_400;

const ROOMS: Option<&str> = Some("rooms and their threads are made when the server starts");
const RATES: Option<&str> = Some("clients learn the rates when they join, and worlds keep theirs");

/// Settings of games and rooms, in the order of the help.
pub(super) const PLAY: [Setting; 22] = [
    Setting {
        flag: "name",
        value: "NAME",
        help: "Name shown to players",
        read: |config, text| {
            let name = text.to_str().filter(|name| {
                name.chars().count() <= NAME_CHARS_MAX
                    && !name.chars().any(char::is_control)
                    && !printable(name).trim().is_empty()
            });
            let rule = format!(
                "1 to {NAME_CHARS_MAX} characters, not all blank and no control characters"
            );
            put(&mut config.name, name.map(str::to_owned), &rule)
        },
        show: |config| config.name.clone(),
        ..Setting::TEXT
    },
    Setting {
        flag: "game",
        value: "GAMES",
        help: "Game to run, or several in turn, separated by commas",
        read: |config, text| {
            config.games = parse_games(text)?;
            Ok(())
        },
        show: |config| match &*config.games {
            [] => "the first there is".to_owned(),
            games => games.join(","),
        },
        ..Setting::LIST
    },
    Setting {
        flag: "rounds",
        value: "COUNT",
        help: "Rounds of a game before the next one, if there are several",
        read: |config, text| number(&mut config.rounds, text, 1..=ROUNDS_MAX),
        show: |config| config.rounds.to_string(),
        is_of_room: true,
        ..Setting::NUMBER
    },
    Setting {
        flag: "bots",
        value: "COUNT",
        help: "Number of bots in each room",
        read: |config, text| number(&mut config.bots, text, 0..=BOTS_MAX),
        show: |config| config.bots.to_string(),
        is_of_room: true,
        ..Setting::NUMBER
    },
    Setting {
        flag: "max-players",
        value: "COUNT",
        help: "Maximum number of players in a room",
        read: |config, text| number(&mut config.max_players, text, 1..=PLAYERS_MAX),
        show: |config| config.max_players.to_string(),
        is_of_room: true,
        ..Setting::NUMBER
    },
    Setting {
        flag: "max-watchers",
        value: "COUNT",
        help: "Maximum number of people who may watch a room without a seat",
        read: |config, text| number(&mut config.max_watchers, text, 0..=WATCHERS_MAX),
        show: |config| config.max_watchers.to_string(),
        is_of_room: true,
        ..Setting::NUMBER
    },
    Setting {
        flag: "watch-delay-seconds",
        value: "SECONDS",
        help: "Seconds by which watchers see the game late, so that they cannot tell players what \
               is hidden",
        default: Some("the game's, 10 where something is hidden"),
        read: |config, text| {
            number(config.watch_delay_seconds.insert(0), text, 0..=WATCH_DELAY_SECONDS_MAX)
        },
        show: |config| or(config.watch_delay_seconds.as_ref(), "the game's"),
        is_of_room: true,
        ..Setting::NUMBER
    },
    Setting {
        flag: "rooms",
        value: "COUNT",
        help: "Number of rooms, each a world with its own players",
        read: |config, text| number(&mut config.rooms, text, 1..=ROOMS_MAX),
        show: |config| config.rooms.to_string(),
        restart: ROOMS,
        ..Setting::NUMBER
    },
    Setting {
        flag: "rooms-max",
        value: "COUNT",
        help: "Maximum number of rooms; those beyond --rooms are made when somebody names a new \
               one or all are full, and closed after a minute without players",
        default: Some("--rooms"),
        // The rooms have to be known, so `settle` reads it.
        show: |config| config.rooms_max.to_string(),
        restart: ROOMS,
        ..Setting::NUMBER
    },
    Setting {
        flag: "room-threads",
        value: "COUNT",
        help: "Threads that run rooms; with 1 they share the socket's thread",
        default: Some(
            "1 for a single room or on two processors, else one for each other \
             processor",
        ),
        read: |config, text| number(config.room_threads.insert(1), text, 1..=ROOM_THREADS_MAX),
        show: |config| or(config.room_threads.as_ref(), "by the processors"),
        restart: ROOMS,
        ..Setting::NUMBER
    },
    Setting {
        flag: "workers",
        value: "COUNT",
        help: "Threads that pack snapshots",
        default: Some("the processors, or 1 with several threads of rooms"),
        read: |config, text| number(config.workers.insert(1), text, 1..=WORKERS_MAX),
        show: |config| or(config.workers.as_ref(), "by the processors"),
        restart: ROOMS,
        ..Setting::NUMBER
    },
    Setting {
        flag: "tick-hz",
        value: "HZ",
        help: "Steps of the world per second, 10 to 128",
        read: |config, text| {
            number(&mut config.tick_hz, text, Rates::TICK_HZ_MIN..=Rates::TICK_HZ_MAX)
        },
        show: |config| config.tick_hz.to_string(),
        restart: RATES,
        ..Setting::NUMBER
    },
    Setting {
        flag: "snapshot-hz",
        value: "HZ",
        help: "Snapshots per second, a divisor of the tick rate",
        default: Some("30, or the nearest divisor"),
        // The tick rate has to be known, so `settle` reads it.
        show: |config| config.snapshot_hz.to_string(),
        restart: RATES,
        ..Setting::NUMBER
    },
    Setting {
        flag: "client-bytes",
        value: "BYTES",
        help: "Maximum bytes of snapshots per second for each client; fewer if the path carries \
               less",
        read: |config, text| {
            number(&mut config.client_bytes, text, CLIENT_BYTES_MIN..=CLIENT_BYTES_MAX)
        },
        show: |config| config.client_bytes.to_string(),
        is_of_room: true,
        ..Setting::NUMBER
    },
    Setting {
        flag: "send",
        value: "KIND=RULE",
        help: "When to send a kind of entity, as in Rock=predictable: every, predictable, \
               threshold:DISTANCE or adaptive:DISTANCE; several separated by commas",
        default: Some("the game's, for each"),
        read: |config, text| {
            config.send = parse_send(text)?;
            Ok(())
        },
        show: |config| match &*config.send {
            [] => "the game's".to_owned(),
            rules => list(rules.iter().map(|(kind, rule)| format!("{kind}={rule}"))),
        },
        is_of_room: true,
        ..Setting::LIST
    },
    Setting {
        flag: "rewind-ms",
        value: "MS",
        help: "Maximum milliseconds that the world is rewound for a shot, 0 to turn it off",
        default: Some("the game's, 250"),
        read: |config, text| number(config.rewind_ms.insert(0), text, 0..=REWIND_MS_MAX),
        show: |config| or(config.rewind_ms.as_ref(), "the game's"),
        is_of_room: true,
        ..Setting::NUMBER
    },
    Setting {
        flag: "favour",
        value: "WHOM",
        help: "Who wins a close call: shooter (what the shooter saw counts) or defender (reaching \
               cover saves you)",
        default: Some("the game's, shooter"),
        read: |config, text| {
            let favours = [("shooter", Favour::Shooter), ("defender", Favour::Defender)];
            let favour = favours.into_iter().find(|(name, _)| *name == text);
            put(&mut config.favour, favour.map(|(_, favour)| Some(favour)), "shooter or defender")
        },
        show: |config| {
            let favour = config.favour.map(|favour| match favour {
                Favour::Shooter => "shooter",
                Favour::Defender => "defender",
            });
            favour.unwrap_or("the game's").to_owned()
        },
        is_of_room: true,
        ..Setting::TEXT
    },
    Setting {
        flag: "resume-seconds",
        value: "SECONDS",
        help: "Seconds for which a player who loses the connection keeps seat and score",
        read: |config, text| number(&mut config.resume_seconds, text, 0..=RESUME_SECONDS_MAX),
        show: |config| config.resume_seconds.to_string(),
        ..Setting::NUMBER
    },
    Setting {
        flag: "idle-seconds",
        value: "SECONDS",
        help: "Seconds without a change of keys after which a player is kicked, 0 for never",
        read: |config, text| number(&mut config.idle_seconds, text, 0..=IDLE_SECONDS_MAX),
        show: |config| config.idle_seconds.to_string(),
        is_of_room: true,
        ..Setting::NUMBER
    },
    Setting {
        flag: "sleep-seconds",
        value: "SECONDS",
        help: "Time without players and watchers after which a room stands still until somebody \
               comes, 0 for never",
        read: |config, text| number(&mut config.sleep_seconds, text, 0..=SLEEP_SECONDS_MAX),
        show: |config| config.sleep_seconds.to_string(),
        is_of_room: true,
        ..Setting::NUMBER
    },
    Setting {
        flag: "drain-seconds",
        value: "SECONDS",
        help: "Maximum seconds for which the server keeps playing after it is told to stop, until \
               the round is over or everybody has left; it refuses newcomers. Told again, it stops \
               at once",
        read: |config, text| number(&mut config.drain_seconds, text, 0..=RESUME_SECONDS_MAX),
        show: |config| config.drain_seconds.to_string(),
        ..Setting::NUMBER
    },
    Setting {
        flag: "seed",
        value: "NUMBER",
        help: "Seed of the game's random numbers, to replay it",
        read: |config, text| number(config.seed.insert(0), text, 0..=u64::MAX),
        show: |config| or(config.seed.as_ref(), "a new one each time"),
        restart: Some("worlds grow from it, and those that run have grown from another"),
        ..Setting::NUMBER
    },
];
