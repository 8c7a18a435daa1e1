//! Checks what a start would fail on, for `--check-config` and for the start itself. Nothing on the
//! disk is created or changed.

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::path::Path;

use crate::config::{Mistake, Settings};
use crate::{certificate, data_dir, store, web};

/// Returns all mistakes in files, folders and addresses of valid settings that would make a start
/// fail.
pub(crate) fn preflight(settings: &Settings) -> Vec<Mistake> {
    let config = &settings.config;
    let unusable =
        |flag: &str, problem: String| Mistake::Unusable { origin: settings.origin(flag), problem };
    let mut mistakes = Vec::new();
    let log_file = config.operation.log_file.as_deref().and_then(|path| check_log_file(path).err());
    mistakes.extend(log_file.map(|problem| unusable("log-file", problem)));
    if settings.is_sure("data-dir") {
        let problem = check_data_dir(&config.operation.data_dir).err();
        mistakes.extend(problem.map(|problem| unusable("data-dir", problem)));
    }
    // Setting only one of the two is reported already.
    if config.operation.cert_file.is_some() == config.operation.key_file.is_some() {
        mistakes.extend(certificate::mistakes(config));
    }
    if let Err(problem) = web::check(config) {
        let flag = if config.http.web_files.is_some() { "web-files" } else { "web" };
        mistakes.push(unusable(flag, format!("{problem:#}")));
    }
    let listen = config.joining.listen.iter().map(|address| ("listen", *address));
    let others = [("admin-listen", config.operation.admin_listen), ("web", config.http.web)];
    let others = others.into_iter().filter_map(|(flag, address)| Some((flag, address?)));
    mistakes.extend(listen.chain(others).filter_map(|(flag, address)| {
        let problem = check_address(address).err()?;
        Some(unusable(flag, problem))
    }));
    mistakes
}

/// Checks that lines can be appended to a file, which need not exist yet.
fn check_log_file(path: &Path) -> Result<(), String> {
    match metadata(path)? {
        Some(it) if it.is_dir() => Err(format!("{} is a directory", path.display())),
        Some(it) if it.is_file() => {
            let opened = File::options().append(true).open(path);
            opened.map(drop).map_err(|error| about(path, &error))
        }
        // A pipe or a terminal: opening it would have side effects.
        Some(_) => Ok(()),
        // A link to a file that does not exist yet.
        None if fs::symlink_metadata(path).is_ok() => Ok(()),
        None => check_writable(parent(path)),
    }
}

/// Checks that the data directory can be created or used, including the files that every start
/// opens.
fn check_data_dir(dir: &Path) -> Result<(), String> {
    let Some(existing) = metadata(dir)? else {
        if fs::symlink_metadata(dir).is_ok() {
            return Err(format!("{} is a dangling link", dir.display()));
        }
        // It will be created, together with the directories above it.
        let mut above = parent(dir);
        while above != Path::new(".") && metadata(above)?.is_none() {
            above = parent(above);
        }
        return check_writable(above);
    };
    if !existing.is_dir() {
        return Err(format!("{} is not a directory", dir.display()));
    }
    check_writable(dir)?;
    for file in [dir.join(data_dir::LOCK_FILE), dir.join(store::FILE)] {
        if metadata(&file)?.is_some() {
            let opened = File::options().read(true).write(true).open(&file);
            opened.map_err(|error| about(&file, &error))?;
        }
    }
    let rooms = dir.join(data_dir::ROOMS_DIR);
    if metadata(&rooms)?.is_some() {
        check_writable(&rooms)?;
    }
    store::check(&dir.join(store::FILE)).map_err(|error| error.to_string())
}

/// Checks that this machine has an address. Ports are not checked: a running server has them.
fn check_address(address: SocketAddr) -> Result<(), String> {
    let mut any_port = address;
    any_port.set_port(0);
    if address.ip().is_unspecified() {
        return Ok(());
    }
    match UdpSocket::bind(any_port) {
        Err(error) if error.kind() == ErrorKind::AddrNotAvailable => {
            let ip: IpAddr = address.ip();
            Err(format!("no network interface of this machine has the address {ip}"))
        }
        _ => Ok(()),
    }
}

/// Returns the metadata of a path; `None` if nothing is there.
fn metadata(path: &Path) -> Result<Option<Metadata>, String> {
    match fs::metadata(path) {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(about(path, &error)),
    }
}

