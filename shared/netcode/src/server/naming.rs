//! Player names: which are refused, and which count as equal.
//!
//! Two names count as equal if they look alike, in lower case or as written: their skeletons
//! (Unicode Technical Standard 39, 4) are equal, ignoring case and blanks. Both are compared, since
//! `I` looks like `l` and `i` does not.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use icu_properties::props::{IndicSyllabicCategory, SoftDotted};
use icu_properties::{CodePointMapData, CodePointSetData};
use unicode_normalization::UnicodeNormalization as _;
use unicode_security::mixed_script::AugmentedScriptSet;
use unicode_security::skeleton;

use crate::limits::NAME_BYTES_MAX;
use crate::wire::text::{NameError, clip, is_mark, read_name};

/// Name of a player who gives none.
const NAMELESS: &str = "Player";
/// Words with which a player could pose as the host, alone or next to other words: English ones,
/// and those that read the same in Cyrillic letters. Words of other languages are not detected.
const RESERVED: [&str; 13] = [
    "admin",
    "administrator",
    "console",
    "host",
    "moderator",
    "operator",
    "server",
    "system",
    "phaselock",
    "админ",
    "администратор",
    "модератор",
    "сервер",
];
/// Maximum number of marks on one letter (UTS 39, 5.4).
const MARKS_MAX: usize = 4;
/// The dot above, which is invisible on `i` and `j`.
const DOT: char = '\u{307}';
/// The joiner of Tifinagh, which has no category among the joiners of other scripts.
const CONSONANT_JOINER: char = '\u{2d7f}';
/// Endings of these words: singular, and plural in English and Russian.
const ENDINGS: [&str; 3] = ["", "s", "ы"];
/// All forms of these words, in lower and upper case.
static RESERVED_FORMS: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    let words = RESERVED.iter().flat_map(|word| ENDINGS.map(|ending| format!("{word}{ending}")));
    words.flat_map(|word| [forms(&word), forms(&word.to_uppercase())]).flatten().collect()
});

/// Why a name is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum BadName {
    #[error(transparent)]
    Unreadable(#[from] NameError),
    #[error("your name has an invisible accent, or too many on one letter; choose another name")]
    Stacked,
    #[error("your name mixes letters of several scripts, some of which look alike; choose another")]
    Mixed,
    #[error("your name has a word that is reserved for the host; choose another name")]
    Reserved,
    #[error("your name is a number and could be mistaken for a seat; choose another name")]
    Number,
}

/// Returns a stated name as others may see it, or why it is refused.
pub(super) fn checked(stated: &str) -> Result<String, BadName> {
    let name = match read_name(stated) {
        Err(NameError::Empty) => return Ok(NAMELESS.into()),
        read => read?,
    };
    if mixes_scripts(name) {
        return Err(BadName::Mixed);
    }
    if has_hidden_marks(name) {
        return Err(BadName::Stacked);
    }
    if is_number(name) {
        return Err(BadName::Number);
    }
    if has_reserved_word(name) {
        return Err(BadName::Reserved);
    }
    Ok(name.to_owned())
}

/// Whether a mark in a name is invisible (UTS 39, 5.4): a repeated mark on a letter, a dot on a
/// letter that has one, more than [`MARKS_MAX`] on a letter, or a joiner with nothing to join.
fn has_hidden_marks(name: &str) -> bool {
    let categories = CodePointMapData::<IndicSyllabicCategory>::new();
    let joins = |c| {
        use IndicSyllabicCategory as Is;
        let is_joiner = matches!(categories.get(c), Is::InvisibleStacker | Is::NumberJoiner);
        is_joiner || c == CONSONANT_JOINER
    };
    let dotted = CodePointSetData::new::<SoftDotted>();
    let (mut base, mut marks) = (' ', Vec::new());
    for c in name.nfd() {
        if !is_mark(c) {
            (base, marks) = (c, Vec::new());
            continue;
        }
        if marks.contains(&c) || marks.len() >= MARKS_MAX || c == DOT && dotted.contains(base) {
            return true;
        }
        marks.push(c);
    }
    let after = name.chars().skip(1).map(Some).chain([None]);
    name.chars().zip(after).any(|(c, after)| joins(c) && !after.is_some_and(char::is_alphanumeric))
}

/// Whether a name looks like `7`, `p7` or `#7`, which hosts use for seats and bans.
fn is_number(name: &str) -> bool {
    let is_mark = |c: char| c == '#' || folded(c.encode_utf8(&mut [0; 4])) == "p";
    let digits = name.strip_prefix(is_mark).unwrap_or(name);
    !digits.is_empty() && digits.chars().all(char::is_numeric)
}

/// Whether a word of a name, or several in a row joined together, could pose as the host. Only
/// whole words count, so Badmington is allowed.
fn has_reserved_word(name: &str) -> bool {
    let is_reserved = |run: &str| {
        let word = run.trim_matches(char::is_numeric);
        forms(word).iter().any(|form| RESERVED_FORMS.contains(form))
    };
    // Some symbols look like letters too.
    [name.to_owned(), skeleton(name).collect()].iter().any(|text| {
        let parts: Vec<_> = text.split(|c: char| !c.is_alphanumeric()).collect();
        (0..parts.len()).any(|first| {
            let mut run = String::new();
            for part in &parts[first..] {
                run += part;
                if is_reserved(&run) {
                    return true;
                }
                // No word is longer than the longest name.
                if run.len() > NAME_BYTES_MAX {
                    break;
                }
            }
            false
        })
    })
}

/// Returns the two forms of a name. Names that look alike share one.
fn forms(name: &str) -> [String; 2] {
    [folded(name), folded(&skeleton(name).collect::<String>())]
}

