//! Who does something to a server, their roles, and the rights of each role.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::error::ActError;

/// The role of a token or a player.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Role {
    /// May look.
    Viewer,
    /// May keep order among players.
    Moderator,
    /// May do everything.
    Admin,
}

/// A permission that a role may include.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Right {
    /// See players, rooms, figures, chat and log.
    Look,
    /// Kick, mute, speak as the host, and ban for up to 30 days; read the audit log; download
    /// recordings and mark moments in them.
    Order,
    /// Ban forever or whole networks, change games, settings, roles and tokens, drain, back up,
    /// delete recordings.
    Manage,
}

impl Role {
    /// All roles, the lowest first.
    pub(crate) const ALL: [Self; 3] = [Self::Viewer, Self::Moderator, Self::Admin];

    /// Returns the role's name.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Moderator => "moderator",
            Self::Admin => "admin",
        }
    }

    /// Returns the role of this name.
    pub(crate) fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == word)
    }

    /// Whether the role includes a right.
    pub(crate) fn may(self, right: Right) -> bool {
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

/// The author of an action: an API token, or a player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Author {
    /// Name of the token or player.
    pub name: String,
    /// The role.
    pub role: Role,
}

impl Author {
    /// Fails if the author's role does not include a right.
    pub(crate) fn needs(&self, right: Right) -> Result<(), ActError> {
        if self.role.may(right) {
            return Ok(());
        }
        let needed = Role::ALL.into_iter().find(|role| role.may(right)).unwrap_or(Role::Admin);
        let text = format!("this requires the role {needed}, but {} is {}", self.name, self.role);
        Err(ActError::Forbidden(text))
    }
}
