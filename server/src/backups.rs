//! Scheduled backups of the database, the certificate and the rooms, each in a folder of its own.
//! Only the newest are kept.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, UNIX_EPOCH};

use anyhow::{Context, Result};
use phaselock_quic::identity::{CERTIFICATE_FILE, KEY_FILE};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep};

use crate::host::Host;
use crate::time::date;
use crate::{certificate, data_dir, store};

/// Folder of all backups, in the data directory.
const FOLDER: &str = "backups";
/// Folder of a backup in progress.
const NEW: &str = ".new";
/// Time from the start to the first backup, and between checks whether one is due.
const LOOK_INTERVAL: Duration = Duration::from_secs(60);
/// Time after which a failed backup is retried.
const RETRY: Duration = Duration::from_secs(600);
/// Digits of the number that begins a backup's name. The number, not the date, determines which
/// backup is the oldest.
const DIGITS: usize = 6;

/// Makes backups when they are due, as long as the server runs.
pub(crate) async fn keep(host: Arc<Host>) {
    let folder = host.facts.data_dir.join(FOLDER);
    let mut made: Option<Instant> = None;
    let mut not_before = Instant::now() + LOOK_INTERVAL;
    loop {
        sleep(LOOK_INTERVAL).await;
        let hours = host.reloader.config().borrow().operation.backup_hours;
        let age = match made {
            Some(made) => i64::try_from(made.elapsed().as_secs()).ok(),
            None => age_of_newest(&folder, host.clocks.unix()),
        };
        if !is_due(age, hours) || Instant::now() < not_before {
            continue;
        }
        match make(&host).await {
            Ok(backup) => {
                host.backups[0].fetch_add(1, Ordering::Relaxed);
                made = Some(Instant::now());
                tracing::info!(
                    name: "backup_made",
                    folder = %backup.display(),
                    "a backup was made"
                );
            }
            Err(error) => {
                host.backups[1].fetch_add(1, Ordering::Relaxed);
                not_before = Instant::now() + RETRY;
                tracing::error!(
                    name: "backup_failed",
                    error = format!("{error:#}"),
                    "a backup failed"
                );
            }
        }
    }
}

/// Whether a backup is due if the last one is `age` seconds old. A backup from the future does not
/// count.
fn is_due(age: Option<i64>, hours: u32) -> bool {
    hours > 0 && age.is_none_or(|age| !(0..i64::from(hours) * 3600).contains(&age))
}

/// Returns the age of the last backup in seconds, if there is one.
fn age_of_newest(folder: &Path, now: i64) -> Option<i64> {
    let (_, newest) = backups(folder).ok()?.pop()?;
    let made = fs::metadata(newest).and_then(|it| it.modified()).ok()?;
    let made = made.duration_since(UNIX_EPOCH).ok()?;
    Some(now - i64::try_from(made.as_secs()).ok()?)
}

/// Returns all backups with their numbers, oldest first. Ignores other files.
fn backups(folder: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let number = name.split_once('-').map(|(number, _)| number);
        let number = number.filter(|it| it.len() == DIGITS).and_then(|it| it.parse().ok());
        found.extend(number.filter(|_| path.is_dir()).map(|number| (number, path)));
    }
    found.sort();
    Ok(found)
}

/// Makes a backup and returns its folder. Then removes the oldest backups; a failure of that is
/// only logged.
async fn make(host: &Host) -> Result<PathBuf> {
    let config = Arc::clone(&host.reloader.config().borrow());
    let (data_dir, now) = (host.facts.data_dir.clone(), host.clocks.unix());
    let folder = data_dir.join(FOLDER);
    let new = folder.join(NEW);
    let prepared = new.clone();
    spawn_blocking(move || prepare(&prepared)).await?.context("cannot make its folder")?;
    host.store.backup(new.join(store::FILE)).await?;
    spawn_blocking(move || {
        let (certificate, key) = certificate::paths(&config);
        for (file, name) in [(certificate, CERTIFICATE_FILE), (key, KEY_FILE)] {
            copy(&file, &new.join(name)).with_context(|| file.display().to_string())?;
        }
        copy_rooms(&data_dir.join(data_dir::ROOMS_DIR), &new.join(data_dir::ROOMS_DIR))
            .context("cannot copy rooms")?;
        let last = backups(&folder)?.pop().map_or(0, |(number, _)| number);
        // Such as 2026-11-26-1135.
        let date: String = date(now).chars().filter(|c| *c != ':').collect();
        let date = date.trim_end_matches(" UTC").replace(' ', "-");
        let backup = folder.join(format!("{:0DIGITS$}-{date}", last + 1));
        fs::rename(&new, &backup).context("cannot name it")?;
        let all = backups(&folder)?;
        let over = all.len().saturating_sub(usize::from(config.operation.backup_keep));
        for (_, old) in &all[..over] {
            if let Err(error) = fs::remove_dir_all(old) {
                tracing::warn!(
                    name: "backup_stuck",
                    folder = %old.display(),
                    %error,
                    "cannot remove an old backup"
                );
            }
        }
        Ok(backup)
    })
    .await?
}

