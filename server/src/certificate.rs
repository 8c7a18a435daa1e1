//! The server's certificate: loading it at the start, and replacing it while the server runs.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Result;
use phaselock::fingerprint::Fingerprint;
use phaselock_quic::clock::Clock;
use phaselock_quic::identity::{Identity, IdentityError};
use x509_parser::prelude::{FromDer as _, X509Certificate};

use crate::clocks::Clocks;
use crate::config::{Config, Mistake};
use crate::time::{date, span_text};

/// Loads the identity that the settings name. Creates it if it is missing from the data directory,
/// unless the settings forbid that.
pub(crate) fn identity(config: &Config) -> Result<Identity> {
    if config.operation.cert_file.is_some() {
        return Ok(load(config)?);
    }
    let dir = &config.operation.data_dir;
    let (certificate, key) = Identity::paths_in(dir);
    let is_missing = !certificate.exists() && !key.exists();
    if is_missing && config.operation.require_identity {
        return Err(Mistake::NoIdentity { certificate, key }.into());
    }
    // Other files in the directory mean that it has been used before.
    let was_used = fs::read_dir(dir).is_ok_and(|mut entries| entries.next().is_some());
    let identity = Identity::load_or_create(dir)?;
    if is_missing && was_used {
        tracing::warn!(
            name: "identity_lost",
            directory = %dir.display(),
            fingerprint = %identity.fingerprint,
            "the data directory has been used, but had no certificate: players who know this \
             server by another one will refuse the new one; restore cert.pem and key.pem from a \
             backup"
        );
    }
    Ok(identity)
}

/// Returns the mistakes in the certificate files that would make a start fail. Changes nothing.
pub(crate) fn mistakes(config: &Config) -> Vec<Mistake> {
    let (certificate, key) = paths(config);
    if config.operation.cert_file.is_none() {
        let half = |present, missing| vec![IdentityError::Half { present, missing }.into()];
        match (certificate.exists(), key.exists()) {
            // The server creates them at the start.
            (false, false) if !config.operation.require_identity => return Vec::new(),
            (false, false) => return vec![Mistake::NoIdentity { certificate, key }],
            (true, false) => return half(certificate, key),
            (false, true) => return half(key, certificate),
            (true, true) => {}
        }
    }
    let errors = Identity::inspect(&certificate, &key).err().unwrap_or_default();
    errors.into_iter().map(Mistake::Identity).collect()
}

/// Returns a mistake if the certificate has expired, which does not prevent a start.
pub(crate) fn expired(config: &Config) -> Option<Mistake> {
    match expiry_in(config) {
        Some(Expiry::Past(problem)) => Some(Mistake::Expired { path: paths(config).0, problem }),
        _ => None,
    }
}

/// How long before expiry the host is warned. ACME clients renew 30 days before, so with two weeks
/// left renewal must be broken.
const SOON: i64 = 14 * 86_400;

/// Returns the Unix time at which a certificate expires, in seconds; `None` if it has no expiry
/// date.
fn expiry(certificate: &[u8]) -> Option<i64> {
    let (_, certificate) = X509Certificate::from_der(certificate).ok()?;
    Some(certificate.validity().not_after.timestamp())
}

/// Returns the system clock's Unix time in seconds, with which `--check-config` compares the
/// expiry. A running server uses its calendar.
fn today() -> i64 {
    Clock::unix_millis() / 1000
}

/// A warning that a certificate expires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Expiry {
    /// The certificate has expired.
    Past(String),
    /// The certificate expires soon.
    Soon(String),
}

impl Expiry {
    /// Returns the warning due at time `now`; `None` if the certificate is valid for long enough.
    fn of(expires: Option<i64>, now: i64) -> Option<Self> {
        let expires = expires?;
        let at = date(expires);
        if expires < now {
            let text = format!("the certificate expired on {at}: browsers refuse it; renew it");
            return Some(Self::Past(text));
        }
        let left = span_text(expires - now);
        let text = format!("the certificate expires in {left}, on {at}; renew it before then");
        (expires - now < SOON).then_some(Self::Soon(text))
    }

    /// Returns the text of the warning.
    pub(crate) fn text(&self) -> &str {
        let (Self::Past(text) | Self::Soon(text)) = self;
        text
    }
}

/// Returns the warning about the configured certificate, if any. Unreadable files are reported by
/// [`mistakes`] instead.
pub(crate) fn expiry_in(config: &Config) -> Option<Expiry> {
    let (certificate, key) = paths(config);
    let identity = Identity::inspect(&certificate, &key).ok()?;
    Expiry::of(expiry(&identity.certificate), today())
}

/// Loads an existing identity.
fn load(config: &Config) -> Result<Identity, IdentityError> {
    let (certificate, key) = paths(config);
    Identity::load(&certificate, &key)
}

/// Returns the paths of certificate and key.
pub(crate) fn paths(config: &Config) -> (PathBuf, PathBuf) {
    match (&config.operation.cert_file, &config.operation.key_file) {
        (Some(certificate), Some(key)) => (certificate.clone(), key.clone()),
        _ => Identity::paths_in(&config.operation.data_dir),
    }
}

