//! Settings of the games and their rooms.

use std::ffi::OsStr;

use phaselock::game::Strength;
use phaselock::limits::{
    BOTS_MAX, CLIENT_BYTES_DEFAULT, CLIENT_BYTES_MAX, CLIENT_BYTES_MIN, PLAYERS_MAX,
    RESUME_DEFAULT, RESUME_MAX, REWIND_MAX, ROOMS_MAX, WATCH_DELAY_MAX, WATCHERS_MAX,
};
use phaselock::motion::SendRule;
use phaselock::rewind::Favour;
use phaselock::time::Rates;
use phaselock::wire::round::{ReadyUp, VoteKinds};
use phaselock::wire::text::printable;

use super::setting::section;
use super::values::{Faults, ListRule, list, number, or, parse_games, parse_send, put, switch};

/// Maximum characters of a server's name.
pub const NAME_CHARS_MAX: usize = 48;
/// Maximum number of threads that pack snapshots; more would have nothing to do.
pub const WORKERS_MAX: u16 = 64;
/// Maximum number of threads that run rooms. Arbitrary; one for each of many processors.
pub const ROOM_THREADS_MAX: u16 = 64;
/// The default of `snapshot_hz` is the divisor of the tick rate that is nearest to this.
pub(super) const SNAPSHOT_HZ_IDEAL: u32 = 30;
/// Maximum rounds of a game before the next one. Arbitrary; days.
const ROUNDS_MAX: u32 = 1000;
const WATCH_DELAY_SECONDS_MAX: u16 = (WATCH_DELAY_MAX.0 / 1_000_000) as u16;
const REWIND_MS_MAX: u16 = (REWIND_MAX.0 / 1000) as u16;
/// Maximum seconds for which a seat is kept, or the server drains.
const RESUME_SECONDS_MAX: u32 = (RESUME_MAX.0 / 1_000_000) as u32;
/// Maximum seconds without an input. Arbitrary; a day.
const IDLE_SECONDS_MAX: u32 = 86_400;
/// Maximum seconds without people until a room sleeps. Arbitrary; a day.
const SLEEP_SECONDS_MAX: u32 = 86_400;

const ROOMS: Option<&str> = Some("rooms and their threads are created when the server starts");
const RATES: Option<&str> = Some("clients learn the rates when they join, and worlds keep theirs");

/// What happens when players are ready, by name.
const READY: [(&str, ReadyUp); 3] =
    [("off", ReadyUp::Off), ("early", ReadyUp::Early), ("wait", ReadyUp::Wait)];

/// Values that stand for no votes and for all votes.
const VOTES: [(&str, VoteKinds); 2] = [("all", VoteKinds::ALL), ("none", VoteKinds::NONE)];

