//! What an allocation asks of the server, in annotations of its `GameServer`.

use std::collections::{BTreeMap, BTreeSet};

use phaselock::identity::PublicKey;
use phaselock::limits::{PLAYERS_MAX, ROOMS_MAX};
use phaselock::wire::text::one_line;

use crate::config::Password;
use crate::subject::parse_key;

/// Prefix of the annotations.
pub(super) const PREFIX: &str = "phaselock.dev/";
const GAME: &str = "game";
const ROOMS: &str = "rooms";
const PASSWORD: &str = "password";
const PLAYERS: &str = "players";
/// Maximum names of unknown annotations in a message. Arbitrary; Kubernetes limits their length.
const UNKNOWN_MAX: usize = 4;

/// Settings that hold until the server is ready again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Allocation {
    /// Games to play in turn, as in the setting `game`.
    pub(crate) game: Option<String>,
    /// Maximum number of rooms.
    pub(crate) rooms: Option<u16>,
    /// Password that players need.
    pub(crate) password: Option<Password>,
    /// Keys of the players who are expected.
    pub(crate) players: BTreeSet<PublicKey>,
}

impl Allocation {
    /// Whether annotations ask for a password, so that the server must not be open without it.
    pub(super) fn is_private(asked: &BTreeMap<String, String>) -> bool {
        asked.get(PASSWORD).is_some_and(|text| !text.is_empty())
    }

    /// Returns the names of annotations with a value that no server knows, for a message; empty if
    /// there are none.
    pub(super) fn unknown(asked: &BTreeMap<String, String>) -> String {
        let known = [GAME, ROOMS, PASSWORD, PLAYERS];
        let unknown =
            asked.iter().filter(|(key, text)| !text.is_empty() && !known.contains(&&***key));
        let names = unknown.take(UNKNOWN_MAX).map(|(key, _)| format!("{PREFIX}{}", one_line(key)));
        names.collect::<Vec<_>>().join(", ")
    }

    /// Parses annotations, whose keys have lost the prefix. Unknown ones are ignored, and empty
    /// ones count as missing. The error is a sentence about the first invalid one. The game and the
    /// password are checked later, like any setting.
    pub(super) fn parse(asked: &BTreeMap<String, String>) -> Result<Self, String> {
        let given = |key: &str| asked.get(key).map(String::as_str).filter(|text| !text.is_empty());
        let rooms = given(ROOMS).map(|text| {
            let rooms = text.parse().ok().filter(|rooms| (1..=ROOMS_MAX).contains(rooms));
            rooms.ok_or_else(|| format!("{PREFIX}{ROOMS} must be a number from 1 to {ROOMS_MAX}"))
        });
        Ok(Self {
            game: given(GAME).map(str::to_owned),
            rooms: rooms.transpose()?,
            password: given(PASSWORD).map(|text| Password(text.to_owned())),
            players: given(PLAYERS).map(players).transpose()?.unwrap_or_default(),
        })
    }
}

/// Parses keys of players, separated by commas.
fn players(text: &str) -> Result<BTreeSet<PublicKey>, String> {
    let most = usize::from(PLAYERS_MAX);
    let wrong = |what: String| format!("{PREFIX}{PLAYERS} must be up to {most} keys; {what}");
    let mut keys = BTreeSet::new();
    for (number, word) in (1..).zip(text.split(',')) {
        if number > most {
            return Err(wrong("there are more".to_owned()));
        }
        let key = parse_key(word.trim());
        keys.insert(key.ok_or_else(|| wrong(format!("number {number} is not a key")))?);
    }
    Ok(keys)
}
