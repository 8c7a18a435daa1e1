//! Actions on the server as a whole.

use std::sync::atomic::Ordering;

use phaselock::identity::PublicKey;
use phaselock::limits::RESUME_MAX;
use phaselock::server::Command;
use phaselock::time::Micros;
use phaselock::wire::disconnect::{Code, Disconnect};
use phaselock::wire::text::one_line;
use phaselock_quic::identity::{CERTIFICATE_FILE, KEY_FILE};
use phaselock_quic::server::OrderError;

use super::acts::{failure, room_code};
use super::roster::KEY_DIGITS_MIN;
use super::state::{AuditEntry, Host, done};
use crate::api::{Drain, ReloadReport, SettingChange, WebhookTest};
use crate::author::{Author, Right, Role};
use crate::config::{self, BadOverride, Mistake};
use crate::data_dir::{LOCK_FILE, ROOMS_DIR, TOKEN_FILE};
use crate::error::ActError;
use crate::store::{self, Change, Written};
use crate::subject::{Subject, is_number, parse_key};
use crate::time::{BadSpan, parse_span};
use crate::token::{hash_of, new_token};

/// Default time until a draining server stops.
const DRAIN_DEFAULT: Micros = Micros::from_ms(300_000);
/// Maximum characters of a name in the allow list. Arbitrary.
const LIST_NAME_MAX: usize = 64;
/// Maximum bytes of a backup's name. Arbitrary.
const FILE_NAME_MAX: usize = 64;
/// Files of the data directory that a backup must not replace, besides the database's.
const OWN_FILES: [&str; 5] = [TOKEN_FILE, CERTIFICATE_FILE, KEY_FILE, LOCK_FILE, ROOMS_DIR];
/// Maximum characters of a token's name.
const TOKEN_NAME_MAX: usize = 32;

impl From<&config::Change> for SettingChange {
    fn from(it: &config::Change) -> Self {
        let why = it.restart.map(str::to_owned);
        Self { setting: it.setting.clone(), from: it.from.clone(), to: it.to.clone(), why }
    }
}

impl Host {
    /// Switches to another game, or restarts the current one (`None`), in one room or in all.
    pub async fn play(
        &self,
        by: &Author,
        game: Option<&str>,
        room: Option<&str>,
    ) -> Result<String, ActError> {
        by.needs(Right::Manage)?;
        let code = room_code(room)?;
        let played = self.handle.play(code.as_ref(), game).await;
        let act = if game.is_some() { "game" } else { "round" };
        let whom = code.map(|code| format!("room {code}"));
        let details: Vec<_> = game.map(str::to_owned).into_iter().chain(failure(&played)).collect();
        let detail = Some(details.join("; ")).filter(|detail| !detail.is_empty());
        let entry = AuditEntry { whom, detail, ..AuditEntry::of(act) };
        let written = self.record(by, entry, Vec::new())?.done().await?;
        played?;
        let text =
            game.map_or("the game starts again".into(), |game| format!("now playing {game}"));
        Ok(done(text, written))
    }

    /// Lets no one join, and stops the server at the end of the round or when the time is up.
    pub async fn drain(&self, by: &Author, request: &Drain) -> Result<String, ActError> {
        by.needs(Right::Manage)?;
        let within = drain_time(request.within.as_deref())?;
        let must_be = |what: &str, text: &str, rule: String| {
            ActError::Bad(format!("the {what} is {text:?}, but must be {rule}"))
        };
        let redirect = match &request.redirect {
            None => self.config.borrow().joining.redirect.clone(),
            Some(text) => {
                let address = config::parse_redirect(text);
                Some(address.map_err(|rule| must_be("redirect", text, rule))?)
            }
        };
        // A blank goodbye counts as none.
        let given = request.text.as_ref().filter(|text| !one_line(text).trim().is_empty());
        let text = match given {
            Some(text) => {
                config::parse_line(text).map_err(|rule| must_be("goodbye", text, rule))?
            }
            None => format!(
                "the server shuts down after this round, or in {} at the latest",
                within.in_words()
            ),
        };
        let there = redirect.as_ref().map(|to| format!("; players are sent to {to}"));
        let goodbye = Disconnect { redirect, ..Disconnect::new(Code::Draining, text) };
        // A server that a person drains stays down, even if it was about to restart.
        let written = self.drain_as(by, false, goodbye, within).await?;
        let done_text = format!(
            "the server is draining: no one can join, and it stops in {} at the latest{}",
            within.in_words(),
            there.unwrap_or_default()
        );
        Ok(done(done_text, written))
    }

