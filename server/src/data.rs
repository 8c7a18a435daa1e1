//! The data directory, opened by one server at a time, with everything stored in it.

use std::fs::{File, TryLockError};
use std::future::Future;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use phaselock_quic::server::Keeper as _;
use tokio::time::sleep;

use crate::author::Role;
use crate::clocks::{CalendarState, Clocks};
use crate::config::{Config, FleetSecret};
use crate::data_dir::{
    LOCK_FILE, RECORDER_FILE, ROOMS_DIR, make_private_dir, token_path, write_private,
};
use crate::deny::{DenyLists, DenyThread};
use crate::people::{AccessLists, Gatekeeper, Rules};
use crate::recordings::{Recording, Recordings, RecordingsThread};
use crate::store::{Change, Store, Thread as StoreThread};
use crate::token::{hash_of, new_token};
use crate::worlds::{Worlds, WorldsThread};

/// Time between checks that the writer threads are running.
const ENDED_INTERVAL: Duration = Duration::from_millis(400);
/// Name of the first token.
const FIRST_TOKEN: &str = "first";

/// Everything that a server stores, opened.
#[derive(Debug)]
pub(crate) struct Storage {
    pub(crate) access: Arc<AccessLists>,
    pub(crate) gate: Arc<Gatekeeper>,
    pub(crate) store: Store,
    pub(crate) clocks: Clocks,
    pub(crate) worlds: Worlds,
    pub(crate) recordings: Arc<Recordings>,
    /// Locked for as long as the server runs.
    _lock: File,
    deny_thread: DenyThread,
    store_thread: StoreThread,
    worlds_thread: WorldsThread,
    recordings_thread: RecordingsThread,
}

/// Returns the settings' rules for newcomers.
pub(crate) fn rules(config: &Config) -> Rules {
    Rules {
        password: config.joining.password.as_ref().map(|password| password.0.clone()),
        allowed: config.joining.allow_list.as_ref().map(|list| list.keys.keys().copied().collect()),
        region: config.joining.region.clone().unwrap_or_default(),
        fleet: config.joining.fleet_secret_file.as_ref().map(FleetSecret::key),
        oldest_client: config.joining.oldest_client.clone(),
        download: config.joining.download.clone(),
    }
}

/// Opens everything in the data directory, which is created if it is missing.
pub(crate) fn open(config: &Config) -> Result<Storage> {
    open_by(config, Clocks::begin)
}

/// Like [`open`], with clocks that `clocks` creates from the stored calendar.
pub(crate) fn open_by(
    config: &Config,
    clocks: impl FnOnce(Option<&CalendarState>) -> Clocks,
) -> Result<Storage> {
    let data_dir = &config.operation.data_dir;
    make_private_dir(data_dir)
        .with_context(|| format!("cannot make the directory {}", data_dir.display()))?;
    let lock = lock(data_dir)?;
    let (store, everything, store_thread) = Store::open(data_dir)?;
    let calendar = everything.calendar;
    let clocks = clocks(calendar.as_ref());
    let access = Arc::new(AccessLists::new(everything));
    let decided = Arc::clone(&access);
    store.refill_from(move || decided.all());
    let state = clocks.state();
    // Undoes jumps that were followed, if the machine booted with the date from before them.
    let moved = calendar.map_or(0, |kept| state.moved - kept.moved);
    let mut changes = if moved == 0 { Vec::new() } else { access.shift(moved / 1000) };
    changes.push(access.calendar(state));
    store.note(changes);
    if access.tokens().iter().all(|(_, role, _)| *role != Role::Admin) {
        make_first_token(data_dir, &access, &store, clocks.unix())?;
    }
    let deny_lists = DenyLists::open(data_dir, clocks.clone(), &config.joining.deny_lists);
    let deny_thread = deny_lists.start().context("cannot start a thread for lists of addresses")?;
    let gate = Gatekeeper::new(Arc::clone(&access), clocks.clone(), rules(config), deny_lists);
    let gate = Arc::new(gate);
    let opened = Worlds::open(data_dir, config.play.resume_seconds, clocks.clone());
    let (worlds, worlds_thread) =
        opened.with_context(|| format!("cannot use {}/{ROOMS_DIR}", data_dir.display()))?;
    let stored: Vec<_> = worlds.stored_rooms().into_iter().map(|(code, _)| code).collect();
    let recording = Recording::open(&config.operation)
        .with_context(|| format!("cannot use {}/{RECORDER_FILE}", data_dir.display()))?;
    let (recordings, recordings_thread) = Recordings::open(recording, clocks.clone(), &stored)
        .context("cannot start the thread that writes recordings")?;
    let _lock = lock;
    Ok(Storage {
        access,
        gate,
        store,
        clocks,
        worlds,
        recordings,
        _lock,
        deny_thread,
        store_thread,
        worlds_thread,
        recordings_thread,
    })
}