/// The certificate of a running server. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Presented {
    /// Identity at the start; replacements are presented through it.
    identity: Arc<Identity>,
    in_force: Arc<Mutex<InForce>>,
}

/// The certificate in force.
#[derive(Debug)]
struct InForce {
    fingerprint: Fingerprint,
    /// Unix time at which it expires, in seconds.
    expires: Option<i64>,
    warnings: Warnings,
}

impl InForce {
    fn of(identity: &Identity) -> Self {
        let (fingerprint, expires) = (identity.fingerprint, expiry(&identity.certificate));
        Self { fingerprint, expires, warnings: Warnings::default() }
    }
}

/// The warning about expiry that was logged last, so that it is logged only once.
#[derive(Debug, Default)]
struct Warnings {
    /// Whether the certificate had expired then.
    past: Option<bool>,
    /// Whether the date was sure.
    was_sure: bool,
}

impl Warnings {
    /// Records the warning that is due. Returns whether it must be logged: because its kind is new,
    /// or because the date has become sure.
    fn is_news(&mut self, due: Option<&Expiry>, is_sure: bool) -> bool {
        let past = due.map(|it| matches!(it, Expiry::Past(_)));
        let is_other = past != self.past;
        let is_news = is_other || is_sure && !self.was_sure;
        self.was_sure = is_sure || !is_other && self.was_sure;
        self.past = past;
        due.is_some() && is_news
    }
}

impl Presented {
    pub(crate) fn new(identity: Identity) -> Self {
        let in_force = Arc::new(Mutex::new(InForce::of(&identity)));
        Self { identity: Arc::new(identity), in_force }
    }

    fn in_force(&self) -> MutexGuard<'_, InForce> {
        self.in_force.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Returns the fingerprint of the certificate in force.
    pub(crate) fn fingerprint(&self) -> Fingerprint {
        self.in_force().fingerprint
    }

    /// Returns the Unix time at which the certificate in force expires, in seconds.
    pub(crate) fn expires(&self) -> Option<i64> {
        self.in_force().expires
    }

    /// Logs once that the certificate will expire soon, and once that it has. Call it once a
    /// second.
    pub(crate) fn warn_of_expiry(&self, clocks: &Clocks) {
        let (now, is_sure) = (clocks.unix(), clocks.is_sure());
        let mut in_force = self.in_force();
        let due = Expiry::of(in_force.expires, now);
        let is_news = in_force.warnings.is_news(due.as_ref(), is_sure);
        drop(in_force);
        let Some(due) = due.filter(|_| is_news) else { return };
        let why = due.text();
        match due {
            Expiry::Past(_) if is_sure => {
                tracing::error!(
                    name: "certificate_expires",
                    why,
                    "the certificate has to be renewed"
                );
            }
            _ if is_sure => tracing::warn!(
                name: "certificate_expires",
                why,
                "the certificate has to be renewed"
            ),
            _ => {
                let why = format!("{why}; but the system clock jumped: check the date first");
                tracing::warn!(
                    name: "certificate_expires",
                    why,
                    "the certificate has to be renewed"
                );
            }
        }
    }

    /// Loads the identity that these settings name, if it is not the one in force.
    pub(crate) fn newer(&self, config: &Config) -> Result<Option<Identity>, IdentityError> {
        let identity = load(config)?;
        Ok((identity.fingerprint != self.fingerprint()).then_some(identity))
    }