    /// Drains the server for good or for a restart. Another drain replaces a restart.
    pub(super) async fn drain_as(
        &self,
        by: &Author,
        restarts: bool,
        goodbye: Disconnect,
        within: Micros,
    ) -> Result<Written, ActError> {
        let entry = AuditEntry {
            act: if restarts { "restart" } else { "drain" },
            whom: goodbye.redirect.clone(),
            why: Some(goodbye.text.clone()),
            detail: Some(format!("within {} s", within.as_secs())),
        };
        // First, since an empty server ends at once.
        let written = self.record(by, entry, Vec::new())?.done().await?;
        // Another drain may have begun meanwhile.
        if restarts && self.handle.draining().is_some() {
            return Err(ActError::Conflict("the server is already draining".into()));
        }
        self.facts.is_restarting.store(restarts, Ordering::Relaxed);
        match self.handle.command(Command::Drain { goodbye, within, restarts }).await {
            Err(OrderError::Stopped) => {}
            drained => drained?,
        }
        Ok(written)
    }

    /// Cancels a drain.
    pub async fn undrain(&self, by: &Author) -> Result<String, ActError> {
        by.needs(Right::Manage)?;
        if self.handle.draining().is_none() {
            return Err(ActError::Conflict("the server is not draining".into()));
        }
        if self.facts.is_stopping.load(Ordering::Relaxed) {
            let text = "the process received a signal to stop; this cannot be cancelled, since \
                        its sender waits for the end";
            return Err(ActError::Conflict(text.into()));
        }
        let undrained = self.handle.command(Command::Undrain).await;
        // Otherwise it came too late, and a restart remains a restart.
        if self.handle.draining().is_none() {
            self.facts.is_restarting.store(false, Ordering::Relaxed);
        }
        let entry = AuditEntry { detail: failure(&undrained), ..AuditEntry::of("undrain") };
        let written = self.record(by, entry, Vec::new())?.done().await?;
        undrained?;
        Ok(done("the drain was cancelled; the server keeps running".into(), written))
    }

    /// Reloads the settings.
    pub async fn reload(&self, by: &Author) -> Result<ReloadReport, ActError> {
        by.needs(Right::Manage)?;
        let text = |mistakes: Vec<Mistake>| mistakes.iter().map(ToString::to_string).collect();
        let loaded = match self.reloader.reload().await {
            Ok(loaded) => loaded,
            Err(mistakes) => {
                let detail = Some(format!("failed: {} mistakes", mistakes.len()));
                let entry = AuditEntry { detail, ..AuditEntry::of("reload") };
                self.record(by, entry, Vec::new())?.done().await?;
                return Err(ActError::Mistakes(text(mistakes)));
            }
        };
        let views = |changes: &[config::Change]| changes.iter().map(SettingChange::from).collect();
        let report = ReloadReport {
            changed: views(&loaded.changed),
            needs_restart: views(&loaded.needs_restart),
        };
        let names: Vec<_> = report.changed.iter().map(|it| &*it.setting).collect();
        let detail = Some(names.join(", ")).filter(|names| !names.is_empty());
        let entry = AuditEntry { detail, ..AuditEntry::of("reload") };
        self.record(by, entry, Vec::new())?.done().await?;
        Ok(report)
    }

    /// Changes a setting until the server stops, or resets it to the value of its sources (`None`).
    pub async fn set_setting(
        &self,
        by: &Author,
        name: &str,
        value: Option<&str>,
    ) -> Result<String, ActError> {
        by.needs(Right::Manage)?;
        let key = config::setting_key(name);
        let changed = match self.reloader.set(name, value, &by.name).await {
            Ok(changed) => changed,
            Err(error @ (BadOverride::Unknown(_) | BadOverride::NotSet { .. })) => {
                return Err(ActError::NotFound(error.to_string()));
            }
            Err(error) => return Err(ActError::Bad(error.to_string())),
        };
        let (act, detail, text) = match (&changed, value) {
            (Some(it), Some(_)) => (
                "set",
                format!("{} -> {}", it.from, it.to),
                format!(
                    "{} is now {} until the server stops or you run `ctl unset {}`; a reload \
                     keeps it, and the file is unchanged",
                    it.setting, it.to, it.setting
                ),
            ),
            (Some(it), None) => (
                "unset",
                format!("{} -> {}", it.from, it.to),
                format!("{} is {} again", it.setting, it.to),
            ),
            (None, Some(_)) => ("set", "no change".into(), format!("{key} already has that value")),
            (None, None) => ("unset", "no change".into(), format!("{key} keeps its value")),
        };
        let entry = AuditEntry { whom: Some(key), detail: Some(detail), ..AuditEntry::of(act) };
        let written = self.record(by, entry, Vec::new())?.done().await?;
        Ok(done(text, written))
    }

