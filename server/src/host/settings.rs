//! Settings that change while the server runs: reloads, single settings, webhooks and the log.

use phaselock::wire::text::one_line;

use super::state::{AuditEntry, Host, done};
use crate::api::{ReloadReport, SettingChange, WebhookTest};
use crate::author::{Author, Right};
use crate::config::{self, BadOverride, Mistake};
use crate::error::ActError;

impl From<&config::Change> for SettingChange {
    fn from(it: &config::Change) -> Self {
        let why = it.restart.map(str::to_owned);
        Self { setting: it.setting.clone(), from: it.from.clone(), to: it.to.clone(), why }
    }
}

impl Host {
    /// Reloads the settings.
    pub(crate) async fn reload(&self, by: &Author) -> Result<ReloadReport, ActError> {
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
    pub(crate) async fn set_setting(
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
    pub(crate) async fn test_webhooks(&self, by: &Author) -> Result<Vec<WebhookTest>, ActError> {
        by.needs(Right::Manage)?;
        if self.config.borrow().http.webhook.is_empty() {
            let text = "there is no webhook; add a [[webhook]] table to the configuration file";
            return Err(ActError::NotFound(text.into()));
        }
        self.record(by, AuditEntry::of("webhook-test"), Vec::new())?.done().await?;
        Ok(self.webhooks.test(&by.name).await)
    }

    /// Changes the log filter.
    pub(crate) async fn set_log_level(
        &self,
        by: &Author,
        filter: &str,
    ) -> Result<String, ActError> {
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
}
