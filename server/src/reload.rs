//! Reloads settings while the server runs: all changes, or none if any is invalid.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use std::{fs, mem};

use phaselock::fingerprint::Fingerprint;
use phaselock::games::Games;
use phaselock::server::RoomSettings;
use phaselock::time::Micros;
use phaselock_quic::server::{ServerHandle, SettingsByRoom};
use tokio::sync::{Mutex, watch};
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};

use crate::certificate::{self, Presented};
use crate::clocks::Clocks;
use crate::config::{
    AllowList, BadOverride, Change, Config, ListError, Mistake, SettingValue, Settings, Special,
    parse_filter, setting_key,
};
use crate::games::check_games;
use crate::logging::LogHandle;

/// Time between checks of the settings' files.
const WATCH_INTERVAL: Duration = Duration::from_secs(1);
/// Longest time for reading the files; twice this must fit into an answer of the administration
/// API.
const FILES_TIMEOUT: Duration = Duration::from_secs(4);
/// Maximum bytes of a file that are read to detect changes. Longer files, such as deny lists, are
/// compared by length and time.
const WATCH_BYTES_MAX: u64 = 1024 * 1024;

/// Reloads the settings while the server runs. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Reloader(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    parts: Parts,
    /// The settings in force.
    settings: Mutex<Settings>,
    config: watch::Sender<Arc<Config>>,
}

/// The parts of the server that settings apply to.
#[derive(Debug)]
pub(crate) struct Parts {
    /// All games of the program.
    pub(crate) games: Games,
    pub(crate) log: LogHandle,
    pub(crate) server: ServerHandle,
    pub(crate) presented: Presented,
}

/// Outcome of reloading the settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReloadReport {
    /// Settings that have taken effect.
    pub changed: Vec<Change>,
    /// Settings that need a restart; each says why.
    pub needs_restart: Vec<Change>,
}

impl Reloader {
    /// Creates a reloader for a server with these settings in force.
    pub(crate) fn new(settings: Settings, parts: Parts) -> Self {
        let (config, _) = watch::channel(Arc::new(settings.config.clone()));
        Self(Arc::new(Inner { parts, settings: Mutex::new(settings), config }))
    }

    /// Returns the fingerprint of the certificate in force.
    pub(crate) fn fingerprint(&self) -> Fingerprint {
        self.0.parts.presented.fingerprint()
    }

    /// Returns the Unix time at which the certificate in force expires, in seconds.
    pub(crate) fn certificate_expires(&self) -> Option<i64> {
        self.0.parts.presented.expires()
    }

    /// Logs that the certificate in force has expired or will soon. Call it once a second.
    pub(crate) fn warn_of_expiry(&self, clocks: &Clocks) {
        self.0.parts.presented.warn_of_expiry(clocks);
    }

    /// Returns the configuration in force, now and after each change.
    pub(crate) fn config(&self) -> watch::Receiver<Arc<Config>> {
        self.0.config.subscribe()
    }

    /// Returns all settings in force, with their values and origins.
    pub(crate) async fn list(&self) -> Vec<SettingValue> {
        self.0.settings.lock().await.list()
    }

    /// Reloads the settings from their sources and applies those that can change at run time; the
    /// log lists them. Reopens the log file.
    ///
    /// # Errors
    ///
    /// All mistakes in the settings; then nothing has changed.
    pub(crate) async fn reload(&self) -> Result<ReloadReport, Vec<Mistake>> {
        let done = self.try_reload().await;
        match &done {
            Ok(report) => log_report(report),
            Err(mistakes) => {
                for mistake in mistakes {
                    tracing::error!(name: "setting_invalid", %mistake, "invalid setting");
                }
                let mistakes = mistakes.len();
                tracing::error!(
                    name: "settings_refused",
                    mistakes,
                    "the settings were not loaded; the old ones stay in force"
                );
            }
        }
        done
    }

