//! Every layer, every rule and every message of the settings, as tables.

use std::ffi::OsString;
use std::fs;
use std::net::SocketAddr;

use phaselock::identity::PublicKey;
use phaselock::motion::SendRule;
use phaselock::rewind::{Favour, Rewind};
use phaselock::wire::round::{ReadyUp, VoteKinds};

use super::setting::Setting;
use super::settings::settings;
use super::values::LISTEN_RULE;
use super::*;
use crate::commands::{Command, command_line, parse_from};

mod deny_lists;
mod files;
mod help;
mod limits;
mod loaded;
mod restarts;
mod webhooks;

/// A configuration file that goes away with the test.
struct ConfigFile(tempfile::NamedTempFile);

impl ConfigFile {
    fn new(content: &str) -> Self {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        fs::write(file.path(), content).expect("writable");
        Self(file)
    }

    fn path(&self) -> &str {
        self.0.path().to_str().expect("temporary paths are text")
    }
}

/// Simulates a program that has every game but one.
fn judge(settings: &Settings, _: bool) -> Vec<Mistake> {
    let games = settings.config.play.game.iter().filter(|game| *game == "nonesuch");
    let mistake = |game: &String| Mistake::Game {
        origin: settings.origin("game"),
        name: game.clone(),
        error: "there is no such game".to_owned(),
    };
    games.map(mistake).collect()
}

/// Runs a command line (without the program's name) in an environment of `NAME=value` words.
fn run(args: &[&str], env: &[&str]) -> Result<Command, ConfigError> {
    let env = env.iter().map(|word| word.split_once('=').expect("NAME=value"));
    parse_from(
        ["phaselock-server"].iter().chain(args).map(OsString::from),
        env.map(|(name, value)| (name.into(), value.into())),
        &judge,
    )
}

fn serve(args: &[&str], env: &[&str]) -> Config {
    loaded(args, env).config
}

fn loaded(args: &[&str], env: &[&str]) -> Settings {
    match run(args, env) {
        Ok(Command::Serve(settings)) => *settings,
        other => panic!("{args:?} with {env:?} gave {other:?}"),
    }
}

fn refused(args: &[&str], env: &[&str]) -> String {
    match run(args, env) {
        Err(ConfigError::Usage(error)) => {
            panic!("{args:?} with {env:?} is a usage error: {error}")
        }
        Err(error) => error.to_string(),
        Ok(command) => panic!("{args:?} with {env:?} gave {command:?}"),
    }
}

#[test]
fn nothing_set_means_the_defaults() {
    let config = serve(&[], &["PATH=/bin", "phaselock_bots=9"]);
    assert_eq!(config, Config::default());
    assert_eq!(
        (config.joining.listen[0].to_string().as_str(), config.play.snapshot_hz),
        ("[::]:4433", 30)
    );
}

#[test]
fn flags_beat_environment_beats_file_beats_defaults() {
    let file = ConfigFile::new("bots = 1\nmax_players = 1\ntick_hz = 20");
    let env = ["PHASELOCK_BOTS=2", "PHASELOCK_MAX_PLAYERS=2"];
    let config = serve(&["--config", file.path(), "--bots", "3"], &env);
    assert_eq!((config.play.bots, config.play.max_players, config.play.tick_hz), (3, 2, 20));
    assert!(config.play.game.is_empty(), "the first game");
}

