//! Files: the server's settings and identity, a client's known servers, recorded motion.
//!
//! All except motion are read from files in a temporary folder, since there is no other interface.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use phaselock::fingerprint::Fingerprint;
use phaselock::limits::PLAYERS_MAX;
use phaselock::textfile::{Text, line_at};
use phaselock::time::Rates;
use phaselock_lab::file::{self, POINTS_MAX, VALUE_MAX};
use phaselock_quic::identity::Identity;
use phaselock_quic::pins::{FILE_BYTES_MAX, KnownHosts, host_key};
use phaselock_server::commands::{self, Command};
use phaselock_server::config::{ConfigError, NAME_CHARS_MAX, Password, SettingValue, Settings};
use tempfile::TempDir;

use super::{Script, taken};

/// Runs a function with this thread's folder, which keeps its files.
fn in_folder<T>(run: impl FnOnce(&Path) -> T) -> T {
    thread_local! {
        static FOLDER: TempDir = TempDir::new().expect("a temporary folder");
    }
    FOLDER.with(|folder| run(folder.path()))
}

/// The server's configuration file.
pub fn config(data: &[u8]) -> bool {
    in_folder(|folder| {
        let path = folder.join("server.toml");
        fs::write(&path, data).expect("a temporary file");
        let program = || OsString::from("phaselock-server");
        let by_file = [program(), "--config".into(), path.into_os_string()];
        let settings = match commands::parse_from(by_file, [], &|_, _| Vec::new()) {
            Ok(Command::Serve(settings)) => settings,
            Ok(other) => panic!("a file cannot ask for {other:?}"),
            Err(ConfigError::Mistakes(mistakes)) => {
                assert!(!mistakes.is_empty());
                for mistake in mistakes {
                    assert_eq!(mistake.to_string().lines().count(), 1, "{mistake}");
                }
                return false;
            }
            Err(error) => panic!("a bad file is not a usage error: {error}"),
        };
        let config = &settings.config;
        assert!(
            config.play.bots <= PLAYERS_MAX && (1..=PLAYERS_MAX).contains(&config.play.max_players)
        );
        let rates = Rates { tick_hz: config.play.tick_hz, snapshot_hz: config.play.snapshot_hz };
        assert!(rates.validate().is_ok());
        assert!(
            config.play.name.chars().count() <= NAME_CHARS_MAX
                && !config.play.name.trim().is_empty()
        );
        // The command line gives the same result.
        let by_flags = std::iter::once(program()).chain(flags(&settings));
        match commands::parse_from(by_flags, [], &|_, _| Vec::new())
            .expect("it was good in the file")
        {
            Command::Serve(again) => assert_eq!(again.config, *config),
            other => panic!("{other:?}"),
        }
        true
    })
}

/// The given settings, as flags.
fn flags(settings: &Settings) -> Vec<OsString> {
    let is_given = |it: &SettingValue| it.origin != "default" && it.setting != "password";
    let given = settings.list().into_iter().filter(is_given);
    let flag = |it: SettingValue| format!("--{}={}", it.setting.replace('_', "-"), it.value);
    let mut flags: Vec<OsString> = given.map(|it| flag(it).into()).collect();
    let config = &settings.config;
    let password =
        config.joining.password.as_ref().filter(|_| config.joining.password_file.is_none());
    flags.extend(password.map(|Password(word)| format!("--password={word}").into()));
    flags
}

/// A client's file of known servers.
pub fn known_hosts(data: &[u8]) -> bool {
    const NEW: &str = "a.server.met.just.now:4433";
    in_folder(|folder| {
        let path = folder.join("known_hosts");
        fs::write(&path, data).expect("a temporary file");
        let Some(mut known) = taken(KnownHosts::open(&path)) else { return false };
        let text = Text::decode(data, FILE_BYTES_MAX).expect("anything else is refused");
        // The last line about a server counts.
        let key = |address: &str| {
            let (host, port) = address.rsplit_once(':').expect("anything else is refused");
            host_key(host, port.parse().expect("anything else is refused"))
        };
        let entries = text.lines().map(|(_, line)| line.trim_start());
        let entries: Vec<(String, Fingerprint)> = entries
            .filter(|line| !line.starts_with('#'))
            .filter_map(|line| line.split_once(char::is_whitespace))
            .map(|(host, print)| (key(host), print.trim().parse().expect("read")))
            .collect();
        let last = |host: &str| entries.iter().rev().find(|(other, _)| other == host);
        for (host, _) in &entries {
            assert_eq!(known.check(host), last(host).map(|(_, print)| *print), "{host}");
        }
        // A new server adds one line.
        let print = known.check(NEW).unwrap_or(Fingerprint([7; 32]));
        known.remember(NEW, print).expect("there is space for it");
        let after = fs::read(&path).expect("it is there");
        assert!(after.starts_with(data), "existing lines are not rewritten");
        let known = KnownHosts::open(&path).expect("we wrote it");
        assert_eq!(known.check(NEW), Some(print));
        for (host, _) in entries.iter().filter(|(host, _)| host != NEW) {
            assert_eq!(known.check(host), last(host).map(|(_, print)| *print), "{host}");
        }
        true
    })
}

/// Recorded motion.
pub fn motion(data: &[u8]) -> bool {
    let motion = match file::read(data, &phaselock_games::all()) {
        Ok(motion) => motion,
        Err(error) => {
            let lines = line_at(data, data.len());
            assert!((1..=lines).contains(&error.line), "{error}");
            let sentence = error.to_string();
            assert!(!sentence.contains(char::is_control) && sentence.chars().count() < 300);
            return false;
        }
    };
    let points = &motion.points;
    assert!((2..=POINTS_MAX).contains(&points.len()));
    // No point is shorter than `0,1,2` and the end of its line.
    assert!(points.len() <= data.len().div_ceil(6) && points.capacity() <= data.len());
    assert!(motion.values.capacity() <= data.len());
    assert_eq!(motion.values.len(), motion.source.as_ref().map_or(0, |_| points.len()));
    assert!(points.is_sorted_by(|a, b| a.time < b.time && a.segment <= b.segment));
    assert!(points.iter().all(|at| [at.time, at.x, at.y].iter().all(|it| it.abs() <= VALUE_MAX)));
    assert_eq!(file::read(motion.to_text().as_bytes(), &phaselock_games::all()), Ok(motion));
    true
}

/// The server's certificate and key, each after its length in two bytes.
///
/// The key in the corpus was made only for it:
///
/// ```sh
/// openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem \
///     -out cert.pem -subj /CN=fuzz -days 365000
/// ```
pub fn identity(data: &[u8]) -> bool {
    in_folder(|folder| {
        let mut script = Script(data);
        let files = [("cert.pem", script.block()), ("key.pem", script.block())];
        for (name, content) in files {
            fs::write(folder.join(name), content).expect("a temporary file");
        }
        let identity = Identity::load_or_create(folder);
        for (name, content) in files {
            let after = fs::read(folder.join(name)).expect("it is there");
            assert_eq!(after, content, "a file of the host's is never overwritten");
        }
        let Some(identity) = taken(identity) else { return false };
        identity.server_crypto(b"test").expect("the identity works");
        let again = Identity::load_or_create(folder).expect("it was good");
        assert_eq!(again.fingerprint, identity.fingerprint);
        true
    })
}