    async fn try_reload(&self) -> Result<ReloadReport, Vec<Mistake>> {
        let Inner { parts: Parts { games, log, presented, .. }, settings, .. } = &*self.0;
        let mut in_force = settings.lock().await;
        let before = in_force.clone();
        let known = games.clone();
        let judge = move |settings: &Settings, _: bool| check_games(&known, settings);
        let newer = of_files(move || before.load_again(&judge)).await?;
        let changes = in_force.changes(&newer);
        let (needs_restart, mut changed): (Vec<_>, Vec<_>) =
            changes.into_iter().partition(|change| change.restart.is_some());
        let before = in_force.clone();
        // Reads again the files that settings name.
        let next = of_files(move || before.in_force(&newer)).await?;
        let (certificate, new_log, named) = (presented.clone(), log.clone(), next.config.clone());
        let filter = parse_filter(&next.config.operation.log_filter);
        let filter = filter.map_err(|error| vec![Mistake::Log(error.to_string())])?;
        let opened = of_files(move || {
            let identity = certificate.newer(&named).map_err(Mistake::Identity);
            let identity = identity.map_err(|mistake| vec![mistake])?;
            new_log.reopen().map_err(|error| vec![Mistake::Log(error.to_string())])?;
            Ok(identity)
        });
        let identity = opened.await?;
        // Nothing can fail from here on.
        let before = mem::replace(&mut *in_force, next);
        let (before, after) = (&before.config, &in_force.config);
        if before.operation.log_filter != after.operation.log_filter {
            log.put_filter(filter);
        }
        if let Some(identity) = identity {
            let from = presented.replace(&identity).to_string();
            let to = identity.fingerprint.to_string();
            changed.push(Change { setting: "certificate".to_owned(), from, to, restart: None });
        }
        self.apply(before, after).await;
        Ok(ReloadReport { changed, needs_restart })
    }

    /// Applies a valid configuration to the parts of the server.
    async fn apply(&self, before: &Config, after: &Config) {
        let Inner { parts: Parts { games, server, .. }, config, .. } = &*self.0;
        server.set_seats_per_address(after.joining.seats_per_address);
        config.send_replace(Arc::new(after.clone()));
        let rooms = room_settings(after);
        let has_others = before.play.game != after.play.game;
        // Their names were checked.
        let selected = games.select(&after.game_names(games)).ok();
        if let Some(selected) = selected.filter(|_| has_others) {
            server.set_games(&selected);
        }
        if has_others || room_settings(before) != rooms {
            // A stalled room applies it when it continues.
            if let Err(error) = server.configure(rooms).await {
                tracing::warn!(
                    name: "room_settings_late",
                    %error,
                    "a room has not applied the new settings yet"
                );
            }
        }
    }

    /// Changes a setting until the server stops, or resets it to the value of its sources (`None`).
    /// `by` is the author of the request. Returns the change; `None` if the value is the same.
    ///
    /// # Errors
    ///
    /// If the setting cannot change while the server runs, or the value is invalid; then nothing
    /// has changed.
    pub(crate) async fn set(
        &self,
        name: &str,
        value: Option<&str>,
        by: &str,
    ) -> Result<Option<Change>, BadOverride> {
        let Inner { parts: Parts { games, log, .. }, settings, .. } = &*self.0;
        let mut in_force = settings.lock().await;
        let (before, known) = (in_force.clone(), games.clone());
        let key = setting_key(name);
        let (name, value, by) = (name.to_owned(), value.map(str::to_owned), by.to_owned());
        // Reads again the files that settings name.
        let next = of_files(move || {
            let next = before.with(&name, value.as_deref(), &by);
            let mistakes = next.as_ref().map_or(Vec::new(), |next| check_games(&known, next));
            if mistakes.is_empty() { Ok(next) } else { Err(mistakes) }
        });
        let next = next.await.map_err(BadOverride::Mistakes)??;
        let filter = parse_filter(&next.config.operation.log_filter);
        let filter =
            filter.map_err(|error| BadOverride::Mistakes(vec![Mistake::Log(error.to_string())]))?;
        let changes = in_force.changes(&next);
        let before = mem::replace(&mut *in_force, next);
        if before.config.operation.log_filter != in_force.config.operation.log_filter {
            log.put_filter(filter);
        }
        self.apply(&before.config, &in_force.config).await;
        // Files that other settings name may have changed, too.
        changes.iter().for_each(note_change);
        Ok(changes.into_iter().find(|change| change.setting == key))
    }

    /// Changes the allow list, in its file and in force. Returns false if there is none.
    pub(crate) async fn change_allow_list(
        &self,
        change: impl FnOnce(&AllowList) -> Result<AllowList, ListError> + Send + 'static,
    ) -> Result<bool, String> {
        let mut in_force = self.0.settings.lock().await;
        let Some(list) = in_force.config.joining.allow_list.clone() else { return Ok(false) };
        let changed = spawn_blocking(move || change(&list));
        let waited = timeout(FILES_TIMEOUT, changed).await;
        let changed = waited.map_err(|_| "reading the list's file takes too long".to_owned())?;
        let list =
            changed.map_err(|panic| panic.to_string())?.map_err(|error| error.to_string())?;
        in_force.config.joining.allow_list = Some(list);
        self.0.config.send_replace(Arc::new(in_force.config.clone()));
        Ok(true)
    }

