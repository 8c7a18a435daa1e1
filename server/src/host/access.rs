//! The allow list, and the tokens of the administration.

use phaselock::identity::PublicKey;
use phaselock::wire::text::one_line;

use super::state::{AuditEntry, Host, done};
use crate::author::{Author, Right, Role};
use crate::error::ActError;
use crate::store::Written;
use crate::subject::parse_key;
use crate::token::{hash_of, new_token};

/// Maximum characters of a name in the allow list. Arbitrary.
const LIST_NAME_MAX: usize = 64;
/// Maximum characters of a token's name.
const TOKEN_NAME_MAX: usize = 32;

impl Host {
    /// Adds a key to the file of the allow list.
    pub(crate) async fn allow(
        &self,
        by: &Author,
        key: &str,
        name: &str,
    ) -> Result<String, ActError> {
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
    pub(crate) async fn disallow(&self, by: &Author, key: &str) -> Result<String, ActError> {
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

    /// Creates a token, replacing one of the same name. The token is returned only here; the server
    /// stores its hash.
    pub(crate) async fn make_token(
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
            .access
            .set_token(name, Some((hash_of(&token), role)), self.clocks.unix())
            .map_err(|error| ActError::Bad(error.to_string()))?;
        let detail = Some(role.to_string());
        let entry = AuditEntry { whom: Some(name.to_owned()), detail, ..AuditEntry::of("token") };
        self.record(by, entry, vec![change])?.done().await?;
        Ok(token)
    }

    /// Refuses to change the last admin token, so that the host is not locked out.
    fn keep_an_admin(&self, name: &str) -> Result<(), ActError> {
        let tokens = self.access.tokens();
        let mut admins = tokens.iter().filter(|(_, role, _)| *role == Role::Admin);
        if admins.all(|(it, ..)| it == name) {
            let text = "this is the last admin token; make another one first";
            return Err(ActError::Conflict(text.into()));
        }
        Ok(())
    }

    /// Deletes a token, except the last admin token, so that the host is not locked out.
    pub(crate) async fn drop_token(&self, by: &Author, name: &str) -> Result<String, ActError> {
        by.needs(Right::Manage)?;
        let tokens = self.access.tokens();
        if !tokens.iter().any(|(it, ..)| it == name) {
            return Err(ActError::NotFound(format!("there is no token {name:?}")));
        }
        self.keep_an_admin(name)?;
        let change = self
            .access
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
