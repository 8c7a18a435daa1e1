//! Bans, mutes, roles and tokens in memory, mirrored in the database.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use phaselock::identity::PublicKey;
use subtle::ConstantTimeEq as _;

use crate::author::Role;
use crate::clocks::CalendarState;
use crate::sentence::{Act, Sentence};
use crate::store::{Change, Everything};

/// Maximum bans and mutes. Arbitrary: each hello searches them, in a fraction of a millisecond.
const SENTENCES_MAX: usize = 10_000;
/// Maximum roles, and tokens. Arbitrary.
const GRANTS_MAX: usize = 1000;

/// A role that a player has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GivenRole {
    /// The player's name when the role was given, if known.
    pub name: Option<String>,
    /// The role.
    pub role: Role,
    /// The token or player that gave it.
    pub author: String,
    /// Unix time in seconds.
    pub made: i64,
}

/// A change that is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AccessError {
    /// The limit is reached.
    #[error("the limit of {0} entries is reached; remove some first")]
    TooMany(usize),
    /// Someone with a higher role has already banned or muted the subject.
    #[error("someone with a higher role has already set this; ask them to change it")]
    Higher,
}

#[derive(Debug, Default)]
struct Lists {
    sentences: BTreeMap<i64, Sentence>,
    roles: BTreeMap<PublicKey, GivenRole>,
    tokens: BTreeMap<String, (String, Role, i64)>,
    /// Number of the last ban or mute, and of the last one that does not move when the date
    /// changes.
    last: i64,
    settled: i64,
}

impl Lists {
    fn keeps_order(&self, key: PublicKey) -> bool {
        self.roles.get(&key).is_some_and(|given| given.role >= Role::Moderator)
    }
}

/// Bans, mutes, roles and tokens. Each change returns what must be written to the database.
#[derive(Debug, Default)]
pub(crate) struct AccessLists(RwLock<Lists>);

impl AccessLists {
    /// Loads the contents of the database.
    pub(crate) fn new(everything: Everything) -> Self {
        let Everything { sentences, roles, tokens, calendar, settled } = everything;
        let role = |(key, name, role, author, made)| (key, GivenRole { name, role, author, made });
        let last = sentences.iter().map(|sentence| sentence.id).max().unwrap_or(0).max(0);
        // Dates from a calendar that is not sure yet keep moving with it.
        let is_unsure = calendar.is_some_and(|it| it.unsure > 0);
        let settled = if is_unsure { settled.min(last) } else { last };
        Self(RwLock::new(Lists {
            sentences: sentences.into_iter().map(|sentence| (sentence.id, sentence)).collect(),
            roles: roles.into_iter().map(role).collect(),
            tokens: tokens
                .into_iter()
                .map(|(name, hash, role, made)| (name, (hash, role, made)))
                .collect(),
            last,
            settled,
        }))
    }

    fn lists(&self) -> RwLockReadGuard<'_, Lists> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn lists_mut(&self) -> RwLockWriteGuard<'_, Lists> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a ban or a mute and gives it a number. It replaces one against the same subject, and
    /// those that have ended if the date is sure.
    pub(crate) fn add(
        &self,
        mut sentence: Sentence,
        is_date_sure: bool,
    ) -> Result<(Sentence, Vec<Change>), AccessError> {
        let mut lists = self.lists_mut();
        let same = |it: &&Sentence| {
            it.act == sentence.act && it.subject == sentence.subject && it.holds(sentence.made)
        };
        if lists.sentences.values().find(same).is_some_and(|it| it.role > sentence.role) {
            return Err(AccessError::Higher);
        }
        let gives_way = |it: &Sentence| {
            it.act == sentence.act && it.subject == sentence.subject
                || is_date_sure && !it.holds(sentence.made)
        };
        let old: Vec<_> =
            lists.sentences.values().filter(|it| gives_way(it)).map(|it| it.id).collect();
        if lists.sentences.len() - old.len() >= SENTENCES_MAX {
            return Err(AccessError::TooMany(SENTENCES_MAX));
        }
        let mut changes: Vec<_> = old.iter().map(|id| Change::Lift(*id)).collect();
        old.iter().for_each(|id| drop(lists.sentences.remove(id)));
        lists.last += 1;
        sentence.id = lists.last;
        lists.sentences.insert(sentence.id, sentence.clone());
        changes.push(Change::Sentence(sentence.clone()));
        Ok((sentence, changes))
    }

    /// Shifts the bans and mutes made since the date was last sure at a start by `secs` seconds,
    /// after the date changed by that much. So a ban for ten minutes lasts for ten minutes.
    pub(crate) fn shift(&self, secs: i64) -> Vec<Change> {
        let mut lists = self.lists_mut();
        let first = lists.settled + 1;
        let made_since = lists.sentences.range_mut(first..);
        let shifted = made_since.map(|(_, it)| {
            it.made += secs;
            it.until = it.until.map(|until| until + secs);
            Change::Sentence(it.clone())
        });
        shifted.collect()
    }