#[test]
fn each_layer_can_set_everything() {
    let dir = tempfile::tempdir().expect("a directory");
    let keys = dir.path().join("players");
    fs::write(&keys, format!("# friends\n\n{} ada\n", "0a".repeat(32))).expect("writable");
    let keys = keys.to_str().expect("text");
    let secret = dir.path().join("secret");
    fs::write(&secret, format!("{}\n", "5e".repeat(32))).expect("writable");
    let fleet_secret_file = Some(FleetSecret::read(&secret).expect("a secret"));
    let secret = secret.to_str().expect("text");
    let fingerprint = phaselock::fingerprint::Fingerprint([0xab; 32]);
    let redirect = format!("Two.example.org#{fingerprint}");
    let values = [
        ("name", "Zoë's"),
        ("game", "arena_2, chess"),
        ("rounds", "3"),
        ("bots", "7"),
        ("max-players", "8"),
        ("max-watchers", "5"),
        ("watch-delay-seconds", "20"),
        ("rooms", "4"),
        ("rooms-max", "12"),
        ("room-threads", "2"),
        ("workers", "3"),
        ("tick-hz", "100"),
        ("snapshot-hz", "50"),
        ("client-bytes", "16000"),
        ("send", "Rock=predictable, Car=threshold:0.05"),
        ("rewind-ms", "120"),
        ("favour", "defender"),
        ("kill-replays", "false"),
        ("resume-seconds", "45"),
        ("idle-seconds", "300"),
        ("sleep-seconds", "5"),
        ("drain-seconds", "600"),
        ("seed", "18446744073709551615"),
        ("bots-fill", "true"),
        ("bot-strength", "hard"),
        ("votes", "kick, time"),
        ("ready-up", "wait"),
        ("listen", "127.0.0.1:0, [::1]:7"),
        ("link", "mobile,seed=3"),
        ("seats-per-address", "2"),
        ("password", "open sesame"),
        ("greeting", "Be nice."),
        ("region", "europe"),
        ("allow-list", keys),
        ("oldest-client", "v0.1.2"),
        ("download", "https://play.example.org/get"),
        ("redirect", &redirect),
        ("fleet-secret-file", secret),
        ("deny-lists", "https://example.org/list.txt?key=1, http://127.0.0.1/b"),
        ("directories", "one.example.org, 192.0.2.7:9"),
        ("announce-port", "5000"),
        ("data-dir", "some/where"),
        ("keep-days", "30"),
        ("backup-hours", "24"),
        ("backup-keep", "3"),
        ("record", "rounds"),
        ("record-dir", "films"),
        ("record-days", "7"),
        ("record-megabytes", "500"),
        ("record-chat", "true"),
        ("restarts", "4:00, every 6h"),
        ("cert-file", "a.pem"),
        ("key-file", "b.pem"),
        ("require-identity", "true"),
        ("admin-listen", "off"),
        ("agones", "on"),
        ("agones-empty-seconds", "600"),
        ("web", "8443"),
        ("web-files", "pages"),
        ("web-origins", "https://Play.example.org:443, http://localhost:8000"),
        ("web-directory", "https://Directory.example.org:443/"),
        ("web-bytes", "500000"),
        ("public-page", "true"),
        ("webhook", "https://discord.com/api/webhooks/1/x"),
        ("log", "json"),
        ("log-filter", "warn,quinn=off"),
        ("log-file", "some.log"),
        ("watch-config", "true"),
    ];
    let spell = |spelling: fn(&Setting<Config>, &str) -> String| -> Vec<String> {
        let value =
            |setting: &Setting<Config>| values.iter().find(|(flag, _)| *flag == setting.flag);
        let set = settings().filter(|setting| setting.flag != "password-file");
        set.map(|setting| spelling(setting, value(setting).expect("a value").1)).collect()
    };
    let flags = spell(|setting, value| format!("--{}={value}", setting.flag));
    let env = spell(|setting, value| format!("{}={value}", setting.variable()));
    let lines = spell(|setting, value| format!("{} = {value:?}", setting.key));
    assert_eq!(lines.len(), values.len());
    let file = ConfigFile::new(&lines.join("\n"));

    let expected = Config {
        play: Play {
            name: "Zoë's".to_owned(),
            game: vec!["arena_2".to_owned(), "chess".to_owned()],
            rounds: 3,
            bots: 7,
            max_players: 8,
            max_watchers: 5,
            watch_delay_seconds: Some(20),
            rooms: 4,
            rooms_max: 12,
            room_threads: Some(2),
            workers: Some(3),
            tick_hz: 100,
            snapshot_hz: 50,
            client_bytes: 16_000,
            send: vec![
                ("Rock".to_owned(), SendRule::Predictable),
                ("Car".to_owned(), "threshold:0.05".parse().expect("a rule")),
            ],
            rewind_ms: Some(120),
            favour: Some(Favour::Defender),
            kill_replays: false,
            resume_seconds: 45,
            idle_seconds: 300,
            sleep_seconds: 5,
            drain_seconds: 600,
            seed: Some(u64::MAX),
            bot_strength: phaselock::game::Strength::Hard,
            bots_fill: true,
            votes: VoteKinds(6),
            ready_up: ReadyUp::Wait,
        },
        joining: Joining {
            listen: ["127.0.0.1:0", "[::1]:7"].map(|it| it.parse().expect("an address")).into(),
            link: Some("mobile,seed=3".parse().expect("a network")),
            seats_per_address: 2,
            password: Some(Password("open sesame".to_owned())),
            password_file: None,
            greeting: Some("Be nice.".to_owned()),
            region: Some("europe".to_owned()),
            allow_list: Some(AllowList {
                path: keys.into(),
                keys: [(PublicKey([10; 32]), "ada".into())].into(),
            }),
            deny_lists: ["https://example.org/list.txt?key=1", "http://127.0.0.1/b"]
                .map(|it| DenyList::Url(it.to_owned()))
                .into(),
            oldest_client: Some(semver::Version::new(0, 1, 2)),
            download: "https://play.example.org/get".to_owned(),
            redirect: Some(Redirect {
                address: "two.example.org:4433".to_owned(),
                fingerprint: Some(fingerprint),
            }),
            fleet_secret_file,
            directories: ["one.example.org:4435", "192.0.2.7:9"]
                .map(|it| it.parse().expect("an address"))
                .into(),
            announce_port: Some(5000),
        },
        operation: Operation {
            data_dir: "some/where".into(),
            keep_days: 30,
            backup_hours: 24,
            backup_keep: 3,
            record: RecordMode::Rounds,
            record_dir: Some("films".into()),
            record_days: 7,
            record_megabytes: 500,
            record_chat: true,
            restarts: vec![RestartTime::Daily(240), RestartTime::Every(6)],
            cert_file: Some("a.pem".into()),
            key_file: Some("b.pem".into()),
            require_identity: true,
            admin_listen: None,
            agones: AgonesMode::On,
            agones_empty_seconds: 600,
            log: LogFormat::Json,
            log_filter: "warn,quinn=off".to_owned(),
            log_file: Some("some.log".into()),
            watch_config: true,
        },
        http: Http {
            webhook: vec![Webhook {
                url: "https://discord.com/api/webhooks/1/x".to_owned(),
                format: WebhookFormat::Discord,
                key: Vec::new(),
                topics: Topic::ALL.into(),
                files: Vec::new(),
            }],
            web: Some("[::]:8443".parse().expect("an address")),
            web_files: Some("pages".into()),
            web_origins: ["https://play.example.org", "http://localhost:8000"]
                .map(str::to_owned)
                .into(),
            web_directory: Some("https://directory.example.org".to_owned()),
            web_bytes: 500_000,
            public_page: true,
        },
        special: Vec::new(),
    };
    fn words(texts: &[String]) -> Vec<&str> {
        texts.iter().map(String::as_str).collect()
    }
    assert_eq!(serve(&words(&flags), &[]), expected);
    assert_eq!(serve(&[], &words(&env)), expected);
    assert_eq!(serve(&["--config", file.path()], &[]), expected);
    assert_eq!(serve(&[], &[&format!("PHASELOCK_CONFIG={}", file.path())]), expected);
}

