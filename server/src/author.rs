//! Authors of acts, their roles, and the rights that each role has.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::error::ActError;

/// A role, of a token or of a player.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// May look.
    Viewer,
    /// May keep order among players.
    Moderator,
    /// May do everything.
    Admin,
}

/// Something that only some may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Right {
    /// See players, rooms, figures, chat and log.
    Look,
    /// Put out, silence, speak as the host, and ban for at most thirty days; read the audit log.
    Order,
    /// Ban for good or whole networks, change games, settings, roles and tokens, drain, back up.
    Manage,
}

impl Role {
    /// All, the lowest first.
    pub const ALL: [Self; 3] = [Self::Viewer, Self::Moderator, Self::Admin];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Moderator => "moderator",
            Self::Admin => "admin",
        }
    }

    /// The role of a word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == word)
    }

    /// Tells whether it has a right.
    pub fn may(self, right: Right) -> bool {
        match right {
            Right::Look => true,
            Right::Order => self >= Self::Moderator,
            Right::Manage => self >= Self::Admin,
        }
    }
}

impl std::fmt::Display for Role {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Whoever does something: a token of the interface, or a player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Author {
    /// Name of the token, or of the player.
    pub name: String,
    /// The role.
    pub role: Role,
}

impl Author {
    /// Refuses whoever has no right.
    pub fn needs(&self, right: Right) -> Result<(), ActError> {
        if self.role.may(right) {
            return Ok(());
        }
        let needed = Role::ALL.into_iter().find(|role| role.may(right)).unwrap_or(Role::Admin);
        let text = format!("this takes the role {needed}, and {} is {}", self.name, self.role);
        Err(ActError::Forbidden(text))
    }
}
