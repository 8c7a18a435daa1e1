//! Texts for players whose build does not match the server's: which side is older, who must update,
//! and where to get the right build.

use std::cmp::Ordering;

use super::config::RoomConfig;
use crate::wire::text::{clip, printable};

/// Maximum length of a client's version in such a text, in bytes. Arbitrary.
const SHOWN_BYTES_MAX: usize = 32;

/// Two builds that cannot play together.
#[derive(Debug)]
pub(super) struct Mismatch<'a> {
    /// Version of the client, as it states it.
    theirs: &'a str,
    /// Version of the server.
    ours: &'a str,
    /// Where players get a client for this server; empty if the host has not said so.
    download: &'a str,
}

impl<'a> Mismatch<'a> {
    /// Creates one for a client of this version on a room's server.
    pub(super) fn with_client(theirs: &'a str, config: &'a RoomConfig) -> Self {
        Self { theirs, ours: config.version, download: &config.settings.download }
    }

    /// Explains that the protocols differ.
    pub(super) fn protocol(&self) -> String {
        let (theirs, ours) = (self.shown(), self.ours);
        let (text, advice) = match self.client_is() {
            Some(Ordering::Less) => (
                format!("your client ({theirs}) is older than this server ({ours})"),
                "update it".to_owned(),
            ),
            Some(Ordering::Greater) => (
                format!("this server ({ours}) is older than your client ({theirs})"),
                self.ask_host(),
            ),
            _ => (
                format!(
                    "your client ({theirs}) and this server ({ours}) speak different protocols"
                ),
                "use the server's build".to_owned(),
            ),
        };
        format!("{text}: {advice}{}", self.source())
    }

    /// Explains that the rules of a game differ.
    pub(super) fn rules(&self, game: &str) -> String {
        let (theirs, ours) = (self.shown(), self.ours);
        let (text, advice) = match self.client_is() {
            Some(Ordering::Less) => (
                format!(
                    "your client ({theirs}) has older rules of {game} than this server ({ours})"
                ),
                "update it".to_owned(),
            ),
            Some(Ordering::Greater) => (
                format!(
                    "this server ({ours}) has older rules of {game} than your client ({theirs})"
                ),
                self.ask_host(),
            ),
            _ => (
                format!("your client's rules of {game} differ from this server's"),
                "use the server's build".to_owned(),
            ),
        };
        format!("{text}: {advice}{}", self.source())
    }

    /// Explains that the client does not have the game.
    pub(super) fn game(&self, game: &str) -> String {
        let text = format!("this server plays {game}, which your client");
        let source = self.source();
        match self.client_is() {
            Some(Ordering::Less) => {
                let (theirs, ours) = (self.shown(), self.ours);
                format!("{text} ({theirs}) does not have: update it to {ours}{source}")
            }
            _ => format!("{text} does not have: get a client that has it{source}"),
        }
    }

    /// Returns the advice for a client that is newer than the server.
    fn ask_host(&self) -> String {
        format!("ask its host to update it, or use version {}", self.ours)
    }

    /// Returns the end of the advice: where to get the build, if the host has said so.
    fn source(&self) -> String {
        match self.download {
            "" => String::new(),
            download => format!(" from {download}"),
        }
    }

    /// Returns the client's version, safe to show.
    fn shown(&self) -> String {
        match clip(&printable(self.theirs), SHOWN_BYTES_MAX).trim() {
            "" => "unknown version".to_owned(),
            version => version.to_owned(),
        }
    }

    /// Returns how the client's version compares with the server's; `None` if that is unknown.
    fn client_is(&self) -> Option<Ordering> {
        let ((theirs, a), (ours, b)) = (parse(self.theirs)?, parse(self.ours)?);
        match theirs.cmp(&ours) {
            // A release comes after its own candidates, which have no order here.
            Ordering::Equal if a != b && a.is_some() && b.is_some() => None,
            Ordering::Equal => Some(b.is_some().cmp(&a.is_some())),
            order => Some(order),
        }
    }
}

/// Splits a semantic version into its numbers and the name of a candidate.
fn parse(version: &str) -> Option<([u64; 3], Option<&str>)> {
    let version = version.split_once('+').map_or(version, |(version, _)| version);
    let (numbers, candidate) = match version.split_once('-') {
        Some((numbers, candidate)) => (numbers, Some(candidate)),
        None => (version, None),
    };
    let numbers: Result<Vec<_>, _> = numbers.split('.').map(str::parse).collect();
    Some((numbers.ok()?.try_into().ok()?, candidate))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between<'a>(theirs: &'a str, ours: &'a str) -> Mismatch<'a> {
        Mismatch { theirs, ours, download: "" }
    }

    #[test]
    fn older_side_is_found() {
        let compared = |theirs, ours| between(theirs, ours).client_is();
        for (older, newer) in [
            ("0.1.0", "0.1.1"),
            ("0.9.0", "0.10.0"),
            ("1.0.0-rc.1", "1.0.0"),
            ("0.9.9-rc.1", "1.0.0"),
        ] {
            assert_eq!(compared(older, newer), Some(Ordering::Less), "{older}");
            assert_eq!(compared(newer, older), Some(Ordering::Greater), "{older}");
        }
        assert_eq!(compared("0.1.0", "0.1.0+build"), Some(Ordering::Equal));
        for unknown in ["", "0.1", "0.1.0.0", "one", "0.1.x", "99999999999999999999.0.0", "-1.0.0"]
        {
            assert_eq!(compared(unknown, "0.1.0"), None, "{unknown}");
        }
        assert_eq!(compared("0.1.0-rc.2", "0.1.0-rc.10"), None);
    }

    #[test]
    fn player_reads_who_must_update() {
        let old = Mismatch { download: "https://example.org/get", ..between("0.1.0", "0.2.0") };
        let new = between("0.2.0", "0.1.0");
        let same = between("0.2.0", "0.2.0");
        for (text, expected) in [
            (
                old.protocol(),
                "your client (0.1.0) is older than this server (0.2.0): update it from \
                 https://example.org/get",
            ),
            (
                new.protocol(),
                "this server (0.1.0) is older than your client (0.2.0): ask its host to update \
                 it, or use version 0.1.0",
            ),
            (
                same.protocol(),
                "your client (0.2.0) and this server (0.2.0) speak different protocols: use the \
                 server's build",
            ),
            (
                old.rules("chess"),
                "your client (0.1.0) has older rules of chess than this server (0.2.0): update it \
                 from https://example.org/get",
            ),
            (
                new.rules("chess"),
                "this server (0.1.0) has older rules of chess than your client (0.2.0): ask its \
                 host to update it, or use version 0.1.0",
            ),
            (
                same.rules("chess"),
                "your client's rules of chess differ from this server's: use the server's build",
            ),
            (
                old.game("chess"),
                "this server plays chess, which your client (0.1.0) does not have: update it to \
                 0.2.0 from https://example.org/get",
            ),
            (
                new.game("chess"),
                "this server plays chess, which your client does not have: get a client that has \
                 it",
            ),
        ] {
            assert_eq!(text, expected);
        }
    }

    #[test]
    fn hostile_versions_are_clipped_and_printable() {
        let version = format!("\u{1b}[31m{}", "x".repeat(300));
        let text = between(&version, "0.1.0").protocol();
        assert!(text.contains(&"x".repeat(20)) && text.len() < 130, "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
        assert!(between("", "0.1.0").protocol().contains("(unknown version)"));
    }
}
