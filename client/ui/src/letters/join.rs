//! Joins Arabic letters.
//!
//! egui draws each letter by itself. For such programs, Unicode also has the joined forms as
//! characters. Letters whose font lacks these forms stay apart.

/// Letters with their joined forms: the letter, its isolated form, and the number of forms, which
/// follow each other: isolated, final, initial, medial. Two forms join to the right only.
#[rustfmt::skip] // Four a line are easier to compare with Unicode's charts.
const FORMS: [(u16, u16, u8); 75] = [
    (0x0621, 0xfe80, 1), (0x0622, 0xfe81, 2), (0x0623, 0xfe83, 2), (0x0624, 0xfe85, 2),
    (0x0625, 0xfe87, 2), (0x0626, 0xfe89, 4), (0x0627, 0xfe8d, 2), (0x0628, 0xfe8f, 4),
    (0x0629, 0xfe93, 2), (0x062a, 0xfe95, 4), (0x062b, 0xfe99, 4), (0x062c, 0xfe9d, 4),
    (0x062d, 0xfea1, 4), (0x062e, 0xfea5, 4), (0x062f, 0xfea9, 2), (0x0630, 0xfeab, 2),
    (0x0631, 0xfead, 2), (0x0632, 0xfeaf, 2), (0x0633, 0xfeb1, 4), (0x0634, 0xfeb5, 4),
    (0x0635, 0xfeb9, 4), (0x0636, 0xfebd, 4), (0x0637, 0xfec1, 4), (0x0638, 0xfec5, 4),
    (0x0639, 0xfec9, 4), (0x063a, 0xfecd, 4), (0x0641, 0xfed1, 4), (0x0642, 0xfed5, 4),
    (0x0643, 0xfed9, 4), (0x0644, 0xfedd, 4), (0x0645, 0xfee1, 4), (0x0646, 0xfee5, 4),
    (0x0647, 0xfee9, 4), (0x0648, 0xfeed, 2), (0x0649, 0xfeef, 2), (0x064a, 0xfef1, 4),
    (0x0671, 0xfb50, 2), (0x0679, 0xfb66, 4), (0x067a, 0xfb5e, 4), (0x067b, 0xfb52, 4),
    (0x067e, 0xfb56, 4), (0x067f, 0xfb62, 4), (0x0680, 0xfb5a, 4), (0x0683, 0xfb76, 4),
    (0x0684, 0xfb72, 4), (0x0686, 0xfb7a, 4), (0x0687, 0xfb7e, 4), (0x0688, 0xfb88, 2),
    (0x068c, 0xfb84, 2), (0x068d, 0xfb82, 2), (0x068e, 0xfb86, 2), (0x0691, 0xfb8c, 2),
    (0x0698, 0xfb8a, 2), (0x06a4, 0xfb6a, 4), (0x06a6, 0xfb6e, 4), (0x06a9, 0xfb8e, 4),
    (0x06ad, 0xfbd3, 4), (0x06af, 0xfb92, 4), (0x06b1, 0xfb9a, 4), (0x06b3, 0xfb96, 4),
    (0x06ba, 0xfb9e, 2), (0x06bb, 0xfba0, 4), (0x06be, 0xfbaa, 4), (0x06c0, 0xfba4, 2),
    (0x06c1, 0xfba6, 4), (0x06c5, 0xfbe0, 2), (0x06c6, 0xfbd9, 2), (0x06c7, 0xfbd7, 2),
    (0x06c8, 0xfbdb, 2), (0x06c9, 0xfbe2, 2), (0x06cb, 0xfbde, 2), (0x06cc, 0xfbfc, 4),
    (0x06d0, 0xfbe4, 4), (0x06d2, 0xfbae, 2), (0x06d3, 0xfbb0, 2),
];
/// The stroke that lengthens a word; it joins on both sides and has no forms.
const TATWEEL: char = '\u{640}';
const LAM: char = '\u{644}';
/// Letters that share one form with a preceding lam: the letter, and that form by itself; the next
/// character is the form joined to the right.
const AFTER_LAM: [(char, u16); 4] =
    [('\u{622}', 0xfef5), ('\u{623}', 0xfef7), ('\u{625}', 0xfef9), ('\u{627}', 0xfefb)];

/// A text with its letters joined.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Joined {
    pub(super) text: String,
    /// For each character of the original text: its byte offset there and here.
    starts: Vec<(usize, usize)>,
}

impl Joined {
    /// Byte offset of what was at this offset in the original text.
    pub(super) fn place(&self, before: usize) -> usize {
        match self.starts.binary_search_by_key(&before, |(place, _)| *place) {
            Ok(at) => self.starts[at].1,
            Err(_) => self.text.len(),
        }
    }
}