#[test]
fn listen_addresses() {
    for (text, expected) in [
        ("4433", "[::]:4433"),
        (":4433", "[::]:4433"),
        ("0", "[::]:0"),
        ("0.0.0.0:4433", "0.0.0.0:4433"),
        ("[::]:4433", "[::]:4433"),
        ("[::1]:1", "[::1]:1"),
    ] {
        let listen = serve(&["--listen", text], &[]).joining.listen;
        assert_eq!(listen.iter().map(SocketAddr::to_string).collect::<Vec<_>>(), [expected]);
    }
    let many = (1..=LISTEN_MAX + 1).map(|port| port.to_string()).collect::<Vec<_>>();
    assert_eq!(serve(&["--listen", &many[1..].join(",")], &[]).joining.listen.len(), LISTEN_MAX);
    assert_eq!(serve(&["--listen", "0,0"], &[]).joining.listen.len(), 2, "two ports of its choice");
    for text in [
        "",
        ":",
        "::4433",
        "65536",
        "localhost:4433",
        "0.0.0.0",
        "[::]",
        "[::]:",
        "[::1%lo]:1",
        "[fe80::1]:1",
        "[fe80::1%nosuchlink]:1",
        "1,,2",
        &many.join(","),
    ] {
        let error = refused(&["--listen", text], &[]);
        let start = format!("the flag --listen is {text:?}, but must be {LISTEN_RULE}");
        assert!(error.starts_with(&start), "{error}");
    }
}