    /// Returns the calendar for the database, with what the next start needs for shifting bans and
    /// mutes.
    pub(crate) fn calendar(&self, state: CalendarState) -> Change {
        Change::Calendar { state, settled: self.lists().settled }
    }

    /// Removes a ban or a mute.
    pub(crate) fn lift(&self, act: Act, id: i64) -> Option<(Sentence, Change)> {
        let mut lists = self.lists_mut();
        lists.sentences.get(&id).filter(|it| it.act == act)?;
        Some((lists.sentences.remove(&id)?, Change::Lift(id)))
    }

    /// Returns the ban or mute of a number.
    pub(crate) fn sentence(&self, act: Act, id: i64) -> Option<Sentence> {
        self.lists().sentences.get(&id).filter(|it| it.act == act).cloned()
    }

    /// Returns the bans or mutes in force.
    pub(crate) fn sentences(&self, act: Act, now: i64) -> Vec<Sentence> {
        let lists = self.lists();
        let holds = |it: &&Sentence| it.act == act && it.holds(now);
        lists.sentences.values().filter(holds).cloned().collect()
    }

    /// Returns the ban or mute against a player that lasts the longest, if there is one. For
    /// players with the right to keep order, only those against the key count, since one against
    /// the address may be a neighbour's.
    pub(crate) fn against(
        &self,
        act: Act,
        key: Option<PublicKey>,
        address: Option<SocketAddr>,
        now: i64,
    ) -> Option<Sentence> {
        let lists = self.lists();
        let address = address.filter(|_| !key.is_some_and(|key| lists.keeps_order(key)));
        let holds =
            |it: &&Sentence| it.act == act && it.holds(now) && it.subject.is_about(key, address);
        let found = lists.sentences.values().filter(holds);
        found.max_by_key(|it| it.until.unwrap_or(i64::MAX)).cloned()
    }

    /// Whether a player is a moderator or an admin.
    pub(crate) fn keeps_order(&self, key: PublicKey) -> bool {
        self.lists().keeps_order(key)
    }

    /// Returns a player's role.
    pub(crate) fn role(&self, key: PublicKey) -> Option<Role> {
        self.lists().roles.get(&key).map(|given| given.role)
    }

    /// Gives a player a role, or removes it (`None`).
    pub(crate) fn set_role(
        &self,
        key: PublicKey,
        given: Option<GivenRole>,
    ) -> Result<Change, AccessError> {
        let mut lists = self.lists_mut();
        let (name, role, author, made) = match &given {
            Some(it) => (it.name.clone(), Some(it.role), it.author.clone(), it.made),
            None => (None, None, String::new(), 0),
        };
        match given {
            Some(given) => {
                if lists.roles.len() >= GRANTS_MAX && !lists.roles.contains_key(&key) {
                    return Err(AccessError::TooMany(GRANTS_MAX));
                }
                lists.roles.insert(key, given);
            }
            None => drop(lists.roles.remove(&key)),
        }
        Ok(Change::Role { key, name, role, author, made })
    }

    /// Returns all roles of players.
    pub(crate) fn roles(&self) -> Vec<(PublicKey, GivenRole)> {
        self.lists().roles.iter().map(|(key, given)| (*key, given.clone())).collect()
    }

    /// Returns name and role of the token with that hash.
    pub(crate) fn token(&self, hash: &str) -> Option<(String, Role)> {
        let lists = self.lists();
        let is_it = |known: &str| known.as_bytes().ct_eq(hash.as_bytes()).into();
        let found = lists.tokens.iter().find(|(_, (known, ..))| is_it(known));
        found.map(|(name, (_, role, _))| (name.clone(), *role))
    }

    /// Adds a token by its hash, replacing one of the same name, or removes it (`None`).
    pub(crate) fn set_token(
        &self,
        name: &str,
        grant: Option<(String, Role)>,
        made: i64,
    ) -> Result<Change, AccessError> {
        let mut lists = self.lists_mut();
        match &grant {
            Some((hash, role)) => {
                if lists.tokens.len() >= GRANTS_MAX && !lists.tokens.contains_key(name) {
                    return Err(AccessError::TooMany(GRANTS_MAX));
                }
                lists.tokens.insert(name.to_owned(), (hash.clone(), *role, made));
            }
            None => drop(lists.tokens.remove(name)),
        }
        Ok(Change::Token { name: name.to_owned(), grant, made })
    }