/// Joins a text's letters with the forms that `has` reports as available. `None` if nothing
/// changes.
pub(super) fn join(text: &str, mut has: impl FnMut(char) -> bool) -> Option<Joined> {
    let letters: Vec<(usize, char)> = text.char_indices().collect();
    let mut joined = Joined { text: String::with_capacity(text.len() * 2), starts: Vec::new() };
    // The nearest letters that are not marks, as (joins to the right, joins to the left).
    let mut before = (false, false);
    let mut merged = false;
    for (at, (place, letter)) in letters.iter().copied().enumerate() {
        joined.starts.push((place, joined.text.len()));
        if std::mem::take(&mut merged) {
            before = (false, false);
            continue;
        }
        if is_mark(letter) {
            joined.text.push(letter);
            continue;
        }
        let own = sides(letter);
        let rest = letters.get(at + 1..).unwrap_or_default();
        let after = rest.iter().map(|(_, it)| *it).find(|it| !is_mark(*it)).map(sides);
        let to_right = own.0 && before.1;
        let to_left = own.1 && after.is_some_and(|(right, _)| right);
        before = own;
        let pair = rest.first().filter(|_| letter == LAM).and_then(|(_, next)| {
            let (_, form) = AFTER_LAM.iter().find(|(alef, _)| alef == next)?;
            char::from_u32(u32::from(*form) + u32::from(to_right))
        });
        if let Some(pair) = pair.filter(|pair| has(*pair)) {
            joined.text.push(pair);
            merged = true;
            continue;
        }
        let form = u32::from(to_right) + 2 * u32::from(to_left);
        let form = forms(letter).and_then(|(first, _)| char::from_u32(first + form));
        joined.text.push(form.filter(|form| has(*form)).unwrap_or(letter));
    }
    (joined.text != text).then_some(joined)
}

/// The first form of a letter, and the number of its forms.
fn forms(letter: char) -> Option<(u32, u8)> {
    let code = u16::try_from(u32::from(letter)).ok()?;
    let at = FORMS.binary_search_by_key(&code, |(letter, ..)| *letter).ok()?;
    let (_, first, count) = FORMS[at];
    Some((u32::from(first), count))
}

/// Whether a letter joins the one before it (to its right), and the one after it (to its left).
fn sides(letter: char) -> (bool, bool) {
    match (letter, forms(letter)) {
        (TATWEEL, _) => (true, true),
        (_, Some((_, count))) => (count > 1, count > 2),
        _ => (false, false),
    }
}

/// Whether this is a vowel or another mark, which stands over or under a letter and does not
/// separate letters.
fn is_mark(letter: char) -> bool {
    matches!(letter, '\u{610}'..='\u{61a}' | '\u{64b}'..='\u{65f}' | '\u{670}'
        | '\u{6d6}'..='\u{6dc}'
        | '\u{6df}'..='\u{6e4}' | '\u{6e7}'..='\u{6e8}' | '\u{6ea}'..='\u{6ed}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_take_the_forms_of_their_neighbours() {
        for (text, shown) in [
            // Peace: seen first, lam and alef as one, meem by itself.
            ("سلام", "ﺳﻼﻡ"),
            ("محمد", "ﻣﺤﻤﺪ"),
            // Persian letters.
            ("دنیا گچ", "ﺩﻧﯿﺎ ﮔﭻ"),
            // A vowel does not separate letters; a stroke joins; the end of a word does not.
            ("بَب", "ﺑَﺐ"),
            ("بـب ب", "ﺑـﺐ ﺏ"),
            ("لا، بلا", "ﻻ، ﺑﻼ"),
            ("ء", "ﺀ"),
        ] {
            assert_eq!(join(text, |_| true).unwrap().text, shown);
        }
        for text in ["", "Ada", "שלום", "ab ـ"] {
            assert_eq!(join(text, |_| true), None);
        }
    }

    #[test]
    fn letters_whose_forms_the_font_lacks_stay_as_they_are() {
        assert_eq!(join("سلام", |_| false), None);
        let no_pairs = join("سلام", |form| !('\u{fef5}'..='\u{fefc}').contains(&form)).unwrap();
        assert_eq!(no_pairs.text, "ﺳﻠﺎﻡ");
    }

    #[test]
    fn places_follow_their_letters() {
        let joined = join("a لا b", |_| true).unwrap();
        assert_eq!(joined.text, "a ﻻ b");
        let places = [0, 2, 4, 6, 7, 8].map(|place| joined.place(place));
        assert_eq!(places, [0, 2, 5, 5, 6, 7]);
    }

    #[test]
    fn forms_are_in_the_order_of_their_letters() {
        assert!(FORMS.is_sorted_by(|(a, ..), (b, ..)| a < b));
    }
}