section! {
    /// Settings of the games and their rooms.
    Play;

    /// Name shown to players: at most [`NAME_CHARS_MAX`] characters, no control characters.
    name: String = "Phaselock".to_owned() => {
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
            put(&mut config.as_mut().name, name.map(str::to_owned), &rule)
        },
        show: |config| config.as_ref().name.clone(),
        ..Setting::TEXT
    }

    /// Names of the games to run in turn. If empty, the first game of the program.
    game: Vec<String> = Vec::new() => {
        value: "GAMES",
        help: "Game to run, or several in turn, separated by commas",
        read: |config, text| {
            config.as_mut().game = parse_games(text)?;
            Ok(())
        },
        show: |config| match &*config.as_ref().game {
            [] => "the first game".to_owned(),
            games => games.join(","),
        },
        ..Setting::LIST
    }

    /// Rounds of a game before the next one, 1 to 1000, if there are several games.
    rounds: u32 = 2 => {
        value: "COUNT",
        help: "Rounds of a game before the next one, if there are several",
        read: |config, text| number(&mut config.as_mut().rounds, text, 1..=ROUNDS_MAX),
        show: |config| config.as_ref().rounds.to_string(),
        is_of_room: true,
        ..Setting::NUMBER
    }

    /// Number of bots in each room, at most [`BOTS_MAX`].
    bots: u16 = 0 => {
        value: "COUNT",
        help: "Number of bots in each room",
        read: |config, text| number(&mut config.as_mut().bots, text, 0..=BOTS_MAX),
        show: |config| config.as_ref().bots.to_string(),
        is_of_room: true,
        ..Setting::NUMBER
    }

    /// Maximum number of people in a room, 1 to [`PLAYERS_MAX`].
    max_players: u16 = 64 => {
        value: "COUNT",
        help: "Maximum number of players in a room",
        read: |config, text| number(&mut config.as_mut().max_players, text, 1..=PLAYERS_MAX),
        show: |config| config.as_ref().max_players.to_string(),
        is_of_room: true,
        ..Setting::NUMBER
    }

    /// Maximum number of watchers of a room, 0 to [`WATCHERS_MAX`].
    max_watchers: u16 = 16 => {
        value: "COUNT",
        help: "Maximum number of people who may watch a room without a seat",
        read: |config, text| number(&mut config.as_mut().max_watchers, text, 0..=WATCHERS_MAX),
        show: |config| config.as_ref().max_watchers.to_string(),
        is_of_room: true,
        ..Setting::NUMBER
    }

    /// Seconds by which watchers see the game late, 0 to 60. By default the game decides.
    watch_delay_seconds: Option<u16> = None => {
        value: "SECONDS",
        help: "Seconds by which watchers see the game late, so that they cannot reveal hidden \
               things to players",
        default: Some("the game's, 10 where something is hidden"),
        read: |config, text| {
            number(config.as_mut().watch_delay_seconds.insert(0), text, 0..=WATCH_DELAY_SECONDS_MAX)
        },
        show: |config| or(config.as_ref().watch_delay_seconds.as_ref(), "the game's"),
        is_of_room: true,
        ..Setting::NUMBER
    }

    /// Number of permanent rooms, 1 to [`ROOMS_MAX`].
    rooms: u16 = 1 => {
        value: "COUNT",
        help: "Number of rooms, each a world with its own players",
        read: |config, text| number(&mut config.as_mut().rooms, text, 1..=ROOMS_MAX),
        show: |config| config.as_ref().rooms.to_string(),
        restart: ROOMS,
        ..Setting::NUMBER
    }

    /// Maximum number of rooms, including those made on demand. By default as many as `rooms`.
    rooms_max: u16 = 1 => {
        value: "COUNT",
        help: "Maximum number of rooms; those beyond --rooms are created when a player asks for a \
               new code or all are full, and closed after a minute without players",
        default: Some("--rooms"),
        // The rooms have to be known, so `settle` reads it.
        show: |config| config.as_ref().rooms_max.to_string(),
        restart: ROOMS,
        ..Setting::NUMBER
    }

    /// Threads that run rooms, 1 to [`ROOM_THREADS_MAX`]. By default one for each spare
    /// processor.
    room_threads: Option<u16> = None => {
        value: "COUNT",
        help: "Threads that run rooms; with 1 they share the socket's thread",
        default: Some(
            "1 with one room or up to two processors, otherwise the number of processors minus one",
        ),
        read: |config, text| {
            number(config.as_mut().room_threads.insert(1), text, 1..=ROOM_THREADS_MAX)
        },
        show: |config| or(config.as_ref().room_threads.as_ref(), "chosen by the number of \
                                                                  processors"),
        restart: ROOMS,
        ..Setting::NUMBER
    }

    /// Threads that pack snapshots, 1 to [`WORKERS_MAX`]. By default one for each processor.
    workers: Option<u16> = None => {
        value: "COUNT",
        help: "Threads that pack snapshots",
        default: Some("the number of processors, or 1 with several room threads"),
        read: |config, text| number(config.as_mut().workers.insert(1), text, 1..=WORKERS_MAX),
        show: |config| or(config.as_ref().workers.as_ref(), "chosen by the number of processors"),
        restart: ROOMS,
        ..Setting::NUMBER
    }

    /// Steps of the world per second, within the bounds of [`Rates`].
    tick_hz: u32 = 60 => {
        value: "HZ",
        help: "Steps of the world per second, 10 to 128",
        read: |config, text| {
            number(&mut config.as_mut().tick_hz, text, Rates::TICK_HZ_MIN..=Rates::TICK_HZ_MAX)
        },
        show: |config| config.as_ref().tick_hz.to_string(),
        restart: RATES,
        ..Setting::NUMBER
    }

    /// Snapshots to each client per second, a divisor of `tick_hz`. By default the divisor nearest
    /// to 30.
    snapshot_hz: u32 = SNAPSHOT_HZ_IDEAL => {
        value: "HZ",
        help: "Snapshots per second, a divisor of the tick rate",
        default: Some("30, or the nearest divisor"),
        // The tick rate has to be known, so `settle` reads it.
        show: |config| config.as_ref().snapshot_hz.to_string(),
        restart: RATES,
        ..Setting::NUMBER
    }

    /// Maximum bytes of snapshots per second for each client.
    client_bytes: u32 = CLIENT_BYTES_DEFAULT => {
        value: "BYTES",
        help: "Maximum bytes of snapshots per second for each client; fewer if the path carries \
               less",
        read: |config, text| {
            number(&mut config.as_mut().client_bytes, text, CLIENT_BYTES_MIN..=CLIENT_BYTES_MAX)
        },
        show: |config| config.as_ref().client_bytes.to_string(),
        is_of_room: true,
        ..Setting::NUMBER
    }

    /// Kinds of entities, by name, with a send rule that replaces the game's.
    send: Vec<(String, SendRule)> = Vec::new() => {
        value: "KIND=RULE",
        help: "When to send a kind of entity, as in Rock=predictable: every, predictable, \
               threshold:DISTANCE or adaptive:DISTANCE; several separated by commas",
        default: Some("each game's own"),
        read: |config, text| {
            config.as_mut().send = parse_send(text)?;
            Ok(())
        },
        show: |config| match &*config.as_ref().send {
            [] => "the game's".to_owned(),
            rules => list(rules.iter().map(|(kind, rule)| format!("{kind}={rule}"))),
        },
        is_of_room: true,
        ..Setting::LIST
    }

    /// Maximum rewind for a shot in milliseconds, 0 for none. By default the game decides.
    rewind_ms: Option<u16> = None => {
        value: "MS",
        help: "Maximum milliseconds that the world is rewound for a shot, 0 to turn it off",
        default: Some("the game's, 250"),
        read: |config, text| number(config.as_mut().rewind_ms.insert(0), text, 0..=REWIND_MS_MAX),
        show: |config| or(config.as_ref().rewind_ms.as_ref(), "the game's"),
        is_of_room: true,
        ..Setting::NUMBER
    }

    /// Player who wins a close call. By default the game decides.
    favour: Option<Favour> = None => {
        value: "WHOM",
        help: "Who wins a close call: shooter (what the shooter saw counts) or defender (reaching \
               cover saves you)",
        default: Some("the game's, shooter"),
        read: |config, text| {
            let favours = [("shooter", Favour::Shooter), ("defender", Favour::Defender)];
            let favour = favours.into_iter().find(|(name, _)| *name == text);
            let favour = favour.map(|(_, favour)| Some(favour));
            put(&mut config.as_mut().favour, favour, "shooter or defender")
        },
        show: |config| {
            let favour = config.as_ref().favour.map(|favour| match favour {
                Favour::Shooter => "shooter",
                Favour::Defender => "defender",
            });
            favour.unwrap_or("the game's").to_owned()
        },
        is_of_room: true,
        ..Setting::TEXT
    }

    /// Whether players are told how the shots that killed them were judged, so that they can see
    /// what the shooter saw.
    kill_replays: bool = true => {
        help: "Whether the server tells players how the shot that killed them was judged, so that \
               they can see it as the shooter did",
        read: |config, text| switch(&mut config.as_mut().kill_replays, text),
        show: |config| config.as_ref().kill_replays.to_string(),
        is_of_room: true,
        ..Setting::SWITCH
    }

    /// Seconds for which a player who loses the connection keeps the seat, 0 to 3600.
    resume_seconds: u32 = (RESUME_DEFAULT.0 / 1_000_000) as u32 => {
        value: "SECONDS",
        help: "Seconds for which a player who loses the connection keeps seat and score",
        read: |config, text| {
            number(&mut config.as_mut().resume_seconds, text, 0..=RESUME_SECONDS_MAX)
        },
        show: |config| config.as_ref().resume_seconds.to_string(),
        ..Setting::NUMBER
    }

    /// Seconds after which an idle player is kicked, up to 86400. 0 for never.
    idle_seconds: u32 = 0 => {
        value: "SECONDS",
        help: "Seconds without a change of keys after which a player is kicked, 0 for never",
        read: |config, text| number(&mut config.as_mut().idle_seconds, text, 0..=IDLE_SECONDS_MAX),
        show: |config| config.as_ref().idle_seconds.to_string(),
        is_of_room: true,
        ..Setting::NUMBER
    }

    /// Seconds without people after which a room sleeps, up to 86400. 0 for never.
    sleep_seconds: u32 = 60 => {
        value: "SECONDS",
        help: "Time without players and watchers after which a room sleeps until someone joins, 0 \
               for never",
        read: |config, text| {
            number(&mut config.as_mut().sleep_seconds, text, 0..=SLEEP_SECONDS_MAX)
        },
        show: |config| config.as_ref().sleep_seconds.to_string(),
        is_of_room: true,
        ..Setting::NUMBER
    }

    /// Maximum seconds for which the server drains after a signal to stop, 0 to 3600.
    drain_seconds: u32 = 0 => {
        value: "SECONDS",
        help: "Maximum seconds to keep playing after a signal to stop, until the round is over or \
               everyone has left; newcomers are refused. A second signal stops the server at once",
        read: |config, text| {
            number(&mut config.as_mut().drain_seconds, text, 0..=RESUME_SECONDS_MAX)
        },
        show: |config| config.as_ref().drain_seconds.to_string(),
        ..Setting::NUMBER
    }

    /// Seed of the game's random numbers. By default the server draws one.
    seed: Option<u64> = None => {
        value: "NUMBER",
        help: "Seed of the game's random numbers, to replay it",
        read: |config, text| number(config.as_mut().seed.insert(0), text, 0..=u64::MAX),
        show: |config| or(config.as_ref().seed.as_ref(), "random at each start"),
        restart: Some("running worlds keep the seed that they began with"),
        ..Setting::NUMBER
    }

    /// Strength of the bots.
    bot_strength: Strength = Strength::Normal => {
        value: "STRENGTH",
        help: "Strength of the bots: easy, normal or hard",
        read: |config, text| {
            let named = Strength::NAMED.into_iter().find(|(name, _)| *name == text);
            put(&mut config.as_mut().bot_strength, named.map(|(_, it)| it), "easy, normal or hard")
        },
        show: |config| {
            let named =
                Strength::NAMED.into_iter().find(|(_, it)| *it == config.as_ref().bot_strength);
            named.map_or("normal", |(name, _)| name).to_owned()
        },
        is_of_room: true,
        ..Setting::TEXT
    }

    /// Whether bots leave when people come.
    bots_fill: bool = false => {
        help: "Bots leave when people come, so that people and bots together number --bots",
        read: |config, text| switch(&mut config.as_mut().bots_fill, text),
        show: |config| config.as_ref().bots_fill.to_string(),
        is_of_room: true,
        ..Setting::SWITCH
    }

    /// Votes that players may call.
    votes: VoteKinds = VoteKinds::ALL => {
        value: "KINDS",
        help: "Votes that players may call: game, kick, time and sides, separated by commas, or \
               all or none",
        read: |config, text| {
            config.as_mut().votes = parse_votes(text)?;
            Ok(())
        },
        show: |config| match config.as_ref().votes {
            VoteKinds::ALL => "all".to_owned(),
            VoteKinds::NONE => "none".to_owned(),
            VoteKinds(bits) => {
                let named = VoteKinds::NAMED.iter().filter(|(_, bit)| bits & bit != 0);
                list(named.map(|(name, _)| *name))
            }
        },
        is_of_room: true,
        ..Setting::LIST
    }

    /// What happens when players are ready.
    ready_up: ReadyUp = ReadyUp::Early => {
        value: "EFFECT",
        help: "What happens when players are ready: off, early (a warm-up ends when all are) or \
               wait (it ends only when most are, or after two minutes)",
        read: |config, text| {
            let ready = READY.into_iter().find(|(name, _)| *name == text);
            put(&mut config.as_mut().ready_up, ready.map(|(_, ready)| ready), "off, early or wait")
        },
        show: |config| {
            let named = READY.into_iter().find(|(_, ready)| *ready == config.as_ref().ready_up);
            named.map_or("early", |(name, _)| name).to_owned()
        },
        is_of_room: true,
        ..Setting::TEXT
    }
}

/// Parses kinds of votes.
fn parse_votes(text: &OsStr) -> Result<VoteKinds, Faults> {
    if let Some((_, all)) = VOTES.iter().find(|(name, _)| *name == text) {
        return Ok(*all);
    }
    let rule = "all, none, or some of game, kick, time and sides, separated by commas";
    let rule = ListRule { text: rule, max: VoteKinds::NAMED.len(), is_distinct: true };
    let bits = rule.parse(text, |word| {
        let found = VoteKinds::NAMED.iter().find(|(name, _)| *name == word);
        found.map(|(_, bit)| *bit).ok_or(None)
    })?;
    Ok(VoteKinds(bits.into_iter().fold(0, |bits, bit| bits | bit)))
}