/// Returns a form that all names that look alike in lower case have in common.
fn folded(name: &str) -> String {
    let lower = name.to_lowercase();
    skeleton(&lower).flat_map(char::to_lowercase).filter(|c| !c.is_whitespace()).collect()
}

/// Returns the wanted name, with a number appended if another player has a name that looks like it.
pub(super) fn free_name<'n>(taken: impl Iterator<Item = &'n str>, wanted: String) -> String {
    let taken: BTreeSet<_> = taken.flat_map(forms).collect();
    let is_free = |name: &str| !forms(name).iter().any(|form| taken.contains(form));
    if is_free(&wanted) {
        return wanted;
    }
    let numbered = (2..=u32::MAX).map(|number| {
        let suffix = format!(" {number}");
        format!("{}{suffix}", clip(&wanted, NAME_BYTES_MAX - suffix.len()).trim_end())
    });
    // There are fewer taken names than numbers.
    numbered.into_iter().find(|name| is_free(name)).unwrap_or(wanted)
}

/// Whether a name mixes letters or marks of several scripts. Latin with East Asian scripts is
/// allowed: this is common, and they do not look like other letters (UTS 39, 5.2: "highly
/// restrictive").
fn mixes_scripts(name: &str) -> bool {
    let latin = AugmentedScriptSet::for_char('a');
    let with = |set: AugmentedScriptSet, other| {
        let mut both = set;
        both.intersect_with(other);
        both
    };
    let mut others = AugmentedScriptSet::default();
    let (mut has_latin, mut has_others) = (false, false);
    for letter in name.chars().filter(|c| c.is_alphabetic() || is_mark(*c)) {
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
        let numbered = |taken: &str, wanted: &str| {
            free_name([taken].into_iter(), wanted.into()) == format!("{wanted} 2")
        };
        for (taken, wanted) in
            [("Alice", "AIice"), ("AIice", "Alice"), ("ALICE", "AIice"), ("BILL", "BlLL")]
        {
            assert!(numbered(taken, wanted), "{wanted} beside {taken}");
        }
        assert!(!numbered("Alice", "Aline") && !numbered("Ada 2", "Ada"));
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
            ("Ad\u{200b}a", NameError::Hidden.into()),
            ("A\u{202e}da", NameError::Hidden.into()),
            ("a\nb", NameError::Hidden.into()),
            ("\u{17b5}", NameError::Hidden.into()),
            ("\u{301}", NameError::Baseless.into()),
            ("Ada \u{301}", NameError::Baseless.into()),
            ("\u{e9} and a name of 33 bytes in all!", NameError::Long(33).into()),
            ("Ad\u{323}\u{323}a", BadName::Stacked),
            ("Jos\u{e9}\u{301}", BadName::Stacked),
            ("i\u{307}da", BadName::Stacked),
            ("a\u{301}\u{302}\u{303}\u{304}\u{306}", BadName::Stacked),
            ("\u{1000}\u{1039}", BadName::Stacked),
            // Marks of other scripts: Egyptian, Khitan, Tifinagh, Brahmi, Thai.
            ("Ada\u{13440}", BadName::Mixed),
            ("Ada\u{13447}", BadName::Mixed),
            ("Ada\u{16fe4}", NameError::Hidden.into()),
            ("\u{13080}\u{13441}", NameError::Hidden.into()),
            ("\u{13442}\u{13080}", NameError::Hidden.into()),
            ("\u{2d5f}\u{2d7f}", BadName::Stacked),
            ("\u{11052}\u{1107f}", BadName::Stacked),
            ("Ada\u{2d7f}", BadName::Mixed),
            ("Ada\u{1107f}", BadName::Mixed),
            ("Ada\u{e48}", BadName::Mixed),
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
            ("ADMlN", BadName::Reserved),
            ("Adm1n", BadName::Reserved),
            ("the adm|n", BadName::Reserved),
            ("the ad min", BadName::Reserved),
            ("ad.min", BadName::Reserved),
            ("_s-e r.v_e-r_", BadName::Reserved),
            // HOST and words of Russian, in Cyrillic capitals.
            ("\u{41d}\u{41e}\u{405}\u{422}", BadName::Reserved),
            ("АДМИН", BadName::Reserved),
            ("наши админы", BadName::Reserved),
            ("1337", BadName::Number),
            (" 7", BadName::Number),
            ("p3", BadName::Number),
            ("P12", BadName::Number),
            ("#3", BadName::Number),
            ("\u{440}3", BadName::Number),
            ("\u{ff13}", BadName::Number),
        ] {
            assert_eq!(checked(name), Err(error), "{name}");
        }
    }

    #[test]
    fn names_of_all_scripts_are_welcome() {
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
            "Badmington",
            "The Ad Ministry",
            "sad minstrel",
            "p",
            "p3x",
            "q3",
            "3 Musketeers",
            "\u{1f680} Ada",
            "Ad\u{323}a",
            "Ng\u{1ecd}c",
            "Phu\u{31b}\u{301}c",
            "\u{928}\u{93f}\u{932}\u{92f}",
            "\u{e19}\u{e49}\u{e33}",
            "\u{1000}\u{1039}\u{1000}",
            "\u{13080}\u{13443}",
            "\u{11053}\u{1107f}\u{11065}",
            "\u{17a2}\u{1793}\u{17d2}\u{1791}",
            "\u{5e9}\u{5b8}\u{5dc}\u{5d5}\u{5b9}\u{5dd}",
        ] {
            assert_eq!(checked(good), Ok(good.to_owned()));
        }
        assert_eq!(checked("  "), Ok(NAMELESS.into()));
        assert_eq!(checked(" Ada "), Ok("Ada".into()));
    }
}
