//! Names of players: those that nobody may have, and those that are one.
//!
//! Two names are one if they look alike: their skeletons (Unicode Technical Standard 39, 4) are the
//! same, whatever the case of the letters, and without blanks.

use std::collections::BTreeSet;

use unicode_security::mixed_script::AugmentedScriptSet;
use unicode_security::skeleton;

use crate::limits::NAME_BYTES_MAX;
use crate::wire::text::{clean_name, clip, printable};

/// Name of whoever states none.
const NAMELESS: &str = "Player";
/// Words by which a player would pose as the host, alone or beside others.
const RESERVED: [&str; 9] = [
    "admin",
    "administrator",
    "console",
    "host",
    "moderator",
    "operator",
    "server",
    "system",
    "phaselock",
];

/// Cause for which a name is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum BadName {
    #[error("your name has characters that nobody can see; choose another name")]
    Invisible,
    #[error("your name mixes letters of several scripts, some of which look alike; choose another")]
    Mixed,
    #[error("your name has a word that is kept for the host; choose another name")]
    Reserved,
}

/// A name as others may see it, of what a hello states.
pub(super) fn checked(stated: &str) -> Result<String, BadName> {
    if printable(stated) != stated {
        return Err(BadName::Invisible);
    }
    let Some(name) = clean_name(stated) else { return Ok(NAMELESS.into()) };
    if mixes_scripts(&name) {
        return Err(BadName::Mixed);
    }
    let is_reserved = |part: &str| {
        let part = part.trim_matches(|c: char| c.is_numeric());
        RESERVED
            .iter()
            .any(|word| [folded(word), folded(&format!("{word}s"))].contains(&folded(part)))
    };
    let mut words = name.split(|c: char| !c.is_alphanumeric());
    if is_reserved(&name) || words.any(is_reserved) {
        return Err(BadName::Reserved);
    }
    Ok(name)
}

/// All that look like a name in one form.
pub(super) fn folded(name: &str) -> String {
    let lower = name.to_lowercase();
    skeleton(&lower).flat_map(char::to_lowercase).filter(|c| !c.is_whitespace()).collect()
}

/// The wanted name, or that with a number if somebody has one that looks like it.
pub(super) fn free_name<'n>(taken: impl Iterator<Item = &'n str>, wanted: String) -> String {
    let taken: BTreeSet<_> = taken.map(folded).collect();
    if !taken.contains(&folded(&wanted)) {
        return wanted;
    }
    let numbered = (2..=u32::MAX).map(|number| {
        let suffix = format!(" {number}");
        format!("{}{suffix}", clip(&wanted, NAME_BYTES_MAX - suffix.len()).trim_end())
    });
    // There are fewer names taken than numbers.
    numbered.into_iter().find(|name| !taken.contains(&folded(name))).unwrap_or(wanted)
}

/// True if letters of several scripts stand together, other than Latin with those of East Asia,
/// which are often written so and look like no others (UTS 39, 5.2: "highly restrictive").
fn mixes_scripts(name: &str) -> bool {
    let latin = AugmentedScriptSet::for_char('a');
    let with = |set: AugmentedScriptSet, other| {
        let mut both = set;
        both.intersect_with(other);
        both
    };
    let mut others = AugmentedScriptSet::default();
    let (mut has_latin, mut has_others) = (false, false);
    for letter in name.chars().filter(|c| c.is_alphabetic()) {
        let set = AugmentedScriptSet::for_char(letter);
        if !with(set, latin).is_empty() {
            has_latin |= !set.is_all();
            continue;
        }
        has_others = true;
        others.intersect_with(set);
    }
    let is_eastern = others.hanb || others.jpan || others.kore;
    has_others && (others.is_empty() || has_latin && !is_eastern)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_alike_are_one() {
        for alike in ["Ada", "ada", "ADA", "А\u{501}а", "A da", "\u{1d5d4}da"] {
            assert_eq!(folded(alike), folded("Ada"), "{alike}");
        }
        assert_eq!(folded("\u{430}\u{434}\u{430}"), folded("\u{410}\u{434}\u{430}"));
        assert_ne!(folded("Ada"), folded("Adam"));
        let taken = ["Ada", "ADA 2"];
        assert_eq!(free_name(taken.into_iter(), "ada".into()), "ada 3");
        assert_eq!(free_name(taken.into_iter(), "Bob".into()), "Bob");
        let long = "x".repeat(NAME_BYTES_MAX);
        let second = free_name([&*long].into_iter(), long.clone());
        assert!(second.ends_with(" 2") && second.len() == NAME_BYTES_MAX, "{second}");
    }

    #[test]
    fn names_that_deceive_are_refused() {
        for (name, error) in [
            ("Ad\u{200b}a", BadName::Invisible),
            ("A\u{202e}da", BadName::Invisible),
            ("a\nb", BadName::Invisible),
            ("\u{410}d\u{430}", BadName::Mixed),
            ("p\u{3b1}ul", BadName::Mixed),
            ("\u{430}\u{3b1}", BadName::Mixed),
            ("Admin", BadName::Reserved),
            ("the SERVER", BadName::Reserved),
            ("[host]", BadName::Reserved),
            ("\u{441}onsole", BadName::Mixed),
            ("5ystem admin", BadName::Reserved),
            ("Admin1", BadName::Reserved),
            ("the admins", BadName::Reserved),
        ] {
            assert_eq!(checked(name), Err(error), "{name}");
        }
        for good in [
            "Ada",
            "Jos\u{e9}",
            "\u{41c}\u{438}\u{448}\u{430}",
            "\u{5c71}\u{7530}\u{592a}\u{90ce}",
            "T\u{6771}\u{4eac}",
            "\u{3042}\u{30a2}\u{4e9c}A",
            "x_X 99",
            "\u{645}\u{62d}\u{645}\u{62f}",
            "hostess",
            "\u{1f680} Ada",
        ] {
            assert_eq!(checked(good), Ok(good.to_owned()));
        }
        assert_eq!(checked("  "), Ok(NAMELESS.into()));
        assert_eq!(checked(" Ada "), Ok("Ada".into()));
    }
}