    /// Reloads the settings whenever the content of one of their files changes. Never returns.
    pub(crate) async fn watch(self) {
        let mut known = self.digest().await;
        loop {
            sleep(WATCH_INTERVAL).await;
            let digest = self.digest().await;
            if mem::replace(&mut known, digest) != digest {
                tracing::info!(name: "settings_file_changed", "a settings file has changed");
                // The log has the outcome.
                let _ = self.reload().await;
            }
        }
    }

    /// Returns a digest of all files that settings come from.
    async fn digest(&self) -> u64 {
        let settings = self.0.settings.lock().await;
        let Config { joining, http, .. } = &settings.config;
        let (certificate, key) = certificate::paths(&settings.config);
        let allow_list = joining.allow_list.as_ref().map(|list| list.path.clone());
        let config = settings.file().map(PathBuf::from);
        let of_webhooks = http.webhook.iter().flat_map(|it| it.files.clone());
        let of_lists = joining.deny_lists.iter().filter_map(|it| it.file().map(PathBuf::from));
        let of_lists: Vec<_> = of_webhooks.chain(of_lists).collect();
        let optional = [joining.password_file.clone(), allow_list, config];
        drop(settings);
        let paths = optional.into_iter().flatten().chain([certificate, key]);
        let paths: Vec<_> = paths.chain(of_lists).collect();
        spawn_blocking(move || digest(&paths)).await.unwrap_or_default()
    }
}

/// Runs a function that reads files, without blocking ticks. Fails if it takes too long: reading a
/// pipe without a writer would take forever.
async fn of_files<T: Send + 'static>(
    read: impl FnOnce() -> Result<T, Vec<Mistake>> + Send + 'static,
) -> Result<T, Vec<Mistake>> {
    let cause = match timeout(FILES_TIMEOUT, spawn_blocking(read)).await {
        Ok(Ok(done)) => return done,
        Ok(Err(panic)) => panic.to_string(),
        Err(_) => {
            "reading a file takes too long; is one a pipe, or on a disk that is gone?".to_owned()
        }
    };
    Err(vec![Mistake::Reload(cause)])
}

fn digest(paths: &[PathBuf]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for path in paths {
        // A pipe can be read only once, and would block.
        let about = fs::metadata(path).ok().filter(fs::Metadata::is_file);
        let is_small = about.as_ref().is_some_and(|it| it.len() <= WATCH_BYTES_MAX);
        is_small.then(|| fs::read(path).ok()).flatten().hash(&mut hasher);
        let large = about.filter(|_| !is_small);
        large.map(|it| (it.len(), it.modified().ok())).hash(&mut hasher);
    }
    hasher.finish()
}

fn note_change(Change { setting, from, to, .. }: &Change) {
    tracing::info!(name: "setting_changed", setting, from, to, "a setting has changed");
}

fn log_report(report: &ReloadReport) {
    report.changed.iter().for_each(note_change);
    for Change { setting, from, to, restart } in &report.needs_restart {
        tracing::warn!(
            name: "setting_needs_restart",
            setting,
            from,
            to,
            why = restart,
            "a setting needs a restart"
        );
    }
    let (changed, needs_restart) = (report.changed.len(), report.needs_restart.len());
    tracing::info!(name: "settings_loaded", changed, needs_restart, "the settings were loaded");
}

/// The settings of all rooms, with those that differ by room or game.
pub(crate) fn room_settings(config: &Config) -> SettingsByRoom {
    let mut settings = SettingsByRoom::from(room_changes(config));
    for Special { room, game, config } in &config.special {
        settings.set(room.clone(), game.clone(), room_changes(config));
    }
    settings
}

/// Returns the settings of rooms that can change while they run.
pub(crate) fn room_changes(config: &Config) -> RoomSettings {
    let play = &config.play;
    let secs = |secs: u32| Micros::from_ms(1000 * i64::from(secs));
    RoomSettings {
        name: play.name.clone(),
        download: config.joining.download.clone(),
        bots: play.bots,
        strength: play.bot_strength,
        fill: play.bots_fill,
        players_max: play.max_players,
        watchers_max: play.max_watchers,
        watch_delay: play.watch_delay_seconds.map(|it| secs(it.into())),
        client_bytes_per_second: play.client_bytes,
        send: play.send.clone(),
        rewind: play.rewind_ms.map(|ms| Micros::from_ms(i64::from(ms))),
        favour: play.favour,
        kill_replays: play.kill_replays,
        resume: secs(play.resume_seconds),
        rounds: Some(play.rounds),
        sleep: (play.sleep_seconds > 0).then(|| secs(play.sleep_seconds)),
        idle: (play.idle_seconds > 0).then(|| secs(play.idle_seconds)),
        // The rooms have the rotation already.
        games: Vec::new(),
        votes: play.votes,
        ready: play.ready_up,
    }
}