#[test]
fn link_local_addresses_name_their_interface() {
    for (flag, text, problem) in [
        ("--listen", "[fe80::1]:1", "name the interface: [fe80::1%eth0]:5000"),
        ("--web", "[::1%lo]:1", "only a link-local address has one"),
        (
            "--listen",
            "1,[fe80::1%nosuchlink]:1",
            "; number 2 names nosuchlink, which is not a network",
        ),
        (
            "--admin-listen",
            "[fe80::1%nosuchlink]:1",
            "; it names nosuchlink, which is not a network",
        ),
    ] {
        let error = refused(&[&format!("{flag}={text}")], &[]);
        assert!(error.contains(problem), "{error}");
    }
    let error = refused(&["healthcheck", "[fe80::1%nosuchlink]:1"], &[]);
    assert!(error.contains("the argument ADDR is ") && error.contains("not a network interface"));
    if cfg!(target_os = "linux") {
        // Every Linux machine has it, as its first interface.
        let listen = serve(&["--listen", "[fe80::1%lo]:4500, [fe80::1%1]:0"], &[]).joining.listen;
        let listen: Vec<_> = listen.iter().map(ToString::to_string).collect();
        assert_eq!(listen, ["[fe80::1%1]:4500", "[fe80::1%1]:0"]);
        let addr = "[fe80::1%1]:4500".parse().expect("an address");
        let asked = run(&["healthcheck", "[fe80::1%lo]:4500"], &[]).expect("valid");
        assert_eq!(asked, Command::HealthCheck { addr });
    }
}

#[test]
fn every_message_says_where_and_what_is_allowed() {
    let file = ConfigFile::new("tick_hz = 50\nbots = -1\nname = true");
    let path = file.path();
    let tick = ConfigFile::new("tick_hz = 50");
    let tick_path = tick.path();
    for (args, env, expected) in [
        (
            &["--bots=x"][..],
            &["PHASELOCK_BOTS=1"][..],
            "the flag --bots is \"x\", but must be a whole \
          number from 0 to 256"
                .to_owned(),
        ),
        (
            &[],
            &["PHASELOCK_TICK_HZ=9"],
            "the environment variable PHASELOCK_TICK_HZ is \"9\", \
          but must be a whole number from 10 to 128"
                .to_owned(),
        ),
        (
            &["--config", path],
            &[],
            format!(
                "name in {path}:3 is \"true\", but must be text in quotes\n\
                 bots in {path}:2 is \"-1\", but must be a whole number from 0 to 256"
            ),
        ),
        (
            &["--config", tick_path],
            &["PHASELOCK_SNAPSHOT_HZ=30"],
            format!(
                "the environment variable PHASELOCK_SNAPSHOT_HZ is \"30\", but must be a divisor \
                 of the tick rate, which tick_hz in {tick_path}:1 makes 50: one of 2, 5, 10, 25, 50"
            ),
        ),
        (
            &["--snapshot-hz=11"],
            &[],
            "the flag --snapshot-hz is \"11\", but must be a divisor of the tick rate, which the \
             default of tick_hz makes 60: one of 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 60"
                .to_owned(),
        ),
    ] {
        assert_eq!(refused(args, env), expected);
    }
}