    /// Sends a test event to every webhook, and returns each receiver's answer.
    pub async fn test_webhooks(&self, by: &Author) -> Result<Vec<WebhookTest>, ActError> {
        by.needs(Right::Manage)?;
        if self.config.borrow().http.webhook.is_empty() {
            let text = "there is no webhook; add a [[webhook]] table to the configuration file";
            return Err(ActError::NotFound(text.into()));
        }
        self.record(by, AuditEntry::of("webhook-test"), Vec::new())?.done().await?;
        Ok(self.webhooks.test(&by.name).await)
    }

    /// Changes the log filter.
    pub async fn set_log_level(&self, by: &Author, filter: &str) -> Result<String, ActError> {
        by.needs(Right::Manage)?;
        if filter.trim().is_empty() {
            let text = "give a filter such as info; off logs nothing";
            return Err(ActError::Bad(text.into()));
        }
        let filter = one_line(filter);
        let filter = filter.trim();
        self.log.set_filter(filter).map_err(|error| ActError::Bad(error.to_string()))?;
        let entry = AuditEntry { detail: Some(filter.to_owned()), ..AuditEntry::of("log-level") };
        let written = self.record(by, entry, Vec::new())?.done().await?;
        Ok(done(format!("the log's filter is now {filter}"), written))
    }

    /// Copies the database to a new file in the data directory. Returns its size in bytes.
    pub async fn backup(&self, by: &Author, file: &str) -> Result<(String, u64), ActError> {
        by.needs(Right::Manage)?;
        if !is_plain_name(file) {
            let text = format!(
                "a backup goes into the data directory under a plain name, such as backup-1.db: 1 \
                 to {FILE_NAME_MAX} letters, digits, dashes, dots and underscores, without a dot \
                 or dash at the beginning, and not a file of the server itself"
            );
            return Err(ActError::Bad(text));
        }
        let copied = self.store.backup(self.facts.data_dir.join(file)).await;
        let detail = match &copied {
            Ok(_) => file.to_owned(),
            Err(error) => format!("{file}; failed: {error}"),
        };
        let entry = AuditEntry { detail: Some(detail), ..AuditEntry::of("backup") };
        let written = self.record(by, entry, Vec::new())?.done().await?;
        let bytes = copied?;
        Ok((done(format!("the database is copied to {file}"), written), bytes))
    }

    /// Adds a key to the file of the allow list.
    pub async fn allow(&self, by: &Author, key: &str, name: &str) -> Result<String, ActError> {
        by.needs(Right::Manage)?;
        let key = self.key_for_list(key)?;
        let name: String = one_line(name).trim().chars().take(LIST_NAME_MAX).collect();
        let line = name.clone();
        let changed = self.reloader.change_allow_list(move |list| list.with(key, &line)).await;
        let whom = called(key, &name);
        let text = format!("{whom} may now join");
        self.note_list(by, "allow", whom, changed).await.map(|it| done(text, it))
    }

    /// Removes a key from the allow list. A player who is in the game stays until leaving.
    pub async fn disallow(&self, by: &Author, key: &str) -> Result<String, ActError> {
        by.needs(Right::Manage)?;
        let key = self.key_for_list(key)?;
        let list = self.config.borrow().joining.allow_list.clone();
        let Some(name) = list.and_then(|list| list.keys.get(&key).cloned()) else {
            return Err(ActError::NotFound(format!("the allow list has no key {key}")));
        };
        let changed = self.reloader.change_allow_list(move |list| list.without(key)).await;
        let whom = called(key, &name);
        let text = format!("{whom} may no longer join");
        self.note_list(by, "disallow", whom, changed).await.map(|it| done(text, it))
    }

    fn key_for_list(&self, key: &str) -> Result<PublicKey, ActError> {
        if self.config.borrow().joining.allow_list.is_none() {
            let text = "there is no allow list, so anyone may join; set allow_list to a file, \
                        and reload";
            return Err(ActError::NotFound(text.into()));
        }
        parse_key(key).ok_or_else(|| ActError::Bad("a key is 64 hexadecimal digits".into()))
    }

    /// Records a change of the allow list in the audit log.
    async fn note_list(
        &self,
        by: &Author,
        act: &'static str,
        whom: String,
        changed: Result<bool, String>,
    ) -> Result<Written, ActError> {
        let failed = changed.err();
        let detail = failed.as_ref().map(|error| format!("failed: {error}"));
        let entry = AuditEntry { whom: Some(whom), detail, ..AuditEntry::of(act) };
        let written = self.record(by, entry, Vec::new())?.done().await?;
        failed.map_or(Ok(written), |error| Err(ActError::Failed(error)))
    }