    /// Returns everything, for a database that has lost it.
    pub(crate) fn all(&self) -> Vec<Change> {
        let lists = self.lists();
        let sentences = lists.sentences.values().cloned().map(Change::Sentence);
        let roles = lists.roles.iter().map(|(key, it)| Change::Role {
            key: *key,
            name: it.name.clone(),
            role: Some(it.role),
            author: it.author.clone(),
            made: it.made,
        });
        let tokens = lists.tokens.iter().map(|(name, (hash, role, made))| Change::Token {
            name: name.clone(),
            grant: Some((hash.clone(), *role)),
            made: *made,
        });
        sentences.chain(roles).chain(tokens).collect()
    }

    /// Returns name, role and time of all tokens.
    pub(crate) fn tokens(&self) -> Vec<(String, Role, i64)> {
        let lists = self.lists();
        lists.tokens.iter().map(|(name, (_, role, made))| (name.clone(), *role, *made)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subject::Subject;

    fn ban(role: Role, made: i64, until: Option<i64>) -> Sentence {
        Sentence {
            id: 0,
            act: Act::Ban,
            subject: Subject::Key(PublicKey([7; 32])),
            name: None,
            reason: String::new(),
            author: "somebody".into(),
            role,
            made,
            until,
        }
    }

    #[test]
    fn a_new_ban_replaces_an_old_one_unless_of_a_higher_role() {
        let access = AccessLists::default();
        let holding =
            |now| access.sentences(Act::Ban, now).iter().map(|it| it.id).collect::<Vec<_>>();
        access.add(ban(Role::Moderator, 0, Some(100)), true).expect("the first");
        let (_, changes) = access.add(ban(Role::Admin, 10, Some(50)), true).expect("a higher role");
        assert_eq!((holding(20), changes.len()), (vec![2], 2), "the old one is lifted");
        let refused = access.add(ban(Role::Moderator, 20, Some(21)), true);
        assert_eq!(refused.map(|_| ()), Err(AccessError::Higher));
        assert_eq!(holding(49), [2]);
        // It has ended.
        access.add(ban(Role::Moderator, 60, None), true).expect("no ban is in force any more");
        assert_eq!(holding(1_000_000), [3]);
        assert_eq!(access.against(Act::Ban, Some(PublicKey([8; 32])), None, 70), None);
    }

    #[test]
    fn ended_bans_stay_while_the_date_is_unsure() {
        let access = AccessLists::default();
        let of = |key| Subject::Key(PublicKey([key; 32]));
        let year = 365 * 86_400;
        let first = Sentence { subject: of(1), ..ban(Role::Admin, 0, Some(100)) };
        access.add(first, true).expect("the first");
        // The clock is a year ahead when another player is banned.
        let other = Sentence { subject: of(2), ..ban(Role::Admin, year, Some(year + 100)) };
        let (_, changes) = access.add(other, false).expect("another");
        assert_eq!(changes.len(), 1, "nothing is lifted");
        assert_eq!(access.sentences(Act::Ban, 50).len(), 2, "the clock is right again");
    }

    #[test]
    fn a_ban_keeps_its_duration_when_the_date_changes() {
        let loaded = Sentence { id: 4, ..ban(Role::Admin, 0, Some(1000)) };
        let access =
            AccessLists::new(Everything { sentences: vec![loaded], ..Everything::default() });
        let subject = Subject::Key(PublicKey([1; 32]));
        let given = Sentence { subject, ..ban(Role::Admin, 100, Some(700)) };
        access.add(given, true).expect("it is new");
        let changes = access.shift(-50);
        assert_eq!(changes.len(), 1, "a date that was stored stays");
        let ends: Vec<_> = access.sentences(Act::Ban, 0).iter().map(|it| it.until).collect();
        assert_eq!(ends, [Some(1000), Some(650)]);
    }

    #[test]
    fn moderators_are_not_banned_with_a_neighbour() {
        let access = AccessLists::default();
        let home = "192.0.2.7:5000".parse().expect("an address");
        let subject = Subject::of_address(home);
        for act in [Act::Ban, Act::Mute] {
            access
                .add(Sentence { act, subject, ..ban(Role::Admin, 0, None) }, true)
                .expect("the first");
        }
        let (ada, eve) = (PublicKey([1; 32]), PublicKey([2; 32]));
        let given = GivenRole { name: None, role: Role::Moderator, author: "x".into(), made: 0 };
        access.set_role(ada, Some(given)).expect("there is space");
        for act in [Act::Ban, Act::Mute] {
            assert!(access.against(act, Some(ada), Some(home), 1).is_none());
            assert!(access.against(act, Some(eve), Some(home), 1).is_some());
            assert!(access.against(act, None, Some(home), 1).is_some());
        }
    }
}