    /// Presents another identity from now on. Returns the fingerprint of the old one.
    pub(crate) fn replace(&self, other: &Identity) -> Fingerprint {
        self.identity.present(other);
        std::mem::replace(&mut *self.in_force(), InForce::of(other)).fingerprint
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use tracing::Level;

    use super::*;
    use crate::clocks::{BootId, CalendarState, Reading};
    use crate::logging;

    #[test]
    fn a_check_finds_what_fails_a_start_and_changes_nothing() {
        let dir = tempfile::tempdir().expect("a directory");
        let mut config = Config::default();
        config.operation.data_dir = dir.path().to_owned();
        let mut required = config.clone();
        required.operation.require_identity = true;
        let says = |config: &Config| {
            let told: Vec<_> = mistakes(config).iter().map(Mistake::to_string).collect();
            told.join("\n")
        };
        assert_eq!(says(&config), "", "the start makes one");
        assert!(says(&required).starts_with("there is no certificate, and one is required"));
        assert_eq!(fs::read_dir(dir.path()).expect("it is there").count(), 0);

        let (certificate, key) = Identity::paths_in(dir.path());
        identity(&config).expect("made");
        let pem = fs::read(&key).expect("it is there");
        assert_eq!((says(&config), says(&required)), (String::new(), String::new()));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = || fs::metadata(&key).expect("it is there").permissions().mode() & 0o777;
            fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).expect("ours");
            assert_eq!((says(&config), mode()), (String::new(), 0o644));
        }
        let write = |path: &Path, text: &[u8]| fs::write(path, text).expect("writable");
        write(&key, b"-----BEGIN");
        assert!(says(&config).contains("key.pem holds no private key"), "{}", says(&config));
        let other = tempfile::tempdir().expect("a directory");
        Identity::load_or_create(other.path()).expect("made");
        write(&key, &fs::read(Identity::paths_in(other.path()).1).expect("it is there"));
        assert!(says(&config).contains("is not the private key of"), "{}", says(&config));
        write(&key, &pem);
        write(&certificate, b"\xff\xfe-\0");
        assert!(says(&config).contains("cert.pem is not PEM (it is in UTF-16"));
        write(&key, b"nonsense");
        let both = says(&config);
        assert!(
            both.contains("cert.pem is not PEM") && both.contains("key.pem holds no"),
            "{both}"
        );
        write(&key, &pem);
        fs::remove_file(&certificate).expect("it is there");
        assert!(says(&config).contains("cert.pem is missing"), "{}", says(&config));
        let mut named = config;
        named.operation.cert_file = Some(certificate);
        named.operation.key_file = Some(key);
        assert!(says(&named).starts_with("cannot open "), "{}", says(&named));
    }

    #[test]
    fn expiry_is_announced_two_weeks_before() {
        let identity = Identity::ephemeral().expect("an identity");
        let expires = expiry(&identity.certificate).expect("it has an end");
        assert_eq!(date(expires), "3000-01-01 00:00 UTC");
        assert_eq!(Expiry::of(None, 0), None);
        assert_eq!(Expiry::of(Some(SOON), 0), None);
        let soon = Expiry::of(Some(SOON - 1), 0).expect("soon");
        let text = "the certificate expires in 13 days 23 hours, on 1970-01-14 23:59 UTC; renew \
                    it before then";
        assert_eq!((&soon, soon.text()), (&Expiry::Soon(text.to_owned()), text));
        assert!(matches!(Expiry::of(Some(9), 10), Some(Expiry::Past(_))));
        assert_eq!(expiry(b"no certificate"), None);
    }

    #[test]
    fn expiry_follows_the_calendar_and_is_logged_once() {
        const DAY: i64 = 86_400_000;
        let (log, _logs) = logging::for_tests();
        let presented = Presented::new(Identity::ephemeral().expect("an identity"));
        let expires = presented.expires().expect("it has an end") * 1000;
        let wall = expires - 60 * DAY;
        let now = Arc::new(Mutex::new(Reading { wall, awake: 0, boot: Some(DAY) }));
        let clocks = |kept: Option<&CalendarState>| {
            let now = Arc::clone(&now);
            Clocks::read_by(kept, Some(BootId(1)), move || *now.lock().expect("readable"))
        };
        let pass = |time| {
            let mut now = now.lock().expect("writable");
            (now.wall, now.awake, now.boot) =
                (now.wall + time, now.awake + time, now.boot.map(|boot| boot + time));
        };
        let said = |clocks: &Clocks| {
            clocks.look();
            (0..2).for_each(|_| presented.warn_of_expiry(clocks));
            let lines = log.recent(100).into_iter().map(|it| (it.level, it.text));
            lines.filter(|(_, text)| text.contains("has to be renewed")).collect::<Vec<_>>()
        };
        let before = clocks(None);
        before.look();
        // The system clock is a year ahead when the server restarts.
        now.lock().expect("writable").wall += 365 * DAY;
        let clocks = clocks(Some(&before.state()));
        assert_eq!(said(&clocks), [], "the certificate is valid for 60 days");
        assert!(clocks.problem().is_some_and(|it| it.contains("jumped by")));
        pass(700_000);
        let lines = said(&clocks);
        let [(Level::WARN, text)] = &lines[..] else { panic!("{lines:?}") };
        assert!(text.contains("the certificate expired on 3000-01-01"), "{text}");
        assert!(text.contains("the system clock jumped: check the date first"), "{text}");
        pass(2 * DAY);
        let lines = said(&clocks);
        let [_, (Level::ERROR, text)] = &lines[..] else { panic!("{lines:?}") };
        assert!(!text.contains("check the date"), "the date is sure: {text}");
    }

    #[test]
    fn each_warning_is_given_once_and_again_when_the_date_is_sure() {
        let mut warnings = Warnings::default();
        let [soon, past] = [Expiry::Soon(String::new()), Expiry::Past(String::new())];
        for (due, is_sure, is_news) in [
            (None, true, false),
            (Some(&soon), true, true),
            (Some(&soon), true, false),
            // A jump that the calendar follows.
            (Some(&soon), false, false),
            (Some(&past), false, true),
            (Some(&past), false, false),
            (Some(&past), true, true),
            (Some(&past), true, false),
            // The date goes back again.
            (None, false, false),
            (Some(&soon), true, true),
        ] {
            assert_eq!(warnings.is_news(due, is_sure), is_news, "{due:?} {is_sure}");
        }
    }
}