/// Locks the data directory until the process ends, for whatever reason.
fn lock(data_dir: &Path) -> Result<File> {
    let path = data_dir.join(LOCK_FILE);
    let file = File::options().create(true).write(true).truncate(false).open(&path);
    let file = file.with_context(|| format!("cannot open {}", path.display()))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => bail!(
            "another server is using {}; stop it, or give this one its own data directory",
            data_dir.display()
        ),
        Err(TryLockError::Error(error)) => {
            tracing::warn!(
                name: "data_dir_unlocked",
                %error,
                "cannot lock the data directory; make sure that no other server uses it"
            );
            Ok(file)
        }
    }
}

/// Creates the first admin token, in a file that only the server's user can read.
fn make_first_token(data_dir: &Path, access: &AccessLists, store: &Store, now: i64) -> Result<()> {
    let token = new_token()?;
    let path = token_path(data_dir);
    write_private(&path, &token).with_context(|| format!("cannot write {}", path.display()))?;
    let grant = Some((hash_of(&token), Role::Admin));
    let change: Change = access.set_token(FIRST_TOKEN, grant, now)?;
    store.note(vec![change]);
    tracing::info!(
        name: "first_token",
        file = %path.display(),
        "wrote the first admin token; anyone who can read it has full control"
    );
    Ok(())
}

impl Storage {
    /// Resolves when one of the writer threads has ended, which it never does by itself.
    pub(crate) fn ended(&self) -> impl Future<Output = ()> + Send + 'static {
        let (store, worlds) = (self.store_thread.watch(), self.worlds_thread.watch());
        let (lists, recordings) = (self.deny_thread.watch(), self.recordings_thread.watch());
        async move {
            while !store() && !worlds() && !lists() && !recordings() {
                sleep(ENDED_INTERVAL).await;
            }
        }
    }

    /// Writes everything that is left.
    pub(crate) fn close(self) {
        self.store.note(vec![self.access.calendar(self.clocks.state())]);
        self.deny_thread.end();
        let have_ended =
            [self.worlds_thread.end(), self.store_thread.end(), self.recordings_thread.end()];
        if have_ended.contains(&false) {
            tracing::error!(
                name: "writer_panicked",
                "a writer thread panicked or is stuck; its unwritten data is lost"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_directory_has_one_server_at_a_time() {
        let dir = tempfile::tempdir().expect("a directory");
        let mut config = Config::default();
        config.operation.data_dir = dir.path().to_owned();
        let kept = open(&config).expect("the first");
        let error = open(&config).expect_err("another one").to_string();
        assert!(error.contains("another server is using"), "{error}");
        let token = fs::read_to_string(token_path(dir.path())).expect("the first start made it");
        assert!(kept.access.token(&hash_of(token.trim())).is_some());
        kept.close();
        // The next start creates no other token.
        let kept = open(&config).expect("the first has ended");
        assert!(kept.access.token(&hash_of(token.trim())).is_some());
        kept.close();
    }
}