    /// Deletes all results, records and totals of a player. The audit log keeps what was done to
    /// the player until its own lines expire.
    pub async fn forget(&self, by: &Author, key: &str) -> Result<String, ActError> {
        by.needs(Right::Manage)?;
        let Subject::Key(key) = Subject::parse("key", key)? else {
            return Err(ActError::Bad("give a key".into()));
        };
        // Only a part of the key: the whole key is to be forgotten.
        let whom: String = key.to_string().chars().take(KEY_DIGITS_MIN).collect();
        let entry = AuditEntry { whom: Some(whom.clone()), ..AuditEntry::of("forget") };
        let written = self.record(by, entry, vec![Change::Forget(key)])?.done().await?;
        Ok(done(format!("deleted the results, records and totals of {whom}"), written))
    }

    /// Creates a token, replacing one of the same name. The token is returned only here; the server
    /// stores its hash.
    pub async fn make_token(
        &self,
        by: &Author,
        name: &str,
        role: Role,
    ) -> Result<String, ActError> {
        by.needs(Right::Manage)?;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if name.is_empty() || name.len() > TOKEN_NAME_MAX || !name.chars().all(is_plain) {
            let text = format!(
                "a token's name has 1 to {TOKEN_NAME_MAX} letters, digits, dashes, dots and \
                 underscores"
            );
            return Err(ActError::Bad(text));
        }
        if role != Role::Admin {
            self.keep_an_admin(name)?;
        }
        let token = new_token()?;
        let change = self
            .book
            .set_token(name, Some((hash_of(&token), role)), self.clocks.unix())
            .map_err(|error| ActError::Bad(error.to_string()))?;
        let detail = Some(role.to_string());
        let entry = AuditEntry { whom: Some(name.to_owned()), detail, ..AuditEntry::of("token") };
        self.record(by, entry, vec![change])?.done().await?;
        Ok(token)
    }

    /// Refuses to change the last admin token, so that the host is not locked out.
    fn keep_an_admin(&self, name: &str) -> Result<(), ActError> {
        let tokens = self.book.tokens();
        let mut admins = tokens.iter().filter(|(_, role, _)| *role == Role::Admin);
        if admins.all(|(it, ..)| it == name) {
            let text = "this is the last admin token; make another one first";
            return Err(ActError::Conflict(text.into()));
        }
        Ok(())
    }

    /// Deletes a token, except the last admin token, so that the host is not locked out.
    pub async fn drop_token(&self, by: &Author, name: &str) -> Result<String, ActError> {
        by.needs(Right::Manage)?;
        let tokens = self.book.tokens();
        if !tokens.iter().any(|(it, ..)| it == name) {
            return Err(ActError::NotFound(format!("there is no token {name:?}")));
        }
        self.keep_an_admin(name)?;
        let change = self
            .book
            .set_token(name, None, self.clocks.unix())
            .map_err(|error| ActError::Bad(error.to_string()))?;
        let entry = AuditEntry {
            whom: Some(name.to_owned()),
            detail: Some("none".to_owned()),
            ..AuditEntry::of("token")
        };
        let written = self.record(by, entry, vec![change])?.done().await?;
        Ok(done(format!("deleted the token {name}"), written))
    }
}

/// Formats a key with its note, if there is one.
fn called(key: PublicKey, name: &str) -> String {
    if name.is_empty() { key.to_string() } else { format!("{name} ({key})") }
}

/// Parses the longest time until a draining server stops.
fn drain_time(text: Option<&str>) -> Result<Micros, ActError> {
    let Some(text) = text else { return Ok(DRAIN_DEFAULT) };
    let within = match parse_span(text) {
        Err(BadSpan::Long) => None,
        within => within?.map(|secs| Micros::from_ms(secs.saturating_mul(1000))),
    };
    within.filter(|within| *within <= RESUME_MAX).ok_or_else(|| {
        let most = RESUME_MAX.in_words();
        ActError::Bad(format!("a server drains for at most {most}, and {text} is longer"))
    })
}

/// Whether a file of this name can be created in the data directory, on every system.
fn is_plain_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let lower = name.to_ascii_lowercase();
    let stem = lower.split('.').next().unwrap_or_default();
    // Device names, which Windows does not allow for files.
    let is_device = ["con", "prn", "aux", "nul"].contains(&stem)
        || ["com", "lpt"].iter().any(|it| {
            stem.strip_prefix(it).is_some_and(|digit| digit.len() == 1 && is_number(digit))
        });
    let is_own = lower.starts_with(store::FILE) || OWN_FILES.contains(&&*lower);
    (1..=FILE_NAME_MAX).contains(&name.len())
        && name.chars().all(is_plain)
        && !name.starts_with(['.', '-'])
        && !name.ends_with('.')
        && !is_device
        && !is_own
}