/// Creates an empty folder, replacing an unfinished one.
fn prepare(new: &Path) -> io::Result<()> {
    match fs::remove_dir_all(new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => data_dir::make_private_dir(new),
    }
}

/// Copies the rooms' files. The running server replaces each one atomically.
fn copy_rooms(from: &Path, to: &Path) -> io::Result<()> {
    data_dir::make_private_dir(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let Some(name) = path.file_name() else { continue };
        if path.extension().is_some_and(|end| end == "room") {
            match copy(&path, &to.join(name)) {
                // The room was closed meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                copied => copied?,
            }
        }
    }
    Ok(())
}

/// Copies a file to a new one that only its owner can read, and waits for the disk.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let mut from = File::open(from)?;
    let mut to = data_dir::new_private(to)?;
    io::copy(&mut from, &mut to)?;
    to.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Punish;
    use crate::author::Role;
    use crate::certificate::identity;
    use crate::config::Config;
    use crate::data;
    use crate::sentence::Act;
    use crate::tests::{author, serve};

    #[test]
    fn backups_are_due_by_age() {
        for (age, hours, due) in [
            (None, 24, true),
            (Some(86_399), 24, false),
            (Some(86_400), 24, true),
            (Some(-1), 24, true),
            (None, 0, false),
            (Some(1_000_000), 0, false),
        ] {
            assert_eq!(is_due(age, hours), due, "{age:?} {hours}");
        }
    }

    #[test]
    fn the_newest_backups_are_kept_and_can_be_restored() {
        let served = serve(&["--backup-keep", "2"]);
        let host = &served.host;
        let ban = Punish { address: Some("192.0.2.7".into()), ..Punish::default() };
        served.wait(host.punish(&author(Role::Admin), Act::Ban, &ban)).expect("an admin may");
        let _ada = served.join("Ada");
        let rooms = served.dir.path().join("rooms");
        served.until("a kept room", |_| rooms.join("1.room").exists());
        let folder = served.dir.path().join(FOLDER);
        fs::create_dir_all(folder.join("mine")).expect("a folder of somebody else's");
        // Left by an interrupted attempt.
        fs::create_dir_all(folder.join(NEW).join("rooms")).expect("a folder");
        let made = [(); 3].map(|()| served.wait(make(host)).expect("it is made"));
        assert!(!made[0].exists() && made[1].exists() && made[2].exists(), "{made:?}");
        assert!(folder.join("mine").exists() && !folder.join(NEW).exists());
        let name = made[2].file_name().and_then(|it| it.to_str()).expect("text");
        assert!(name.starts_with("000003-20") && name.len() == 22, "{name}");
        let age = age_of_newest(&folder, host.clocks.unix()).expect("there is one");
        assert!((-5..600).contains(&age), "{age}");

        // As the manual says: restored by copying its files into a data directory.
        let mut config = Config::default();
        config.operation.data_dir = made[2].clone();
        #[cfg(unix)]
        for file in ["phaselock.db", "cert.pem", "key.pem", "rooms/1.room"] {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = fs::metadata(made[2].join(file)).expect("it is there").permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{file}");
        }
        let restored = identity(&config).expect("an identity");
        assert_eq!(restored.fingerprint, host.reloader.fingerprint());
        let kept = data::open(&config).expect("it opens");
        let bans = kept.access.sentences(Act::Ban, host.clocks.unix());
        assert_eq!(bans.len(), 1);
        kept.close();
    }
}