/// Returns the directory that contains a path.
fn parent(path: &Path) -> &Path {
    path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn about(path: &Path, error: &io::Error) -> String {
    format!("{}: {error}", path.display())
}

/// Checks that files can be created in a directory.
fn check_writable(dir: &Path) -> Result<(), String> {
    let found = fs::metadata(dir).map_err(|error| about(dir, &error))?;
    if !found.is_dir() {
        return Err(format!("{} is not a directory", dir.display()));
    }
    may_write(dir).map_err(|error| format!("cannot write in {}: {error}", dir.display()))
}

/// Asks the system whether this user may create files in a directory.
#[cfg(unix)]
fn may_write(dir: &Path) -> io::Result<()> {
    use rustix::fs::{Access, AtFlags, CWD, accessat};

    accessat(CWD, dir, Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS)?;
    // In these, root has all permissions, but creating files fails.
    #[cfg(target_os = "linux")]
    if [PROC_MAGIC, SYSFS_MAGIC].contains(&i128::from(rustix::fs::statfs(dir)?.f_type)) {
        return Err(io::Error::other("it belongs to the system"));
    }
    Ok(())
}

/// On other systems only an attempt would tell, so this never fails.
#[cfg(not(unix))]
fn may_write(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Types of file systems in which users cannot create files, from `linux/magic.h`.
#[cfg(target_os = "linux")]
const PROC_MAGIC: i128 = 0x9fa0;
#[cfg(target_os = "linux")]
const SYSFS_MAGIC: i128 = 0x6265_6572;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::PathBuf;

    use super::*;
    use crate::commands::{Command, parse_from};
    use crate::config::Config;
    use crate::data;

    /// Returns what preflight reports for a server with these flags.
    fn mistakes_for(flags: &[&str]) -> Vec<String> {
        let given = ["phaselock-server"].iter().chain(flags).map(Into::into);
        let settings = match parse_from(given, [], &|_, _| Vec::new()) {
            Ok(Command::Serve(settings)) => settings,
            other => panic!("{flags:?}: {other:?}"),
        };
        preflight(&settings).iter().map(Mistake::to_string).collect()
    }

    /// Everything in a directory, with the times of the last changes.
    fn content(dir: &Path) -> BTreeSet<(PathBuf, String)> {
        let entries = fs::read_dir(dir).expect("a directory").map(|it| it.expect("an entry"));
        let all = entries.flat_map(|entry| {
            let (path, about) = (entry.path(), entry.metadata().expect("it is there"));
            let mut all = if about.is_dir() { content(&path) } else { BTreeSet::new() };
            all.insert((path, format!("{:?}", about.modified())));
            all
        });
        all.collect()
    }

    #[test]
    fn what_fails_a_start_is_found_and_nothing_is_changed() {
        let dir = tempfile::tempdir().expect("a directory");
        let at = |name: &str| dir.path().join(name).to_str().expect("text").to_owned();
        fs::write(at("file"), "").expect("writable");
        for made in ["page", "lock/lock", "rooms", "database/phaselock.db", "newer"] {
            fs::create_dir_all(at(made)).expect("writable");
        }
        fs::write(at("rooms/rooms"), "").expect("writable");
        let head = [&b"SQLite format 3\0"[..], &[0; 44], &[0, 0, 3, 231]].concat();
        fs::write(at("newer/phaselock.db"), head).expect("writable");
        let before = content(dir.path());
        let data = format!("--data-dir={}", at("data"));
        for (flag, value, says) in [
            ("--log-file", at(""), "is a directory"),
            ("--log-file", at("gone/x.log"), "gone: "),
            ("--log-file", at("file/x.log"), "file"),
            ("--data-dir", at("file"), "file is not a directory"),
            ("--data-dir", at("file/data"), "file"),
            ("--data-dir", at("lock"), "lock: "),
            ("--data-dir", at("rooms"), "rooms is not a directory"),
            ("--data-dir", at("database"), "phaselock.db: "),
            ("--data-dir", at("newer"), "is of version 999"),
            ("--web-files", at("gone"), "gone; build them with client/web/build"),
            ("--web-files", at("page"), "there is no index.html in "),
            ("--listen", "192.0.2.7:0".to_owned(), "has the address 192.0.2.7"),
        ] {
            let mut flags = vec![format!("{flag}={value}")];
            flags.extend((flag == "--web-files").then(|| "--web=127.0.0.1:0".to_owned()));
            flags.extend((flag != "--data-dir").then(|| data.clone()));
            let flags: Vec<_> = flags.iter().map(String::as_str).collect();
            let told = mistakes_for(&flags);
            assert_eq!(told.len(), 1, "{flags:?}: {told:?}");
            let start = format!("the flag {flag} cannot be used: ");
            assert!(told[0].starts_with(&start) && told[0].contains(says), "{told:?}");
        }
        for good in [
            &[&*data][..],
            &[&*data, &format!("--log-file={}", at("new.log"))],
            &[&*data, &format!("--log-file={}", at("file"))],
            &[&*data, &format!("--web-files={}", at("gone"))],
            &[&format!("--data-dir={}", at("a/b/c"))],
        ] {
            assert_eq!(mistakes_for(good), [""; 0], "{good:?}");
        }
        assert_eq!(content(dir.path()), before);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn system_directories_are_read_only_even_for_root() {
        for flag in ["--data-dir=/proc/nope", "--data-dir=/sys/a/b", "--log-file=/proc/nope"] {
            let told = mistakes_for(&[flag]);
            assert!(told.len() == 1 && told[0].contains("cannot write in /"), "{told:?}");
        }
    }

    #[test]
    fn all_mistakes_are_reported() {
        let dir = tempfile::tempdir().expect("a directory");
        let file = dir.path().join("file");
        fs::write(&file, "nonsense").expect("writable");
        let file = file.to_str().expect("text");
        let flags = ["log-file", "data-dir", "web-files"].map(|it| format!("--{it}={file}/x"));
        let mut flags = flags.to_vec();
        flags.extend(["cert-file", "key-file"].map(|it| format!("--{it}={file}")));
        flags.push("--web=127.0.0.1:0".to_owned());
        let told = mistakes_for(&flags.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(told.len(), 5, "{told:?}");
        assert!(told[2].contains("no certificate") && told[3].contains("no private key"));
    }

    #[test]
    fn the_directory_of_a_running_server_is_valid() {
        let dir = tempfile::tempdir().expect("a directory");
        let flag = format!("--data-dir={}", dir.path().display());
        let mut config = Config::default();
        config.operation.data_dir = dir.path().to_owned();
        certificate::identity(&config).expect("made");
        let kept = data::open(&config).expect("it opens");
        assert_eq!(mistakes_for(&[&flag]), [""; 0]);
        kept.close();
    }
}