#[test]
fn rooms_at_most_are_those_that_are_there_unless_told() {
    assert_eq!(serve(&["--rooms=4"], &[]).play.rooms_max, 4);
    assert_eq!(serve(&["--rooms=4", "--rooms-max=9"], &[]).play.rooms_max, 9);
    assert_eq!(
        refused(&["--rooms-max=3"], &["PHASELOCK_ROOMS=4"]),
        "the flag --rooms-max is \"3\", but must be a whole number from 4 to 256"
    );
}

#[test]
fn snapshots_follow_the_tick_rate_unless_told() {
    for (tick_hz, snapshot_hz) in
        [(60, 30), (30, 30), (20, 20), (50, 25), (100, 25), (64, 32), (128, 32), (127, 127)]
    {
        let config = serve(&[&format!("--tick-hz={tick_hz}")], &[]);
        assert_eq!(config.play.snapshot_hz, snapshot_hz, "at {tick_hz} ticks per second");
    }
}

#[test]
fn unknown_names_are_errors_with_the_nearest_or_all_known_ones() {
    for (name, hint) in [
        ("PHASELOCK_BOT", "did you mean PHASELOCK_BOTS?"),
        ("PHASELOCK_Bots", "did you mean PHASELOCK_BOTS?"),
        ("PHASELOCK_TICKHZ", "did you mean PHASELOCK_TICK_HZ?"),
    ] {
        let error = refused(&[], &[&format!("{name}=1")]);
        assert_eq!(error, format!("the environment variable {name} is not a setting; {hint}"));
    }
    for (key, hint) in [("tickrate", "tick_hz"), ("maxplayers", "max_players"), ("bot", "bots")] {
        let file = ConfigFile::new(&format!("\n{key} = 60"));
        let error = refused(&["--config", file.path()], &[]);
        let place = format!("{key:?} in {}:2", file.path());
        assert_eq!(error, format!("{place} is not a setting; did you mean {hint}?"));
    }
    let file = ConfigFile::new("quux = 60");
    let error = refused(&["--config", file.path()], &[]);
    assert!(error.contains(" is not a setting; the settings are name, game, "), "{error}");
    assert!(settings().all(|setting| error.contains(setting.key)), "{error}");

    for name in ["PHASELOCK_", "PHASELOCK_PORT", "PHASELOCK_TEST"] {
        assert!(refused(&[], &[&format!("{name}=1")]).contains(name));
    }
    match run(&["--tick-rate=6"], &[]) {
        Err(ConfigError::Usage(error)) => {
            let line = phaselock_cli::sentence(&error);
            assert!(line.contains("'--tick-rate'") && !line.contains('\n'), "{line}");
            assert!(line.ends_with("; did you mean --tick-hz? See --help"), "{line}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn variables_of_others_and_empty_ones_are_left_alone() {
    let env = [
        "PHASELOCK=1",
        "PHASELOCK_TEST_SEED=1",
        "PHASELOCK_TEST_DEPTH=4",
        "PHASELOCK_SERVICE_HOST=10.0.0.1",
        "PHASELOCK_PORT=udp://10.0.0.1:4433",
        "PHASELOCK_PORT_4433_UDP_PROTO=udp",
        "PHASELOCK_SEED=",
        "PHASELOCK_CONFIG=",
    ];
    assert_eq!(serve(&[], &env), Config::default());
}

#[cfg(unix)]
#[test]
fn text_that_is_not_unicode_is_an_error_except_in_paths() {
    use std::os::unix::ffi::OsStringExt;
    use std::path::PathBuf;

    let odd = || OsString::from_vec(b"a\xff".to_vec());
    let run = |name: &str| {
        parse_from(["phaselock-server".into()], [(name.into(), odd()), (odd(), odd())], &judge)
    };
    let Ok(Command::Serve(config)) = run("PHASELOCK_DATA_DIR") else {
        panic!("paths may be any bytes")
    };
    assert_eq!(config.config.operation.data_dir, PathBuf::from(odd()));
    let Err(ConfigError::Mistakes(mistakes)) = run("PHASELOCK_NAME") else {
        panic!("a name is text")
    };
    assert!(matches!(&*mistakes, [Mistake::Invalid { .. }]), "{mistakes:?}");
}

#[test]
fn health_checks_find_their_server() {
    for (args, env, expected) in [
        (&["healthcheck"][..], &[][..], "127.0.0.1:4433"),
        (&["healthcheck"], &["PHASELOCK_LISTEN=9000"], "127.0.0.1:9000"),
        (&["healthcheck"], &["PHASELOCK_LISTEN=0.0.0.0:9000"], "127.0.0.1:9000"),
        (&["healthcheck"], &["PHASELOCK_LISTEN=[::1]:9000"], "[::1]:9000"),
        (&["healthcheck", "--listen", "10.0.0.1:1"], &[], "10.0.0.1:1"),
        (&["--listen", "10.0.0.1:1", "healthcheck"], &[], "10.0.0.1:1"),
        (&["healthcheck", "10.0.0.1:2"], &["PHASELOCK_LISTEN=9000"], "10.0.0.1:2"),
        (&["healthcheck", "9001"], &[], "127.0.0.1:9001"),
    ] {
        let addr = expected.parse().expect("an address");
        assert_eq!(
            run(args, env).expect("valid"),
            Command::HealthCheck { addr },
            "{args:?} {env:?}"
        );
    }
    assert!(
        refused(&["healthcheck", "nowhere"], &[])
            .starts_with("the argument ADDR is \"nowhere\", but must be ")
    );
    assert!(
        refused(&["healthcheck", "0"], &[]).starts_with("the argument ADDR is \"0\", but must be ")
    );
    let error = refused(&["healthcheck"], &["PHASELOCK_LISTEN=[::]:0"]);
    assert!(
        error.starts_with("the environment variable PHASELOCK_LISTEN is \"[::]:0\", but must be "),
        "{error}"
    );
}

#[test]
fn a_list_of_games_has_no_holes_and_an_end() {
    let long = vec!["a"; 17].join(",");
    for list in ["", "a,,b", ",", "a,", "A", "a b", &long, "a,abcdefghijklmnopqrstuvwxyz0123456"] {
        let error = run(&["--game", list], &[]).expect_err("it is no list").to_string();
        assert!(error.contains("separated by commas"), "{list}: {error}");
    }
    assert_eq!(serve(&["--game", " a , b-2 ", "--rounds", "9"], &[]).play.game, ["a", "b-2"]);
}

#[test]
fn usage_is_for_clap_to_explain() {
    for (args, code, to_stderr) in [
        (&["--help"][..], 0, false),
        (&["--version"], 0, false),
        (&["healthcheck", "--help"], 0, false),
        (&["--bogus"], 2, true),
        (&["--bots"], 2, true),
        (&["--bots=1", "--bots=2"], 2, true),
        (&["serve"], 2, true),
        (&["ctl"], 2, true),
        (&["config", "--help"], 0, false),
        (&["config", "--bogus"], 2, true),
        (&["--watch-config", "yes"], 2, true),
    ] {
        // Not even a bad environment keeps anybody from the help.
        match run(args, &["PHASELOCK_BOTS=x"]) {
            Err(ConfigError::Usage(error)) => {
                assert_eq!((error.exit_code(), error.use_stderr()), (code, to_stderr), "{args:?}");
                // A mistake, or a page of help.
                assert_eq!(error.to_string().starts_with("error: "), to_stderr, "{args:?}");
            }
            other => panic!("{args:?} gave {other:?}"),
        }
    }
}
